package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSpecialTokens(t *testing.T) {
	for _, tt := range []struct {
		text  string
		parse bool
		want  []int
	}{
		{"<|im_end|>he", true, []int{272, 256}},
		// Not asked for: text like any other. "<|im" has no token, nor has any
		// pair in it.
		{"|im_end|>", false, []int{'|', 'i', 'm', '_', 'e', 'n', 'd', '|', '>'}},
		{"<|im|>", false, []int{'<', '|', 'i', 'm', '|', '>'}},
		{"<|im|>", true, []int{274}},
		// User-defined tokens are found in any case.
		{"he<think>he", false, []int{256, 273, 256}},
		{"<think><|im_start|>", true, []int{273, 271}},
		// Incomplete ones are text.
		{"<thin", true, []int{'<', 't', 'h', 'i', 'n'}},
		{"<<think>", true, []int{'<', 273}},
	} {
		if got := small(t, "qwen2").Encode(tt.text, Options{ParseSpecial: tt.parse}); !slices.Equal(got, tt.want) {
			t.Errorf("%q gives %v, want %v", tt.text, got, tt.want)
		}
	}
}

// At a byte the longest token is taken, and the leftmost before all.
func TestSpecialTokensOverlap(t *testing.T) {
	tok := small(t, "qwen2", func(m map[string]any) {
		tokens := m[keyTokens].([]string)
		tokens[271], tokens[272], tokens[273], tokens[274] = "<x", "<x>", ">y>z", "x>y"
		types := m[keyTypes].([]int32)
		types[271] = int32(userDefined)
	})
	for text, want := range map[string][]int{
		"<x>":   {272},
		"<x<x>": {271, 272},
		"<x>y>": {272, 'y', '>'},
		"x>y>z": {274, '>', 'z'},
		">y>z":  {273},
	} {
		if got := tok.Encode(text, Options{ParseSpecial: true}); !slices.Equal(got, want) {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
	}
	// Without control tokens the shorter, user-defined one is left.
	if got, want := tok.Encode("<x>", Options{}), []int{271, '>'}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBOSAndEOS(t *testing.T) {
	for _, tt := range []struct {
		pre      string
		bos, eos any
		want     []int
	}{
		{"qwen2", nil, nil, []int{256}},
		{"qwen2", true, false, []int{271, 256}},
		{"qwen2", true, true, []int{271, 256, 272}},
		{"llama-bpe", nil, nil, []int{271, 256}}, // llama-bpe means BOS
		{"llama-bpe", false, nil, []int{256}},
	} {
		tok := small(t, tt.pre, func(m map[string]any) { m[keyAddBOS], m[keyAddEOS] = tt.bos, tt.eos })
		if got := tok.Encode("he", Options{AddSpecial: true}); !slices.Equal(got, tt.want) {
			t.Errorf("%s, add_bos %v, add_eos %v: %v, want %v", tt.pre, tt.bos, tt.eos, got, tt.want)
		}
		if got := tok.Encode("he", Options{}); !slices.Equal(got, []int{256}) {
			t.Errorf("not asked for: %v", got)
		}
		if tok.AddBOS() != (tt.want[0] == 271) || tok.BOS() != 271 || tok.EOS() != 272 || tok.Padding() != -1 {
			t.Errorf("BOS %d %v, EOS %d, padding %d", tok.BOS(), tok.AddBOS(), tok.EOS(), tok.Padding())
		}
	}
}

// The end tokens are those of the keys and those that models have by name,
// whose type may be wrong in the file.
func TestEnds(t *testing.T) {
	tok := small(t, "qwen2", func(m map[string]any) {
		m[keyEOS], m[keyEOT] = uint32(274), uint32(271)
		m[keyTypes].([]int32)[272] = int32(normal)
	})
	for id := range tok.Vocab() {
		if want := id == 271 || id == 272 || id == 274; tok.IsEnd(id) != want {
			t.Errorf("IsEnd(%d) is %v", id, !want)
		}
	}
	if got := tok.Encode("<|im_end|>", Options{ParseSpecial: true}); !slices.Equal(got, []int{272}) || !tok.IsControl(272) {
		t.Errorf("<|im_end|> of type normal is not taken for a control token: %v", got)
	}
	if tok.IsControl(273) || tok.IsControl('a') || !tok.IsControl(271) {
		t.Error("IsControl")
	}
}

func TestTokens(t *testing.T) {
	tok := small(t, "qwen2")
	if tok.Vocab() != 275 || tok.Token(261) != "Ġw" || tok.Find("Ġw") != 261 || tok.Find("nothing") != -1 {
		t.Errorf("%d tokens, 261 is %q, Ġw is %d", tok.Vocab(), tok.Token(261), tok.Find("Ġw"))
	}
	raw := small(t, "qwen2", func(m map[string]any) { m[keyTokens].([]string)[273] = "Ġé " })
	if got := raw.Decode(raw.Encode("éĠé ", Options{})); got != "éĠé " || !slices.Equal(raw.Encode(got, Options{}), []int{0xc3, 0xa9, 273}) {
		t.Errorf("a user-defined token outside of the alphabet: %q", got)
	}
	for id, want := range map[int]string{261: " w", 266: "ä", 269: "\n\n", 272: "", 273: "<think>", 0xff: "\xff"} {
		if got := string(tok.AppendToken([]byte("+"), id)); got != "+"+want {
			t.Errorf("token %d stands for %q, want %q", id, got[1:], want)
		}
	}
	for _, id := range []int{-1, 275} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("token %d is none", id)
				}
			}()
			tok.AppendToken(nil, id)
		}()
	}
}

// texts are what round trips begin with.
var texts = []string{
	"", " ", "hello world", "  he'll\n\n 123 ", "<think>a<|im_end|>b", "é ä 世界 👩\u200d💻 e\u0301", "\x00\xff\xc3\xe4\xb8 \xf0\x9f",
	" <user> a <user>", "<s>ab</s>", "▁", "\t\r\n", "aaaaaabababab", "<0x41>", "\u00a0ġĠĊ",
}

// roundTrip: text comes back as it was, as a whole, and from a stream of which
// no part ends within a character.
func roundTrip(t *testing.T, tok *Tokenizer, text, want string) {
	t.Helper()
	ids := tok.Encode(text, Options{})
	if got := tok.Decode(ids); got != want {
		t.Errorf("%q came back as %q, through %v", text, got, ids)
	}
	var all strings.Builder
	var joined []byte
	d := tok.NewDecoder()
	for _, id := range ids {
		part := d.Next(id)
		if r, n := utf8.DecodeLastRuneInString(part); r == utf8.RuneError && n == 1 && utf8.ValidString(text) {
			t.Errorf("%q: a part ends in %q", text, part)
		}
		all.WriteString(part)
		joined = tok.AppendToken(joined, id)
	}
	all.WriteString(d.Flush())
	if all.String() != string(joined) {
		t.Errorf("%q: streamed %q, want %q", text, all.String(), joined)
	}
}

func roundTrips(t *testing.T, toks map[string]*Tokenizer, text string) {
	for name, tok := range toks {
		want := text
		if strings.HasPrefix(name, "llama") && name != "llama-bpe" {
			want = strings.ReplaceAll(text, spaceMark, " ")
		}
		roundTrip(t, tok, text, want)
	}
}

func allKinds(t testing.TB) map[string]*Tokenizer {
	return map[string]*Tokenizer{
		"qwen2": small(t, "qwen2"), "llama-bpe": small(t, "llama-bpe"), "gpt-2": small(t, "gpt-2"),
		"llama":           smallPieces(t),
		"llama, no space": smallPieces(t, func(m map[string]any) { m[keyAddPrefix] = false }),
	}
}

func TestRoundTrip(t *testing.T) {
	toks := allKinds(t)
	for _, text := range texts {
		roundTrips(t, toks, text)
	}
}

func FuzzRoundTrip(f *testing.F) {
	toks := allKinds(f)
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { roundTrips(t, toks, text) })
}

// Tokenizers are shared.
func TestConcurrentUse(t *testing.T) {
	toks := allKinds(t)
	done := make(chan bool)
	for range 4 {
		go func() {
			for _, text := range texts {
				roundTrips(t, toks, text)
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
}

func TestDecoder(t *testing.T) {
	tok := small(t, "qwen2")
	for _, tt := range []struct {
		ids   []int
		parts []string
		flush string
	}{
		{[]int{260, 261}, []string{"hello", " w"}, ""},
		// 世 is E4 B8 96: nothing comes until it is whole.
		{[]int{0xe4, 0xb8, 0x96, 'a'}, []string{"", "", "世", "a"}, ""},
		// A letter behind half of a character shows that it is none.
		{[]int{0xe4, 0xb8, 'a'}, []string{"", "", "\xe4\xb8a"}, ""},
		// F0 9F at the end: held back, then flushed.
		{[]int{'a', 0xf0, 0x9f}, []string{"a", "", ""}, "\xf0\x9f"},
		// A byte that begins no character, or continues none, is not held.
		{[]int{0xff, 0x80}, []string{"\xff", "\x80"}, ""},
		// E0 80 can be no character, so it is not held.
		{[]int{0xe0, 0x80}, []string{"", "\xe0\x80"}, ""},
		// The last byte of a token may begin the next character.
		{[]int{266, 0xc3, 0xa4, 272}, []string{"ä", "", "ä", ""}, ""},
	} {
		d := tok.NewDecoder()
		var parts []string
		for _, id := range tt.ids {
			parts = append(parts, d.Next(id))
		}
		if !slices.Equal(parts, tt.parts) {
			t.Errorf("%v gives %q, want %q", tt.ids, parts, tt.parts)
		}
		if got := d.Flush(); got != tt.flush {
			t.Errorf("%v leaves %q, want %q", tt.ids, got, tt.flush)
		}
		if d.Next('x') != "x" {
			t.Errorf("%v: not usable after Flush", tt.ids)
		}
	}
}

// A token costs no more than the text it gives.
func TestDecoderAllocates(t *testing.T) {
	d := small(t, "qwen2").NewDecoder()
	d.Next(0xe4)
	d.Flush()
	if n := testing.AllocsPerRun(100, func() { d.Next(0xe4); d.Flush() }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

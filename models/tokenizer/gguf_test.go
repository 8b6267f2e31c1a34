package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
)

// Everything that is wrong has an error that names file and key.
func TestRefused(t *testing.T) {
	set := func(key string, x any) func(map[string]any) { return func(m map[string]any) { m[key] = x } }
	merges := func(lines ...string) func(map[string]any) { return set(keyMerges, lines) }
	token := func(id int, text string) func(map[string]any) {
		return func(m map[string]any) { m[keyTokens].([]string)[id] = text }
	}
	typ := func(id int, k int32) func(map[string]any) {
		return func(m map[string]any) { m[keyTypes].([]int32)[id] = k }
	}
	for _, tt := range []struct {
		name   string
		pieces bool
		change func(map[string]any)
		key    string
		want   string
	}{
		{"no model", false, set(keyModel, nil), keyModel, "is missing"},
		{"unknown model", false, set(keyModel, "bert"), keyModel, `is "bert"; known models are gpt2`},
		{"model of another kind", false, set(keyModel, true), keyModel, "want a string"},
		{"no pre-tokenizer", false, set(keyPre, nil), keyPre, "is missing, and without the pre-tokenizer text would be cut wrongly; known ones are gpt-2, llama-bpe, qwen2"},
		{"unknown pre-tokenizer", false, set(keyPre, "tekken"), keyPre, `is "tekken", and known pre-tokenizers are gpt-2, llama-bpe, qwen2`},
		{"no tokens", false, set(keyTokens, nil), keyTokens, "is missing"},
		{"empty vocabulary", false, func(m map[string]any) { m[keyTokens], m[keyTypes] = []string{}, []int32{} }, keyTokens, "is empty"},
		{"tokens of another kind", false, set(keyTokens, []int32{1}), keyTokens, "want an array of strings"},
		{"empty token", false, token(260, ""), keyTokens, "token 260 is empty"},
		{"token twice", false, token(267, "Ġwor"), keyTokens, `tokens 263 and 267 are both "Ġwor"`},
		{"no token for a byte", false, token('A', "AAA"), keyTokens, `has no token "A" for byte 0x41`},
		{"control token for a byte", false, typ('A', 3), keyTokens, `has no token "A" for byte 0x41`},
		{"fewer types", false, set(keyTypes, []int32{1}), keyTypes, "has 1 elements for 275 tokens"},
		{"unknown type", false, typ(5, 7), keyTypes, "the type of token 5 is 7, want 0 to 6"},
		{"negative type", false, typ(5, -1), keyTypes, "the type of token 5 is -1"},
		{"types of another kind", false, set(keyTypes, slices.Repeat([]string{"a"}, 275)), keyTypes, "want an integer"},
		{"fewer scores", false, set(keyScores, []float32{1}), keyScores, "has 1 elements for 275 tokens"},
		{"no merges", false, set(keyMerges, nil), keyMerges, "is missing"},
		{"merge of one token", false, merges("he"), keyMerges, `merge 0 is "he", not two tokens`},
		{"merge of nothing", false, merges("h e", " e"), keyMerges, `merge 1 is " e", not two tokens`},
		{"merge with nothing", false, merges("h "), keyMerges, `merge 0 is "h ", not two tokens`},
		{"merge makes no token", false, merges("h e", "h h"), keyMerges, `merge 1 ("h h") makes "hh", which is no normal token`},
		{"merge of no token", false, merges("Ġwo r"), keyMerges, `merge 0 ("Ġwo r") is of something that is no normal token`},
		{"merge makes a control token", false, func(m map[string]any) { typ(256, 3)(m); merges("h e")(m) }, keyMerges, "makes \"he\", which is no normal token"},
		{"merge of a user-defined token", false, func(m map[string]any) { typ(256, 4)(m); merges("he ll")(m) }, keyMerges, "merge 0 (\"he ll\") is of something"},
		{"BOS out of range", false, set(keyBOS, uint32(275)), keyBOS, "is 275, and there are tokens 0 to 274"},
		{"EOS out of range", false, set(keyEOS, uint32(math.MaxUint32)), keyEOS, "is 4294967295, and"},
		{"EOT out of range", false, set(keyEOT, int32(-2)), keyEOT, "is -2, and"},
		{"padding out of range", false, set(keyPadding, int32(9999)), keyPadding, "is 9999, and"},
		{"id of another kind", false, set(keyEOS, "2"), keyEOS, "want an integer"},
		{"flag of another kind", false, set(keyAddBOS, "yes"), keyAddBOS, "want a bool"},
		{"BOS missing", false, func(m map[string]any) { m[keyAddBOS], m[keyBOS] = true, nil }, keyBOS, "is missing, and the model wants"},
		{"EOS missing", false, func(m map[string]any) { m[keyAddEOS], m[keyEOS] = true, nil }, keyEOS, "is missing, and the model wants"},

		{"no scores", true, set(keyScores, nil), keyScores, "is missing"},
		{"more scores", true, set(keyScores, make([]float32, 300)), keyScores, "has 300 elements for 270 tokens"},
		{"scores of another kind", true, set(keyScores, make([]int32, 270)), keyScores, "want a floating-point number"},
		{"score is NaN", true, func(m map[string]any) { m[keyScores].([]float32)[260] = float32(math.NaN()) }, keyScores, `the score of token 260 ("a") is NaN`},
		{"no byte token", true, token(3, "<0x0>"), keyTokens, "has no token <0x00> of type byte"},
		{"byte token of another type", true, typ(4, 1), keyTokens, "has no token <0x01> of type byte"},
		{"byte token of no byte", true, typ(260, 6), keyTokens, `token 260 ("a") is of type byte, want <0x00> to <0xFF>`},
		{"lower-case byte token", true, func(m map[string]any) { token(260, "<0x0a>")(m); typ(260, 6)(m) }, keyTokens, "want <0x00> to <0xFF>"},
		{"no types", true, set(keyTypes, nil), keyTokens, "has no token <0x00> of type byte"},
		{"no space", true, token(259, "_"), keyTokens, `has no token "▁", which stands for the space`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := smallFile(t, "qwen2", func(m map[string]any) {
				if !tt.pieces {
					tt.change(m)
				}
			})
			if tt.pieces {
				f = piecesFile(t, tt.change)
			}
			_, err := FromGGUF(f, arch.Text{})
			var e *container.FormatError
			if !errors.As(err, &e) || e.File != "test.gguf" || e.Key != tt.key || !strings.Contains(e.Msg, tt.want) {
				t.Errorf("got %v\nwant key %s: %s", err, tt.key, tt.want)
			}
		})
	}
}

// BitNet's official file names no pre-tokenizer. Its architecture does, and the
// vocabulary confirms it.
func TestPreTokenizerOfArchitecture(t *testing.T) {
	llama3 := func(m map[string]any) {
		m[keyPre] = nil
		m[keyTokens].([]string)[271], m[keyTokens].([]string)[272] = "<|begin_of_text|>", "<|eot_id|>"
	}
	for _, tt := range []struct {
		splitter string
		change   func(map[string]any)
		ok       bool
	}{
		{"llama-bpe", llama3, true},
		{"", llama3, false},
		{"no such splitter", llama3, false},
		{"qwen2", llama3, false},
		{"llama-bpe", func(m map[string]any) { m[keyPre] = nil }, false},
		{"llama-bpe", func(m map[string]any) {
			m[keyPre] = nil
			for len(m[keyTokens].([]string)) < 128256 {
				m[keyTokens] = append(m[keyTokens].([]string), fmt.Sprintf("[PAD%d]", len(m[keyTokens].([]string))))
			}
			m[keyTypes] = nil
		}, true},
	} {
		tok, err := FromGGUF(smallFile(t, "", tt.change), arch.Text{Splitter: tt.splitter})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.splitter, err)
		}
		// Three digits a word: 123 is token 265.
		if err == nil && !slices.Equal(tok.Encode("123", Options{}), []int{265}) {
			t.Errorf("%s: not Llama 3's pattern", tt.splitter)
		}
	}
}

func TestAliases(t *testing.T) {
	for alias, name := range map[string]string{"llama3": "llama-bpe", "llama-v3": "llama-bpe", "gpt2": "gpt-2", "qwen2": "qwen2"} {
		if p, err := preTokenizerNamed(alias); err != nil || p.name != name {
			t.Errorf("%s: %v, %v", alias, p, err)
		}
	}
}

// The tokenizer does not need the file any more.
func TestFileClosed(t *testing.T) {
	f := smallFile(t, "qwen2")
	tok, err := FromGGUF(f, arch.Text{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, tok, "hello", "hello")
}

// FuzzFromGGUF: whatever the metadata, there is a *container.FormatError or a
// tokenizer that gives text back.
func FuzzFromGGUF(f *testing.F) {
	add := func(file *gguf.File) {
		var b bytes.Buffer
		if w, err := gguf.NewWriter(&b, file.Metadata(), nil); err != nil || w.Close() != nil {
			f.Fatal("cannot write the file")
		}
		f.Add(b.Bytes(), "a he'll 12 <think>\xff")
	}
	add(smallFile(f, "qwen2"))
	add(smallFile(f, "llama-bpe", func(m map[string]any) { m[keyAddBOS] = true }))
	add(smallFile(f, "gpt-2", func(m map[string]any) { m[keyScores] = make([]float32, len(smallTokens)) }))
	add(piecesFile(f))
	add(piecesFile(f, func(m map[string]any) { m[keyAddPrefix], m[keyEOT] = false, int32(3) }))
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		file, err := gguf.Parse(data, "fuzz.gguf", gguf.Options{})
		if err != nil {
			return
		}
		tok, err := FromGGUF(file, arch.Text{})
		if err != nil {
			var e *container.FormatError
			if !errors.As(err, &e) || e.Key == "" {
				t.Errorf("%T without a key: %v", err, err)
			}
			return
		}
		tok.Encode(text, Options{AddSpecial: true}) // BOS may stand for text here
		for _, opt := range []Options{{}, {ParseSpecial: true}} {
			ids := tok.Encode(text, opt)
			got := tok.Decode(ids)
			if slices.ContainsFunc(ids, tok.IsControl) {
				continue
			}
			want := text
			if _, ok := tok.model.(*sentencePiece); ok {
				got, want = strings.ReplaceAll(got, spaceMark, " "), strings.ReplaceAll(text, spaceMark, " ")
			}
			if got != want {
				t.Errorf("%q came back as %q", text, got)
			}
		}
		for id := range tok.Vocab() {
			tok.AppendToken(nil, id)
			tok.IsEnd(id)
		}
		_, _ = tok.Chat([]*arch.Chat{arch.ChatML})
	})
}

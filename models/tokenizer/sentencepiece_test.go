package tokenizer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"onebit/models/arch"
)

// smallPieces is a SentencePiece vocabulary: 0 <unk>, 1 <s>, 2 </s>, bytes from
// 3, and from 259 on, each with its score:
//
//	259 ▁ -9   260 a -8   261 b -7   262 ab -1   263 ▁a -2   264 ▁ab -4   265 ▁▁ -3
//	266 ba -1  267 é -5   268 aba -6
//	269 <user> user-defined
func smallPieces(t testing.TB, more ...func(map[string]any)) *Tokenizer {
	t.Helper()
	tok, err := FromGGUF(piecesFile(t, more...), arch.Text{})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func pieces() (tokens []string, scores []float32, types []int32) {
	add := func(text string, score float32, k kind) {
		tokens, scores, types = append(tokens, text), append(scores, score), append(types, int32(k))
	}
	add("<unk>", 0, unknown)
	add("<s>", 0, control)
	add("</s>", 0, control)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), 0, byteKind)
	}
	for _, p := range []struct {
		text  string
		score float32
	}{{"▁", -9}, {"a", -8}, {"b", -7}, {"ab", -1}, {"▁a", -2}, {"▁ab", -4}, {"▁▁", -3}, {"ba", -1}, {"é", -5}, {"aba", -6}} {
		add(p.text, p.score, normal)
	}
	add("<user>", 0, userDefined)
	return tokens, scores, types
}

func TestEncodeSentencePiece(t *testing.T) {
	const byte0 = 3
	for _, tt := range []struct {
		text string
		want []int
	}{
		// ▁ab: "ab" (-1) before "▁a" (-2), then "▁ab".
		{"ab", []int{264}},
		// ▁aba: of "ab" and "ba", which score alike, the left one; then "▁ab"
		// (-4) before "aba" (-6).
		{"aba", []int{264, 260}},
		// ▁ba: only "ba"; ▁ stands alone.
		{"ba", []int{259, 266}},
		{"a a", []int{263, 263}},
		// A byte that begins no character is one by itself, and what follows stays
		// letters: not so in llama.cpp.
		{"\xc3ab", []int{259, byte0 + 0xc3, 262}},
		{"a\xe2", []int{263, byte0 + 0xe2}},
		// ▁▁▁a: "▁a" (-2) first, then "▁▁" (-3).
		{"  a", []int{265, 263}},
		{" ", []int{265}},
		{"é", []int{259, 267}},
		// No token: its bytes. ü is C3 BC.
		{"ü", []int{259, byte0 + 0xc3, byte0 + 0xbc}},
		{"a\xffb", []int{263, byte0 + 0xff, 261}},
		// Half of an é is no é, nor are the halves put together by tokens.
		{"\xc3", []int{259, byte0 + 0xc3}},
		// Text that looks like tokens that are no text.
		{"<0x41>", []int{259, byte0 + '<', byte0 + '0', byte0 + 'x', byte0 + '4', byte0 + '1', byte0 + '>'}},
		{"<s>", []int{259, byte0 + '<', byte0 + 's', byte0 + '>'}},
		// The space mark is a space.
		{"a▁a", []int{263, 263}},
		// User-defined tokens are found, and text behind them starts anew.
		{"a<user>a", []int{263, 269, 263}},
		{"", []int{}},
	} {
		if got := smallPieces(t).Encode(tt.text, Options{}); !slices.Equal(got, tt.want) {
			t.Errorf("%q gives %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestSentencePieceFlags(t *testing.T) {
	bare := smallPieces(t, func(m map[string]any) { m[keyAddPrefix] = false })
	if got, want := bare.Encode("ab", Options{}), []int{262}; !slices.Equal(got, want) {
		t.Errorf("without a space in front %v, want %v", got, want)
	}
	if got := bare.Decode(bare.Encode(" ab", Options{})); got != " ab" {
		t.Errorf("%q", got)
	}
	// Without the keys: BOS <s>, found by name, and no EOS.
	if got, want := smallPieces(t).Encode("ab", Options{AddSpecial: true}), []int{1, 264}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if tok := smallPieces(t); !tok.IsEnd(2) || tok.IsEnd(1) || tok.EOS() != 2 {
		t.Error("</s> is the end")
	}
}

// A token with a space mark inside forbids to cut text at spaces; without one,
// cutting changes nothing.
func TestSentencePieceAcrossWords(t *testing.T) {
	across := smallPieces(t, func(m map[string]any) { m[keyTokens].([]string)[268] = "a▁a" })
	// ▁a▁a: "▁a" (-2) twice, though "a▁a" is there: "a▁" is not.
	if got, want := across.Encode("a a", Options{}), []int{263, 263}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	joined := smallPieces(t, func(m map[string]any) {
		m[keyTokens].([]string)[268] = "b▁"
		m[keyTokens].([]string)[266] = "b▁b"
		m[keyScores].([]float32)[268] = 0
	})
	// ▁b▁b: "b▁" (0), then "b▁b" (-1).
	if got, want := joined.Encode("b b", Options{}), []int{259, 266}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	whole := smallPieces(t)
	whole.model.(*sentencePiece).wordwise = false
	for _, text := range []string{"a b  ab aba   ", "  b\u2581\u2581ab é ü a", "\xff ab\xe2\x96 a"} {
		if got, want := smallPieces(t).Encode(text, Options{}), whole.Encode(text, Options{}); !slices.Equal(got, want) {
			t.Errorf("%q: %v in words, %v as a whole", text, got, want)
		}
	}
}

func TestDescending(t *testing.T) {
	inf := float32(math.Inf(1))
	falling := []float32{inf, 3e38, 1, 1e-45, 0, -1e-45, -1, -2, -3e38, -inf}
	for i := 1; i < len(falling); i++ {
		if descending(falling[i-1]) >= descending(falling[i]) {
			t.Errorf("%g does not come before %g", falling[i-1], falling[i])
		}
	}
	if zero := float32(0); descending(zero) != descending(float32(math.Copysign(0, -1))) {
		t.Error("0 and -0 differ")
	}
}

func TestNextMarked(t *testing.T) {
	for text, want := range map[string]string{"▁a▁b": "▁a", "a▁b": "a", "▁▁▁a▁": "▁▁▁a", "▁▁": "▁▁", "ab": "ab"} {
		if got := text[:nextMarked(text)]; got != want {
			t.Errorf("%q begins with %q, want %q", text, got, want)
		}
	}
}

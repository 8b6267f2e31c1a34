package tokenizer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"onebit/formats/gguf"
	"onebit/models/arch"
)

// The example of Sennrich, Haddow and Birch (arXiv:1508.07909, algorithm 1),
// without their end-of-word symbol: low 5 times, lower 2, newest 6, widest 3.
// By hand: es and st come 9 times (e = 0x65 is lower than s), est 9, lo 7 and
// ow 7 (l is lower), low 7, then ne, ew and west (w est) 6.
func TestLearnPublishedExample(t *testing.T) {
	text := strings.Repeat("low,", 5) + strings.Repeat("lower,", 2) + strings.Repeat("newest,", 6) + strings.Repeat("widest,", 3)
	l, err := Learn(slices.Values(strings.SplitAfter(text, ",")), "qwen2", 256+6+1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"e s", "es t", "l o", "lo w", "e w", "n ew"}
	if !slices.Equal(l.Merges, want) {
		t.Errorf("merges %q, want %q", l.Merges, want)
	}
	if got := l.Tokens[256:]; !slices.Equal(got, []string{"es", "est", "lo", "low", "ew", "new", EndOfText}) {
		t.Errorf("tokens %q", got)
	}
}

// learnSlowly is Learn by its definition: count all pairs, merge the best, again.
func learnSlowly(words []string, merges int) (out []string) {
	var split [][]string
	order := map[string]int{}
	for i, b := range byteText {
		order[b] = i
	}
	for _, w := range words {
		var ids []string
		for i := range len(w) {
			ids = append(ids, byteText[w[i]])
		}
		split = append(split, ids)
	}
	for len(out) < merges {
		counts := map[[2]string]int{}
		for _, w := range split {
			for i := 1; i < len(w); i++ {
				counts[[2]string{w[i-1], w[i]}]++
			}
		}
		var best [2]string
		most := 1
		for p, n := range counts {
			if _, there := order[p[0]+p[1]]; there {
				continue
			}
			lower := order[p[0]] < order[best[0]] || p[0] == best[0] && order[p[1]] < order[best[1]]
			if n > most || n == most && n > 1 && lower {
				best, most = p, n
			}
		}
		if most < 2 {
			return out
		}
		order[best[0]+best[1]] = len(order)
		out = append(out, best[0]+" "+best[1])
		for i, w := range split {
			var joined []string
			for j := 0; j < len(w); j++ {
				if j+1 < len(w) && w[j] == best[0] && w[j+1] == best[1] {
					joined = append(joined, w[j]+w[j+1])
					j++
				} else {
					joined = append(joined, w[j])
				}
			}
			split[i] = joined
		}
	}
	return out
}

func TestLearnEqualsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		var words []string
		for range 60 {
			words = append(words, randomText(rng, 1+rng.IntN(12)))
		}
		want := learnSlowly(words, 40)
		l, err := Learn(slices.Values(words), "qwen2", 256+len(want)+1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Merges, want) {
			t.Fatalf("merges %q\nwant %q", l.Merges, want)
		}
	}
}

// What was learned is read from a file, and any text comes back.
func TestLearnedIsRead(t *testing.T) {
	texts := []string{"The reader reads what the writer writes.\n", "A writer writes; a reader reads. Größe 12\n"}
	for _, pre := range []string{"gpt-2", "qwen2", "llama-bpe"} {
		l, err := Learn(slices.Values(texts), pre, 256+12+1)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w, err := gguf.NewWriter(&b, l.Metadata(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := gguf.Parse(b.Bytes(), "learned.gguf", gguf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tok, err := FromGGUF(f, arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		text := texts[0] + "\x00\xff ß" + EndOfText
		ids := tok.Encode(text, Options{ParseSpecial: true})
		if last := ids[len(ids)-1]; last != 268 || tok.EOS() != 268 {
			t.Errorf("%s: the text ends with token %d and EOS is %d, want 268", pre, last, tok.EOS())
		}
		if got := tok.Decode(ids); got != strings.TrimSuffix(text, EndOfText) {
			t.Errorf("%s: %q came back as %q", pre, text, got)
		}
		if most := len(text) * 3 / 4; len(ids) > most {
			t.Errorf("%s: %d tokens for %d bytes, want at most %d", pre, len(ids), len(text), most)
		}
	}
}

func TestLearnErrors(t *testing.T) {
	for _, tt := range []struct {
		text, pre string
		tokens    int
		want      string
	}{
		{"aa", "qwen2", 256, "a vocabulary of 256 tokens is not between 257"},
		{"aa", "tekken", 300, `pre-tokenizer "tekken" is unknown`},
		{"ab ab cd", "qwen2", 300, "the text is too small for 300 tokens: after 258 no two neighbours come twice"},
		{"", "qwen2", 258, "after 257 no two"},
	} {
		_, err := Learn(slices.Values([]string{tt.text}), tt.pre, tt.tokens)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q, %s, %d: error %v, want %s", tt.text, tt.pre, tt.tokens, err, tt.want)
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 200_000 {
		fmt.Fprintf(&text, " %s", randomText(rng, 1+rng.IntN(10)))
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Learn(slices.Values([]string{text.String()}), "qwen2", 2048); err != nil {
			b.Fatal(err)
		}
	}
}

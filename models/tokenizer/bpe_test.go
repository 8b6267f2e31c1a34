package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"onebit/models/arch"
)

// small is a vocabulary small enough to merge by hand. Bytes have their own
// number as id; then come
//
//	256 he   257 ll   258 hell   259 lo   260 hello   261 Ġw   262 or   263 Ġwor
//	264 12   265 123  266 ä (its two bytes)   267 Ġhello  268 aa  269 ĊĊ  270 'll
//
// and the special tokens 271 <|im_start|>, 272 <|im_end|>, 273 <think> and
// 274 <|im|>.
func small(t testing.TB, pre string, more ...func(map[string]any)) *Tokenizer {
	t.Helper()
	tok, err := FromGGUF(smallFile(t, pre, more...), arch.Text{})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

var smallTokens = append(alphabet(), "he", "ll", "hell", "lo", "hello", "Ġw", "or", "Ġwor",
	"12", "123", "Ã¤", "Ġhello", "aa", "ĊĊ", "'ll", "<|im_start|>", "<|im_end|>", "<think>", "<|im|>")

var smallMerges = []string{
	"h e",   // 0
	"l l",   // 1
	"he ll", // 2
	"l o",   // 3
	"hell o", "Ġ w", "o r", "Ġw or", "1 2", "12 3", "Ã ¤", "a a", "Ċ Ċ",
}

func smallTypes() []int32 {
	types := make([]int32, len(smallTokens))
	for i := range types {
		types[i] = int32(normal)
	}
	types[271], types[272], types[273], types[274] = int32(control), int32(control), int32(userDefined), int32(control)
	return types
}

func TestEncodeBytePairs(t *testing.T) {
	for _, tt := range []struct {
		pre, text string
		want      []int
	}{
		// h e l l o: rank 0 makes he, rank 1 ll, rank 2 hell, and "hell o"
		// comes although "l o" ranks before it, since no lone l is left.
		{"qwen2", "hello", []int{260}},
		// " hello" is a word: its tokens are Ġ and hello, for no merge makes
		// Ġhello; but Llama 3 takes the word as it is.
		{"qwen2", " hello", []int{' ', 260}},
		{"llama-bpe", " hello", []int{267}},
		// l l l o: of the equal pairs at 0 and 1 the left one; then l o.
		{"qwen2", "lllo", []int{257, 259}},
		{"qwen2", "aaaaa", []int{268, 268, 'a'}},
		// No merge has both a part of one word and one of another.
		{"qwen2", "hel lo", []int{256, 'l', ' ', 259}},
		{"qwen2", " world", []int{263, 'l', 'd'}},
		// One digit a word, three digits a word, any number of digits.
		{"qwen2", "1234", []int{'1', '2', '3', '4'}},
		{"llama-bpe", "1234", []int{265, '4'}},
		{"llama-bpe", "12312", []int{265, 264}},
		{"gpt-2", "12123", []int{264, 265}},
		{"qwen2", "ä", []int{266}},
		{"qwen2", "\xa4\xc3\xa4\xc3", []int{0xa4, 266, 0xc3}},
		{"qwen2", "\n\n\n", []int{269, '\n'}},
		{"qwen2", "he'll", []int{256, '\'', 257}},
		// The word 'll is token 270, which no merge makes.
		{"llama-bpe", "he'll", []int{256, 270}},
		// A letter of the alphabet is text too: ġ is C4 A1 in UTF-8.
		{"qwen2", "ġ", []int{0xc4, 0xa1}},
		{"qwen2", "", []int{}},
	} {
		if got := small(t, tt.pre).Encode(tt.text, Options{}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q gives %v, want %v", tt.pre, tt.text, got, tt.want)
		}
	}
}

// mergeSlowly merges as the definition says: look for the pair of least rank,
// of equals the leftmost, join it, begin again.
func mergeSlowly(parts []string, ranks map[string]int) []string {
	for {
		best, at := len(ranks), -1
		for i := 1; i < len(parts); i++ {
			if r, ok := ranks[parts[i-1]+" "+parts[i]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return parts
		}
		parts = slices.Concat(parts[:at-1], []string{parts[at-1] + parts[at]}, parts[at+1:])
	}
}

// Random vocabularies in which ranks have no order make every case of stale
// candidates; the definition decides.
func TestMergeOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tokens, merges, ranks := randomMerges(rng)
		tok, err := FromGGUF(file(t, kv(keyModel, "gpt2"), kv(keyPre, "qwen2"), kvs(keyTokens, tokens), kvs(keyMerges, merges)), arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			text := randomText(rng, 1+rng.IntN(40))
			var got []string
			for _, id := range tok.Encode(text, Options{}) {
				got = append(got, tok.Token(id))
			}
			if want := mergeSlowly(strings.Split(text, ""), ranks); !slices.Equal(got, want) {
				t.Fatalf("merges %q\n%q gives %q, want %q", merges, text, got, want)
			}
		}
	}
}

func randomText(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abc"[rng.IntN(3)]
	}
	return string(b)
}

// randomMerges joins tokens that are already there, and shuffles the order.
func randomMerges(rng *rand.Rand) (tokens, merges []string, ranks map[string]int) {
	tokens = alphabet()
	words := []string{"a", "b", "c"}
	for range 30 {
		left, right := words[rng.IntN(len(words))], words[rng.IntN(len(words))]
		if len(left+right) > 6 || slices.Contains(merges, left+" "+right) {
			continue
		}
		merges = append(merges, left+" "+right)
		if !slices.Contains(words, left+right) {
			words = append(words, left+right)
			tokens = append(tokens, left+right)
		}
	}
	rng.Shuffle(len(merges), func(i, j int) { merges[i], merges[j] = merges[j], merges[i] })
	ranks = map[string]int{}
	for rank, m := range merges {
		ranks[m] = rank
	}
	return tokens, merges, ranks
}

// A word of a quarter of a million letters: quadratic merging would take long.
func TestLongWord(t *testing.T) {
	const n = 1 << 18
	ids := small(t, "qwen2").Encode(strings.Repeat("a", n), Options{})
	if len(ids) != n/2 || slices.ContainsFunc(ids, func(id int) bool { return id != 268 }) {
		t.Errorf("%d tokens, want %d times 268", len(ids), n/2)
	}
	// One join after the other, each made possible by the one before.
	spm := smallPieces(t)
	text := strings.Repeat("ab", n/4) + " "
	if got := spm.Decode(spm.Encode(text, Options{})); got != text {
		t.Error("SentencePiece changed a long word")
	}
}

// A pair that is listed twice has the first rank.
func TestRepeatedMerge(t *testing.T) {
	tok := small(t, "qwen2", func(m map[string]any) {
		m[keyMerges] = append([]string{"l o"}, append(slices.Clone(smallMerges), "l o")...)
	})
	// l o (0) before l l (2): l lo, not ll o.
	if got, want := tok.Encode("llo", Options{}), []int{'l', 259}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

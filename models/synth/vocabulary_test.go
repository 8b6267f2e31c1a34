package synth

import (
	"slices"
	"strings"
	"testing"
)

// Sizes, merges and special ids of the real vocabularies.
func TestVocabularies(t *testing.T) {
	tests := []struct {
		name    string
		v       *vocabulary
		size    int
		merges  int
		special map[int]string
	}{
		{"qwen2", qwen2(151936), 151936, 151387, map[int]string{
			151643: "<|endoftext|>", 151644: "<|im_start|>", 151645: "<|im_end|>",
			151668: "</think>", 151669: "[PAD151669]", 151935: "[PAD151935]",
		}},
		{"llama 3", llama3(128256), 128256, 280147, map[int]string{
			128000: "<|begin_of_text|>", 128001: "<|end_of_text|>",
			128002: "<|reserved_special_token_0|>", 128006: "<|start_header_id|>",
			128009: "<|eot_id|>", 128255: "<|reserved_special_token_250|>",
		}},
		{"sentencepiece", sentencePiece(32002), 32002, 0, map[int]string{
			0: "<unk>", 1: "<s>", 2: "</s>", 3: "<0x00>", 258: "<0xFF>", 31999: "~", 32000: "<pad>",
		}},
		{"tiny qwen2", qwen2(512), 512, 512 - 26 - 256, map[int]string{486: "<|endoftext|>", 488: "<|im_end|>"}},
		// 256 words: 42 of two letters have one split, 214 of three have two.
		{"tiny llama 3", llama3(768), 768, 42 + 2*214, map[int]string{512: "<|begin_of_text|>"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.v.tokens) != tt.size || len(tt.v.types) != tt.size {
				t.Errorf("%d tokens, %d types, want %d", len(tt.v.tokens), len(tt.v.types), tt.size)
			}
			if len(tt.v.merges) != tt.merges {
				t.Errorf("%d merges, want %d", len(tt.v.merges), tt.merges)
			}
			for id, want := range tt.special {
				if got := tt.v.tokens[id]; got != want {
					t.Errorf("token %d is %q, want %q", id, got, want)
				}
			}
			checkVocabulary(t, tt.v)
		})
	}
}

// checkVocabulary checks what a tokenizer relies on: no token twice, and
// merges of existing tokens into existing tokens, each once.
func checkVocabulary(t *testing.T, v *vocabulary) {
	t.Helper()
	ids := map[string]int{}
	for id, token := range v.tokens {
		if first, ok := ids[token]; ok {
			t.Fatalf("tokens %d and %d are both %q", first, id, token)
		}
		ids[token] = id
	}
	seen := map[string]bool{}
	for _, m := range v.merges {
		left, right, _ := strings.Cut(m, " ")
		for _, token := range []string{left, right, left + right} {
			if _, ok := ids[token]; !ok {
				t.Fatalf("merge %q: %q is not a token", m, token)
			}
		}
		if seen[m] {
			t.Fatalf("merge %q comes twice", m)
		}
		seen[m] = true
	}
}

// Merging by rank joins letters of made-up words, shortest first and the
// frequent letters before others, and leaves other text as its bytes.
func TestMergesJoinWords(t *testing.T) {
	v := qwen2(151936)
	rank := map[string]int{}
	for i, m := range v.merges {
		rank[m] = i
	}
	for text, want := range map[string][]string{
		"Ġton":   {"Ġton"},       // Ġt, on
		"tona":   {"tona"},       // to, na
		"nation": {"na", "tion"}, // na, ti, on; ti+on is ranked before na+ti
		"xyz":    {"x", "y", "z"},
	} {
		if got := mergeByRank(strings.Split(text, ""), rank); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func mergeByRank(parts []string, rank map[string]int) []string {
	for {
		best, at := len(rank), -1
		for i := 1; i < len(parts); i++ {
			if r, ok := rank[parts[i-1]+" "+parts[i]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return parts
		}
		parts = slices.Concat(parts[:at-1], []string{parts[at-1] + parts[at]}, parts[at+1:])
	}
}

func TestByteTokens(t *testing.T) {
	got := byteTokens()
	if len(got) != 256 {
		t.Fatalf("%d tokens, want 256", len(got))
	}
	// openai/gpt-2's encoder.json: "!" is 0, the byte 0x00 is 188 as "Ā", the
	// space 220 as "Ġ".
	for id, want := range map[int]string{0: "!", 93: "~", 94: "¡", 187: "ÿ", 188: "Ā", 220: bpeSpace, 255: "Ń"} {
		if got[id] != want {
			t.Errorf("token %d is %q, want %q", id, got[id], want)
		}
	}
}

// A word's score falls with its rank, so that the shortest words join first.
func TestSentencePieceScores(t *testing.T) {
	v := sentencePiece(32002)
	for id := 259 + 1; id < 32000; id++ {
		if v.types[id] != tokenNormal || v.scores[id] >= v.scores[id-1] {
			t.Fatalf("token %d: type %d, score %v after %v", id, v.types[id], v.scores[id], v.scores[id-1])
		}
	}
	if v.types[258] != tokenByte || v.scores[258] != 0 || v.types[32001] != tokenUnused {
		t.Errorf("types %d and %d, score %v", v.types[258], v.types[32001], v.scores[258])
	}
}

package tokenizer

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
)

// file makes a GGUF file without tensors.
func file(t testing.TB, kvs ...container.KV) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	w, err := gguf.NewWriter(&b, kvs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), "test.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func kv[T container.Scalar](key string, x T) container.KV {
	return container.KV{Key: key, Value: container.Of(x)}
}
func kvs[T container.Scalar](key string, x []T) container.KV {
	return container.KV{Key: key, Value: container.ArrayOf(x)}
}

// alphabet is the 256 tokens that every byte-level vocabulary begins with; the
// id of each is its byte.
func alphabet() []string { return append([]string(nil), byteText[:]...) }

// fullSize is a byte-level vocabulary of a real one's size: made-up words of
// these letters, each with splits of it as merges, in the order of the words as
// in the real ones.
func fullSize(pre string, tokens, merges int) []container.KV {
	const letters = "etaoinsr"
	texts := alphabet()
	var lines []string
	spare := merges - (tokens - len(texts)) // beyond one for each word
	shorter := strings.Split(letters, "")
	for len(texts) < tokens {
		var words []string
		for _, w := range shorter {
			for _, c := range letters {
				words = append(words, w+string(c))
			}
		}
		for _, w := range words[:min(len(words), tokens-len(texts))] {
			texts = append(texts, w)
			lines = append(lines, w[:len(w)-1]+" "+w[len(w)-1:])
			for at := 1; at < len(w)-1 && spare > 0; at++ {
				lines = append(lines, w[:at]+" "+w[at:])
				spare--
			}
		}
		shorter = words
	}
	types := make([]int32, len(texts))
	for i := range types {
		types[i] = int32(normal)
	}
	return []container.KV{
		kv(keyModel, "gpt2"), kv(keyPre, pre), kvs(keyTokens, texts), kvs(keyTypes, types), kvs(keyMerges, lines),
		kv(keyBOS, uint32(1)),
	}
}

// Loading is a part of the time to the first token.
func BenchmarkFromGGUF(b *testing.B) {
	for _, v := range []struct {
		pre            string
		tokens, merges int
	}{{"qwen2", 151936, 151387}, {"llama-bpe", 128256, 280147}} {
		b.Run(fmt.Sprintf("pre=%s/tokens=%d/merges=%d", v.pre, v.tokens, v.merges), func(b *testing.B) {
			f := file(b, fullSize(v.pre, v.tokens, v.merges)...)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := FromGGUF(f, arch.Text{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// describe makes a file of what is in m: metadata by key. Absent keys are nil.
func describe(t testing.TB, m map[string]any, more []func(map[string]any)) *gguf.File {
	t.Helper()
	for _, change := range more {
		change(m)
	}
	var pairs []container.KV
	for _, key := range slices.Sorted(maps.Keys(m)) {
		var v container.Value
		switch x := m[key].(type) {
		case nil:
			continue
		case string:
			v = container.Of(x)
		case bool:
			v = container.Of(x)
		case uint32:
			v = container.Of(x)
		case int32:
			v = container.Of(x)
		case []string:
			v = container.ArrayOf(x)
		case []int32:
			v = container.ArrayOf(x)
		case []float32:
			v = container.ArrayOf(x)
		default:
			t.Fatalf("%T", x)
		}
		pairs = append(pairs, container.KV{Key: key, Value: v})
	}
	return file(t, pairs...)
}

func smallFile(t testing.TB, pre string, more ...func(map[string]any)) *gguf.File {
	return describe(t, map[string]any{
		keyModel: "gpt2", keyPre: pre, keyTokens: slices.Clone(smallTokens), keyTypes: smallTypes(), keyMerges: smallMerges,
		keyAddBOS: false, keyEOS: uint32(272), keyBOS: uint32(271),
	}, more)
}

func piecesFile(t testing.TB, more ...func(map[string]any)) *gguf.File {
	tokens, scores, types := pieces()
	return describe(t, map[string]any{keyModel: "llama", keyTokens: tokens, keyScores: scores, keyTypes: types}, more)
}

func BenchmarkEncode(b *testing.B) {
	tok, err := FromGGUF(file(b, fullSize("qwen2", 151936, 151387)...), arch.Text{})
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("The notion is, as it stands, none of 2024's treasures; it isn't 世界.\n", 100)
	tokens := len(tok.Encode(text, Options{}))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Encode(text, Options{})
	}
	b.ReportMetric(float64(tokens)*float64(b.N)/b.Elapsed().Seconds(), "tok/s")
}

package tokenizer

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/models/arch"
)

// llamaJSON is the vocabulary of pieces as a tokenizer.json, with ba behind ab.
func llamaJSON(change ...func(f, model object)) object {
	vocab := object{}
	tokens, _, _ := pieces()
	for id, text := range tokens[:269] {
		vocab[text] = id
	}
	model := object{
		"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true, "vocab": vocab,
		// ab -1, ba -1.5, ▁a -2, ▁▁ -3, ▁ab -4, aba -6
		"merges": []any{"a b", "b a", []string{"▁", "a"}, "▁ ▁", "▁a b", "▁ ab", "a ba", "ab a"},
	}
	f := object{
		"added_tokens": []object{
			{"id": 0, "content": "<unk>", "special": true}, {"id": 1, "content": "<s>", "special": true}, {"id": 2, "content": "</s>", "special": true},
			{"id": 269, "content": "<user>", "special": false},
		},
		"normalizer": object{"type": "Sequence", "normalizers": []object{
			{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": object{"String": " "}, "content": "▁"},
		}},
		"pre_tokenizer": nil,
		"model":         model,
	}
	for _, c := range change {
		c(f, model)
	}
	return f
}

func metaspace(settings object) func(f, model object) {
	return func(f, _ object) {
		f["normalizer"] = nil
		f["pre_tokenizer"] = object{"type": "Metaspace", "replacement": "▁"}
		for key, x := range settings {
			f["pre_tokenizer"].(object)[key] = x
		}
	}
}

// The forms that LLaMA's pipeline takes give the tokens of a GGUF file with the
// same vocabulary, and of the file that is made of the directory.
func TestFromHFLlama(t *testing.T) {
	replace := func(f, _ object) {
		f["normalizer"] = object{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"}
	}
	for name, tt := range map[string]struct {
		json   object
		prefix bool
	}{
		"normalizer":           {llamaJSON(), true},
		"no prefix":            {llamaJSON(replace), false},
		"Metaspace":            {llamaJSON(metaspace(nil)), true},
		"Metaspace, old":       {llamaJSON(metaspace(object{"add_prefix_space": false})), false},
		"Metaspace, first":     {llamaJSON(metaspace(object{"prepend_scheme": "first", "split": false})), true},
		"Metaspace, never":     {llamaJSON(metaspace(object{"prepend_scheme": "never", "add_prefix_space": true})), false},
		"Metaspace, new, both": {llamaJSON(metaspace(object{"prepend_scheme": "always", "add_prefix_space": true})), true},
	} {
		dir := directory(t, map[string]any{"tokenizer.json": tt.json})
		got, err := FromHF(dir, arch.Text{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		meta, err := HFMetadata(dir, arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		converted, err := FromGGUF(file(t, meta...), arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		want := smallPieces(t, func(m map[string]any) {
			m[keyAddPrefix] = nil
			if !tt.prefix {
				m[keyAddPrefix] = false
			}
			m[keyScores].([]float32)[266] = -1.5
		})
		for _, text := range append([]string{"ab", "aba", "bab", "  a", "abab ba é\n", "<user>ab<s>a"}, texts...) {
			opt := Options{AddSpecial: true, ParseSpecial: true}
			ids := want.Encode(text, opt)
			if a, b := got.Encode(text, opt), converted.Encode(text, opt); !slices.Equal(a, ids) || !slices.Equal(b, ids) {
				t.Errorf("%s: %q gives %v and, converted, %v, want %v", name, text, a, b, ids)
			}
			if back := got.Decode(ids); back != want.Decode(ids) {
				t.Errorf("%s: %v is %q, want %q", name, ids, back, want.Decode(ids))
			}
		}
		if got.BOS() != 1 || got.EOS() != 2 || !got.AddBOS() || got.Padding() != -1 || !got.IsControl(0) {
			t.Errorf("%s: BOS %d, EOS %d", name, got.BOS(), got.EOS())
		}
	}
}

// By hand: bytes for what is no token, merges before others by their rank.
func TestEncodeLlamaJSON(t *testing.T) {
	tok, err := FromHF(directory(t, map[string]any{"tokenizer.json": llamaJSON()}), arch.Text{})
	if err != nil {
		t.Fatal(err)
	}
	const byte0 = 3
	for text, want := range map[string][]int{
		"ab":  {1, 264},                             // ▁ a b: "a b" first, then "▁ ab"
		"bab": {1, 259, 261, 262},                   // ▁ b a b: "a b" before "b a"
		"ba":  {1, 259, 266},                        // ▁ ba
		"z":   {1, 259, byte0 + 'z'},                // no token z
		"é~":  {1, 259, 267, byte0 + '~'},           // é is one
		"ü":   {1, 259, byte0 + 0xc3, byte0 + 0xbc}, // ü is not
	} {
		if got := tok.Encode(text, Options{AddSpecial: true}); !slices.Equal(got, want) {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
	}
}

func TestFromHFLlamaRefused(t *testing.T) {
	merges := func(m ...any) object { return llamaJSON(func(_, model object) { model["merges"] = m }) }
	normalizer := func(x any) object { return llamaJSON(func(f, _ object) { f["normalizer"] = x }) }
	vocab := func(text string, id any) object {
		return llamaJSON(func(_, model object) {
			if v := model["vocab"].(object); id == nil {
				delete(v, text)
			} else {
				v[text] = id
			}
		})
	}
	for _, tt := range []struct {
		name string
		json object
		want string
	}{
		{"unigram", llamaJSON(func(_, model object) { model["type"] = "Unigram" }), `the type of the model is "Unigram", want BPE`},
		{"no fallback", llamaJSON(func(_, model object) { model["byte_fallback"] = false }), "without byte_fallback it is not SentencePiece's"},
		{"spaces stay", normalizer(nil), "normalizer does not replace spaces by ▁"},
		{"another normalizer", normalizer(object{"type": "NFKC"}), `normalizer has a step "NFKC"`},
		{"another space", normalizer(object{"type": "Replace", "pattern": object{"String": " "}, "content": "_"}), `normalizer has a step "Replace"`},
		{"byte-level with fallback", llamaJSON(metaspace(object{"type": "ByteLevel"})), "pre_tokenizer is not Metaspace"},
		{"Metaspace of another mark", llamaJSON(metaspace(object{"replacement": "_"})), "pre_tokenizer is not Metaspace"},
		{"both", llamaJSON(func(f, _ object) { f["pre_tokenizer"] = object{"type": "Metaspace", "replacement": "▁"} }), "pre_tokenizer is not Metaspace"},
		{"merge of no token", merges("q q"), `model.merges merge 0 ("q q") is of something or makes something that is no token`},
		{"merge without a space", merges("ab"), `model.merges merge 0 ("ab")`},
		{"merges apart", merges("▁a b", "a b", "▁ ab"), `merge 2 ("▁ ab") stands apart`},
		{"merges missing", merges("a b"), "0 merges make token "},
		{"merges of some splits", merges("a b", "b a", "▁ a", "▁ ▁", "▁a b", "▁ ab", "a ba"), `1 merges make token "aba", which is two tokens in 2 ways`},
		{"no byte", vocab("<0x41>", nil), "vocabulary has no token <0x41> of type byte"},
		{"token too long", vocab(strings.Repeat("a", longestPiece+1), 300), "has more than 4096 bytes"},
		{"negative id", vocab("ab", -1), `token "ab" has id -1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := directory(t, map[string]any{"tokenizer.json": tt.json})
			_, err := FromHF(dir, arch.Text{})
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "tokenizer.json")) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

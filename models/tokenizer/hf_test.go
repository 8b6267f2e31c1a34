package tokenizer

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/models/arch"
)

// directory writes files, of which an any is marshalled as JSON.
func directory(t testing.TB, files map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		data, ok := content.([]byte)
		if !ok {
			var err error
			if data, err = json.Marshal(content); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type object = map[string]any

// smallJSON is the vocabulary of smallTokens as a tokenizer.json.
func smallJSON(regex string) object {
	vocab := object{}
	for id, text := range smallTokens[:271] {
		vocab[text] = id
	}
	merges := make([]any, len(smallMerges))
	for i, m := range smallMerges {
		if merges[i] = m; i%2 == 0 {
			merges[i] = strings.Split(m, " ")
		}
	}
	return object{
		"added_tokens": []object{
			{"id": 271, "content": "<|im_start|>", "special": true}, {"id": 272, "content": "<|im_end|>", "special": true},
			{"id": 273, "content": "<think>", "special": false}, {"id": 274, "content": "<|im|>", "special": true},
		},
		"normalizer": nil,
		"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"Regex": regex}, "behavior": "Isolated", "invert": false},
			{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
		}},
		"model": object{"type": "BPE", "ignore_merges": true, "vocab": vocab, "merges": merges},
	}
}

const llama3Regex = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// A directory gives the tokens that a GGUF file with the same vocabulary gives.
func TestFromHFBytePairs(t *testing.T) {
	gpt2 := smallJSON("")
	gpt2["pre_tokenizer"] = object{"type": "ByteLevel", "add_prefix_space": false}
	for pre, f := range map[string]object{
		"llama-bpe": smallJSON(llama3Regex), "qwen2": smallJSON(strings.Replace(llama3Regex, "{1,3}", "", 1)), "gpt-2": gpt2,
	} {
		dir := directory(t, map[string]any{
			"tokenizer.json": f,
			"config.json":    object{"vocab_size": 300},
			"tokenizer_config.json": object{
				"bos_token": object{"content": "<|im_start|>"}, "eos_token": "<|im_end|>", "pad_token": nil, "add_bos_token": true,
				"chat_template": "{{'[INST]'}}",
			},
		})
		got, err := FromHF(dir, arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		want := small(t, pre, func(m map[string]any) { m[keyAddBOS] = true })
		for _, text := range texts {
			opt := Options{AddSpecial: true, ParseSpecial: true}
			if a, b := got.Encode(text, opt), want.Encode(text, opt); !slices.Equal(a, b) {
				t.Errorf("%s: %q gives %v, want %v", pre, text, a, b)
			}
		}
		// Rows of the embedding without a token are filled.
		if got.Vocab() != 300 || got.Token(299) != "[PAD299]" || !got.IsControl(299) || got.BOS() != 271 || !got.IsEnd(272) {
			t.Errorf("%d tokens, BOS %d", got.Vocab(), got.BOS())
		}
	}
}

// post is a TemplateProcessing of pieces: names of tokens, or "" for the text.
func post(tokens map[string]int, pieces ...string) object {
	single, special := []object{}, object{}
	for _, p := range pieces {
		if p == "" {
			single = append(single, object{"Sequence": object{"id": "A", "type_id": 0}})
			continue
		}
		single = append(single, object{"SpecialToken": object{"id": p, "type_id": 0}})
		special[p] = object{"id": p, "ids": []int{tokens[p]}, "tokens": []string{p}}
	}
	return object{"type": "TemplateProcessing", "single": single, "pair": []object{}, "special_tokens": special}
}

// Whether a token is put before and behind a text is said by tokenizer_config.json, else
// by the post-processor: not by the splitter, which may be that of a model that has one.
func TestFromHFPostProcessor(t *testing.T) {
	tokens := map[string]int{"<|im_start|>": 271, "<|im_end|>": 272}
	byteLevel := object{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true}
	before := post(tokens, "<|im_start|>", "")
	for name, tt := range map[string]struct {
		post       any // of tokenizer.json; nil: it has none
		config     object
		begin, end bool
	}{
		"bytes alone":              {byteLevel, nil, false, false},
		"a template":               {before, nil, true, false},
		"a template of both":       {post(tokens, "<|im_start|>", "", "<|im_end|>"), nil, true, true},
		"a template of the text":   {post(tokens, ""), nil, false, false},
		"a template and bytes":     {object{"type": "Sequence", "processors": []object{byteLevel, before}}, nil, true, false},
		"RoBERTa's":                {object{"type": "RobertaProcessing", "cls": []any{"<|im_start|>", 271}, "sep": []any{"<|im_end|>", 272}}, nil, true, true},
		"the configuration's no":   {before, object{"add_bos_token": false}, false, false},
		"the configuration's yes":  {byteLevel, object{"add_bos_token": true}, true, false},
		"none, of no class":        {nil, nil, true, false}, // the splitter is Llama 3's
		"none, of LLaMA's class":   {nil, object{"tokenizer_class": "LlamaTokenizerFast"}, true, false},
		"none, of a general class": {nil, object{"tokenizer_class": "PreTrainedTokenizerFast"}, false, false},
	} {
		f, config := smallJSON(llama3Regex), object{"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}
		f["post_processor"] = tt.post
		for key, value := range tt.config {
			config[key] = value
		}
		dir := directory(t, map[string]any{"tokenizer.json": f, "tokenizer_config.json": config})
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
		for kind, words := range map[string]*Tokenizer{"directory": got, "file made of it": converted} {
			ids := words.Encode("hello", Options{AddSpecial: true})
			if begin, end := ids[0] == 271, ids[len(ids)-1] == 272; begin != tt.begin || end != tt.end {
				t.Errorf("%s, %s: tokens %v, want one before: %t, one behind: %t", name, kind, ids, tt.begin, tt.end)
			}
		}
	}
	for want, bad := range map[string]any{
		"several tokens":       post(tokens, "<|im_start|>", "<|im_end|>", ""),
		`is "Magic", which is`: object{"type": "Magic"},
		"has id 999999":        post(map[string]int{"<|im_start|>": 999999}, "<|im_start|>", ""),
		"lacks its tokens":     object{"type": "BertProcessing"},
	} {
		f := smallJSON(llama3Regex)
		f["post_processor"] = bad
		dir := directory(t, map[string]any{"tokenizer.json": f})
		if _, err := FromHF(dir, arch.Text{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "tokenizer.json: post_processor ") {
			t.Errorf("error %v, want post_processor and %s", err, want)
		}
	}
}

// A template may be a text, one of a list, or a file of its own, which counts
// before the others.
func TestFromHFTemplate(t *testing.T) {
	const thinking, inst = "{{'<|im_start|><think>'}}", "{{'[INST]'}}"
	list := []object{{"name": "tool_use", "template": inst}, {"name": "default", "template": thinking}}
	for _, tt := range []struct {
		config any
		file   string
		want   string
	}{
		{thinking, "", thinking},
		{list, "", thinking},
		{list[:1], "", ""},
		{nil, "", ""},
		{nil, inst, inst},
		{thinking, inst, inst},
	} {
		files := map[string]any{"tokenizer.json": smallJSON(llama3Regex), "tokenizer_config.json": object{"bos_token": "<|im_start|>", "chat_template": tt.config}}
		if tt.file != "" {
			files["chat_template.jinja"] = []byte(tt.file)
		}
		got, err := FromHF(directory(t, files), arch.Text{})
		if err != nil || got.template != tt.want {
			t.Errorf("%v and file %q: template %q, %v, want %q", tt.config, tt.file, got.template, err, tt.want)
		}
	}
	dir := directory(t, map[string]any{"tokenizer.json": smallJSON(llama3Regex), "tokenizer_config.json": object{"chat_template": 7}})
	if _, err := FromHF(dir, arch.Text{}); err == nil || !strings.Contains(err.Error(), "tokenizer_config.json: json: cannot unmarshal number") {
		t.Errorf("a number for a template: %v", err)
	}
}

func appendField(b []byte, number int, content []byte) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

// smallModel is the vocabulary of pieces as a tokenizer.model.
func smallModel(modelType byte) []byte {
	var b []byte
	tokens, scores, types := pieces()
	for i, text := range tokens {
		piece := appendField(nil, 1, []byte(text))
		piece = append(piece, 2<<3|5)
		piece = binary.LittleEndian.AppendUint32(piece, math.Float32bits(scores[i]))
		if types[i] != int32(normal) { // which is the default
			piece = append(piece, 3<<3, byte(types[i]))
		}
		b = appendField(b, 1, piece)
	}
	b = appendField(b, 2, []byte{3 << 3, modelType, 40 << 3 & 0x7f, 0}) // and a field that is skipped
	return appendField(b, 3, []byte{3 << 3, 0})
}

func TestFromHFSentencePiece(t *testing.T) {
	dir := directory(t, map[string]any{
		"tokenizer.model":       smallModel(2),
		"tokenizer.json":        []byte("not read"),
		"added_tokens.json":     object{"<pad>": 270, "<s>": 1},
		"tokenizer_config.json": object{"pad_token": "<pad>"},
	})
	got, err := FromHF(dir, arch.Text{})
	if err != nil {
		t.Fatal(err)
	}
	want := smallPieces(t, func(m map[string]any) { m[keyAddPrefix] = false })
	for _, text := range texts {
		opt := Options{AddSpecial: true, ParseSpecial: true}
		if a, b := got.Encode(text, opt), want.Encode(text, opt); !slices.Equal(a, b) {
			t.Errorf("%q gives %v, want %v", text, a, b)
		}
	}
	if got.Padding() != 270 || !got.IsControl(270) || got.BOS() != 1 {
		t.Errorf("padding %d, BOS %d", got.Padding(), got.BOS())
	}
}

func TestFromHFRefused(t *testing.T) {
	pre := func(p any) object {
		f := smallJSON(llama3Regex)
		f["pre_tokenizer"] = p
		return f
	}
	model := func(key string, x any) object {
		f := smallJSON(llama3Regex)
		f["model"].(object)[key] = x
		return f
	}
	good := smallJSON(llama3Regex)
	for _, tt := range []struct {
		name  string
		files map[string]any
		file  string
		want  string
	}{
		{"nothing", nil, "tokenizer.json", ", nor is there a tokenizer.model"},
		{"not JSON", map[string]any{"tokenizer.json": []byte("{")}, "tokenizer.json", "unexpected end"},
		{"unigram", map[string]any{"tokenizer.json": model("type", "Unigram")}, "tokenizer.json", `the type of the model is "Unigram", want BPE`},
		{"no pre-tokenizer", map[string]any{"tokenizer.json": pre(nil)}, "tokenizer.json", "pre_tokenizer is missing"},
		{"another pre-tokenizer", map[string]any{"tokenizer.json": pre(object{"type": "Metaspace"})}, "tokenizer.json", "pre_tokenizer is not byte-level"},
		{"another pattern", map[string]any{"tokenizer.json": smallJSON(`\w+`)}, "tokenizer.json", `pre_tokenizer has a pattern that is not known: "\\w+"`},
		{"no pattern", map[string]any{"tokenizer.json": smallJSON("")}, "tokenizer.json", "pre_tokenizer has a pattern that is not known"},
		{"merge of three", map[string]any{"tokenizer.json": model("merges", [][]string{{"a", "b", "c"}})}, "tokenizer.json", "want two tokens"},
		{"merge of no token", map[string]any{"tokenizer.json": model("merges", []string{"q q"})}, "tokenizer.json", `model.merges merge 0 ("q q") makes "qq"`},
		{"id out of range", map[string]any{"tokenizer.json": model("vocab", object{"a": 1 << 40})}, "tokenizer.json", `token "a" has id 1099511627776`},
		{"id twice", map[string]any{"tokenizer.json": model("vocab", object{"a": 1, "b": 1})}, "tokenizer.json", `tokens "a" and "b" both have id 1`},
		{"negative id", map[string]any{"tokenizer.json": model("vocab", object{"a": -1})}, "tokenizer.json", `token "a" has id -1`},
		{"BOS is no token", map[string]any{"tokenizer.json": good, "tokenizer_config.json": object{"bos_token": "<x>"}}, "tokenizer_config.json", `bos_token is "<x>", which is no token`},
		{"no BOS", map[string]any{"tokenizer.json": good}, "tokenizer.json", "bos_token is missing"},
		{"vocabulary too large", map[string]any{"tokenizer.json": good, "config.json": object{"vocab_size": 1 << 30}}, "config.json", "vocab_size is 1073741824"},
		{"config of another kind", map[string]any{"tokenizer.json": good, "config.json": []byte("[]")}, "config.json", "cannot unmarshal"},
		{"end out of range", map[string]any{"tokenizer.json": good, "generation_config.json": object{"eos_token_id": []int{1, 999}}}, "generation_config.json", "eos_token has id 999, and there are tokens 0 to 274"},
		{"negative end", map[string]any{"tokenizer.json": good, "config.json": object{"eos_token_id": -1}}, "config.json", "eos_token has id -1"},
		{"end in words", map[string]any{"tokenizer.json": good, "generation_config.json": object{"eos_token_id": "</s>"}}, "generation_config.json", "cannot unmarshal"},
		{"added token over another", map[string]any{"tokenizer.json": good, "added_tokens.json": object{"zzz": 3}}, "added_tokens.json", "both have id 3"},

		{"not a protocol buffer", map[string]any{"tokenizer.model": []byte("version https://git-lfs")}, "tokenizer.model", "is no SentencePiece model"},
		{"cut short", map[string]any{"tokenizer.model": smallModel(2)[:100]}, "tokenizer.model", "cut short"},
		{"empty", map[string]any{"tokenizer.model": []byte{}}, "tokenizer.model", "the type of the model is 1, want 2"},
		{"unigram", map[string]any{"tokenizer.model": smallModel(1)}, "tokenizer.model", "the type of the model is 1, want 2"},
		{"unknown type", map[string]any{"tokenizer.model": appendField(nil, 1, []byte{1<<3 | 2, 1, 'a', 3 << 3, 9})}, "tokenizer.model", "the type of token 0 is 9"},
		{"empty token", map[string]any{"tokenizer.model": appendField(nil, 1, []byte{3 << 3, 1})}, "tokenizer.model", "token 0 is empty"},
		{"field beyond the end", map[string]any{"tokenizer.model": []byte{1<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}}, "tokenizer.model", "cut short"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := directory(t, tt.files)
			_, err := FromHF(dir, arch.Text{})
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, tt.file)) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s: %s", err, tt.file, tt.want)
			}
		})
	}
}

// FuzzHF: whatever the file, there is an error or a tokenizer that gives text
// back.
func FuzzHF(f *testing.F) {
	f.Add(smallModel(2), true)
	data, err := json.Marshal(smallJSON(llama3Regex))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, false)
	if data, err = json.Marshal(llamaJSON()); err != nil {
		f.Fatal(err)
	}
	f.Add(data, false)
	f.Fuzz(func(t *testing.T, data []byte, sentencePiece bool) {
		src := &hfSource{source: newSource(arch.Text{})}
		src.flags[keyAddBOS] = false
		read := readJSON
		if sentencePiece {
			read = readPieces
		}
		if read(data, src) != nil {
			return
		}
		if len(src.tokens) > 1<<20 {
			t.Skip("needless memory")
		}
		src.fill(0)
		tok, err := src.tokenizer()
		if err != nil {
			return
		}
		const text = "he'll 12 \xff"
		if got := tok.Decode(tok.Encode(text, Options{})); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	})
}

// A directory gives metadata of which FromGGUF makes the same tokenizer.
func TestHFMetadata(t *testing.T) {
	for name, dir := range map[string]string{
		"BPE": directory(t, map[string]any{
			"tokenizer.json":         smallJSON(llama3Regex),
			"config.json":            object{"vocab_size": 300, "bos_token_id": 5},
			"generation_config.json": object{"eos_token_id": []int{272, 7}, "bos_token_id": nil},
			"tokenizer_config.json":  object{"pad_token": "<|im|>", "add_bos_token": true, "chat_template": "{{'[INST]'}}"},
		}),
		"SentencePiece": directory(t, map[string]any{
			"tokenizer.model":       smallModel(2),
			"added_tokens.json":     object{"<pad>": 270},
			"config.json":           object{"eos_token_id": 2},
			"tokenizer_config.json": object{"pad_token": "<pad>", "add_eos_token": true},
		}),
	} {
		want, err := FromHF(dir, arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		meta, err := HFMetadata(dir, arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromGGUF(file(t, meta...), arch.Text{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			opt := Options{AddSpecial: true, ParseSpecial: true}
			ids := got.Encode(text, opt)
			if b := want.Encode(text, opt); !slices.Equal(ids, b) {
				t.Errorf("%s: %q gives %v, want %v", name, text, ids, b)
			}
			if a, b := got.Decode(ids), want.Decode(ids); a != b {
				t.Errorf("%s: %v gives %q, want %q", name, ids, a, b)
			}
		}
		if got.BOS() != want.BOS() || got.EOS() != want.EOS() || got.Padding() != want.Padding() || got.Vocab() != want.Vocab() || got.template != want.template {
			t.Errorf("%s: %+v", name, got)
		}
		for id := range want.Vocab() {
			if got.IsEnd(id) != want.IsEnd(id) || got.IsControl(id) != want.IsControl(id) || got.Token(id) != want.Token(id) {
				t.Errorf("%s: token %d is %q", name, id, got.Token(id))
			}
		}
		if name == "BPE" && (!got.IsEnd(7) || !got.IsEnd(272) || got.EOS() != 272 || got.BOS() != 5) {
			t.Errorf("ends %v, EOS %d, BOS %d", got.ends, got.EOS(), got.BOS())
		}
	}
	if _, err := HFMetadata(t.TempDir(), arch.Text{}); err == nil || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("%v", err)
	}
}

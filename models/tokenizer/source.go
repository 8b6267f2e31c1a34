package tokenizer

import (
	"fmt"
	"iter"
	"slices"

	"onebit/models/arch"
)

// The keys of GGUF metadata, which errors name. Source: ggml-org/llama.cpp
// gguf-py/gguf/constants.py, Keys.Tokenizer.
const (
	keyModel     = "tokenizer.ggml.model"
	keyPre       = "tokenizer.ggml.pre"
	keyTokens    = "tokenizer.ggml.tokens"
	keyTypes     = "tokenizer.ggml.token_type"
	keyScores    = "tokenizer.ggml.scores"
	keyMerges    = "tokenizer.ggml.merges"
	keyBOS       = "tokenizer.ggml.bos_token_id"
	keyEOS       = "tokenizer.ggml.eos_token_id"
	keyEOT       = "tokenizer.ggml.eot_token_id"
	keyPadding   = "tokenizer.ggml.padding_token_id"
	keyAddBOS    = "tokenizer.ggml.add_bos_token"
	keyAddEOS    = "tokenizer.ggml.add_eos_token"
	keyAddPrefix = "tokenizer.ggml.add_space_prefix"
	keyTemplate  = "tokenizer.chat_template"
)

// The values of tokenizer.ggml.model.
const (
	modelGPT2  = "gpt2"  // byte-level BPE
	modelLlama = "llama" // SentencePiece
)

// A source is what a file says about its tokenizer.
type source struct {
	model    string // gpt2 or llama
	pre      string
	tokens   list
	kinds    []kind    // one for each token
	scores   []float32 // likewise, for llama
	merges   list
	ids      map[string]int64 // by key; a missing one is not there
	flags    map[string]bool  // likewise
	ends     []int64          // of a generation, beside eos and eot
	template string
	text     arch.Text // what the architecture says
}

func newSource(text arch.Text) source {
	return source{text: text, ids: map[string]int64{}, flags: map[string]bool{}}
}

// A list is texts in order, which need not be in memory as strings.
type list struct {
	n   int
	all iter.Seq[string]
}

func listOf(texts []string) list { return list{len(texts), slices.Values(texts)} }

// A keyError is a fault of one of the keys above.
type keyError struct{ key, msg string }

func (e *keyError) Error() string { return fmt.Sprintf("key %q: %s", e.key, e.msg) }

func keyErrorf(key, format string, args ...any) error {
	return &keyError{key, fmt.Sprintf(format, args...)}
}

// endTokens end a turn or a text in one of the supported models, whether the
// file says so or not: most files name only one of a model's end tokens.
var endTokens = []string{"<|eot_id|>", "<|im_end|>", "<|endoftext|>", "<|end_of_text|>"}

// newTokenizer checks a source and makes its tokenizer. Its errors are
// *keyErrors.
func newTokenizer(src *source) (*Tokenizer, error) {
	t := &Tokenizer{template: src.template, text: src.text}
	var err error
	if t.vocab, err = newVocabulary(src.tokens, src.kinds); err != nil {
		return nil, err
	}
	t.markEnds()
	if src.model == modelGPT2 {
		err = t.setBytePairs(src)
	} else {
		err = t.setSentencePiece(src)
	}
	if err != nil {
		return nil, err
	}
	if err := t.setIDs(src); err != nil {
		return nil, err
	}
	t.specials = newSpecials(&t.vocab)
	return t, nil
}

// markEnds makes the end tokens control tokens: files exist that call them
// normal.
func (t *Tokenizer) markEnds() {
	for _, text := range endTokens {
		if id := t.vocab.find(text); id >= 0 {
			t.vocab.kinds[id] = control
			t.ends = append(t.ends, int(id))
		}
	}
}

func (t *Tokenizer) setBytePairs(src *source) error {
	pre, err := preTokenizerNamed(src.preTokenizer(&t.vocab))
	if err != nil {
		return err
	}
	t.addBOS = src.flag(keyAddBOS, pre.addBOS)
	t.addEOS = src.flag(keyAddEOS, false)
	m, err := newBytePairs(&t.vocab, pre, src.merges)
	t.model = m
	return err
}

// preTokenizer is the name in the file or, if it has none, the architecture's,
// as far as the vocabulary confirms it.
func (src *source) preTokenizer(v *vocabulary) string {
	if src.pre == "" {
		if p, err := preTokenizerNamed(src.text.Splitter); err == nil && p.knows != nil && p.knows(v) {
			return p.name
		}
	}
	return src.pre
}

func (t *Tokenizer) setSentencePiece(src *source) error {
	t.addBOS = src.flag(keyAddBOS, true)
	t.addEOS = src.flag(keyAddEOS, false)
	t.prefixed = src.flag(keyAddPrefix, true)
	m, err := newSentencePiece(&t.vocab, src.scores, t.prefixed)
	t.model = m
	return err
}

func (src *source) flag(key string, missing bool) bool {
	if v, ok := src.flags[key]; ok {
		return v
	}
	return missing
}

func (t *Tokenizer) setIDs(src *source) error {
	eot := int32(-1)
	for _, f := range []struct {
		key  string
		id   *int32
		text string // SentencePiece's name, if the file has no key
	}{
		{keyBOS, &t.bos, "<s>"}, {keyEOS, &t.eos, "</s>"}, {keyEOT, &eot, ""}, {keyPadding, &t.padding, ""},
	} {
		*f.id = -1
		id, ok := src.ids[f.key]
		switch {
		case ok && (id < 0 || id >= int64(src.tokens.n)):
			return keyErrorf(f.key, "is %d, and there are tokens 0 to %d", id, src.tokens.n-1)
		case ok:
			*f.id = int32(id)
		case f.text != "" && src.model == modelLlama:
			*f.id = t.vocab.find(f.text)
		}
	}
	if t.addBOS && t.bos < 0 {
		return keyErrorf(keyBOS, "is missing, and the model wants text to begin with that token")
	}
	if t.addEOS && t.eos < 0 {
		return keyErrorf(keyEOS, "is missing, and the model wants text to end with that token")
	}
	for _, id := range append(src.ends, int64(t.eos), int64(eot)) {
		if id >= 0 && !slices.Contains(t.ends, int(id)) {
			t.ends = append(t.ends, int(id))
		}
	}
	return nil
}

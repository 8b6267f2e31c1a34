package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"onebit/internal/bounded"
	"onebit/internal/term"
	"onebit/models/arch"
)

// FromHF makes the tokenizer of a Hugging Face model directory, whose
// architecture says what the files leave out: from its
// tokenizer.model (SentencePiece) or, if it has none, its tokenizer.json
// (byte-level BPE, or SentencePiece's BPE as LLaMA's), with config.json, generation_config.json,
// tokenizer_config.json, chat_template.jinja and added_tokens.json where they are
// there. Errors name the file.
func FromHF(dir string, text arch.Text) (*Tokenizer, error) {
	src, file, err := readHF(dir, text)
	var t *Tokenizer
	if err == nil {
		t, err = src.tokenizer()
	}
	return t, inFile(file, err)
}

// An hfSource is a source in the making: its tokens come in any order.
type hfSource struct {
	source
	tokens, merges []string
	fast           bool   // of a tokenizer.json
	frame          *frame // what its post-processor puts around a text; nil: there is none
}

func (src *hfSource) tokenizer() (*Tokenizer, error) {
	src.source.tokens, src.source.merges = listOf(src.tokens), listOf(src.merges)
	return newTokenizer(&src.source)
}

// readHF returns what the directory says, and the file with the vocabulary.
func readHF(dir string, text arch.Text) (*hfSource, string, error) {
	src := &hfSource{source: newSource(text)}
	file := filepath.Join(dir, "tokenizer.model")
	data, err := bounded.ReadFile(file, mostBytes)
	if err == nil {
		err = readPieces(data, src)
	} else if errors.Is(err, fs.ErrNotExist) {
		file = filepath.Join(dir, "tokenizer.json")
		switch data, err = bounded.ReadFile(file, mostBytes); {
		case err == nil:
			err = readJSON(data, src)
		case errors.Is(err, fs.ErrNotExist):
			err = &fileError{file, fmt.Errorf("%w, nor is there a tokenizer.model", errors.Unwrap(err))}
		}
	}
	if err == nil {
		err = readConfigs(dir, src)
	}
	return src, file, err
}

// inFile adds the file to an error that does not name one, and calls things
// by the names that they have there.
func inFile(file string, err error) error {
	var key *keyError
	var pathErr *fs.PathError
	var named *fileError
	switch {
	case err == nil || errors.As(err, &named):
		return err
	case errors.As(err, &pathErr):
		return &fileError{pathErr.Path, pathErr.Err}
	case errors.As(err, &key):
		name, ok := hfNames[key.key]
		if !ok {
			name = key.key
		}
		err = fmt.Errorf("%s %s", name, key.msg)
	}
	return &fileError{file, err}
}

var hfNames = map[string]string{
	keyModel: "the type of the model", keyPre: "pre_tokenizer", keyTokens: "vocabulary", keyTypes: "token types", keyScores: "scores",
	keyMerges: "model.merges", keyBOS: "bos_token", keyEOS: "eos_token", keyPadding: "pad_token",
}

// A fileError is what is wrong with a file of a directory.
type fileError struct {
	file string
	err  error
}

func (e *fileError) Error() string { return e.file + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// mostBytes is more than any tokenizer's file has.
const mostBytes = 256 << 20

// tokenizerJSON is what is read of a tokenizer.json. Source: huggingface/
// tokenizers tokenizers/src/tokenizer/serialization.rs.
type tokenizerJSON struct {
	AddedTokens []struct {
		ID      int64
		Content string
		Special bool
	} `json:"added_tokens"`
	Normalizer   *normalizerJSON   // of a SentencePiece model
	PreTokenizer *preTokenizerJSON `json:"pre_tokenizer"`
	// PostProcessor puts tokens before and behind a text.
	PostProcessor *postProcessorJSON `json:"post_processor"`
	Model         struct {
		Type         string
		Unknown      string `json:"unk_token"`
		ByteFallback bool   `json:"byte_fallback"` // and no byte-level alphabet
		Vocab        map[string]int64
		Merges       []mergeJSON
	}
}

type preTokenizerJSON struct {
	Type          string
	PreTokenizers []preTokenizerJSON
	Pattern       struct{ Regex string }
	Behavior      string
	Invert        bool
	AddPrefix     *bool  `json:"add_prefix_space"`
	UseRegex      *bool  `json:"use_regex"`
	Replacement   string // of Metaspace
	PrependScheme string `json:"prepend_scheme"`
}

// A mergeJSON is "a b" or, in newer files, ["a", "b"].
type mergeJSON string

func (m *mergeJSON) UnmarshalJSON(data []byte) error {
	var pair []string
	if json.Unmarshal(data, (*string)(m)) == nil {
		return nil
	}
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return errors.New("model.merges: want two tokens")
	}
	*m = mergeJSON(pair[0] + " " + pair[1])
	return nil
}

func readJSON(data []byte, src *hfSource) error {
	var f tokenizerJSON
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if f.Model.Type != "BPE" {
		return keyErrorf(keyModel, "is %s, want BPE", term.QuoteAlways(f.Model.Type))
	}
	src.model, src.fast = modelGPT2, true
	var err error
	if src.frame, err = f.PostProcessor.frame(); err != nil {
		return err
	}
	for text, id := range f.Model.Vocab {
		if err := src.add(text, id, normal); err != nil {
			return err
		}
	}
	for _, a := range f.AddedTokens {
		k := userDefined
		if a.Special {
			k = control
		}
		if err := src.add(a.Content, a.ID, k); err != nil {
			return err
		}
	}
	if f.Model.ByteFallback {
		return f.readLlama(src)
	}
	for _, m := range f.Model.Merges {
		src.merges = append(src.merges, string(m))
	}
	src.pre, err = f.PreTokenizer.name()
	return err
}

// name is GGUF's for the pre-tokenizer.
func (p *preTokenizerJSON) name() (string, error) {
	if p == nil {
		return "", keyErrorf(keyPre, "is missing, so this is no byte-level BPE, and without byte_fallback it is not SentencePiece's")
	}
	steps := []preTokenizerJSON{*p}
	if p.Type == "Sequence" {
		steps = p.PreTokenizers
	}
	n := len(steps)
	if n == 0 || n > 2 || steps[n-1].Type != "ByteLevel" || steps[n-1].addsPrefix() {
		return "", keyErrorf(keyPre, "is not byte-level, with at most a pattern before")
	}
	ownPattern := steps[n-1].UseRegex == nil || *steps[n-1].UseRegex
	if n == 1 && ownPattern {
		return "gpt-2", nil
	}
	split := steps[0]
	for _, known := range preTokenizers {
		if n == 2 && !ownPattern && split.Type == "Split" && split.Behavior == "Isolated" && !split.Invert && split.Pattern.Regex == known.regex {
			return known.name, nil
		}
	}
	return "", keyErrorf(keyPre, "has a pattern that is not known: %s", term.QuoteAlways(split.Pattern.Regex))
}

// addsPrefix says so of ByteLevel.
func (p *preTokenizerJSON) addsPrefix() bool { return p.AddPrefix != nil && *p.AddPrefix }

// add puts a token at its id, in place of one there with the same text.
func (src *hfSource) add(text string, id int64, k kind) error {
	if id < 0 || id >= maxNumbers {
		return keyErrorf(keyTokens, "token %s has id %d, want 0 to %d", term.QuoteAlways(text), id, maxNumbers-1)
	}
	src.grow(int(id) + 1)
	if old := src.tokens[id]; old != "" && old != text {
		return keyErrorf(keyTokens, "tokens %s and %s both have id %d", term.QuoteAlways(min(old, text)), term.QuoteAlways(max(old, text)), id)
	}
	src.tokens[id], src.kinds[id] = text, k
	return nil
}

func (src *hfSource) grow(n int) {
	if more := n - len(src.tokens); more > 0 {
		src.tokens = append(src.tokens, make([]string, more)...)
		src.kinds = append(src.kinds, make([]kind, more)...)
		src.scores = append(src.scores, make([]float32, more)...)
	}
}

// fill gives ids without a token one that is not used, as ggml-org/llama.cpp
// convert_hf_to_gguf.py does; most embeddings have more rows than tokens.
func (src *hfSource) fill(n int) {
	src.grow(n)
	for id, text := range src.tokens {
		if text == "" {
			src.tokens[id], src.kinds[id] = fmt.Sprintf("[PAD%d]", id), unused
		}
	}
}

// readConfigs reads the files beside the vocabulary, of which none must be
// there.
func readConfigs(dir string, src *hfSource) error {
	var added map[string]int64
	if err := readConfig(dir, "added_tokens.json", &added); err != nil {
		return err
	}
	for text, id := range added {
		if known := id >= 0 && id < int64(len(src.tokens)) && src.tokens[id] == text; known {
			continue
		}
		if err := src.add(text, id, control); err != nil {
			return inFile(filepath.Join(dir, "added_tokens.json"), err)
		}
	}
	var model modelJSON
	if err := readConfig(dir, "config.json", &model); err != nil {
		return err
	}
	size := max(model.VocabSize, model.Text.VocabSize)
	if size > maxNumbers {
		return &fileError{filepath.Join(dir, "config.json"), fmt.Errorf("vocab_size is %d, more than %d", size, maxNumbers)}
	}
	src.fill(size)
	if err := readTokenizerConfig(dir, src); err != nil {
		return err
	}
	return readIDs(dir, src)
}

// readIDs reads the ids that end a generation, and those that
// tokenizer_config.json leaves out.
func readIDs(dir string, src *hfSource) error {
	for _, name := range []string{"generation_config.json", "config.json"} {
		var model modelJSON
		if err := readConfig(dir, name, &model); err != nil {
			return err
		}
		c := model.textJSON
		if len(c.BOS) == 0 {
			c.BOS = model.Text.BOS
		}
		c.EOS = append(c.EOS, model.Text.EOS...)
		for _, f := range []struct {
			key string
			ids idsJSON
		}{{keyBOS, c.BOS}, {keyEOS, c.EOS}} {
			for _, id := range f.ids {
				if id < 0 || id >= int64(len(src.tokens)) {
					return inFile(filepath.Join(dir, name), keyErrorf(f.key, "has id %d, and there are tokens 0 to %d", id, len(src.tokens)-1))
				}
			}
			if _, ok := src.ids[f.key]; !ok && len(f.ids) > 0 {
				src.ids[f.key] = f.ids[0]
			}
		}
		src.ends = append(src.ends, c.EOS...)
	}
	return nil
}

// A modelJSON is a configuration, with a part for the text if the model sees
// pictures too.
type modelJSON struct {
	textJSON
	Text textJSON `json:"text_config"`
}

type textJSON struct {
	VocabSize int     `json:"vocab_size"`
	BOS       idsJSON `json:"bos_token_id"`
	EOS       idsJSON `json:"eos_token_id"`
}

// An idsJSON is a token's id, or a list of them.
type idsJSON []int64

func (ids *idsJSON) UnmarshalJSON(data []byte) error {
	var one *int64
	if json.Unmarshal(data, &one) == nil {
		if one != nil {
			*ids = idsJSON{*one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]int64)(ids))
}

func readTokenizerConfig(dir string, src *hfSource) error {
	var c struct {
		BOS      tokenJSON    `json:"bos_token"`
		EOS      tokenJSON    `json:"eos_token"`
		Pad      tokenJSON    `json:"pad_token"`
		AddBOS   *bool        `json:"add_bos_token"`
		AddEOS   *bool        `json:"add_eos_token"`
		Class    string       `json:"tokenizer_class"`
		Template templateJSON `json:"chat_template"`
	}
	if err := readConfig(dir, "tokenizer_config.json", &c); err != nil {
		return err
	}
	for _, f := range []struct {
		token tokenJSON
		key   string
	}{{c.BOS, keyBOS}, {c.EOS, keyEOS}, {c.Pad, keyPadding}} {
		if f.token == "" {
			continue
		}
		id := slices.Index(src.tokens, string(f.token))
		if id < 0 {
			return inFile(filepath.Join(dir, "tokenizer_config.json"), keyErrorf(f.key, "is %s, which is no token", term.QuoteAlways(string(f.token))))
		}
		src.ids[f.key] = int64(id)
	}
	if err := src.setFrame(c.AddBOS, c.AddEOS, c.Class); err != nil {
		return inFile(filepath.Join(dir, "tokenizer.json"), err)
	}
	src.template = string(c.Template)
	return readTemplate(dir, src)
}

// readTemplate reads the file that transformers since 4.50 keeps the template
// in (utils/hub.py, CHAT_TEMPLATE_FILE); it counts before the configuration's.
func readTemplate(dir string, src *hfSource) error {
	file := filepath.Join(dir, "chat_template.jinja")
	data, err := bounded.ReadFile(file, mostBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return inFile(file, err)
	}
	src.template = string(data)
	return nil
}

// A templateJSON is a template, or the one named default of a list.
type templateJSON string

func (t *templateJSON) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(t)) == nil {
		return nil
	}
	var list []struct{ Name, Template string }
	err := json.Unmarshal(data, &list)
	for _, named := range list {
		if named.Name == "default" {
			*t = templateJSON(named.Template)
		}
	}
	return err
}

// A tokenJSON is a token's text, or an object with it as content.
type tokenJSON string

func (t *tokenJSON) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(t)) == nil {
		return nil
	}
	var object struct{ Content string }
	err := json.Unmarshal(data, &object)
	*t = tokenJSON(object.Content)
	return err
}

func readConfig(dir, name string, dst any) error {
	file := filepath.Join(dir, name)
	data, err := bounded.ReadFile(file, mostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, dst)
	}
	return inFile(file, err)
}

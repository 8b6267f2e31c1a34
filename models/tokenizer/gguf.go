package tokenizer

import (
	"errors"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/mmap"
	"onebit/internal/term"
	"onebit/models/arch"
)

// FromGGUF makes the tokenizer of a model file from its metadata and from what
// its architecture says, the zero Text if that is unknown. It keeps
// nothing of the file, which may be closed. What is wrong with the metadata is a
// *container.FormatError that names the key.
func FromGGUF(f *gguf.File, text arch.Text) (*Tokenizer, error) {
	var t *Tokenizer
	err := mmap.Guard(func() error {
		src, err := readGGUF(f, text)
		if err == nil {
			t, err = newTokenizer(src)
		}
		return err
	})
	var fault *keyError
	if errors.As(err, &fault) {
		return nil, &container.FormatError{File: f.Name(), Offset: -1, Key: fault.key, Msg: fault.msg}
	}
	return t, err
}

func readGGUF(f *gguf.File, text arch.Text) (*source, error) {
	src := newSource(text)
	var err error
	if src.model, err = f.String(keyModel); err != nil {
		return nil, err
	}
	if src.model != modelGPT2 && src.model != modelLlama {
		return nil, keyErrorf(keyModel, "is %s; known models are gpt2 (byte-level BPE) and llama (SentencePiece)", term.QuoteAlways(src.model))
	}
	if src.tokens, err = readList(f, keyTokens); err != nil {
		return nil, err
	}
	for key, text := range map[string]*string{keyPre: &src.pre, keyTemplate: &src.template} {
		if *text, err = optional(f, key, f.String); err != nil {
			return nil, err
		}
	}
	for _, key := range []string{keyBOS, keyEOS, keyEOT, keyPadding} {
		if f.Has(key) {
			if src.ids[key], err = f.Int(key); err != nil {
				return nil, err
			}
		}
	}
	for _, key := range []string{keyAddBOS, keyAddEOS, keyAddPrefix} {
		if f.Has(key) {
			if src.flags[key], err = f.Bool(key); err != nil {
				return nil, err
			}
		}
	}
	return &src, readArrays(f, &src)
}

// readArrays reads what there is one of for each token, and the merges.
// Byte-level BPE has no use for scores, though some files have them.
func readArrays(f *gguf.File, src *source) error {
	for _, key := range []string{keyTypes, keyScores} {
		if v, ok := f.Value(key); ok && v.Len() != src.tokens.n {
			return keyErrorf(key, "has %d elements for %d tokens", v.Len(), src.tokens.n)
		}
	}
	if err := readTypes(f, src); err != nil {
		return err
	}
	var err error
	if src.model == modelGPT2 {
		src.merges, err = readList(f, keyMerges)
		return err
	}
	scores, err := f.Floats(keyScores)
	if err != nil {
		return err
	}
	src.scores = make([]float32, len(scores))
	for id, x := range scores {
		src.scores[id] = float32(x)
	}
	return nil
}

// readTypes leaves all tokens undefined if the file has no types.
func readTypes(f *gguf.File, src *source) error {
	src.kinds = make([]kind, src.tokens.n)
	types, ok := f.Value(keyTypes)
	if !ok {
		return nil
	}
	id := 0
	for n, err := range types.EachInt {
		if err != nil {
			return keyErrorf(keyTypes, "the type of token %d %v", id, err)
		}
		if n < int64(undefined) || n > int64(byteKind) {
			return keyErrorf(keyTypes, "the type of token %d is %d, want 0 to %d", id, n, byteKind)
		}
		src.kinds[id] = kind(n)
		id++
	}
	return nil
}

// readList leaves the texts in the file: tokens are copied as they are entered
// in the vocabulary, and merges become ids.
func readList(f *gguf.File, key string) (list, error) {
	all, err := f.Texts(key)
	v, _ := f.Value(key)
	return list{v.Len(), all}, err
}

func optional[T any](f *gguf.File, key string, get func(string) (T, error)) (T, error) {
	if !f.Has(key) {
		var zero T
		return zero, nil
	}
	return get(key)
}

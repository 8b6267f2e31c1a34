package source

import (
	"errors"
	"slices"
	"strings"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/tokenizer"
)

// OpenWith is Open for a model that borrows another one's tokenizer, which
// a .cellm file must; "": its own.
func OpenWith(path, tokenizer string, opt gguf.Options) (Source, error) {
	src, err := Open(path, opt)
	if err != nil || tokenizer == "" {
		return src, err
	}
	from, err := Open(tokenizer, gguf.Options{})
	if err != nil {
		src.Close()
		return nil, err
	}
	return borrower{src, from}, nil
}

// A borrower is a Source with the tokenizer of another.
type borrower struct {
	Source
	from Source
}

func (b borrower) Tokenizer() (*tokenizer.Tokenizer, error) { return b.from.Tokenizer() }
func (b borrower) Tokens() (int, string)                    { return b.from.Tokens() }
func (b borrower) Close() error                             { return errors.Join(b.Source.Close(), b.from.Close()) }

func (b borrower) Metadata() ([]container.KV, error) {
	isTokenizer := func(kv container.KV) bool { return strings.HasPrefix(kv.Key, "tokenizer.") }
	own, err := b.Source.Metadata()
	if err != nil && len(own) == 0 {
		return nil, err
	}
	theirs, err := b.from.Metadata()
	own = slices.DeleteFunc(slices.Clone(own), isTokenizer)
	for _, kv := range theirs {
		if isTokenizer(kv) {
			own = append(own, kv)
		}
	}
	return own, err
}

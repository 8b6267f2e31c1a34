package lm

import (
	"bytes"
	"strings"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
	"onebit/models/tokenizer"
)

// A vocabulary is a tokenizer and the metadata that it is made from.
type vocabulary struct {
	*tokenizer.Tokenizer
	metadata []container.KV
}

// newVocabulary keeps nothing of the file that the metadata may be of; of that it
// takes what is about the tokenizer.
func newVocabulary(metadata []container.KV, text arch.Text) (*vocabulary, error) {
	var own []container.KV
	for _, kv := range metadata {
		if strings.HasPrefix(kv.Key, "tokenizer.") {
			own = append(own, kv)
		}
	}
	var b bytes.Buffer
	if err := writeTensors(&b, own, nil); err != nil {
		return nil, err
	}
	f, err := gguf.Parse(b.Bytes(), "the vocabulary", gguf.Options{})
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.FromGGUF(f, text)
	if err != nil {
		return nil, err
	}
	return &vocabulary{t, f.Metadata()}, nil
}

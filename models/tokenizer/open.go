package tokenizer

import (
	"os"

	"onebit/formats/gguf"
)

// Open makes the tokenizer of the model at path, a GGUF file or a Hugging Face
// directory.
func Open(path string, opt gguf.Options) (*Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return FromHF(path)
	}
	f, err := gguf.Open(path, opt)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return FromGGUF(f)
}

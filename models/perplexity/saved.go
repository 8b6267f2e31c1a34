package perplexity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"onebit/internal/bounded"
)

// SavedLogits are an open file of logits.
type SavedLogits struct {
	*LogitReader
	file *os.File
}

// OpenLogits opens a file that llama.cpp's --kl-divergence-base or a [LogitWriter] wrote.
func OpenLogits(path string) (*SavedLogits, error) {
	file, err := bounded.Open(path)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) && at.Path == path {
			err = at.Err // the path is said once
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r, err := NewLogitReader(file, info.Size(), path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &SavedLogits{r, file}, nil
}

// Close closes the file, if there is one.
func (s *SavedLogits) Close() error {
	if s == nil {
		return nil
	}
	return s.file.Close()
}

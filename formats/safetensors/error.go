package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"onebit/internal/term"
	"strings"
)

// ErrMissing is wrapped by the error for a tensor that there is not.
var ErrMissing = errors.New("is missing")

// A FormatError says what is wrong with a file, and where.
type FormatError struct {
	File   string // the path, or the name given to Parse
	Offset int64  // the byte of the file, or -1
	Tensor string // the tensor's name, or ""
	Msg    string
	Err    error // the cause, or nil
}

func (e *FormatError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if e.Tensor != "" {
		b.WriteString("tensor " + term.QuoteAlways(e.Tensor) + ": ")
	}
	b.WriteString(e.Msg)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " (at byte %d)", e.Offset)
	}
	return b.String()
}

func (e *FormatError) Unwrap() error { return e.Err }

// fileError is for a file that cannot be opened. The path is in File already.
func fileError(path string, err error) *FormatError {
	var pathErr *fs.PathError
	msg := err.Error()
	if errors.As(err, &pathErr) {
		msg = pathErr.Err.Error()
	}
	return &FormatError{File: path, Offset: -1, Msg: msg, Err: err}
}

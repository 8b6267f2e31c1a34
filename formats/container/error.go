package container

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"onebit/internal/mmap"
	"onebit/internal/term"
)

// ErrMissing is wrapped by the error for a key or tensor that a file lacks.
var ErrMissing = errors.New("is missing")

// A FormatError says what is wrong with a file, and where.
type FormatError struct {
	File   string // the path, or the name given to a container's Parse
	Offset int64  // the byte of the file, or -1
	Tensor string // the tensor's name, or ""
	Key    string // the metadata key, or ""
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
	if e.Key != "" {
		b.WriteString("key " + term.QuoteAlways(e.Key) + ": ")
	}
	b.WriteString(e.Msg)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " (at byte %d)", e.Offset)
	}
	return b.String()
}

func (e *FormatError) Unwrap() error { return e.Err }

// FileError is the error for a file that cannot be opened or read. A cause that
// is a *FormatError is returned as it is, and of one that names the path only
// the rest is said again.
func FileError(path string, err error) *FormatError {
	if bad, ok := errors.AsType[*FormatError](err); ok {
		return bad
	}
	e := &FormatError{File: path, Offset: -1, Msg: err.Error(), Err: err}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		e.Msg = at.Err.Error()
	}
	if fault, ok := errors.AsType[*mmap.FaultError](err); ok {
		e.Msg, e.Offset = mmap.ErrGone.Error(), int64(fault.Offset)
	}
	return e
}

// IsFormat reports whether err has a *FormatError in its chain.
func IsFormat(err error) bool {
	_, ok := errors.AsType[*FormatError](err)
	return ok
}

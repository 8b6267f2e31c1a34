package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"onebit/formats/container"
)

// Keys of a model in several files. Source: ggml-org/llama.cpp
// tools/gguf-split/gguf-split.cpp, src/llama-arch.cpp and src/llama-model-loader.cpp.
const (
	splitPrefix     = "split."
	splitNoKey      = splitPrefix + "no"            // from 0 on
	splitCountKey   = splitPrefix + "count"         // of files
	splitTensorsKey = splitPrefix + "tensors.count" // in all of them
)

// A split is what a part says of itself.
type split struct {
	no, count, tensors int64
}

// suffix is how the name of part no ends.
func (s split) suffix(no int64) string { return fmt.Sprintf("-%05d-of-%05d.gguf", no+1, s.count) }

// readSplit returns what a file says of parts. That of a whole one is zero, which
// is also one of a single part.
func (f *File) readSplit() (s split, err error) {
	if !f.Has(splitCountKey) {
		return split{}, nil
	}
	if s.count, err = f.Int(splitCountKey); err != nil || s.count == 0 || s.count == 1 {
		return split{}, err
	}
	if s.no, err = f.Int(splitNoKey); err != nil {
		return split{}, err
	}
	if s.tensors, err = f.Int(splitTensorsKey); err != nil {
		return split{}, err
	}
	switch {
	case s.count < 0:
		return split{}, f.splitError(splitCountKey, "is %d", s.count)
	case s.no < 0 || s.no >= s.count:
		return split{}, f.splitError(splitNoKey, "is %d, and %s is %d; parts count from 0", s.no, splitCountKey, s.count)
	}
	return s, nil
}

func (f *File) splitError(key, msg string, args ...any) error {
	return &container.FormatError{File: f.Name(), Offset: -1, Key: key, Msg: fmt.Sprintf(msg, args...)}
}

// join opens the other parts of a model of which f is one, and makes f all of it.
// The metadata is the first part's. f is closed if join fails.
func (f *File) join(open func(path string) (*File, error)) error {
	s, err := f.readSplit()
	if err == nil && s.count > 0 {
		err = f.joinParts(s, open)
	}
	if err != nil {
		f.Close()
	}
	return err
}

func (f *File) joinParts(s split, open func(path string) (*File, error)) error {
	base, ok := strings.CutSuffix(f.Name(), s.suffix(s.no))
	if !ok {
		return f.splitError(splitNoKey, "the file is part %d of a model in %d, and its name does not end in %s; give all parts their names back, by which they are found",
			s.no+1, s.count, s.suffix(s.no))
	}
	var parts []*File
	for no := range s.count {
		part, err := f.openPart(base, no, s, open)
		if err != nil {
			for _, part := range parts {
				part.Close()
			}
			return err
		}
		parts = append(parts, part)
	}
	return f.become(parts, s)
}

// openPart opens part no of the model that f is a part of.
func (f *File) openPart(base string, no int64, own split, open func(path string) (*File, error)) (*File, error) {
	if no == own.no {
		return f, nil
	}
	path := base + own.suffix(no)
	part, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &container.FormatError{File: path, Offset: -1, Err: err,
			Msg: fmt.Sprintf("is missing, and is part %d of the %d of the model in %s; put it beside that file", no+1, own.count, filepath.Base(f.Name()))}
	}
	if err != nil {
		return nil, err
	}
	if err := part.checkPart(no, own, f); err != nil {
		part.Close()
		return nil, err
	}
	return part, nil
}

// checkPart compares what f says with its name, which says that it is part no, and
// with what another part says.
func (f *File) checkPart(no int64, own split, other *File) error {
	s, err := f.readSplit()
	switch {
	case err != nil:
		return err
	case s.count != own.count:
		return f.splitError(splitCountKey, "the file is one of %d by its content and of %d by its name: it is of another model, or renamed", max(s.count, 1), own.count)
	case s.no != no:
		return f.splitError(splitNoKey, "the file is part %d by its content and part %d by its name; give it its name back", s.no+1, no+1)
	case s.tensors != own.tensors:
		return f.splitError(splitTensorsKey, "is %d, and in %s it is %d: they are parts of different models", s.tensors, filepath.Base(other.Name()), own.tensors)
	}
	return nil
}

// become makes f the whole model.
func (f *File) become(parts []*File, s split) error {
	first := *parts[0]
	var files []*container.File
	for _, part := range parts {
		files = append(files, part.File)
	}
	joined, err := container.Join(first.Name(), files)
	if err != nil {
		return err
	}
	if n := len(joined.Tensors()); int64(n) != s.tensors {
		joined.Close()
		return first.splitError(splitTensorsKey, "is %d, and the %d parts have %d tensors: one of them is of another model; get all of them again from one place", s.tensors, s.count, n)
	}
	*f = first
	f.File, f.Keys = joined, container.NewKeys(first.Name(), withoutSplit(first.Metadata()))
	return nil
}

// withoutSplit is what is true of a whole model.
func withoutSplit(meta []container.KV) []container.KV {
	return slices.DeleteFunc(slices.Clone(meta), func(kv container.KV) bool { return strings.HasPrefix(kv.Key, splitPrefix) })
}

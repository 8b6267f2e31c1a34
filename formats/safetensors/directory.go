package safetensors

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/bounded"
	"onebit/internal/term"
)

const (
	singleFile = "model.safetensors"
	indexFile  = "model.safetensors.index.json"
)

// A Dir is the safetensors of a directory, joined.
type Dir struct{ *container.File }

// OpenDir opens model.safetensors of a directory, or else the files that its
// model.safetensors.index.json names. Every error is a *container.FormatError.
func OpenDir(path string) (*Dir, error) {
	index, err := readIndex(filepath.Join(path, indexFile))
	if err != nil {
		return nil, err
	}
	names, err := fileNames(path, index)
	if err != nil {
		return nil, err
	}
	d, err := join(path, names)
	if err != nil {
		return nil, err
	}
	if len(names) > 1 || names[0] != singleFile {
		err = d.check(index)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// readIndex returns the file of each tensor, or nil if there is no index.
func readIndex(path string) (map[string]string, error) {
	data, err := bounded.ReadFile(path, maxHeader)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, container.FileError(path, err)
	}
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, container.FileError(path, err)
	}
	if len(index.Map) == 0 {
		return nil, &container.FormatError{File: path, Offset: -1, Msg: "weight_map is missing or empty"}
	}
	return index.Map, nil
}

// fileNames returns the files to open: model.safetensors, or those of the index.
func fileNames(path string, index map[string]string) ([]string, error) {
	single := filepath.Join(path, singleFile)
	if _, err := os.Stat(single); err == nil {
		return []string{singleFile}, nil
	}
	if index == nil {
		return nil, &container.FormatError{File: single, Offset: -1, Msg: container.ErrMissing.Error() + ", and so is " + indexFile + "; weights in other files, such as PyTorch's .bin, are not read",
			Err: container.ErrMissing}
	}
	var names []string
	for tensor, name := range index {
		if name != filepath.Base(name) || name == "." || name == ".." {
			return nil, &container.FormatError{File: filepath.Join(path, indexFile), Offset: -1, Tensor: tensor,
				Msg: "is said to be in " + term.QuoteAlways(name) + ", which is not the name of a file beside the index"}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// join opens files and joins them.
func join(path string, names []string) (*Dir, error) {
	var files []*container.File
	for _, name := range names {
		f, err := Open(filepath.Join(path, name))
		if err != nil {
			for _, f := range files {
				f.Close()
			}
			return nil, err
		}
		files = append(files, f.File)
	}
	joined, err := container.Join(path, files)
	if err != nil {
		return nil, err
	}
	return &Dir{joined}, nil
}

// check compares where tensors are with what the index says.
func (d *Dir) check(index map[string]string) error {
	for tensor, name := range index {
		file := filepath.Join(d.Name(), name)
		if _, ok := d.Info(tensor); !ok || d.Parts()[d.Part(tensor)].Name() != file {
			return &container.FormatError{File: file, Offset: -1, Tensor: tensor, Msg: container.ErrMissing.Error() + ", and " + indexFile + " says that it is there", Err: container.ErrMissing}
		}
	}
	return nil
}

// Tensor is File.Tensor.
func (d *Dir) Tensor(name string) (formats.Tensor, error) { return tensor(d.File, name) }

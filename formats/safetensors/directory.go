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

// A Dir is the safetensors of a directory, taken for one file. What is said of
// File's methods holds for its own.
type Dir struct {
	path    string
	files   []*File
	tensors []container.TensorInfo
	homes   map[string]*File // by tensor
}

// OpenDir opens model.safetensors of a directory, or else the files that its
// model.safetensors.index.json names. Every error is a *container.FormatError.
func OpenDir(path string) (*Dir, error) {
	d := &Dir{path: path, homes: map[string]*File{}}
	index, err := readIndex(filepath.Join(path, indexFile))
	if err == nil {
		err = d.open(index)
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

// open opens the files and takes over their tensors.
func (d *Dir) open(index map[string]string) error {
	single := filepath.Join(d.path, singleFile)
	if _, err := os.Stat(single); err == nil {
		return d.add(single)
	}
	if index == nil {
		return &container.FormatError{File: single, Offset: -1, Msg: container.ErrMissing.Error() + ", and so is " + indexFile + "; weights in other files, such as PyTorch's .bin, are not read",
			Err: container.ErrMissing}
	}
	var names []string
	for tensor, name := range index {
		if name != filepath.Base(name) || name == "." || name == ".." {
			return &container.FormatError{File: filepath.Join(d.path, indexFile), Offset: -1, Tensor: tensor,
				Msg: "is said to be in " + term.QuoteAlways(name) + ", which is not the name of a file beside the index"}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := d.add(filepath.Join(d.path, name)); err != nil {
			return err
		}
	}
	for tensor, name := range index {
		file := filepath.Join(d.path, name)
		if home := d.homes[tensor]; home == nil || home.Name() != file {
			return &container.FormatError{File: file, Offset: -1, Tensor: tensor, Msg: container.ErrMissing.Error() + ", and " + indexFile + " says that it is there", Err: container.ErrMissing}
		}
	}
	return nil
}

func (d *Dir) add(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	d.files = append(d.files, f)
	for _, t := range f.Tensors() {
		if home := d.homes[t.Name]; home != nil {
			return f.Fault(t.Name, errors.New("is in "+home.Name()+" too"))
		}
		d.homes[t.Name] = f
		d.tensors = append(d.tensors, t)
	}
	return nil
}

// Close unmaps the files. Calls after the first do nothing.
func (d *Dir) Close() error {
	var errs []error
	for _, f := range d.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Name returns the path of the directory.
func (d *Dir) Name() string { return d.path }

// Size returns the bytes of all files.
func (d *Dir) Size() int64 {
	var n int64
	for _, f := range d.files {
		n += f.Size()
	}
	return n
}

// Tensors describes all tensors, file by file. Offsets are those in the file.
func (d *Dir) Tensors() []container.TensorInfo { return d.tensors }

// Info describes the tensor of that name.
func (d *Dir) Info(name string) (container.TensorInfo, bool) {
	if f := d.homes[name]; f != nil {
		return f.Info(name)
	}
	return container.TensorInfo{}, false
}

// Tensor is File.Tensor.
func (d *Dir) Tensor(name string) (formats.Tensor, error) {
	if f := d.homes[name]; f != nil {
		return f.Tensor(name)
	}
	return formats.Tensor{}, d.Fault(name, container.ErrMissing)
}

// Raw is File.Raw.
func (d *Dir) Raw(name string) ([]byte, error) {
	if f := d.homes[name]; f != nil {
		return f.Raw(name)
	}
	return nil, d.Fault(name, container.ErrMissing)
}

// Fault is File.Fault, with the directory for a tensor that is in no file.
func (d *Dir) Fault(name string, err error) error {
	if f := d.homes[name]; f != nil {
		return f.Fault(name, err)
	}
	if container.IsFormat(err) {
		return err
	}
	return &container.FormatError{File: d.path, Offset: -1, Tensor: name, Msg: err.Error(), Err: err}
}

// Release is File.Release.
func (d *Dir) Release(name string) error {
	if f := d.homes[name]; f != nil {
		return f.Release(name)
	}
	return nil
}

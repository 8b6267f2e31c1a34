package cellm

import "onebit/formats/container"

// A File is a parsed .cellm file. Its tensors stand in the header's order.
type File struct {
	*container.File
	Header Header
}

// Open maps and parses the file at path, which must be a regular one. Every error
// is a *container.FormatError.
func Open(path string) (*File, error) {
	p := &parser{name: path}
	f, err := container.Open(path, p.parse)
	if err != nil {
		return nil, err
	}
	return &File{f, p.header}, nil
}

// Parse parses a file that is in memory; data must not change while the File is
// in use. The name is for errors.
func Parse(data []byte, name string) (*File, error) {
	p := &parser{name: name}
	f, err := container.Parse(data, name, p.parse)
	if err != nil {
		return nil, err
	}
	return &File{f, p.header}, nil
}

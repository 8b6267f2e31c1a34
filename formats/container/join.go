package container

import "errors"

// Join takes files for one, of that name for errors that concern no one of them.
// Its tensors are theirs, file after file, with offsets in their own. A tensor
// that two of them have is a *FormatError. The files are closed if Join fails, and
// otherwise with what it returns.
func Join(name string, files []*File) (*File, error) {
	f := &File{name: name, parts: files, index: map[string]int{}}
	for n, part := range files {
		for _, t := range part.tensors {
			if first, ok := f.Info(t.Name); ok {
				closeAll(files)
				return nil, part.Fault(t.Name, errors.New("is in "+files[first.Part].name+" too"))
			}
			t.Part = n
			f.index[t.Name] = len(f.tensors)
			f.tensors = append(f.tensors, t)
		}
	}
	return f, nil
}

// Parts returns the files that were joined, or none.
func (f *File) Parts() []*File { return f.parts }

// Part returns which of the files that were joined has a tensor: memory of two
// is never of one mapping, even if it touches.
func (f *File) Part(tensor string) int {
	info, _ := f.Info(tensor)
	return info.Part
}

// home returns the file that has a tensor's bytes.
func (f *File) home(t TensorInfo) *File {
	if f.parts == nil {
		return f
	}
	return f.parts[t.Part]
}

func closeAll(files []*File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

package gguf

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"onebit/formats/container"
)

// FuzzParse: whatever the bytes, Parse gives a *container.FormatError or a File whose
// values can be formatted, whose tensors lie in the file without overlap, and
// which comes back equal when it is written again.
func FuzzParse(f *testing.F) {
	f.Add(goldenV2)
	f.Add(goldenV3)
	f.Add(first(small().build()))
	for _, m := range corpus {
		if data, _ := m.build(); len(data) < 1<<12 {
			f.Add(data)
		}
	}
	var everything bytes.Buffer
	if w, err := NewWriter(&everything, everyKind, nil); err != nil || w.Close() != nil {
		f.Fatal("cannot write a file of every kind")
	}
	f.Add(everything.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data, "fuzz.gguf", Options{})
		if err != nil {
			checkError(t, err, len(data))
			return
		}
		for _, kv := range file.Metadata() {
			_ = kv.Value.String()
			_, _ = kv.Value.Ints()
			_, _ = kv.Value.Strings()
		}
		checkTensors(t, file)
		checkRewrite(t, file)
	})
}

func checkError(t *testing.T, err error, size int) {
	var e *container.FormatError
	if !errors.As(err, &e) || e.File != "fuzz.gguf" || e.Offset < 0 || e.Offset > int64(size) {
		t.Errorf("%T without file or place: %v", err, err)
	}
}

func checkTensors(t *testing.T, file *File) {
	sorted := slices.SortedFunc(slices.Values(file.Tensors()), func(a, b container.TensorInfo) int { return int(a.Offset - b.Offset) })
	end := file.DataOffset()
	for _, info := range sorted {
		if info.Offset < end || info.Size <= 0 || info.Offset+info.Size > file.Size() {
			t.Errorf("%+v, after %d in a file of %d bytes", info, end, file.Size())
		}
		end = info.Offset + info.Size
		raw, err := file.Raw(info.Name)
		if err != nil || int64(len(raw)) != info.Size || cap(raw) != len(raw) {
			t.Errorf("%+v: %d bytes, %v", info, len(raw), err)
		}
		if tensor, err := file.Tensor(info.Name); (err == nil) != (info.Type != nil) {
			t.Errorf("%+v: %v", info, err)
		} else if err == nil {
			_ = tensor.Validate() // must not panic on any data
		}
	}
}

func checkRewrite(t *testing.T, file *File) {
	var b bytes.Buffer
	w, err := NewWriter(&b, file.Metadata(), file.Tensors())
	if err != nil {
		if !slices.ContainsFunc(file.Tensors(), unwritable) {
			t.Errorf("it cannot be written: %v", err)
		}
		return
	}
	for _, info := range file.Tensors() {
		data, err := file.Raw(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteTensor(info.Name, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Parse(b.Bytes(), "again.gguf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(file.Metadata(), again.Metadata(), sameKV) {
		t.Error("the metadata differs")
	}
	if !slices.EqualFunc(file.Tensors(), again.Tensors(), func(x, y container.TensorInfo) bool { return sameTensor(file, again, x, y) }) {
		t.Error("the tensors differ")
	}
}

// unwritable: ggml reads no name so long, or padding hides which of several
// meanings the type id has.
func unwritable(info container.TensorInfo) bool {
	return len(info.Name) > maxTensorName || len(choices{}.meanings(layoutNamed(info.TypeName).id)) > 1
}

func sameKV(a, b container.KV) bool {
	return a.Key == b.Key && a.Value.Kind() == b.Value.Kind() && bytes.Equal(a.Value.Append(nil), b.Value.Append(nil))
}

func sameTensor(f, g *File, a, b container.TensorInfo) bool {
	x, errX := f.Raw(a.Name)
	y, errY := g.Raw(b.Name)
	return errX == nil && errY == nil && bytes.Equal(x, y) &&
		a.Name == b.Name && a.TypeName == b.TypeName && a.Type == b.Type && slices.Equal(a.Shape, b.Shape)
}

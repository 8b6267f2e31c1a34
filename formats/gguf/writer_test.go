package gguf

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/mmap"

	"github.com/google/go-cmp/cmp"
)

// write makes a file whose tensors hold bytes counted from their number.
func write(t *testing.T, meta []container.KV, tensors []container.TensorInfo) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, meta, tensors)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tensors {
		info, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(pattern(i, int(info.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pattern(start, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(start + i)
	}
	return b
}

// Each type in a GGUF file comes back under its own name, from a size that
// decides where its id is not its own.
func TestEveryTypeComesBack(t *testing.T) {
	for _, alignment := range []uint32{1, 32, 1024} {
		var tensors []container.TensorInfo
		for _, l := range layouts {
			if l.chosen {
				continue
			}
			info := container.TensorInfo{Name: l.name, Shape: []int{3, 64, 512}}
			if info.Type = l.typ; l.typ == nil {
				info.TypeName = l.name
			}
			tensors = append(tensors, info)
		}
		meta := []container.KV{{Key: alignmentKey, Value: container.Of(alignment)}}
		f := parse(t, write(t, meta, tensors))
		if f.Alignment() != int64(alignment) {
			t.Errorf("alignment %d, want %d", f.Alignment(), alignment)
		}
		if len(f.Tensors()) != len(tensors) {
			t.Fatalf("%d tensors, want %d", len(f.Tensors()), len(tensors))
		}
		for i, got := range f.Tensors() {
			want := tensors[i]
			if got.Name != want.Name || got.Type != want.Type || got.TypeName != got.Name || !slices.Equal(got.Shape, want.Shape) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if got.Offset%int64(alignment) != 0 {
				t.Errorf("%s is at %d", got.Name, got.Offset)
			}
			raw, err := f.Raw(got.Name)
			if err != nil || !bytes.Equal(raw, pattern(i, int(got.Size))) {
				t.Errorf("%s: the data differs, %v", got.Name, err)
			}
			tensor, err := f.Tensor(got.Name)
			if got.Type == nil {
				var e *container.FormatError
				if !errors.As(err, &e) || e.Tensor != got.Name || e.Offset != got.Offset || !strings.Contains(e.Msg, "has type "+got.Name+", which onebit cannot decode") {
					t.Errorf("%s: %v", got.Name, err)
				}
				continue
			}
			if err != nil || !bytes.Equal(tensor.Data, raw) || tensor.Type != got.Type || tensor.Name != got.Name {
				t.Errorf("%s: %+v, %v", got.Name, tensor, err)
			}
		}
	}
}

// ids that are written, from ggml-org/ggml include/ggml.h and, for i2_s,
// Eddie-Wang1120/llama.cpp ggml/include/ggml.h.
func TestIDs(t *testing.T) {
	for name, id := range map[string]uint32{
		"f32": 0, "f16": 1, "q8_0": 8, "q4_k": 12, "q6_k": 14, "bf16": 30, "tq1_0": 34, "tq2_0": 35,
		"i2_s": 36, "i2_s_arm": 36, "i2_s_x4": 36, "q1_0_g128": 41, "q2_0": 42, "q2_0_g128": 42, "pq2_0": 142, "ptq1_0": 143,
	} {
		typ, err := formats.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		data := write(t, nil, []container.TensorInfo{{Name: "w", Type: typ, Shape: []int{64, 512}}})
		// The type id stands behind 24 bytes of header, the name "w" and two
		// dimensions.
		if got := data[24+9+4+16]; uint32(got) != id {
			t.Errorf("%s is written with id %d, want %d", name, got, id)
		}
		if info := parse(t, data, name).Tensors()[0]; info.Type != typ {
			t.Errorf("%s is read as %s", name, info.TypeName)
		}
	}
}

func TestEveryFormatHasAnIDOrIsRefused(t *testing.T) {
	for _, typ := range formats.Types() {
		_, err := NewWriter(io.Discard, nil, []container.TensorInfo{{Name: "w", Type: typ, Shape: []int{64, 512}}})
		if typ == formats.Ternary_u32 {
			if err == nil || err.Error() != `gguf: write tensor "w": GGUF has no id for type "ternary_u32"` {
				t.Errorf("ternary_u32: %v", err)
			}
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestNewWriterErrors(t *testing.T) {
	one := func(name string, typ *formats.Type, shape ...int) []container.TensorInfo {
		return []container.TensorInfo{{Name: name, Type: typ, Shape: shape}}
	}
	for _, test := range []struct {
		meta    []container.KV
		tensors []container.TensorInfo
		want    string
	}{
		{tensors: one("", formats.F32, 1), want: "the name has length 0, want 1 to 63"},
		{tensors: one(strings.Repeat("n", 64), formats.F32, 1), want: "the name has length 64"},
		{tensors: slices.Repeat(one("w", formats.F32, 1), 2), want: `tensor "w": is there twice`},
		{tensors: one("w", formats.F32), want: "it has 0 dimensions"},
		{tensors: one("w", formats.F32, 1, 1, 1, 1, 1), want: "it has 5 dimensions"},
		{tensors: one("w", formats.F32, 4, 0), want: "shape [4 0] is empty or absurd"},
		{tensors: one("w", formats.F32, 4, -1), want: "shape [4 -1] is empty or absurd"},
		{tensors: one("w", formats.F32, 1<<30, 1<<30), want: "is empty or absurd"},
		{tensors: one("w", formats.Q1_0_g128, 4, 64), want: "64 columns do not fill blocks of 128"},
		{tensors: one("w", formats.Q2_0, 1, 128), want: "as q2_0 with shape [1 128] it cannot be read back: type id 42 has several meanings"},
		{tensors: []container.TensorInfo{{Name: "w", TypeName: "q9", Shape: []int{1}}}, want: `GGUF has no id for type "q9"`},
		{meta: []container.KV{{Key: "", Value: container.Of(true)}}, want: "a key has length 0"},
		{meta: []container.KV{{Key: strings.Repeat("k", 65536), Value: container.Of(true)}}, want: "a key has length 65536"},
		{meta: []container.KV{{Key: "k", Value: container.Of(true)}, {Key: "k", Value: container.Of(true)}}, want: `key "k" is there twice`},
		{meta: []container.KV{{Key: alignmentKey, Value: container.Of(uint32(0))}}, want: "general.alignment is 0, want a power of two"},
		{meta: []container.KV{{Key: alignmentKey, Value: container.Of(uint32(48))}}, want: "general.alignment is 48"},
		{meta: []container.KV{{Key: alignmentKey, Value: container.Of(uint64(32))}}, want: "of kind uint32"},
		{meta: []container.KV{{Key: alignmentKey, Value: container.Of("32")}}, want: `general.alignment is "32"`},
	} {
		var b bytes.Buffer
		_, err := NewWriter(&b, test.meta, test.tensors)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
		if b.Len() > 0 {
			t.Errorf("%q: %d bytes written before the error", test.want, b.Len())
		}
	}
}

var twoTensors = []container.TensorInfo{
	{Name: "a", Type: formats.F32, Shape: []int{3}},
	{Name: "b", Type: formats.F16, Shape: []int{5}},
}

func newWriter(t *testing.T, w io.Writer) *container.Writer {
	t.Helper()
	out, err := NewWriter(w, nil, twoTensors)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWriterCountsBytes(t *testing.T) {
	for _, test := range []struct {
		name string
		use  func(*container.Writer) error
		want string
	}{
		{"no tensor", (*container.Writer).Close, `tensor "a": it was not written`},
		{"one tensor", func(w *container.Writer) error {
			return errors.Join(w.WriteTensor("a", make([]byte, 12)), w.Close())
		}, `tensor "b": it was not written`},
		{"half a tensor", func(w *container.Writer) error {
			w.Next()
			w.Write(make([]byte, 5))
			_, err := w.Next()
			return err
		}, `tensor "a": 7 of its 12 bytes were not written`},
		{"close in a tensor", func(w *container.Writer) error {
			w.Next()
			w.Write(make([]byte, 11))
			return w.Close()
		}, `tensor "a": 1 of its 12 bytes were not written`},
		{"too many bytes", func(w *container.Writer) error {
			w.Next()
			n, err := w.Write(make([]byte, 13))
			if n != 12 {
				t.Errorf("%d bytes written, want 12", n)
			}
			return err
		}, container.ErrTooLong.Error()},
		{"bytes before Next", func(w *container.Writer) error {
			_, err := w.Write(make([]byte, 1))
			return err
		}, container.ErrTooLong.Error()},
		{"wrong order", func(w *container.Writer) error { return w.WriteTensor("b", make([]byte, 10)) }, `tensor "b": the next one is "a"`},
		{"wrong size", func(w *container.Writer) error { return w.WriteTensor("a", make([]byte, 10)) }, `tensor "a": 10 bytes given, want 12`},
		{"one too many", func(w *container.Writer) error {
			return errors.Join(w.WriteTensor("a", make([]byte, 12)), w.WriteTensor("b", make([]byte, 10)), w.WriteTensor("c", nil))
		}, `tensor "c": all tensors are written`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.use(newWriter(t, io.Discard)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// fullDisk takes so many bytes.
type fullDisk struct{ left int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.left)
	d.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestWriterReportsAFullDisk(t *testing.T) {
	whole := len(write(t, nil, twoTensors))
	for left := range whole {
		w := newWriter(t, &fullDisk{left})
		err := errors.Join(w.WriteTensor("a", make([]byte, 12)), w.WriteTensor("b", make([]byte, 10)), w.Close())
		if !errors.Is(err, errFull) {
			t.Errorf("%d of %d bytes: %v", left, whole, err)
		}
	}
}

// The pieces in which a tensor is written do not matter, and Next reports
// where each tensor comes to lie.
func TestWriterStreams(t *testing.T) {
	var b bytes.Buffer
	w := newWriter(t, &b)
	var placed []container.TensorInfo
	for i := range twoTensors {
		info, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		placed = append(placed, info)
		for _, x := range pattern(i, int(info.Size)) {
			if _, err := w.Write([]byte{x}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := w.Next(); err != io.EOF {
		t.Errorf("after the last tensor: %v, want io.EOF", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), write(t, nil, twoTensors)) {
		t.Error("written byte by byte the file differs")
	}
	if diff := cmp.Diff(placed, parse(t, b.Bytes()).Tensors(), cmp.Comparer(sameType)); diff != "" {
		t.Error(diff)
	}
}

// A large tensor passes through the buffer: the writer keeps no copy of it.
func TestWriterKeepsNoData(t *testing.T) {
	info := []container.TensorInfo{{Name: "w", Type: formats.F32, Shape: []int{1 << 12, 1 << 12}}}
	piece := make([]byte, 1<<20)
	allocs := totalAlloc(func() {
		w, err := NewWriter(io.Discard, nil, info)
		if err != nil {
			t.Fatal(err)
		}
		w.Next()
		for range 64 {
			w.Write(piece)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > mmap.HugePage+1<<16 {
		t.Errorf("%d bytes allocated to write %d", allocs, 64<<20)
	}
}

// A pieces counts the sizes of what is written to it.
type pieces []int

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, len(b))
	return len(b), nil
}

func TestWriterWritesHugePages(t *testing.T) {
	var got pieces
	w, err := NewWriter(&got, nil, []container.TensorInfo{
		{Name: "small", Type: formats.F32, Shape: []int{100}},
		{Name: "large", Type: formats.F32, Shape: []int{1, 3 * mmap.HugePage / 4}},
		{Name: "last", Type: formats.F32, Shape: []int{7}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{100, 3 * mmap.HugePage / 4, 7} {
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 4*n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rest := got[len(got)-1]
	if diff := cmp.Diff(pieces{mmap.HugePage, mmap.HugePage, mmap.HugePage, rest}, got); diff != "" || rest >= mmap.HugePage {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
}

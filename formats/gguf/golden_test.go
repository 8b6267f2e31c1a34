package gguf

import (
	"bytes"
	"math"
	"testing"

	"onebit/formats"
	"onebit/formats/container"

	"github.com/google/go-cmp/cmp"
)

// goldenV3 is a file put together by hand from ggml-org/ggml include/gguf.h.
var goldenV3 = join(
	"GGUF", []byte{
		3, 0, 0, 0, // version
		1, 0, 0, 0, 0, 0, 0, 0, // tensors
		2, 0, 0, 0, 0, 0, 0, 0, // metadata keys
		// byte 24: "arch" = "qw"
		4, 0, 0, 0, 0, 0, 0, 0, 'a', 'r', 'c', 'h',
		8, 0, 0, 0, // a string
		2, 0, 0, 0, 0, 0, 0, 0, 'q', 'w',
		// byte 50: "n" = 7
		1, 0, 0, 0, 0, 0, 0, 0, 'n',
		4, 0, 0, 0, // a uint32
		7, 0, 0, 0,
		// byte 67: tensor "w", 3 rows × 2 columns
		1, 0, 0, 0, 0, 0, 0, 0, 'w',
		2, 0, 0, 0, // dimensions
		2, 0, 0, 0, 0, 0, 0, 0, // innermost first: columns
		3, 0, 0, 0, 0, 0, 0, 0, // rows
		0, 0, 0, 0, // f32
		0, 0, 0, 0, 0, 0, 0, 0, // offset
	},
	// byte 108: padding to a multiple of 32
	make([]byte, 20),
	// byte 128: 1 to 6
	[]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40, 0, 0, 0xa0, 0x40, 0, 0, 0xc0, 0x40},
	// byte 152: padding
	make([]byte, 8),
)

// goldenV2 has its own alignment, an array, and no padding at its end.
var goldenV2 = join(
	"GGUF", []byte{
		2, 0, 0, 0,
		2, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 0, 0, 0, 0, 0, 0,
		// byte 24
		17, 0, 0, 0, 0, 0, 0, 0}, "general.alignment", []byte{
		4, 0, 0, 0,
		16, 0, 0, 0,
		// byte 57: "t" = ["a", "bc"]
		1, 0, 0, 0, 0, 0, 0, 0, 't',
		9, 0, 0, 0, // an array
		8, 0, 0, 0, // of strings
		2, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 0, 0, 0, 0, 0, 0, 'a',
		2, 0, 0, 0, 0, 0, 0, 0, 'b', 'c',
		// byte 101: tensor "q", 128 weights
		1, 0, 0, 0, 0, 0, 0, 0, 'q',
		1, 0, 0, 0,
		128, 0, 0, 0, 0, 0, 0, 0,
		41, 0, 0, 0, // q1_0_g128
		16, 0, 0, 0, 0, 0, 0, 0,
		// byte 134: tensor "h", one weight, before the other in the data
		1, 0, 0, 0, 0, 0, 0, 0, 'h',
		1, 0, 0, 0,
		1, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 0, 0, // f16
		0, 0, 0, 0, 0, 0, 0, 0},
	// byte 167: padding to a multiple of 16
	make([]byte, 9),
	// byte 176: 1.5, and padding
	[]byte{0, 0x3e}, make([]byte, 14),
	// byte 192: d = 1, then weights -1 but for the first and the last
	[]byte{0, 0x3c, 1}, make([]byte, 14), []byte{0x80},
)

// join concatenates strings and byte slices.
func join(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

func parse(t *testing.T, data []byte, types ...string) *File {
	t.Helper()
	f, err := Parse(data, "test.gguf", Options{Types: types})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGoldenV3(t *testing.T) {
	f := parse(t, goldenV3)
	if f.Version() != 3 || f.Alignment() != 32 || f.DataOffset() != 128 || f.Size() != 160 || f.Name() != "test.gguf" {
		t.Errorf("version %d, alignment %d, data at %d, size %d, name %s", f.Version(), f.Alignment(), f.DataOffset(), f.Size(), f.Name())
	}
	if s, err := f.String("arch"); s != "qw" || err != nil {
		t.Errorf("arch = %q, %v", s, err)
	}
	if n, err := f.Uint("n"); n != 7 || err != nil {
		t.Errorf("n = %d, %v", n, err)
	}
	want := []container.TensorInfo{{Name: "w", Type: formats.F32, TypeName: "f32", Shape: []int{3, 2}, Offset: 128, Size: 24}}
	if diff := cmp.Diff(want, f.Tensors(), cmp.Comparer(sameType)); diff != "" {
		t.Error(diff)
	}
	w, err := f.Tensor("w")
	if err != nil {
		t.Fatal(err)
	}
	if x, err := w.Floats(); err != nil || !cmp.Equal(x, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("w = %v, %v", x, err)
	}
	if &w.Data[0] != &goldenV3[128] {
		t.Error("the tensor is a copy")
	}
}

func TestGoldenV2(t *testing.T) {
	f := parse(t, goldenV2)
	if f.Version() != 2 || f.Alignment() != 16 || f.DataOffset() != 176 {
		t.Errorf("version %d, alignment %d, data at %d", f.Version(), f.Alignment(), f.DataOffset())
	}
	if s, err := f.Strings("t"); err != nil || !cmp.Equal(s, []string{"a", "bc"}) {
		t.Errorf("t = %q, %v", s, err)
	}
	want := []container.TensorInfo{
		{Name: "q", Type: formats.Q1_0_g128, TypeName: "q1_0_g128", Shape: []int{128}, Offset: 192, Size: 18},
		{Name: "h", Type: formats.F16, TypeName: "f16", Shape: []int{1}, Offset: 176, Size: 2},
	}
	if diff := cmp.Diff(want, f.Tensors(), cmp.Comparer(sameType)); diff != "" {
		t.Error(diff)
	}
	q, err := f.Tensor("q")
	if err != nil {
		t.Fatal(err)
	}
	x, err := q.Floats()
	if err != nil {
		t.Fatal(err)
	}
	for j, w := range x {
		want := float32(-1)
		if j == 0 || j == 127 {
			want = 1
		}
		if w != want {
			t.Errorf("weight %d = %v, want %v", j, w, want)
		}
	}
	h, err := f.Tensor("h")
	if err != nil {
		t.Fatal(err)
	}
	if x, err := h.Floats(); err != nil || !cmp.Equal(x, []float32{1.5}) {
		t.Errorf("h = %v, %v", x, err)
	}
}

func TestWriterGivesTheGoldenFile(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, []container.KV{{Key: "arch", Value: container.Of("qw")}, {Key: "n", Value: container.Of(uint32(7))}}, []container.TensorInfo{{Name: "w", Type: formats.F32, Shape: []int{3, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteTensor("w", floats(1, 2, 3, 4, 5, 6)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(goldenV3, b.Bytes()); diff != "" {
		t.Error(diff)
	}
}

func floats(xs ...float32) []byte {
	var b []byte
	for _, x := range xs {
		u := math.Float32bits(x)
		b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	return b
}

func sameType(a, b *formats.Type) bool { return a == b }

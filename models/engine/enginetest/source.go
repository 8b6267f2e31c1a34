package enginetest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/engine"
	"onebit/models/source"
)

// A tensor is one of a test's file.
type tensor struct {
	name   string
	format *formats.Type
	shape  []int
	values []float32
}

// tensors are those of the operations' tests.
var tensors = sync.OnceValue(func() []tensor {
	return []tensor{
		{"table", formats.F16, []int{vocab, hidden}, random(vocab*hidden, 11, 1)},
		{"gain", formats.F32, []int{hidden}, random(hidden, 12, 1)},
		{"taps", formats.F32, []int{channels, taps}, random(channels*taps, 13, 0.5)},
		{"rate", formats.F32, []int{hidden}, negative(random(hidden, 17, 0.3))},
		{"one bit", formats.Q1_0_g128, []int{inner, hidden}, random(inner*hidden, 14, 0.1)},
		{"ternary", formats.I2_S, []int{inner, hidden}, ternary(inner*hidden, 15)},
		{"half", formats.F16, []int{inner, hidden}, random(inner*hidden, 16, 0.1)},
		{"experts", formats.TQ2_0, []int{expertCount, expertRows, hidden}, ternary(expertCount*expertRows*hidden, 18)},
		{"narrow experts", formats.F16, []int{expertCount, 7, 40}, random(expertCount*7*40, 19, 0.1)},
	}
})

func negative(x []float32) []float32 {
	for i, v := range x {
		x[i] = -max(v, -v)
	}
	return x
}

// ternary is random values of -0.1, 0 and 0.1.
func ternary(n int, seed uint64) []float32 {
	x := random(n, seed, 1)
	for i := range x {
		x[i] = float32(math.RoundToEven(math.Tanh(float64(x[i])))) * 0.1
	}
	return x
}

// packed are the tensors' data by name, made once: they are the same for every fixture.
var packed = sync.OnceValues(func() (map[string][]byte, error) {
	data := map[string][]byte{}
	for _, x := range tensors() {
		rows, cols := (&formats.Tensor{Shape: x.shape}).Dims()
		n, err := x.format.Bytes(rows, cols)
		if err != nil {
			return nil, err
		}
		data[x.name] = make([]byte, n)
		if err := x.format.Matrix(data[x.name], rows, cols).Quantize(x.values); err != nil {
			return nil, err
		}
	}
	return data, nil
})

// tensorFile is a file of tensors, which change may spoil.
func tensorFile(t *testing.T, change ...func(name string, data []byte)) engine.Source {
	t.Helper()
	shared, err := packed()
	if err != nil {
		t.Fatal(err)
	}
	var infos []container.TensorInfo
	data := map[string][]byte{}
	for _, x := range tensors() {
		info := container.TensorInfo{Name: x.name, Type: x.format, Shape: x.shape}
		data[x.name] = slices.Clone(shared[x.name])
		for _, spoil := range change {
			spoil(x.name, data[x.name])
		}
		infos = append(infos, info)
	}
	var file bytes.Buffer
	w, err := gguf.NewWriter(&file, nil, infos)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if err := w.WriteTensor(info.Name, data[info.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(file.Bytes(), "test.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return source.FromGGUF(f)
}

// nan makes the first scale of q1_0_g128's data, in fp16, one that is NaN.
func nan(data []byte) { binary.LittleEndian.PutUint16(data, 0x7e00) }

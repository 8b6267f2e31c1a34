package convert

import (
	"bytes"
	"math"
	"testing"

	"onebit/formats"
)

func TestIsTernary(t *testing.T) {
	for _, tt := range []struct {
		name  string
		w     []float32
		group int
		want  bool
	}{
		{"zeros", []float32{0, 0, 0, 0}, 4, true},
		{"one scale", []float32{-2, 0, 2, 2}, 4, true},
		{"two scales in one group", []float32{-2, 0, 1, 2}, 4, false},
		{"a scale for each group", []float32{-2, 0, 1, -1}, 2, true},
		{"second group is not", []float32{-2, 0, 1, -3}, 2, false},
	} {
		if got := isTernary(tt.w, tt.group); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Errors by hand: 3 and 1 ternarize with s = mean = 2 to 2 and 0 (1/2 rounds
// to even), which is off by 1 each of squares 9 and 1.
func TestRequantizeError(t *testing.T) {
	const rows, cols = 2, 256
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = 3 - 2*float32(i%2)
	}
	data := make([]byte, 4*len(w))
	if err := formats.F32.Matrix(data, rows, cols).Quantize(w); err != nil {
		t.Fatal(err)
	}
	tensor := formats.Tensor{Name: "t", Type: formats.F32, Shape: []int{rows, cols}, Data: data}
	for _, to := range []*formats.Type{formats.I2_S, formats.TQ2_0} {
		var out bytes.Buffer
		r, err := requantize(&out, to, &tensor)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Ternarized || r.NMSE() != 0.2 || r.MaxAbs != 1 {
			t.Errorf("%s: ternarized %v, NMSE %v, largest error %v, want true, 0.2, 1", to.Name, r.Ternarized, r.NMSE(), r.MaxAbs)
		}
	}
}

// A tensor of several chunks is written as the whole one would be.
func TestRequantizeInChunks(t *testing.T) {
	const rows, cols = 5, 1 << 17
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(math.Sin(float64(i)))
	}
	data := make([]byte, 4*len(w))
	if err := formats.F32.Matrix(data, rows, cols).Quantize(w); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, rows*cols/128*18)
	if err := formats.Q1_0_g128.Matrix(want, rows, cols).Quantize(w); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	tensor := formats.Tensor{Name: "t", Type: formats.F32, Shape: []int{rows, cols}, Data: data}
	if _, err := requantize(&got, formats.Q1_0_g128, &tensor); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("chunks differ from the whole")
	}
}

package synth

import (
	"bytes"
	"math"
	"testing"

	"onebit/formats"
	"onebit/models/arch"
)

func synthesize(t *testing.T, seed uint64, spec arch.TensorSpec) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeWeights(&b, seed, spec); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The weights of every format are what keeps a forward pass finite: mean 0
// and variance 1/cols; norms near 1.
func TestWeightStatistics(t *testing.T) {
	const rows, cols = 512, 2048
	tests := []struct {
		typ            *formats.Type
		mean, variance float64
	}{
		{formats.Q1_0_g128, 0, 1.0 / cols * (1 + 1.0/48)}, // scales even in [0.75, 1.25): E d² = 1 + 1/48
		{formats.I2_S, 0, 1.0 / cols},
		{formats.F16, 0, 1.0 / cols},
		{formats.F32, 1, 0.2 * 0.2 / 12}, // even in [0.9, 1.1)
	}
	for _, tt := range tests {
		t.Run(tt.typ.Name, func(t *testing.T) {
			spec := arch.TensorSpec{Name: "blk.0.ffn_up.weight", Shape: []int{rows, cols}, Type: tt.typ}
			tensor := formats.Tensor{Name: spec.Name, Type: tt.typ, Shape: spec.Shape, Data: synthesize(t, 1, spec)}
			w, err := tensor.Floats()
			if err != nil {
				t.Fatal(err)
			}
			var sum, squares float64
			for _, x := range w {
				sum += float64(x)
				squares += (float64(x) - tt.mean) * (float64(x) - tt.mean)
			}
			n := float64(len(w))
			// Six standard errors of the mean, and 1% of the variance, which is
			// six standard errors of that.
			if got := sum / n; math.Abs(got-tt.mean) > 6*math.Sqrt(tt.variance/n) {
				t.Errorf("mean %v, want %v", got, tt.mean)
			}
			if got := squares / n; math.Abs(got/tt.variance-1) > 0.01 {
				t.Errorf("variance %v, want %v", got, tt.variance)
			}
		})
	}
}

func TestTernaryDensity(t *testing.T) {
	const rows, cols = 512, 2048
	spec := arch.TensorSpec{Name: "t", Shape: []int{rows, cols}, Type: formats.I2_S}
	data := synthesize(t, 1, spec)
	var count [4]int
	for _, b := range data[:rows*cols/4] {
		for range 4 {
			count[b&3]++
			b >>= 2
		}
	}
	if count[3] != 0 {
		t.Errorf("code 3 occurs %d times", count[3])
	}
	for code, n := range count[:3] {
		if share := float64(n) / (rows * cols); math.Abs(share-1.0/3) > 0.005 {
			t.Errorf("code %d has a share of %v, want a third", code, share)
		}
	}
	if tail := data[len(data)-28:]; !bytes.Equal(tail, make([]byte, 28)) {
		t.Errorf("tail %x, want zeros", tail)
	}
}

// A tensor's bytes follow from the seed and its name alone.
func TestWeightsDependOnSeedAndName(t *testing.T) {
	spec := arch.TensorSpec{Name: "a", Shape: []int{64, 256}, Type: formats.Q1_0_g128}
	a := synthesize(t, 1, spec)
	if !bytes.Equal(a, synthesize(t, 1, spec)) {
		t.Error("same seed and name, other bytes")
	}
	if bytes.Equal(a, synthesize(t, 2, spec)) {
		t.Error("other seed, same bytes")
	}
	spec.Name = "b"
	if bytes.Equal(a, synthesize(t, 1, spec)) {
		t.Error("other name, same bytes")
	}
}

func TestWeightsErrors(t *testing.T) {
	for _, tt := range []struct {
		spec arch.TensorSpec
		want string
	}{
		{arch.TensorSpec{Name: "a", Shape: []int{4, 256}, Type: formats.Q8_0}, "tensor a: cannot synthesize q8_0"},
		{arch.TensorSpec{Name: "a", Shape: []int{4, 100}, Type: formats.Q1_0_g128}, "tensor a: q1_0_g128: 100 columns do not fill blocks of 128"},
		{arch.TensorSpec{Name: "a", Shape: []int{3, 1}, Type: formats.F16}, "tensor a: 6 bytes of f16 do not come in units of 8"},
	} {
		err := writeWeights(&bytes.Buffer{}, 1, tt.spec)
		if err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}

func BenchmarkWriteWeights(b *testing.B) {
	for _, typ := range []*formats.Type{formats.Q1_0_g128, formats.I2_S, formats.F16} {
		b.Run(typ.Name, func(b *testing.B) {
			spec := arch.TensorSpec{Name: "t", Shape: []int{6144, 2048}, Type: typ}
			size, err := spec.Bytes()
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := writeWeights(discard{}, 1, spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

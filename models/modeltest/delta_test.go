package modeltest

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// The chunked form of the delta rule is the recurrence, up to rounding, in chunks
// of any size; with the decay behind the prediction it is not.
func TestChunks(t *testing.T) {
	const keys, values, tokens = 24, 16, 150
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = rng.NormFloat64()
		}
		return out
	}
	var r Recurrence
	for range tokens {
		r.Tokens = append(r.Tokens, Token{
			Q: times(unit(normal(keys)), 1/math.Sqrt(keys)), K: unit(normal(keys)), V: normal(values),
			LogDecay: -rng.Float64(), Beta: rng.Float64(),
		})
	}
	want := r.Steps()
	for _, size := range []int{1, 2, 64, tokens} {
		if e := distance(r.Chunks(size), want); !(e < 1e-24) {
			t.Errorf("chunks of %d: a mean square of %.3g", size, e)
		}
	}
	late := Recurrence{Tokens: r.Tokens, Late: true}
	if e := distance(late.Steps(), want); !(e > 1e-3) {
		t.Errorf("the decay behind the prediction: a mean square of %.3g", e)
	}
}

// distance is Σ(a-b)²/Σb².
func distance(a, b [][]float64) float64 {
	sum, all := 0.0, 0.0
	for i := range a {
		for j := range a[i] {
			sum += math.Pow(a[i][j]-b[i][j], 2)
			all += math.Pow(b[i][j], 2)
		}
	}
	return sum / all
}

// The recursion gives (-1)^popcount(r&c) / √n.
func TestHadamard(t *testing.T) {
	const n = 16
	for c := range n {
		z := make([]float64, 2*n)
		z[n+c] = 1
		for r, got := range hadamard(z, n)[n:] {
			if want := math.Pow(-1, float64(bits.OnesCount(uint(r&c)))) / math.Sqrt(n); math.Abs(got-want) > 1e-15 {
				t.Errorf("H[%d][%d] = %v, want %v", r, c, got, want)
			}
		}
	}
}

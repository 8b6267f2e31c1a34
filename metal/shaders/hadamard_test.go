package shaders

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/kernels/kerneltest"
	"onebit/metal/softmetal"
)

// rotation is Rotation of hadamard.metal.
type rotation struct {
	Width, Block       uint32
	By                 float32
	Inverse, Rows, Run uint32
}

func (r rotation) dispatch(l library, x, signs, y []float32) error {
	const threads = 32
	r.By = float32(1 / math.Sqrt(float64(r.Block)))
	return l.Dispatch("rotate_hadamard", [3]int{int(r.Width/r.Block) * threads, len(x) / int(r.Width), 1}, [3]int{threads, 1, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, signs), softmetal.Buffer(2, y), softmetal.Value(3, r))
}

// from is where value i of a column is taken from.
func (r rotation) from(i int) int {
	if r.Rows == 0 || r.Inverse != 0 {
		return i
	}
	run, cols := i/int(r.Run), int(r.Width/r.Run/r.Rows)
	return (run%int(r.Rows)*cols+run/int(r.Rows))*int(r.Run) + i%int(r.Run)
}

// want is the transform by its matrix, in float64, and the sum of magnitudes that a
// value is made of.
func (r rotation) want(x, signs []float32) (want, size []float64) {
	n, width := int(r.Block), int(r.Width)
	for i := range x {
		column, at := i/width*width, i%width
		var y, sum float64
		for k := range n {
			c := at/n*n + k
			v := float64(x[column+r.from(c)])
			if r.Inverse == 0 {
				v *= float64(signs[c])
			}
			if bits.OnesCount(uint(at%n&k))%2 == 1 {
				v = -v
			}
			y, sum = y+v, sum+math.Abs(v)
		}
		if r.Inverse != 0 {
			y *= float64(signs[at])
		}
		want, size = append(want, y/math.Sqrt(float64(n))), append(size, sum/math.Sqrt(float64(n)))
	}
	return want, size
}

func randomSigns(rng *rand.Rand, n int) []float32 {
	signs := make([]float32, n)
	for i := range signs {
		signs[i] = float32(rng.IntN(2)*2 - 1)
	}
	return signs
}

// Each of log₂(block) sums rounds by half a unit of magnitudes that no sum is
// larger than, the factor and the product with it by half a unit each.
func (r rotation) check(l library) error {
	rng := rand.New(rand.NewPCG(uint64(r.Block), uint64(r.Width)))
	x, signs := normal(rng, 2*int(r.Width)), randomSigns(rng, int(r.Width))
	y := poisoned(len(x))
	if err := r.dispatch(l, x, signs, y); err != nil {
		return err
	}
	want, size := r.want(x, signs)
	ulps := float64(bits.Len32(r.Block)-1)/2 + 1
	for i := range y {
		if bound := ulps * 0x1p-23 * size[i]; !(math.Abs(float64(y[i])-want[i]) <= bound) {
			return fmt.Errorf("value %d is %v, want %v within %.3g", i, y[i], want[i], bound)
		}
	}
	return nil
}

func TestHadamard(t *testing.T) {
	l := compile(t, Hadamard, nil)
	for _, r := range []rotation{
		{Width: 12, Block: 4},
		{Width: 192, Block: 64},
		{Width: 256, Block: 128, Inverse: 1},
		{Width: 1024, Block: 1024},
		{Width: 96, Block: 32, Rows: 3, Run: 8},
		{Width: 96, Block: 32, Rows: 3, Run: 8, Inverse: 1},
	} {
		if err := r.check(l); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// The bits are those of models/engine/cpu's order of operations.
func TestHadamardBits(t *testing.T) {
	r := rotation{Width: 512, Block: 256}
	rng := rand.New(rand.NewPCG(1, 1))
	x, signs := normal(rng, int(r.Width)), randomSigns(rng, int(r.Width))
	y, want := poisoned(len(x)), slices.Clone(x)
	for i := range want {
		want[i] *= signs[i]
	}
	for half := 1; half < int(r.Block); half *= 2 {
		for i := range want {
			if i/half%2 == 0 {
				want[i], want[i+half] = want[i]+want[i+half], want[i]-want[i+half]
			}
		}
	}
	for i := range want {
		want[i] *= 1.0 / 16
	}
	if err := r.dispatch(compile(t, Hadamard, nil), x, signs, y); err != nil {
		t.Fatal(err)
	}
	same(t, "rotate_hadamard", y, want)
}

// In place, and back: sums of products with 1/block are exact for integers.
func TestHadamardInPlace(t *testing.T) {
	r := rotation{Width: 128, Block: 64}
	rng := rand.New(rand.NewPCG(1, 2))
	x, signs := make([]float32, 2*r.Width), randomSigns(rng, int(r.Width))
	for i := range x {
		x[i] = float32(2*rng.IntN(127) - 127) // no zero, of either sign
	}
	was, l := slices.Clone(x), compile(t, Hadamard, nil)
	back := r
	back.Inverse = 1
	for _, r := range []rotation{r, back} {
		if err := r.dispatch(l, x, signs, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := kerneltest.Same(x, was); err != nil {
		t.Error(err)
	}
}

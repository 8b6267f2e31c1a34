package shaders

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/metal/softmetal"
)

func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// within fails if a value is further than so many units in the last place of
// size from want, which is computed in float64.
func within(t *testing.T, got []float32, want, size []float64, ulps float64) {
	t.Helper()
	for i := range got {
		if bound := ulps*0x1p-23*math.Abs(size[i]) + 0x1p-126; !(math.Abs(float64(got[i])-want[i]) <= bound) {
			t.Errorf("value %d is %v, want %v within %.3g", i, got[i], want[i], bound)
			return
		}
	}
}

// The sum of squares has some 48 bits, so what is left is the rounding of the
// mean, of ε's addition, the root (which halves what went before), the
// reciprocal and two products: half a unit each, 3 in all.
func TestNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, width := range []int{1, 31, 128, 700, 4097} {
		const runs, epsilon = 3, 1e-6
		x, gain := normal(rng, runs*width), normal(rng, width)
		x[0] *= 1e4                        // one large value, as models have
		for i := width; i < 2*width; i++ { // whose square's last bit is twice the others'
			x[i] = 1
		}
		x[width] = 4096
		want := make([]float64, len(x))
		for r := range runs {
			var sum float64
			for _, v := range x[r*width : (r+1)*width] {
				sum += float64(v) * float64(v)
			}
			scale := 1 / math.Sqrt(sum/float64(width)+float64(float32(epsilon)))
			for k := range width {
				want[r*width+k] = float64(x[r*width+k]) * scale * float64(gain[k])
			}
		}
		if err := normalize(compile(t, Operations, nil), x, gain, epsilon); err != nil {
			t.Fatal(err)
		}
		within(t, x, want, want, 3)
	}
}

// normalize runs rms_norm in place, on every run of x.
func normalize(l library, x, gain []float32, epsilon float32) error {
	norm := struct {
		Width   uint32
		Epsilon float32
	}{uint32(len(gain)), epsilon}
	return l.Dispatch("rms_norm", [3]int{64 * len(x) / len(gain), 1, 1}, [3]int{64, 1, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, gain), softmetal.Buffer(2, x), softmetal.Value(3, norm))
}

// Each result is two products, each rounded, and their sum: 1.5 units of the
// larger magnitudes' sum.
func TestRotate(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const columns, heads = 3, 5
	for _, shape := range [][2]int{{14, 7}, {14, 3}} { // a head's values, and pairs
		dim, pairs := shape[0], shape[1]
		testRotate(t, rng, columns, heads, dim, pairs, false)
		testRotate(t, rng, columns, heads, dim, pairs, true)
	}
}

func testRotate(t *testing.T, rng *rand.Rand, columns, heads, dim, pairs int, adjacent bool) {
	x, turns := normal(rng, columns*heads*dim), make([][2]float32, columns*pairs)
	for i := range turns {
		sin, cos := math.Sincos(rng.Float64() * 100)
		turns[i] = [2]float32{float32(cos), float32(sin)}
	}
	want, size := make([]float64, len(x)), make([]float64, len(x))
	for at := 0; at < len(x); at += dim {
		for i, v := range x[at : at+dim] {
			want[at+i] = float64(v) // behind the pairs
		}
		for i := range pairs {
			first, second := at+i, at+i+pairs
			if adjacent {
				first, second = at+2*i, at+2*i+1
			}
			a, b := float64(x[first]), float64(x[second])
			turn := turns[at/dim/heads*pairs+i]
			c, s := float64(turn[0]), float64(turn[1])
			want[first], want[second] = a*c-b*s, b*c+a*s
			size[first], size[second] = math.Abs(a*c)+math.Abs(b*s), math.Abs(b*c)+math.Abs(a*s)
		}
	}
	if err := rotate(compile(t, Operations, nil), x, turns, heads, dim, pairs, adjacent); err != nil {
		t.Fatal(err)
	}
	within(t, x, want, size, 1.5)
}

func rotate(l library, x []float32, turns [][2]float32, heads, dim, pairs int, adjacent bool) error {
	step, apart := 1, pairs
	if adjacent {
		step, apart = 2, 1
	}
	return l.Dispatch("rotate", [3]int{pairs, heads, len(x) / heads / dim}, [3]int{4, 2, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, turns), softmetal.Value(2, [5]uint32{uint32(heads), uint32(dim), uint32(pairs), uint32(step), uint32(apart)}))
}

// exp is right within 4 units by Metal's table of precise functions; a sum, a
// quotient and a product follow, each half a unit.
func TestGates(t *testing.T) {
	gate := append(normal(rand.New(rand.NewPCG(3, 3)), 90), 0, -0.5, 30, -30, 87, -87, 88, -88, 1e-12, 100)
	up := normal(rand.New(rand.NewPCG(4, 4)), len(gate))
	for kernel, f := range map[string]func(float64) float64{
		"gate_silu":    func(g float64) float64 { return g / (1 + math.Exp(-g)) },
		"gate_sigmoid": func(g float64) float64 { return 1 / (1 + math.Exp(-g)) },
		"gate_relu2":   func(g float64) float64 { return math.Max(g, 0) * math.Max(g, 0) },
	} {
		t.Run(kernel, func(t *testing.T) {
			got, want := slices.Clone(gate), make([]float64, len(gate))
			for i, g := range gate {
				want[i] = f(float64(g)) * float64(up[i])
			}
			if err := vectors(compile(t, Operations, nil), kernel, got, up); err != nil {
				t.Fatal(err)
			}
			within(t, got, want, want, 5.5)
		})
	}
}

func TestAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, y := normal(rng, 70), normal(rng, 70)
	want := make([]float32, len(x))
	for i := range x {
		want[i] = x[i] + y[i]
	}
	if err := vectors(compile(t, Operations, nil), "add", x, y); err != nil {
		t.Fatal(err)
	}
	same(t, "add", x, want)
}

// vectors runs a kernel of two vectors whose result is the first, over a grid
// that is longer than they are.
func vectors(l library, kernel string, x, y []float32) error {
	return l.Dispatch(kernel, [3]int{(len(x) + 63) / 64 * 64, 1, 1}, [3]int{64, 1, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, y), softmetal.Value(2, uint32(len(x))))
}

func TestTake(t *testing.T) {
	from, to := normal(rand.New(rand.NewPCG(8, 8)), 200), poisoned(70)
	err := compile(t, Operations, nil).Dispatch("take", [3]int{96, 1, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, to), softmetal.Buffer(1, from), softmetal.Value(2, uint32(len(to))), softmetal.Value(3, uint32(130)))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "take", to, from[130:])
}

func TestSelect(t *testing.T) {
	const from, run, stride, n = 3, 5, 12, 4 * 5
	x, y := normal(rand.New(rand.NewPCG(8, 9)), 4*stride), poisoned(n)
	err := compile(t, Operations, nil).Dispatch("select_parts", [3]int{32, 1, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, y), softmetal.Buffer(1, x), softmetal.Value(2, [4]uint32{from, run, stride, n}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		same(t, "select_parts", y[i*run:][:run], x[i*stride+from:][:run])
	}
}

// The sum has some 48 bits: what is left is the rounding of ε's addition, of the
// root, the quotient and the product.
func TestNormalize(t *testing.T) {
	const runs, width, epsilon, scale = 3, 70, 1e-6, 0.25
	x := normal(rand.New(rand.NewPCG(8, 10)), runs*width)
	clear(x[width : 2*width]) // ε is all there is
	want := make([]float64, len(x))
	for r := range runs {
		var sum float64
		for _, v := range x[r*width:][:width] {
			sum += float64(v) * float64(v)
		}
		for k := range width {
			want[r*width+k] = float64(x[r*width+k]) * scale / math.Sqrt(sum+float64(float32(epsilon)))
		}
	}
	length := struct {
		Width          uint32
		Epsilon, Scale float32
	}{width, epsilon, scale}
	err := compile(t, Operations, nil).Dispatch("normalize", [3]int{32 * runs, 1, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, x), softmetal.Value(1, length))
	if err != nil {
		t.Fatal(err)
	}
	within(t, x, want, want, 2.5)
}

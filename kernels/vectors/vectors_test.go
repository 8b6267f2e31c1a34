package vectors

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"onebit/internal/cpu"
	"onebit/internal/guard"
	"onebit/internal/require"
)

// each runs a test of every variant that this machine has.
func each(t *testing.T, test func(t *testing.T, v *Variant)) {
	for _, v := range Variants() {
		t.Run(v.Name, func(t *testing.T) {
			if err := v.Available(); err != nil {
				require.Skip(t, cpu.Detected().Missing(v.ISA.Requires).String(), err.Error())
			}
			test(t, v)
		})
	}
}

const a, b, shift = 1.3, -0.7, 0.4

var step = AdamW{Beta1: 0.9, Beta2: 0.999, Unbias1: 3.7, Unbias2: 333, Rate: 1e-2, Decay: 0.1, Eps: 1e-8}

// An operation is one method on arguments of equal length, of which it changes the
// first ones.
type operation struct {
	name    string
	changes int
	run     func(v *Variant, x [4][]float32)
	// exact returns the new numbers at i in float64 from the old; nil where a value
	// close to it would not do.
	exact func(x [4]float64) []float64
	ulps  float64 // how far it may be from exact, in 2⁻²⁴ of the largest argument squared
}

func exactSigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

var operations = []operation{
	{"Add", 1, func(v *Variant, x [4][]float32) { v.Add(x[0], x[1]) },
		func(x [4]float64) []float64 { return []float64{x[0] + x[1]} }, 1},
	{"Axpy", 1, func(v *Variant, x [4][]float32) { v.Axpy(x[0], a, x[1]) },
		func(x [4]float64) []float64 { return []float64{x[0] + float64(float32(a))*x[1]} }, 3},
	{"Scale", 1, func(v *Variant, x [4][]float32) { v.Scale(x[0], a, x[1]) },
		func(x [4]float64) []float64 { return []float64{float64(float32(a)) * x[1]} }, 1},
	{"Mul", 1, func(v *Variant, x [4][]float32) { v.Mul(x[0], x[1], x[2]) },
		func(x [4]float64) []float64 { return []float64{x[1] * x[2]} }, 1},
	{"MulAdd", 1, func(v *Variant, x [4][]float32) { v.MulAdd(x[0], x[1], x[2]) },
		func(x [4]float64) []float64 { return []float64{x[0] + x[1]*x[2]} }, 3},
	{"MulShifted", 1, func(v *Variant, x [4][]float32) { v.MulShifted(x[0], x[1], x[2], shift) },
		func(x [4]float64) []float64 { return []float64{x[1] * (x[2] - float64(float32(shift)))} }, 3},
	{"Combine", 1, func(v *Variant, x [4][]float32) { v.Combine(x[0], a, x[1], b, x[2]) },
		func(x [4]float64) []float64 {
			return []float64{float64(float32(a))*x[1] + float64(float32(b))*x[2]}
		}, 4},
	{"SiLU", 1, func(v *Variant, x [4][]float32) { v.SiLU(x[0], x[1]) },
		func(x [4]float64) []float64 { return []float64{x[1] * exactSigmoid(x[1])} }, 6},
	{"Sigmoid", 1, func(v *Variant, x [4][]float32) { v.Sigmoid(x[0], x[1]) },
		func(x [4]float64) []float64 { return []float64{exactSigmoid(x[1])} }, 6},
	{"SiLUGradient", 1, func(v *Variant, x [4][]float32) { v.SiLUGradient(x[0], x[1], x[2]) },
		func(x [4]float64) []float64 {
			s := exactSigmoid(x[2])
			return []float64{x[1] * s * (1 + x[2]*(1-s))}
		}, 40},
	{"SquaredReLU", 1, func(v *Variant, x [4][]float32) { v.SquaredReLU(x[0], x[1]) },
		func(x [4]float64) []float64 { return []float64{max(x[1], 0) * max(x[1], 0)} }, 1},
	{"SquaredReLUGradient", 1, func(v *Variant, x [4][]float32) { v.SquaredReLUGradient(x[0], x[1], x[2]) },
		func(x [4]float64) []float64 { return []float64{x[1] * 2 * max(x[2], 0)} }, 2},
	{"Ternarize", 1, func(v *Variant, x [4][]float32) { v.Ternarize(x[0], x[1], 0.1, 0.9, 0.5) },
		func(x [4]float64) []float64 {
			y := float64(float32(x[1]) - float32(0.1))
			return []float64{0.5 * min(max(math.RoundToEven(y/float64(float32(0.9))), -1), 1)}
		}, 0},
	{"AdamW", 4, func(v *Variant, x [4][]float32) { v.AdamW(x[0], x[1], x[2], x[3], &step) },
		func(x [4]float64) []float64 {
			s, g := step, x[1]
			first := float64(s.Beta1)*x[2] + (1-float64(s.Beta1))*g
			second := float64(s.Beta2)*x[3] + (1-float64(s.Beta2))*g*g
			change := first*float64(s.Unbias1)/(math.Sqrt(second*float64(s.Unbias2))+float64(s.Eps)) + float64(s.Decay)*x[0]
			return []float64{x[0] - float64(s.Rate)*change, g, first, second}
		}, 20},
	{"ExpSum", 1, func(v *Variant, x [4][]float32) { sumTo(x[0], v.ExpSum(x[0], x[1], shift, 0.7)) }, nil, 0},
	{"Softmax", 1, func(v *Variant, x [4][]float32) { v.Softmax(x[0], x[1]) }, nil, 0},
	{"SoftmaxGradient", 1, func(v *Variant, x [4][]float32) { v.SoftmaxGradient(x[0], x[1], x[2]) }, nil, 0},
	{"RMSNorm", 2, func(v *Variant, x [4][]float32) { sumTo(x[0], float64(v.RMSNorm(x[0], x[1], x[2], x[3], 1e-6))) }, nil, 0},
	{"RMSNormGradient", 1, func(v *Variant, x [4][]float32) { v.RMSNormGradient(x[0], x[1], x[2], x[3], a) }, nil, 0},
	{"Sum", 1, func(v *Variant, x [4][]float32) { sumTo(x[0], v.Sum(x[1])) }, nil, 0},
	{"SumAbs", 1, func(v *Variant, x [4][]float32) { sumTo(x[0], v.SumAbs(x[1], shift)) }, nil, 0},
	{"Dot", 1, func(v *Variant, x [4][]float32) { sumTo(x[0], v.Dot(x[1], x[2])) }, nil, 0},
	{"Max", 1, func(v *Variant, x [4][]float32) { sumTo(x[0], float64(v.Max(x[1]))) }, nil, 0},
	{"Rotate", 2, func(v *Variant, x [4][]float32) { v.Rotate(x[0], x[1], x[2], x[3]) },
		func(x [4]float64) []float64 { return []float64{x[0]*x[2] - x[1]*x[3], x[0]*x[3] + x[1]*x[2]} }, 3},
	{"RotateAdjacent", 1, func(v *Variant, x [4][]float32) {
		pairs := len(x[0]) / 2
		v.RotateAdjacent(x[0][:2*pairs], x[1][:pairs], x[2][:pairs])
	}, nil, 0},
	{"EncodeF16", 1, func(v *Variant, x [4][]float32) { v.EncodeF16(bytesOf(x[0]), x[1]) }, nil, 0},
	{"DecodeF16", 1, func(v *Variant, x [4][]float32) { v.DecodeF16(x[0], bytesOf(x[1])) }, nil, 0},
	{"Hadamard", 1, func(v *Variant, x [4][]float32) {
		if n := len(x[0]); n > 0 {
			v.Hadamard(x[0][:1<<(bits.Len(uint(n))-1)], a)
		}
	}, nil, 0},
}

// bytesOf returns the first two bytes of each number's place.
func bytesOf(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 2*len(x))
}

// apart are operations whose results must not be written over their arguments.
var apart = []string{"RMSNormGradient", "RotateAdjacent", "EncodeF16", "DecodeF16"}

// sumTo writes a sum to two floats, all of its bits that may differ.
func sumTo(x []float32, sum float64) {
	if len(x) > 1 {
		x[0] = float32(sum)
		x[1] = float32(sum - float64(x[0]))
	}
}

var lengths = []int{0, 1, 7, 31, 32, 33, 63, 64, 65, 100, 128, 160, 255, 1000}

func clone(x [4][]float32) (out [4][]float32) {
	for i := range x {
		out[i] = append([]float32(nil), x[i]...)
	}
	return out
}

// TestOperations: results are near those in float64, and the bits those of Go, in guarded memory.
func TestOperations(t *testing.T) {
	each(t, func(t *testing.T, v *Variant) {
		for _, o := range operations {
			for _, n := range lengths {
				r := rand.New(rand.NewPCG(uint64(n), 1))
				var old, x [4][]float32
				for i := range old {
					old[i] = make([]float32, n)
					for k := range n {
						old[i][k] = float32(3 * r.NormFloat64())
					}
				}
				for k, v := range old[3] {
					old[3][k] = float32(math.Abs(float64(v))) // no moment of squares is negative
				}
				for i := range x {
					if i < o.changes {
						x[i] = guard.Copy(t, old[i])
					} else {
						x[i] = guard.CopyReadOnly(t, old[i])
					}
				}
				want := clone(old)
				o.run(goVariant, want)
				o.run(v, x)
				same(t, fmt.Sprintf("%s of %d", o.name, n), x, want)
				if o.exact != nil {
					near(t, o, old, x)
				}
			}
		}
	})
}

func same(t *testing.T, what string, got, want [4][]float32) {
	t.Helper()
	for i := range want {
		for k, w := range want[i] {
			if g := got[i][k]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
				t.Fatalf("%s: number %d of argument %d is %v, in Go %v", what, k, i, g, w)
			}
		}
	}
}

func near(t *testing.T, o operation, old, got [4][]float32) {
	t.Helper()
	for k := range old[0] {
		var x [4]float64
		magnitude := 1.0
		for i := range x {
			x[i] = float64(old[i][k])
			magnitude = max(magnitude, math.Abs(x[i]))
		}
		for i, w := range o.exact(x) {
			if d := math.Abs(float64(got[i][k]) - w); d > o.ulps*0x1p-24*magnitude*magnitude {
				t.Fatalf("%s: number %d of argument %d is %v, exactly %v", o.name, k, i, got[i][k], w)
			}
		}
	}
}

// TestExtremes: infinities, NaNs, zeros of both signs, subnormals and what overflows give the
// bits that they give in Go, also where the result is written over the arguments.
func TestExtremes(t *testing.T) {
	extremes := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126,
		-3e-39, 88, 89, -87, -88, -104, 1e20, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	each(t, func(t *testing.T, v *Variant) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, o := range operations {
			for round := range 20 {
				from := len(extremes) - 3*(round%2)
				var x [4][]float32
				for i := range x {
					for range 96 {
						x[i] = append(x[i], extremes[r.IntN(from)])
					}
				}
				over := round%3 == 0 && o.changes == 1 && !slices.Contains(apart, o.name)
				if over {
					x[1] = x[0]
				}
				want := clone(x)
				if over {
					want[1] = want[0]
				}
				o.run(goVariant, want)
				o.run(v, x)
				same(t, o.name, x, want)
			}
		}
	})
}

// TestSums holds sums and rows to float64.
func TestSums(t *testing.T) {
	each(t, func(t *testing.T, v *Variant) {
		r := rand.New(rand.NewPCG(3, 3))
		const n = 777
		x, y, g := make([]float32, n), make([]float32, n), make([]float32, n)
		var sum, abs, dot, exps float64
		most := float32(-1e9)
		for i := range n {
			x[i], y[i], g[i] = float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())
			sum += float64(x[i])
			abs += math.Abs(float64(x[i] - shift))
			dot += float64(x[i]) * float64(y[i])
			exps += math.Exp(float64(x[i]))
			most = max(most, x[i])
		}
		check := func(what string, got, want, tolerance float64) {
			t.Helper()
			if !(math.Abs(got-want) <= tolerance) {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
		check("Sum", v.Sum(x), sum, 1e-11)
		check("SumAbs", v.SumAbs(x, shift), abs, 1e-11)
		check("Dot", v.Dot(x, y), dot, 1e-11)
		check("Max", float64(v.Max(x)), float64(most), 0)
		p := make([]float32, n)
		check("ExpSum", v.ExpSum(p, x, 0, 1), exps, exps*0x1p-22)
		v.Softmax(p, x)
		along := 0.0
		for i := range p {
			check("Softmax", float64(p[i]), math.Exp(float64(x[i]))/exps, 1e-6)
			along += float64(p[i]) * float64(g[i])
		}
		dx := make([]float32, n)
		v.SoftmaxGradient(dx, g, p)
		for i := range p {
			check("SoftmaxGradient", float64(dx[i]), float64(p[i])*(float64(g[i])-along), 1e-8)
		}
		unit, out := make([]float32, n), make([]float32, n)
		inverse := v.RMSNorm(out, unit, x, y, 1e-5)
		norm := func(shift float64, at int) float64 { // Σ g·y·x/√…, with x[at] shifted
			squares, sum := 0.0, 0.0
			for i := range x {
				e := float64(x[i])
				if i == at {
					e += shift
				}
				squares += e * e
				sum += float64(g[i]) * float64(y[i]) * e
			}
			return sum / math.Sqrt(squares/n+1e-5)
		}
		total := 0.0
		for i := range out {
			total += float64(out[i]) * float64(g[i])
		}
		check("RMSNorm", total, norm(0, -1), 1e-4)
		v.RMSNormGradient(dx, g, unit, y, inverse)
		for i := 0; i < n; i += 50 {
			check("RMSNormGradient", float64(dx[i]), (norm(1e-4, i)-norm(-1e-4, i))/2e-4, 1e-5)
		}
	})
}

// By hand, of pairs that lie in one slice and of four numbers.
func TestTurnsAndTransforms(t *testing.T) {
	each(t, func(t *testing.T, v *Variant) {
		x, cos, sin := make([]float32, 64), make([]float32, 32), make([]float32, 32)
		for i := range cos {
			x[2*i], x[2*i+1], cos[i], sin[i] = float32(i), 1, 0.5, 2
		}
		v.RotateAdjacent(x, cos, sin)
		for i := range cos {
			if u := float32(i); x[2*i] != u/2-2 || x[2*i+1] != 2*u+0.5 {
				t.Errorf("pair %d was rotated to (%v, %v)", i, x[2*i], x[2*i+1])
			}
		}
		four := []float32{1, 2, 3, 5}
		if v.Hadamard(four, 0.5); !slices.Equal(four, []float32{5.5, -1.5, -2.5, 0.5}) {
			t.Errorf("(1, 2, 3, 5)/2 was transformed to %v", four)
		}
		eight := []float32{0, 0, 0, 0, 0, 0, 1, 0}
		if v.Hadamard(eight, 3); !slices.Equal(eight, []float32{3, 3, -3, -3, -3, -3, 3, 3}) {
			t.Errorf("the seventh of eight was transformed to %v", eight)
		}
	})
}

// TestAllocations: nothing is allocated, also where a block is not whole.
func TestAllocations(t *testing.T) {
	require.Unraced(t, "the detector allocates")
	each(t, func(t *testing.T, v *Variant) {
		var x [4][]float32
		for i := range x {
			x[i] = make([]float32, 100)
		}
		for _, o := range operations {
			if n := testing.AllocsPerRun(5, func() { o.run(v, x) }); n != 0 {
				t.Errorf("%s allocates %v times", o.name, n)
			}
		}
	})
}

func TestLengths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Best().Mul(make([]float32, 3), make([]float32, 3), make([]float32, 2))
}

func BenchmarkOperations(bench *testing.B) {
	for _, v := range Variants() {
		if v.Available() != nil {
			continue
		}
		for _, o := range operations {
			for _, n := range []int{256, 4096} {
				bench.Run(fmt.Sprintf("variant:%s/operation:%s/numbers:%d", v.Name, o.name, n), func(bench *testing.B) {
					var x [4][]float32
					for i := range x {
						x[i] = make([]float32, n)
						for k := range x[i] {
							x[i][k] = float32(k%17) / 17
						}
					}
					for bench.Loop() {
						o.run(v, x)
					}
					bench.ReportMetric(bench.Elapsed().Seconds()*1e9/float64(bench.N*n), "ns/number")
				})
			}
		}
	}
}

package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/internal/half"
)

// A surrogate is the function, in float64, whose gradient a layer claims to
// give: of x and of each parameter.
type surrogate func(x []float64, params [][]float64) []float64

// checkGradients compares a layer's results with a function's, and its
// gradients with finite differences of the loss Σ c·sin(y).
func checkGradients(t *testing.T, l Layer, x []float32, f surrogate) {
	t.Helper()
	for _, p := range l.Params() {
		for i := range p.Grad {
			p.Grad[i] = 1 // Backward adds
		}
	}
	y := l.Forward(x)
	x64, params := widen(x), [][]float64{}
	for _, p := range l.Params() {
		params = append(params, widen(p.W))
	}
	closeTo(t, "result", widen(y), f(x64, params), 1e-5)
	loss := func() (sum float64) {
		for i, v := range f(x64, params) {
			sum += weightOf(i) * math.Sin(v)
		}
		return sum
	}
	grad := make([]float32, len(y))
	for i, v := range y {
		grad[i] = float32(weightOf(i) * math.Cos(float64(v)))
	}
	closeTo(t, "gradient of x", widen(l.Backward(grad)), differences(loss, x64), 1e-4)
	for i, p := range l.Params() {
		want := differences(loss, params[i])
		for k := range want {
			want[k]++
		}
		closeTo(t, "gradient of "+p.Name, widen(p.Grad), want, 1e-4)
	}
}

// weightOf makes the losses of results differ.
func weightOf(i int) float64 { return 0.5 + float64(i%7)/7 }

// differences returns ∂f/∂v.
func differences(f func() float64, v []float64) []float64 {
	const h = 1e-5
	d := make([]float64, len(v))
	for i, at := range v {
		v[i] = at + h
		above := f()
		v[i] = at - h
		d[i] = (above - f()) / (2 * h)
		v[i] = at
	}
	return d
}

// closeTo wants got to be within a part of the largest of want.
func closeTo(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if i := firstBeyond(got, want, tolerance); i >= 0 {
		t.Errorf("%s %d is %v, want %v", what, i, got[i], want[i])
	}
}

func firstBeyond(got, want []float64, tolerance float64) int {
	var most float64
	for _, v := range want {
		most = max(most, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tolerance*most) {
			return i
		}
	}
	return -1
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func randomRows(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// roundWeights64 is each form's formula, as its source has it.
var roundWeights64 = map[*Form]func(w []float64) (q []float64, gamma float64){
	Float: func(w []float64) ([]float64, float64) { return slices.Clone(w), 0 },
	NanoLogic: func(w []float64) ([]float64, float64) {
		var mean, gamma float64
		for _, v := range w {
			mean += v / float64(len(w))
		}
		for _, v := range w {
			gamma += math.Abs(v-mean) / float64(len(w))
		}
		return digits64(w, mean, gamma+1e-5, gamma), gamma
	},
	B158: func(w []float64) ([]float64, float64) {
		var gamma float64
		for _, v := range w {
			gamma += math.Abs(v) / float64(len(w))
		}
		return digits64(w, 0, max(gamma, 1e-5), max(gamma, 1e-5)), max(gamma, 1e-5)
	},
	OneBit: func(w []float64) ([]float64, float64) {
		var q []float64
		for block := range slices.Chunk(w, 128) {
			var mean float64
			for _, v := range block {
				mean += math.Abs(v) / 128
			}
			d := float64(half.ToFloat32(half.FromFloat32(float32(mean))))
			for _, v := range block {
				if v < 0 {
					q = append(q, -d)
				} else {
					q = append(q, d)
				}
			}
		}
		return q, 0
	},
}

func digits64(w []float64, mean, divisor, gamma float64) []float64 {
	q := make([]float64, len(w))
	for i, v := range w {
		q[i] = gamma * min(max(math.RoundToEven((v-mean)/divisor), -1), 1)
	}
	return q
}

// roundRows64 is each rounding's formula.
var roundRows64 = map[*Rounding]func(row []float64) []float64{
	NoRounding:    slices.Clone[[]float64],
	NanoLogicRows: func(row []float64) []float64 { return int8s64(row, 127/(most64(row)+1e-5)) },
	Q8Row:         func(row []float64) []float64 { return int8s64(row, 127/max(most64(row), 1e-5)) },
	Q8Per128:      func(row []float64) []float64 { return groups64(row, 128, func(s float64) float64 { return s }) },
	Q8Per32: func(row []float64) []float64 {
		return groups64(row, 32, func(s float64) float64 { return float64(half.ToFloat32(half.FromFloat32(float32(s)))) })
	},
}

func most64(row []float64) (most float64) {
	for _, v := range row {
		most = max(most, math.Abs(v))
	}
	return most
}

func int8s64(row []float64, scale float64) []float64 {
	q := make([]float64, len(row))
	for i, v := range row {
		q[i] = min(max(math.RoundToEven(v*scale), -128), 127) / scale
	}
	return q
}

func groups64(row []float64, size int, stored func(float64) float64) (out []float64) {
	for group := range slices.Chunk(row, size) {
		scale := most64(group) / 127
		for _, v := range group {
			out = append(out, math.RoundToEven(v/scale)*stored(scale))
		}
	}
	return out
}

// surrogateOf returns the function that a BitLinear differentiates: what
// rounding changes is a constant, found once at x and the parameters as they are.
func surrogateOf(l *BitLinear, x []float32) surrogate {
	w0, x0 := widen(l.Weight.W), widen(x)
	q, gamma := roundWeights64[l.opt.Form](w0)
	if l.opt.HalfScale {
		stored := float64(half.ToFloat32(half.FromFloat32(float32(gamma))))
		for i := range q {
			q[i] *= stored / gamma
		}
		gamma = stored
	}
	var xq []float64
	for row := range slices.Chunk(x0, l.In) {
		xq = append(xq, roundRows64[l.opt.Rounding](row)...)
	}
	return func(x []float64, params [][]float64) []float64 {
		w := params[0]
		y := make([]float64, len(x)/l.In*l.Out)
		for at := range y {
			r, o := at/l.Out, at%l.Out
			for i := range l.In {
				xi, wi := r*l.In+i, o*l.In+i
				rounded := x[xi] + xq[xi] - x0[xi]
				if l.opt.Gradient == Exact {
					y[at] += rounded * (w[wi] + q[wi] - w0[wi])
				} else {
					y[at] += rounded*q[wi] + x0[xi]*(w[wi]-w0[wi])/(gamma+1e-5)
				}
			}
			if l.Bias != nil {
				y[at] += params[1][o]
			}
		}
		return y
	}
}

func TestHalfScaleGradients(t *testing.T) {
	for _, form := range []*Form{NanoLogic, B158} {
		for _, gradient := range []Gradient{Exact, InverseScale} {
			l := NewBuilder(nil, 1).BitLinear("l", 9, 4, Options{Form: form, Gradient: gradient, HalfScale: true})
			x := randomRows(2, 6*9)
			checkGradients(t, l, x, surrogateOf(l, x))
		}
	}
}

func TestBitLinearGradients(t *testing.T) {
	for _, form := range Forms() {
		for _, rounding := range Roundings() {
			for _, gradient := range []Gradient{Exact, InverseScale} {
				for _, bias := range []bool{false, true} {
					opt := Options{Form: form, Rounding: rounding, Gradient: gradient, Bias: bias}
					rows, in := 6, 9
					if form == OneBit {
						rows, in = 2, 128
					}
					if opt.Check(in, 4) != nil {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%v/bias=%t", form.Name, rounding.Name, gradient, bias), func(t *testing.T) {
						l := NewBuilder(nil, 1).BitLinear("l", in, 4, opt)
						x := randomRows(2, rows*in)
						checkGradients(t, l, x, surrogateOf(l, x))
					})
				}
			}
		}
	}
}

// The two gradients differ by far more than the tolerance: a check of one doesn't
// pass the other.
func TestGradientsDiffer(t *testing.T) {
	b := NewBuilder(nil, 1)
	x := randomRows(2, 6*9)
	grads := map[Gradient][]float64{}
	for _, gradient := range []Gradient{Exact, InverseScale} {
		l := b.BitLinear("l", 9, 4, Options{Form: NanoLogic, Gradient: gradient})
		l.Forward(x)
		l.Backward(randomRows(3, 6*4))
		grads[gradient] = widen(l.Weight.Grad)
		if gradient == InverseScale {
			// Beside the rounding of x, they differ by the factor 1/(γ+1e-5).
			for i := range grads[gradient] {
				grads[gradient][i] *= float64(l.Scale()) + 1e-5
			}
			closeTo(t, "gradient·γ", grads[gradient], grads[Exact], 0.02)
		}
	}
	if firstBeyond(grads[InverseScale], grads[Exact], 1e-4) < 0 {
		t.Error("x was not rounded in one of them")
	}
}

func TestNormGradients(t *testing.T) {
	for _, withMeans := range []bool{false, true} {
		b := NewBuilder(nil, 1)
		n := b.RMSNorm("n", 7, 1e-2)
		if withMeans {
			n = b.LayerNorm("n", 7, 1e-2)
			b.uniform(n.Bias, 1)
		}
		b.uniform(n.Gain, 2)
		checkGradients(t, n, randomRows(2, 5*7), func(x []float64, params [][]float64) []float64 {
			var y []float64
			for row := range slices.Chunk(x, 7) {
				var mean, square float64
				for _, v := range row {
					if withMeans {
						mean += v / 7
					}
				}
				for _, v := range row {
					square += (v - mean) * (v - mean) / 7
				}
				for i, v := range row {
					u := (v - mean) / math.Sqrt(square+1e-2) * params[0][i]
					if withMeans {
						u += params[1][i]
					}
					y = append(y, u)
				}
			}
			return y
		})
	}
}

func TestPointwiseGradients(t *testing.T) {
	exact := map[string]func(float64) float64{
		"tanh":    math.Tanh,
		"sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"silu":    func(x float64) float64 { return x / (1 + math.Exp(-x)) },
		"relu2":   func(x float64) float64 { return max(x, 0) * max(x, 0) },
	}
	for _, f := range Functions() {
		t.Run(f.Name, func(t *testing.T) {
			checkGradients(t, NewBuilder(nil, 1).Pointwise(f), randomRows(2, 50), func(x []float64, _ [][]float64) []float64 {
				y := make([]float64, len(x))
				for i, v := range x {
					y[i] = exact[f.Name](v)
				}
				return y
			})
		})
	}
}

// A Sequence hands gradients through, and a tied layer adds to the same parameters.
func TestSequenceGradients(t *testing.T) {
	b := NewBuilder(nil, 1)
	first := b.Linear("l", 5, 5, true)
	s := Sequence{first, b.Pointwise(Tanh), first.Tied()}
	if n := len(s.Params()); n != 4 {
		t.Fatalf("%d parameters, want those of two layers", n)
	}
	shared := sharing{s, first}
	checkGradients(t, shared, randomRows(2, 3*5), func(x []float64, params [][]float64) []float64 {
		linear := func(x []float64) (y []float64) {
			for row := range slices.Chunk(x, 5) {
				for o := range 5 {
					sum := params[1][o]
					for i, v := range row {
						sum += v * params[0][5*o+i]
					}
					y = append(y, sum)
				}
			}
			return y
		}
		y := linear(x)
		for i, v := range y {
			y[i] = math.Tanh(v)
		}
		return linear(y)
	})
}

// sharing counts shared parameters once.
type sharing struct {
	Sequence
	owner Layer
}

func (s sharing) Params() []*Param { return s.owner.Params() }

func TestEmbeddingGradients(t *testing.T) {
	b := NewBuilder(nil, 1)
	e := b.Embedding("e", 6, 70, 1)
	ids := []int32{3, 0, 3, 5}
	grad := randomRows(2, len(ids)*70)
	y := e.Forward(ids)
	e.Backward(grad)
	want := make([]float64, 6*70)
	for r, id := range ids {
		for i := range 70 {
			if y[r*70+i] != e.Weight.W[int(id)*70+i] {
				t.Fatalf("row %d is not that of symbol %d", r, id)
			}
			want[int(id)*70+i] += float64(grad[r*70+i])
		}
	}
	closeTo(t, "gradient", widen(e.Params()[0].Grad), want, 1e-6)
}

func TestLossGradients(t *testing.T) {
	const classes = 5
	logits, targets := randomRows(2, 4*classes), []int32{0, 4, -1, 2}
	z := widen(logits)
	crossEntropy := func() (sum float64) {
		for r, target := range targets {
			if target < 0 {
				continue
			}
			var total float64
			for _, v := range z[r*classes : (r+1)*classes] {
				total += math.Exp(v)
			}
			sum += math.Log(total) - z[r*classes+int(target)]
		}
		return sum / 3
	}
	grad := make([]float32, len(logits))
	loss := CrossEntropy(nil, grad, logits, targets, classes)
	closeTo(t, "cross entropy", []float64{loss}, []float64{crossEntropy()}, 1e-6)
	closeTo(t, "gradient", widen(grad), differences(crossEntropy, z), 1e-5)

	bits := make([]float32, len(logits))
	for i := range bits {
		bits[i] = float32(i%4) / 3
	}
	binary := func() (sum float64) {
		for i, v := range z {
			p := 1 / (1 + math.Exp(-v))
			sum -= float64(bits[i])*math.Log(p) + (1-float64(bits[i]))*math.Log(1-p)
		}
		return sum / float64(len(z))
	}
	loss = BinaryCrossEntropy(nil, grad, logits, bits)
	closeTo(t, "binary cross entropy", []float64{loss}, []float64{binary()}, 1e-6)
	closeTo(t, "gradient", widen(grad), differences(binary, z), 1e-5)
}

// Losses of logits that exp would take beyond float64 are finite.
func TestLossesOfLargeLogits(t *testing.T) {
	grad := make([]float32, 2)
	if loss := CrossEntropy(nil, grad, []float32{3e4, -3e4}, []int32{1}, 2); loss != 6e4 {
		t.Errorf("cross entropy is %v, want 6e4", loss)
	}
	if loss := BinaryCrossEntropy(nil, grad, []float32{3e4, -3e4}, []float32{0, 1}); loss != 3e4 {
		t.Errorf("binary cross entropy is %v, want 3e4", loss)
	}
}

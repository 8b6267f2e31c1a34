package shaders

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	_ "onebit/kernels/all"
	"onebit/kernels/kerneltest"
	"onebit/metal/softmetal"
)

func compile(t *testing.T, source string, constants map[int]any) library {
	t.Helper()
	if runtime.GOOS != "linux" {
		return host(t, source, constants)
	}
	if _, err := exec.LookPath("g++"); err != nil {
		require.Skip(t, "g++", err.Error())
	}
	l, err := softmetal.Compile(source, constants)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// tensorOf returns a matrix of random weights, all of whose codes count.
func tensorOf(t *testing.T, format *formats.Type, rows, cols int, rng *rand.Rand) *formats.Tensor {
	t.Helper()
	if bits := layoutOf(PackedType(format)).Bits; bits == 1 || bits == 2 {
		return kerneltest.Tensor(t, format, rows, cols, rng)
	}
	tensor := kerneltest.Quantize(t, format, rows, cols, normal(rng, rows*cols))
	if format == formats.Q4_K { // whose quantizer makes steps and offsets of one number
		for i := range tensor.Data {
			if i%144 >= 4 {
				tensor.Data[i] = byte(rng.Uint32())
			}
		}
	}
	return tensor
}

// A product is a matrix, quantized activations, and what package kernels says
// that their product is.
type product struct {
	codes  Codes
	tensor *formats.Tensor
	a      *kernels.Activations
	want   []float32
	// size is, for each result, the sum of what its terms are without their
	// sign: what rounding is relative to.
	size  []float32
	shape Shape
}

// layoutOf returns the codes of a format, none of floats.
func layoutOf(t *formats.Type) Codes {
	c, _ := CodesOf(t)
	return c
}

func newProduct(t *testing.T, tensor *formats.Tensor, scheme kernels.Scheme, x []float32, n int) *product {
	t.Helper()
	rows, cols := tensor.Dims()
	packed, err := Pack(tensor)
	if err != nil {
		t.Fatal(err)
	}
	c := layoutOf(packed.Type)
	v, err := kernels.Lookup(tensor.Type.Name, "scalar", scheme)
	if err != nil {
		t.Fatal(err)
	}
	m, err := v.Pack(tensor, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &product{codes: c, tensor: packed, a: &kernels.Activations{}, want: make([]float32, n*rows)}
	v.Prepare(p.a, x, n, cols)
	v.Rows(p.want, m, p.a, 0, rows)
	p.size = sizes(t, tensor, x, n)
	group := scheme.GroupLen(cols)
	p.shape = Shape{uint32(rows), uint32(cols), uint32(c.RowBytes(cols)), uint32(p.a.Stride), uint32(p.a.Groups), uint32(group), m.Scale, uint32(n)}
	return p
}

// sizes returns Σ|w·x| of every result, in float64 rounded once.
func sizes(t *testing.T, tensor *formats.Tensor, x []float32, n int) []float32 {
	t.Helper()
	w, rows, cols := weights(t, tensor)
	out := make([]float32, n*rows)
	for i := range out {
		var sum float64
		for k := range cols {
			sum += math.Abs(float64(w[i%rows*cols+k]) * float64(x[i/rows*cols+k]))
		}
		out[i] = float32(sum)
	}
	return out
}

func weights(t *testing.T, tensor *formats.Tensor) (w []float32, rows, cols int) {
	t.Helper()
	rows, cols = tensor.Dims()
	w = make([]float32, rows*cols)
	if err := tensor.Matrix().Dequantize(w); err != nil {
		t.Fatal(err)
	}
	return w, rows, cols
}

// rows runs matvec_rows.
func (p *product) rows(l library) ([]float32, error) {
	y := poisoned(len(p.want))
	return y, l.Dispatch("matvec_rows", [3]int{int(p.shape.Rows), p.a.N, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, p.tensor.Data), softmetal.Buffer(1, p.a.Q), softmetal.Buffer(2, p.a.Scales),
		softmetal.Buffer(3, y), softmetal.Value(4, p.shape))
}

// simd runs matvec_simd with so many simdgroups in a threadgroup.
func (p *product) simd(l library, simdgroups int) ([]float32, error) {
	s := p.shape
	s.RowBytes = uint32(p.codes.SplitRowBytes(int(s.Cols)))
	split, scales := p.codes.Split(p.tensor.Data, int(s.Rows), int(s.Cols))
	if len(scales) == 0 {
		scales = []byte{0, 0} // a buffer has to be there
	}
	y := poisoned(len(p.want))
	groups := (int(s.Rows) + 4*simdgroups - 1) / (4 * simdgroups)
	return y, l.Dispatch("matvec_simd", [3]int{groups * simdgroups * 32, p.a.N, 1}, [3]int{simdgroups * 32, 1, 1},
		softmetal.Buffer(0, split), softmetal.Buffer(1, scales), softmetal.Buffer(2, p.a.Q), softmetal.Buffer(3, p.a.Scales),
		softmetal.Buffer(4, y), softmetal.Value(5, s))
}

// naive runs matvec_naive on the columns of x, one after the other.
func (p *product) naive(l library, x []float32) ([]float32, error) {
	y := poisoned(len(p.want))
	rows, cols := int(p.shape.Rows), int(p.shape.Cols)
	for c := range p.a.N {
		err := l.Dispatch("matvec_naive", [3]int{rows, 1, 1}, [3]int{32, 1, 1}, softmetal.Buffer(0, p.tensor.Data),
			softmetal.Buffer(1, x[c*cols:(c+1)*cols]), softmetal.Buffer(2, y[c*rows:(c+1)*rows]), softmetal.Value(3, p.shape))
		if err != nil {
			return nil, err
		}
	}
	return y, nil
}

// of returns the result of a run, which must not fail, but may need more than the
// device has.
func of(t *testing.T) func([]float32, error) []float32 {
	return func(y []float32, err error) []float32 {
		t.Helper()
		if errors.Is(err, errBeforeApple7) {
			require.Skip(t, "apple7", err.Error())
		}
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
}

func poisoned(n int) []float32 {
	y := make([]float32, n)
	for i := range y {
		y[i] = float32(math.NaN())
	}
	return y
}

// same fails unless got is want to the bit.
func same(t *testing.T, kernel string, got, want []float32) {
	t.Helper()
	if err := kerneltest.Same(got, want); err != nil {
		t.Errorf("%s: %v", kernel, err)
	}
}

// near fails if a result is further from want than so many roundings of its
// size: a sum of n terms, in any order, is wrong by at most n·2⁻²⁴ of the sum of
// their magnitudes to first order (Higham, Accuracy and Stability of Numerical
// Algorithms, 4.2).
func near(t *testing.T, kernel string, got, want, size []float32, roundings int) {
	t.Helper()
	for i := range got {
		if bound := float64(roundings) * 0x1p-24 * float64(size[i]); !(math.Abs(float64(got[i])-float64(want[i])) <= bound) {
			t.Errorf("%s: result %d is %v, want %v within %.3g", kernel, i, got[i], want[i], bound)
			return
		}
	}
}

// shapesOf returns legal shapes of a format, with edges: one row, rows that fill
// no simdgroup, columns that fill no vector, more chunks than lanes.
func shapesOf(t *formats.Type) [][2]int {
	block := t.BlockLen
	if t == formats.I2_S_X4 { // four rows a byte
		return [][2]int{{4, 17}, {12, 130}, {8, 4353}}
	}
	all := [][2]int{{1, block}, {5, 3 * block}, {9, max(block, 4352/block*block)}}
	if block == 1 {
		all = append(all, [2]int{3, 17}, [2]int{4, 63}, [2]int{7, 65}, [2]int{2, 130})
	}
	return all
}

// codeTypes are the formats that have codes, or are packed to one that has.
func codeTypes() (out []*formats.Type) {
	for _, t := range formats.Types() {
		if _, err := CodesOf(PackedType(t)); err == nil {
			out = append(out, t)
		}
	}
	return out
}

// eachProduct multiplies half of the shapes of each format under each scheme.
func eachProduct(t *testing.T, do func(t *testing.T, tt *formats.Type, rows, cols, n int, scheme kernels.Scheme, rng *rand.Rand)) {
	for _, tt := range codeTypes() {
		for _, s := range require.Draw(t, 2, shapesOf(tt)) {
			for i, scheme := range []kernels.Scheme{kernels.Q8Row, kernels.Q8Per128, kernels.Q8Per32} {
				t.Run(fmt.Sprintf("%s/%dx%d/%s", tt.Name, s[0], s[1], scheme), func(t *testing.T) {
					do(t, tt, s[0], s[1], 1+i, scheme, rand.New(rand.NewPCG(uint64(s[0]), uint64(s[1]))))
				})
			}
		}
	}
}

// Where all scales are 1, results are the integer sums themselves.
func TestIntegerSums(t *testing.T) {
	eachProduct(t, func(t *testing.T, tt *formats.Type, rows, cols, n int, scheme kernels.Scheme, rng *rand.Rand) {
		if tt == formats.Q6_K {
			return // it has no scale of 1
		}
		w, x := make([]float32, rows*cols), make([]float32, n*cols)
		for i := range w {
			w[i] = float32(rng.IntN(2)*2 - 1)
			if largest := map[*formats.Type]float32{formats.Q8_0: 127, formats.Q4_0: -8, formats.Q5_0: -16, formats.IQ4_NL: -127}[tt]; largest != 0 && i%cols%32 == 0 {
				w[i] = largest // which makes the scale 1
			}
		}
		for i := range x {
			x[i] = float32(rng.IntN(255) - 127)
			if i%cols%32 == 0 {
				x[i] = 127
			}
		}
		p := newProduct(t, kerneltest.Quantize(t, tt, rows, cols, w), scheme, x, n)
		for _, s := range p.a.Scales {
			if s != 1 {
				t.Fatalf("a scale is %v, and the sums are no integers", s)
			}
		}
		l := compile(t, MatVec, p.codes.Constants())
		same(t, "matvec_rows", of(t)(p.rows(l)), p.want)
		same(t, "matvec_naive", of(t)(p.naive(l, x)), p.want)
		if p.codes.Bits != 4 { // which matvec_simd has not
			same(t, "matvec_simd", of(t)(p.simd(l, 2)), p.want)
		}
	})
}

// matvec_rows adds in the order of package kernels, and so does matvec_simd
// where it adds integers only.
func TestMatVec(t *testing.T) {
	eachProduct(t, func(t *testing.T, tt *formats.Type, rows, cols, n int, scheme kernels.Scheme, rng *rand.Rand) {
		tensor := tensorOf(t, tt, rows, cols, rng)
		x := normal(rng, n*cols)
		p := newProduct(t, tensor, scheme, x, n)
		l := compile(t, MatVec, p.codes.Constants())
		same(t, "matvec_rows", of(t)(p.rows(l)), p.want)
		if p.codes.Bits == 4 || p.codes.Bits == 6 {
			return // which matvec_simd has not
		}
		got := of(t)(p.simd(l, 1))
		if p.codes.BlockColumns == 0 && p.a.Groups == 1 {
			same(t, "matvec_simd", got, p.want)
		} else {
			// A piece is 16 columns at least. Each term is rounded twice before
			// it is added, here and in package kernels; quantization makes the
			// terms larger than Σ|w·x| by half a step each at most.
			near(t, "matvec_simd", got, p.want, withSteps(t, p), cols/16+8+4)
		}
	})
}

// withSteps returns the sizes with the rounding of every activation: half of its
// group's scale.
func withSteps(t *testing.T, p *product) []float32 {
	t.Helper()
	w, rows, cols := weights(t, p.tensor)
	out := make([]float32, len(p.size))
	for i := range out {
		c, sum := i/rows, float64(p.size[i])
		for k := range cols {
			sum += math.Abs(float64(w[i%rows*cols+k])) * float64(p.a.Scale(c, k/int(p.shape.ActColumns))) / 2
		}
		out[i] = float32(sum)
	}
	return out
}

// The kernel of cellm adds cols products, each of three factors, in float.
func TestNaive(t *testing.T) {
	eachProduct(t, func(t *testing.T, tt *formats.Type, rows, cols, n int, scheme kernels.Scheme, rng *rand.Rand) {
		if scheme != kernels.Q8Row {
			return // which naive has none of
		}
		tensor := kerneltest.Tensor(t, tt, rows, cols, rng)
		x := normal(rng, n*cols)
		p := newProduct(t, tensor, scheme, x, n)
		w, _, _ := weights(t, tensor)
		want := make([]float32, len(p.want))
		for i := range want {
			var sum float64
			for k := range cols {
				sum += float64(w[i%rows*cols+k]) * float64(x[i/rows*cols+k])
			}
			want[i] = float32(sum)
		}
		near(t, "matvec_naive", of(t)(p.naive(compile(t, MatVec, p.codes.Constants()), x)), want, p.size, cols+4)
	})
}

func TestQuantize(t *testing.T) {
	for i, scheme := range []kernels.Scheme{kernels.Q8Row, kernels.Q8Per128, kernels.Q8Per32} {
		for _, cols := range []int{1, 31, 128, 130, 700} {
			t.Run(fmt.Sprintf("%s/%d", scheme, cols), func(t *testing.T) {
				x := adversarial(rand.New(rand.NewPCG(1, uint64(cols))), cols)
				if err := checkQuantize(compile(t, Quantize, map[int]any{0: uint32(i)}), scheme, x, cols); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// checkQuantize compares the kernel with package kernels, to the bit.
func checkQuantize(l library, scheme kernels.Scheme, x []float32, cols int) error {
	v, err := kernels.Lookup("ternary_u32", "scalar", scheme)
	if err != nil {
		return err
	}
	n, want := len(x)/cols, &kernels.Activations{}
	v.Prepare(want, x, n, cols)
	q, scales := bytes.Repeat([]byte{99}, len(want.Q)), poisoned(len(want.Scales))
	columns := struct{ Cols, Stride, Groups, Group uint32 }{uint32(cols), uint32(want.Stride), uint32(want.Groups), uint32(scheme.GroupLen(cols))}
	err = l.Dispatch("quantize", [3]int{64 * want.Groups, n, 1}, [3]int{64, 1, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, q), softmetal.Buffer(2, scales), softmetal.Value(3, columns))
	if err != nil {
		return err
	}
	for i := range q {
		if int8(q[i]) != want.Q[i] {
			return fmt.Errorf("q[%d] of column %d is %d, want %d", i%want.Stride, i/want.Stride, int8(q[i]), want.Q[i])
		}
	}
	return kerneltest.Same(scales, want.Scales)
}

// adversarial returns columns of common values, ties, zeros, numbers at both
// ends of float32, infinities and NaNs.
func adversarial(rng *rand.Rand, cols int) []float32 {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	kinds := []func(i int) float32{
		func(int) float32 { return float32(rng.NormFloat64()) },
		func(i int) float32 { return float32(i%255) - 127 + 0.5*float32(i%2) },
		func(int) float32 { return 0 },
		func(i int) float32 { return 1e-6 * float32(i%9) },
		func(i int) float32 { return math.MaxFloat32 / float32(1+i%5) },
		func(i int) float32 { return 8321040 - float32(i%3) },
		func(i int) float32 { return []float32{1, inf, -2, 3}[i%4] },
		func(i int) float32 { return []float32{1, -inf, nan, 0, 5}[i%5] },
		func(i int) float32 { return 0x1p-149 * float32(1+i%7) }, // which a GPU takes for zeros
	}
	x := make([]float32, 0, len(kinds)*cols)
	for _, kind := range kinds {
		for i := range cols {
			x = append(x, kind(i))
		}
	}
	return x
}

// Rows are dequantized to the bit, wherever they stand.
func TestEmbed(t *testing.T) {
	eachProduct(t, func(t *testing.T, tt *formats.Type, rows, cols, n int, scheme kernels.Scheme, rng *rand.Rand) {
		if scheme != kernels.Q8Row {
			return // weights have no scheme
		}
		p := newProduct(t, kerneltest.Tensor(t, tt, rows, cols, rng), scheme, normal(rng, cols), 1)
		w, _, _ := weights(t, p.tensor)
		ids := []uint32{uint32(rows) - 1, 0, uint32(rows / 2)}
		y := poisoned(len(ids) * cols)
		err := compile(t, MatVec, p.codes.Constants()).Dispatch("embed", [3]int{(cols + 31) / 32 * 32, len(ids), 1}, [3]int{32, 1, 1},
			softmetal.Buffer(0, p.tensor.Data), softmetal.Buffer(1, ids), softmetal.Buffer(2, y), softmetal.Value(3, p.shape))
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			for k, want := range w[int(id)*cols:][:cols] {
				if got := y[i*cols+k]; got != want {
					t.Fatalf("column %d of row %d is %v, want %v", k, id, got, want)
				}
			}
		}
	})
}

func TestCodesOf(t *testing.T) {
	if _, err := CodesOf(formats.F16); err == nil || err.Error() != "no Metal shader multiplies f16" {
		t.Errorf("error %v for f16", err)
	}
}

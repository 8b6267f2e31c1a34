// Package kerneltest is the conformance suite that every variant of package
// kernels passes, whatever it runs on.
//
// By default a part of the shapes is drawn, another in each run of the tests;
// ONEBIT_ALL=1 takes all of them.
//
// Two oracles: kernels.Reference, float64 on dequantized weights, bounds the
// error; the variant scalar of the same scheme, the generic path, is equalled
// bit for bit. All buffers a kernel reads are read-only and, like those it
// writes, end where an inaccessible page begins.
package kerneltest

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/deviation"
	"onebit/internal/guard"
	"onebit/internal/require"
	"onebit/kernels"
	_ "onebit/kernels/all" // its variants called scalar are what others equal
)

// Run holds v to the suite. It skips, naming what is missing, if v can't run
// here; under ONEBIT_REQUIRE=avx2,… a skip for lack of one of these is a failure.
func Run(t *testing.T, v *kernels.Variant) {
	Require(t, v)
	t.Run("threads and batches", func(t *testing.T) { threadsAndBatches(t, v) })
	if require.Race {
		return // one thread computes what follows
	}
	if v.Name != "scalar" { // which these compare with
		t.Run("shapes", func(t *testing.T) { shapes(t, v) })
		t.Run("long rows", func(t *testing.T) { longRows(t, v) })
		t.Run("misaligned", func(t *testing.T) { misaligned(t, v) })
	}
	t.Run("not finite", func(t *testing.T) { notFinite(t, v) })
	t.Run("reference", func(t *testing.T) { againstReference(t, v) })
	t.Run("allocations", func(t *testing.T) { allocations(t, v) })
}

// Require skips the test if v can't run on this machine, or fails it if
// ONEBIT_REQUIRE names a feature that is missing.
func Require(t *testing.T, v *kernels.Variant) {
	t.Helper()
	if err := v.Available(); err != nil {
		require.Skip(t, cpu.Detected().Missing(v.ISA.Requires).String(), err.Error())
	}
}

// Same reports the first result whose bits differ; any NaN equals any other.
func Same(got, want []float32) error {
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(isNaN(got[i]) && isNaN(want[i])) {
			return fmt.Errorf("result %d is %v (%#x), the generic path gives %v (%#x)",
				i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
	return nil
}

func isNaN(x float32) bool { return x != x }

// legal returns up to count of the smallest column counts that t can hold.
func legal(t *formats.Type, count int) []int {
	var out []int
	for n := 1; n <= count; n++ {
		out = append(out, n*t.BlockLen)
	}
	return out
}

// legalRows leaves out what the format can't hold (i2_s_x4: multiples of 4).
func legalRows(t *formats.Type, cols int, rows ...int) []int {
	return slices.DeleteFunc(rows, func(r int) bool { _, err := t.Bytes(r, cols); return err != nil })
}

// shapes takes every number of columns up to some, and pairs of patterns: an eighth of
// them, and more of the columns that just fill a vector or just do not.
func shapes(t *testing.T, v *kernels.Variant) {
	rng := rand.New(rand.NewPCG(1, 1))
	count, counts := 9, 10 // how many numbers of columns, and of rows for each
	if v.Format.BlockLen < 32 {
		count, counts = 300, 3
		if testing.Short() {
			count = 140 // two vectors of 64 columns, and their tails
		}
	}
	var edges, others [][2]int
	for _, cols := range legal(v.Format, count) {
		rows := legalRows(v.Format, cols, 1, 2, 3, 4, 5, 8, 15, 16, 17, 36)
		for _, r := range rows[:min(counts, len(rows))] {
			if of := (cols + 1) % 32; of < 3 && v.Format.BlockLen < 32 {
				edges = append(edges, [2]int{r, cols})
			} else {
				others = append(others, [2]int{r, cols})
			}
		}
	}
	for _, s := range slices.Concat(require.Draw(t, 3, edges), require.Draw(t, 8, others)) {
		weights, acts := patterns[rng.IntN(len(patterns))], patterns[rng.IntN(len(patterns))]
		check(t, v, s[0], s[1], 1+rng.IntN(3), weights, acts, rng)
	}
	var pairs [][2]pattern
	for i, weights := range patterns {
		check(t, v, 20, 3*256, 1, weights, weights, rng)
		for j, acts := range patterns {
			if i != j {
				pairs = append(pairs, [2]pattern{weights, acts})
			}
		}
	}
	if testing.Short() {
		return
	}
	for _, p := range require.Draw(t, 8, pairs) {
		check(t, v, 20, 3*256, 1, p[0], p[1], rng)
	}
}

// longRows would wrap any 16-bit sum. The largest sums are always among them.
func longRows(t *testing.T, v *kernels.Variant) {
	rng := rand.New(rand.NewPCG(1, 2))
	cols := 1 << 15
	if testing.Short() {
		cols = 1 << 13
	}
	largest, others := patterns[2:4], slices.Concat(patterns[:2], patterns[4:])
	for _, weights := range slices.Concat(largest, require.Draw(t, 8, others)) {
		tensor := Quantize(t, v.Format, 4, cols, weights.fill(4*cols, rng))
		Check(t, v, tensor, slices.Repeat([]float32{3}, cols), 1, fmt.Sprintf("4×%d, weights %s, activations all large", cols, weights.name))
		Check(t, v, tensor, slices.Repeat([]float32{-3}, 2*cols), 2, fmt.Sprintf("4×%d, 2 columns, weights %s, activations all small", cols, weights.name))
	}
}

// A pattern makes weight or activation i.
type pattern struct {
	name string
	at   func(rng *rand.Rand, i int) float32
}

// patterns are random values and those that are hard on integer kernels:
// every sum at its extreme, every code alone, scales at both ends.
var patterns = []pattern{
	{"ternary", func(rng *rand.Rand, i int) float32 { return float32(rng.IntN(3)-1) * 0.75 }},
	{"normal", func(rng *rand.Rand, i int) float32 { return float32(rng.NormFloat64()) }},
	{"plus", func(*rand.Rand, int) float32 { return 1 }},
	{"minus", func(*rand.Rand, int) float32 { return -1 }},
	{"zero", func(*rand.Rand, int) float32 { return 0 }},
	{"alternating", func(_ *rand.Rand, i int) float32 { return float32(1 - 2*(i&1)) }},
	{"outliers", func(rng *rand.Rand, i int) float32 {
		if i%97 == 0 {
			return 20 * float32(rng.NormFloat64())
		}
		return float32(rng.NormFloat64())
	}},
	{"tiny", func(rng *rand.Rand, i int) float32 { return float32(rng.NormFloat64()) * 1e-6 }},
	{"large", func(rng *rand.Rand, i int) float32 { return float32(rng.NormFloat64()) * 1e3 }},
}

func (p pattern) fill(n int, rng *rand.Rand) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = p.at(rng, i)
	}
	return x
}

// Tensor returns a rows × cols matrix of format t with random ternary weights.
func Tensor(tb testing.TB, t *formats.Type, rows, cols int, rng *rand.Rand) *formats.Tensor {
	tb.Helper()
	return Quantize(tb, t, rows, cols, patterns[0].fill(rows*cols, rng))
}

// Quantize returns a rows × cols matrix of format t holding w.
func Quantize(tb testing.TB, t *formats.Type, rows, cols int, w []float32) *formats.Tensor {
	tb.Helper()
	size, err := t.Bytes(rows, cols)
	if err != nil {
		tb.Fatal(err)
	}
	data := make([]byte, size)
	if err := t.Matrix(data, rows, cols).Quantize(w); err != nil {
		tb.Fatal(err)
	}
	return &formats.Tensor{Name: fmt.Sprintf("%s.%dx%d", t.Name, rows, cols), Type: t, Shape: []int{rows, cols}, Data: data}
}

// check compares v with scalar on one matrix and n columns, all of it guarded.
func check(t *testing.T, v *kernels.Variant, rows, cols, n int, weights, acts pattern, rng *rand.Rand) {
	t.Helper()
	tensor := Quantize(t, v.Format, rows, cols, weights.fill(rows*cols, rng))
	Check(t, v, tensor, acts.fill(n*cols, rng), n, fmt.Sprintf("%d×%d, %d columns, weights %s, activations %s", rows, cols, n, weights.name, acts.name))
}

// Check compares v with scalar of the same scheme on one tensor and n
// columns x, and returns what v gave. Everything is in guarded memory.
func Check(t testing.TB, v *kernels.Variant, tensor *formats.Tensor, x []float32, n int, what string) []float32 {
	t.Helper()
	want := expected(t, v, tensor, x, n)
	t2 := *tensor
	t2.Data = guard.CopyReadOnly(t, tensor.Data)
	got := Guarded(t, v, &t2, x, n, what)
	if err := Same(got, want); err != nil {
		t.Errorf("%v: %s: %v", v, what, err)
	}
	return got
}

// A question is a product under a scheme, its operands by their digests.
type question struct {
	format        *formats.Type
	scheme        kernels.Scheme
	rows, cols, n int
	weights, x    uint64
}

// answers are those of the generic path: variants of a format and scheme are asked the
// same, and it is slow.
var (
	answers sync.Map // of question
	digest  = maphash.MakeSeed()
)

// expected is what the generic path computes.
func expected(t testing.TB, v *kernels.Variant, tensor *formats.Tensor, x []float32, n int) []float32 {
	t.Helper()
	rows, cols := tensor.Dims()
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
	q := question{v.Format, v.Scheme, rows, cols, n, maphash.Bytes(digest, tensor.Data), maphash.Bytes(digest, bytes)}
	if y, ok := answers.Load(q); ok {
		return y.([]float32)
	}
	y := Rows(t, Scalar(t, v), tensor, x, n, 0, rows)
	answers.Store(q, y)
	return y
}

// Scalar returns the generic path of v's format and scheme.
func Scalar(t testing.TB, v *kernels.Variant) *kernels.Variant {
	t.Helper()
	scalar, err := kernels.Lookup(v.Format.Name, "scalar", v.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	return scalar
}

// Rows multiplies rows [r0, r1) of a tensor with n columns x. Results of other rows are 12345.
func Rows(t testing.TB, v *kernels.Variant, tensor *formats.Tensor, x []float32, n, r0, r1 int) []float32 {
	t.Helper()
	m, err := v.Pack(tensor, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var a kernels.Activations
	v.Prepare(&a, x, n, m.Cols)
	y := slices.Repeat([]float32{12345}, n*m.Rows)
	v.Rows(y, m, &a, r0, r1)
	return y
}

// Guarded multiplies with every buffer in guarded memory.
func Guarded(t testing.TB, v *kernels.Variant, tensor *formats.Tensor, x []float32, n int, what string) []float32 {
	t.Helper()
	rows, cols := tensor.Dims()
	size, err := v.Layout.Bytes(v.Format, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	packed := guard.New(t, size)
	var y []float32
	err = guard.Catch(func() {
		m, err := v.PackInto(packed.Bytes(), tensor, nil)
		if err != nil {
			t.Fatal(err)
		}
		packed.ReadOnly(t)
		var a kernels.Activations
		a.Alloc = func(bytes int) []byte { return guard.New(t, bytes).Bytes() }
		v.Prepare(&a, guard.CopyReadOnly(t, x), n, cols)
		y = guard.Copy(t, make([]float32, n*rows))
		v.Rows(y, m, &a, 0, rows)
	})
	if err != nil {
		t.Fatalf("%v: %s: %v", v, what, err)
	}
	return y
}

// misaligned gives native kernels data that begins anywhere.
func misaligned(t *testing.T, v *kernels.Variant) {
	rng := rand.New(rand.NewPCG(1, 3))
	rows, cols := 20, 512
	tensor := Quantize(t, v.Format, rows, cols, patterns[0].fill(rows*cols, rng))
	x := patterns[1].fill(cols, rng)
	want := expected(t, v, tensor, x, 1)
	offsets := make([]int, 64)
	for i := range offsets {
		offsets[i] = i
	}
	for _, off := range require.Draw(t, 8, offsets) {
		b := guard.Misaligned(t, len(tensor.Data), off)
		copy(b.Bytes(), tensor.Data)
		moved := *tensor
		moved.Data = b.Bytes()
		if err := Same(Guarded(t, v, &moved, x, 1, fmt.Sprintf("offset %d", off)), want); err != nil {
			t.Errorf("%v: data at offset %d: %v", v, off, err)
		}
	}
}

// threadsAndBatches expects the same bits from every pool, batch size and
// submission: a pool that is one thread, one of several, and with each a column alone
// and a batch. The smaller matrix is cut into the smallest tasks.
func threadsAndBatches(t *testing.T, v *kernels.Variant) {
	alone := [][3]int{{1, 260, 768}, {1, 256, 256}} // threads, rows, columns
	together := [][3]int{{2, 260, 768}, {2, 256, 256}, {5, 260, 768}, {5, 256, 256}}
	if testing.Short() {
		alone, together = nil, [][3]int{{3, 256, 256}}
	}
	require.Procs(t, 5)
	for _, c := range require.Draw(t, 8, slices.Concat(alone, together)) {
		threadsAndBatchesOf(t, v, c[0], c[1], c[2])
	}
}

func threadsAndBatchesOf(t *testing.T, v *kernels.Variant, threads, rows, cols int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 4))
	batches := slices.Concat([]int{1}, require.Draw(t, 8, []int{2, 3, 4, 7, 8, 9, 16, 17}))
	most := slices.Max(batches)
	tensor := Quantize(t, v.Format, rows, cols, patterns[1].fill(rows*cols, rng))
	x := patterns[6].fill(most*cols, rng)
	want := expected(t, v, tensor, x, most)
	pool := kernels.NewPool(threads)
	defer pool.Close()
	m, err := v.Pack(tensor, pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range batches {
		y := make([]float32, n*rows)
		pool.MatMul(y, v, m, x[:n*cols], n)
		if err := Same(y, want[:n*rows]); err != nil {
			t.Errorf("%d threads, %d columns: %v", threads, n, err)
		}
	}
	y1, y2 := make([]float32, rows), make([]float32, rows)
	pool.Do(x[:cols], 1, kernels.Product{Variant: v, Matrix: m, Dst: y1}, kernels.Product{Variant: v, Matrix: m, Dst: y2})
	for _, y := range [][]float32{y1, y2} {
		if err := Same(y, want[:rows]); err != nil {
			t.Errorf("%d threads, two products in one submission: %v", threads, err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// notFinite expects what an infinity or a NaN reaches to be NaN, and nothing
// else.
func notFinite(t *testing.T, v *kernels.Variant) {
	rng := rand.New(rand.NewPCG(1, 5))
	rows, cols := 16, 512
	tensor := Quantize(t, v.Format, rows, cols, patterns[2].fill(rows*cols, rng))
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		x := patterns[1].fill(2*cols, rng)
		x[cols+300] = bad
		for r, got := range Check(t, v, tensor, x, 2, fmt.Sprintf("activation %v", bad)) {
			if finite := got-got == 0; finite == (r >= rows) {
				t.Fatalf("activation %v in column 1: result %d of column %d is %v", bad, r%rows, r/rows, got)
			}
		}
	}
}

// againstReference bounds the error against float64 arithmetic on the same
// (quantized) activations.
func againstReference(t *testing.T, v *kernels.Variant) {
	const bound = 1e-12
	rng := rand.New(rand.NewPCG(1, 6))
	rows, cols := 64, 2048
	tensor := Quantize(t, v.Format, rows, cols, patterns[0].fill(rows*cols, rng))
	x := patterns[1].fill(cols, rng)
	want := make([]float64, rows)
	if err := kernels.Reference(want, tensor, kernels.ReferenceActivations(v.Scheme, x), 0, rows); err != nil {
		t.Fatal(err)
	}
	if nmse := deviation.Of(Guarded(t, v, tensor, x, 1, ""), want).NMSE(); !(nmse <= bound) {
		t.Errorf("NMSE %.3g against the float64 reference, at most %g expected", nmse, bound)
	}
}

// allocations expects none once the pool has seen the shapes.
func allocations(t *testing.T, v *kernels.Variant) {
	rng := rand.New(rand.NewPCG(1, 7))
	rows, cols := 160, 256
	tensor := Quantize(t, v.Format, rows, cols, patterns[1].fill(rows*cols, rng))
	require.Procs(t, 2)
	for _, c := range require.Draw(t, 4, [][2]int{{1, 1}, {1, 8}, {2, 1}, {2, 8}}) {
		threads, n := c[0], c[1]
		pool := kernels.NewPool(threads)
		m, err := v.Pack(tensor, pool)
		if err != nil {
			t.Fatal(err)
		}
		x, y := patterns[1].fill(n*cols, rng), make([]float32, n*rows)
		multiply := func() { pool.MatMul(y, v, m, x, n) }
		multiply()
		if got := testing.AllocsPerRun(5, multiply); got != 0 {
			t.Errorf("%d threads, %d columns: %v allocations per product", threads, n, got)
		}
		m.Close()
		pool.Close()
	}
}

// Normal returns n values of a normal distribution.
func Normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

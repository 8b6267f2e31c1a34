package dense

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/guard"
	"onebit/internal/require"
	"onebit/kernels"
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

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// slow computes a product by the loop in the documentation of the package, and
// the bound of each element's error with the sum in float64.
func slow(p Product) (c []float32, exact, bound []float64) {
	k := p.A.cols
	ops := float64(min(k, depth) + ceil(k, depth) + 1)
	for i := range p.C.rows {
		for j := range p.C.cols {
			old := p.C.data[p.C.at(i, j)]
			if !p.Add {
				old = 0
			}
			sum, sumOf, magnitude := old, float64(old), math.Abs(float64(old))*float64(ceil(k, depth))
			for start := 0; start < k; start += depth {
				var s float32
				for l := start; l < min(start+depth, k); l++ {
					av, bv := float64(p.A.data[p.A.at(i, l)]), float64(p.B.data[p.B.at(l, j)])
					s = fma(av, bv, s)
					sumOf += av * bv
					magnitude += math.Abs(av*bv) * ops
				}
				if start == 0 && !p.Add {
					sum = s
				} else {
					sum += s
				}
			}
			c, exact, bound = append(c, sum), append(exact, sumOf), append(bound, magnitude*(0x1p-24+0x1p-40))
		}
	}
	return c, exact, bound
}

// check compares what is in p.C with what slow said.
func check(t *testing.T, c Matrix, want []float32, exact, bound []float64) {
	t.Helper()
	for n, w := range want {
		got := c.data[c.at(n/c.cols, n%c.cols)]
		if math.Float32bits(got) != math.Float32bits(w) && (got == got || w == w) {
			t.Fatalf("element (%d, %d) is %v, by the loop %v", n/c.cols, n%c.cols, got, w)
		}
		if d := math.Abs(float64(got) - exact[n]); d > bound[n] {
			t.Fatalf("element (%d, %d) is %v, exactly %v: off by %g, more than %g", n/c.cols, n%c.cols, got, exact[n], d, bound[n])
		}
	}
}

// guarded returns a rows × cols matrix of random numbers with rows stride apart, or its transpose,
// in memory whose end abuts an inaccessible page.
func guarded(t *testing.T, r *rand.Rand, rows, cols, pad int, transposed, readOnly bool) Matrix {
	if transposed {
		rows, cols = cols, rows
	}
	stride := cols + pad
	n := 0
	if rows > 0 {
		n = (rows-1)*stride + cols
	}
	data := normal(r, n)
	if readOnly {
		data = guard.CopyReadOnly(t, data)
	} else {
		data = guard.Copy(t, data)
	}
	m := Strided(data, rows, cols, stride)
	if transposed {
		m = m.T()
	}
	return m
}

var shapes = [][3]int{
	{1, 1, 1}, {1, 17, 3}, {2, 3, 5}, {4, 8, 16}, {14, 32, 7}, {15, 33, 64}, {13, 31, 255}, {6, 16, 256},
	{29, 65, 257}, {57, 100, 300}, {64, 64, 513}, {3, 129, 20}, {130, 3, 20}, {8, 12, 1}, {240, 40, 33}, {5, 7, 0}, {0, 4, 4}, {4, 0, 4},
}

// TestProducts: every shape, every way in which the operands lie, against the loop and
// against float64, in guarded memory.
func TestProducts(t *testing.T) {
	each(t, func(t *testing.T, v *Variant) {
		require.Procs(t, 3)
		pool := kernels.NewPool(3)
		defer pool.Close()
		for n, s := range shapes {
			for flags := range 16 {
				if s[0]*s[1]*s[2] > 200_000 && flags%5 != n%5 {
					continue // three or four of the ways will do
				}
				r := rand.New(rand.NewPCG(uint64(n), uint64(flags)))
				pad := n % 3
				p := Product{
					C:   guarded(t, r, s[0], s[1], pad, flags&8 != 0, false),
					A:   guarded(t, r, s[0], s[2], pad, flags&1 != 0, true),
					B:   guarded(t, r, s[2], s[1], pad, flags&2 != 0, true),
					Add: flags&4 != 0,
				}
				before := append([]float32(nil), p.C.data...)
				want, exact, bound := slow(p)
				for _, pool := range []*kernels.Pool{nil, pool} {
					copy(p.C.data, before)
					NewMultiplier(v, pool).Do(p)
					check(t, p.C, want, exact, bound)
					between(t, p.C, before)
				}
			}
		}
	})
}

// between fails if floats between the rows of c were changed.
func between(t *testing.T, c Matrix, before []float32) {
	t.Helper()
	cols := c.cols
	if c.transposed {
		cols = c.rows
	}
	for i, v := range c.data {
		if c.stride > 0 && i%c.stride >= cols && v != before[i] {
			t.Fatalf("float %d between the rows was changed", i)
		}
	}
}

// TestThreads: the same bits for every number of threads, of products large enough to be cut in
// many ways, and of many at once.
func TestThreads(t *testing.T) {
	each(t, func(t *testing.T, v *Variant) {
		r := rand.New(rand.NewPCG(1, 2))
		const m, n, k = 150, 170, 270
		a, b := Of(normal(r, m*k), m, k), Of(normal(r, k*n), k, n)
		var want []float32
		require.Procs(t, 8)
		for _, threads := range []int{1, 2, 3, 8} {
			pool := kernels.NewPool(threads)
			mul := NewMultiplier(v, pool)
			whole := make([]float32, m*n)
			mul.Set(Of(whole, m, n), a, b)
			blocks := make([]float32, m*n)
			var parts []Product
			for row := 0; row < m; row += 30 {
				for col := 0; col < n; col += 34 {
					parts = append(parts, Product{C: Of(blocks, m, n).Block(row, col, 30, 34), A: a.Block(row, 0, 30, k), B: b.Block(0, col, k, 34)})
				}
			}
			mul.Do(parts...)
			pool.Close()
			if want == nil {
				want = whole
			}
			for i := range want {
				if want[i] != whole[i] || want[i] != blocks[i] {
					t.Fatalf("%d threads: float %d is %v, in blocks %v, with one thread %v", threads, i, whole[i], blocks[i], want[i])
				}
			}
		}
	})
}

// TestExtremes: overflow, subnormals, zeros of both signs, infinities and NaNs are what the loop gives.
func TestExtremes(t *testing.T) {
	extremes := []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32,
		0x1p-126, -0x1p-75, 0x1.fffffep-64, 3e-39, 1e-20, 1e20, 0x1.000002p0, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	each(t, func(t *testing.T, v *Variant) {
		r := rand.New(rand.NewPCG(3, 4))
		pick := func(n, from int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = extremes[r.IntN(from)]
			}
			return x
		}
		for round := range 40 {
			from := len(extremes) - 3*(round%2)
			k := 1 + round%5
			p := Product{A: Of(pick(16*k, from), 16, k), B: Of(pick(k*40, from), k, 40), C: Of(pick(16*40, from), 16, 40), Add: round%3 == 0}
			want, _, _ := slow(p)
			NewMultiplier(v, nil).Do(p)
			for i, w := range want {
				if got := p.C.data[i]; math.Float32bits(got) != math.Float32bits(w) && (got == got || w == w) {
					t.Fatalf("round %d: float %d is %v, by the loop %v", round, i, got, w)
				}
			}
		}
	})
}

// TestFMA holds fma to arithmetic without rounding, where rounding twice goes wrong too.
func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	twice := 0
	number := func() float32 {
		return float32(math.Ldexp(float64(int32(r.Uint32())>>(r.IntN(31))), r.IntN(60)-60))
	}
	check := func(a, b, c float32) {
		t.Helper()
		exact := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		exact.Add(exact, big.NewFloat(float64(c)))
		want, _ := exact.Float32()
		if got := fma(float64(a), float64(b), c); got != want {
			t.Fatalf("fma(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
		if float32(float64(a)*float64(b)+float64(c)) != want {
			twice++
		}
	}
	for range 20000 {
		check(number(), number(), number())
		// c + a·b lies half-way between two float32s but for a's last bits, beyond float64's.
		check(0x1p-25*(1+0x1p-23*float32(r.IntN(9)-4)), 1+0x1p-23*float32(r.IntN(9)-4), 1+0x1p-23*float32(r.IntN(4)))
		check(0x1p-70*number(), 0x1p-70*number(), 0x1p-120*number()) // subnormal
		c := 1 + 0x1p-23*float32(r.IntN(1<<23))
		check(float32(math.Ldexp(1, -12)), float32(math.Ldexp(1+float64(r.IntN(2))*0x1p-23, -12)), c)
	}
	if twice == 0 {
		t.Error("no case in which rounding twice is wrong")
	}
}

func TestShapesThatDoNotMatch(t *testing.T) {
	x := make([]float32, 100)
	for name, call := range map[string]func(){
		"inner":    func() { NewMultiplier(goVariant, nil).Set(Of(x, 2, 3), Of(x, 2, 4), Of(x, 5, 3)) },
		"rows":     func() { NewMultiplier(goVariant, nil).Set(Of(x, 2, 3), Of(x, 3, 4), Of(x, 4, 3)) },
		"columns":  func() { NewMultiplier(goVariant, nil).Set(Of(x, 2, 3), Of(x, 2, 4), Of(x, 4, 2)) },
		"short":    func() { Of(x, 20, 6) },
		"overflow": func() { Strided(x, math.MaxInt, 2, math.MaxInt) },
		"stride":   func() { Strided(x, 2, 3, 2) },
		"block":    func() { Of(x, 2, 3).Block(1, 1, 2, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
	if m := Strided(x, 10, 1, 11).T(); m.Rows() != 1 || m.Cols() != 10 { // the last row ends with the data
		t.Errorf("%d × %d", m.Rows(), m.Cols())
	}
}

func ExampleMultiplier() {
	mul := NewMultiplier(Best(), nil)
	x := Of([]float32{1, 2, 3}, 1, 3)                 // a token
	w := Of([]float32{1, 0, -1, 0.5, 0.5, 0.5}, 2, 3) // out × in
	y := Of(make([]float32, 2), 1, 2)
	mul.Set(y, x, w.T())
	fmt.Println(y.Data())
	// Output: [-2 3]
}

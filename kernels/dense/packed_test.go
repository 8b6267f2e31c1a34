package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/require"
	"onebit/kernels"
	_ "onebit/kernels/all"
)

// integer returns how many kernels multiply a format under a scheme on this machine.
func integer(t testing.TB, format string, scheme kernels.Scheme) (all []*kernels.Variant) {
	for _, v := range kernels.Variants() {
		if v.Format.Name == format && v.Scheme == scheme && v.Available() == nil {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no variant of %s under %s", format, scheme)
	}
	return all
}

// ternary returns weights of -scale, 0 and scale.
func ternary(r *rand.Rand, n int, scale float32) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(r.IntN(3)-1) * scale
	}
	return w
}

// TestPackedTernary: the product by int8 kernels is to the bit that of the same integers as floats, whose
// sums are exact too, times the scales.
func TestPackedTernary(t *testing.T) {
	require.Procs(t, 2)
	pool := kernels.NewPool(2)
	defer pool.Close()
	const tokens, out, in, scale = 21, 52, 384, 0.37
	r := rand.New(rand.NewPCG(1, 1))
	x := normal(r, tokens*in)
	for _, v := range integer(t, "i2_s", kernels.Q8Row) {
		p, err := NewPacked(v, out, in)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // packed anew
			w := ternary(r, out*in, scale)
			if err := p.Set(pool, w); err != nil {
				t.Fatal(err)
			}
			got := make([]float32, tokens*out)
			p.Mul(pool, got, x, tokens)

			var a kernels.Activations
			a.Quantize(kernels.Go, v.Scheme, x, tokens, in)
			q, digits, sums := make([]float32, tokens*in), make([]float32, out*in), make([]float32, tokens*out)
			for i := range q {
				q[i] = float32(a.Q[i/in*a.Stride+i%in])
			}
			for i := range digits {
				digits[i] = w[i] / scale
			}
			NewMultiplier(Best(), pool).Set(Of(sums, tokens, out), Of(q, tokens, in), Of(digits, out, in).T())
			for i, sum := range sums {
				if want := float32(scale*a.Scale(i/out, 0)) * sum; got[i] != want {
					t.Fatalf("%v: result %d is %v, want %v", v, i, got[i], want)
				}
			}
		}
	}
}

// TestPackedBlocks: formats whose blocks have scales are packed too.
func TestPackedBlocks(t *testing.T) {
	const tokens, out, in = 3, 40, 256
	r := rand.New(rand.NewPCG(2, 1))
	x, w := normal(r, tokens*in), ternary(r, out*in, 0.5)
	for i := range w {
		w[i] = float32(math.Copysign(0.5, float64(w[i]))) // signs
	}
	for _, v := range integer(t, "q1_0_g128", kernels.Q8Per128) {
		p, err := NewPacked(v, out, in)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Set(nil, w); err != nil {
			t.Fatal(err)
		}
		y := make([]float32, tokens*out)
		pool := kernels.NewPool(1)
		p.Mul(pool, y, x, tokens)
		pool.Close()
		for i, got := range y {
			want, most := 0.0, 0.0
			for k := range in {
				want += float64(x[i/out*in+k]) * float64(w[i%out*in+k])
				most = max(most, math.Abs(float64(x[i/out*in+k])))
			}
			if d := math.Abs(float64(got) - want); d > in*0.5*most/254 { // each activation is half a step off at most
				t.Fatalf("%v: result %d is %v, want %v", v, i, got, want)
			}
		}
	}
}

func TestPackedNotFinite(t *testing.T) {
	for _, v := range []*kernels.Variant{integer(t, "i2_s", kernels.Q8Row)[0], integer(t, "q1_0_g128", kernels.Q8Per128)[0]} {
		p, err := NewPacked(v, 32, 128)
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float32, 32*128)
		w[77] = float32(math.NaN())
		if p.Set(nil, w) == nil {
			t.Errorf("%v packs NaN", v)
		}
	}
	if _, err := NewPacked(integer(t, "i2_s", kernels.Q8Row)[0], 3, 100); err == nil {
		t.Error("rows of 100 weights were packed in blocks of 128")
	}
}

// BenchmarkForward compares y = x·Wᵀ in floats and by int8 kernels, activations quantized and
// weights packed in each round. Of the kernels of each instruction set, those that Best takes.
func BenchmarkForward(b *testing.B) {
	pool := kernels.NewPool(1)
	defer pool.Close()
	for _, s := range [][3]int{{1024, 256, 256}, {1024, 256, 1024}, {1024, 1024, 1024}, {4096, 256, 256}, {4096, 256, 1024}, {4096, 1024, 1024}} {
		tokens, out, in := s[0], s[1], s[2]
		r := rand.New(rand.NewPCG(1, 2))
		x, w, y := normal(r, tokens*in), ternary(r, out*in, 0.5), make([]float32, tokens*out)
		run := func(name string, forward func()) {
			b.Run(fmt.Sprintf("%s/tokens:%d/out:%d/in:%d", name, tokens, out, in), func(b *testing.B) {
				for b.Loop() {
					forward()
				}
				b.ReportMetric(2*float64(tokens*out*in)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
		for _, v := range Variants()[1:] {
			if v.Available() == nil {
				mul := NewMultiplier(v, pool)
				run("weights:f32/variant:"+v.Name, func() { mul.Set(Of(y, tokens, out), Of(x, tokens, in), Of(w, out, in).T()) })
			}
		}
		for _, lesser := range []*kernels.ISA{kernels.AVX2, kernels.AVX512VNNI} {
			for format, scheme := range map[string]kernels.Scheme{"i2_s": kernels.Q8Row, "q1_0_g128": kernels.Q8Per128} {
				v, err := kernels.BestFor(format, scheme, cpu.Host().With(cpu.Detected()&lesser.Requires))
				if err != nil {
					b.Fatal(err)
				}
				p, err := NewPacked(v, out, in)
				if err != nil {
					b.Fatal(err)
				}
				run("weights:"+format+"/variant:"+v.Name, func() {
					if err := p.Set(pool, w); err != nil {
						b.Fatal(err)
					}
					p.Mul(pool, y, x, tokens)
				})
			}
		}
	}
}

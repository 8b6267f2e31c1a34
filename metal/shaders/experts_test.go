package shaders

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/metal/softmetal"
)

// A routing is Routing of experts.metal.
type routing struct {
	Experts, Used, Sigmoid, Normalized uint32
	Scale                              float32
}

// want chooses one expert after the other, with weights in float64; NaN for all where a
// logit is not finite.
func (r routing) want(z []float32) (numbers []int, weights []float64) {
	weight := func(e int) float64 {
		if r.Sigmoid != 0 {
			return 1 / (1 + math.Exp(-float64(z[e])))
		}
		return math.Exp(float64(z[e] - slices.Max(z)))
	}
	all := 0.0
	for e := range z {
		if x := float64(z[e]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil
		}
		all += weight(e)
	}
	for len(numbers) < int(r.Used) {
		best := -1
		for e := range z {
			if !slices.Contains(numbers, e) && (best < 0 || z[e] > z[best]) {
				best = e
			}
		}
		numbers = append(numbers, best)
	}
	switch {
	case r.Normalized != 0:
		all = 0
		for _, e := range numbers {
			all += weight(e)
		}
	case r.Sigmoid != 0:
		all = 1
	}
	for _, e := range numbers {
		weights = append(weights, weight(e)/all*float64(r.Scale))
	}
	return numbers, weights
}

// check routes columns of logits. exp is right within 4 units, a sum of n terms within n.
func (r routing) check(l library, logits []float32, threads int) error {
	n := len(logits) / int(r.Experts)
	got := poisoned(n * 2 * int(r.Used))
	if err := l.Dispatch("route", [3]int{n * threads, 1, 1}, [3]int{threads, 1, 1}, softmetal.Buffer(0, logits), softmetal.Buffer(1, got), softmetal.Value(2, r)); err != nil {
		return err
	}
	for c := range n {
		numbers, weights := r.want(logits[c*int(r.Experts):][:r.Experts])
		chosen := got[c*2*int(r.Used):][:2*r.Used]
		for k := range int(r.Used) {
			number, weight := int(chosen[k]), float64(chosen[int(r.Used)+k])
			if numbers == nil {
				if number != k || !math.IsNaN(weight) {
					return fmt.Errorf("column %d, expert %d with weight %v of logits that are not finite", c, number, weight)
				}
			} else if number != numbers[k] || !(math.Abs(weight-weights[k]) <= (16+float64(r.Experts))*0x1p-23*weights[k]) {
				return fmt.Errorf("column %d: expert %d with weight %v, want %d with %v", c, number, weight, numbers[k], weights[k])
			}
		}
	}
	return nil
}

// Experts are those with the largest logits, of equals the first, under every rule of
// their weights; and where logits are not finite, numbers stay those of experts.
func TestRoute(t *testing.T) {
	l := compile(t, Experts, nil)
	for _, r := range []routing{
		{7, 3, 0, 0, 1}, {7, 3, 0, 1, 1}, {7, 2, 1, 0, 2.5}, {300, 9, 1, 1, 1}, {5, 5, 0, 0, 0.5}, {1, 1, 0, 1, 1},
	} {
		rng := rand.New(rand.NewPCG(8, uint64(r.Experts)))
		logits := normal(rng, 6*int(r.Experts))
		for i := range logits { // of which some are equal
			logits[i] = float32(math.Round(float64(logits[i])*4) / 4)
		}
		logits[2*r.Experts] = float32(math.NaN())
		logits[4*r.Experts-1] = float32(math.Inf(1))
		logits[4*r.Experts] = float32(math.Inf(-1))
		for _, threads := range []int{32, 256} {
			if err := r.check(l, logits, threads); err != nil {
				t.Errorf("%+v, %d threads: %v", r, threads, err)
			}
		}
	}
}

func combined(l library) error {
	const width, used, n = 70, 3, 2
	rng := rand.New(rand.NewPCG(8, 1))
	x, chosen, y := normal(rng, n*used*width), normal(rng, n*2*used), poisoned(n*width)
	err := l.Dispatch("combine", [3]int{96, n, 1}, [3]int{32, 1, 1}, softmetal.Buffer(0, y), softmetal.Buffer(1, x), softmetal.Buffer(2, chosen),
		softmetal.Value(3, [2]uint32{width, used}))
	if err != nil {
		return err
	}
	for i, got := range y {
		var want float32
		for k := range used {
			want += chosen[i/width*2*used+used+k] * x[(i/width*used+k)*width+i%width]
		}
		if got != want {
			return fmt.Errorf("value %d is %v, want %v", i, got, want)
		}
	}
	return nil
}

func TestCombine(t *testing.T) {
	if err := combined(compile(t, Experts, nil)); err != nil {
		t.Error(err)
	}
}

func TestClamp(t *testing.T) {
	x := []float32{-3, -0.5, 0, 0.25, 7, float32(math.NaN()), float32(math.Inf(-1))}
	err := compile(t, Experts, nil).Dispatch("clamp_values", [3]int{32, 1, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, x), softmetal.Value(1, [2]float32{-0.5, 0.25}), softmetal.Value(2, uint32(len(x))))
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{-0.5, -0.5, 0, 0.25, 0.25, x[5], -0.5}; fmt.Sprint(x) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", x, want)
	}
}

// expertProduct multiplies experts of columns that share their activations or have their
// own, and compares each with the product of its matrix.
func expertProduct(t *testing.T, source string, format *formats.Type, rows, cols int, shared bool) error {
	const experts, used, n = 5, 3, 2
	rng := rand.New(rand.NewPCG(9, uint64(rows)))
	tensor := tensorOf(t, format, experts*rows, cols, rng)
	chosen := []float32{4, 0, 2, 9, 9, 9, 1, 4, 3, 9, 9, 9} // and weights, which are not looked at
	columns, share := n*used, 1
	if shared {
		columns, share = n, used
	}
	scheme, floats := kernels.FormatOf(format).Scheme, layoutOf(PackedType(format)).Bits == 0
	if floats {
		scheme = kernels.F32
	}
	p := newProduct(t, tensor, scheme, normal(rng, columns*cols), columns)
	s, y, c := p.shape, poisoned(n*used*rows), [3]uint32{used, uint32(share), experts}
	s.Rows = uint32(rows)
	grid := [3]int{groups(rows, 32) * 32, n * used, 1}
	var err error
	if floats {
		err = compile(t, source, floatConstants(t, format, 1)).Dispatch("dense_experts", grid, [3]int{32, 1, 1}, softmetal.Buffer(0, p.tensor.Data),
			softmetal.Buffer(1, chosen), softmetal.Buffer(2, p.a.X), softmetal.Buffer(3, y), softmetal.Value(4, s), softmetal.Value(5, c))
	} else {
		err = compile(t, source, p.codes.Constants()).Dispatch("matvec_experts", grid, [3]int{32, 1, 1}, softmetal.Buffer(0, p.tensor.Data),
			softmetal.Buffer(1, chosen), softmetal.Buffer(2, p.a.Q), softmetal.Buffer(3, p.a.Scales), softmetal.Buffer(4, y), softmetal.Value(5, s), softmetal.Value(6, c))
	}
	for i := range y {
		at := i / rows // a column's expert
		of := at/share*experts*rows + int(chosen[at/used*2*used+at%used])*rows + i%rows
		bound := 0.0
		if format == formats.Q4_K { // see denseProduct
			bound = float64(2*cols+8) * 0x1p-24 * float64(p.size[of])
		}
		if err == nil && !(math.Abs(float64(y[i])-float64(p.want[of])) <= bound) {
			err = fmt.Errorf("result %d is %v, want %v", i, y[i], p.want[of])
		}
	}
	return err
}

// Experts give the bits of package kernels.
func TestExperts(t *testing.T) {
	for _, f := range require.Draw(t, 2, []*formats.Type{formats.TQ2_0, formats.TQ1_0, formats.Q1_0_g128, formats.Q8_0, formats.Q6_K, formats.Q4_0}) {
		for _, shared := range []bool{false, true} {
			if err := expertProduct(t, MatVec, f, 9, wholeBlocks(f, 130), shared); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	}
	for _, f := range floatTypes {
		if err := expertProduct(t, Heads, f, 9, wholeBlocks(f, 36), true); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

func routed(_ *testing.T, l library) error {
	tied := []float32{1, 3, 3, -2, 0.5, 3, 1, 2, 2, 2, 2, 2, 2, 2}
	return errors.Join(routing{7, 3, 0, 0, 1}.check(l, tied, 32), routing{7, 3, 0, 1, 1}.check(l, tied, 64))
}

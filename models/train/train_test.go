package train

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/require"
	"onebit/kernels"
)

// net is a small network of every kind of layer.
func net(b *Builder, form *Form) Sequence {
	opt := Options{Form: form, Bias: true}
	return Sequence{
		b.BitLinear("in", 128, 128, opt), b.Pointwise(SiLU), b.LayerNorm("norm", 128, 1e-5),
		b.BitLinear("mid", 128, 128, opt), b.RMSNorm("rms", 128, 1e-5), b.Pointwise(Tanh),
		b.BitLinear("out", 128, 10, opt),
	}
}

// fit trains a network to tell which of ten random rows it sees, and returns the
// losses.
func fit(t *testing.T, pool *kernels.Pool, form *Form, rule string, rate float64, steps int) ([]float64, Sequence) {
	t.Helper()
	b := NewBuilder(pool, 7)
	n := net(b, form)
	r, err := LookupRule(rule)
	if err != nil {
		t.Fatal(err)
	}
	opt := NewOptimizer(pool, r, n.Params())
	opt.Clip, opt.Decay = 1, 0.01
	x := randomRows(5, 20*128)
	targets := make([]int32, 20)
	for i := range targets {
		targets[i] = int32(i / 2)
	}
	grad := make([]float32, 20*10)
	var losses []float64
	for step := 1; step <= steps; step++ {
		ZeroGrad(n.Params())
		loss := CrossEntropy(pool, grad, n.Forward(x), targets, 10)
		n.Backward(grad)
		if _, err := opt.Step(step, rate, loss); err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
	}
	return losses, n
}

// TestEveryFormLearns covers every form, and every rule with one of them.
func TestEveryFormLearns(t *testing.T) {
	rates := map[string]float64{"sgd": 0.05, "adamw": 2e-3, "lion": 3e-4}
	for _, form := range Forms() {
		for _, rule := range RuleNames() {
			if form != NanoLogic && rule != "adamw" {
				continue
			}
			losses, _ := fit(t, nil, form, rule, rates[rule], 40)
			if first, last := losses[0], losses[len(losses)-1]; !(last < first/2) {
				t.Errorf("%s with %s: the loss went from %.3f to %.3f", form.Name, rule, first, last)
			}
		}
	}
}

func TestThreadsDoNotMatter(t *testing.T) {
	require.Procs(t, 5)
	for _, form := range []*Form{NanoLogic, OneBit} {
		losses, one := fit(t, nil, form, "adamw", 2e-3, 5)
		for _, threads := range []int{2, 5} {
			pool := kernels.NewPool(threads)
			got, n := fit(t, pool, form, "adamw", 2e-3, 5)
			pool.Close()
			if !slices.Equal(got, losses) {
				t.Errorf("%s: losses on %d threads are %v, on one %v", form.Name, threads, got, losses)
			}
			for i, p := range n.Params() {
				if !slices.Equal(p.W, one.Params()[i].W) {
					t.Errorf("%s: %s on %d threads differs from that on one", form.Name, p.Name, threads)
				}
			}
		}
	}
}

// Leading dimensions are rows: results don't depend on which rows come together,
// and gradients add up.
func TestRowsAreIndependent(t *testing.T) {
	b := NewBuilder(nil, 1)
	opt := Options{Form: NanoLogic, Bias: true}
	whole, parts := b.BitLinear("l", 20, 8, opt), b.BitLinear("l", 20, 8, opt)
	x, grad := randomRows(1, 2*3*20), randomRows(2, 2*3*8)
	y, gx := whole.Forward(x), whole.Backward(grad)
	for i := range 2 {
		if got := parts.Forward(x[i*3*20 : (i+1)*3*20]); !slices.Equal(got, y[i*3*8:(i+1)*3*8]) {
			t.Errorf("results of batch %d differ", i)
		}
		if got := parts.Backward(grad[i*3*8 : (i+1)*3*8]); !slices.Equal(got, gx[i*3*20:(i+1)*3*20]) {
			t.Errorf("gradients of batch %d differ", i)
		}
	}
	for i, p := range whole.Params() {
		closeTo(t, "gradient of "+p.Name, widen(parts.Params()[i].Grad), widen(p.Grad), 1e-6)
	}
}

// What is packed multiplies as training does.
func TestPackedTernaryAndOneBit(t *testing.T) {
	tests := []struct {
		opt  Options
		t    *formats.Type
		in   int
		name string // of the scheme, or f32 for activations rounded before
	}{
		{Options{Form: B158}, formats.I2_S, 256, "q8_row"},
		{Options{Form: NanoLogic, Rounding: Q8Row}, formats.I2_S, 256, "q8_row"},
		{Options{Form: NanoLogic}, formats.I2_S, 256, "f32"},
		{Options{Form: B158}, formats.Ternary_u32, 77, "q8_row"},
		{Options{Form: B158, HalfScale: true}, formats.TQ2_0, 512, "q8_row"},
		{Options{Form: B158, HalfScale: true}, formats.TQ1_0, 512, "f32"},
		{Options{Form: OneBit}, formats.Q1_0_g128, 384, "q8_128"},
		{Options{Form: OneBit, Rounding: Q8Row}, formats.Q1_0_g128, 384, "q8_row"},
		{Options{Form: OneBit, Rounding: Q8Per32}, formats.Q1_0_g128, 384, "q8_32"},
	}
	const rows, out = 5, 64
	for _, test := range tests {
		l := NewBuilder(nil, 3).BitLinear("blk.0.attn_q", test.in, out, test.opt)
		x := randomRows(9, rows*test.in)
		want := l.Forward(x)
		packed, err := l.Pack(test.t)
		if err != nil {
			t.Error(err)
			continue
		}
		if test.name == "f32" {
			x = l.xq
		}
		v, err := kernels.BestFor(test.t.Name, kernels.Scheme(test.name), cpu.Host())
		if err != nil {
			t.Error(err)
			continue
		}
		pool := kernels.NewPool(1)
		m, err := v.Pack(packed, pool)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float32, rows*out)
		pool.MatMul(y, v, m, x, rows)
		closeTo(t, l.opt.Form.Name+" as "+v.String(), widen(y), widen(want), 1e-6)
		m.Close()
		pool.Close()
	}
}

// With rows enough, training multiplies by the kernels: what it gives is what the
// packed model gives in portable Go, to the bit, and what float32 products give but
// for rounding. The form decides, on a machine without any instruction set too.
func TestManyRows(t *testing.T) {
	pool := kernels.NewPool(2)
	defer pool.Close()
	for _, test := range []struct {
		form *Form
		in   int
	}{{B158, 256}, {OneBit, 128}, {B158, 100}, {NanoLogic, 256}} { // the last two by floats
		const rows, out = packedFrom, 48
		x := randomRows(9, rows*test.in)
		l := NewBuilder(pool, 3).BitLinear("l", test.in, out, Options{Form: test.form})
		y := l.Forward(x)
		if packed := l.packed != nil; packed != (test.form != NanoLogic && test.in%128 == 0) {
			t.Errorf("%s from %d: packed is %t", test.form.Name, test.in, packed)
		} else if packed {
			v, err := kernels.BestFor(test.form.Type.Name, test.form.Rounding.scheme, cpu.Machine{})
			if err != nil {
				t.Fatal(err)
			}
			tensor, err := l.Pack(test.form.Type)
			if err != nil {
				t.Fatal(err)
			}
			m, err := v.Pack(tensor, pool)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float32, rows*out)
			pool.MatMul(want, v, m, x, rows)
			m.Close()
			if !slices.Equal(y, want) {
				t.Errorf("%s: results differ from the packed model's", test.form.Name)
			}
		}
		floats := NewBuilder(nil, 3).BitLinear("l", test.in, out, Options{Form: test.form})
		closeTo(t, test.form.Name, widen(y), widen(floats.Forward(x)), 1e-6)
	}
	l := NewBuilder(pool, 3).BitLinear("l", 128, 1, Options{Form: B158})
	l.Weight.W[0] = float32(math.NaN())
	if y := l.Forward(randomRows(9, packedFrom*128))[7]; isFinite(float64(y)) {
		t.Errorf("a weight of NaN gives %v", y)
	}
}

func TestPackRefuses(t *testing.T) {
	l := NewBuilder(nil, 3).BitLinear("blk.0.attn_q", 256, 4, Options{Form: B158})
	for typ, want := range map[*formats.Type]string{
		formats.TQ2_0:     "tensor blk.0.attn_q.weight: tq2_0 holds",
		formats.Q1_0_g128: "tensor blk.0.attn_q.weight: q1_0_g128 holds",
	} {
		if _, err := l.Pack(typ); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", typ.Name, err, want)
		}
	}
	if _, err := NewBuilder(nil, 3).BitLinear("l", 100, 4, Options{Form: B158}).Pack(formats.I2_S); err == nil {
		t.Error("i2_s holds 100 columns")
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		opt     Options
		in, out int
		want    string // "" if it is right
	}{
		{Options{}, 3, 2, ""},
		{Options{}, 0, 2, "a layer from 0 to 2 features is empty"},
		{Options{Form: OneBit}, 128, 1, ""},
		{Options{Form: OneBit}, 100, 1, "form 1bit needs a multiple of 128 inputs, not 100"},
		{Options{Form: B158, Gradient: InverseScale}, 3, 2, ""},
		{Options{Gradient: InverseScale}, 3, 2, "the gradient inverse-scale divides by the scale of the tensor, and form float has none"},
	}
	for _, test := range tests {
		got := ""
		if err := test.opt.Check(test.in, test.out); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%v: %q, want %q", test.opt, got, test.want)
		}
	}
}

func TestWrongShapesPanic(t *testing.T) {
	b := NewBuilder(nil, 1)
	l := b.Linear("l", 3, 2, false)
	l.Forward(make([]float32, 6))
	for name, do := range map[string]func(){
		"x":       func() { l.Forward(make([]float32, 4)) },
		"grad":    func() { l.Backward(make([]float32, 2)) },
		"norm":    func() { b.RMSNorm("n", 4, 0).Forward(make([]float32, 6)) },
		"targets": func() { CrossEntropy(nil, make([]float32, 6), make([]float32, 6), make([]int32, 1), 3) },
		"options": func() { b.BitLinear("l", 100, 1, Options{Form: OneBit}) },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "train: ") {
					t.Errorf("%s: no panic of this package", name)
				}
			}()
			do()
		}()
	}
}

// NanoLogic's γ of weights that are all alike is 0, and so are the rounded ones.
func TestNanoLogicOfEqualWeights(t *testing.T) {
	l := NewBuilder(nil, 1).BitLinear("l", 8, 2, Options{Form: NanoLogic})
	l.Weight.fill(3)
	for _, y := range l.Forward(randomRows(1, 8)) {
		if y != 0 {
			t.Errorf("result %v, want 0", y)
		}
	}
}

func TestInitialWeights(t *testing.T) {
	weights := func(seed uint64, name string) []float32 {
		return NewBuilder(nil, seed).Linear(name, 100, 50, false).Weight.W
	}
	w := weights(1, "a")
	if !slices.Equal(w, weights(1, "a")) {
		t.Error("one seed and name give two results")
	}
	if slices.Equal(w, weights(2, "a")) || slices.Equal(w, weights(1, "b")) {
		t.Error("another seed or name gives the same weights")
	}
	var sum, most float64
	for _, v := range w {
		sum += float64(v) * float64(v)
		most = max(most, math.Abs(float64(v)))
	}
	// A uniform distribution on ±0.1 has the deviation 0.1/√3 = 0.0577.
	if deviation := math.Sqrt(sum / float64(len(w))); most > 0.1 || math.Abs(deviation-0.0577) > 0.002 {
		t.Errorf("weights up to %v with deviation %v, want 0.1 and 0.0577", most, deviation)
	}
}

func TestRules(t *testing.T) {
	grads := []float32{0.5, -2, 0}
	tests := []struct {
		name string
		want func(w, g float64, step int, m, v *float64) float64
	}{
		{"sgd", func(w, g float64, _ int, m, _ *float64) float64 {
			*m = 0.9**m + g
			return w - 0.1*(*m+0.2*w)
		}},
		{"adamw", func(w, g float64, step int, m, v *float64) float64 {
			*m, *v = 0.9**m+0.1*g, 0.999**v+0.001*g*g
			mHat, vHat := *m/(1-math.Pow(0.9, float64(step))), *v/(1-math.Pow(0.999, float64(step)))
			return w - 0.1*(mHat/(math.Sqrt(vHat)+1e-8)+0.2*w)
		}},
		{"lion", func(w, g float64, _ int, m, _ *float64) float64 {
			c := 0.9**m + 0.1*g
			*m = 0.99**m + 0.01*g
			sign := 0.0
			if c != 0 {
				sign = math.Copysign(1, c)
			}
			return w - 0.1*(sign+0.2*w)
		}},
	}
	for _, test := range tests {
		rule, err := LookupRule(test.name)
		if err != nil {
			t.Fatal(err)
		}
		p := NewParam("w", 1, len(grads)).fill(1)
		o := NewOptimizer(nil, rule, []*Param{p})
		o.Decay = 0.2
		want := []float64{1, 1, 1}
		m, v := make([]float64, 3), make([]float64, 3)
		for step := 1; step <= 3; step++ {
			for i, g := range grads {
				p.Grad[i] = g / float32(step)
				want[i] = test.want(want[i], float64(p.Grad[i]), step, &m[i], &v[i])
			}
			if _, err := o.Step(step, 0.1, 0); err != nil {
				t.Fatal(err)
			}
		}
		closeTo(t, test.name, widen(p.W), want, 1e-5)
	}
	if _, err := LookupRule("adam"); err == nil || err.Error() != `unknown optimizer "adam" (known: [adamw lion sgd])` {
		t.Error(err)
	}
	if _, err := LookupForm("int4"); err == nil || err.Error() != `unknown form of weights "int4" (known: [1bit b1.58 float nanologic q8_0])` {
		t.Error(err)
	}
}

func TestStateIsNamed(t *testing.T) {
	p := NewParam("blk.0.attn_q.weight", 2, 3)
	var names []string
	for _, b := range NewOptimizer(nil, AdamW{}, []*Param{p}).State() {
		names = append(names, b.Name)
		if len(b.Data) != 6 || !slices.Equal(b.Shape, p.Shape) {
			t.Errorf("%s: %d numbers of shape %v", b.Name, len(b.Data), b.Shape)
		}
	}
	if want := []string{"blk.0.attn_q.weight.first", "blk.0.attn_q.weight.second"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// Gradients are clipped to a norm over all parameters, and biases don't decay.
func TestClipAndDecay(t *testing.T) {
	a, b := NewParam("a", 1, 1).fill(1), NewParam("b", 1).fill(1)
	a.Grad[0], b.Grad[0] = 3, 4
	o := NewOptimizer(nil, SGD{}, []*Param{a, b})
	o.Clip, o.Decay = 1, 0.5
	norm, err := o.Step(1, 1, 0)
	if err != nil || norm != 5 {
		t.Errorf("norm %v, %v, want 5", norm, err)
	}
	closeTo(t, "weight", []float64{float64(a.W[0]), float64(b.W[0])}, []float64{1 - 0.6 - 0.5, 1 - 0.8}, 1e-6)
}

func TestNotFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		name      string
		loss      float64
		change    func(p *Param)
		tensor    string
		wantParts []string
	}{
		{"gradient", 2, func(p *Param) { p.Grad[1] = inf }, "blk.0.w", []string{"step 17", "the loss is 2", "tensor blk.0.w: gradient 1 is +Inf"}},
		{"weight", math.NaN(), func(p *Param) { p.W[0], p.Grad[0] = nan, nan }, "blk.0.w", []string{"the loss is NaN", "weight 0 is NaN"}},
		{"input", math.Inf(1), func(*Param) {}, "", []string{"the loss is +Inf", "the input or an activation"}},
	}
	for _, test := range tests {
		p := NewParam("blk.0.w", 2).fill(1)
		test.change(p)
		before := slices.Clone(p.W)
		_, err := NewOptimizer(nil, SGD{}, []*Param{NewParam("first", 3), p}).Step(17, 0.1, test.loss)
		var bad *NotFiniteError
		if !errors.As(err, &bad) || bad.Tensor != test.tensor || bad.Step != 17 {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for _, part := range test.wantParts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v lacks %q", test.name, err, part)
			}
		}
		if test.name != "weight" && !slices.Equal(p.W, before) {
			t.Errorf("%s: the weights have changed", test.name)
		}
	}
}

// Activations that are not finite make a loss that isn't, whatever rounds them.
func TestNotFiniteActivations(t *testing.T) {
	for _, rounding := range Roundings() {
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
			l := NewBuilder(nil, 1).BitLinear("l", 128, 1, Options{Form: OneBit, Rounding: rounding})
			x := randomRows(1, 128)
			x[5] = bad
			if y := l.Forward(x)[0]; isFinite(float64(y)) {
				t.Errorf("%s of %v: the result is %v", rounding.Name, bad, y)
			}
		}
	}
	for _, form := range Forms() {
		l := NewBuilder(nil, 1).BitLinear("l", 128, 1, Options{Form: form})
		l.Weight.W[3] = float32(math.NaN())
		if y := l.Forward(randomRows(1, 128))[0]; isFinite(float64(y)) {
			t.Errorf("form %s of NaN: the result is %v", form.Name, y)
		}
	}
}

func TestSchedules(t *testing.T) {
	rate := WarmupCosine(1, 0.1, 10, 110)
	for step, want := range map[int]float64{0: 0, 1: 0.1, 5: 0.5, 10: 1, 60: 0.55, 110: 0.1, 200: 0.1} {
		if got := rate(step); math.Abs(got-want) > 1e-12 {
			t.Errorf("rate at step %d is %v, want %v", step, got, want)
		}
	}
	if got := WarmupCosine(1, 0, 0, 10)(0); got != 1 {
		t.Errorf("rate without warm-up begins with %v", got)
	}
	if Constant(3)(7) != 3 {
		t.Error("a constant rate is not")
	}
}

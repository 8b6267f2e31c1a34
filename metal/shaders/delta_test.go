package shaders

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/metal/softmetal"
)

// Two batches, so that the window goes from one to the next. taps products are
// rounded and added; SiLU's slope is below 1.1 and its own roundings are those of
// TestGates.
func TestConvolve(t *testing.T) {
	const channels, columns = 37, 5
	for _, taps := range []int{1, 2, 4} {
		rng := rand.New(rand.NewPCG(uint64(taps), 1))
		w, window := normal(rng, channels*taps), make([]float32, max(channels*(taps-1), 1))
		l := compile(t, Delta, nil)
		var all []float32 // all columns so far
		for range 2 {
			x := normal(rng, columns*channels)
			before := len(all) / channels
			all = append(all, x...)
			err := l.Dispatch("convolve", [3]int{64, 1, 1}, [3]int{32, 1, 1}, softmetal.Buffer(0, x), softmetal.Buffer(1, w),
				softmetal.Buffer(2, window), softmetal.Value(3, [3]uint32{channels, uint32(taps), columns}))
			if err != nil {
				t.Fatal(err)
			}
			want, size := make([]float64, len(x)), make([]float64, len(x))
			for i := range x {
				column, channel := before+i/channels, i%channels
				var sum float64
				for k := range taps {
					if from := column - (taps - 1) + k; from >= 0 {
						product := float64(all[from*channels+channel]) * float64(w[channel*taps+k])
						sum, size[i] = sum+product, size[i]+math.Abs(product)
					}
				}
				want[i] = sum / (1 + math.Exp(-sum))
			}
			within(t, x, want, size, 1.1*float64(taps+1)/2+5.5)
		}
	}
}

// The bits of the specification, models/engine/cpu's step, over two batches.
func TestDeltaRule(t *testing.T) {
	testDeltaRule(t, 0, func(head int) int { return head / 2 })
	testDeltaRule(t, 1, func(head int) int { return head % 2 })
}

func testDeltaRule(t *testing.T, tiled uint32, keyHead func(int) int) {
	const keyHeads, valueHeads, keyDim, valueDim, columns = 2, 4, 6, 35, 3
	rng := rand.New(rand.NewPCG(6, 6))
	matrices := normal(rng, valueHeads*keyDim*valueDim)
	want := slices.Clone(matrices)
	l := compile(t, Delta, nil)
	for range 2 {
		q, k := normal(rng, columns*keyHeads*keyDim), normal(rng, columns*keyHeads*keyDim)
		v, decay, beta := normal(rng, columns*valueHeads*valueDim), normal(rng, columns*valueHeads), normal(rng, columns*valueHeads)
		y, wantY := poisoned(len(v)), make([]float32, len(v))
		err := l.Dispatch("delta_rule", [3]int{64, valueHeads, 1}, [3]int{32, 1, 1}, softmetal.Buffer(0, matrices), softmetal.Buffer(1, q),
			softmetal.Buffer(2, k), softmetal.Buffer(3, v), softmetal.Buffer(4, decay), softmetal.Buffer(5, beta), softmetal.Buffer(6, y),
			softmetal.Value(7, [6]uint32{keyHeads, valueHeads, keyDim, valueDim, columns, tiled}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range v {
			token, head, j := i/valueDim/valueHeads, i/valueDim%valueHeads, i%valueDim
			from := (token*keyHeads + keyHead(head)) * keyDim
			s := want[head*keyDim*valueDim+j:]
			wantY[i] = deltaStep(s, valueDim, q[from:from+keyDim], k[from:from+keyDim], v[i], decay[i/valueDim], beta[i/valueDim])
		}
		same(t, "delta_rule", y, wantY)
		same(t, "matrices", matrices, want)
	}
}

// deltaStep takes one token into a column of a matrix, whose values are stride
// apart, and returns its answer.
func deltaStep(s []float32, stride int, q, k []float32, v, decay, beta float32) float32 {
	var predicted, y float32
	for i, x := range k {
		s[i*stride] *= decay
		predicted += float32(s[i*stride] * x)
	}
	by := float32(v-predicted) * beta
	for i, x := range k {
		s[i*stride] += float32(x * by)
		y += float32(s[i*stride] * q[i])
	}
	return y
}

// Softplus is right within 5 units of itself and the logarithm's own, which the
// rate makes as many of the exponent; σ is that of TestGates.
func TestDeltaGates(t *testing.T) {
	const heads, columns = 5, 7
	rng := rand.New(rand.NewPCG(6, 7))
	decay, beta, rate, bias := normal(rng, heads*columns), normal(rng, heads*columns), normal(rng, heads), normal(rng, heads)
	decay[3], decay[4], beta[5] = 90, -90, -80
	wantDecay, wantBeta, size := make([]float64, len(decay)), make([]float64, len(beta)), make([]float64, len(decay))
	for i := range decay {
		rate[i%heads] = -float32(math.Abs(float64(rate[i%heads])))
		r, z := float64(rate[i%heads]), float64(decay[i]+bias[i%heads])
		exponent := r * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))))
		wantDecay[i], wantBeta[i] = math.Exp(exponent), 1/(1+math.Exp(-float64(beta[i])))
		size[i] = wantDecay[i] * (1 + 2*math.Abs(exponent) + math.Abs(r))
	}
	err := compile(t, Delta, nil).Dispatch("delta_gates", [3]int{8, columns, 1}, [3]int{8, 1, 1}, softmetal.Buffer(0, decay),
		softmetal.Buffer(1, beta), softmetal.Buffer(2, rate), softmetal.Buffer(3, bias), softmetal.Value(4, [2]uint32{heads, columns}))
	if err != nil {
		t.Fatal(err)
	}
	within(t, decay, wantDecay, size, 6)
	within(t, beta, wantBeta, wantBeta, 5)
}

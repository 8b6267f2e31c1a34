package shaders

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/metal/softmetal"
)

// topOf runs both kernels: the best keep of slices, and the best keep of those.
func topOf(l library, logits []float32, slice, keep int) ([]float32, []uint32, error) {
	const threads = 32
	slices := (len(logits) + slice - 1) / slice
	ranks, top, ids := make([]uint64, slices*keep), poisoned(keep), make([]uint32, keep)
	err := l.Dispatch("top_slices", [3]int{slices * threads, 1, 1}, [3]int{threads, 1, 1}, softmetal.Buffer(0, logits),
		softmetal.Buffer(1, ranks), softmetal.Value(2, [3]uint32{uint32(len(logits)), uint32(slice), uint32(keep)}))
	if err != nil {
		return nil, nil, err
	}
	return top, ids, l.Dispatch("top", [3]int{threads, 1, 1}, [3]int{threads, 1, 1}, softmetal.Buffer(0, ranks),
		softmetal.Buffer(1, top), softmetal.Buffer(2, ids), softmetal.Value(3, [3]uint32{uint32(len(ranks)), 0, uint32(keep)}))
}

// checkTop compares with a sort by logit, and by id among equals.
func checkTop(l library, logits []float32, slice, keep int) error {
	order := make([]uint32, len(logits))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(logits[b], logits[a]) })
	top, ids, err := topOf(l, logits, slice, keep)
	if err != nil {
		return err
	}
	for i, id := range order[:min(keep, len(order))] {
		if ids[i] != id || top[i] != logits[id] {
			return fmt.Errorf("token %d of the best is %d with %v, want %d with %v", i, ids[i], top[i], id, logits[id])
		}
	}
	for i := len(order); i < keep; i++ {
		if ids[i] != math.MaxUint32 || top[i] == top[i] {
			return fmt.Errorf("of %d tokens, one behind the last is %d with %v", len(order), ids[i], top[i])
		}
	}
	return nil
}

// tied returns logits of which many are equal, zeros of both signs and infinities
// among them.
func tied(rng *rand.Rand, n int) []float32 {
	negative := float32(math.Copysign(0, -1))
	values := []float32{-3, -1e-3, negative, 0, negative, 0, 0.5, float32(math.Inf(-1))}
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = values[rng.IntN(len(values))]
	}
	return logits
}

func TestTop(t *testing.T) {
	l, rng := compile(t, Top, nil), rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{1, 31, 257, 1000} {
		for _, keep := range []int{1, 5, 64} {
			if err := checkTop(l, normal(rng, n), 256, keep); err != nil {
				t.Errorf("%d of %d: %v", keep, n, err)
			}
			if err := checkTop(l, tied(rng, n), 200, keep); err != nil {
				t.Errorf("%d of %d with ties: %v", keep, n, err)
			}
		}
	}
}

// The sampler refuses logits that are not finite, by the first of the best.
func TestTopNotFinite(t *testing.T) {
	l := compile(t, Top, nil)
	for _, bits := range []uint32{0x7fc00000, 0xffc00001, 0x7f800000} {
		for _, at := range []uint32{0, 280} {
			logits := make([]float32, 300)
			logits[at] = math.Float32frombits(bits)
			top, ids, err := topOf(l, logits, 256, 2)
			if err != nil {
				t.Fatal(err)
			}
			if next := 1 - min(at, 1); ids[0] != at || top[0]-top[0] == 0 || top[1] != 0 || ids[1] != next {
				t.Errorf("%08x at %d: the best are %v with %v", bits, at, ids, top)
			}
		}
	}
}

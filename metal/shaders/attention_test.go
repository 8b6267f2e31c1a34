package shaders

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/internal/half"
	"onebit/metal/softmetal"
)

// attention is Attention of attention.metal.
type attention struct {
	Heads, KeyHeads, Dim, Position uint32
	Scale                          float32
}

func (a attention) width() int { return int(a.KeyHeads * a.Dim) }

func (a attention) append(l library, x []float32, cache []uint16) error {
	w := a.width()
	return l.Dispatch("append", [3]int{(w + 31) / 32 * 32, len(x) / w, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, cache), softmetal.Value(2, a))
}

func (a attention) attend(l library, q []float32, keys, values []uint16, threads int) ([]float32, error) {
	y := poisoned(len(q))
	columns := len(q) / int(a.Heads*a.Dim)
	return y, l.Dispatch("attend", [3]int{int(a.Heads) * threads, columns, 1}, [3]int{threads, 1, 1},
		softmetal.Buffer(0, q), softmetal.Buffer(1, keys), softmetal.Buffer(2, values), softmetal.Buffer(3, y), softmetal.Value(4, a))
}

// want returns attention in float64, and what a result may be wrong by. A score is
// a sum of dim products: dim+2 roundings of 2⁻²⁴ of its magnitudes, and it moves
// its weight by as much, relatively; numerator and denominator both have it. exp is
// right within 4 units of 2⁻²³, a tile's scaling within as many, and the sums over
// n positions add n roundings each.
func (a attention) want(q []float32, keys, values []uint16, threads int) (want, bound []float64) {
	dim, width := int(a.Dim), a.width()
	for head := 0; head < len(q)/dim; head++ {
		column, key := head/int(a.Heads), head%int(a.Heads)/int(a.Heads/a.KeyHeads)*dim
		n := int(a.Position) + column + 1
		weights, sum, worst := make([]float64, n), 0.0, 0.0
		for p := range n {
			var score, size float64
			for k, x := range q[head*dim : (head+1)*dim] {
				product := float64(x) * float64(half.ToFloat32(keys[p*width+key+k])) * float64(a.Scale)
				score, size = score+product, size+math.Abs(product)
			}
			weights[p], worst = math.Exp(score), max(worst, size)
			sum += weights[p]
		}
		relative := 2*float64(dim+2)*0x1p-24*worst + (16*float64((n+threads-1)/threads)+float64(2*n))*0x1p-23
		for k := range dim {
			var y, size float64
			for p, w := range weights {
				term := w / sum * float64(half.ToFloat32(values[p*width+key+k]))
				y, size = y+term, size+math.Abs(term)
			}
			want, bound = append(want, y), append(bound, size*relative)
		}
	}
	return want, bound
}

func TestAttention(t *testing.T) {
	for _, a := range []attention{
		{Heads: 1, KeyHeads: 1, Dim: 1, Position: 0},
		{Heads: 4, KeyHeads: 2, Dim: 6, Position: 5},
		{Heads: 3, KeyHeads: 1, Dim: 128, Position: 95},
		{Heads: 2, KeyHeads: 2, Dim: 80, Position: 31},
	} {
		t.Run(fmt.Sprintf("%d_of_%d/%d/%d", a.Heads, a.KeyHeads, a.Dim, a.Position), func(t *testing.T) {
			if err := a.check(compile(t, Attention, nil)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// check compares three columns behind position with float64.
func (a attention) check(l library) error {
	const columns, threads = 3, 32
	rng := rand.New(rand.NewPCG(uint64(a.Dim), 1))
	a.Scale = float32(1 / math.Sqrt(float64(a.Dim)))
	keys, err := a.cache(l, rng, columns)
	if err != nil {
		return err
	}
	values, err := a.cache(l, rng, columns)
	if err != nil {
		return err
	}
	q := normal(rng, columns*int(a.Heads*a.Dim))
	got, err := a.attend(l, q, keys, values, threads)
	if err != nil {
		return err
	}
	want, bound := a.want(q, keys, values, threads)
	for i := range got {
		if !(math.Abs(float64(got[i])-want[i]) <= bound[i]) {
			return fmt.Errorf("value %d is %v, want %v within %.3g", i, got[i], want[i], bound[i])
		}
	}
	return nil
}

// cache returns a cache of what came before, to which a batch is appended.
func (a attention) cache(l library, rng *rand.Rand, columns int) ([]uint16, error) {
	all := normal(rng, (int(a.Position)+columns)*a.width())
	want := make([]uint16, len(all))
	for i, v := range all {
		want[i] = half.FromFloat32(v)
	}
	got, from := slices.Clone(want), int(a.Position)*a.width()
	clear(got[from:])
	if err := a.append(l, all[from:], got); err != nil {
		return nil, err
	}
	if !slices.Equal(got, want) {
		return nil, fmt.Errorf("the cache is %x, want %x", got, want)
	}
	return got, nil
}

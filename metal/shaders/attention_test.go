package shaders

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/half"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/metal/softmetal"
)

// attentionShape is Attention of attention.metal.
type attentionShape struct {
	Heads, KeyHeads, Dim, Position uint32
	Scale                          float32
	Window                         uint32
}

func (a attentionShape) width() int { return int(a.KeyHeads * a.Dim) }

// A cache has keys or values of every position: the bytes, and the scales of a
// cache in q8_0, of which others have two for nothing.
type cache struct {
	format *formats.Type
	width  int
	data   []byte
	scales []uint16
}

func newCache(format *formats.Type, width, positions int) *cache {
	c := &cache{format: format, width: width, scales: make([]uint16, max(2, width/32*positions))}
	c.data = make([]byte, width*positions*map[*formats.Type]int{formats.F32: 4, formats.F16: 2, formats.Q8_0: 1}[format])
	return c
}

// floats returns what is in it.
func (c *cache) floats() []float32 {
	x := make([]float32, len(c.data))
	switch c.format {
	case formats.F32:
		x = x[:len(c.data)/4]
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(c.data[4*i:]))
		}
	case formats.F16:
		x = x[:len(c.data)/2]
		for i := range x {
			x[i] = half.At(c.data[2*i:])
		}
	default:
		for i := range x {
			x[i] = float32(int8(c.data[i])) * half.ToFloat32(c.scales[i/32])
		}
	}
	return x
}

// want returns what the shaders are to keep of x.
func (c *cache) want(x []float32) []float32 {
	switch out := make([]float32, len(x)); c.format {
	case formats.F32:
		return x
	case formats.F16:
		for i, v := range x {
			out[i] = half.ToFloat32(half.FromFloat32(v))
		}
		return out
	}
	return kernels.ReferenceActivations(kernels.Q8Per32, x)
}

func (a attentionShape) append(l library, x []float32, c *cache) error {
	w := a.width()
	if c.format == formats.Q8_0 {
		return l.Dispatch("append_q8_0", [3]int{(w/32 + 31) / 32 * 32, len(x) / w, 1}, [3]int{32, 1, 1},
			softmetal.Buffer(0, x), softmetal.Buffer(1, c.data), softmetal.Buffer(2, c.scales), softmetal.Value(3, a))
	}
	return l.Dispatch("append", [3]int{(w + 31) / 32 * 32, len(x) / w, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, c.data), softmetal.Value(2, a))
}

func (a attentionShape) attend(l library, q []float32, keys, values *cache, threads int) ([]float32, error) {
	y := poisoned(len(q))
	columns := len(q) / int(a.Heads*a.Dim)
	return y, l.Dispatch("attend", [3]int{int(a.Heads) * threads, columns, 1}, [3]int{threads, 1, 1},
		softmetal.Buffer(0, q), softmetal.Buffer(1, keys.data), softmetal.Buffer(2, values.data), softmetal.Buffer(3, y), softmetal.Value(4, a),
		softmetal.Buffer(5, keys.scales), softmetal.Buffer(6, values.scales))
}

// parts has so many threadgroups look at positions, and adds up what they saw.
func (a attentionShape) parts(l library, q []float32, keys, values *cache, threads, count int) ([]float32, error) {
	heads, columns := int(a.Heads), len(q)/int(a.Heads*a.Dim)
	span := (int(a.Position) + columns + count - 1) / count
	outs, sums, y := poisoned(len(q)*count), make([][2]float32, heads*columns*count), poisoned(len(q))
	parts := [2]uint32{uint32(count), uint32(span)}
	err := l.Dispatch("attend_parts", [3]int{heads * threads, columns, count}, [3]int{threads, 1, 1},
		softmetal.Buffer(0, q), softmetal.Buffer(1, keys.data), softmetal.Buffer(2, values.data), softmetal.Buffer(3, outs), softmetal.Value(4, a),
		softmetal.Buffer(5, keys.scales), softmetal.Buffer(6, values.scales), softmetal.Buffer(7, sums), softmetal.Value(8, parts))
	if err != nil {
		return nil, err
	}
	return y, l.Dispatch("attend_merge", [3]int{(int(a.Dim) + 31) / 32 * 32, heads * columns, 1}, [3]int{32, 1, 1},
		softmetal.Buffer(0, outs), softmetal.Buffer(1, sums), softmetal.Buffer(2, y), softmetal.Value(3, a), softmetal.Value(4, parts))
}

// want returns attention in float64, and what a result may be wrong by. A score is
// a sum of dim products: dim+2 roundings of 2⁻²⁴ of its magnitudes, and it moves
// its weight by as much, relatively; numerator and denominator both have it. exp is
// right within 4 units of 2⁻²³, a tile's scaling within as many, and the sums over
// n positions add n roundings each. A part is a tile more, and is scaled once more.
func (a attentionShape) want(q, keys, values []float32, threads, parts int) (want, bound []float64) {
	dim, width := int(a.Dim), a.width()
	for head := 0; head < len(q)/dim; head++ {
		column, key := head/int(a.Heads), head%int(a.Heads)/int(a.Heads/a.KeyHeads)*dim
		n := int(a.Position) + column + 1
		weights, sum, worst := make([]float64, n), 0.0, 0.0
		first := 0
		if a.Window > 0 {
			first = max(0, n-int(a.Window))
		}
		for p := first; p < n; p++ {
			var score, size float64
			for k, x := range q[head*dim : (head+1)*dim] {
				product := float64(x) * float64(keys[p*width+key+k]) * float64(a.Scale)
				score, size = score+product, size+math.Abs(product)
			}
			weights[p], worst = math.Exp(score), max(worst, size)
			sum += weights[p]
		}
		relative := 2*float64(dim+2)*0x1p-24*worst + (16*float64((n+threads-1)/threads+2*parts)+float64(2*n))*0x1p-23
		for k := range dim {
			var y, size float64
			for p, w := range weights {
				term := w / sum * float64(values[p*width+key+k])
				y, size = y+term, size+math.Abs(term)
			}
			want, bound = append(want, y), append(bound, size*relative)
		}
	}
	return want, bound
}

func TestAttention(t *testing.T) {
	for _, format := range []*formats.Type{formats.F32, formats.F16, formats.Q8_0} {
		for _, a := range []attentionShape{
			{Heads: 1, KeyHeads: 1, Dim: 1, Position: 0},
			{Heads: 4, KeyHeads: 2, Dim: 6, Position: 5},
			{Heads: 3, KeyHeads: 1, Dim: 128, Position: 95},
			{Heads: 2, KeyHeads: 2, Dim: 80, Position: 31},
			{Heads: 2, KeyHeads: 1, Dim: 16, Position: 70, Window: 33},
			{Heads: 2, KeyHeads: 1, Dim: 16, Position: 1, Window: 2},
		} {
			if format == formats.Q8_0 {
				a.Dim = (a.Dim + 31) / 32 * 32
			}
			t.Run(fmt.Sprintf("%s/%d_of_%d/%d/%d", format.Name, a.Heads, a.KeyHeads, a.Dim, a.Position), func(t *testing.T) {
				if err := a.check(compile(t, Attention, cacheConstants(t, format)), format); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

func cacheConstants(t *testing.T, format *formats.Type) map[int]any {
	c, err := CacheConstants(format)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCacheConstants(t *testing.T) {
	if _, err := CacheConstants(formats.BF16); err == nil || err.Error() != "no Metal shader keeps keys and values in bf16" {
		t.Errorf("error %v for bf16", err)
	}
}

// check compares three columns behind position with float64.
func (a attentionShape) check(l library, format *formats.Type) error {
	const columns, threads = 3, 32
	rng := rand.New(rand.NewPCG(uint64(a.Dim), 1))
	a.Scale = float32(1 / math.Sqrt(float64(a.Dim)))
	keys, err := a.cache(l, format, rng, columns)
	if err != nil {
		return err
	}
	values, err := a.cache(l, format, rng, columns)
	if err != nil {
		return err
	}
	q := normal(rng, columns*int(a.Heads*a.Dim))
	want, bound := a.want(q, keys.floats(), values.floats(), threads, 0)
	got, err := a.attend(l, q, keys, values, threads)
	if err != nil {
		return err
	}
	if err := inBound(got, want, bound); err != nil {
		return err
	}
	const count = 4 // of which the first columns do not see the last, in short texts
	if got, err = a.parts(l, q, keys, values, threads, count); err != nil {
		return err
	}
	_, bound = a.want(q, keys.floats(), values.floats(), threads, count)
	if err := inBound(got, want, bound); err != nil {
		return fmt.Errorf("in parts: %w", err)
	}
	return nil
}

func inBound(got []float32, want, bound []float64) error {
	for i := range got {
		if !(math.Abs(float64(got[i])-want[i]) <= bound[i]) {
			return fmt.Errorf("value %d is %v, want %v within %.3g", i, got[i], want[i], bound[i])
		}
	}
	return nil
}

// cache returns a cache that got what came before in one batch, and the columns
// in another. All values are compared, to the bit.
func (a attentionShape) cache(l library, format *formats.Type, rng *rand.Rand, columns int) (*cache, error) {
	all, from := normal(rng, (int(a.Position)+columns)*a.width()), int(a.Position)*a.width()
	c := newCache(format, a.width(), int(a.Position)+columns)
	if from > 0 {
		before := a
		before.Position = 0
		if err := before.append(l, all[:from], c); err != nil {
			return nil, err
		}
	}
	if err := a.append(l, all[from:], c); err != nil {
		return nil, err
	}
	return c, kerneltest.Same(c.floats(), c.want(all))
}

// What is not finite, or too small for a scale, is kept as package kernels does.
func TestAppendAdversarial(t *testing.T) {
	const width = 96
	x := adversarial(rand.New(rand.NewPCG(1, 6)), width)
	c := newCache(formats.Q8_0, width, len(x)/width)
	a := attentionShape{KeyHeads: 3, Dim: 32}
	if err := a.append(compile(t, Attention, cacheConstants(t, formats.Q8_0)), x, c); err != nil {
		t.Fatal(err)
	}
	same(t, "append_q8_0", c.floats(), c.want(x))
}

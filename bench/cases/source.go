package cases

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/source"
)

// A Source is a weight matrix to measure with.
type Source struct {
	Format     *formats.Type
	Rows, Cols int
	// Tensor makes or finds the matrix. Its data is not kept longer than
	// the group of cases that asked for it.
	Tensor func() (*formats.Tensor, error)

	made bool // Tensor takes long
}

// tensor is the matrix. One that is made is so once in a run, and lies in memory of this process.
func (s Source) tensor(shared folder) (t *formats.Tensor, err error) {
	if !s.made {
		return s.Tensor()
	}
	data, err := shared.once(randomName(s.Format, s.Rows, s.Cols), func() ([]byte, error) {
		if t, err = s.Tensor(); err != nil {
			return nil, err
		}
		return t.Data, nil
	})
	if t == nil && err == nil {
		t = &formats.Tensor{Name: randomName(s.Format, s.Rows, s.Cols), Type: s.Format, Shape: []int{s.Rows, s.Cols}, Data: data}
	}
	return t, err
}

// Synthetic returns random matrices of every format in every shape that the
// format can hold, reproducible from the seed.
func Synthetic(types []*formats.Type, shapes []formats.Shape, seed uint64) []Source {
	var out []Source
	for _, s := range shapes {
		for _, t := range types {
			if _, err := t.Bytes(s.Rows, s.Cols); err != nil {
				continue
			}
			out = append(out, randomSource(t, s, seed))
		}
	}
	return out
}

func randomSource(t *formats.Type, s formats.Shape, seed uint64) Source {
	return Source{Format: t, Rows: s.Rows, Cols: s.Cols, Tensor: func() (*formats.Tensor, error) { return random(t, s, seed) }, made: true}
}

func randomName(t *formats.Type, rows, cols int) string {
	return fmt.Sprintf("random.%s.%dx%d", t.Name, rows, cols)
}

// random returns a matrix whose weights have about unit variance per row.
// Ternary formats get weights that they hold exactly, a third of each value.
func random(t *formats.Type, s formats.Shape, seed uint64) (*formats.Tensor, error) {
	size, err := t.Bytes(s.Rows, s.Cols)
	if err != nil {
		return nil, err
	}
	out := &formats.Tensor{
		Name: randomName(t, s.Rows, s.Cols), Type: t,
		Shape: []int{s.Rows, s.Cols}, Data: make([]byte, size),
	}
	h := fnv.New64a()
	h.Write([]byte(out.Name))
	rng := rand.NewPCG(seed, h.Sum64())
	w := make([]float32, s.Rows*s.Cols)
	scale := float32(1 / math.Sqrt(float64(s.Cols)))
	if t.TernaryGroup(s.Rows, s.Cols) > 0 {
		for i := range w {
			w[i] = float32(int(rng.Uint64()>>33%3)-1) * scale
		}
	} else {
		for i := range w {
			w[i] = nearlyNormal(rng.Uint64()) * scale
		}
	}
	return out, t.Matrix(out.Data, s.Rows, s.Cols).Quantize(w)
}

// nearlyNormal adds four uniform numbers: variance 1, and much cheaper than a
// normal one.
func nearlyNormal(bits uint64) float32 {
	sum := bits&0xffff + bits>>16&0xffff + bits>>32&0xffff + bits>>48
	return (float32(sum) - 2*0xffff) * (1.7320508 / 0x10000)
}

// activations returns x ~ N(0, 1), reproducible.
func activations(cols int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, uint64(cols)))
	x := make([]float32, cols)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// DefaultSources are a small projection, the first of Bonsai-1.7B, and a large
// one, the largest of BitNet-2B-4T, random, in every format that has a variant
// besides the reference. The models' other projections lie between, and the time
// that they took goes into processes, which say how far to trust a figure.
func DefaultSources(seed uint64) []Source {
	large := slices.MaxFunc(projections("bitnet-2b-4t"), func(a, b formats.Shape) int { return a.Rows*a.Cols - b.Rows*b.Cols })
	return Synthetic(measurable(), []formats.Shape{shortShape(), large}, seed)
}

// ShortSources are the small one in the formats that onebit is about.
func ShortSources(seed uint64) []Source {
	main := slices.DeleteFunc(formats.Types(), func(t *formats.Type) bool { return !kernels.FormatOf(t).Short })
	return Synthetic(main, []formats.Shape{shortShape()}, seed)
}

func shortShape() formats.Shape { return projections("bonsai-1.7b")[0] }

func projections(preset string) []formats.Shape {
	shapes, err := arch.ProjectionShapes(preset)
	if err != nil {
		panic("cases: " + err.Error())
	}
	return shapes
}

// measurable returns the formats that a kernel multiplies.
func measurable() []*formats.Type {
	var out []*formats.Type
	for _, v := range kernels.Variants() {
		if v.Name != "reference" && !slices.Contains(out, v.Format) {
			out = append(out, v.Format)
		}
	}
	return out
}

// ModelOptions are explicit choices that a model file leaves open.
type ModelOptions = gguf.Options

// OpenModel returns a Source for each distinct format and shape among the
// matrices of a GGUF file or Hugging Face directory, the first tensor of its
// kind. Closing the model ends the sources.
func OpenModel(path string, opt ModelOptions) (source.Source, []Source, error) {
	f, err := source.Open(path, opt)
	if err != nil {
		return nil, nil, err
	}
	var out []Source
	type kind struct {
		t          *formats.Type
		rows, cols int
	}
	seen := map[kind]bool{}
	for _, info := range f.Tensors() {
		if info.Type == nil || len(info.Shape) < 2 {
			continue
		}
		rows, cols := formats.Dims(info.Shape)
		if k := (kind{info.Type, rows, cols}); !seen[k] {
			seen[k] = true
			out = append(out, Source{Format: info.Type, Rows: rows, Cols: cols, Tensor: func() (*formats.Tensor, error) {
				t, err := f.Tensor(info.Name)
				return &t, err
			}})
		}
	}
	if len(out) == 0 {
		f.Close()
		return nil, nil, fmt.Errorf("%s: no tensor is a matrix in a known format", path)
	}
	return f, out, nil
}

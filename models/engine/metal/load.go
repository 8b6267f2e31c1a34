package metal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"onebit/formats"
	"onebit/internal/deviation"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/metal"
	"onebit/metal/shaders"
	"onebit/models/engine"
)

// A matrix is a weight of products.
type matrix struct {
	engine.WeightInfo
	variant *shaders.Variant
	many    *shaders.Variant // for many columns of activations; nil: variant too
	scheme  kernels.Scheme
	packed  *formats.Type   // that the weights were packed to; else their own
	planes  *metal.Pipeline // makes the activations of variants with planes
	codes   argument        // all of the weights or, if the layout has them apart, without
	scales  *metal.Buffer   // these
	scale   float32         // of the tensor, if it has one
	mapped  []byte          // that Load is yet to make codes of

	experts  *metal.Pipeline // multiplies those that are chosen, of Use Experts
	rowBytes int             // of theirs
}

// Info implements engine.Weight.
func (m *matrix) Info() engine.WeightInfo { return m.WeightInfo }

// A table is a weight that rows are looked up in, in the file.
type table struct{ formats.Tensor }

func (t *table) Info() engine.WeightInfo {
	rows, cols := t.Dims()
	return engine.WeightInfo{Tensor: t.Name, Rows: rows, Cols: cols, Type: t.Type, Bytes: len(t.Data)}
}

// A gain is a vector in float32.
type gain struct {
	name   string
	values *metal.Buffer
}

func (g *gain) len() int { return len(g.values.Bytes()) / 4 }

func (g *gain) Info() engine.WeightInfo {
	return engine.WeightInfo{Tensor: g.name, Rows: 1, Cols: g.len(), Type: formats.F32, Bytes: 4 * g.len()}
}

// Load checks, packs and converts the weights, several at a time.
func (e *Engine) Load(ctx context.Context, requests []engine.Request) ([]engine.Weight, error) {
	out := make([]engine.Weight, len(requests))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range requests {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return mmap.Guard(func() (err error) {
				out[i], err = e.load(r)
				return err
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, e.mapWeights(out)
}

// mapWeights makes buffers of the weights that are used in place.
func (e *Engine) mapWeights(weights []engine.Weight) error {
	files := map[int][]*matrix{}
	for _, w := range weights {
		if m, ok := w.(*matrix); ok && m.mapped != nil {
			n := e.source.Part(m.Tensor)
			files[n] = append(files[n], m)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(files)) {
		if err := e.mapFile(files[n]); err != nil {
			return err
		}
	}
	return nil
}

// mapFile makes buffers of weights of one file: together, for tensors share pages.
func (e *Engine) mapFile(matrices []*matrix) error {
	var parts [][]byte
	for _, m := range matrices {
		parts = append(parts, m.mapped)
	}
	mapping, err := e.device.Map(parts)
	if part, ok := errors.AsType[*metal.PartError](err); ok {
		return e.source.Fault(matrices[part.Part].Tensor, tooLarge(part.Err))
	}
	if err != nil {
		return err
	}
	e.buffers = append(e.buffers, mapping.Buffers()...)
	for i, m := range matrices {
		m.codes = at(mapping.At(i))
		m.mapped = nil
	}
	return nil
}

// load loads a weight.
func (e *Engine) load(r engine.Request) (engine.Weight, error) {
	t, err := e.source.Tensor(r.Tensor)
	if err != nil {
		return nil, err
	}
	w, err := e.weight(&t, r)
	if err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	return w, nil
}

func (e *Engine) weight(t *formats.Tensor, r engine.Request) (engine.Weight, error) {
	if r.Use == engine.Gain && !kernels.FormatOf(t.Type).For(kernels.Norm) {
		return nil, fmt.Errorf("is %s, want a norm in f32, f16 or bf16", t.Type.Name)
	}
	e.source.Populate(t.Name)
	if err := t.Matrix().Validate(); err != nil {
		return nil, err
	}
	switch {
	case r.Use == engine.Table:
		return &table{*t}, nil
	case r.Use == engine.Gain:
		return e.gain(t)
	case r.Use == engine.Experts:
		return e.experts(t, e.source.InPlace())
	case r.Type != nil && r.Type != t.Type:
		return e.convert(t, r.Type)
	}
	return e.matrix(t, e.source.InPlace())
}

func (e *Engine) gain(t *formats.Tensor) (*gain, error) {
	values, err := t.Floats()
	if err != nil {
		return nil, err
	}
	b, err := e.copied(bytesOf(values))
	return &gain{t.Name, b}, err
}

// matrix makes a tensor's weights ready for the kernel of its format. They stay
// where they are if the file has them.
func (e *Engine) matrix(t *formats.Tensor, inPlace bool) (*matrix, error) {
	packed, err := shaders.Pack(t)
	if err != nil {
		return nil, errors.Unwrap(err) // without the tensor's name
	}
	rows, cols := t.Dims()
	m := &matrix{packed: packed.Type, WeightInfo: engine.WeightInfo{Tensor: t.Name, Rows: rows, Cols: cols, Type: t.Type}}
	if err := e.choose(m, t.Type); err != nil {
		return nil, err
	}
	m.Kernel = fmt.Sprintf("%s/%s/%s", t.Type.Name, m.variant.Name, m.scheme)
	if err := e.place(m, packed, inPlace && packed == t); err != nil {
		return nil, tooLarge(err)
	}
	return m, nil
}

// prepare makes m's pipelines for a token, of which others differ in numbers only:
// what is wrong with them is found before the weights are in memory.
func (e *Engine) prepare(m *matrix) error {
	p, err := e.plan(m, m.variant, 1)
	if err == nil && m.variant.Quantization == shaders.QuantizePlanes {
		m.planes, err = e.pipeline(m.variant.Source, shaders.QuantizePlanes, p.Constants, reducingThreads)
	}
	return err
}

// tooLarge adds what to do.
func tooLarge(err error) error {
	if errors.Is(err, metal.ErrTooLarge) {
		return fmt.Errorf("%w; use the engine cpu or, if this is the output head, convert it to a smaller format", err)
	}
	return err
}

// place puts weights where m's variant wants them.
func (e *Engine) place(m *matrix, t *formats.Tensor, inPlace bool) error {
	codes, err := shaders.CodesOf(t.Type)
	if err != nil { // floats
		return e.whole(m, t, inPlace)
	}
	if codes.BlockColumns == 0 {
		if m.scale, err = t.Matrix().TensorScale(); err != nil {
			return err
		}
	}
	switch m.variant.Layout {
	case shaders.Tiled:
		return e.tiled(m, t, codes)
	case shaders.Split:
		return e.split(m, t, codes)
	}
	return e.whole(m, t, inPlace)
}

// tiled packs tiles, on all processors.
func (e *Engine) tiled(m *matrix, t *formats.Tensor, codes shaders.Codes) error {
	codeBytes, scaleBytes := codes.TileBytes(m.Cols)
	tiles := shaders.Tiles(m.Rows)
	bits, err := e.room(tiles * codeBytes)
	if err != nil {
		return err
	}
	// A buffer has to be there even of a tensor with one scale.
	if m.scales, err = e.room(max(2, tiles*scaleBytes)); err != nil {
		return err
	}
	m.codes, m.Bytes = at(bits, 0), tiles*(codeBytes+scaleBytes)
	var g errgroup.Group
	threads := runtime.GOMAXPROCS(0)
	for i := range threads {
		g.Go(func() error {
			return mmap.Guard(func() error {
				for tile := i * tiles / threads; tile < (i+1)*tiles/threads; tile++ {
					codes.Tile(bits.Bytes()[tile*codeBytes:][:codeBytes], m.scales.Bytes()[tile*scaleBytes:], t.Data, m.Rows, m.Cols, tile)
				}
				return nil
			})
		})
	}
	defer e.release(t.Name)
	return g.Wait()
}

// split takes codes and scales apart.
func (e *Engine) split(m *matrix, t *formats.Tensor, codes shaders.Codes) error {
	bits, scales := codes.Split(t.Data, m.Rows, m.Cols)
	defer e.release(t.Name)
	m.Bytes = len(bits) + len(scales)
	if len(scales) == 0 {
		scales = []byte{0, 0} // a buffer has to be there
	}
	b, err := e.copied(bits)
	if err != nil {
		return err
	}
	m.codes = at(b, 0)
	m.scales, err = e.copied(scales)
	return err
}

// wordBytes is the longest word that a kernel loads.
const wordBytes = 16

// whole takes a tensor's memory as it is, in place if that stays where it is and
// begins a word.
func (e *Engine) whole(m *matrix, t *formats.Tensor, inPlace bool) error {
	m.Bytes = len(t.Data)
	if inPlace && uintptr(unsafe.Pointer(unsafe.SliceData(t.Data)))%wordBytes == 0 {
		m.mapped = t.Data
		return nil
	}
	b, err := e.copied(t.Data)
	m.codes = at(b, 0)
	e.release(t.Name)
	return err
}

// copied makes a buffer with this in it.
func (e *Engine) copied(data []byte) (*metal.Buffer, error) {
	b, err := e.room(len(data))
	if err == nil {
		copy(b.Bytes(), data)
	}
	return b, err
}

// room makes a buffer, which Close closes.
func (e *Engine) room(bytes int) (*metal.Buffer, error) {
	b, err := e.device.NewBuffer(bytes)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffers = append(e.buffers, b)
	return b, nil
}

// release frees the file's pages of a tensor. It is a hint: where it fails,
// memory stays in use.
func (e *Engine) release(name string) { _ = e.source.Release(name) }

// convert makes the matrix of t in another format. It goes through a few rows at
// a time, so that there is never all of it in float32.
func (e *Engine) convert(t *formats.Tensor, to *formats.Type) (*matrix, error) {
	const strip = 64 // rows
	rows, cols := t.Dims()
	size, err := to.Bytes(rows, cols)
	if err != nil {
		return nil, err
	}
	rowBytes, err := to.Bytes(1, cols)
	if err != nil || size != rows*rowBytes {
		return nil, errors.Join(fmt.Errorf("cannot be converted to %s, whose scales are not in its rows; choose another format, such as q8_0", to.Name), err)
	}
	converted := &formats.Tensor{Name: t.Name, Type: to, Shape: t.Shape, Data: make([]byte, size)}
	x, y := make([]float32, strip*cols), make([]float32, strip*cols)
	var sum deviation.Sum
	for from := 0; from < rows; from += strip {
		n := min(strip, rows-from)
		x, y, part := x[:n*cols], y[:n*cols], to.Matrix(converted.Data[from*rowBytes:][:n*rowBytes], n, cols)
		if err := t.Matrix().DequantizeRows(x, from, from+n); err != nil {
			return nil, err
		}
		if err := part.Round(y, x); err != nil {
			return nil, fmt.Errorf("rows from %d on: %w", from, err)
		}
		sum.Add(deviation.Of(y, x))
	}
	e.release(t.Name)
	m, err := e.matrix(converted, false)
	if err == nil {
		m.Error = sum.NMSE()
	}
	return m, err
}

package models

import (
	"errors"
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/arch"
)

// Open opens the model at path, as OpenSource does, checks
// its tensors against its architecture, and makes the weights ready: those
// outside the transformer blocks first, then block after block, the pages of a
// packed tensor released before the next is read. Weights that are used in
// place may be left for the first prompt to check: see [Model.Check]. What is
// wrong with a file is a *container.FormatError or a *ConfigError, which names the
// key or the tensor.
//
// The file stays mapped. If another process cuts it short meanwhile, those methods
// that return errors return one that names it; Block.Forward, Session.Finish and
// the like end the process.
func Open(path string, opt Options) (*Model, error) {
	src, err := OpenSource(path, opt.GGUF)
	if err != nil {
		return nil, err
	}
	return Load(src, opt)
}

// Load is Open for a source, which it closes if it fails; otherwise the
// model's Close does.
func Load(src Source, opt Options) (*Model, error) {
	m := &Model{source: src, options: opt, pool: opt.Pool, ownsPool: opt.Pool == nil}
	if m.ownsPool {
		m.pool = kernels.NewPool(opt.Threads)
	}
	if err := mmap.Guard(m.load); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Model) load() error {
	if err := m.source.Check(); err != nil {
		return err
	}
	if err := m.choosePacking(); err != nil {
		return err
	}
	table, config, err := m.source.Config()
	if err != nil {
		return err
	}
	m.Config = config
	if m.Arch, err = Lookup(table.Name); err != nil {
		return err
	}
	if err := m.checkTensors(); err != nil {
		return err
	}
	m.rope = newRope(m.Config)
	if err := m.loadGlobals(); err != nil {
		return err
	}
	if err := m.loadLayers(); err != nil {
		return err
	}
	if m.options.Packing == PackBehind {
		m.packer = startPacker(m)
	}
	return nil
}

// choosePacking settles what Packing means for weights that are made on
// demand: there is nothing to start on before they are packed, and making
// them again for every batch of tokens is no way to run a model.
func (m *Model) choosePacking() error {
	switch {
	case m.source.InPlace():
	case m.options.Packing == Stream:
		return fmt.Errorf("%s: the weights are ternarized as they are loaded and cannot be streamed; convert the model to GGUF first", m.source.Name())
	case m.options.Packing == PackBehind:
		m.options.Packing = PackFirst
	}
	return nil
}

// loadLayers loads the head, unless it was converted, and the blocks: one after
// the other if they are packed or made, which takes all threads, and otherwise
// side by side, since checking the file's bytes is all there is to do.
func (m *Model) loadLayers() error {
	m.blocks = make([]*Block, m.Config.Layers)
	load := func(i int) (err error) {
		switch {
		case i > 0:
			m.blocks[i-1], err = m.loadBlock(i - 1)
		case m.Head == nil:
			m.Head, err = m.tensorLinear(m.headName())
		}
		return err
	}
	if m.options.Packing == PackFirst || !m.source.InPlace() {
		for i := range 1 + m.Config.Layers {
			if err := load(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, 1+m.Config.Layers)
	m.pool.ForEach(len(errs), func(i int) { errs[i] = load(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTensors compares the inventory and the vocabulary.
func (m *Model) checkTensors() error {
	if bad := m.Arch.CheckInventory(m.Config, m.source.Tensors()); len(bad) > 0 {
		msg := fmt.Sprintf("%s, in a model of architecture %s", bad[0].Msg, m.Arch.Name)
		if len(bad) > 1 {
			msg += fmt.Sprintf(" (and %d more tensors differ)", len(bad)-1)
		}
		return m.source.Fault(bad[0].Tensor, errors.New(msg))
	}
	if n, where := m.source.Tokens(); where != "" && n != m.Config.Vocab {
		return m.source.Fault(arch.EmbeddingTensor, fmt.Errorf("has a row for each of %d tokens, and %s lists %d", m.Config.Vocab, where, n))
	}
	return nil
}

// loadGlobals loads what is outside the blocks, of the head only one that is to
// be converted. Rows of the embedding are looked up in the file, whatever becomes
// of it as the head.
func (m *Model) loadGlobals() (err error) {
	if m.embedding, err = m.source.Tensor(arch.EmbeddingTensor); err != nil {
		return err
	}
	if m.outputNorm, err = m.norm(arch.OutputNormTensor); err != nil {
		return err
	}
	if !m.Config.TiedHead {
		if err := m.checkEmbedding(); err != nil {
			return err
		}
	}
	head, err := m.source.Tensor(m.headName())
	if err != nil {
		return err
	}
	if to := m.options.Head; to != nil && to != head.Type {
		if m.Head, err = m.convertedHead(head, to); err != nil {
			return m.source.Fault(head.Name, err)
		}
	}
	return nil
}

func (m *Model) headName() string {
	if m.Config.TiedHead {
		return arch.EmbeddingTensor
	}
	return arch.HeadTensor
}

// checkEmbedding checks one that nothing multiplies. All that is read of it
// after that are the rows of a text's tokens.
func (m *Model) checkEmbedding() error {
	if err := m.embedding.Type.Validate(m.embedding.Data, m.Config.Vocab, m.Config.Hidden); err != nil {
		return m.source.Fault(arch.EmbeddingTensor, err)
	}
	m.release(arch.EmbeddingTensor)
	return nil
}

// loadBlock returns what it has of a block if it fails, to be closed.
func (m *Model) loadBlock(n int) (*Block, error) {
	b := &Block{Index: n, forward: m.Arch.forward}
	prefix := fmt.Sprintf("blk.%d.", n)
	norms, linears := b.norms(), b.linears()
	for _, d := range m.Arch.Block {
		name := prefix + d.Name + ".weight"
		var err error
		if d.Role == arch.Norm {
			*norms[d.Name], err = m.norm(name)
		} else {
			*linears[d.Name], err = m.tensorLinear(name)
		}
		if err != nil {
			return b, err
		}
	}
	if m.options.Packing == Stream {
		m.releaseBlock(b)
	}
	return b, nil
}

// normTypes are what a norm may be stored in: it is read as float32.
var normTypes = []*formats.Type{formats.F32, formats.F16, formats.BF16}

func (m *Model) norm(name string) ([]float32, error) {
	t, err := m.source.Tensor(name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(normTypes, t.Type) {
		return nil, m.source.Fault(name, fmt.Errorf("is %s, want a norm in f32, f16 or bf16", t.Type.Name))
	}
	_, n := t.Dims()
	if err := t.Type.Validate(t.Data, 1, n); err != nil {
		return nil, m.source.Fault(name, err)
	}
	return t.Floats()
}

func (m *Model) tensorLinear(name string) (*Linear, error) {
	t, err := m.source.Tensor(name)
	if err != nil {
		return nil, err
	}
	return m.linear(t)
}

// linear packs a tensor, or takes it in place.
func (m *Model) linear(t formats.Tensor) (*Linear, error) {
	v, err := m.options.variantFor(t.Type, m.options.Packing != PackFirst)
	if err != nil {
		return nil, m.source.Fault(t.Name, err)
	}
	w, err := m.pack(v, t, m.pool)
	if err != nil {
		return nil, err
	}
	if w.variant.Layout != kernels.Native {
		m.release(t.Name)
	}
	rows, cols := t.Dims()
	l := &Linear{Name: t.Name, Rows: rows, Cols: cols, Type: t.Type, tensor: t}
	l.weights.Store(w)
	return l, nil
}

// pack checks and packs a tensor. Weights in place are checked later, if that
// can be: see Check.
func (m *Model) pack(v *kernels.Variant, t formats.Tensor, pool *kernels.Pool) (*weights, error) {
	if m.options.startsInPlace() && v.ShowsBadWeights() {
		matrix, err := v.InPlace(&t)
		if err != nil {
			return nil, m.source.Fault(t.Name, err)
		}
		m.unchecked.Store(true)
		m.source.Populate(t.Name)
		return &weights{v, matrix}, nil
	}
	w, err := m.packInto(v, t, pool)
	if err != nil {
		return nil, m.source.Fault(t.Name, err)
	}
	return w, nil
}

// packInto packs into the model's memory.
func (m *Model) packInto(v *kernels.Variant, t formats.Tensor, pool *kernels.Pool) (*weights, error) {
	var data []byte
	if v.Layout != kernels.Native {
		rows, cols := t.Dims()
		size, err := v.Layout.Bytes(v.Format, rows, cols)
		if err != nil {
			return nil, err
		}
		if data, err = m.packed.alloc(size); err != nil {
			return nil, err
		}
	}
	matrix, err := v.PackInto(data, &t, pool)
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // without the tensor's name, which Fault says
	}
	return &weights{v, matrix}, err
}

// release lets go of the file's pages of a tensor. It is a hint: where it
// fails, memory stays in use.
func (m *Model) release(name string) { _ = m.source.Release(name) }

func (m *Model) releaseBlock(b *Block) {
	for _, l := range b.Linears() {
		m.release(l.Name)
	}
}

package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/engine"
)

// Load loads the weights. Those that are packed, made or converted come one
// after the other, which takes all threads; the others side by side, since
// checking the file's bytes is all there is to do.
func (e *Engine) Load(ctx context.Context, requests []engine.Request) ([]engine.Weight, error) {
	out := make([]engine.Weight, len(requests))
	err := mmap.Guard(func() error { return e.load(ctx, out, requests) })
	if err != nil {
		return nil, err
	}
	for _, w := range out {
		switch w := w.(type) {
		case *matrix:
			e.layers = append(e.layers, w)
		case *experts:
			e.experts = append(e.experts, w)
		}
	}
	if e.options.Packing == PackBehind {
		e.packer = startPacker(e)
	}
	return out, nil
}

func (e *Engine) load(ctx context.Context, out []engine.Weight, requests []engine.Request) error {
	together := e.options.Packing != PackFirst && e.source.InPlace()
	var later []int
	for i, r := range requests {
		if together && r.Use == engine.Matrix && !e.converts(r) {
			later = append(later, i)
			continue
		}
		var err error
		if out[i], err = e.one(ctx, r, requests); err != nil {
			return err
		}
	}
	errs := make([]error, len(later))
	e.pool.ForEach(len(later), func(i int) { out[later[i]], errs[i] = e.one(ctx, requests[later[i]], requests) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// converts reports whether a request is for another format than the file's.
func (e *Engine) converts(r engine.Request) bool {
	if r.Type == nil {
		return false
	}
	t, err := e.source.Tensor(r.Tensor)
	return err == nil && t.Type != r.Type
}

// one loads a weight.
func (e *Engine) one(ctx context.Context, r engine.Request, all []engine.Request) (engine.Weight, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := e.source.Tensor(r.Tensor)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Use == engine.Gain:
		return e.gain(t)
	case r.Use == engine.Experts:
		return e.expertsOf(t)
	case r.Use == engine.Table:
		multiplied := slices.ContainsFunc(all, func(o engine.Request) bool { return o.Tensor == r.Tensor && o.Use == engine.Matrix })
		return e.table(t, multiplied)
	case r.Type != nil && r.Type != t.Type:
		m, err := e.convert(t, r.Type)
		if err != nil {
			return nil, e.source.Fault(t.Name, err)
		}
		return m, nil
	}
	return e.matrix(t)
}

// table takes rows from the file, whatever becomes of it as a matrix. One that
// nothing multiplies is checked here: all that is read of it after that are the
// rows of a text's tokens.
func (e *Engine) table(t formats.Tensor, multiplied bool) (*table, error) {
	if multiplied {
		return &table{t}, nil
	}
	if err := t.Matrix().Validate(); err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	e.release(t.Name)
	return &table{t}, nil
}

func (e *Engine) gain(t formats.Tensor) (*gain, error) {
	if !kernels.FormatOf(t.Type).For(kernels.Norm) {
		return nil, e.source.Fault(t.Name, fmt.Errorf("is %s, want a norm in f32, f16 or bf16", t.Type.Name))
	}
	rows, cols := t.Dims()
	if err := t.Matrix().Validate(); err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	values, err := t.Floats()
	return newGain(t.Name, rows, cols, values), err
}

// matrix packs a tensor, or takes it in place.
func (e *Engine) matrix(t formats.Tensor) (*matrix, error) {
	v, err := e.options.Kernels.variantFor(t.Type, e.options.Packing != PackFirst)
	if err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	rows, cols := t.Dims()
	m := &matrix{name: t.Name, rows: rows, cols: cols, format: t.Type, tensor: t}
	w, err := e.pack(m, v, e.pool)
	if err != nil {
		return nil, err
	}
	m.weights.Store(w)
	switch {
	case e.options.Packing == Stream && !e.source.InPlace():
		m.pins = &pins{users: 1}
		e.unpin(m)
	case w.variant.Layout != kernels.Native || e.options.Packing == Stream:
		e.release(t.Name)
	}
	return m, nil
}

// pack checks and packs a matrix's tensor. Weights in place are checked later,
// if that can be: see Check.
func (e *Engine) pack(m *matrix, v *kernels.Variant, pool *kernels.Pool) (*weights, error) {
	t := m.tensor
	if e.options.Packing.startsInPlace() && v.ShowsBadWeights() {
		in, err := v.InPlace(&t)
		if err != nil {
			return nil, e.source.Fault(t.Name, err)
		}
		e.unchecked.Add(1)
		e.source.Populate(t.Name)
		return &weights{v, in}, nil
	}
	w, err := e.packInto(v, t, pool)
	if err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	e.markChecked(m)
	return w, nil
}

// packInto packs into the engine's memory.
func (e *Engine) packInto(v *kernels.Variant, t formats.Tensor, pool *kernels.Pool) (*weights, error) {
	var data []byte
	if v.Layout != kernels.Native {
		rows, cols := t.Dims()
		size, err := v.Layout.Bytes(v.Format, rows, cols)
		if err != nil {
			return nil, err
		}
		if data, err = e.packed.Alloc(size); err != nil {
			return nil, err
		}
	}
	packed, err := v.PackInto(data, &t, pool)
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // without the tensor's name, which Fault says
	}
	return &weights{v, packed}, err
}

// release frees the file's pages of a tensor. It is a hint: where it
// fails, memory stays in use.
func (e *Engine) release(name string) { _ = e.source.Release(name) }

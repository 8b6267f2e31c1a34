package metal

import (
	"errors"
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/kernels"
	"onebit/metal"
	"onebit/metal/shaders"
)

// choose gives m the variant that multiplies weights of a format, which were packed
// to m.packed, on this GPU: the one that was asked for if it does, else the fastest.
func (e *Engine) choose(m *matrix, format *formats.Type) error {
	err := fmt.Errorf("no Metal shader multiplies %s in %d columns; the engine cpu multiplies every format", format.Name, m.Cols)
	for _, v := range e.candidates(format, m.packed, m.Rows, m.Cols) {
		m.variant, m.scheme = v, schemeOf(v, format)
		if err = e.prepare(m); err == nil {
			return e.chooseForMany(m)
		}
		if !errors.Is(err, errUnfit) {
			return err
		}
	}
	return err
}

// chooseForMany gives m the variant that multiplies its weights, as they lie, with many
// columns of activations, if there is one that gives the same bits.
func (e *Engine) chooseForMany(m *matrix) error {
	if m.variant.Name == e.options.Variant || inexact[m.variant.Name] {
		return nil
	}
	for i := range e.variants {
		v := &e.variants[i]
		if v.Columns == 0 || v.Layout != m.variant.Layout {
			continue
		}
		if _, err := v.Plan(m.packed, actColumns(m.scheme), m.Rows, m.Cols, v.Columns); err != nil {
			continue
		}
		if _, err := e.plan(m, v, v.Columns); err == nil {
			m.many = v
		} else if !errors.Is(err, errUnfit) {
			return err
		}
	}
	return nil
}

// by returns what multiplies with so many columns.
func (m *matrix) by(columns int) *shaders.Variant {
	if m.many != nil && columns >= m.many.Columns {
		return m.many
	}
	return m.variant
}

// candidates lists the variants that multiply weights of a format, the best first.
func (e *Engine) candidates(format, packed *formats.Type, rows, cols int) (out []*shaders.Variant) {
	for i := range e.variants {
		v := &e.variants[len(e.variants)-1-i]
		switch _, err := v.Plan(packed, actColumns(schemeOf(v, format)), rows, cols, 1); {
		case err != nil:
		case v.Name == e.options.Variant:
			out = slices.Insert(out, 0, v)
		case v.PerDispatch || v.Columns > 0 || e.options.Native && v.Layout != shaders.Native:
		default:
			out = append(out, v)
		}
	}
	return out
}

// schemeOf returns how activations reach a variant.
func schemeOf(v *shaders.Variant, format *formats.Type) kernels.Scheme {
	if v.Quantization == "" {
		return kernels.F32
	}
	return kernels.FormatOf(format).Scheme
}

// quantizers are the schemes of package kernels, in the order of the shaders'.
var quantizers = []kernels.Scheme{kernels.Q8Row, kernels.Q8Per128, kernels.Q8Per32}

// actColumns returns how many columns of activations have one scale; 0: all.
func actColumns(scheme kernels.Scheme) uint32 {
	const all = 1 << 30
	if n := scheme.GroupLen(all); n != all {
		return uint32(n)
	}
	return 0
}

// A planned is a product with so many columns of activations at most.
type planned struct {
	shaders.Plan
	pipeline *metal.Pipeline
}

// A planKey is what plans differ by.
type planKey struct {
	variant             *shaders.Variant
	format              *formats.Type
	scheme              kernels.Scheme
	rows, cols, columns int
}

// plan returns how a variant multiplies a matrix with so many columns of activations.
// It is made once.
func (e *Engine) plan(m *matrix, v *shaders.Variant, columns int) (*planned, error) {
	key := planKey{v, m.packed, m.scheme, m.Rows, m.Cols, columns}
	e.mu.Lock()
	p := e.plans[key]
	e.mu.Unlock()
	if p != nil {
		return p, nil
	}
	plan, err := v.Plan(m.packed, actColumns(m.scheme), m.Rows, m.Cols, columns)
	if err != nil {
		return nil, err
	}
	p = &planned{Plan: plan}
	p.pipeline, err = e.pipeline(v.Source, v.Kernel, plan.Constants, plan.Threads[0])
	if err == nil {
		err = lanes(p.pipeline, v.Kernel, v.Lanes)
	}
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.plans[key] = p
	e.mu.Unlock()
	return p, nil
}

// multiply writes W·x to dst, as many columns at a time as a command buffer may
// hold.
func (s *stream) multiply(m *matrix, in *activations, dst *buffer) {
	most, v := dst.n, m.by(dst.n)
	if v.PerDispatch {
		most = 1
	}
	s.runs(dst.n, m.Rows*m.Cols, func(from, n int) {
		for end := from + n; from < end; from += most {
			s.product(m, v, in, dst, from, min(most, end-from))
		}
	})
}

// product multiplies columns [from, from+n).
func (s *stream) product(m *matrix, v *shaders.Variant, in *activations, dst *buffer, from, n int) {
	p, err := s.engine.plan(m, v, n)
	if errors.Is(err, errUnfit) && n > 1 { // fewer sums take fewer registers
		s.product(m, v, in, dst, from, n/2)
		s.product(m, v, in, dst, from+n/2, n-n/2)
		return
	}
	if err != nil {
		s.fail(err)
		return
	}
	b := v.Bindings
	args := make([]argument, b.Shape+1)
	bind := func(index int, a argument) {
		if index >= 0 {
			args[index] = a
		}
	}
	bind(b.Weights, m.codes)
	bind(b.WeightScales, at(m.scales, 0))
	bind(b.Activations, at(in.values, from*in.valueBytes))
	bind(b.Sums, at(in.sums, from*in.sumBytes))
	bind(b.Scales, at(in.scales, 4*from*in.groups))
	bind(b.Results, out(dst.buffer, 4*from*m.Rows))
	bind(b.Shape, value(shaders.Shape{
		Rows: uint32(m.Rows), Cols: uint32(m.Cols), RowBytes: uint32(p.RowBytes), Stride: uint32(in.stride),
		Groups: uint32(in.groups), ActColumns: uint32(in.groupLen), Scale: m.scale, Columns: uint32(n),
	}))
	s.groups(p.pipeline, size(p.Groups), size(p.Threads), args...)
}

func size(n [3]int) metal.Size {
	return metal.Size{Width: uint(n[0]), Height: uint(n[1]), Depth: uint(n[2])}
}

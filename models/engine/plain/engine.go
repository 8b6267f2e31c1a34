// Package plain is an engine in float64, written to be read: weights are
// decoded, and every operation is the loop of its definition, on one thread. It
// is what other engines are compared with, on small models.
package plain

import (
	"context"
	"fmt"

	"onebit/formats"
	"onebit/internal/deviation"
	"onebit/models/engine"
)

func init() {
	engine.Register(engine.Kind{Name: "plain", Summary: "float64 on one thread, the definition of each operation, for comparison", Open: Options{}})
}

// Options are the engine's, which has none.
type Options struct{}

// Open implements engine.Opener.
func (Options) Open(src engine.Source) (engine.Engine, error) { return &plain{src}, nil }

type plain struct{ source engine.Source }

func (*plain) Name() string { return "plain" }
func (*plain) Check() error { return nil } // Load has checked
func (*plain) Wait() error  { return nil }
func (*plain) Close() error { return nil }

// A weight is a tensor in float64, row after row.
type weight struct {
	engine.WeightInfo
	rows [][]float64
}

func (w *weight) Info() engine.WeightInfo { return w.WeightInfo }

func (p *plain) Load(ctx context.Context, requests []engine.Request) ([]engine.Weight, error) {
	var out []engine.Weight
	for _, r := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w, err := p.load(r)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

func (p *plain) load(r engine.Request) (*weight, error) {
	t, err := p.source.Tensor(r.Tensor)
	if err != nil {
		return nil, err
	}
	rows, cols := t.Dims()
	if err := t.Matrix().Validate(); err != nil {
		return nil, p.source.Fault(r.Tensor, err)
	}
	values, err := t.Floats()
	if err != nil {
		return nil, p.source.Fault(r.Tensor, err)
	}
	w := &weight{WeightInfo: engine.WeightInfo{Tensor: t.Name, Rows: rows, Cols: cols, Type: t.Type, Bytes: 8 * len(values)}}
	if r.Type != nil && r.Type != t.Type {
		if values, err = w.convert(values, r.Type); err != nil {
			return nil, p.source.Fault(r.Tensor, err)
		}
	}
	if r.Use == engine.Experts {
		w.Experts = t.Shape[0]
		w.Rows /= w.Experts
	}
	if r.Use == engine.Matrix || r.Use == engine.Experts {
		w.Kernel = w.Type.Name + "/plain/f64"
	}
	for i := range rows {
		w.rows = append(w.rows, float64s(values[i*cols:][:cols]))
	}
	return w, p.source.Release(r.Tensor)
}

// convert rounds values to another format.
func (w *weight) convert(values []float32, to *formats.Type) ([]float32, error) {
	m, err := to.NewMatrix(w.Rows, w.Cols)
	if err != nil {
		return nil, err
	}
	rounded := make([]float32, len(values))
	if err := m.Round(rounded, values); err != nil {
		return nil, err
	}
	w.Type, w.Error = to, deviation.Of(rounded, values).NMSE()
	return rounded, nil
}

func float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = float64(x)
	}
	return out
}

func (p *plain) NewStream(opt engine.StreamOptions) (engine.Stream, error) {
	s := &stream{opt: opt, block: engine.Outside}
	for _, state := range opt.States {
		switch state := state.(type) {
		case engine.KV:
			s.states = append(s.states, &kv{KV: state})
		case engine.Delta:
			s.states = append(s.states, newDelta(state))
		default:
			return nil, fmt.Errorf("plain: blocks cannot keep a %T", state)
		}
	}
	return s, nil
}

package cases

import (
	"context"
	"errors"
	"fmt"

	"onebit/formats"
	"onebit/kernels"
)

// A peakRequest asks a child process for the peak memory of a product by
// every variant of a format that runs here.
type peakRequest struct {
	Model      string   `json:",omitempty"` // a GGUF file; else the matrix is random
	GGUFTypes  []string `json:",omitempty"` // how to read it
	Format     string
	Rows, Cols int
	Seed       uint64
	Folder     folder `json:",omitempty"` // of the run's processes
}

// A peakReply maps Variant.String() to the peak resident bytes.
type peakReply map[string]int64

// peak returns the peak memory of v's product, measured for all variants of
// the group at the first call. It is false where it can't be measured; the
// first reason becomes a warning of the suite.
func (g *group) peak(ctx context.Context, v *kernels.Variant) (int64, bool) {
	if g.env.memoryVerb == "" {
		return 0, false
	}
	if g.peaks == nil {
		err := memoryRequest{Product: &peakRequest{
			Model: g.env.model, GGUFTypes: g.env.ggufTypes, Format: g.src.Format.Name, Rows: g.src.Rows, Cols: g.src.Cols, Seed: g.seed, Folder: g.env.folder,
		}}.ask(ctx, g.env.memoryVerb, nil, &g.peaks)
		if err != nil {
			g.peaks = peakReply{}
			g.env.warn("peak memory is not measured: " + err.Error())
		}
	}
	bytes, ok := g.peaks[v.String()]
	return bytes, ok
}

func (req peakRequest) measure() (peakReply, error) {
	t, err := formats.Lookup(req.Format)
	if err != nil {
		return nil, err
	}
	tensor, done, err := req.tensor(t)
	if err != nil {
		return nil, err
	}
	defer done()
	x := activations(req.Cols, req.Seed)
	reply := peakReply{}
	for _, v := range kernels.Variants() {
		if v.Format != t || v.Available() != nil {
			continue
		}
		if reply[v.String()], err = peakOf(v, tensor, x); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

func (req peakRequest) tensor(t *formats.Type) (*formats.Tensor, func() error, error) {
	if req.Model == "" {
		tensor, err := randomSource(t, formats.Shape{Rows: req.Rows, Cols: req.Cols}, req.Seed).tensor(req.Folder)
		return tensor, func() error { return nil }, err
	}
	f, sources, err := OpenModel(req.Model, ModelOptions{Types: req.GGUFTypes})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sources {
		if s.Format == t && s.Rows == req.Rows && s.Cols == req.Cols {
			tensor, err := s.Tensor()
			return tensor, f.Close, err
		}
	}
	return nil, nil, errors.Join(fmt.Errorf("%s has no %s matrix of %d×%d", req.Model, req.Format, req.Rows, req.Cols), f.Close())
}

// peakOf multiplies once and returns the peak since before packing.
func peakOf(v *kernels.Variant, tensor *formats.Tensor, x []float32) (int64, error) {
	phase, err := measurePhase(func() error {
		m, err := v.Pack(tensor, nil)
		if err != nil {
			return err
		}
		defer m.Close()
		pool := kernels.NewPool(1)
		defer pool.Close()
		pool.MatVec(make([]float32, m.Rows), v, m, x)
		return nil
	})
	return phase.Peak, err
}

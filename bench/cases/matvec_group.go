package cases

import (
	"errors"
	"fmt"
	"time"

	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/internal/deviation"
	"onebit/internal/mmap"
	"onebit/kernels"
)

// A group is what the cases of one source share while they live: the first
// acquire makes the tensor and its references, the last release frees all.
type group struct {
	src   Source
	env   *env
	seed  uint64
	again bool // see Options.Again

	users  int
	tensor *formats.Tensor
	x      []float32
	exact  []float64                      // float64 product with x
	byAct  map[kernels.Scheme]*schemeRefs // what a scheme makes of it
	packed map[*kernels.Layout]*packed
	peaks  map[string]int64 // peak RSS by variant and scheme
}

// schemeRefs are a scheme's oracles.
type schemeRefs struct {
	exact   []float64 // float64 product with the quantized activations; nil if generic is enough
	generic []float32 // the variant scalar's result
}

// packed is a source in one layout.
type packed struct {
	warm *kernels.Matrix
	time time.Duration // what packing took
	cold []*kernels.Matrix
	mem  *mmap.Anon // where cold lies
}

func (g *group) acquire() error {
	if g.users == 0 {
		if err := g.prepare(); err != nil {
			return err
		}
	}
	g.users++
	return nil
}

func (g *group) prepare() error {
	t, err := g.src.tensor(g.env.folder)
	if err != nil {
		return err
	}
	g.tensor, g.x = t, activations(g.src.Cols, g.seed)
	g.byAct = map[kernels.Scheme]*schemeRefs{}
	g.packed = map[*kernels.Layout]*packed{}
	return nil
}

// reference is kernels.Reference over all rows, shared among threads.
func (g *group) reference(x []float32) ([]float64, error) {
	const rows = 64
	dst := make([]float64, g.src.Rows)
	chunks := (len(dst) + rows - 1) / rows
	errs := make([]error, chunks)
	g.env.pool(g.env.maxThreads).ForEach(chunks, func(i int) {
		r0, r1 := i*rows, min((i+1)*rows, len(dst))
		errs[i] = kernels.Reference(dst[r0:r1], g.tensor, x, r0, r1)
	})
	return dst, errors.Join(errs...)
}

// refs returns the oracles of a scheme. Only float formats have no scalar
// variant under f32; then the reference is the only oracle.
func (g *group) refs(act kernels.Scheme) (*schemeRefs, error) {
	if r := g.byAct[act]; r != nil {
		return r, nil
	}
	r := &schemeRefs{}
	if scalar, err := kernels.Lookup(g.src.Format.Name, "scalar", act); err == nil {
		m, err := scalar.Pack(g.tensor, nil)
		if err != nil {
			return nil, err
		}
		r.generic = make([]float32, g.src.Rows)
		g.env.pool(g.env.maxThreads).MatVec(r.generic, scalar, m, g.x)
	}
	if !g.again || r.generic == nil || act == kernels.F32 { // which the reference computes
		var err error
		if r.exact, err = g.reference(kernels.ReferenceActivations(act, g.x)); err != nil {
			return nil, err
		}
	}
	g.byAct[act] = r
	return r, nil
}

// kernelTolerance is the largest kernel-nmse of a right result: the sums of
// a group are exact, what is left is the float32 rounding of a few dozen
// additions.
const kernelTolerance = 1e-12

// near holds a result to the float64 product with the quantized activations.
func (g *group) near(y []float32, refs *schemeRefs, tolerance float64) error {
	if refs.exact == nil {
		return nil
	}
	if d := deviation.Of(y, refs.exact); !(d.NMSE() <= tolerance) && !(d.MaxAbs <= g.underflow()) {
		return fmt.Errorf("kernel-nmse %.3g against the float64 reference is above %.3g", d.NMSE(), tolerance)
	}
	return nil
}

// underflow is how far a right result may be from the float64 product because
// products of scales are rounded to the smallest numbers of float32: half of 2⁻¹⁴⁹,
// times sums of codes and activations up to 127 a column. It is beyond notice
// unless a tensor's scale is such a number.
func (g *group) underflow() float64 { return 0x1p-150 * 127 * float64(g.src.Cols) }

// equal holds a result to the generic integer path, bit for bit.
func (r *schemeRefs) equal(y []float32) error {
	for i, want := range r.generic {
		if y[i] != want {
			return fmt.Errorf("row %d is %v, the generic integer path gives %v", i, y[i], want)
		}
	}
	return nil
}

// metrics returns what packing took and, unless another process does, the errors of a
// right result against the float64 product.
func (g *group) metrics(packing time.Duration, y []float32, refs *schemeRefs) ([]results.Metric, error) {
	out := []results.Metric{{Unit: results.PackTime, Value: float64(packing.Nanoseconds())}}
	if g.again {
		return out, nil
	}
	found, err := g.errors(y, refs)
	return append(out, found...), err
}

// errors returns a result's errors against the float64 product.
func (g *group) errors(y []float32, refs *schemeRefs) ([]results.Metric, error) {
	var err error
	if g.exact == nil {
		if g.exact, err = g.reference(g.x); err != nil {
			return nil, err
		}
	}
	total := deviation.Of(y, g.exact)
	return []results.Metric{
		{Unit: results.NMSE, Value: total.NMSE()},
		{Unit: results.ActNMSE, Value: deviation.Of(refs.exact, g.exact).NMSE()},
		{Unit: results.KernelNMSE, Value: deviation.Of(y, refs.exact).NMSE()},
		{Unit: results.MaxAbsErr, Value: total.MaxAbs},
	}, nil
}

// name is the bench group's.
func (g *group) name() string {
	return fmt.Sprintf("%s %d×%d", g.src.Format.Name, g.src.Rows, g.src.Cols)
}

// matrices returns what a case of v multiplies: one matrix, or a rotation.
func (g *group) matrices(v *kernels.Variant, cold bool) (*packed, []*kernels.Matrix, error) {
	p, err := g.pack(v)
	if err != nil {
		return nil, nil, err
	}
	if !cold {
		return p, []*kernels.Matrix{p.warm}, nil
	}
	err = g.rotate(p)
	return p, p.cold, err
}

// pack returns the source in v's layout, packed once for all that share it.
func (g *group) pack(v *kernels.Variant) (*packed, error) {
	if p := g.packed[v.Layout]; p != nil {
		return p, nil
	}
	start := clock.Now()
	m, err := v.Pack(g.tensor, g.env.pool(g.env.maxThreads))
	if err != nil {
		return nil, err
	}
	p := &packed{warm: m, time: clock.Since(start)}
	g.packed[v.Layout] = p
	return p, nil
}

// rotate fills p.cold with copies that together have coldBytes.
func (g *group) rotate(p *packed) error {
	if p.cold != nil {
		return nil
	}
	stride := (len(p.warm.Data) + 4095) &^ 4095
	copies := max(2, g.env.coldBytes/len(p.warm.Data)+1)
	mem, err := g.env.take(copies * stride)
	if err != nil {
		return fmt.Errorf("memory for %d copies of the matrix, to measure with a cold cache: %w", copies, err)
	}
	p.mem = mem
	p.cold = make([]*kernels.Matrix, copies)
	g.env.pool(g.env.maxThreads).ForEach(copies, func(i int) {
		p.cold[i] = p.warm.CopyTo(mem.Bytes()[i*stride : (i+1)*stride])
	})
	return nil
}

func (g *group) release() error {
	g.users--
	if g.users > 0 {
		return nil
	}
	var errs []error
	for _, p := range g.packed {
		errs = append(errs, p.warm.Close())
		if p.mem != nil {
			g.env.giveBack(p.mem)
		}
	}
	g.tensor, g.x, g.exact, g.byAct, g.packed, g.peaks = nil, nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

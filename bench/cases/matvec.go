package cases

import (
	"context"
	"fmt"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/internal/deviation"
	"onebit/kernels"
)

// kernelTolerance is the largest kernel-nmse of a right result: the sums of
// a group are exact, what is left is the float32 rounding of a few dozen
// additions.
const kernelTolerance = 1e-12

// A config is one point of the axes that a MatVec case has.
type config struct {
	variant *kernels.Variant
	threads int
	cold    bool
}

func (c config) cache() string {
	if c.cold {
		return names.Cold
	}
	return names.Warm
}

func (c config) name(s Source) string {
	return names.MatVec{
		Format: s.Format.Name, Variant: c.variant.Name, Act: string(c.variant.Scheme),
		Rows: s.Rows, Cols: s.Cols, Threads: c.threads, Cache: c.cache(),
	}.String()
}

// matvecCase returns the case of c on g's source.
func matvecCase(g *group, c config, bytes int) bench.Case {
	return bench.Case{
		Name:    c.name(g.src),
		Group:   g.name(),
		Bytes:   int64(bytes),
		Ops:     int64(g.src.Rows) * int64(g.src.Cols),
		Metrics: []bench.Metric{{Unit: bench.PackedBytes, Value: float64(bytes)}},
		Roof:    ceiling{g, c, bytes}.name(),
		Check:   g.rig.limits.check(c.threads),
		Setup: func(ctx context.Context) (bench.Instance, error) {
			return newMatvec(g, c)
		},
	}
}

// A matvec is a MatVec case that is set up.
type matvec struct {
	config
	group    *group
	packed   *packed
	matrices []*kernels.Matrix // one if warm
	next     int
	pool     *kernels.Pool
	y        []float32
	*roundTrip
}

func newMatvec(g *group, c config) (bench.Instance, error) {
	if err := g.acquire(); err != nil {
		return nil, err
	}
	pool := g.rig.pool(c.threads)
	m := &matvec{config: c, group: g, pool: pool, y: make([]float32, g.src.Rows), roundTrip: newRoundTrip(pool)}
	var err error
	if m.packed, m.matrices, err = g.matrices(c.variant, c.cold); err != nil {
		g.release()
		return nil, err
	}
	return m, nil
}

func (m *matvec) Run(_ context.Context, n int) error {
	for range n {
		m.pool.MatVec(m.y, m.variant, m.matrices[m.next], m.group.x)
		if m.next++; m.next == len(m.matrices) {
			m.next = 0
		}
	}
	return nil
}

// Verify checks the first and the last matrix of the rotation.
func (m *matvec) Verify(ctx context.Context) ([]bench.Metric, error) {
	refs, err := m.group.refs(m.variant.Scheme)
	if err != nil {
		return nil, err
	}
	for _, matrix := range []*kernels.Matrix{m.matrices[len(m.matrices)-1], m.matrices[0]} {
		clear(m.y)
		m.pool.MatVec(m.y, m.variant, matrix, m.group.x)
		if err := m.check(refs); err != nil {
			return nil, err
		}
	}
	metrics := []bench.Metric{{Unit: bench.PackTime, Value: float64(m.packed.time.Nanoseconds())}}
	if !m.group.again {
		errors, err := m.errors(refs)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, errors...)
	}
	if peak, ok := m.group.peak(ctx, m.variant); ok {
		metrics = append(metrics, bench.Metric{Unit: bench.PeakRSS, Value: float64(peak)})
	}
	return metrics, ctx.Err()
}

func (m *matvec) check(refs *schemeRefs) error {
	if refs.exact != nil {
		if d := deviation.Of(m.y, refs.exact); !(d.NMSE() <= kernelTolerance) && !(d.MaxAbs <= m.underflow()) {
			return fmt.Errorf("kernel-nmse %.3g against the float64 reference is above %g", d.NMSE(), kernelTolerance)
		}
	}
	if m.variant.Name == "reference" {
		return nil // it rounds once, at the end
	}
	for r, want := range refs.generic {
		if m.y[r] != want {
			return fmt.Errorf("row %d is %v, the generic integer path gives %v", r, m.y[r], want)
		}
	}
	return nil
}

// underflow is how far a right result may be from the float64 product because
// products of scales are rounded to the smallest numbers of float32: half of 2⁻¹⁴⁹,
// times sums of codes and activations up to 127 a column. It is beyond notice
// unless a tensor's scale is such a number.
func (m *matvec) underflow() float64 { return 0x1p-150 * 127 * float64(m.group.src.Cols) }

// errors returns the case's errors against the float64 product.
func (m *matvec) errors(refs *schemeRefs) ([]bench.Metric, error) {
	exact, err := m.group.exactProduct()
	if err != nil {
		return nil, err
	}
	total := deviation.Of(m.y, exact)
	return []bench.Metric{
		{Unit: bench.NMSE, Value: total.NMSE()},
		{Unit: bench.ActNMSE, Value: deviation.Of(refs.exact, exact).NMSE()},
		{Unit: bench.KernelNMSE, Value: deviation.Of(m.y, refs.exact).NMSE()},
		{Unit: bench.MaxAbsErr, Value: total.MaxAbs},
	}, nil
}

func (m *matvec) Close() error { return m.group.release() }

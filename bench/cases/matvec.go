package cases

import (
	"context"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/clock"
	"onebit/kernels"
)

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
		Metrics: []results.Metric{{Unit: results.PackedBytes, Value: float64(bytes)}},
		Roof:    ceiling{g, c, bytes}.name(),
		Check:   g.env.limits.Check(c.threads),
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
	took     time.Duration // by the product that was verified last
	*roofline.RoundTrip
}

func newMatvec(g *group, c config) (bench.Instance, error) {
	if err := g.acquire(); err != nil {
		return nil, err
	}
	pool := g.env.pool(c.threads)
	m := &matvec{config: c, group: g, pool: pool, y: make([]float32, g.src.Rows), RoundTrip: roofline.NewRoundTrip(pool)}
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

// Verify checks the first and the last matrix of the rotation, or the last alone.
func (m *matvec) Verify(ctx context.Context) ([]results.Metric, error) {
	refs, err := m.group.refs(m.variant.Scheme)
	if err != nil {
		return nil, err
	}
	checked := []*kernels.Matrix{m.matrices[len(m.matrices)-1], m.matrices[0]}
	if m.group.again {
		checked = checked[:1]
	}
	for _, matrix := range checked {
		clear(m.y)
		start := clock.Now()
		m.pool.MatVec(m.y, m.variant, matrix, m.group.x)
		m.took = clock.Since(start)
		if err := m.check(refs); err != nil {
			return nil, err
		}
	}
	metrics, err := m.group.metrics(m.packed.time, m.y, refs)
	if err != nil {
		return nil, err
	}
	if peak, ok := m.group.peak(ctx, m.variant); ok {
		metrics = append(metrics, results.Metric{Unit: results.PeakRSS, Value: float64(peak)})
	}
	return metrics, ctx.Err()
}

// Took is how long the product that was verified took.
func (m *matvec) Took() time.Duration { return m.took }

func (m *matvec) check(refs *schemeRefs) error {
	if err := m.group.near(m.y, refs, kernelTolerance); err != nil || m.variant.Name == reference {
		return err // the reference rounds once, at the end
	}
	return refs.equal(m.y)
}

func (m *matvec) Close() error { return m.group.release() }

package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/kernels"
	"onebit/models/engine"
	"onebit/models/engine/metal"
)

// A gpuConfig is one point of the axes that a MatVec case on a GPU has.
type gpuConfig struct {
	kernel metal.Kernel
	cold   bool
}

func (c gpuConfig) cache() string { return config{cold: c.cold}.cache() }

func (c gpuConfig) name(s Source) string {
	return names.MatVec{
		Format: s.Format.Name, Variant: c.kernel.Name, Act: string(c.kernel.Scheme), Rows: s.Rows, Cols: s.Cols, Cache: c.cache(),
	}.String()
}

// addGPU adds the cases of a format's kernels on the GPU to those of the group.
func (s *Suite) addGPU(g *group, opt *Options) {
	for _, k := range metal.Kernels(g.src.Format) {
		if opt.Activations != nil && !slices.Contains(opt.Activations, k.Scheme) {
			continue
		}
		for _, cache := range opt.Caches {
			c := gpuConfig{k, cache == names.Cold}
			bytes, err := k.Bytes(g.src.Rows, g.src.Cols)
			if err == nil {
				err = g.env.gpu.runs(k)
			}
			if err != nil {
				s.unavailable(c.name(g.src), err)
				continue
			}
			s.Cases = append(s.Cases, gpuMatvecCase(g, c, bytes))
		}
	}
}

// gpuMatvecCase returns the case of c on g's source. No roof is known of a GPU.
func gpuMatvecCase(g *group, c gpuConfig, bytes int) bench.Case {
	return bench.Case{
		Name: c.name(g.src), Group: g.name(),
		Bytes: int64(bytes), Ops: int64(g.src.Rows) * int64(g.src.Cols),
		Metrics: []results.Metric{{Unit: results.PackedBytes, Value: float64(bytes)}},
		Setup:   func(ctx context.Context) (bench.Instance, error) { return newGPUMatvec(ctx, g, c, bytes) },
	}
}

// A gpuMatvec is a MatVec case on a GPU that is set up: a text of no tokens,
// whose one operation is the product.
type gpuMatvec struct {
	gpuConfig
	group    *group
	engine   engine.Engine
	weights  []engine.Weight // one if warm
	next     int
	stream   worker
	x, y     engine.Buffer
	products []engine.Product
	packTime time.Duration // of one
	stint
}

func newGPUMatvec(ctx context.Context, g *group, c gpuConfig, bytes int) (*gpuMatvec, error) {
	if err := g.acquire(); err != nil {
		return nil, err
	}
	m := &gpuMatvec{gpuConfig: c, group: g}
	if err := m.open(ctx, bytes); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *gpuMatvec) open(ctx context.Context, bytes int) (err error) {
	opt := m.kernel.Options
	opt.Device = m.group.env.gpu.device
	if m.engine, err = opt.Open(oneTensor{m.group.tensor}); err != nil {
		return err
	}
	copies := 1
	if m.cold {
		copies = max(2, m.group.env.coldBytes/bytes+1)
	}
	requests := slices.Repeat([]engine.Request{{Tensor: m.group.tensor.Name, Use: engine.Matrix}}, copies)
	start := clock.Now()
	if m.weights, err = m.engine.Load(ctx, requests); err != nil {
		return err
	}
	m.packTime = clock.Since(start) / time.Duration(copies)
	if got, want := m.weights[0].Info(), m.kernel.String(); got.Kernel != want || got.Bytes != bytes {
		return fmt.Errorf("%s multiplies %d bytes, want %s and %d", got.Kernel, got.Bytes, want, bytes)
	}
	s, err := m.engine.NewStream(engine.StreamOptions{Context: 1, Batch: 1})
	if err != nil {
		return err
	}
	m.stream = s.(worker)
	m.x, m.y = s.Buffer(m.group.src.Cols), s.Buffer(m.group.src.Rows)
	m.products = []engine.Product{{Dst: m.y}}
	s.Begin(1)
	s.Write(m.x, m.group.x)
	return nil
}

// Run queues all products, and waits for the last.
func (m *gpuMatvec) Run(_ context.Context, n int) error {
	before := m.stream.DeviceTime()
	for range n {
		m.multiply(m.next)
		if m.next++; m.next == len(m.weights) {
			m.next = 0
		}
	}
	_, err := m.stream.Read(m.y)
	m.stint = stint{m.stream.DeviceTime() - before, n}
	return err
}

func (m *gpuMatvec) multiply(weight int) {
	m.products[0].Weight = m.weights[weight]
	m.stream.Multiply(names.BaseMatVec, m.x, m.products)
}

// Verify checks the first and the last matrix of the rotation.
func (m *gpuMatvec) Verify(ctx context.Context) ([]results.Metric, error) {
	refs, err := m.group.refs(m.kernel.Scheme)
	if err != nil {
		return nil, err
	}
	var y []float32
	for _, i := range []int{len(m.weights) - 1, 0} {
		m.stream.Write(m.y, make([]float32, m.group.src.Rows))
		m.multiply(i)
		if y, err = m.stream.Read(m.y); err != nil {
			return nil, err
		}
		if err := m.check(y, refs); err != nil {
			return nil, err
		}
	}
	metrics, err := m.group.metrics(m.packTime, y, refs)
	return metrics, errors.Join(err, ctx.Err())
}

// fewAdditions is how many kernelTolerance is for.
const fewAdditions = 64

// check holds a result to the float64 product, and to the generic integer path:
// bit for bit where the kernel promises that, else within what another order of
// float32 sums makes of it.
func (m *gpuMatvec) check(y []float32, refs *schemeRefs) error {
	tolerance := kernelTolerance
	if m.kernel.Scheme == kernels.F32 && !m.kernel.Exact {
		// All columns are added one after the other. The errors of a sum's roundings
		// add up like a random walk, and their square grows as their number.
		tolerance *= max(1, float64(m.group.src.Cols)/fewAdditions)
	}
	err := m.group.near(y, refs, tolerance)
	switch {
	case err != nil || refs.generic == nil:
		return err
	case m.kernel.Exact:
		return refs.equal(y)
	}
	return m.group.near(y, &schemeRefs{exact: float64s(refs.generic)}, tolerance)
}

func (m *gpuMatvec) Close() (err error) {
	if m.stream != nil {
		err = m.stream.Close()
	}
	if m.engine != nil {
		err = errors.Join(err, m.engine.Close())
	}
	return errors.Join(err, m.group.release())
}

func float64s(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// A oneTensor is an engine.Source of a tensor in memory, of which every request
// is a copy.
type oneTensor struct{ tensor *formats.Tensor }

func (o oneTensor) Name() string                          { return o.tensor.Name }
func (o oneTensor) Tensor(string) (formats.Tensor, error) { return *o.tensor, nil }
func (o oneTensor) Populate(string)                       {}
func (o oneTensor) Release(string) error                  { return nil }
func (o oneTensor) InPlace() bool                         { return false }
func (o oneTensor) Part(string) int                       { return 0 }
func (o oneTensor) Fault(tensor string, err error) error  { return fmt.Errorf("%s: %w", tensor, err) }

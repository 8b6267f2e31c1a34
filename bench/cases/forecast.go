package cases

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/models/forecast"
)

// ForecastOptions say what of a machine is measured for package forecast.
type ForecastOptions struct {
	Formats  []*formats.Type // nil: forecast.Formats()
	Threads  int
	Host     sysinfo.Host
	Ceilings *Ceilings // measured before; nil: they are measured, for a second
	Progress Progress  // is told the formats
}

// forecastShapes are the two shapes by which a product's time is a line: the least and the
// largest projection of Bonsai 1.7B.
var forecastShapes = []formats.Shape{{Rows: 2048, Cols: 2048}, {Rows: 6144, Cols: 2048}}

// longShape has rows as long as those of models of 4 billion weights and more.
var longShape = formats.Shape{Rows: 512, Cols: 10240}

// MeasureForecast measures a machine in about ten seconds.
//
// Memory's rate changes within seconds where the system moves threads (package bench). So
// products take turns with reading: of a format the share is known of the bytes that
// reading alone had in the same round, and one rate serves all formats, the median of all
// rounds. A kernel that is bound by its arithmetic has a time instead, which does not
// change with memory's rate.
func MeasureForecast(ctx context.Context, opt ForecastOptions) (m *forecast.Machine, err error) {
	if opt.Formats == nil {
		opt.Formats = forecast.Formats()
	}
	env := newEnv([]int{opt.Threads}, opt.Host)
	defer func() { err = errors.Join(err, env.close()) }()
	env.setCold(opt.Host, 2) // two shapes are there at once
	c, err := measureCeilings(env.pool(opt.Threads), opt.Host)
	if err != nil {
		return nil, err
	}
	m = &forecast.Machine{Threads: opt.Threads, Int8: c.Int8, Float32: c.Float32, Formats: map[string]forecast.Rate{}}
	if a := opt.Host.MemAvailable; a.OK() {
		m.Available = int64(a.V)
	}
	var all []formatRate
	var reads, trips []float64
	for i, t := range opt.Formats {
		opt.Progress.show(t.Name, i, len(opt.Formats))
		rate, err := measureRate(ctx, env, t, opt.Threads)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		all, reads, trips = append(all, rate), append(reads, rate.reads...), append(trips, rate.trips...)
	}
	m.Read, m.RoundTrip = interval(reads), interval(trips)
	if opt.Ceilings != nil {
		if m.Read.Center, err = opt.Ceilings.Read(0, opt.Threads, true); err != nil {
			return nil, err
		}
		m.Read.Low, m.Read.High = m.Read.Center, m.Read.Center
		if m.Int8, err = opt.Ceilings.Dot(opt.Threads); err != nil {
			return nil, err
		}
	}
	for i, t := range opt.Formats {
		m.Formats[t.Name] = all[i].at(m.Read)
	}
	return m, nil
}

// A formatRate is what was measured of a format's products, for any rate of memory.
type formatRate struct {
	forecast.Rate
	time    line      // by seconds
	read    line      // by the bytes that are read alone in a product's time
	perByte float64   // weights of a packed byte
	reads   []float64 // bytes a second, by round
	trips   []float64 // nanoseconds of a cache line's round trip between two threads, by round
}

// A line is a product's cost: what it takes whatever its size, and its packed bytes for each
// unit beyond.
type line struct {
	fixed float64
	bytes forecast.Interval
}

// lineOf makes a line of the costs of a small and a large product.
func lineOf(less, more []float64, small, large int) (l line) {
	a, b := interval(less), interval(more)
	l.bytes.Center = float64(large-small) / max(b.Center-a.Center, b.Center/1e3)
	l.bytes.Low, l.bytes.High = l.bytes.Center*b.Center/b.High, l.bytes.Center*b.Center/b.Low
	l.fixed = max(0, a.Center-float64(small)/l.bytes.Center)
	return l
}

// memoryBound is the share of reading alone from which on memory's rate is taken to bound a
// kernel. Those with SIMD are at 0.7 and more, those without at a tenth.
const memoryBound = 0.5

// at is the rate where memory has these bytes a second.
func (r formatRate) at(read forecast.Interval) forecast.Rate {
	r.Share = r.read.bytes.Center
	l, times := r.time, forecast.Interval{Center: 1, Low: 1, High: 1}
	if r.Share >= memoryBound {
		l, times = r.read, read
	}
	r.Fixed = l.fixed / times.Center
	r.Decode = forecast.Interval{
		Center: l.bytes.Center * times.Center * r.perByte, Low: l.bytes.Low * times.Low * r.perByte, High: l.bytes.High * times.High * r.perByte,
	}
	return r.Rate
}

const promptColumns = 128

// measureRate times the best kernel of a format on both shapes, by turns with reading.
func measureRate(ctx context.Context, env *env, t *formats.Type, threads int) (r formatRate, err error) {
	v, err := kernels.Best(t.Name)
	if err != nil {
		return r, err
	}
	c := config{variant: v, threads: threads, cold: true}
	var products []*matvec
	for _, shape := range append(slices.Clone(forecastShapes), longShape) {
		src := Synthetic([]*formats.Type{t}, []formats.Shape{shape}, 1)
		if src == nil {
			return r, fmt.Errorf("no matrix of %dx%d", shape.Rows, shape.Cols)
		}
		c.cold = shape != longShape
		instance, err := newMatvec(&group{src: src[0], env: env, seed: 1}, c)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, instance.Close()) }()
		products = append(products, instance.(*matvec))
	}
	c.cold = true
	small, large, long := products[0], products[1], products[2]
	if r.NMSE, err = small.nmse(); err != nil { // in any shape
		return r, err
	}
	instance, err := ceiling{group: large.group, config: c, bytes: large.bytes()}.setup()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, instance.Close()) }()
	trip := roofline.NewRoundTrip(env.pool(threads))
	took, err := byTurns(func() {
		for _, m := range trip.Probe() {
			r.trips = append(r.trips, m.Value)
		}
	}, runs(ctx, instance), runs(ctx, small), runs(ctx, large))
	if err != nil {
		return r, err
	}
	r.Kernel = v.Name
	r.fill(took, small, large)
	few, many, wide := newBatch(small), newBatch(large), newBatch(long)
	took, err = byTurns(func() {}, few.runs(ctx), many.runs(ctx), wide.runs(ctx))
	if err != nil {
		return r, err
	}
	rates := slices.Concat(few.ratesOf(took[0]), many.ratesOf(took[1]))
	r.Prompt = interval(rates)
	r.Prompt.Center = interval(many.ratesOf(took[1])).Center
	r.Prompt.Low, r.Prompt.High = min(r.Prompt.Low, r.Prompt.Center), max(r.Prompt.High, r.Prompt.Center)
	r.Long = interval(wide.ratesOf(took[2]))
	return r, nil
}

// fill makes lines of the rounds: of reading, and of products of the small and the large
// shape.
func (r *formatRate) fill(took [][]float64, small, large *matvec) {
	bytes := float64(large.bytes())
	var less, more []float64
	for i, read := range took[0] {
		r.reads = append(r.reads, bytes/read)
		less, more = append(less, took[1][i]*bytes/read), append(more, took[2][i]*bytes/read)
	}
	r.time = lineOf(took[1], took[2], small.bytes(), large.bytes())
	r.read = lineOf(less, more, small.bytes(), large.bytes())
	r.perByte = large.weights() / bytes
}

func (m *matvec) bytes() int       { return len(m.packed.warm.Data) }
func (m *matvec) weights() float64 { return float64(m.group.src.Rows) * float64(m.group.src.Cols) }

// A batch multiplies columns at once.
type batch struct {
	*matvec
	columns int
}

// newBatch has promptColumns columns, or fewer where these take longer than a format
// may: without SIMD a column takes as long in any number of them.
func newBatch(m *matvec) batch {
	b := batch{m, 1}
	one := time.Duration(math.MaxInt64)
	for range leastRounds {
		start := clock.Now()
		b.multiply(b.operands())
		one = min(one, clock.Since(start))
	}
	for b.columns < promptColumns && 2*time.Duration(b.columns)*one <= forecastTime {
		b.columns *= 2
	}
	return b
}

func (b batch) operands() (y []float32, x []float32) {
	return make([]float32, b.group.src.Rows*b.columns), slices.Repeat(b.group.x, b.columns)
}

func (b batch) multiply(y, x []float32) {
	b.pool.MatMul(y, b.variant, b.packed.warm, x, b.columns)
}

func (b batch) runs(ctx context.Context) func(n int) error {
	y, x := b.operands()
	return func(n int) error {
		for range n {
			b.multiply(y, x)
		}
		return ctx.Err()
	}
}

// ratesOf are the multiply-adds a second of batches by the seconds of each.
func (b batch) ratesOf(took []float64) (out []float64) {
	for _, s := range took {
		out = append(out, float64(b.columns)*b.weights()/s)
	}
	return out
}

func runs(ctx context.Context, i bench.Instance) func(n int) error {
	return func(n int) error { return i.Run(ctx, n) }
}

// nmse verifies a product, and returns its error.
func (m *matvec) nmse() (float64, error) {
	refs, err := m.group.refs(m.variant.Scheme)
	if err != nil {
		return 0, err
	}
	m.pool.MatVec(m.y, m.variant, m.matrices[0], m.group.x)
	if err := m.check(refs); err != nil {
		return 0, err
	}
	metrics, err := m.group.errors(m.y, refs)
	for _, metric := range metrics {
		if metric.Unit == results.NMSE {
			return metric.Value, err
		}
	}
	return 0, err
}

const (
	forecastRounds = 21 // or as many as forecastTime has, and leastRounds at least
	leastRounds    = 3
	forecastTime   = 250 * time.Millisecond
)

// byTurns samples the seconds of operations, each once a round, after what begins a round.
func byTurns(begin func(), runs ...func(n int) error) (took [][]float64, err error) {
	counts, took := make([]int, len(runs)), make([][]float64, len(runs))
	for i, run := range runs {
		if counts[i], err = lastingRuns(run); err != nil {
			return nil, err
		}
	}
	for start := clock.Now(); len(took[0]) < leastRounds || len(took[0]) < forecastRounds && clock.Since(start) < forecastTime; {
		begin()
		for i, run := range runs {
			began := clock.Now()
			if err := run(counts[i]); err != nil {
				return nil, err
			}
			took[i] = append(took[i], clock.Since(began).Seconds()/float64(counts[i]))
		}
	}
	return took, nil
}

// interval is the median and the quartiles of values; 0 of none.
func interval(values []float64) forecast.Interval {
	if len(values) == 0 {
		return forecast.Interval{}
	}
	return forecast.Interval{Center: noise.Median(values), Low: noise.Percentile(values, 25), High: noise.Percentile(values, 75)}
}

// UseMeasured puts what a run of onebit bench models found in the place of what was
// predicted, and returns of how many editions it knew more. A model's name is that of a
// preset, whose first edition it is then, or of a file that one edition alone has. The figures are of the
// kernel that is predicted, which onebit run takes.
func UseMeasured(all []*forecast.Forecast, res *results.Set, threads int) (used int) {
	type test struct{ model, kernel, kind string }
	found := map[test]forecast.Figure{}
	for _, e := range noise.Estimates(res, results.TokenRate) {
		t, ok := names.TestOf(e.Name)
		others := e.Name.Get(names.Texts) + e.Name.Get(names.Text) + e.Name.Get(names.Engine) + e.Name.Get(names.Drafts)
		if !ok || e.Name.Base != names.BaseModel || t.Depth > 0 || others != "" || names.ThreadsOf(e.Name) != threads {
			continue
		}
		key := test{strings.ToLower(e.Name.Get(names.Model)), e.Name.Get(names.Variant), t.Kind}
		if e.Center > found[key].Center {
			found[key] = forecast.Figure{Interval: forecast.Interval{Center: e.Center, Low: max(e.Lo, 0), High: min(e.Hi, math.MaxFloat64)}, Measured: true}
		}
	}
	files := map[string]int{}
	for _, f := range all {
		files[f.Edition.File]++
	}
	for _, f := range all {
		var called []string
		if files[f.Edition.File] == 1 {
			called = append(called, strings.ToLower(strings.TrimSuffix(f.Edition.File, ".gguf")))
		}
		if f.Edition.Types == nil {
			called = append(called, f.Preset.Name)
		}
		known := false
		for _, model := range called {
			if decode, ok := found[test{model, f.Kernel, names.Decode}]; ok {
				f.Decode, known = decode, true
			}
			if prompt, ok := found[test{model, f.Kernel, names.Prompt}]; ok {
				f.Prompt, known = prompt, true
			}
		}
		if known {
			used++
		}
	}
	return used
}

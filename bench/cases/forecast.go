package cases

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/profile"
	"onebit/bench/results"
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
	Progress func(format string, done, total int)
}

// forecastShapes are the two shapes by which a product's time is a line: the least and the
// largest projection of Bonsai 1.7B.
var forecastShapes = []formats.Shape{{Rows: 2048, Cols: 2048}, {Rows: 6144, Cols: 2048}}

// MeasureForecast measures a machine in about ten seconds.
func MeasureForecast(ctx context.Context, opt ForecastOptions) (m *forecast.Machine, err error) {
	if opt.Formats == nil {
		opt.Formats = forecast.Formats()
	}
	env := newEnv([]int{opt.Threads}, opt.Host)
	defer func() { err = errors.Join(err, env.close()) }()
	env.setCold(opt.Host, 1)
	c, err := opt.ceilings(env.pool(opt.Threads))
	if err != nil {
		return nil, err
	}
	m = &forecast.Machine{Threads: opt.Threads, Read: c.Levels[len(c.Levels)-1].Rate, Int8: c.Int8, Float32: c.Float32, Formats: map[string]forecast.Rate{}}
	if a := opt.Host.MemAvailable; a.OK() {
		m.Available = int64(a.V)
	}
	for i, t := range opt.Formats {
		if opt.Progress != nil {
			opt.Progress(t.Name, i, len(opt.Formats))
		}
		rate, err := measureRate(ctx, env, t, opt.Threads, m.Read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		m.Formats[t.Name] = rate
	}
	return m, nil
}

// ceilings measures them, but for those of a file.
func (opt *ForecastOptions) ceilings(pool *kernels.Pool) (profile.Ceilings, error) {
	c, err := measureCeilings(pool, opt.Host)
	if err != nil || opt.Ceilings == nil {
		return c, err
	}
	dram := &c.Levels[len(c.Levels)-1]
	if dram.Rate, err = opt.Ceilings.Read(0, opt.Threads, true); err == nil {
		c.Int8, _, err = opt.Ceilings.Dot(opt.Threads)
	}
	return c, err
}

// A timing is that of a shape's products.
type timing struct {
	weights float64
	column  quartiles // seconds of a product with one column, from memory
	batch   quartiles // of one with promptColumns
	bytes   int       // that a product reads
	nmse    float64
}

const promptColumns = 128

// measureRate times the best kernel of a format on both shapes.
func measureRate(ctx context.Context, env *env, t *formats.Type, threads int, read float64) (forecast.Rate, error) {
	v, err := kernels.Best(t.Name)
	if err != nil {
		return forecast.Rate{}, err
	}
	var at [2]timing
	for i, s := range forecastShapes {
		if err := ctx.Err(); err != nil {
			return forecast.Rate{}, err
		}
		src := Synthetic([]*formats.Type{t}, []formats.Shape{s}, 1)
		if src == nil {
			return forecast.Rate{}, fmt.Errorf("no matrix of %dx%d", s.Rows, s.Cols)
		}
		g := &group{src: src[0], env: env, seed: 1}
		if at[i], err = timeProducts(ctx, g, config{variant: v, threads: threads, cold: true}, i == 0); err != nil {
			return forecast.Rate{}, err
		}
	}
	small, large := at[0], at[1]
	line := func(a, b float64) (perSecond float64) { return (large.weights - small.weights) / max(b-a, b/1e3) }
	rate := forecast.Rate{Kernel: v.Name, NMSE: small.nmse}
	rate.Decode.Center = line(small.column.Median, large.column.Median)
	rate.Decode.Low = rate.Decode.Center * large.column.Median / large.column.Upper
	rate.Decode.High = rate.Decode.Center * large.column.Median / large.column.Lower
	rate.Fixed = max(0, small.column.Median-small.weights/rate.Decode.Center)
	rate.Share = rate.Decode.Center * float64(large.bytes) / large.weights / read
	rates := []float64{promptColumns * small.weights / small.batch.Median, promptColumns * large.weights / large.batch.Median}
	rate.Prompt = forecast.Interval{Center: rates[1], Low: min(slices.Min(rates), rates[1]*large.batch.Median/large.batch.Upper), High: max(slices.Max(rates), rates[1]*large.batch.Median/large.batch.Lower)}
	return rate, nil
}

// timeProducts times products with one column and with many. What it checks first holds
// for a format, in any shape.
func timeProducts(ctx context.Context, g *group, c config, check bool) (out timing, err error) {
	instance, err := newMatvec(g, c)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, instance.Close()) }()
	m := instance.(*matvec)
	out = timing{weights: float64(g.src.Rows) * float64(g.src.Cols), bytes: len(m.packed.warm.Data)}
	if check {
		if out.nmse, err = m.nmse(); err != nil {
			return out, err
		}
	}
	if out.column, err = timed(func(n int) error { return m.Run(ctx, n) }); err != nil {
		return out, err
	}
	x, y := slices.Repeat(g.x, promptColumns), make([]float32, g.src.Rows*promptColumns)
	out.batch, err = timed(func(n int) error {
		for range n {
			m.pool.MatMul(y, m.variant, m.packed.warm, x, promptColumns)
		}
		return ctx.Err()
	})
	return out, err
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
	forecastSamples = 21 // of an operation, or as many as forecastTime has, and 3 at least
	forecastSample  = 4 * time.Millisecond
	forecastTime    = 150 * time.Millisecond
)

// timed samples an operation's seconds.
func timed(run func(n int) error) (quartiles, error) {
	once := func(n int) (time.Duration, error) {
		start := clock.Now()
		err := run(n)
		return clock.Since(start), err
	}
	n := 1
	for {
		d, err := once(n)
		if err != nil {
			return quartiles{}, err
		}
		if d >= forecastSample {
			break
		}
		n *= 2
	}
	var values []float64
	for start := clock.Now(); len(values) < 3 || len(values) < forecastSamples && clock.Since(start) < forecastTime; {
		d, err := once(n)
		if err != nil {
			return quartiles{}, err
		}
		values = append(values, d.Seconds()/float64(n))
	}
	slices.Sort(values)
	return quartiles{values[len(values)/4], values[len(values)/2], values[len(values)*3/4]}, nil
}

// quartiles are those of an operation's samples.
type quartiles struct{ Lower, Median, Upper float64 }

// UseMeasured puts what a run of onebit bench models found in the place of what was
// foretold, and returns of how many editions it knew more. A model's name is that of a
// preset, whose first edition it is then, or of a file that one edition alone has. The figures are of the
// kernel that is foretold, which onebit run takes.
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

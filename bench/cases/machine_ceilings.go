package cases

import (
	"cmp"
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
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// Ceilings are what a run of onebit machine found this machine to do at most.
type Ceilings struct {
	path       string
	started    string           // of the run
	reads      []noise.Estimate // bytes a second
	dots       []noise.Estimate // multiply-adds a second
	dispatches []noise.Estimate // nanoseconds
	trip       float64          // median round trip, in ns; 0 if there is none
}

// ReadMachine reads the results file of a run on this machine. It is an error if that
// was another one: the CPU, how many of them the program may use, their features or
// the platform differ from the header given, which is this run's.
func ReadMachine(ctx context.Context, path string, here []results.Setting) (*results.Set, error) {
	res, err := results.ReadFiles(ctx, path)
	if err != nil {
		return nil, err
	}
	return res, sameMachine(path, res, here)
}

// ReadCeilings reads the ceilings in a file as ReadMachine does: that of a run of
// onebit machine.
func ReadCeilings(ctx context.Context, path string, here []results.Setting) (*Ceilings, error) {
	res, err := ReadMachine(ctx, path, here)
	if err != nil {
		return nil, err
	}
	return newCeilings(path, res)
}

func newCeilings(path string, res *results.Set) (*Ceilings, error) {
	of := func(unit, base string) []noise.Estimate {
		return slices.DeleteFunc(noise.Estimates(res, unit), func(e noise.Estimate) bool { return e.Name.Base != base || !(e.Center > 0) })
	}
	c := &Ceilings{
		path: path, started: res.Setting("started"),
		reads: of(results.ReadRate, names.BaseBandwidth), dots: of(results.OpRate, names.BaseDotPeak), dispatches: of(results.NsPerOp, names.BaseDispatch),
	}
	if len(c.reads) == 0 || len(c.dots) == 0 {
		return nil, fmt.Errorf("%s has no ceilings of reading and of int8 multiply-adds: give the results.txt of onebit machine", path)
	}
	var trips []float64
	for _, s := range res.Samples {
		if v, ok := s.Value(results.RoundTrip); ok {
			trips = append(trips, v)
		}
	}
	if len(trips) > 0 {
		c.trip = noise.Median(trips)
	}
	return c, nil
}

func sameMachine(path string, res *results.Set, here []results.Setting) error {
	theirs, ours := res.Machine(), (&results.Set{Settings: here}).Machine()
	var differ []string
	for _, name := range theirs.Differences(ours) {
		if name != "host" && name != "memory" {
			differ = append(differ, name)
		}
	}
	if differ != nil {
		return fmt.Errorf("%s is of another machine, by its %s: run onebit machine on this one", path, strings.Join(differ, ", "))
	}
	return nil
}

// Read returns how many bytes a second so many threads read at most of so many
// bytes, again and again: between two sizes that were measured, by a straight
// line between their logarithms. Cold bytes come from memory. Huge pages count where
// there are any.
func (c *Ceilings) Read(bytes, threads int, cold bool) (float64, error) {
	pages := "huge"
	if !slices.ContainsFunc(c.reads, func(e noise.Estimate) bool { return e.Name.Get(names.Pages) == pages }) {
		pages = "small"
	}
	type point struct{ bytes, rate float64 }
	var points []point
	for _, e := range c.reads {
		if n := names.BytesOf(e.Name); n > 0 && names.ThreadsOf(e.Name) == threads && e.Name.Get(names.Pages) == pages {
			points = append(points, point{float64(n), e.Center})
		}
	}
	if len(points) == 0 {
		return 0, c.lacks(threads)
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
	last := points[len(points)-1]
	at := float64(bytes)
	if cold || at >= last.bytes {
		return last.rate, nil
	}
	i := slices.IndexFunc(points, func(p point) bool { return p.bytes >= at })
	if i == 0 {
		return points[0].rate, nil
	}
	a, b := points[i-1], points[i]
	share := math.Log(at/a.bytes) / math.Log(b.bytes/a.bytes)
	return a.rate * math.Pow(b.rate/a.rate, share), nil
}

// Dot returns how many int8 multiply-adds a second so many threads do at most.
func (c *Ceilings) Dot(threads int) (float64, error) {
	rate := c.dot(roofline.Int8, threads)
	if rate == 0 {
		return 0, c.lacks(threads)
	}
	return rate, nil
}

// dot is the most multiply-adds of a type; 0 if that was not measured.
func (c *Ceilings) dot(kind string, threads int) (most float64) {
	for _, e := range c.dots {
		if e.Name.Get(names.Type) == kind && names.ThreadsOf(e.Name) == threads {
			most = max(most, e.Center)
		}
	}
	return most
}

// of are the ceilings of so many threads. A level's cases read half of what it holds.
func (c *Ceilings) of(threads int) (profile.Ceilings, error) {
	out := profile.Ceilings{Threads: threads, Source: c.path, Int8: c.dot(roofline.Int8, threads), Float32: c.dot(roofline.Float32, threads)}
	for _, level := range names.Levels {
		best := profile.Level{Name: level}
		for _, e := range c.reads {
			if n := e.Name; n.Get(names.Level) == level && names.ThreadsOf(n) == threads && e.Center > best.Rate {
				best.Rate = e.Center
				if level != names.DRAM {
					best.Bytes = 2 * names.BytesOf(n)
				}
			}
		}
		if best.Rate > 0 {
			out.Levels = append(out.Levels, best)
		}
	}
	for _, e := range c.dispatches {
		if names.ThreadsOf(e.Name) == threads {
			out.Dispatch = time.Duration(e.Center)
		}
	}
	if n := len(out.Levels); n == 0 || out.Levels[n-1].Name != names.DRAM || out.Int8 == 0 {
		return out, c.lacks(threads)
	}
	return out, nil
}

func (c *Ceilings) lacks(threads int) error {
	return fmt.Errorf("%s lacks the ceilings of %d threads: onebit machine --threads %d measures them", c.path, threads, threads)
}

// Setting says in a header where the ceilings come from.
func (c *Ceilings) Setting() results.Setting {
	return results.Setting{Key: "ceilings", Value: fmt.Sprintf("%s, measured %s", c.path, cmp.Or(c.started, "at an unknown time"))}
}

// staleCeilings is the age from which on ceilings are in doubt.
const staleCeilings = 24 * time.Hour

// Doubts says why the ceilings may not be those of this moment: they are old, or
// threads are much nearer to each other or farther apart than they were.
func (c *Ceilings) Doubts(now time.Time) (out []string) {
	if started, err := time.Parse(time.RFC3339, c.started); err == nil && now.Sub(started) > staleCeilings {
		out = append(out, fmt.Sprintf("the ceilings of %s were measured %.0f days ago", c.path, math.Ceil(now.Sub(started).Hours()/24)))
	}
	pool := kernels.NewPool(2)
	defer pool.Close()
	if trip := roofline.NewRoundTrip(pool); trip != nil && c.trip > 0 {
		if text := c.stateDoubt(trip.Measure()); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// stateRatio is how much longer a round trip is in another state of a machine.
const stateRatio = 2

// stateDoubt compares a round trip of this moment with the file's; 0 is none.
func (c *Ceilings) stateDoubt(trip float64) string {
	if trip == 0 || trip < stateRatio*c.trip && c.trip < stateRatio*trip {
		return ""
	}
	return fmt.Sprintf("the ceilings of %s were measured while a cache line's round trip between threads took %.0f ns; it takes %.0f ns now, and several threads read at another rate", c.path, c.trip, trip)
}

// useCeilings takes ceilings from a file instead of measuring them: each has one
// sample, and shares are of it.
func (s *Suite) useCeilings(c *Ceilings) error {
	known := map[string]ceilingRate{}
	var measured []bench.Case
	for _, cs := range s.Cases {
		n := results.ParseName(cs.Name)
		if !cs.Ceiling || !names.IsCeiling(n) {
			measured = append(measured, cs)
			continue
		}
		rate, err := c.rateOf(n)
		if err != nil {
			return err
		}
		known[cs.Name] = rate
		s.Studies = append(s.Studies, rate.study(cs))
	}
	for i := range measured {
		cs := &measured[i]
		if r, ok := known[cs.Roof]; ok {
			cs.Roof, cs.RoofRate = "", r.rate
		}
		if r, ok := known[cs.Peak]; ok {
			cs.Peak, cs.PeakRate = "", r.rate
		}
	}
	if len(measured) == 0 {
		return errors.New("only ceilings are to be measured, and those are in " + c.path)
	}
	s.Cases = measured
	return nil
}

// A ceilingRate is a ceiling's.
type ceilingRate struct {
	unit string
	rate float64 // per second
}

func (c *Ceilings) rateOf(n results.Name) (r ceilingRate, err error) {
	threads := names.ThreadsOf(n)
	if n.Base == names.BaseDotPeak {
		r.unit = results.OpRate
		r.rate, err = c.Dot(threads)
		return r, err
	}
	r.unit = results.ReadRate
	r.rate, err = c.Read(names.BytesOf(n), threads, n.Get(names.Cache) == names.Cold)
	return r, err
}

// study writes the ceiling down among the results, as if it had been measured.
func (r ceilingRate) study(c bench.Case) bench.Study {
	amount := float64(c.Bytes)
	if r.unit == results.OpRate {
		amount = float64(c.Ops)
	}
	return bench.Study{
		Name: c.Name, Group: c.Group,
		Run: func(_ context.Context, emit func(results.Sample) error) error {
			return emit(results.Sample{Name: results.Name{Full: c.Name}, Values: []results.Metric{
				{Unit: results.NsPerOp, Value: amount / r.rate * 1e9}, {Unit: r.unit, Value: r.rate},
			}})
		},
	}
}

// measureCeilings finds in about a second what the machine does at most with a
// pool's threads.
func measureCeilings(pool *kernels.Pool, host sysinfo.Host) (profile.Ceilings, error) {
	threads := pool.Threads()
	c := profile.Ceilings{Threads: threads, Dispatch: roofline.Dispatch(pool), Source: "measured before the passes"}
	beyond := int(coldCaches * lastLevelCache(host))
	for _, level := range names.Levels {
		holds, err := levelHolds(host, level, threads)
		if err != nil || holds <= 0 {
			continue
		}
		// Half of it leaves room for what else is in use.
		rate, err := readRate(pool, holds/2)
		if err != nil {
			return c, err
		}
		c.Levels = append(c.Levels, profile.Level{Name: level, Bytes: holds, Rate: rate})
	}
	rate, err := readRate(pool, min(max(beyond, 1<<20), int(memoryRoom(host))))
	if err != nil {
		return c, err
	}
	c.Levels = append(c.Levels, profile.Level{Name: names.DRAM, Rate: rate})
	c.Int8, c.Float32 = roofline.FastestPeak(roofline.Int8, pool), roofline.FastestPeak(roofline.Float32, pool)
	return c, nil
}

// readRate is the bytes per second that a pool's threads read together, each
// its part of a buffer again and again.
func readRate(pool *kernels.Pool, size int) (float64, error) {
	buf, err := roofline.NewBuffer(size, roofline.Huge)
	if err != nil {
		return 0, err
	}
	defer buf.Free()
	return roofline.NewMoving(roofline.Read, pool, buf.Bytes()).Fastest() * float64(size), nil
}

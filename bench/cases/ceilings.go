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
	"onebit/bench/results"
	"onebit/internal/sysinfo"
)

// Ceilings are what a run of onebit machine found this machine to do at most.
type Ceilings struct {
	path    string
	started string              // of the run
	reads   map[int][]readPoint // by threads, ascending
	dots    map[int]float64     // by threads: the best int8 peak
	trip    float64             // median round trip, in ns; 0 if there is none
}

type readPoint struct{ bytes, rate float64 }

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
	c := &Ceilings{path: path, started: res.Setting("started"), reads: map[int][]readPoint{}, dots: map[int]float64{}}
	c.take(res)
	if len(c.reads) == 0 || len(c.dots) == 0 {
		return nil, fmt.Errorf("%s has no ceilings of reading and of int8 multiply-adds: give the results.txt of onebit machine", path)
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

// take collects the rates. Of reading, huge pages count where there are any.
func (c *Ceilings) take(res *results.Set) {
	reads := noise.Estimates(res, results.ReadRate)
	of := func(pages string) func(noise.Estimate) bool {
		return func(e noise.Estimate) bool { return e.Name.Get(names.Pages) == pages }
	}
	pages := "huge"
	if !slices.ContainsFunc(reads, of(pages)) {
		pages = "small"
	}
	for _, e := range reads {
		threads, bytes := names.ThreadsOf(e.Name), names.BytesOf(e.Name)
		if e.Name.Base == names.BaseBandwidth && of(pages)(e) && threads > 0 && bytes > 0 && e.Center > 0 {
			c.reads[threads] = append(c.reads[threads], readPoint{float64(bytes), e.Center})
		}
	}
	for _, points := range c.reads {
		slices.SortFunc(points, func(a, b readPoint) int { return cmp.Compare(a.bytes, b.bytes) })
	}
	for _, e := range noise.Estimates(res, results.OpRate) {
		if threads := names.ThreadsOf(e.Name); e.Name.Base == names.BaseDotPeak && e.Name.Get(names.Type) == names.Int8 {
			c.dots[threads] = max(c.dots[threads], e.Center)
		}
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
}

// Read returns how many bytes a second so many threads read at most of so many
// bytes, again and again: between two sizes that were measured, by a straight
// line between their logarithms. Cold bytes come from memory.
func (c *Ceilings) Read(bytes, threads int, cold bool) (float64, error) {
	points := c.reads[threads]
	if len(points) == 0 {
		return 0, c.lacks(threads)
	}
	last := points[len(points)-1]
	at := float64(bytes)
	if cold || at >= last.bytes {
		return last.rate, nil
	}
	i := slices.IndexFunc(points, func(p readPoint) bool { return p.bytes >= at })
	if i == 0 {
		return points[0].rate, nil
	}
	a, b := points[i-1], points[i]
	share := math.Log(at/a.bytes) / math.Log(b.bytes/a.bytes)
	return a.rate * math.Pow(b.rate/a.rate, share), nil
}

// Dot returns how many int8 multiply-adds a second so many threads do at most.
func (c *Ceilings) Dot(threads int) (float64, error) {
	rate, ok := c.dots[threads]
	if !ok {
		return 0, c.lacks(threads)
	}
	return rate, nil
}

func (c *Ceilings) lacks(threads int) error {
	return fmt.Errorf("%s has no ceilings of %d threads: run onebit machine --threads with them", c.path, threads)
}

// Setting says in a header where the ceilings come from.
func (c *Ceilings) Setting() results.Setting {
	return results.Setting{Key: "ceilings", Value: fmt.Sprintf("%s, measured %s", c.path, cmp.Or(c.started, "at an unknown time"))}
}

// staleCeilings is the age from which on ceilings are in doubt.
const staleCeilings = 24 * time.Hour

// Doubts says why the ceilings may not be those of this moment: they are old, or
// threads are much nearer to each other or farther apart than they were.
func (c *Ceilings) Doubts(now time.Time, host sysinfo.Host) (out []string) {
	if started, err := time.Parse(time.RFC3339, c.started); err == nil && now.Sub(started) > staleCeilings {
		out = append(out, fmt.Sprintf("the ceilings of %s were measured %.0f days ago", c.path, math.Ceil(now.Sub(started).Hours()/24)))
	}
	env := newEnv(nil, host)
	defer env.close()
	if trip := newRoundTrip(env.pool(2)); trip != nil && c.trip > 0 {
		if text := c.stateDoubt(float64(trip.measure().Nanoseconds()) / batchTrips); text != "" {
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

// UseCeilings takes ceilings from a file instead of measuring them: each has one
// sample, and shares are of it.
func (s *Suite) UseCeilings(c *Ceilings) error {
	known := map[string]ceilingRate{}
	var measured []bench.Case
	for _, cs := range s.Cases {
		n := results.ParseName(cs.Name)
		if !cs.Ceiling || !names.IsCeiling(n) {
			measured = append(measured, cs)
			continue
		}
		rate, err := c.of(n)
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

func (c *Ceilings) of(n results.Name) (r ceilingRate, err error) {
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

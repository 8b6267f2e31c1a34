package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"onebit/bench/results"
)

// A Job is what one process of a run has to do: a pass over all groups.
type Job struct {
	Process   int           // its number, from 1
	Processes int           // how many the run has
	Count     int           // rounds; 0: what the budget allows
	Time      time.Duration // target length of a sample; 0: chosen
	Budget    time.Duration // of this process; 0: none
	Skip      []string      // cases that failed in a process before
	Groups    []string      // to measure; all if there are none
}

// First reports whether the process does what is done once in a run: studies,
// and whatever else Setup and Verify measure that no repetition makes better.
func (j Job) First() bool { return j.Process == 1 }

// Pass does a job of a run and writes the results to out, as Run would but
// without a header, together with how far it has come. It is what the process
// does that Start started: its runner needs no more than a seed.
func (r *Runner) Pass(ctx context.Context, job Job, suite Suite, out io.Writer) error {
	if err := suite.validate(); err != nil {
		return err
	}
	if !job.First() {
		suite.Studies = nil
	}
	part := *r
	part.Count, part.Time, part.Budget, part.Processes, part.Start = job.Count, job.Time, job.Budget, job.Processes, nil
	run := newRun(&part, suite, out, job.Groups...)
	run.process, run.skip, run.rng = job.Process, job.Skip, rand.New(rand.NewPCG(r.Seed+uint64(job.Process-1), 0))
	var unreported error
	part.Progress = func(p Progress) {
		if err := tell(run.w, p); unreported == nil {
			unreported = err
		}
	}
	if err := run.pass(ctx, suite); err != nil {
		return err
	}
	return unreported
}

// processes is how many processes share the rounds of a run.
func (r *Runner) processes() int {
	n := max(r.Processes, 1)
	if r.Count > 0 && r.Start != nil {
		n = min(n, r.Count)
	}
	return n
}

// planProcesses plans a run of several processes.
func (r *Runner) planProcesses(s Suite) Plan {
	n := r.processes()
	studies := s.studying()
	s.Studies = nil
	part := *r
	part.Start, part.Processes, part.Count = nil, n, (r.Count+n-1)/n
	if r.Budget > 0 {
		part.Budget = max((r.Budget-studies)/time.Duration(n), 1)
	}
	p := part.Plan(s)
	p.Samples *= n
	p.Count *= n
	if r.Count > 0 {
		p.Samples, p.Count = p.Samples/p.Count*r.Count, r.Count
	}
	p.Estimate = p.Estimate*time.Duration(n) + studies
	return p
}

// studying is how long the studies take.
func (s Suite) studying() (sum time.Duration) {
	for _, st := range s.Studies {
		sum += st.Time
	}
	return sum
}

// firstShare is how many times the time of another process the first one gets: it
// computes errors against the reference.
const firstShare = 1.4

// job is the job of process n of a run, done within the time that is left for
// it and the others.
func (run *run) job(suite Suite, n int) Job {
	all := run.processes()
	job := Job{Process: n, Processes: all, Time: run.Time, Skip: run.failed()}
	if run.Count > 0 {
		job.Count = run.Count*n/all - run.Count*(n-1)/all
	}
	if run.Budget > 0 {
		var studies time.Duration
		if job.First() {
			studies = suite.studying()
		}
		left := run.Budget - run.now().Sub(run.start) - studies
		share := 1 / float64(all-n+1)
		if job.First() {
			share = firstShare / (firstShare + float64(all-1))
		}
		job.Budget = max(time.Duration(share*float64(left)), 1) + studies
	}
	return job
}

// next is the job of process n, if there is one.
func (run *run) next(suite Suite, n int) (job Job, more bool) {
	if n <= run.processes() {
		return run.job(suite, n), true
	}
	if run.Further == nil {
		return Job{}, false
	}
	job = Job{Process: n, Processes: n, Time: run.Time, Skip: run.failed(), Groups: run.Further(run.results)}
	var all, wanted float64
	for _, g := range suite.groups() {
		all += g.weight()
		if slices.Contains(job.Groups, g.name) {
			wanted += g.weight()
		}
	}
	if wanted == 0 {
		return Job{}, false
	}
	each := float64(run.Budget-suite.studying()) / (firstShare + float64(run.processes()-1))
	job.Budget = max(time.Duration(each*wanted/all), 1)
	if run.Count > 0 {
		job.Count = max(run.Count/run.processes(), 1)
	}
	return job, run.now().Sub(run.start)+job.Budget <= run.Most
}

// failed are the names of cases that are wrong.
func (run *run) failed() (names []string) {
	for _, f := range run.results.Failures {
		names = append(names, f.Name.Full)
	}
	return names
}

// passes lets one process after another measure the suite.
func (run *run) passes(ctx context.Context, suite Suite) error {
	run.known = make(map[string][]results.Metric)
	for n := 1; ; n++ {
		job, more := run.next(suite, n)
		if !more {
			return nil
		}
		relay, before := newRelay(run, job), len(run.results.Samples)
		err := run.Start(ctx, relay.job, relay)
		if rerr := relay.end(); rerr != nil {
			return rerr
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
		case relay.at.Case != "":
			what := "this was measured"
			if relay.at.Doing == "measure" {
				what = "this, or a neighbour of it, was measured" // of slices few are told
			}
			err = run.fail(relay.at.Case, fmt.Errorf("process %d ended while %s: %w", n, what, err))
		case n == 1:
			if err := run.warn("all is measured in one process, so intervals say nothing of what differs between processes: " + err.Error()); err != nil {
				return err
			}
			alone := *run.Runner
			alone.Start, alone.Processes = nil, 1
			run.Runner = &alone
			return run.pass(ctx, suite)
		default:
			err = run.warn(fmt.Sprintf("process %d could not measure: %v", n, err))
		}
		if err != nil {
			return err
		}
		if n > run.processes() && len(run.results.Samples) == before {
			return nil // nor would another one measure anything
		}
	}
}

// progressKind is the kind of a line that says how far a process has come.
const progressKind = "progress"

func tell(w *results.Writer, p Progress) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return w.Remark(progressKind, string(text))
}

// A relay takes what a process writes and makes it part of the run.
type relay struct {
	run    *run
	job    Job
	rest   []byte // a line without an end
	reader *results.Reader
	at     Progress
	err    error
}

func newRelay(run *run, job Job) *relay {
	r := &relay{run: run, job: job}
	r.reader = results.NewReader(fmt.Sprintf("process %d", job.Process), results.Found{
		Sample: func(s results.Sample) error {
			s.Process = job.Process
			return run.adopt(s)
		},
		Failure: run.failElsewhere, Warning: run.warn, Note: r.note,
	})
	return r
}

// Write takes part of what the process wrote. Its error is the run's: that the
// results file can't be written.
func (r *relay) Write(p []byte) (int, error) {
	r.rest = append(r.rest, p...)
	for r.err == nil {
		i := bytes.IndexByte(r.rest, '\n')
		if i < 0 {
			break
		}
		r.err = r.reader.Line(r.rest[:i])
		r.rest = r.rest[i+1:]
	}
	return len(p), r.err
}

// end takes what the process wrote last. Of a process that died in the middle
// of a line, the line is worth nothing.
func (r *relay) end() error {
	if r.err == nil {
		r.err = r.reader.End()
	}
	return r.err
}

// failElsewhere writes another process's failure, if it is the case's first.
func (run *run) failElsewhere(f results.Failure) error {
	if slices.Contains(run.failed(), f.Name.Full) {
		return nil
	}
	run.results.Failures = append(run.results.Failures, f)
	return run.w.Failure(f)
}

// adopt writes another process's sample. Values that are computed are so by
// the first process alone, and stand on every line.
func (run *run) adopt(s results.Sample) error {
	known, seen := run.known[s.Name.Full]
	if !seen {
		for _, v := range s.Values {
			if results.UnitOf(v.Unit).Exact {
				known = append(known, v)
			}
		}
		run.known[s.Name.Full] = known
	}
	for _, v := range known {
		if _, has := s.Value(v.Unit); !has {
			s.Values = append(s.Values, v)
		}
	}
	results.SortUnits(s.Values)
	return run.record(s)
}

// note takes how far the process has come.
func (r *relay) note(n results.Note) error {
	if n.Kind != progressKind {
		return nil
	}
	if err := json.Unmarshal([]byte(n.Text), &r.at); err != nil {
		return fmt.Errorf("bench: process %d: progress %.80q: %w", r.job.Process, n.Text, err)
	}
	run := r.run
	if run.Progress == nil {
		return nil
	}
	p := r.at
	further := time.Duration(r.job.Processes - r.job.Process)
	p.Done = len(run.results.Samples)
	p.Total = p.Done + r.at.Total - r.at.Done + int(further)*r.at.Total
	p.Elapsed = run.now().Sub(run.start)
	p.Left += further * (r.at.Elapsed + r.at.Left)
	run.Progress(p)
	return nil
}

// pass measures the suite in this process.
func (run *run) pass(ctx context.Context, suite Suite) error {
	err := run.groups(ctx, suite)
	// The doubts are about the samples taken, whatever ended the run.
	for _, doubt := range run.canary.doubts() {
		if werr := run.warn(doubt); err == nil {
			err = werr
		}
	}
	return err
}

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"onebit/bench/results"
	"onebit/internal/require"
)

// A fleet starts processes that are none: each makes its suite anew and passes
// over it, writing through a pipe that cuts lines anywhere.
type fleet struct {
	lab   *lab
	suite func(job Job) Suite
	jobs  []Job
	end   func(job Job, lines int) error // asked after each line; ends the process
}

var errSignal = errors.New("signal: bus error")

func (f *fleet) start(ctx context.Context, job Job, out io.Writer) error {
	f.jobs = append(f.jobs, job)
	f.lab.clock = f.lab.clock.Add(300 * time.Millisecond)
	child := &Runner{Seed: 7, Now: f.lab.now, canary: f.lab.canary, cpuTime: noCPUTime}
	pipe := &pipe{out: out}
	if f.end != nil {
		pipe.end = func(lines int) error { return f.end(job, lines) }
	}
	if err := child.Pass(ctx, job, f.suite(job), pipe); err != nil {
		return err
	}
	return pipe.flush()
}

// A pipe passes on what is written in pieces of 7 bytes.
type pipe struct {
	out   io.Writer
	held  []byte
	lines int
	end   func(lines int) error
}

func (p *pipe) Write(data []byte) (int, error) {
	p.lines += bytes.Count(data, []byte("\n"))
	p.held = append(p.held, data...)
	for len(p.held) > 7 {
		if _, err := p.out.Write(p.held[:7]); err != nil {
			return 0, err
		}
		p.held = p.held[7:]
	}
	if p.end != nil {
		if err := p.end(p.lines); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

func (p *pipe) flush() error {
	_, err := p.out.Write(p.held)
	return err
}

func (l *lab) fleet() (*fleet, *Runner) {
	f := &fleet{lab: l, suite: func(Job) Suite { return l.smallSuite() }}
	r := l.runner()
	r.Start, r.Processes = f.start, 3
	return f, r
}

// processesOf counts the samples of each case by process.
func processesOf(res *results.Set) map[string]string {
	counts := make(map[string]map[int]int)
	for _, s := range res.Samples {
		if counts[s.Name.Full] == nil {
			counts[s.Name.Full] = make(map[int]int)
		}
		counts[s.Name.Full][s.Process]++
	}
	out := make(map[string]string)
	for name, byProcess := range counts {
		out[name] = fmt.Sprint(byProcess)
	}
	return out
}

func TestProcesses(t *testing.T) {
	l := newLab()
	f, r := l.fleet()
	r.Count = 7
	// Only the first process finds errors, and fails: what is wrong once is
	// not tried again.
	f.suite = func(job Job) Suite {
		s := l.smallSuite()
		s.Cases = append(s.Cases, l.newCase("MatVec/variant=bad", "tiny", script{wrong: errWrong}))
		if !job.First() {
			name := "MatVec/format=q1_0_g128/variant=scalar/act=q8_128/rows=64/cols=256/threads=1/cache=warm"
			i := slices.IndexFunc(s.Cases, func(c Case) bool { return c.Name == name })
			again := l.newCase(name, s.Cases[i].Group, script{op: 3 * time.Millisecond})
			again.Bytes, again.Ops, again.Roof = s.Cases[i].Bytes, s.Cases[i].Ops, s.Cases[i].Roof
			s.Cases[i] = again
		}
		return s
	}
	var progress []Progress
	r.Progress = func(p Progress) { progress = append(progress, p) }
	res, file := measure(t, r, f.suite(Job{Process: 1}))
	if diff := cmp.Diff(res, readBack(t, file)); diff != "" {
		t.Errorf("Read differs (-run +read):\n%s", diff)
	}
	for name, got := range processesOf(res) {
		want := "map[1:2 2:2 3:3]"
		if strings.HasPrefix(name, "Op/") {
			want = "map[1:1]"
		}
		if got != want {
			t.Errorf("%s has samples %s by process, want %s", name, got, want)
		}
	}
	if len(processesOf(res)) != 4+3+2 {
		t.Errorf("samples of %d names, want 4 cases, 3 doubles and 2 of a study", len(processesOf(res)))
	}
	for _, s := range res.Samples {
		if v, ok := s.Value(results.NMSE); s.Name.Get("format") != "" && s.Name.Base != "Read" && (!ok || v != 3.25e-9) {
			t.Errorf("process %d: %s has nmse %v %v", s.Process, s.Name.Full, v, ok)
		}
		if want := map[string]string{"MatVec": "64x256", "Read": "64x256", "Op": "64x256"}[s.Name.Base]; want != "" && s.Group != want {
			t.Errorf("%s is of group %q", s.Name.Full, s.Group)
		}
	}
	if len(res.Failures) != 1 || res.Failures[0].Reason != errWrong.Error() {
		t.Errorf("failures %+v", res.Failures)
	}
	for i, job := range f.jobs {
		want := Job{Process: i + 1, Processes: 3, Count: []int{2, 2, 3}[i], Time: r.Time}
		if i > 0 {
			want.Skip = []string{"MatVec/variant=bad"}
		}
		if diff := cmp.Diff(want, job); diff != "" {
			t.Errorf("job (-want +got):\n%s", diff)
		}
	}
	last := progress[len(progress)-1]
	if last.Done != len(res.Samples) || last.Total != last.Done || last.Left > time.Second {
		t.Errorf("ended with %+v, %d samples", last, len(res.Samples))
	}
	for i, p := range progress[1:] {
		if p.Case == "" || p.Elapsed < progress[i].Elapsed || p.Done < progress[i].Done {
			t.Errorf("progress went from %+v to %+v", progress[i], p)
		}
	}
	if l.open != 0 {
		t.Errorf("%d instances left open", l.open)
	}
}

// TestFurtherProcesses: what is not yet known is measured by further processes, and nothing else is, until it is
// known or the time is over.
func TestFurtherProcesses(t *testing.T) {
	for _, tt := range []struct {
		asks int // how often a group is named
		most time.Duration
		jobs int // 0: as many as there is time for
	}{
		{0, time.Hour, 3},
		{2, time.Hour, 5},
		{1000, 14 * time.Second, 0},
	} {
		l := newLab()
		f, r := l.fleet()
		asked := 0
		r.Count, r.Budget, r.Most = 0, 6*time.Second, tt.most
		f.suite = func(Job) Suite {
			s := l.smallSuite()
			s.Cases = append(s.Cases, l.newCase("MatVec/variant=other", "other", script{op: time.Millisecond}))
			return s
		}
		r.Further = func(res *results.Set) []string {
			if asked++; asked > tt.asks {
				return nil
			}
			return []string{"other"}
		}
		start := l.clock
		res, _ := measure(t, r, f.suite(Job{}))
		if tt.jobs > 0 && len(f.jobs) != tt.jobs {
			t.Errorf("asked %d times within %v: %d processes, want %d", tt.asks, tt.most, len(f.jobs), tt.jobs)
		}
		if took := l.clock.Sub(start); took > tt.most || tt.jobs == 0 && took < tt.most-time.Second {
			t.Errorf("took %v of %v", took, tt.most)
		}
		for _, s := range res.Samples {
			if s.Process > 3 && s.Group != "other" {
				t.Errorf("process %d measured %s", s.Process, s.Name.Full)
			}
		}
		for _, job := range f.jobs[3:] {
			if !slices.Equal(job.Groups, []string{"other"}) || job.Budget <= 0 || job.Budget > 3*time.Second {
				t.Errorf("job %+v", job)
			}
		}
	}
}

// TestProcessesKeepTheBudget counts the time that processes take to start.
func TestProcessesKeepTheBudget(t *testing.T) {
	l := newLab()
	f, r := l.fleet()
	r.Count, r.Time, r.Budget = 0, 0, 20*time.Second
	f.suite = func(Job) Suite {
		s := fourCases(l)
		s.Studies = []Study{l.newStudy("Op/variant=a", "g", nil, "Op/a", "Op/b", "Op/c")}
		return s
	}
	plan := r.Plan(f.suite(Job{}))
	if plan.Count != 12 || plan.Samples != 12*8 || plan.Estimate > r.Budget {
		t.Errorf("planned %+v", plan)
	}
	start := l.now()
	res, _ := measure(t, r, f.suite(Job{}))
	if took := l.now().Sub(start); took > r.Budget || took < r.Budget/3 {
		t.Errorf("took %v of %v", took, r.Budget)
	}
	if n := len(res.Samples); n != plan.Samples+3 {
		t.Errorf("%d samples, %d planned and a study's 3", n, plan.Samples)
	}
	// The study's time is the first process's alone.
	if got, want := f.jobs[0].Budget, time.Duration(17/3.4*1.4*float64(time.Second))+3*time.Second; got.Round(time.Millisecond) != want.Round(time.Millisecond) {
		t.Errorf("the first process has a budget of %v, want %v", got, want)
	}
}

// TestProcessDies ends the first process after each of its lines.
func TestProcessDies(t *testing.T) {
	var all []int
	l := newLab()
	f, r := l.fleet()
	f.end = func(job Job, n int) error {
		if job.First() && (len(all) == 0 || n > all[len(all)-1]) {
			all = append(all, n)
		}
		return nil
	}
	measure(t, r, l.smallSuite())
	for _, lines := range require.Draw(t, 8, all) {
		l := newLab()
		f, r := l.fleet()
		f.end = func(job Job, n int) error {
			if job.First() && n == lines {
				return errSignal
			}
			return nil
		}
		res, file := measure(t, r, l.smallSuite())
		if diff := cmp.Diff(res, readBack(t, file)); diff != "" {
			t.Fatalf("line %d: Read differs (-run +read):\n%s", lines, diff)
		}
		if len(res.Failures) != 1 {
			t.Fatalf("line %d: failures %+v", lines, res.Failures)
		}
		culprit, of := res.Failures[0], processesOf(res)
		if !strings.Contains(culprit.Reason, errSignal.Error()) || !strings.Contains(culprit.Reason, "process 1") {
			t.Errorf("line %d: %+v", lines, culprit)
		}
		if !slices.Equal(f.jobs[1].Skip, []string{culprit.Name.Full}) || len(f.jobs) != 3 {
			t.Errorf("line %d: jobs %+v", lines, f.jobs)
		}
		for name, processes := range of {
			if name != culprit.Name.Full && !strings.HasPrefix(name, "Op/") && !strings.Contains(name, culprit.Name.Full) && !strings.Contains(processes, "2:2 3:2") {
				t.Errorf("line %d: %s has samples %s by process", lines, name, processes)
			}
		}
	}
}

func TestProcessCannotStart(t *testing.T) {
	l := newLab()
	r := l.runner()
	r.Processes, r.Start = 3, func(context.Context, Job, io.Writer) error { return errors.New("no such program") }
	res, file := measure(t, r, l.smallSuite())
	if diff := cmp.Diff(res, readBack(t, file)); diff != "" {
		t.Errorf("Read differs (-run +read):\n%s", diff)
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "no such program") || !strings.Contains(res.Warnings[0], "one process") {
		t.Errorf("warnings %q", res.Warnings)
	}
	for name, processes := range processesOf(res) {
		if processes != "map[1:6]" && !strings.HasPrefix(name, "Op/") {
			t.Errorf("%s has samples %s by process", name, processes)
		}
	}
	if r.Start == nil {
		t.Error("the caller's runner was changed")
	}
}

// TestProcessesAreInterrupted ends a run at each of its operations in turn.
func TestProcessesAreInterrupted(t *testing.T) {
	stride := 23
	if require.All() {
		stride = 7
	}
	for stop := 1; ; stop += stride {
		l := newLab()
		_, r := l.fleet()
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		l.onRun = func() {
			if calls++; calls == stop {
				cancel()
			}
		}
		var file bytes.Buffer
		res, err := r.Run(ctx, l.smallSuite(), &file)
		cancel()
		if calls < stop {
			if err != nil {
				t.Errorf("a run that nobody interrupted: %v", err)
			}
			return
		}
		if calls > stop+1 {
			t.Fatalf("stopped at %d: %d calls of Run", stop, calls)
		}
		if err != nil && !errors.Is(err, context.Canceled) || len(res.Failures) > 0 {
			t.Fatalf("stopped at %d: %v, %+v", stop, err, res.Failures)
		}
		if diff := cmp.Diff(res, readBack(t, file.String())); diff != "" {
			t.Fatalf("stopped at %d: Read differs (-run +read):\n%s", stop, diff)
		}
		if l.open != 0 {
			t.Fatalf("stopped at %d: %d instances left open", stop, l.open)
		}
	}
}

func TestProcessesOnAFullDisk(t *testing.T) {
	l := newLab()
	_, r := l.fleet()
	d := &disk{room: 7000}
	res, err := r.Run(t.Context(), l.smallSuite(), d)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "results.txt") {
		t.Fatalf("error %v", err)
	}
	if back := readBack(t, d.String()); len(back.Samples) != len(res.Samples) || len(res.Samples) == 0 {
		t.Errorf("%d samples readable, %d reported", len(back.Samples), len(res.Samples))
	}
}

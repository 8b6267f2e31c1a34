package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/sysinfo"
)

// An OtherEngine is a llama-bench: llama.cpp's, ik_llama.cpp's or bitnet.cpp's.
type OtherEngine struct {
	Name string // the value of the key variant
	Path string
}

// A llamaBench is such a program on one file. Its flags and the fields of its JSON
// are those of tools/llama-bench/README.md and llama-bench.cpp in
// github.com/ggml-org/llama.cpp.
type llamaBench struct {
	OtherEngine
	subject *subject
	command string
	err     error            // why it can't measure this file
	memory  []results.Metric // its peak while it made one token; none where that is not told
}

// A llamaRun is what we read of an element of its JSON array.
type llamaRun struct {
	BuildCommit string  `json:"build_commit"`
	BuildNumber int     `json:"build_number"`
	Backends    string  `json:"backends"`
	Threads     int     `json:"n_threads"`
	Prompt      int     `json:"n_prompt"`
	Gen         int     `json:"n_gen"`
	Depth       int     `json:"n_depth"`
	SamplesNs   []int64 `json:"samples_ns"`

	peak int64 // resident bytes of the process; 0: not known
}

// addOthers tries each of the other engines on the file and puts its version in the
// header. That it is no program is an error; that it can't read the model is
// for its cases to say.
func (sub *subject) addOthers(ctx context.Context, s *Suite) error {
	if sub.Head != nil {
		return nil // they take the file as it is
	}
	for _, other := range sub.opt.Others {
		path, err := exec.LookPath(other.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", other.Name, err)
		}
		l := &llamaBench{OtherEngine: other, subject: sub, command: path}
		r, err := l.run(ctx, names.ModelTest{Kind: names.Decode, Tokens: 1}, 1)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.err = err
		if r.peak > 0 {
			l.memory = []results.Metric{{Unit: results.PeakRSS, Value: float64(r.peak)}}
		}
		sub.others = append(sub.others, l)
		if err == nil {
			s.addVersion(other.Name, r, sub.opt.OtherFlags)
		}
	}
	return nil
}

// addVersion says once which build another engine is, and how it was called.
func (s *Suite) addVersion(name string, r llamaRun, flags []string) {
	if slices.ContainsFunc(s.Settings, func(set results.Setting) bool { return set.Key == name }) {
		return
	}
	version := fmt.Sprintf("build %d (%s)", r.BuildNumber, r.BuildCommit)
	if r.Backends != "" { // which not every llama-bench says
		version += ", backends " + r.Backends
	}
	s.Settings = append(s.Settings, results.Setting{Key: name, Value: version})
	if len(flags) > 0 {
		s.Settings = append(s.Settings, results.Setting{Key: name + "-args", Value: strings.Join(flags, " ")})
	}
}

func (s *Suite) addOtherCases(sub *subject, t names.ModelTest, threads int, group string) {
	for _, l := range sub.others {
		s.Cases = append(s.Cases, bench.Case{
			Name:  names.ModelCase{Model: sub.Name, Variant: l.Name, Test: t, Threads: threads}.String(),
			Group: group, Rates: []results.Metric{{Unit: results.TokenRate, Value: float64(t.Tokens)}}, Metrics: l.memory,
			// It starts, loads the model and warms up for each sample.
			Expect: time.Second + 3*sub.configs(threads)[0].simdExpect(t), Single: true,
			Setup: func(context.Context) (bench.Instance, error) {
				return &llamaTest{llamaBench: l, ModelTest: t, threads: threads}, l.err
			},
		})
	}
}

// A llamaTest is a test by llama-bench, one process for each operation. What
// counts is the time that it reports.
type llamaTest struct {
	*llamaBench
	names.ModelTest
	threads int
	elapsed time.Duration
}

func (l *llamaTest) Run(ctx context.Context, n int) error {
	l.elapsed = 0
	for range n {
		r, err := l.run(ctx, l.ModelTest, l.threads)
		if err != nil {
			return err
		}
		l.elapsed += time.Duration(r.SamplesNs[0])
	}
	return nil
}

func (l *llamaTest) Elapsed() time.Duration { return l.elapsed }

// Verify has nothing to compare: what another program computes is its own
// affair. Each run checks that it measured what it was asked for.
func (l *llamaTest) Verify(context.Context) ([]results.Metric, error) { return nil, nil }

func (l *llamaTest) Close() error { return nil }

// run measures a test once, on CPUs alone.
func (l *llamaBench) run(ctx context.Context, t names.ModelTest, threads int) (llamaRun, error) {
	prompt, gen := t.Tokens, 0
	if t.Kind == names.Decode {
		prompt, gen = 0, t.Tokens
	}
	path, files := l.subject.forChild()
	args := []string{"-m", path, "-p", strconv.Itoa(prompt), "-n", strconv.Itoa(gen),
		"-t", strconv.Itoa(threads), "-r", "1", "-ngl", "0", "-o", "json"}
	if t.Depth > 0 {
		args = append(args, "-d", strconv.Itoa(t.Depth))
	}
	args = append(args, l.subject.opt.OtherFlags...)
	var out, stderr strings.Builder
	cmd := exec.CommandContext(ctx, l.command, args...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = files, &out, &stderr
	peak, err := runPeak(cmd)
	if err != nil {
		return llamaRun{}, fmt.Errorf("%s: %w: %s", l.Name, err, lastLines(stderr.String()))
	}
	r, err := parseLlama(strings.NewReader(out.String()))
	r.peak = peak
	if err != nil {
		return r, fmt.Errorf("%s: %w: it printed %.200q", l.Name, err, out.String())
	}
	if r.Prompt != prompt || r.Gen != gen || r.Depth != t.Depth || r.Threads != threads {
		return r, fmt.Errorf("%s: it measured -p %d -n %d -d %d -t %d, not what it was asked for: %s", l.Name, r.Prompt, r.Gen, r.Depth, r.Threads, strings.Join(args, " "))
	}
	return r, nil
}

// peakEvery is how often a process is asked for its peak: the last answer before its
// end stands, and it loads its model long before.
const peakEvery = 20 * time.Millisecond

// runPeak runs a command, and returns the peak of its resident memory as the system
// tells it while it runs; 0 where that is not told.
func runPeak(cmd *exec.Cmd) (peak int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if now := sysinfo.PeakOf(cmd.Process.Pid); now.OK() {
			peak = max(peak, int64(now.V))
		}
		select {
		case err := <-ended:
			return peak, err
		case <-time.After(peakEvery):
		}
	}
}

// parseLlama reads the one run in an array.
func parseLlama(in io.Reader) (r llamaRun, err error) {
	var runs []llamaRun
	if err := json.NewDecoder(in).Decode(&runs); err != nil {
		return r, fmt.Errorf("its output is not JSON as expected: %w", err)
	}
	if len(runs) != 1 {
		return r, fmt.Errorf("%d results, want 1: its arguments must ask for one test", len(runs))
	}
	if r = runs[0]; len(r.SamplesNs) != 1 || r.SamplesNs[0] <= 0 {
		return r, errors.New("no time of one run (samples_ns)")
	}
	return r, nil
}

// lastLines is the end of what a program said, where the reason is.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "\n")
}

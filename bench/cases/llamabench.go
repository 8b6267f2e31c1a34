package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
)

// A llamaBench is llama.cpp's llama-bench on one file. Its flags and the
// fields of its JSON are those of tools/llama-bench/README.md and
// llama-bench.cpp in github.com/ggml-org/llama.cpp.
type llamaBench struct {
	subject *subject
	command string
	err     error // why it can't measure this file
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
}

// addLlamaBench tries llama-bench on the file and puts its version in the
// header. That it is no program is an error; that it can't read the model is
// for its cases to say.
func (sub *subject) addLlamaBench(ctx context.Context, s *Suite) error {
	if sub.opt.LlamaBench == "" || sub.Head != nil {
		return nil // it takes the file as it is
	}
	path, err := exec.LookPath(sub.opt.LlamaBench)
	if err != nil {
		return fmt.Errorf("llama-bench: %w", err)
	}
	sub.llama = &llamaBench{subject: sub, command: path}
	r, err := sub.llama.run(ctx, names.ModelTest{Kind: names.Decode, Tokens: 1}, 1)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	sub.llama.err = err
	if err == nil && len(s.Settings) == 0 {
		version := fmt.Sprintf("build %d (%s)", r.BuildNumber, r.BuildCommit)
		if r.Backends != "" { // which not every llama-bench says
			version += ", backends " + r.Backends
		}
		s.Settings = []results.Setting{{Key: "llama-bench", Value: version}}
		if args := sub.opt.LlamaBenchArgs; len(args) > 0 {
			s.Settings = append(s.Settings, results.Setting{Key: "llama-bench-args", Value: strings.Join(args, " ")})
		}
	}
	return nil
}

func (s *Suite) addLlamaBenchCase(sub *subject, t names.ModelTest, threads int, group string) {
	if sub.llama == nil {
		return
	}
	s.Cases = append(s.Cases, bench.Case{
		Name:  names.ModelCase{Model: sub.Name, Variant: names.LlamaBench, Test: t, Threads: threads}.String(),
		Group: group, Rates: []results.Metric{{Unit: results.TokenRate, Value: float64(t.Tokens)}},
		// It starts, loads the model and warms up for each sample.
		Expect: time.Second + 3*sub.configs(threads)[0].simdExpect(t), Single: true,
		Setup: func(context.Context) (bench.Instance, error) {
			return &llamaTest{llamaBench: sub.llama, ModelTest: t, threads: threads}, sub.llama.err
		},
	})
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
	args = append(args, l.subject.opt.LlamaBenchArgs...)
	var out, stderr strings.Builder
	cmd := exec.CommandContext(ctx, l.command, args...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = files, &out, &stderr
	if err := cmd.Run(); err != nil {
		return llamaRun{}, fmt.Errorf("llama-bench: %w: %s", err, lastLines(stderr.String()))
	}
	r, err := parseLlama(strings.NewReader(out.String()))
	if err != nil {
		return r, fmt.Errorf("llama-bench: %w: it printed %.200q", err, out.String())
	}
	if r.Prompt != prompt || r.Gen != gen || r.Depth != t.Depth || r.Threads != threads {
		return r, fmt.Errorf("llama-bench: it measured -p %d -n %d -d %d -t %d, not what it was asked for: %s", r.Prompt, r.Gen, r.Depth, r.Threads, strings.Join(args, " "))
	}
	return r, nil
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

package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/clock"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// addLoading adds the case of opening a model until it is ready.
func (s *Suite) addLoading(store *store, c opening, group string, expect time.Duration) {
	s.Cases = append(s.Cases, bench.Case{
		Name: c.caseOf(names.ModelTest{Kind: names.Load}).String(), Group: group, Expect: expect, Single: true,
		Setup: func(context.Context) (bench.Instance, error) {
			return &loading{opening: c, store: store}, store.enter(scope{})
		},
	})
}

// A loading opens a model and closes it, which does not count.
type loading struct {
	opening
	store   *store
	elapsed time.Duration
}

func (l *loading) open(ctx context.Context) (*models.Model, error) {
	return models.Open(ctx, l.scope().subject.Path, l.options(l.store))
}

func (l *loading) Run(ctx context.Context, n int) error {
	l.elapsed = 0
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := clock.Now()
		m, err := l.open(ctx)
		l.elapsed += clock.Since(start)
		if err != nil {
			return err
		}
		if err := m.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) Elapsed() time.Duration { return l.elapsed }

// Verify proves what was loaded, and tells its memory. What it computes is
// verified by the tests of the same variant.
func (l *loading) Verify(ctx context.Context) ([]results.Metric, error) {
	m, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := l.checkVariants(m); err != nil {
		return nil, err
	}
	metrics, err := l.memory(ctx, l.store, &opened{Model: m, bytes: l.store.gpu.allocated()}, names.ModelTest{Kind: names.Load}, 0)
	return metrics, errors.Join(err, ctx.Err())
}

func (l *loading) Close() error { return nil }

// firstPrompt is what the time to the first token is measured with.
const firstPrompt = "Once upon a time"

// addFirstToken adds the case of a process that starts, loads a model and
// writes the first token of its text.
func (s *Suite) addFirstToken(store *store, c opening, group string, expect time.Duration, f *firstToken) {
	if len(f.subject.opt.RunCommand) == 0 {
		return
	}
	s.Cases = append(s.Cases, bench.Case{
		Name: c.caseOf(names.ModelTest{Kind: names.TTFT}).String(), Group: group, Expect: expect, Single: true,
		Setup: func(context.Context) (bench.Instance, error) {
			return f, store.enter(scope{})
		},
	})
}

type firstToken struct {
	subject *subject
	args    []string // of the verb run, beside those that all have
	proof   string   // what it says to have multiplied with; "": it may still pack
	elapsed time.Duration
}

func (c modelConfig) firstToken() *firstToken {
	f := &firstToken{subject: c.subject, args: []string{"--threads", strconv.Itoa(c.threads), "--variant", c.variant.Name}}
	if c.packing == cpu.PackNever {
		f.args, f.proof = append(f.args, "--native"), c.variant.String()
	}
	if act := c.otherAct(); act != "" {
		f.args = append(f.args, "--act", string(act))
	}
	return f
}

// command returns the child process, and what it will have written to
// standard error.
func (f *firstToken) command(ctx context.Context) (*exec.Cmd, *bytes.Buffer) {
	path, files := f.subject.forChild()
	args := slices.Concat(f.subject.opt.RunCommand[1:], []string{path, "-p", firstPrompt, "-n", "1", "--ignore-eos"}, f.args)
	if f.subject.Head != nil {
		args = append(args, "--head", f.subject.Head.Name)
	}
	cmd := exec.CommandContext(ctx, f.subject.opt.RunCommand[0], args...)
	var stderr bytes.Buffer
	cmd.ExtraFiles, cmd.Stderr = files, &stderr
	return cmd, &stderr
}

// forChild returns the file's path in a child process, and the descriptors to
// start it with.
func (sub *subject) forChild() (path string, files []*os.File) {
	handed, files := Hand([]ModelFile{sub.ModelFile})
	return handed[0].Path, files
}

func (f *firstToken) Run(ctx context.Context, n int) error {
	f.elapsed = 0
	for range n {
		if err := f.once(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *firstToken) once(ctx context.Context) error {
	cmd, stderr := f.command(ctx)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	start := clock.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	_, readErr := io.ReadFull(out, make([]byte, 1))
	f.elapsed += clock.Since(start)
	_, drainErr := io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("child process: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return errors.Join(readErr, drainErr)
}

func (f *firstToken) Elapsed() time.Duration { return f.elapsed }

// Verify runs the child process once, which must say that it multiplied with
// this variant.
func (f *firstToken) Verify(ctx context.Context) ([]results.Metric, error) {
	cmd, stderr := f.command(ctx)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("child process: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	if !strings.Contains(stderr.String(), f.proof) {
		return nil, fmt.Errorf("child process: %s does not multiply: %s", f.proof, strings.TrimSpace(stderr.String()))
	}
	return nil, ctx.Err()
}

func (f *firstToken) Close() error { return nil }

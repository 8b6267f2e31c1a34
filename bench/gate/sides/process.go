package sides

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A Program is a command that measures. Its processes get an environment of
// another size each time, which moves the stack (Mytkowicz and others, ASPLOS
// 2009). What they start ends with them: it has their group, and where the system
// hands those who left it to this process (Linux), they are found there. So
// nothing else may start processes in the meantime.
type Program struct {
	Path  string
	Args  []string
	Dir   string
	Env   []string      // beside what all processes have
	Temp  string        // where it may leave temporary files
	Limit time.Duration // one that begins and ends no benchmark for so long hangs
}

// maxOutput is more than any benchmark should print.
const maxOutput = 64 << 20

// An Output is what a process printed, and when.
type Output struct {
	Text  []byte
	Began time.Duration // until the first benchmark; 0 if there was none
	Ended time.Duration // from the start
	At    string        // the benchmark that began last, with "Benchmark"; "" if none did
}

// Run runs the program to its end. The output is what there is of it, also of a
// process that fails; the error has its reason.
func (p Program) Run(ctx context.Context) (*Output, error) {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hangs := time.AfterFunc(p.Limit, func() { cancel(fmt.Errorf("ran for more than %v", p.Limit)) })
	defer hangs.Stop()

	start := time.Now()
	cmd := exec.CommandContext(limited, p.Path, p.Args...)
	out := transcript{start: start, beat: func() { hangs.Reset(p.Limit) }, full: func() { cancel(fmt.Errorf("printed more than %d MiB", maxOutput>>20)) }}
	var complaint ending
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Dir, &out, &complaint
	cmd.Env = append(cmd.Environ(), "TMPDIR="+p.Temp, "TMP="+p.Temp, "ONEBIT_GATE_PADDING="+strings.Repeat("x", rand.IntN(4096)))
	cmd.Env = append(cmd.Env, p.Env...)
	cmd.WaitDelay = time.Second
	isolate(cmd)
	cmd.Cancel = func() error { return endGroup(cmd) }
	endOrphans := adoptOrphans()
	err := cmd.Run()
	endGroup(cmd)
	endOrphans()
	out.Ended = time.Since(start)
	out.Text = out.text.Bytes()
	switch {
	case ctx.Err() != nil:
		return &out.Output, ctx.Err()
	case limited.Err() != nil:
		return &out.Output, context.Cause(limited)
	case errors.Is(err, exec.ErrWaitDelay):
		return &out.Output, errors.New("leaves a process behind that keeps its output open")
	case err != nil:
		return &out.Output, fmt.Errorf("%w: %s", err, reason(complaint.String()+"\n"+string(out.Text)))
	}
	return &out.Output, nil
}

// A transcript takes what a process prints, and notes the lines that name
// benchmarks, which go test -v prints as they begin and as they end.
type transcript struct {
	Output
	text  bytes.Buffer
	start time.Time
	line  int // where the unfinished line begins
	beat  func()
	full  func()
}

func (t *transcript) Write(p []byte) (int, error) {
	if t.text.Len()+len(p) > maxOutput {
		t.full()
		return len(p), nil
	}
	t.text.Write(p)
	for {
		line, _, whole := bytes.Cut(t.text.Bytes()[t.line:], []byte("\n"))
		if !whole {
			return len(p), nil
		}
		t.line += len(line) + 1
		if bytes.HasPrefix(line, []byte("Benchmark")) {
			t.note(string(line))
		}
	}
}

func (t *transcript) note(line string) {
	if t.Began == 0 {
		t.Began = time.Since(t.start)
	}
	if fields := strings.Fields(line); len(fields) == 1 {
		t.At = fields[0]
	}
	t.beat()
}

// An ending keeps the last of what is written.
type ending struct{ bytes.Buffer }

func (e *ending) Write(p []byte) (int, error) {
	const most = 64 << 10
	e.Buffer.Write(p)
	if over := e.Len() - most; over > 0 {
		e.Next(over)
	}
	return len(p), nil
}

// reason is the line of a panic, which has a trace behind it, or else the end
// of what a process said.
func reason(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return tail(text)
}

// command runs a program and returns what it printed, without the last line's
// end. Its error has the end of what it complained of.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	return commandEnv(ctx, dir, nil, name, args...)
}

// hookEnv is what git tells its hooks of the repository, in which it finds
// another directory's files.
var hookEnv = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}

func commandEnv(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, complaint bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &complaint
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool {
		key, _, _ := strings.Cut(v, "=")
		return slices.Contains(hookEnv, key)
	})
	cmd.Env = append(cmd.Env, env...)
	// Interrupted, go and git clean up what they have begun. In a group of their
	// own they do not hear a terminal's Ctrl-C before this program does, which
	// would take their end for a failure.
	isolate(cmd)
	cmd.Cancel, cmd.WaitDelay = func() error { return interrupt(cmd) }, 5*time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, tail(complaint.String()))
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}

// tail is the last lines of a text, where the reason is.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A Child is this program once more, as a process that does a part of a run: what
// [Runner].Start may start. Its side is [Orders].
type Child struct {
	Name  string     // of the program, which its messages begin with
	Args  []string   // what has it take orders
	Files []*os.File // that it inherits, from FirstDescriptor on
}

// FirstDescriptor is the number of the first file that a child inherits beside its standard
// streams.
const FirstDescriptor = 3

// Dying is how long a child may take to end between two samples.
const Dying = 10 * time.Second

// Run runs the child to its end, with what it gets to do as JSON on its standard input, which
// is closed when ctx ends. What it writes goes to out.
func (c Child) Run(ctx context.Context, todo any, out io.Writer) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program's file is not found: %w", err)
	}
	text, err := json.Marshal(todo)
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, exe, c.Args...)
	stdin, err := child.StdinPipe()
	if err != nil {
		return err
	}
	var stderr head
	child.Stdout, child.Stderr, child.ExtraFiles = out, &stderr, c.Files
	child.Cancel, child.WaitDelay = stdin.Close, Dying
	if err := child.Start(); err != nil {
		return err
	}
	// A child that does not listen says why when it ends.
	stdin.Write(text)
	if err := child.Wait(); err != nil {
		return fmt.Errorf("%w%s", err, stderr.remark(c.Name))
	}
	return nil
}

// Orders reads what this process, a child, gets to do. The context ends when its standard
// input does.
func Orders(ctx context.Context, stdin io.Reader, todo any) (context.Context, context.CancelFunc, error) {
	if err := json.NewDecoder(stdin).Decode(todo); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, stdin)
		cancel()
	}()
	return ctx, cancel, nil
}

// A head keeps the beginning of what is written: of a crash, the cause.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	const most = 4096
	h.Buffer.Write(p[:min(len(p), max(0, most-h.Len()))])
	return len(p), nil
}

// remark is the first lines, without the program's name, to be added to a message.
func (h *head) remark(name string) string {
	const lines = 2
	var kept []string
	for line := range strings.Lines(h.String()) {
		if line = strings.TrimSpace(line); line != "" && len(kept) < lines {
			kept = append(kept, strings.TrimPrefix(line, name+": "))
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return ": " + strings.Join(kept, ": ")
}

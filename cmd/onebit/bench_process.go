package main

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

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/bench/counters"
	"onebit/cmd/internal/cli"
	"onebit/internal/sysinfo"
)

// How many processes measure each case: three are the fewest that say how much
// they differ by and survive one that is out of line. Five make intervals half
// as wide, where setting up takes a second and not, as with models, half a minute.
const (
	kernelProcesses = 5
	modelProcesses  = 3
)

func (f *benchFlags) processes() int {
	if f.models {
		return modelProcesses
	}
	return kernelProcesses
}

// processVerb is the hidden verb that measures in a child process. It takes
// what is to be measured, the flags of bench, and an assignment on standard
// input; when that closes it ends as if interrupted.
const processVerb = "bench-process"

// An assignment is what a child process gets to do.
type assignment struct {
	bench.Job
	Models []handedModel // that the parent made
	Folder string        // where the processes share random matrices
}

// A handedModel is a model file of the parent's.
type handedModel struct {
	Name, Path string
	Synthetic  bool
	Text       string
	Descriptor uintptr // that Path names; 0 if it is a path like others
}

// firstDescriptor is the number of the first file that a child inherits beside
// its standard streams.
const firstDescriptor = 3

func newBenchProcess() *cobra.Command {
	cmd := &cobra.Command{
		Use:    processVerb,
		Short:  "Measure one pass; bench runs this as a child process",
		Hidden: true,
	}
	for _, what := range []benchFlags{{kernels: true}, {models: true}, {kernels: true, models: true}} {
		f := what
		verb := &cobra.Command{
			Use:    f.suite(),
			Hidden: true,
			Args:   cli.ExactArgs(),
			RunE:   func(cmd *cobra.Command, _ []string) error { return f.pass(cmd) },
		}
		f.register(verb.Flags())
		cmd.AddCommand(verb)
	}
	cmd.AddCommand(newMachineProcess(), newStepProcess())
	return cmd
}

// pass is the child process's side.
func (f *benchFlags) pass(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	var todo assignment
	ctx, cancel, err := takeOrders(cmd, &todo)
	if err != nil {
		return err
	}
	defer cancel()
	cmd.SetContext(ctx)
	f.process, f.handed, f.folder = &todo.Job, todo.files(), todo.Folder
	host := sysinfo.Probe()
	suites, done, err := f.suites(cmd, host)
	if err != nil {
		return err
	}
	defer done()
	runner := bench.Runner{Seed: f.seed}
	if f.counters {
		meter := counters.Open()
		defer meter.Close()
		runner.Meter = meter
	}
	return runner.Pass(ctx, todo.Job, f.joined(cmd, suites, host), cmd.OutOrStdout())
}

// takeOrders reads what this process gets to do. The context ends when standard
// input does.
func takeOrders(cmd *cobra.Command, todo any) (context.Context, context.CancelFunc, error) {
	stdin := cmd.InOrStdin()
	if err := json.NewDecoder(stdin).Decode(todo); err != nil {
		return nil, nil, fmt.Errorf("%s: the assignment is not for people: %w", processVerb, err)
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	go func() {
		io.Copy(io.Discard, stdin)
		cancel()
	}()
	return ctx, cancel, nil
}

func (a *assignment) files() (files []cases.ModelFile) {
	for _, m := range a.Models {
		file := cases.ModelFile{Name: m.Name, Path: m.Path, Synthetic: m.Synthetic, Text: m.Text}
		if m.Descriptor != 0 {
			file.File = os.NewFile(m.Descriptor, m.Path)
		}
		files = append(files, file)
	}
	return files
}

// hand gives a child process the parent's models: those without a name are
// descriptors that it inherits.
func (a *assignment) hand(models []cases.ModelFile) (inherited []*os.File) {
	for _, m := range models {
		handed := handedModel{Name: m.Name, Path: m.Path, Synthetic: m.Synthetic, Text: m.Text}
		if m.File != nil {
			handed.Descriptor = firstDescriptor + uintptr(len(inherited))
			handed.Path = fmt.Sprintf("/dev/fd/%d", handed.Descriptor)
			inherited = append(inherited, m.File)
		}
		a.Models = append(a.Models, handed)
	}
	return inherited
}

// dying is how long a child process may take to end between two samples.
const dying = 10 * time.Second

// start returns what runs a job in a child process to its end.
func (f *benchFlags) start(cmd *cobra.Command) func(context.Context, bench.Job, io.Writer) error {
	return func(ctx context.Context, job bench.Job, out io.Writer) error {
		todo := assignment{Job: job, Folder: f.folder}
		inherited := todo.hand(f.handed)
		args := append([]string{processVerb, f.suite()}, arguments(cmd.Flags())...)
		return runChild(ctx, args, todo, inherited, out)
	}
}

// runChild runs this program with arguments and, on standard input, what it
// gets to do, to its end.
func runChild(ctx context.Context, args []string, todo any, inherited []*os.File, out io.Writer) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program's file is not found: %w", err)
	}
	text, err := json.Marshal(todo)
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, exe, args...)
	stdin, err := child.StdinPipe()
	if err != nil {
		return err
	}
	var stderr head
	child.Stdout, child.Stderr, child.ExtraFiles = out, &stderr, inherited
	child.Cancel, child.WaitDelay = stdin.Close, dying
	if err := child.Start(); err != nil {
		return err
	}
	// A child that does not listen says why when it ends.
	stdin.Write(text)
	if err := child.Wait(); err != nil {
		return fmt.Errorf("%w%s", err, stderr.remark())
	}
	return nil
}

// A head keeps the beginning of what is written: of a crash, the cause.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	const most = 4096
	h.Buffer.Write(p[:min(len(p), max(0, most-h.Len()))])
	return len(p), nil
}

// remark is the first lines, to be added to a message.
func (h *head) remark() string {
	const lines = 2
	var kept []string
	for line := range strings.Lines(h.String()) {
		if line = strings.TrimSpace(line); line != "" && len(kept) < lines {
			kept = append(kept, strings.TrimPrefix(line, "onebit: "))
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return ": " + strings.Join(kept, ": ")
}

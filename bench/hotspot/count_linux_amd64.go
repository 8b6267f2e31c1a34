package hotspot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"runtime"
	"strings"
	"syscall"
)

// mostSteps is where Count gives up: a step takes some ten microseconds.
const mostSteps = 2_000_000

// anchor is a function whose address tells where the program is loaded.
func anchor() {}

// handshake is what a child says before it waits: its thread, and where anchor is.
const handshake = "stepped by thread %d at %d\n"

// marker is the signal by which a child says that a part begins or ends. Nobody
// receives it: the parent keeps it.
const marker = syscall.SIGUSR1

// Stepped is the child's side of Count: it tells the parent, by out, which thread
// to step through, and waits for it to read a byte from in. mark is called before
// each part that is counted and after the last, on the same thread.
func Stepped(in io.Reader, out io.Writer) (mark func() error, err error) {
	runtime.LockOSThread()
	signal.Ignore(marker)
	if _, err := fmt.Fprintf(out, handshake, syscall.Gettid(), address()); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(in, make([]byte, 1)); err != nil {
		return nil, errors.New("nobody steps through this program: onebit profile --kernel starts it")
	}
	return func() error { return syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), marker) }, nil
}

func address() uint64 { return uint64(reflect.ValueOf(anchor).Pointer()) }

// Count starts a child process, a copy of this program that calls Stepped, and
// steps through it by ptrace(2): the result has, for each of the parts between two
// marks, how often each instruction was executed, at its address in this process.
func Count(ctx context.Context, child *exec.Cmd, parts int) ([]Counts, error) {
	return count(ctx, child, parts, mostSteps)
}

// count is Count that gives up after so many steps.
func count(ctx context.Context, child *exec.Cmd, parts, most int) ([]Counts, error) {
	runtime.LockOSThread() // ptrace answers the thread that attached alone
	defer runtime.UnlockOSThread()
	// A preempted goroutine would be counted too.
	child.Env = append(child.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	in, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	counts, thread, err := trace(bufio.NewReader(out), in, parts, most)
	if err != nil {
		child.Process.Kill()
		if thread != child.Process.Pid { // for which Wait waits
			reap(thread)
		}
	}
	failed := child.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errEnded) && failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	}
	return counts, failed
}

var errEnded = errors.New("the process that was stepped through ended early")

// trace returns the thread that it attached to, 0 if it came to none.
func trace(out *bufio.Reader, in io.WriteCloser, parts, most int) (counts []Counts, thread int, err error) {
	defer in.Close()
	var at uint64
	if _, err := fmt.Fscanf(out, handshake, &thread, &at); err != nil {
		return nil, 0, errEnded
	}
	if err := syscall.PtraceAttach(thread); err != nil {
		return nil, 0, fmt.Errorf("the system does not allow it: %w", err)
	}
	if _, err := stopped(thread); err != nil {
		return nil, thread, err
	}
	if _, err := in.Write([]byte{1}); err != nil {
		return nil, thread, err
	}
	counts, err = step(thread, address()-at, parts, most)
	return counts, thread, err
}

// reap waits for the end of a traced thread whose process was killed: until its
// tracer has, nobody is told that the process has ended.
func reap(thread int) {
	for thread != 0 {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(thread, &status, syscall.WALL, nil)
		if err != syscall.EINTR && (err != nil || status.Exited() || status.Signaled()) {
			return
		}
	}
}

// step lets a thread run to its first mark, then counts until the last.
func step(thread int, shift uint64, parts, most int) ([]Counts, error) {
	counts, scheduled := make([]Counts, 0, parts), scheduling{}
	resume := func(sig syscall.Signal) error { return syscall.PtraceCont(thread, int(sig)) }
	deliver, steps := syscall.Signal(0), 0
	for {
		if err := resume(deliver); err != nil {
			return nil, os.NewSyscallError("ptrace", err)
		}
		sig, err := stopped(thread)
		if err != nil {
			return nil, err
		}
		switch deliver = 0; sig {
		case syscall.SIGTRAP:
			var regs syscall.PtraceRegs
			if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
				return nil, os.NewSyscallError("ptrace", err)
			}
			if pc := regs.PC() + shift; !scheduled.is(pc) {
				counts[len(counts)-1][pc]++
			}
			if steps++; steps > most {
				return nil, fmt.Errorf("more than %d instructions", most)
			}
		case marker:
			if len(counts) == parts {
				return counts, syscall.PtraceDetach(thread)
			}
			counts = append(counts, Counts{})
			resume = func(syscall.Signal) error { return syscall.PtraceSingleStep(thread) }
		default:
			deliver = sig
		}
	}
}

// scheduling leaves out what the Go scheduler does: time runs for it while a thread
// is stepped through, and it interrupts what seems to take long.
type scheduling struct {
	on   bool
	kind map[uint64]placeKind
}

type placeKind int

const (
	elsewhere placeKind = iota + 1
	inRuntime
	inMorestack // where a function is interrupted
)

// is reports whether an instruction is the scheduler's: from the interruption until
// the runtime is left.
func (s *scheduling) is(pc uint64) bool {
	kind := s.kind[pc]
	if kind == 0 {
		if s.kind == nil {
			s.kind = map[uint64]placeKind{}
		}
		kind = kindOf(pc)
		s.kind[pc] = kind
	}
	s.on = kind == inMorestack || s.on && kind == inRuntime
	return s.on
}

func kindOf(pc uint64) placeKind {
	f, ok := FunctionOf(pc)
	switch name := f.Name; {
	case strings.HasPrefix(name, "runtime.morestack"):
		return inMorestack
	case !ok || strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "runtime/") || strings.HasPrefix(name, "internal/"): // Go's
		return inRuntime
	}
	return elsewhere
}

// stopped waits until a thread stops, and returns the signal that stopped it.
func stopped(thread int) (syscall.Signal, error) {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(thread, &status, syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, os.NewSyscallError("wait4", err)
		case !status.Stopped():
			return 0, errEnded
		default:
			return status.StopSignal(), nil
		}
	}
}

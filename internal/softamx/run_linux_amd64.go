package softamx

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Result is what a program did.
type Result struct {
	ExitCode int        // -1 if a signal ended it
	Executed map[Op]int // instructions
}

// Run starts cmd and executes its tile instructions until it ends. Output must go to
// files. An error is a tile instruction that a CPU would not have executed, which ends
// the program, or tiles that a thread ends with.
func Run(cmd *exec.Cmd) (*Result, error) {
	// Only the thread that traces may ask anything of what it traces.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &tracer{pid: cmd.Process.Pid, threads: map[int]*Unit{}, code: map[uint64][]Instruction{}, result: Result{Executed: map[Op]int{}}}
	err := t.run()
	if err != nil {
		cmd.Process.Kill()
		for !t.ended {
			if t.wait() != nil {
				break
			}
		}
	}
	cmd.Process.Release() // it has been waited for
	return &t.result, err
}

// A tracer is that of a process.
type tracer struct {
	pid     int
	threads map[int]*Unit
	code    map[uint64][]Instruction // by address: tile instructions in a row
	result  Result
	ended   bool

	stopped int // the thread that has
	status  unix.WaitStatus
}

// run traces the process from its first stop, behind exec, to its end.
func (t *tracer) run() error {
	if err := t.wait(); err != nil {
		return err
	}
	if err := unix.PtraceSetOptions(t.pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL); err != nil {
		return fmt.Errorf("ptrace: %w", err)
	}
	for signal := 0; ; {
		// A thread that was killed meanwhile has no more to be asked.
		if err := unix.PtraceCont(t.stopped, signal); err != nil && err != unix.ESRCH {
			return fmt.Errorf("ptrace: %w", err)
		}
		for {
			if err := t.wait(); err != nil {
				return err
			}
			if t.ended {
				return t.left(t.pid)
			}
			if t.status.Stopped() {
				break
			}
			if err := t.left(t.stopped); err != nil {
				return err
			}
		}
		var err error
		if signal, err = t.stop(); err != nil {
			return err
		}
	}
}

// wait waits for a thread to stop or end.
func (t *tracer) wait() error {
	for {
		thread, err := unix.Wait4(-1, &t.status, unix.WALL|unix.WNOTHREAD, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait4: %w", err)
		}
		t.stopped = thread
		if thread == t.pid && !t.status.Stopped() {
			t.ended = true
			t.result.ExitCode = t.status.ExitStatus()
		}
		return nil
	}
}

// left checks a thread that has ended.
func (t *tracer) left(thread int) error {
	if u := t.threads[thread]; u != nil && u.InUse {
		return errors.New("a thread ended with tiles in use")
	}
	delete(t.threads, thread)
	return nil
}

// stop handles a stop, and returns the signal to go on with.
func (t *tracer) stop() (signal int, err error) {
	got := t.status.StopSignal()
	_, known := t.threads[t.stopped]
	if !known {
		t.threads[t.stopped] = &Unit{}
	}
	switch {
	case got == unix.SIGTRAP, got == unix.SIGSTOP && !known: // a clone, or its first stop
		return 0, nil
	case got == unix.SIGILL:
		return t.illegal()
	}
	return int(got), nil
}

// illegal executes the tile instructions that a thread has stopped at. If it has at
// another instruction, it gets its signal.
func (t *tracer) illegal() (signal int, err error) {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.stopped, &r); err != nil {
		return 0, fmt.Errorf("ptrace: %w", err)
	}
	code, err := t.instructions(r.Rip)
	if err != nil {
		return 0, err
	}
	if len(code) == 0 {
		return int(unix.SIGILL), nil
	}
	registers := [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	u := t.threads[t.stopped]
	for i := range code {
		if err := u.Do(&code[i], &registers, memory{t.pid}); err != nil {
			return 0, fmt.Errorf("at %#x: %w", r.Rip, err)
		}
		t.result.Executed[code[i].Op]++
		r.Rip += uint64(code[i].Len)
	}
	return 0, unix.PtraceSetRegs(t.stopped, &r)
}

// instructions returns those at an address, one after the other, that are on tiles.
func (t *tracer) instructions(at uint64) ([]Instruction, error) {
	if known, ok := t.code[at]; ok {
		return known, nil
	}
	code := make([]byte, 256)
	n, err := unix.ProcessVMReadv(t.pid, []unix.Iovec{{Base: &code[0], Len: uint64(len(code))}}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(code)}}, 0)
	if err != nil {
		return nil, fmt.Errorf("code at %#x: %w", at, err)
	}
	var out []Instruction
	for code = code[:n]; ; {
		i, ok := Decode(code)
		if !ok {
			break
		}
		out = append(out, i)
		code = code[i.Len:]
	}
	t.code[at] = out
	return out, nil
}

// A memory is a process's. Pages that the process may not read or write are errors.
type memory struct{ pid int }

func (m memory) Read(rows [][]byte, at []uint64) error { return m.move(unix.ProcessVMReadv, rows, at) }

func (m memory) Write(rows [][]byte, at []uint64) error {
	return m.move(unix.ProcessVMWritev, rows, at)
}

func (m memory) move(move func(int, []unix.Iovec, []unix.RemoteIovec, uint) (int, error), rows [][]byte, at []uint64) error {
	local, remote, size := make([]unix.Iovec, len(rows)), make([]unix.RemoteIovec, len(rows)), 0
	for i, row := range rows {
		local[i] = unix.Iovec{Base: &row[0], Len: uint64(len(row))}
		remote[i] = unix.RemoteIovec{Base: uintptr(at[i]), Len: len(row)}
		size += len(row)
	}
	n, err := move(m.pid, local, remote, 0)
	if err == nil && n < size {
		err = unix.EFAULT
	}
	if err != nil {
		return fmt.Errorf("%d rows of %d bytes from %#x on: %w", len(rows), len(rows[0]), at[0], err)
	}
	return nil
}

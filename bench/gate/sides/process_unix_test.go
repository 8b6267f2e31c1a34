//go:build unix

package sides

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/internal/require"
)

func leaveSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// What a benchmark starts ends with it, also in a session of its own.
func TestNothingOutlivesABenchmark(t *testing.T) {
	for _, how := range []string{"leaves a process", "leaves a session"} {
		if how == "leaves a session" && !adopts {
			continue
		}
		run, b := behaving(t, how, time.Minute)
		if _, err := run.measure(t.Context(), b, gate.Batch{Benchmarks: []gate.Benchmark{behaves}, N: 1}); err != nil && how == "leaves a session" {
			t.Fatal(err)
		}
		text, err := os.ReadFile(os.Getenv(notes))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: process %d is still there: %v", how, pid, err)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// An interrupt while go links is no failure of the build, and go hears of it
// from the gate alone: a terminal's Ctrl-C goes to a group that go is not in.
func TestInterruptedLink(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		require.Skip(t, "sh", err.Error())
	}
	dir := t.TempDir()
	group := filepath.Join(dir, "group")
	script := "#!/bin/sh\n[ $1 = env ] && exit\nps -o pgid= -p $$ >" + group + ".new && mv " + group + ".new " + group + "\nexec sleep 600\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for t.Context().Err() == nil {
			if _, err := os.Stat(group); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	err := new(Linker).Link(ctx, &Module{Dir: dir}, filepath.Join(dir, "x.test"), 1, "test", "-c", ".")
	if err != context.Canceled {
		t.Errorf("err = %v, want %v", err, context.Canceled)
	}
	text, err := os.ReadFile(group)
	if err != nil {
		t.Fatal(err)
	}
	if pgid := strings.TrimSpace(string(text)); pgid == "" || pgid == strconv.Itoa(syscall.Getpgrp()) {
		t.Errorf("go is in this program's group %q", pgid)
	}
}

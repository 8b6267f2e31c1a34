package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/bench/gate/sides"
	"onebit/bench/gate/suites"
	"onebit/internal/require"
	"onebit/metal/softmetal/frameworks"
)

// Cases that an emulator computes are refused before anything is compared.
func TestGateRefusesEmulated(t *testing.T) {
	require.Unraced(t, "a gate shares nothing that its package does not")
	if runtime.GOOS != "linux" {
		t.Skip("Metal is played on Linux")
	}
	if _, err := frameworks.Load(); errors.Is(err, exec.ErrNotFound) {
		require.Skip(t, "g++", err.Error())
	}
	temp := t.TempDir()
	program := testsAsOnebit(t, temp)
	t.Setenv(playMetal, "1")
	model := filepath.Join(temp, "tiny.gguf")
	if out, err := exec.Command(program, "synth", "tiny", "-o", model).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for filter, want := range map[string]string{
		"/variant:metal-rows /rows:256 /cols:256 /cache:warm":           "base: softmetal: its times prove nothing",
		"/variant:unrolled /rows:256 /cols:256 /cache:warm /threads:1 ": "",
	} {
		c := &suites.Target{
			Programs: suites.Given{Copies: sides.Copies{gate.Base: program, gate.Head: program, gate.Control: program}},
			Suites:   []string{kernelsOnly}, Flags: []string{"--model", model, "--filter", filter}, Limit: 10 * time.Minute, Temp: temp,
		}
		_, _, err := c.Find(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", filter, err, want)
		}
	}
}

// testsAsOnebit is this program under the name by which it is onebit, in a folder.
// The processes that a bench starts have the name of the file.
func testsAsOnebit(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "onebit")
	if runtime.GOOS == "windows" {
		program += ".exe" // nothing else is started there
	}
	if err := os.WriteFile(program, code, 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"testing"

	"onebit/internal/require"
)

// gitRepository makes a repository with one commit of a module's go.mod.
func gitRepository(t *testing.T, module string) (dir string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		require.Skip(t, "git", "there is no git")
	}
	dir = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	writeFileText(t, filepath.Join(dir, "go.mod"), "module "+module+"\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	return dir, git
}

func TestStamped(t *testing.T) {
	stamp := func(hash, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: modified}, {Key: "vcs.revision", Value: hash}}}
	}
	const hash = "8b4e993fd1c3a7d0b6d4b5f0a5a2c7f5c3f0e1d2"
	if got := stamped(stamp(hash, "false")).short(); got != "8b4e993" {
		t.Errorf("clean: %q", got)
	}
	if got := stamped(stamp(hash, "true")).short(); got != "8b4e993-dirty" {
		t.Errorf("changed: %q", got)
	}
	if got := stamped(&debug.BuildInfo{}); got != (commitState{}) {
		t.Errorf("no stamp: %+v", got)
	}
}

func TestGitState(t *testing.T) {
	dir, _ := gitRepository(t, "onebit")
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	state := gitState(t.Context(), []string{inner, dir})
	if !regexp.MustCompile(`^[0-9a-f]{7}$`).MatchString(state.short()) {
		t.Errorf("commit %q of a clean tree", state.short())
	}
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT`).MatchString(state.date) {
		t.Errorf("date %q", state.date)
	}
	writeFileText(t, filepath.Join(inner, "new.go"), "package b\n")
	if got, want := gitState(t.Context(), []string{dir}).short(), state.short()+"-dirty"; got != want {
		t.Errorf("with a new file: %q, want %q", got, want)
	}
}

// Another module's commit, or that of a repository around a copy, is not ours.
func TestGitStateOfOthers(t *testing.T) {
	other, _ := gitRepository(t, "onebitten")
	copied := filepath.Join(other, "third_party", "onebit")
	if err := os.MkdirAll(copied, 0o777); err != nil {
		t.Fatal(err)
	}
	writeFileText(t, filepath.Join(copied, "go.mod"), "module onebit\n")
	if state := gitState(t.Context(), []string{other, copied, t.TempDir()}); state != (commitState{}) {
		t.Errorf("commit %+v", state)
	}
}

//go:build linux

package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"onebit/internal/require"
)

// steps runs a script of bash that begins with the steps of CI, in a folder.
func steps(t *testing.T, folder, script string) (string, error) {
	t.Helper()
	file, err := filepath.Abs("ci-steps.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", ". "+file+"\n"+script)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "ONEBIT_ALL=", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A step that fails is named, also one that ran beside others, and what it
// printed is shown.
func TestStepsNameTheirFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   []string
	}{
		"in turn": {"a() { echo of a; }; b() { false; }; step a; step b; step a",
			[]string{"=== a\nof a\n", " s  a\n", " s  b: FAILED; the steps after it did not run\n", " 1 passed, 1 failed\n"}},
		"beside": {"a() { echo of a; }; b() { echo of b; false; echo not; }; begin b; step a; await b; step a",
			[]string{"=== a\nof a\n", "=== b\nof b\n\n", " s  b: FAILED; the steps after it did not run\n", " 1 passed, 1 failed\n"}},
		"both pass": {"a() { echo of a; }; b() { echo of b; }; begin b; step a; await b",
			[]string{"=== a\nof a\n\n=== b\nof b\n", " s  a\n", " s  b\n", " 2 passed, 0 failed\n"}},
	} {
		out, err := steps(t, "", tc.script)
		if failed := strings.Contains(name, "pass"); failed != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range tc.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", name, want, out)
			}
		}
	}
}

// A change reaches the packages in whose folders its files lie; where that cannot
// be told, reached fails.
func TestReached(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		require.Skip(t, "git", "no git in PATH")
	}
	folder := t.TempDir()
	for _, dir := range []string{".", "a", "a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(folder, dir, "testdata"), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, dir, "x.go"), "package x\n", 0o666)
	}
	write(t, filepath.Join(folder, "go.mod"), "module onebit\n\ngo 1.26\n", 0o666)
	const commit = "git add . && git -c user.name=a -c user.email=a@b.c commit -q -m x"
	if out, err := steps(t, folder, "git init -q . && "+commit+" && reached"); err == nil {
		t.Errorf("of one commit: nobody can tell, and it says\n%s", out)
	}
	for change, want := range map[string]string{
		"a/b/x.go":            "onebit/a/b\n",
		"a/testdata/new.txt":  "onebit/a\n",
		"docs/a.md":           "onebit\n",
		"c/x.go a/b/x.go .ci": "onebit\nonebit/a/b\nonebit/c\n",
		"go.mod c/x.go":       "",
	} {
		for file := range strings.FieldsSeq(change) {
			path := filepath.Join(folder, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			old, _ := os.ReadFile(path)
			write(t, path, string(old)+"// "+change+"\n", 0o666)
		}
		out, err := steps(t, folder, commit+" && reached")
		if got, _, _ := strings.Cut(out, "\n=== summary"); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", change, got, err, want)
		}
	}
}

// Of packages, those are drawn that the change reaches and a part of the others, the
// same by the same seed; where nobody can tell, all are.
func TestDrawn(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		require.Skip(t, "git", "no git in PATH")
	}
	folder := t.TempDir()
	const draw = "; printf 'onebit/%s\\n' a b c d e f g | drawn 3 2>/dev/null | tr -d '\\n'; echo"
	drawn := func(script string) string {
		out, err := steps(t, folder, script+draw)
		if err != nil {
			t.Fatal(err, out)
		}
		line, _, _ := strings.Cut(out, "\n")
		return strings.ReplaceAll(line, "onebit/", "")
	}
	for _, dir := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		if err := os.Mkdir(filepath.Join(folder, dir), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, dir, "x.go"), "package x\n", 0o666)
	}
	write(t, filepath.Join(folder, "go.mod"), "module onebit\n\ngo 1.26\n", 0o666)
	const commit = "git add . && git -c user.name=a -c user.email=a@b.c commit -q -m x"
	if got := drawn("git init -q . && " + commit); got != "abcdefg" {
		t.Errorf("of one commit: %q, want all", got)
	}
	write(t, filepath.Join(folder, "d", "x.go"), "package x // d\n", 0o666)
	if got := drawn(commit + "; export ONEBIT_ALL=1"); got != "abcdefg" {
		t.Errorf("in full: %q, want all", got)
	}
	seen := map[string]bool{}
	for _, seed := range []string{"1", "2", "3", "4"} {
		got := drawn("ONEBIT_SEED=" + seed)
		if len(got) != 3 || got[0] != 'd' {
			t.Errorf("seed %s: %q, want d and two others", seed, got)
		}
		if again := drawn("ONEBIT_SEED=" + seed); again != got {
			t.Errorf("seed %s: %q, then %q", seed, got, again)
		}
		seen[got] = true
	}
	if len(seen) < 2 {
		t.Errorf("four seeds draw the same: %v", seen)
	}
}

// Packages that consist of other files elsewhere are known, in full all are.
func TestChangedBy(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module onebit\n\ngo 1.26\n", "a/a.go": "package a\n", "b/b.go": "package b\n", "b/b_windows.go": "package b\n",
		"c/c.go": "package c\n", "c/c_test.go": "//go:build purego\n\npackage c\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), text, 0o666)
	}
	for script, want := range map[string]string{
		"changed_by CGO_ENABLED=0 GOOS=windows":           "onebit/b\n",
		"changed_by GOFLAGS=-tags=purego":                 "onebit/c\n",
		"changed_by GOOS=windows -- ./a ./c":              "",
		"ONEBIT_ALL=1 changed_by GOOS=windows -- ./a ./c": "onebit/a\nonebit/c\n",
		"elsewhere GOOS=windows; echo $GOOS $packages":    "GOOS=windows (1 packages)\nwindows onebit/b\n",
	} {
		out, err := steps(t, folder, script)
		if got, _, _ := strings.Cut(out, "\n=== summary"); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", script, got, err, want)
		}
	}
}

// A fuzz target's executions are the last that its log tells; one that tells none
// made none.
func TestExecutions(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]string{
		"fuzz: elapsed: 3s, execs: 12 (4/sec)\nfuzz: elapsed: 5s, execs: 1999 (1/sec), new interesting: 1 (total: 2)\nPASS\n": "1999\n",
		"PASS\n": "0\n",
	} {
		write(t, log, text, 0o666)
		out, err := steps(t, "", "executions <"+log)
		if got, _, _ := strings.Cut(out, "\n=== summary"); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

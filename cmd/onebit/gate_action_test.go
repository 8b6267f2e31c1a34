//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"onebit/internal/require"
)

// An action is the part of action.yml that runs here.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	Name, If, Shell, Run, Uses string
	Env                        map[string]string
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	for _, line := range usesLine.FindAllString(string(text), -1) {
		if !pinned.MatchString(line) {
			t.Errorf("%s: want the hash of a commit and its version", line)
		}
	}
	return a
}

// The action's inputs are explained, and reach its shells as variables alone.
func TestActionInputs(t *testing.T) {
	a := readAction(t)
	for _, name := range []string{"base", "budget", "packages", "threshold"} {
		if a.Inputs[name].Description == "" {
			t.Errorf("input %s is not there, or has no description", name)
		}
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) < 3 {
		t.Fatalf("%s of %d steps, want composite of at least 3", a.Runs.Using, len(a.Runs.Steps))
	}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") || s.Run != "" && s.Shell != "bash" {
			t.Errorf("%s: shell %q, or what others wrote is pasted into it:\n%s", s.Name, s.Shell, s.Run)
		}
	}
}

// standIns take the places of go, gh and onebit, and note how they were called.
var standIns = map[string]string{
	"go": `#!/bin/sh
echo "go $*" >>"$CALLS"
while [ "$1" != -o ]; do shift; done
cp "$STANDINS/onebit" "$2"
`,
	"onebit": `#!/bin/sh
echo "onebit $*" >>"$CALLS"
case $1 in
report) [ -f "$2" ] && printf '**slower: Decode +12.4%%**\n\nExit status 1.\n' ;;
gate) [ "$ANSWER" = 2 ] || { mkdir -p "$RUNNER_TEMP/onebit-gate"; echo x >"$RUNNER_TEMP/onebit-gate/results.txt"; }; exit "$ANSWER" ;;
esac
`,
	"gh": `#!/bin/sh
[ -z "$REFUSED" ] || exit 1
echo "gh $*" >>"$CALLS"
case $* in *--paginate*) printf '%s' "$OLD" ;; *) cat "$RUNNER_TEMP/onebit-comment.md" >>"$CALLS" ;; esac
`,
}

// The action's shells are run with stand-ins for what they call.
func TestActionSteps(t *testing.T) {
	require.Unraced(t, "nothing of this program runs")
	for _, tool := range []string{"bash", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			require.Skip(t, tool, err.Error())
		}
	}
	a := readAction(t)
	for name, tt := range map[string]struct {
		env    []string
		failed []string // the steps
		want   []string // in what was called
	}{
		"passes, first comment": {[]string{"ANSWER=0", "PACKAGES=./a ./b", "BUDGET=5m"}, nil, []string{
			"go build -C action -o ", "onebit gate --base HEAD^1 --budget 5m -o ", "onebit-gate -- ./a ./b\n",
			"gh api --silent --method POST repos/o/r/issues/7/comments -F body=@", "<!-- onebit gate -->\n**slower: Decode", "https://github.example/o/r/actions/runs/9"}},
		"slower, comment again": {[]string{"ANSWER=1", "BASE=v1.0.0", "THRESHOLD=5%", "OLD=31", "PACKAGES=./..."}, []string{"Measure"}, []string{
			"onebit gate --base v1.0.0 --budget  --threshold 5% -o ", "gh api --silent --method PATCH repos/o/r/issues/comments/31 -F body=@"}},
		"measures nothing": {[]string{"ANSWER=2"}, []string{"Measure"}, []string{"The gate measured nothing."}},
		"may not comment":  {[]string{"ANSWER=0", "REFUSED=1"}, nil, []string{"::warning::no comment was written"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := actionFolder(t)
			var failed []string
			all := ""
			for _, s := range a.Runs.Steps {
				if s.Run == "" {
					continue
				}
				out, err := runStep(dir, s.Run, tt.env)
				if all += out; err != nil {
					failed = append(failed, s.Name)
				}
			}
			if calls, err := os.ReadFile(filepath.Join(dir, "calls")); err == nil {
				all += string(calls)
			}
			if !slices.Equal(failed, tt.failed) {
				t.Errorf("%q fail, want %q:\n%s", failed, tt.failed, all)
			}
			for _, want := range tt.want {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in\n%s", want, all)
				}
			}
			status, err := os.ReadFile(filepath.Join(dir, "output"))
			if want := "status=" + tt.env[0][len("ANSWER="):] + "\n"; err != nil || string(status) != want {
				t.Errorf("outputs %q, %v, want %q", status, err, want)
			}
		})
	}
}

// actionFolder is a repository of two commits beside the stand-ins.
func actionFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range standIns {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "."}, {"commit", "-q", "--allow-empty", "-m", "one"}, {"commit", "-q", "--allow-empty", "-m", "two"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	return dir
}

// runStep runs a step as GitHub does.
func runStep(dir, script string, env []string) (string, error) {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "STANDINS="+dir, "CALLS="+filepath.Join(dir, "calls"), "RUNNER_TEMP="+filepath.Join(dir, "temp"),
		"GITHUB_ACTION_PATH=action", "GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_REPOSITORY=o/r", "GITHUB_SERVER_URL=https://github.example",
		"GITHUB_RUN_ID=9", "GITHUB_BASE_REF=", "NUMBER=7", "BASE=", "BUDGET=", "THRESHOLD=", "PACKAGES=", "OLD=", "REFUSED=")
	cmd.Env = append(cmd.Env, env...)
	if err := os.MkdirAll(filepath.Join(dir, "temp"), 0o777); err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

//go:build linux || darwin

package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"onebit/models/engine/metal"
)

// goStub plays go in a mac-proof: it notes what it was asked for, fails where the test
// says so, and builds a program that does the same.
const goStub = `#!/bin/bash
echo "$(basename "$0") $*" >>"$LOG"
[ "$1" != build ] || cp "$0" "$3"
[ -z "$SAY" ] || echo "$SAY"
[[ -z "$FAIL" || "$*" != *"$FAIL"* ]]
`

// proof runs scripts/mac-proof with such a go, and returns what was run, the files of the
// archive, and whether it passed.
func proof(t *testing.T, fail, say string) (ran []string, files map[string]string, passed bool) {
	t.Helper()
	root := t.TempDir()
	script, err := os.ReadFile("mac-proof")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"scripts/mac-proof": string(script), "bin/go": goStub} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(root, "log")
	cmd := exec.Command("bash", filepath.Join(root, "scripts/mac-proof"), "tiny", "bonsai-1.7b")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "LOG="+log, "FAIL="+fail, "SAY="+say, "TMPDIR="+root)
	out, err := cmd.CombinedOutput()
	text, logErr := os.ReadFile(log)
	if logErr != nil {
		t.Fatalf("%v\n%s", logErr, out)
	}
	files = map[string]string{}
	unpack := exec.Command("tar", "xzf", filepath.Join(root, "mac-proof.tar.gz"), "-C", root)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	entries, _ := filepath.Glob(filepath.Join(root, "mac-proof", "*.txt"))
	for _, path := range entries {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(data)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), files, err == nil
}

var (
	variants = regexp.MustCompile(`/variant:\(([^)]*)\)`)
	tested   = regexp.MustCompile(`^go test .*?(?:-run (\S+) )?(\./\S+)$`)
)

// A proof runs every step, those behind one that fails too, and says which failed.
func TestMacProof(t *testing.T) {
	steps := []string{"machine", "build", "kernels", "host", "conformance", "engine", "cases", "commands", "pools", "bench", "model-tiny", "model-bonsai-1.7b"}
	for _, c := range []struct{ fail, say, failed string }{
		{"", "", ""}, {"./metal/shaders", "", "conformance"}, {"bench models --preset tiny", "", "model-tiny"},
		{"", "MISSING POOLS: object autoreleased", "pools"},
	} {
		ran, files, passed := proof(t, c.fail, c.say)
		want := ""
		for _, s := range steps {
			how := "passed"
			if s == c.failed {
				how = "FAILED"
			}
			want += how + " " + s + "\n"
			if s != "machine" && c.say != "" && s != "pools" && !strings.Contains(files[s+".txt"], c.say) {
				t.Errorf("%s.txt has %q, want what the step printed", s, files[s+".txt"])
			}
		}
		if got := files["summary.txt"]; passed != (c.failed == "") || got != want {
			t.Errorf("where %q fails: passed %t, with\n%swant\n%s", c.fail, passed, got, want)
		}
		if len(ran) < len(steps)-2 {
			t.Errorf("ran %q", ran)
		}
	}
}

// What a proof runs is there: tests by their names, and the kernels that it measures.
func TestMacProofRunsWhatIsThere(t *testing.T) {
	ran, _, _ := proof(t, "", "")
	for _, line := range ran {
		if m := variants.FindStringSubmatch(line); m != nil {
			for name := range strings.SplitSeq(m[1], " OR ") {
				if !slices.Contains(metal.KernelNames(), name) {
					t.Errorf("%s is no kernel: %s", name, line)
				}
			}
		}
		if m := tested.FindStringSubmatch(line); m != nil {
			if err := runs(filepath.Join("..", m[2]), m[1]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// runs returns nil if a package's folder has a test of that pattern; of TestScripts, all
// scripts that it names.
func runs(folder, pattern string) error {
	test, scripts, _ := strings.Cut(pattern, "/")
	if scripts != "" {
		for name := range strings.SplitSeq(strings.Trim(scripts, "()$"), "|") {
			if _, err := os.Stat(filepath.Join(folder, "testdata", "script", name+".txt")); err != nil {
				return err
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*_test.go"))
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range testFunction.FindAllStringSubmatch(string(data), -1) {
			if regexp.MustCompile(test).MatchString(m[1]) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s has no test %q", folder, pattern)
}

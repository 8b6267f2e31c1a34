package reach

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"onebit/internal/require"
)

// written compares two small modules, of which head has some files of its own.
func written(t *testing.T, files, heads map[string]string) *Result {
	t.Helper()
	var trees [2]Tree
	for i := range trees {
		dir := t.TempDir()
		for name, text := range files {
			if other, ok := heads[name]; ok && i == 1 {
				text = other
			}
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		trees[i] = Tree{Go: goIn(dir), Flags: []string{"-trimpath"}}
	}
	r, err := Compare(t.Context(), trees[0], trees[1], []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A line of godebug in go.mod changes how Go's own packages behave, and no code.
func TestGodebug(t *testing.T) {
	const mod = "module example.com/m\n\ngo 1.24\n"
	files := map[string]string{"go.mod": mod, "m_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkNothing(*testing.B) {}\n"}
	if v := written(t, files, nil).Of("example.com/m", "Nothing"); !v.Same {
		t.Errorf("the same module: %s", v.Why)
	}
	for _, line := range []string{"godebug asynctimerchan=1", "godebug (\n\tpanicnil=1\n)", "godebug default=go1.21"} {
		v := written(t, files, map[string]string{"go.mod": mod + "\n" + line + "\n"}).Of("example.com/m", "Nothing")
		if v.Same || !strings.HasPrefix(v.Why, "GODEBUG is ") {
			t.Errorf("%q: %+v", line, v)
		}
	}
}

// Another flag of the C linker's may bring other code to what calls C, wherever
// the flag stands.
func TestLinkerFlags(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		require.Skip(t, "gcc", err.Error())
	}
	const flags = "package flags\n\n// #cgo LDFLAGS: -lm\nimport \"C\"\n"
	files := map[string]string{
		"go.mod":         "module example.com/m\n\ngo 1.24\n",
		"flags/flags.go": flags,
		"m.go":           "package m\n\n// static int one(void) { return 1; }\nimport \"C\"\n\nimport _ \"example.com/m/flags\"\n\nfunc One() int { return int(C.one()) }\n",
		"m_test.go":      "package m\n\nimport \"testing\"\n\nfunc BenchmarkOne(*testing.B) { One() }\n\nfunc BenchmarkNone(*testing.B) {}\n",
	}
	if v := written(t, files, nil).Of("example.com/m", "One"); !v.Same {
		t.Errorf("the same module: %s", v.Why)
	}
	r := written(t, files, map[string]string{"flags/flags.go": strings.Replace(flags, "-lm", "-lm -lpthread", 1)})
	for _, name := range []string{"One", "None"} {
		if v := r.Of("example.com/m", name); v.Same || !strings.Contains(v.Why, "linker") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A large variable that may hold pointers makes each collection of garbage dearer, also
// where only other code uses it; one of numbers does not.
func TestLargeVariables(t *testing.T) {
	const other = "package m\n\nvar table [16]*int\n\nfunc Other(i int) *int { return table[i] }\n"
	files := map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": other,
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkNothing(*testing.B) {}\n\nfunc TestOther(*testing.T) { Other(3) }\n",
	}
	for _, c := range []struct {
		old, new string
		same     bool
	}{{"[16]*int", "[1024]*int", true}, {"[16]*int", "[1 << 16]*int", false}, {"table [16]*int", "numbers [1 << 16]int\nvar table [16]*int", true}} {
		v := written(t, files, map[string]string{"m.go": strings.Replace(other, c.old, c.new, 1)}).Of("example.com/m", "Nothing")
		if v.Same != c.same || !c.same && !strings.HasPrefix(v.Why, "the collector of garbage looks through ") {
			t.Errorf("%s instead of %s: %+v, want the same: %v", c.new, c.old, v, c.same)
		}
	}
}

// Another flag of the C compiler's is another program, also where it changes nothing.
func TestCompilerFlags(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		require.Skip(t, "gcc", err.Error())
	}
	const flags = "package m\n\n// #cgo CFLAGS: -DN=1\n// static int n(void) { return N; }\nimport \"C\"\n\nfunc N() int { return int(C.n()) }\n"
	files := map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": flags,
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkN(*testing.B) { N() }\n",
	}
	if v := written(t, files, nil).Of("example.com/m", "N"); !v.Same {
		t.Errorf("the same module: %s", v.Why)
	}
	for _, flag := range []string{"-DN=2", "-DN=1 -DUNUSED"} {
		if v := written(t, files, map[string]string{"m.go": strings.Replace(flags, "-DN=1", flag, 1)}).Of("example.com/m", "N"); v.Same {
			t.Errorf("%s: the same", flag)
		}
	}
}

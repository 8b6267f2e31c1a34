package sides

import (
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"onebit/bench/gate"
	"onebit/internal/require"
)

func TestTopLevel(t *testing.T) {
	for pattern, want := range map[string][]string{
		".":                []string{"BenchmarkA", "BenchmarkB"},
		"A":                {"BenchmarkA"},
		"A/x":              {"BenchmarkA"},
		"A/x|kB/y":         {"BenchmarkA", "BenchmarkB"},
		"A/x|y":            {"BenchmarkA"},
		"(A|B)/x":          {"BenchmarkA", "BenchmarkB"},
		"[/(]|kB":          {"BenchmarkB"},
		`\/|kB`:            {"BenchmarkB"},
		"^BenchmarkA$/[|]": {"BenchmarkA"},
		"/x":               {"BenchmarkA", "BenchmarkB"},
	} {
		top := topLevel(pattern)
		got := slices.DeleteFunc([]string{"BenchmarkA", "BenchmarkB"}, func(name string) bool { return !top.MatchString(name) })
		if !slices.Equal(got, want) {
			t.Errorf("%q takes %q, want %q", pattern, got, want)
		}
	}
}

// A release of Go is asked for by its number, and one that cannot be had is an error.
func TestUseGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		require.Skip(t, "go", "there is no go command")
	}
	t.Setenv("GOPROXY", "off")
	here, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go"), " ")
	for release, wrong := range map[string]bool{here: false, "go" + here: false, "1.20.99": true, "latest": true} {
		m := &Module{Dir: t.TempDir()}
		if err := m.UseGo(t.Context(), release); (err != nil) != wrong {
			t.Errorf("%s: %v", release, err)
		}
	}
}

// Benchmarks are found by the files' syntax, whatever a text in them says, and where
// they begin.
func TestLocate(t *testing.T) {
	dir := t.TempDir()
	p := testPackage{dir, map[string]token.Position{}}
	for name, text := range map[string]string{
		"broken_test.go": "package p\nfunc BenchmarkBroken(\n",
		"p_test.go": "package p\n\nimport \"testing\"\n\ntype x int\n\nfunc (x) BenchmarkWork() {}\n\n// Work works.\nfunc BenchmarkWork(b *testing.B) {}\n" +
			"func Benchmark(b *testing.B) {}\nfunc Benchmarks() {}\nvar text = `\nfunc BenchmarkZ(b *testing.B) {}\n`\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := p.find(path); err != nil {
			t.Fatal(err)
		}
	}
	tests := new(Tests)
	tests.packages[gate.Head] = map[string]testPackage{"p": p}
	for at, want := range map[gate.Benchmark]int{
		{Package: "p", Name: "Work/size=1"}: 10, {Package: "p", Name: ""}: 11, {Package: "p", Name: "s"}: 0, {Package: "p", Name: "Z"}: 0, {Package: "q", Name: "Work"}: 0,
	} {
		if file, line := tests.Locate(at); line != want || (line > 0) != (file == filepath.Join(dir, "p_test.go")) {
			t.Errorf("%v: %s:%d, want line %d of p_test.go", at, file, line, want)
		}
	}
}

package gate

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"broken_test.go": "package p\nfunc BenchmarkWork(\n",
		"p_test.go":      "package p\n\nimport \"testing\"\n\ntype x int\n\nfunc (x) BenchmarkWork() {}\n\n// Work works.\nfunc BenchmarkWork(b *testing.B) {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tests := new(Tests)
	tests.packages[Head] = map[string]testPackage{"p": {dir: dir}}
	if file, line := tests.Locate(Benchmark{"p", "Work/size=1"}); file != filepath.Join(dir, "p_test.go") || line != 10 {
		t.Errorf("%s:%d, want line 10 of p_test.go", file, line)
	}
	for _, b := range []Benchmark{{"p", "Other"}, {"q", "Work"}} {
		if file, line := tests.Locate(b); file != "" || line != 0 {
			t.Errorf("%v: %s:%d, want nothing", b, file, line)
		}
	}
}

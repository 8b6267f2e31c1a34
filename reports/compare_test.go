package reports

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"onebit/internal/require"
)

var pairs = flag.Int("pairs", 150, "how many generated pairs of files to compare with benchstat")

// findBenchstat builds the real benchstat, at the version that go.mod names, and returns its path.
var findBenchstat = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "tool", "-n", "benchstat").Output()
	return strings.TrimSpace(string(out)), err
})

func benchstat(t *testing.T) string {
	t.Helper()
	path, err := findBenchstat()
	if err != nil {
		require.Skip(t, "benchstat", "go tool -n benchstat: "+err.Error())
	}
	return path
}

// sameAsBenchstat compares Compare's two outputs with those of the real program.
func sameAsBenchstat(t *testing.T, opt CompareOptions, dir string, files ...string) {
	t.Helper()
	cmd := exec.Command(benchstat(t), append(benchstatFlags(opt), files...)...)
	cmd.Dir = dir
	var want, wantErr, got, gotErr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &want, &wantErr
	if err := cmd.Run(); err != nil {
		t.Fatalf("benchstat: %v\n%s", err, wantErr.String())
	}
	// Paths reach the output as labels, so both programs are given the same relative ones.
	t.Chdir(dir)
	err := Compare(&got, &gotErr, opt, files...)
	if errors.Is(err, ErrNoBenchmarks) != (want.Len() == 0) {
		t.Fatalf("Compare: %v, where benchstat printed %d bytes", err, want.Len())
	} else if err != nil && !errors.Is(err, ErrNoBenchmarks) {
		t.Fatal(err)
	}
	compareText(t, "stdout", want.String(), got.String())
	compareText(t, "stderr", wantErr.String(), gotErr.String())
	if t.Failed() {
		t.Logf("benchstat %q %q", benchstatFlags(opt), files)
	}
}

func benchstatFlags(opt CompareOptions) []string {
	var args []string
	add := func(name, value string) {
		if value != "" {
			args = append(args, "-"+name, value)
		}
	}
	add("filter", opt.Filter)
	add("table", opt.Table)
	add("row", opt.Row)
	add("col", opt.Col)
	add("ignore", opt.Ignore)
	add("format", opt.Format)
	if opt.Alpha != 0 {
		add("alpha", fmt.Sprint(opt.Alpha))
	}
	if opt.Confidence != 0 {
		add("confidence", fmt.Sprint(opt.Confidence))
	}
	return args
}

func compareText(t *testing.T, what, want, got string) {
	t.Helper()
	wantLines, gotLines := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		var w, g string
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if w != g {
			t.Errorf("%s line %d:\nwant %q\ngot  %q", what, i+1, w, g)
			return
		}
	}
}

func TestCompareIsBenchstat(t *testing.T) {
	const old = `goos: linux
goarch: amd64
pkg: onebit/bench/cases
Unit weight-B/s better=higher
Unit nmse better=lower assume=exact
BenchmarkMatVec/format=q1_0_g128/variant=avx2-2 64 156340 ns/op 1.1e10 weight-B/s 0 B/op 4.2e-5 nmse
BenchmarkMatVec/format=q1_0_g128/variant=avx2-2 64 156940 ns/op 1.0e10 weight-B/s 0 B/op 4.2e-5 nmse
BenchmarkMatVec/format=q1_0_g128/variant=avx2-2 64 156342 ns/op 1.2e10 weight-B/s 0 B/op 4.2e-5 nmse
BenchmarkMatVec/format=q1_0_g128/variant=scalar-2 8 956340 ns/op 1.1e9 weight-B/s 0 B/op 4.2e-5 nmse
--- FAIL: BenchmarkMatVec/format=i2_s/variant=scalar
    wrong by 3
# warning: the governor is powersave
BenchmarkModel/test=tg128 1 12.5 tok/s
`
	const changed = `goos: linux
goarch: amd64
pkg: onebit/bench/cases
BenchmarkMatVec/format=q1_0_g128/variant=avx2-2 64 146340 ns/op 1.2e10 weight-B/s 16 B/op 4.4e-5 nmse
BenchmarkMatVec/format=q1_0_g128/variant=avx2-2 64 146940 ns/op 1.3e10 weight-B/s 16 B/op 4.5e-5 nmse
BenchmarkBroken x y
BenchmarkMatVec/format=i2_s/variant=scalar-2 8 956340 ns/op 1.1e9 weight-B/s 0 B/op 4.2e-5 nmse
`
	files := map[string]string{
		"old.txt": old, "new.txt": changed, "empty.txt": "", "warnings.txt": "# warning: none\n",
		"other.txt":     strings.ReplaceAll(changed, "linux", "windows, on a \"server\""),
		"underfoot.txt": strings.Repeat("BenchmarkA 1 5 y\n", 7) + "BenchmarkB 1 3 y\n",
		"disjoint.txt":  "BenchmarkC 1 3 y\nBenchmarkD 1 -3 y\n",
		"unset.txt":     "a: 1\nBenchmarkA 1 5 y\na:\nBenchmarkA 1 5 y\nb: 2\nBenchmarkA 1 5 y\n",
		"zero.txt":      "BenchmarkA 1 0 y\nBenchmarkB 1 4 y\n",
		"two.txt":       "BenchmarkA 1 2 y\nBenchmarkB 1 0 y\n",
		"a rather long file name, longer than any cell below it.txt": old,
	}
	long := "a rather long file name, longer than any cell below it.txt"
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	inputs := [][]string{
		{"old.txt", "new.txt"}, {"new.txt", "old.txt"}, {"old.txt"}, {"old.txt", "old.txt"},
		{"old.txt", "other.txt"}, {"before=old.txt", "after=new.txt"}, {"old.txt", long}, {long, "new.txt"},
		{"empty.txt", "old.txt"}, {"old.txt", "empty.txt"}, {"empty.txt", "empty.txt"}, {"warnings.txt"},
		{"underfoot.txt", "disjoint.txt"}, {"disjoint.txt", "underfoot.txt"},
		{"unset.txt"}, {"unset.txt", "old.txt"}, {"zero.txt", "two.txt"}, {"two.txt", "zero.txt"},
		{"old.txt", "new.txt", "other.txt", long},
	}
	options := []CompareOptions{
		{}, {Format: "csv"}, {Filter: "/variant:avx2"}, {Filter: ".unit:(ns/op OR nmse)"},
		{Row: ".name"}, {Row: "/format,/variant"}, {Col: "/variant"}, {Col: "/variant@(avx2 scalar)", Ignore: ".file"},
		{Col: ".file,goos"}, {Table: "goos"}, {Ignore: "goos"}, {Alpha: 0.4, Confidence: 0.6},
	}
	for _, in := range inputs {
		for _, opt := range options {
			t.Run(fmt.Sprintf("%v%v", in, benchstatFlags(opt)), func(t *testing.T) {
				sameAsBenchstat(t, opt, dir, in...)
			})
		}
	}
}

// TestCompareIsBenchstatOnGeneratedFiles compares many random pairs; -pairs asks for more of them.
func TestCompareIsBenchstatOnGeneratedFiles(t *testing.T) {
	dir := t.TempDir()
	for seed := range *pairs {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		var files []string
		for i := range 2 + rng.IntN(5)/4 {
			name := fmt.Sprintf("f%s-%d-%d.txt", strings.Repeat("n", rng.IntN(30)), seed, i)
			if err := os.WriteFile(filepath.Join(dir, name), generateBenchmarks(rng), 0o666); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
		opt := CompareOptions{}
		if rng.IntN(4) == 0 {
			opt.Format = "csv"
		}
		if rng.IntN(3) == 0 {
			opt.Row = []string{".name", "/k", "pkg,.fullname"}[rng.IntN(3)]
		}
		if rng.IntN(3) == 0 {
			opt.Col = []string{".file,goos", "goos,.file", "/k", "/k,.file", ".file,pkg"}[rng.IntN(5)]
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { sameAsBenchstat(t, opt, dir, files...) })
	}
}

// generateBenchmarks makes a file of a few benchmarks with the oddities that results have: values
// that are equal, zero, negative or far apart, few and many samples, exact units that vary, changing
// configuration, and lines that don't parse.
func generateBenchmarks(rng *rand.Rand) []byte {
	var b bytes.Buffer
	units := []string{"ns/op", "B/op", "weight-B/s", "nmse", "%roof", "a-unit-with-a-name-longer-than-its-values", "MB/s", "µs"}
	rng.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	units = units[:1+rng.IntN(4)]
	b.WriteString("Unit nmse better=lower assume=exact\nUnit weight-B/s better=higher\n")
	if rng.IntN(2) == 0 {
		b.WriteString("Unit µs assume=exact\n")
	}
	samples := []int{1, 2, 3, 4, 5, 6, 7, 10, 20}[rng.IntN(9)]
	kind := rng.IntN(6)
	for range 1 + rng.IntN(3) {
		if rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "goos: %s\n", []string{"linux", "windows", "darwin-with-a-long-name"}[rng.IntN(3)])
		}
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&b, "pkg: %s\n", []string{"a", "b", "c/d, \"e\""}[rng.IntN(3)])
		}
		for bench := range 1 + rng.IntN(6) {
			if rng.IntN(5) == 0 {
				continue
			}
			scale := []float64{1e-7, 1e-3, 1, 100, 123456, 3e9}[rng.IntN(6)]
			for range samples + rng.IntN(2) {
				fmt.Fprintf(&b, "Benchmark%c/k=%d-2 %d", 'A'+bench, rng.IntN(2), 1+rng.IntN(100))
				for _, u := range units {
					fmt.Fprintf(&b, " %v %s", generateValue(rng, kind, scale), u)
				}
				b.WriteString("\n")
			}
		}
		if rng.IntN(10) == 0 {
			b.WriteString("BenchmarkBroken no numbers\n")
		}
	}
	return b.Bytes()
}

func generateValue(rng *rand.Rand, kind int, scale float64) float64 {
	switch kind {
	case 0:
		return scale // every sample equal
	case 1:
		return scale * float64(rng.IntN(3)) // zeros and ties
	case 2:
		return scale * (rng.Float64() - 0.2) // some negative
	case 3:
		return scale * (1 + 0.01*rng.NormFloat64()) // quiet
	}
	return scale * (1 + 3*rng.ExpFloat64()) // loud
}

func TestCompareErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "old.txt")
	if err := os.WriteFile(path, []byte("BenchmarkA 1 5 ns/op\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		opt   CompareOptions
		files []string
		want  string
	}{
		{"missing file", CompareOptions{}, []string{path, filepath.Join(dir, "none.txt")}, "none.txt"},
		{"bad filter", CompareOptions{Filter: "a:("}, []string{path}, "parsing filter: "},
		{"bad table", CompareOptions{Table: "/x@"}, []string{path}, "parsing table projection: "},
		{"bad row", CompareOptions{Row: "a@nosuchorder"}, []string{path}, "parsing row projection: "},
		{"bad column", CompareOptions{Col: ".unit"}, []string{path}, "parsing column projection: "},
		{"bad ignore", CompareOptions{Ignore: "x@"}, []string{path}, "parsing ignored keys: "},
		{"bad alpha", CompareOptions{Alpha: 2}, []string{path}, "alpha 2 is outside [0, 1]"},
		{"bad confidence", CompareOptions{Confidence: -1}, []string{path}, "confidence -1 is outside [0, 1]"},
		{"bad format", CompareOptions{Format: "html"}, []string{path}, `"html"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, outErr bytes.Buffer
			err := Compare(&out, &outErr, tt.opt, tt.files...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if senseless := tt.opt != (CompareOptions{}); senseless != (tt.opt.Check() != nil) {
				t.Errorf("Check: %v", tt.opt.Check())
			}
			if out.Len() > 0 {
				t.Errorf("wrote %q in spite of the error", out.String())
			}
		})
	}
	if err := Compare(&bytes.Buffer{}, &bytes.Buffer{}, CompareOptions{}, filepath.Join(dir, "none.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v is not fs.ErrNotExist", err)
	}
}

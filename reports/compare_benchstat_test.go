package reports

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

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

// sameAsBenchstat compares Benchstat's two outputs with those of the real program.
func sameAsBenchstat(t *testing.T, opt BenchstatOptions, dir string, files ...string) {
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
	err := Benchstat(t.Context(), &got, &gotErr, opt, files...)
	if errors.Is(err, errNoKey) {
		return // benchstat prints a row or a column without a name
	}
	if errors.Is(err, ErrNoBenchmarks) != (want.Len() == 0) {
		t.Fatalf("Benchstat: %v, where benchstat printed %d bytes", err, want.Len())
	} else if err != nil && !errors.Is(err, ErrNoBenchmarks) {
		t.Fatal(err)
	}
	compareText(t, "stdout", want.String(), got.String())
	compareText(t, "stderr", wantErr.String(), gotErr.String())
	if t.Failed() {
		t.Logf("benchstat %q %q", benchstatFlags(opt), files)
	}
}

func benchstatFlags(opt BenchstatOptions) []string {
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

func TestBenchstatIsBenchstat(t *testing.T) {
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
	options := []BenchstatOptions{
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

// TestBenchstatIsBenchstatOnGeneratedFiles compares many random pairs; -pairs asks for more of them.
func TestBenchstatIsBenchstatOnGeneratedFiles(t *testing.T) {
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
		opt := BenchstatOptions{}
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
					v := generateValue(rng, kind, scale)
					if u == "ns/op" || u == "µs" {
						v = math.Abs(v) // Benchstat refuses negative times
					}
					fmt.Fprintf(&b, " %v %s", v, u)
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

func TestBenchstatErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "old.txt")
	if err := os.WriteFile(path, []byte("BenchmarkA 1 5 ns/op\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		opt   BenchstatOptions
		files []string
		want  string
	}{
		{"missing file", BenchstatOptions{}, []string{path, filepath.Join(dir, "none.txt")}, "none.txt"},
		{"bad filter", BenchstatOptions{Filter: "a:("}, []string{path}, "parsing filter: "},
		{"bad table", BenchstatOptions{Table: "/x@"}, []string{path}, "parsing table projection: "},
		{"bad row", BenchstatOptions{Row: "a@nosuchorder"}, []string{path}, "parsing row projection: "},
		{"bad column", BenchstatOptions{Col: ".unit"}, []string{path}, "parsing column projection: "},
		{"bad ignore", BenchstatOptions{Ignore: "x@"}, []string{path}, "parsing ignored keys: "},
		{"bad alpha", BenchstatOptions{Alpha: 2}, []string{path}, "alpha 2 is outside [0, 1]"},
		{"bad confidence", BenchstatOptions{Confidence: -1}, []string{path}, "confidence -1 is outside [0, 1]"},
		{"unknown key of a row", BenchstatOptions{Row: ".nope"}, []string{path, path}, "row projection: unknown key .nope (known: .name"},
		{"unknown key of a table", BenchstatOptions{Table: ".labels"}, []string{path, path}, "table projection: unknown key .labels"},
		{"bad format", BenchstatOptions{Format: "html"}, []string{path}, `"html"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, outErr bytes.Buffer
			err := Benchstat(t.Context(), &out, &outErr, tt.opt, tt.files...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if senseless := tt.opt != (BenchstatOptions{}); senseless != (tt.opt.Check() != nil) {
				t.Errorf("Check: %v", tt.opt.Check())
			}
			if out.Len() > 0 {
				t.Errorf("wrote %q in spite of the error", out.String())
			}
		})
	}
	if err := Benchstat(t.Context(), &bytes.Buffer{}, &bytes.Buffer{}, BenchstatOptions{}, filepath.Join(dir, "none.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v is not fs.ErrNotExist", err)
	}
}

// TestBenchstatKeysMustExist: a projection by a key that no result has is a mistake that only the
// files can show.
func TestBenchstatKeysMustExist(t *testing.T) {
	path := writeTemp(t, "old.txt", "goos: linux\nBenchmarkA/n=1 1 5 ns/op\nBenchmarkB 1 5 ns/op\n")
	for opt, want := range map[BenchstatOptions]string{
		{Col: "foo"}:                             "column projection: no result has the key foo",
		{Row: "/m"}:                              "row projection: no result has the key /m",
		{Table: "goos,pkg"}:                      "table projection: no result has the key pkg",
		{Row: ".name,/n", Table: "goos,.config"}: "",
		{Col: "goos", Filter: ".name:B"}:         "",
		{Row: "/n", Filter: ".name:B"}:           "row projection: no result has the key /n",
	} {
		var out, outErr bytes.Buffer
		err := Benchstat(t.Context(), &out, &outErr, opt, path)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%+v: error %v, want %q", opt, err, want)
		}
		if err != nil && out.Len() > 0 {
			t.Errorf("%+v: wrote %q in spite of the error", opt, out.String())
		}
	}
}

func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// finishes fails the test if f takes longer than any machine needs.
func finishes(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("not finished after %v", limit)
	}
}

// TestBenchstatRefusesWhatIsNoMeasurement: of a NaN the dependency's rank test waited for ever, and
// took memory until there was none.
func TestBenchstatRefusesWhatIsNoMeasurement(t *testing.T) {
	good := writeTemp(t, "good.txt", strings.Repeat("BenchmarkA 1 5 ns/op 7 furlongs\n", 10))
	for _, value := range []string{"NaN ns/op", "5 ns/op NaN furlongs", "+Inf furlongs", "-Inf B/op", "-1 ns/op", "-1 sec/op", "-3 pack-ns"} {
		bad := writeTemp(t, "bad.txt", strings.Repeat("BenchmarkA 1 5 ns/op\n", 3)+"BenchmarkA 1 "+value+"\n"+
			strings.Repeat("BenchmarkA 1 NaN ns/op\n", 10))
		finishes(t, time.Minute, func() {
			var out bytes.Buffer
			err := Benchstat(t.Context(), &out, &out, BenchstatOptions{}, good, bad)
			if err == nil || !strings.HasPrefix(err.Error(), bad+":4: ") || !strings.HasSuffix(err.Error(), "is not a measurement") {
				t.Errorf("%s: error %v, want one that names line 4", value, err)
			}
			if out.Len() > 0 {
				t.Errorf("%s: wrote %q", value, out.String())
			}
		})
	}
}

// TestBenchstatEndsOnExtremes compares finite values that are hard on a rank test and on sums.
func TestBenchstatEndsOnExtremes(t *testing.T) {
	lines := func(n int, values ...string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "BenchmarkA 1 %s ns/op\n", values[i%len(values)])
		}
		return b.String()
	}
	tests := map[string][2]string{
		"many samples of two values": {lines(100_000, "5", "6"), lines(100_000, "6", "5", "5")},
		"many equal samples":         {lines(100_000, "5"), lines(100_000, "5")},
		"exact test with ties":       {lines(25, "1", "2", "3", "4", "5", "5"), lines(25, "1", "2", "3", "4", "6", "7")},
		"huge and tiny":              {lines(10, "1e308", "1e-300"), lines(10, "1.7e308", "5e-324")},
		"zeros":                      {lines(10, "0"), lines(10, "0", "1")},
	}
	for name, texts := range tests {
		t.Run(name, func(t *testing.T) {
			old, new := writeTemp(t, "old.txt", texts[0]), writeTemp(t, "new.txt", texts[1])
			finishes(t, time.Minute, func() {
				var out bytes.Buffer
				if err := Benchstat(t.Context(), &out, &out, BenchstatOptions{}, old, new); err != nil {
					t.Error(err)
				}
				if !strings.Contains(out.String(), "vs base") {
					t.Errorf("no comparison:\n%s", out.String())
				}
			})
		})
	}
}

// TestBenchstatEndsWithItsContext: Ctrl-C did nothing.
func TestBenchstatEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := writeTemp(t, "a.txt", "BenchmarkA 1 5 ns/op\n")
	var out bytes.Buffer
	if err := Benchstat(ctx, &out, &out, BenchstatOptions{}, path, path); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, out.String())
	}
	// Results that were read before the end are not compared after it.
	c, err := newComparer(BenchstatOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"old", "new"} {
		res := &benchfmt.Result{Name: benchfmt.Name("A"), Values: []benchfmt.Value{{Value: 5, Unit: "sec/op"}}}
		res.SetConfig(".file", file)
		c.add(res)
	}
	if _, err := c.finish(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("comparing: error %v", err)
	}
}

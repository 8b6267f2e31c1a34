package results

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"onebit/internal/require"
)

const goTestOutput = `goos: linux
goarch: amd64
pkg: onebit/bench/cases
cpu: Imaginary Processor 9000
=== RUN   TestNothing
BenchmarkMatVec/format=i2_s/variant=avx2
BenchmarkMatVec/format=i2_s/variant=avx2-2         	   20000	     58123 ns/op	 18.5 weight-B/s	    0 B/op	  0 allocs/op
--- FAIL: BenchmarkMatVec/format=i2_s/variant=neon (0.01s)
    cases_test.go:7: row 3: 17, want 18
        and more

    --- FAIL: BenchmarkMatVec/format=i2_s/variant=metal
--- FAIL: BenchmarkMatVec
--- BENCH: BenchmarkOther-2
    foreign: yes
# warning: the governor is powersave
BenchmarkPack-2 10 1.5 sec/op 2 GB/s 3 MB/s 1.5 pack-sec
pkg: onebit/other
PASS
ok  	onebit/bench/cases	1.234s
`

func TestReadGoTestOutput(t *testing.T) {
	want := &Set{
		Settings: []Setting{{"goos", "linux"}, {"goarch", "amd64"}, {"pkg", "onebit/bench/cases"},
			{"cpu", "Imaginary Processor 9000"}},
		Samples: []Sample{
			{Name: ParseName("MatVec/format=i2_s/variant=avx2-2"), Iters: 20000, Package: "onebit/bench/cases", Process: 1,
				Values: []Metric{{NsPerOp, 58123}, {WeightRate, 18.5}, {AllocBytes, 0}, {Allocs, 0}}},
			{Name: ParseName("Pack-2"), Iters: 10, Package: "onebit/bench/cases", Process: 1, Values: []Metric{{NsPerOp, 1.5e9}, {"GB/s", 2}, {"B/s", 3e6}, {PackTime, 1.5e9}}},
		},
		Failures: []Failure{
			{ParseName("MatVec/format=i2_s/variant=neon"), "cases_test.go:7: row 3: 17, want 18\n    and more"},
			{ParseName("MatVec/format=i2_s/variant=metal"), ""},
		},
		Warnings: []string{"the governor is powersave"},
	}
	if diff := cmp.Diff(want, readBack(t, goTestOutput)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, readBack(t, strings.ReplaceAll(goTestOutput, "\n", "\r\n"))); diff != "" {
		t.Errorf("with CRLF, -want +got:\n%s", diff)
	}
}

func TestReadMalformed(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"BenchmarkX 1\n", "results.txt:1: missing measurements"},
		{"goos: linux\n\nBenchmarkX ten 5 ns/op\n", "results.txt:3: parsing iteration count"},
		{"BenchmarkX 1 x ns/op\n", "results.txt:1: parsing measurement"},
		{"BenchmarkX 1 5 ns/op 6\n", "results.txt:1: missing units"},
		{"BenchmarkX 1 NaN ns/op\n", "results.txt:1: NaN ns/op is not a measurement"},
		{"BenchmarkX 1 5 ns/op 1e308 MB/s\n", "results.txt:1: +Inf B/s is not a measurement"},
		{"BenchmarkX 1 -5 ns/op\n", "results.txt:1: -5 ns/op is not a measurement"},
		{"BenchmarkX 0 5 ns/op\n", "results.txt:1: 0 iterations"},
		{"BenchmarkX -3 5 ns/op\n", "results.txt:1: -3 iterations"},
		{"Benchmark 1 5 ns/op\n", "results.txt:1: benchmark without a name"},
		{"# slices 5 6x\nBenchmarkX 1 5 ns/op\n", "results.txt:1: slices: "},
		{"# slices 5 NaN\nBenchmarkX 1 5 ns/op\n", "results.txt:1: slices: NaN ns/op is not a measurement"},
		{"# slices 5 -6\nBenchmarkX 1 5 ns/op\n", "results.txt:1: slices: -6 ns/op is not a measurement"},
		{"Unit\n", "results.txt:1: missing unit"},
		{"Unit ns/op better\n", "results.txt:1: expected key=value"},
		{"Unit x better=lower\nUnit x better=higher\n", "results.txt:2: metadata better of unit x already set"},
		{"BenchmarkX " + strings.Repeat("1", 400) + " 5 ns/op\n", "results.txt:1: parsing iteration count: value out of range"},
		{"ok\nBenchmark" + strings.Repeat("X", 1<<17) + " 1 5 ns/op\n", "results.txt:2: the line is too long for a result"},
	} {
		_, err := Read(strings.NewReader(tc.text), "results.txt")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40q: error %v, want %q", tc.text, err, tc.want)
		}
	}
}

func TestReadWarnsOfTwoRunsInOneFile(t *testing.T) {
	got := readBack(t, "commit: 12ab\ncommit: 12ab\ncommit: 34cd\ncommit: 12ab\ncommit: 56ef\n")
	want := &Set{
		Settings: []Setting{{"commit", "12ab"}},
		Warnings: []string{`results.txt:3: commit is "34cd" here and "12ab" before`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(a, "cpu: one\ncommit: 12ab\nstarted: noon\nBenchmarkX 1 5 ns/op\n")
	write(b, "cpu: one\ncommit: 34cd\nstarted: one\nBenchmarkX 1 7 ns/op\n# warning: hot\n")
	got, err := ReadFiles(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Samples) != 2 {
		t.Fatalf("samples: %+v", got.Samples)
	}
	if a, b := got.Samples[0].Process, got.Samples[1].Process; a == b || a == 0 || b == 0 {
		t.Errorf("samples of two files are of processes %d and %d", a, b)
	}
	if want := []string{b + `: commit is "34cd" here and "12ab" before`, "hot"}; !slices.Equal(got.Warnings, want) {
		t.Errorf("warnings %q, want %q", got.Warnings, want)
	}
	if _, err := ReadFiles(t.Context(), a, filepath.Join(dir, "none.txt")); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestReadProcesses keeps apart what processes measured, also those of two
// files that bear the same numbers.
func TestReadProcesses(t *testing.T) {
	const file = "BenchmarkX 1 4 ns/op\n# process 1\nBenchmarkX 1 5 ns/op\n# process x\n# process -1\n" +
		"BenchmarkY 1 6 ns/op\n--- FAIL: BenchmarkZ\n    # process 9\n# process 3\nBenchmarkX 1 7 ns/op\n"
	processes := func(r *Set) (all []int) {
		for _, s := range r.Samples {
			all = append(all, s.Process)
		}
		return all
	}
	if got, want := processes(readBack(t, file)), []int{0, 1, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("processes %v, want %v", got, want)
	}
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(file), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		paths []string
		want  []int
	}{
		{[]string{path}, []int{0, 1, 1, 3}},
		{[]string{path, path}, []int{1, 2, 2, 3, 4, 5, 5, 6}},
	} {
		r, err := ReadFiles(t.Context(), tc.paths...)
		if err != nil {
			t.Fatal(err)
		}
		if got := processes(r); !slices.Equal(got, tc.want) {
			t.Errorf("%d files: processes %v, want %v", len(tc.paths), got, tc.want)
		}
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = u.Unwrap()
	}
}

func TestParseName(t *testing.T) {
	for _, tc := range []struct {
		in    string
		want  Name
		apart string // Without variant
	}{
		{"MatVec/format=i2_s/variant=avx2/cache=cold-16",
			Name{"MatVec/format=i2_s/variant=avx2/cache=cold", "MatVec",
				[]Setting{{"format", "i2_s"}, {"variant", "avx2"}, {"cache", "cold"}}, 16},
			"MatVec/format=i2_s/cache=cold"},
		{"Pack", Name{"Pack", "Pack", nil, 0}, "Pack"},
		{"Pack-2", Name{"Pack", "Pack", nil, 2}, "Pack"},
		{"AA/MatVec/x=a=b//arm=a", Name{"AA/MatVec/x=a=b//arm=a", "AA",
			[]Setting{{"", "MatVec"}, {"x", "a=b"}, {"", ""}, {"arm", "a"}}, 0}, "AA/MatVec/x=a=b//arm=a"},
		{"", Name{}, ""},
	} {
		got := ParseName(tc.in)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tc.in, diff)
		}
		if w := got.Without("variant"); w != tc.apart {
			t.Errorf("%s without variant: %s, want %s", tc.in, w, tc.apart)
		}
	}
	if !ParseName(DoubleName("X/k=v")).IsArm() || ParseName("AA/k=v").IsArm() || ParseName("X/arm=a").IsArm() {
		t.Error("IsArm is wrong")
	}
}

func TestUnitFormats(t *testing.T) {
	for _, tc := range []struct {
		unit string
		v    float64
		want string
	}{
		{NsPerOp, 58_123, "58.1 µs"},
		{NsPerOp, 0.25, "0.25 ns"},
		{NsPerOp, 999.9, "1000 ns"},
		{NsPerOp, 2.5e9, "2.50 s"},
		{NsPerOp, 123_456_789, "123 ms"},
		{WeightRate, 16.74e9, "16.7 GB/s"},
		{OpRate, 5.74e11, "574 G/s"},
		{PctRoof, 56.14, "56.1 %"},
		{TokenRate, 23.3, "23.3 tok/s"},
		{PackedBytes, 2304, "2.25 KiB"},
		{PeakRSS, 309 << 20, "309 MiB"},
		{NMSE, 4.23e-5, "4.2e-05"},
		{Perplexity, 12.345, "12.3"},
		{Allocs, 0, "0"},
		{"widgets", 1500, "1.50 k widgets"},
		// Absurd values had hundreds of digits.
		{Perplexity, 1e65, "1e+53 T"},
		{NsPerOp, 1e308, "1e+308 ns"},
		{PctRoof, 1e9, "1e+09 %"},
	} {
		if got := UnitOf(tc.unit).Format(tc.v); got != tc.want {
			t.Errorf("%v %s: %q, want %q", tc.v, tc.unit, got, tc.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(goTestOutput))
	f.Add([]byte("# process 1\nBenchmarkX 1 1e308 ns/op\n# process 2\nBenchmarkX 1 1e-300 ns/op\n"))
	f.Add([]byte("BenchmarkX-0099999999999999999999 1 1e400 ns/op"))
	f.Add([]byte("--- FAIL: Benchmark\n    \n    x\n# warning: \nk: v\nk:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		res, err := Read(bytes.NewReader(data), "fuzz.txt")
		if err != nil {
			if !strings.Contains(err.Error(), "fuzz.txt") {
				t.Errorf("the error does not say where: %v", err)
			}
			return
		}
		for _, s := range res.Samples {
			for _, v := range s.Values {
				if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
					t.Errorf("%v %s", v.Value, v.Unit)
				}
			}
			if s.Iters < 1 || s.Name.Full == "" {
				t.Errorf("sample %+v", s)
			}
		}
	})
}

// An endless reader repeats its line.
type endless struct {
	line string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.read%len(e.line):])
	e.read += n
	return n, nil
}

// TestReadIsBounded reads a line, and a file, without an end.
func TestReadIsBounded(t *testing.T) {
	bound := 4 << 20 // 256 MiB take a gigabyte to read
	if require.All() {
		bound = maxFile
	}
	for _, tt := range []struct {
		name, line, want string
		most             int
	}{
		{"line", "x", "huge.txt:1: a line of more than 1 MiB", 2 * maxLine},
		{"file", strings.Repeat("x", 1<<19) + "\n", fmt.Sprintf("huge.txt:%d: the file is longer than %d MiB", bound>>19, bound>>20), bound + 2*maxLine},
	} {
		in := &endless{line: tt.line}
		if _, err := readLines(t.Context(), in, "huge.txt", bound); err == nil || !strings.Contains(err.Error(), tt.want) || in.read > tt.most {
			t.Errorf("%s: error %v after %d bytes, want %q", tt.name, err, in.read, tt.want)
		}
	}
	if _, err := Read(&endless{line: "x"}, "huge.txt"); err == nil {
		t.Error("a line without an end is read")
	}
}

// go test writes the head of each process, and names the package there.
func TestReadCountsProcesses(t *testing.T) {
	const one = "goos: linux\npkg: a\nBenchmarkX 1 10 ns/op\nPASS\npkg: b\nBenchmarkX 1 20 ns/op\nBenchmarkX 1 21 ns/op\n"
	res, err := Read(strings.NewReader(one+one), "two runs")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range res.Samples {
		got = append(got, fmt.Sprint(s.Package, s.Process))
	}
	if want := "a1 b2 b2 a3 b4 b4"; strings.Join(got, " ") != want {
		t.Errorf("packages and processes %v, want %s", got, want)
	}
	res, err = Read(strings.NewReader("pkg: a\n# process 4\nside: base\nBenchmarkX 1 10 ns/op\npkg: b\nside: head\nBenchmarkX 1 20 ns/op\n"), "a gate")
	if err != nil {
		t.Fatal(err)
	}
	if x, y := res.Samples[0], res.Samples[1]; x.Process != 4 || y.Process != 4 || x.Side != "base" || y.Side != "head" || len(res.Warnings) > 0 {
		t.Errorf("%+v, %+v, warnings %q", x, y, res.Warnings)
	}
}

func readBack(t *testing.T, file string) *Set {
	t.Helper()
	res, err := Read(strings.NewReader(file), "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

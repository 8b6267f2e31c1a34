package gate

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/require"
)

// A fakeCounter executes what its test says: by side, function and counting, in
// an operation. A process executes a thousand instructions beside that.
type fakeCounter struct {
	fake
	executes  map[Side]map[string][countings]float64
	processes [2]int
	fail      error
}

func (f *fakeCounter) Instructions(_ context.Context, _ *InstructionMeter, s Side, _ Benchmark, n int) (map[string]float64, error) {
	counted := map[string]float64{}
	for name, each := range f.executes[s] {
		counted[name] = 1000 + float64(n)*each[f.processes[s]/2]
	}
	f.processes[s]++
	return counted, f.fail
}

var fakeMeter = &InstructionMeter{Name: "a fake", slower: 1, enough: time.Millisecond}

// countFake counts the one benchmark of a report, whose time is judged so.
func countFake(t *testing.T, f *fakeCounter, time Verdict, rule float64) (r *Report, recorded []Measurement) {
	t.Helper()
	r = madeReport(made("Decode/large", results.NsPerOp, time, 4, 6))
	r.Findings[0].Base = []float64{100}
	err := CountInstructions(t.Context(), f, r, CountOptions{
		By: fakeMeter, Left: 1e9, ThresholdOf: func(Benchmark) (float64, bool) { return rule, rule > 0 },
		Record: func(m Measurement) { recorded = append(recorded, m) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, recorded
}

func executes(own, ownAgain, runtime float64) map[string][countings]float64 {
	return map[string][countings]float64{"p.Sum": {own, ownAgain}, "runtime.mallocgc": {runtime, runtime}}
}

// What counts say stands beside the verdict on time, and changes it nowhere: but
// a rule makes them a verdict of their own.
func TestInstructions(t *testing.T) {
	base := executes(1000, 1000.5, 500)
	for name, c := range map[string]struct {
		head    map[string][countings]float64
		time    Verdict
		rule    float64
		says    string
		exit    int
		summary string
	}{
		"as many, undecided": {executes(1001, 1000, 500), Unsure, 0,
			"Decode/large is UNSURE by time and executes as many instructions as in base: 1.00 k an operation, within 0.2%.", 0, ""},
		"as many, slower": {executes(1001, 1000, 500), Slower, 0, "Decode/large is SLOWER and executes as many instructions as in base", 1, ""},
		"as many, the same": {executes(1001, 1000, 500), Same, 0,
			"Instructions of an operation in 1 benchmark, by a fake: 1 as many.", 0, ""},
		"more, slower": {executes(1100, 1101, 500), Slower, 0,
			"Decode/large executes 10.0% more instructions: p.Sum 100 more in an operation.", 1, ""},
		"more in the runtime": {executes(1000, 1000, 600), Unsure, 0,
			"Decode/large executes 6.6% more instructions with those of Go's runtime, and as many without: runtime.mallocgc 100 more in an operation.", 0, ""},
		"fewer, undecided": {executes(900, 901, 500), Unsure, 0, "Decode/large is UNSURE by time and executes 10.0% fewer instructions.", 0, ""},
		"more than the rule allows": {executes(1020, 1020, 500), Same, 0.01,
			"Decode/large executes 2.0% more instructions", 1, "worse: Decode/large instructions/op +2.0% [1.8, 2.2]"},
		"less than the rule allows": {executes(1008, 1008, 500), Same, 0.01, "0.8% more", 0, "nothing is proved slower; 1 slower within the threshold"},
		"the rule's runtime":        {executes(1000, 1000, 600), Same, 0.01, "", 0, "nothing is proved slower; 1 same by measurement"},
		"nothing":                   {executes(3, 3, 0), Unsure, 0, "No count of the instructions of Decode/large: head executes 3 instructions in an operation outside of Go's runtime, no more than a loop that does nothing.", 0, ""},
		"unsteady":                  {executes(1000, 1100, 0), Unsure, 0.01, "No count of the instructions of Decode/large: its counts vary by 19%, and the threshold is 1%.", 0, ""},
	} {
		r, recorded := countFake(t, &fakeCounter{executes: map[Side]map[string][countings]float64{Base: base, Head: c.head}}, c.time, c.rule)
		said := strings.Join(r.Advice(), "\n")
		if !strings.Contains(said, c.says) || r.Exit() != c.exit || c.summary != "" && r.Summary() != c.summary {
			t.Errorf("%s: exit %d, want %d; %q: %s", name, r.Exit(), c.exit, r.Summary(), said)
		}
		if len(recorded) != 2*countings || recorded[0].Values[0].Unit != results.Instructions || math.Abs(recorded[0].Values[0].Value-1000) > 1e-6 {
			t.Errorf("%s: recorded %+v", name, recorded)
		}
		if got := r.timeVerdict(r.Counts[0]); got != c.time {
			t.Errorf("%s: the verdict on time became %v", name, got)
		}
	}
}

// What cannot be counted is said, with the reason, and is no proof.
func TestInstructionsRefused(t *testing.T) {
	works := map[Side]map[string][countings]float64{Base: executes(1000, 1000, 0), Head: executes(1000, 1000, 0)}
	r, _ := countFake(t, &fakeCounter{executes: works, fail: errors.New("out of order")}, Same, 0.01)
	if said := strings.Join(r.Advice(), "\n"); !strings.Contains(said, "No count of the instructions of Decode/large: out of order.") || r.Exit() != 0 {
		t.Errorf("a failure: exit %d: %s", r.Exit(), said)
	}
	if r.Options.Prove = true; r.Exit() != 2 {
		t.Errorf("a failure of what a rule judges, where proof is demanded: exit %d", r.Exit())
	}
	slow := madeReport(made("Slow", results.NsPerOp, Unsure, 4, 6))
	slow.Findings[0].Base = []float64{1e9}
	own := made("Own", results.NsPerOp, Unsure, 4, 6)
	slow.Findings = append(slow.Findings, own, made("Own", results.Instructions, Same, 0, 1))
	err := CountInstructions(t.Context(), &fakeCounter{executes: works}, slow, CountOptions{
		By: fakeMeter, Left: 5 * time.Second, ThresholdOf: func(Benchmark) (float64, bool) { return 0, false }, Record: func(Measurement) {},
	})
	said := strings.Join(slow.Advice(), "\n")
	if err != nil || !strings.Contains(said, "of Own: it reports instructions/op itself.") || !strings.Contains(said, "of Slow: counting it takes up to 30 seconds, and so much was not left") {
		t.Errorf("%v: %s", err, said)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CountInstructions(ended, &fakeCounter{executes: works, fail: ended.Err()}, slow, CountOptions{By: fakeMeter, Left: time.Minute, ThresholdOf: func(Benchmark) (float64, bool) { return 0, false }}); !errors.Is(err, context.Canceled) {
		t.Errorf("of a gate that was interrupted: %v", err)
	}
}

// Counts are read back from the results, in Go's format and as they were judged.
func TestInstructionsReadBack(t *testing.T) {
	r, recorded := countFake(t, &fakeCounter{executes: map[Side]map[string][countings]float64{Base: executes(1000, 1000, 1), Head: executes(1100, 1100, 1)}}, Same, 0.01)
	var out bytes.Buffer
	file := NewRecorder(&out, nil, r.Options.Better)
	for _, m := range recorded {
		file.Record(m)
	}
	if err := file.Finish(r, nil); err != nil {
		t.Fatal(err)
	}
	res, err := ReadResults(&out, "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, want := res.Report.Findings, r.Findings[len(r.Findings)-1:]
	if !reflect.DeepEqual(res.Report.Counts, r.Counts) || res.Report.Exit() != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, counts %+v; want %+v, %+v", got, res.Report.Counts, want, r.Counts)
	}
}

func TestReadCachegrind(t *testing.T) {
	for text, want := range map[string]map[string]float64{
		"desc: I1 cache: 1\ncmd: ./x -a 1\nevents: Ir\nfl=???\nfn=runtime.main\n0 12\nfn=p.F[go.shape.int]\n0 30\nfl=/a b.c\nfn=p.F[go.shape.int]\n7 4\n9 1\nsummary: 47\n": {"runtime.main": 12, "p.F[go.shape.int]": 35},
		"events: Ir\nfl=???\nfn=???\n0 5\n": {"": 5},
		"events: Ir\n":                      nil,
		"fn=a\n0 many\n":                    nil,
	} {
		path := filepath.Join(t.TempDir(), "counts")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := readCachegrind(path); !reflect.DeepEqual(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// The runtime's own functions are those whose counts vary.
func TestRuntimes(t *testing.T) {
	for name, want := range map[string]bool{
		"runtime.mallocgc": true, "internal/runtime/gc/scan.scanSpanPackedAVX512": true, "runtime/debug.FreeOSMemory": false,
		"internal/runtime/maps.(*Map).getWithKey": false, "example.com/runtime.F": false, "": false,
	} {
		if runtimes(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// valgrind counts a program of Go by function, and says what it cannot play.
func TestCachegrind(t *testing.T) {
	require.Unraced(t, "counts another program")
	by, err := cachegrind()
	if err != nil {
		require.Skip(t, "valgrind", err.Error())
	}
	binary := countedBinary(t)
	counter, err := newTester("", time.Minute, 0, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const n, work = 20, 1000
	few, err := by.count(t.Context(), counter, binary, "^BenchmarkSum$", n)
	if err != nil {
		t.Fatal(err)
	}
	many, err := by.count(t.Context(), counter, binary, "^BenchmarkSum$", 2*n)
	if err != nil {
		t.Fatal(err)
	}
	each := (many["example.com/p.sum"] - few["example.com/p.sum"]) / n
	if each < 2*work || each > 10*work || each != math.Trunc(each) {
		t.Errorf("a sum of %d numbers executes %v instructions", work, each)
	}
	if _, err := by.count(t.Context(), counter, binary, "^BenchmarkNone$", n); err == nil || !strings.Contains(err.Error(), "does not run on one CPU") {
		t.Errorf("a benchmark that is not there: %v", err)
	}
	if _, err := by.count(t.Context(), counter, binary, "^BenchmarkWide$", n); runtime.GOARCH == "amd64" && (err == nil || !strings.Contains(err.Error(), "an instruction that valgrind does not know (0x62 ")) {
		t.Errorf("AVX-512: %v", err)
	}
}

// countedBinary is a test binary with a known loop, and with an instruction of
// AVX-512 where there is one.
func countedBinary(t *testing.T) testBinary {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.26\n",
		"p_test.go": `package p

import "testing"

var numbers [1000]int

//go:noinline
func sum() (s int) {
	for _, x := range numbers {
		s += x
	}
	return s
}

func BenchmarkSum(b *testing.B) {
	for range b.N {
		numbers[0] = sum()
	}
}

func BenchmarkWide(b *testing.B) {
	for range b.N {
		wide()
	}
}
`,
		"p_amd64.s":  "#include \"textflag.h\"\n\nTEXT ·wide(SB), NOSPLIT, $0-0\n\tVPXORQ Z0, Z0, Z0\n\tRET\n",
		"p_amd64.go": "package p\n\nfunc wide()\n",
		"p_other.go": "//go:build !amd64\n\npackage p\n\nfunc wide() {}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-c", "-ldflags="+named, "-o", "p.test")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v: %s", err, out)
	}
	return testBinary{file: filepath.Join(dir, "p.test"), dir: dir, pkg: "example.com/p"}
}

package sides

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/internal/require"
)

// The test binary of this package is a program to measure, too: these variables
// say how its benchmark behaves, and where that leaves its notes.
const (
	behaviour = "ONEBIT_GATE_TEST_BEHAVIOUR"
	notes     = "ONEBIT_GATE_TEST_NOTES"
)

func TestMain(m *testing.M) {
	switch os.Getenv(behaviour) {
	case "ends at once":
		os.Exit(0)
	case "hangs at once":
		time.Sleep(20 * time.Second) // go test waits for it where nobody ends what a process leaves
	}
	os.Exit(m.Run())
}

// BenchmarkBehaviour is run by tests that ask for a behaviour.
func BenchmarkBehaviour(b *testing.B) {
	behave, ok := behaviours[os.Getenv(behaviour)]
	if !ok {
		b.Skip("it is for other tests")
	}
	b.Run("small", behave)
}

var behaviours = map[string]func(b *testing.B){
	"works": func(b *testing.B) { b.ReportMetric(1e8, "ns/op") },
	"fails": func(b *testing.B) { b.Fatal("out of order") },
	"skips": func(b *testing.B) { b.Skip("not today") },
	// In a goroutine of its own: package testing goes on beside a benchmark that
	// panics, and may be done before the panic is.
	"panics": func(*testing.B) {
		go func() { panic("out of order") }()
		time.Sleep(time.Hour)
	},
	"exits":      func(*testing.B) { os.Exit(3) },
	"exits well": func(*testing.B) { os.Exit(0) },
	"hangs":      func(*testing.B) { time.Sleep(time.Hour) },
	"prints": func(b *testing.B) {
		fmt.Println("hello")
		b.Log("hello")
		b.ReportMetric(1e8, "ns/op")
	},
	"leaves a line":   func(*testing.B) { fmt.Print("hello") },
	"lies":            func(b *testing.B) { fmt.Printf("BenchmarkBehaviour/small-%s %d 1 ns/op\n", procs(), b.N) },
	"lies of another": func(b *testing.B) { fmt.Printf("BenchmarkBehaviour/other-%s %d 1 ns/op\n", procs(), b.N) },
	"lies of operations": func(b *testing.B) {
		fmt.Printf("BenchmarkBehaviour/small-%s 1000000 1 ns/op\nhello", procs())
	},
	"skips at times": func(b *testing.B) {
		if _, err := os.Stat(os.Getenv(notes)); err == nil {
			b.Skip("not again")
		}
		os.WriteFile(os.Getenv(notes), nil, 0o666)
	},
	"leaves a process": func(b *testing.B) { start(b, func(cmd *exec.Cmd) { cmd.Stdout = os.Stdout }) },
	"leaves a session": func(b *testing.B) { start(b, leaveSession) },
}

func procs() string {
	for _, arg := range os.Args {
		if n, ok := strings.CutPrefix(arg, "-test.cpu="); ok {
			return n
		}
	}
	return "1"
}

// start leaves a process behind that never ends, and notes its number.
func start(b *testing.B, change func(*exec.Cmd)) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), behaviour+"=hangs at once")
	change(cmd)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv(notes), fmt.Append(nil, cmd.Process.Pid), 0o666); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(1e8, "ns/op")
}

// behaving makes this test's binary behave, with a limit for its benchmark.
func behaving(t *testing.T, how string, limit time.Duration) (*tester, testBinary) {
	t.Helper()
	t.Setenv(behaviour, how)
	t.Setenv(notes, filepath.Join(t.TempDir(), "notes"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run, err := newTester(&Running{Match: "Behaviour", Limit: limit, CPUs: 2, Temp: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &run, testBinary{file: self, dir: ".", pkg: "example.com/p"}
}

var behaves = gate.Benchmark{Package: "example.com/p", Name: "Behaviour/small"}

// What a benchmark may do instead of telling its time is an error that says so,
// and never a measurement.
func TestBenchmarksThatCannotBeMeasured(t *testing.T) {
	require.Unraced(t, "processes of their own measure")
	const (
		long  = time.Minute
		short = 500 * time.Millisecond // for what never ends
	)
	for how, want := range map[string]struct {
		limit            time.Duration
		listed, measured string // errors; "": none
	}{
		"works":              {long, "", ""},
		"prints":             {long, "", ""},
		"fails":              {long, "BenchmarkBehaviour/small fails: tester_test.go:", ""},
		"skips":              {long, "", "BenchmarkBehaviour/small skips itself when it is measured: tester_test.go:"},
		"panics":             {long, "BenchmarkBehaviour/small exit status 2: panic: out of order", ""},
		"exits":              {long, "BenchmarkBehaviour/small exit status 3", ""},
		"exits well":         {long, "BenchmarkBehaviour/small ended its process before the tests were over", ""},
		"ends at once":       {long, "it ended its process before the tests were over: their PASS is missing", ""},
		"hangs":              {short, "ran for more than 500ms", ""},
		"hangs at once":      {short, "it ran for more than 500ms", ""},
		"leaves a line":      {long, "", "has no line of its own in the output: does it print an unfinished line?"},
		"lies":               {long, `has a line that nobody asked for (1 of 1 operations are): "BenchmarkBehaviour/small-2 1 `, ""},
		"lies of another":    {long, "", `a line that nobody asked for: "BenchmarkBehaviour/other-2 1 1 ns/op"`},
		"lies of operations": {long, `"BenchmarkBehaviour/small-2 1000000 1 ns/op"`, ""},
		"leaves a process":   {long, "BenchmarkBehaviour/small leaves a process behind that keeps its output open", ""},
	} {
		t.Run(how, func(t *testing.T) {
			run, b := behaving(t, how, want.limit)
			failed := run.list(t.Context(), b, nil, gate.Listing{})
			expect(t, "list", failed, want.listed)
			_, failed = run.measure(t.Context(), b, gate.Batch{Benchmarks: []gate.Benchmark{behaves}, N: 1})
			expect(t, "measure", failed, cmp.Or(want.listed, want.measured))
		})
	}
}

func expect(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: error %v, want %q", what, err, want)
	}
}

// One that skips its second repetition was not measured as often as was asked.
func TestSkipsItselfAtTimes(t *testing.T) {
	run, b := behaving(t, "skips at times", time.Minute)
	_, err := run.measure(t.Context(), b, gate.Batch{Benchmarks: []gate.Benchmark{behaves}, N: 3})
	expect(t, "measure", err, "BenchmarkBehaviour/small skips itself when it is measured")
}

// A package with benchmarks of which none runs is named.
func TestPackageWhoseBenchmarksDoNotRun(t *testing.T) {
	if runtime.GOOS == "windows" && require.Emulated() {
		t.Skip("Wine 8 follows no link that it has made")
	}
	run, b := behaving(t, "none", time.Minute)
	tests := &Tests{tester: *run, Running: Running{Temp: t.TempDir()}}
	tests.packages[gate.Head] = map[string]testPackage{b.pkg: {dir: "."}}
	file := tests.binary(gate.Head, b.pkg).file
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.Symlink(b.file, file)); err != nil {
		t.Skip(err)
	}
	for match, want := range map[string]string{
		"Nobody":   "example.com/p has BenchmarkNobody, and none of its benchmarks ran",
		"Nobody/x": "",
	} {
		tests.Match, tests.tester.Match = match, match
		expect(t, match, tests.listPackage(t.Context(), gate.Head, b.pkg, []string{"BenchmarkNobody"}, gate.Listing{}), want)
	}
}

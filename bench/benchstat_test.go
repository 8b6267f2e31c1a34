package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/require"
)

// TestBenchstatReadsTheFile runs the real benchstat, from this module's tool
// directive, on two runs of which the second is a quarter slower.
func TestBenchstatReadsTheFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, op time.Duration) string {
		l := newLab()
		s := l.smallSuite()
		s.Cases = append(s.Cases[:1:1], l.newCase(s.Cases[2].Name, s.Cases[2].Group, script{op: op, found: []results.Metric{{Unit: results.NMSE, Value: 3.25e-9}}}))
		s.Cases[1].Bytes, s.Cases[1].Roof = 2304, s.Cases[0].Name
		s.Cases = append(s.Cases, l.newCase("MatVec/variant=bad", s.Cases[0].Group, script{wrong: errWrong}))
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := l.runner().Run(t.Context(), s, f); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old, new := write("old.txt", time.Millisecond), write("new.txt", 1250*time.Microsecond)
	if _, err := exec.LookPath("go"); err != nil {
		require.Skip(t, "benchstat", "there is no go command to run it")
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-row", "/format,/variant",
		"-filter", ".name:MatVec", old, new).CombinedOutput()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, out)
	}
	for _, want := range []string{
		"cpu: Imaginary Processor 9000",
		"sec/op", "weight-B/s", "%roof", "nmse",
		"1.000m ± 0%", "1.250m ± 0%", "+25.00% (p=0.002 n=6)",
		"-20.00% (p=0.002 n=6)", // weight-B/s
		"0.00% (n=6)",           // nmse: exact, so without a p-value
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("benchstat does not say %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

// TestCommandsIgnoreRunKeys: what docs/commands.md has benchstat pass over is what differs between two runs.
func TestCommandsIgnoreRunKeys(t *testing.T) {
	page, err := os.ReadFile("../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "benchstat -ignore " + strings.Join(results.RunKeys, ",") + ",commit "; !strings.Contains(string(page), want) {
		t.Errorf("docs/commands.md lacks %q", want)
	}
}

// BenchmarkMatVec is run by TestGoTestGivesTheSameNames, in a process of its
// own.
func BenchmarkMatVec(b *testing.B) {
	if os.Getenv("BENCH_TEST_BRIDGE") == "" {
		b.Skip("for TestGoTestGivesTheSameNames")
	}
	RunTesting(b, bridgeSuite().Cases)
}

// bridgeSuite takes real time: testing has no other clock.
func bridgeSuite() Suite {
	spinning := func(name string, wrong error) Case {
		return Case{Name: name, Bytes: 4096, Ops: 100,
			Rates:   []results.Metric{{Unit: results.TokenRate, Value: 2}},
			Metrics: []results.Metric{{Unit: results.PackedBytes, Value: 4096}, {Unit: results.PackTime, Value: 5}},
			Setup: func(context.Context) (Instance, error) {
				return verified{spinner{}, []results.Metric{{Unit: results.NMSE, Value: 0.5}}, wrong}, nil
			}}
	}
	return Suite{Cases: []Case{
		spinning("MatVec/format=i2_s/variant=avx2/rows=8/cache=cold", nil),
		spinning("MatVec/format=i2_s/variant=scalar/rows=8/cache=cold", nil),
		spinning("MatVec/format=i2_s/variant=wrong/rows=8/cache=cold", errWrong),
		spinning("MatMul/format=i2_s", nil),
	}}
}

type verified struct {
	Instance
	found []results.Metric
	err   error
}

func (v verified) Verify(context.Context) ([]results.Metric, error) { return v.found, v.err }

func TestGoTestGivesTheSameNames(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^$", "-test.bench=^BenchmarkMatVec$", "-test.benchtime=3x")
	cmd.Env = append(os.Environ(), "BENCH_TEST_BRIDGE=1")
	out, err := cmd.Output()
	if err == nil {
		t.Error("a wrong case did not fail the benchmark")
	}
	theirs := readBack(t, string(out))
	ours, _ := measure(t, &Runner{Count: 1, Time: time.Millisecond}, bridgeSuite())

	key := func(s results.Sample) string {
		var units []string
		for _, v := range s.Values {
			units = append(units, v.Unit)
		}
		slices.Sort(units)
		return s.Name.Full + " " + strings.Join(units, " ")
	}
	var got, want []string
	for _, s := range theirs.Samples {
		got = append(got, key(s))
		if ns, _ := s.Value(results.NsPerOp); s.Iters != 3 || ns <= 0 {
			t.Errorf("%s: %d iterations, %v ns/op", s.Name.Full, s.Iters, ns)
		}
	}
	for _, s := range ours.Samples {
		if s.Name.Base == "MatVec" {
			want = append(want, key(s))
		}
		if s.Name.Procs != theirs.Samples[0].Name.Procs {
			t.Errorf("suffix -%d, go test's is -%d", s.Name.Procs, theirs.Samples[0].Name.Procs)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("go test prints\n%s\nRunner writes\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(theirs.Failures) != 1 || len(ours.Failures) != 1 || theirs.Failures[0].Name.Full != ours.Failures[0].Name.Full {
		t.Errorf("failures: go test %+v, Runner %+v", theirs.Failures, ours.Failures)
	}
}

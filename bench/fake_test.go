package bench

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/sysinfo"
)

// A lab is a world without real time: cases take exactly as long as they say.
type lab struct {
	clock  time.Time
	open   int // instances not closed
	setups int
	runs   map[string]int // operations, by case
	onRun  func()         // called before each Run
}

func newLab() *lab {
	return &lab{clock: time.Unix(1_700_000_000, 0), runs: make(map[string]int)}
}

func (l *lab) now() time.Time { return l.clock }

// canary takes a steady 100 µs.
func (l *lab) canary() time.Duration {
	l.clock = l.clock.Add(100 * time.Microsecond)
	return 100 * time.Microsecond
}

func (l *lab) runner() *Runner {
	return &Runner{Count: 6, Time: 10 * time.Millisecond, Seed: 7, Now: l.now, canary: l.canary, cpuTime: noCPUTime}
}

// noCPUTime is a system that does not say what its CPUs do.
func noCPUTime() (unknown sysinfo.Value[sysinfo.CPUTime]) {
	unknown.Err = errors.New("not in the lab")
	return unknown
}

// A script is what a fake case does.
type script struct {
	op     time.Duration
	jitter func(run int) time.Duration // added to the run-th call of Run
	found  []results.Metric
	wrong  error
	broken error // of Setup
	fails  int   // the call of Run that fails; 0: none
}

type fake struct {
	lab    *lab
	name   string
	script script
	calls  int
}

func (l *lab) newCase(name, group string, s script) Case {
	return Case{Name: name, Group: group, Setup: func(context.Context) (Instance, error) {
		l.setups++
		if s.broken != nil {
			return nil, s.broken
		}
		l.open++
		return &fake{lab: l, name: name, script: s}, nil
	}}
}

func (f *fake) Verify(context.Context) ([]results.Metric, error) {
	return f.script.found, f.script.wrong
}

func (f *fake) Run(_ context.Context, n int) error {
	if f.lab.onRun != nil {
		f.lab.onRun()
	}
	if f.calls++; f.calls == f.script.fails {
		return errWrong
	}
	f.lab.runs[f.name] += n
	f.lab.clock = f.lab.clock.Add(time.Duration(n) * f.script.op)
	if f.script.jitter != nil {
		f.lab.clock = f.lab.clock.Add(f.script.jitter(f.calls))
	}
	return nil
}

func (f *fake) Close() error {
	f.lab.open--
	return nil
}

// The machine may be one described.
func init() { sysinfo.Describe() }

var errWrong = errors.New("row 3: 17, want 18\nkey: not a setting")

// newStudy makes a sample of each name, a second apart.
func (l *lab) newStudy(name, group string, err error, samples ...string) Study {
	return Study{Name: name, Group: group, Time: time.Duration(len(samples)) * time.Second,
		Run: func(_ context.Context, emit func(results.Sample) error) error {
			for _, s := range samples {
				if l.onRun != nil {
					l.onRun()
				}
				l.clock = l.clock.Add(time.Second)
				if err := emit(results.Sample{Name: results.Name{Full: s}, Values: []results.Metric{{Unit: results.NMSE, Value: 0.5}, {Unit: results.NsPerOp, Value: 1e6}}}); err != nil {
					return err
				}
			}
			return err
		}}
}

// smallSuite has two groups: kernels under a roof, with a study, and one
// model.
func (l *lab) smallSuite() Suite {
	const shape = "/rows=64/cols=256/threads=1/cache=warm"
	uneven := func(run int) time.Duration { return time.Duration(run*run%7) * 13 * time.Microsecond }
	roof := l.newCase("Read/bytes=4096/threads=1/cache=warm", "64x256", script{op: 200 * time.Microsecond, jitter: uneven})
	roof.Bytes, roof.Ceiling = 4096, true
	kernel := func(variant string, op time.Duration) Case {
		c := l.newCase("MatVec/format=q1_0_g128/variant="+variant+"/act=q8_128"+shape, "64x256",
			script{op: op, jitter: uneven, found: []results.Metric{{Unit: results.NMSE, Value: 3.25e-09}, {Unit: results.MaxAbsErr, Value: 0.125}}})
		c.Bytes, c.Ops, c.Roof = 64*256/128*18, 64*256, roof.Name
		c.Metrics = []results.Metric{{Unit: results.PackedBytes, Value: 2304}, {Unit: results.PackTime, Value: 98_765}}
		return c
	}
	model := l.newCase("Model/model=tiny/variant=avx2/test=tg64/threads=1", "tiny", script{op: 40 * time.Millisecond})
	model.Rates = []results.Metric{{Unit: results.TokenRate, Value: 64}}
	return Suite{
		Settings: []results.Setting{{Key: "goos", Value: "linux"}, {Key: "goarch", Value: "amd64"}, {Key: "pkg", Value: "onebit/bench/cases"},
			{Key: "cpu", Value: "Imaginary\nProcessor 9000"}, {Key: "governor", Value: ""}, {Key: "seed", Value: "7"}},
		Cases:   []Case{roof, kernel("scalar", 3*time.Millisecond), kernel("avx2", time.Millisecond), model},
		Studies: []Study{l.newStudy("Op/variant=avx2", "64x256", nil, "Op/variant=avx2/op=q", "Op/variant=avx2/op=k")},
	}
}

// measure runs a suite that must not be interrupted, and returns the file too.
func measure(t *testing.T, r *Runner, s Suite) (*results.Set, string) {
	t.Helper()
	var file bytes.Buffer
	res, err := r.Run(t.Context(), s, &file)
	if err != nil {
		t.Fatal(err)
	}
	return res, file.String()
}

func readBack(t *testing.T, file string) *results.Set {
	t.Helper()
	res, err := results.Read(strings.NewReader(file), "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

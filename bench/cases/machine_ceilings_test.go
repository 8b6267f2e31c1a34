package cases

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
)

const ceilingsFile = `cpu: Some CPU
cpus-usable: 2
platform: linux/amd64
cpu-features: avx2
mem-total: 8 GiB
started: 2026-01-02T03:04:05Z

BenchmarkBandwidth/access=read/bytes=1000/pages=huge/threads=1-2 1 10 ns/op 1e+11 read-B/s
BenchmarkBandwidth/access=read/level=l2/bytes=100000/pages=huge/threads=1-2 1 10 ns/op 1e+10 read-B/s
BenchmarkBandwidth/access=read/level=dram/bytes=1000000/pages=huge/threads=1-2 1 10 ns/op 5e+09 read-B/s
BenchmarkBandwidth/access=read/level=dram/bytes=1000000/pages=small/threads=1-2 1 10 ns/op 9e+15 read-B/s
BenchmarkBandwidth/access=read/level=dram/bytes=1000000/pages=huge/threads=2-2 1 10 ns/op 7e+09 read-B/s 100 roundtrip-ns
BenchmarkDotPeak/type=int8/isa=avx2/threads=1-2 1 10 ns/op 2e+11 mac/s
BenchmarkDotPeak/type=int8/isa=sse2/threads=1-2 1 10 ns/op 1e+11 mac/s
BenchmarkDotPeak/type=f32/isa=fma/threads=1-2 1 10 ns/op 9e+15 mac/s
`

var ceilingsHere = []results.Setting{
	{Key: "cpu", Value: "Some CPU"}, {Key: "cpus-usable", Value: "2"}, {Key: "platform", Value: "linux/amd64"},
	{Key: "cpu-features", Value: "avx2"}, {Key: "mem-total", Value: "16 GiB"},
}

func ceilingsOf(t *testing.T, text string) (*Ceilings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "machine.txt")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return ReadCeilings(t.Context(), path, ceilingsHere)
}

func TestCeilingsAreReadBetweenSizes(t *testing.T) {
	c, err := ceilingsOf(t, ceilingsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		bytes, threads int
		cold           bool
		want           float64
	}{
		{10, 1, false, 1e11}, {1000, 1, false, 1e11}, {10000, 1, false, math.Sqrt(1e11 * 1e10)}, {100000, 1, false, 1e10},
		{5_000_000, 1, false, 5e9}, {10, 1, true, 5e9}, {10, 2, false, 7e9},
	} {
		got, err := c.Read(test.bytes, test.threads, test.cold)
		if err != nil || math.Abs(got/test.want-1) > 1e-9 {
			t.Errorf("%+v: %v, %v", test, got, err)
		}
	}
	if rate, err := c.Dot(1); rate != 2e11 || err != nil {
		t.Errorf("the int8 peak is %v, %v", rate, err)
	}
	if _, err := c.Read(10, 3, false); err == nil || !strings.Contains(err.Error(), "3 threads") {
		t.Errorf("three threads: %v", err)
	}
	if _, err := c.Dot(2); err == nil {
		t.Error("a peak of two threads was not measured")
	}
}

// A profile takes the best rate of each level, and the types of multiply-adds apart.
func TestCeilingsOfThreads(t *testing.T) {
	c, err := ceilingsOf(t, ceilingsFile+`BenchmarkBandwidth/access=read/level=l1d/bytes=1024/pages=huge/threads=2-2 1 1 ns/op 8e+11 read-B/s
BenchmarkBandwidth/access=read/level=dram/bytes=1000000/pages=small/threads=2-2 1 1 ns/op 3e+09 read-B/s
BenchmarkDotPeak/type=int8/isa=go/threads=2-2 1 1 ns/op 7e+09 mac/s
BenchmarkDotPeak/type=int8/isa=avx2/threads=2-2 1 1 ns/op 7e+11 mac/s
BenchmarkDotPeak/type=f32/isa=avx2/threads=2-2 1 1 ns/op 1e+11 mac/s
BenchmarkDispatch/threads=2-2 1 500 ns/op
`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.of(2)
	if want := []profile.Level{{Name: "l1d", Bytes: 2048, Rate: 8e11}, {Name: names.DRAM, Rate: 7e9}}; err != nil || !slices.Equal(got.Levels, want) {
		t.Errorf("levels %+v, want %+v, %v", got.Levels, want, err)
	}
	if got.Threads != 2 || got.Int8 != 7e11 || got.Float32 != 1e11 || got.Dispatch != 500 || !strings.HasSuffix(got.Source, "machine.txt") {
		t.Errorf("%+v", got)
	}
	if _, err := c.of(3); err == nil || !strings.Contains(err.Error(), "onebit machine --threads 3 measures them") {
		t.Errorf("three threads: %v", err)
	}
}

func TestCeilingsOfAnotherMachineAreRefused(t *testing.T) {
	for replaced, names := range map[string]string{
		"cpu: Another": "CPU", "cpus-usable: 4": "CPUs", "cpu-features: avx2,fma": "CPU features", "platform: linux/arm64": "platform",
	} {
		key, _, _ := strings.Cut(replaced, ":")
		var text strings.Builder
		for line := range strings.Lines(ceilingsFile) {
			if strings.HasPrefix(line, key+":") {
				line = replaced + "\n"
			}
			text.WriteString(line)
		}
		if _, err := ceilingsOf(t, text.String()); err == nil || !strings.Contains(err.Error(), "another machine, by its "+names) {
			t.Errorf("%s: %v", replaced, err)
		}
	}
	for _, text := range []string{"", "BenchmarkMatVec/threads=1 1 10 ns/op 3 read-B/s\n", "BenchmarkTimer 1 10 ns/op\n"} {
		if _, err := ceilingsOf(t, text); err == nil || !strings.Contains(err.Error(), "has no ceilings") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadCeilings(t.Context(), filepath.Join(t.TempDir(), "none.txt"), nil); err == nil {
		t.Error("a file that does not exist was read")
	}
}

func TestCeilingsDoubts(t *testing.T) {
	c, err := ceilingsOf(t, ceilingsFile)
	if err != nil {
		t.Fatal(err)
	}
	for trip, doubted := range map[float64]bool{0: false, 100: false, 190: false, 210: true, 60: false, 40: true} {
		if got := c.stateDoubt(trip) != ""; got != doubted {
			t.Errorf("a round trip of %v ns is doubted: %v", trip, got)
		}
	}
	c.trip = 0 // of which nothing is doubted
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if d := c.Doubts(started.Add(time.Hour)); len(d) != 0 {
		t.Errorf("an hour later: %q", d)
	}
	if d := c.Doubts(started.Add(50 * time.Hour)); len(d) != 1 || !strings.Contains(d[0], "3 days ago") {
		t.Errorf("two days later: %q", d)
	}
}

func TestUseCeilings(t *testing.T) {
	c, err := ceilingsOf(t, ceilingsFile)
	if err != nil {
		t.Fatal(err)
	}
	const read, dot = "Read/format=f/bytes=100000/threads=1/cache=warm", "DotPeak/model=m/isa=avx2/threads=1"
	s := &Suite{Cases: []bench.Case{
		{Name: "MatVec/a", Roof: read}, {Name: read, Bytes: 100000, Ceiling: true}, {Name: "Model/b", Peak: dot}, {Name: dot, Ops: 4e6, Ceiling: true},
	}}
	if err := s.useCeilings(c); err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) != 2 || s.Cases[0].RoofRate != 1e10 || s.Cases[0].Roof != "" || s.Cases[1].PeakRate != 2e11 || s.Cases[1].Peak != "" {
		t.Errorf("the cases are %+v", s.Cases)
	}
	values := map[string]float64{}
	for _, st := range s.Studies {
		if err := st.Run(context.Background(), func(sample results.Sample) error {
			for _, v := range sample.Values {
				values[sample.Name.Full+" "+v.Unit] = v.Value
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	if values[read+" read-B/s"] != 1e10 || values[read+" ns/op"] != 1e4 || values[dot+" mac/s"] != 2e11 || math.Abs(values[dot+" ns/op"]-2e4) > 1e-6 {
		t.Errorf("the ceilings' lines are %v", values)
	}
	if err := (&Suite{Cases: []bench.Case{{Name: read, Ceiling: true}}}).useCeilings(c); err == nil {
		t.Error("a run of ceilings alone has nothing to measure")
	}
	if err := (&Suite{Cases: []bench.Case{{Name: strings.Replace(read, "threads=1", "threads=9", 1), Ceiling: true}}}).useCeilings(c); err == nil {
		t.Error("nine threads were not measured")
	}
}

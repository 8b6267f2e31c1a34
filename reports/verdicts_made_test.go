package reports_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/reportstest"
)

// TestMadeVerdicts: cases whose recording is gone are what their maker makes, by the
// case's name. -update writes them anew below their headers.
func TestMadeVerdicts(t *testing.T) {
	require.Unplayed(t, "arithmetic is the same on every machine")
	require.Unraced(t, "one thread computes it")
	made := 0
	for _, path := range verdictFiles(t) {
		v := readVerdict(t, path)
		maker := verdictMakers[v.name]
		if maker == nil {
			continue
		}
		made++
		archive := txtar.Parse(unpacked(t, path))
		files := maker()
		if *reportstest.Update {
			archive.Files = files
			writeVerdict(t, path, archive)
			continue
		}
		if got, want := txtar.Format(&txtar.Archive{Files: archive.Files}), txtar.Format(&txtar.Archive{Files: files}); !bytes.Equal(got, want) {
			t.Errorf("%s is not what its maker makes", path)
		}
	}
	if made != len(verdictMakers) {
		t.Errorf("%d cases of %d makers are there", made, len(verdictMakers))
	}
}

func writeVerdict(t *testing.T, path string, archive *txtar.Archive) {
	t.Helper()
	data := txtar.Format(archive)
	if strings.HasSuffix(path, ".gz") {
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		data = packed.Bytes()
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// verdictMakers make the files of cases, by their names.
var verdictMakers = map[string]func() []txtar.File{
	"gate-steadier-is-slower":  madeGate(40, 12, uniform(0.10, 0.01)),
	"gate-noisier-is-faster":   madeGate(40, 12, uniform(0.01, 0.10)),
	"gate-slow-mode-unseen":    madeGate(40, 1, slowMode(0.1, 0.4)),
	"gate-columns-disagree":    madeGate(40, 13, twoKinds),
	"gate-2-percent-fails":     madeGate(40, 2, slowerHead(1.02, 0.01)),
	"gate-other-allocations":   madeGate(40, 3, strayAllocations),
	"gate-verdict-taken-back":  madeGate(60, 3, relents(20)),
	"compare-kernel-twice":     twiceAsSlow,
	"compare-other-weights":    otherWeights,
	"compare-two-machines":     twoMachines,
	"history-other-weights":    weightsOverTime,
	"history-noise-that-lasts": lastingNoise,
}

// A drawnProcess is what a process measures: its time in nanoseconds, and allocations.
type drawnProcess func(rng *rand.Rand, side gate.Side, round int) (ns, allocs float64)

// madeGate makes the results of a gate over one benchmark.
func madeGate(rounds int, seed uint64, draw drawnProcess) func() []txtar.File {
	return func() []txtar.File {
		rng := rand.New(rand.NewPCG(seed, 27))
		var out bytes.Buffer
		record := gate.NewRecorder(&out, nil, func(unit string) int { return results.UnitOf(unit).Better })
		at := 10 * time.Second
		const took = 100 * time.Millisecond
		for round := range rounds {
			order := rng.Perm(3)
			for position, side := range append(order, order[2], order[1], order[0]) {
				ns, allocs := draw(rng, gate.Side(side), round)
				record.Record(gate.Measurement{
					Benchmark: gate.Benchmark{Package: "example.com/m", Name: "Work"}, Side: gate.Side(side), Round: round, Position: position, N: 100,
					Start: at, Took: took, Values: []results.Metric{{Unit: results.NsPerOp, Value: math.Round(ns)}, {Unit: results.Allocs, Value: allocs}},
				})
				at += took
			}
			at += 2 * time.Second // linking
		}
		return []txtar.File{{Name: "results.txt", Data: out.Bytes()}}
	}
}

// uniform are times that spread by a share around 1 ms, another on head.
func uniform(base, head float64) drawnProcess {
	return func(rng *rand.Rand, side gate.Side, _ int) (ns, allocs float64) {
		spread := base
		if side == gate.Head {
			spread = head
		}
		return 1e6 * (1 + spread*(2*rng.Float64()-1)), 2
	}
}

// slowMode is a fifth more in a share of the processes, another on head.
func slowMode(base, head float64) drawnProcess {
	return func(rng *rand.Rand, side gate.Side, _ int) (ns, allocs float64) {
		share, ns := base, 1e6*(1+0.004*rng.NormFloat64())
		if side == gate.Head {
			share = head
		}
		if rng.Float64() < share {
			ns *= 1.2
		}
		return ns, 2
	}
}

// twoKinds are times of 2.9 and 4.6 ms, the longer ones in two of three processes.
func twoKinds(rng *rand.Rand, _ gate.Side, _ int) (ns, allocs float64) {
	if ns = 2.88e6; rng.Float64() < 0.7 {
		ns = 4.63e6
	}
	return ns * (1 + 0.01*rng.NormFloat64()), 2
}

// slowerHead is a head that takes longer, with noise of a deviation.
func slowerHead(by, noise float64) drawnProcess {
	return func(rng *rand.Rand, side gate.Side, _ int) (ns, allocs float64) {
		ns = 1e6 * (1 + noise*rng.NormFloat64())
		if side == gate.Head {
			ns *= by
		}
		return ns, 2
	}
}

// strayAllocations are those that a quarter of the processes make.
func strayAllocations(rng *rand.Rand, side gate.Side, round int) (ns, allocs float64) {
	ns, allocs = slowerHead(1, 0.003)(rng, side, round)
	if rng.Float64() < 0.25 {
		allocs = 3
	}
	return ns, 1000 * allocs
}

// relents is a head that is slower in the first rounds, with allocations that vary.
func relents(rounds int) drawnProcess {
	return func(rng *rand.Rand, side gate.Side, round int) (ns, allocs float64) {
		by := 1.3
		if round >= rounds {
			by = 1
		}
		ns, _ = slowerHead(by, 0.003)(rng, side, round)
		return ns, float64(100 + rng.IntN(50))
	}
}

// A madeRun is a results file of onebit bench.
type madeRun struct{ bytes.Buffer }

func (r *madeRun) begin(cpu, more string) {
	fmt.Fprintf(r, "goos: linux\ngoarch: amd64\ncpu: %s\nclasses: threads cache\n%s\n# group matvec\n", cpu, more)
}

// twiceAsSlow are two runs of 488 cases, in whose second one of 61 variants takes
// twice as long.
func twiceAsSlow() (files []txtar.File) {
	rng := rand.New(rand.NewPCG(4, 27))
	for i, name := range []string{"old.txt", "new.txt"} {
		var run madeRun
		run.begin("simulated", "")
		for process := 1; process <= 5; process++ {
			fmt.Fprintf(&run, "# process %d\n", process)
			common := map[string]float64{}
			for variant := range 61 {
				for shape := range 2 {
					for _, class := range []string{"threads=1/cache=cold", "threads=1/cache=warm", "threads=2/cache=cold", "threads=2/cache=warm"} {
						if common[class] == 0 {
							common[class] = math.Exp(0.03 * rng.NormFloat64())
						}
						ns := float64(1000*(1+variant)*(1+3*shape)) * common[class] * math.Exp(0.07*rng.NormFloat64())
						if i == 1 && variant == 7 {
							ns *= 2
						}
						for range 2 {
							fmt.Fprintf(&run, "BenchmarkMatVec/format=f%d/variant=v%d/rows=%d/cols=2560/%s-2 10 %.4g ns/op\n",
								variant%5, variant, 1024*(1+shape), class, ns*(1+0.02*rng.ExpFloat64()))
						}
					}
				}
			}
		}
		files = append(files, txtar.File{Name: name, Data: run.Bytes()})
	}
	return files
}

// models are a run of two models, the first with weights of a digest and a time.
func models(digest string, ns float64) []byte {
	var run madeRun
	run.begin("simulated", "models: model="+digest+" other=0123456789abcdef")
	for process := 1; process <= 3; process++ {
		fmt.Fprintf(&run, "# process %d\nBenchmarkModel/model=model/test=tg8/threads=2 1 %g ns/op\nBenchmarkModel/model=other/test=tg8/threads=2 1 %d ns/op\n",
			process, ns+float64(process), 900+process)
	}
	return run.Bytes()
}

func otherWeights() []txtar.File {
	return []txtar.File{{Name: "old.txt", Data: models("1111111111111111", 100)}, {Name: "new.txt", Data: models("2222222222222222", 1000)}}
}

func twoMachines() (files []txtar.File) {
	rng := rand.New(rand.NewPCG(6, 27))
	for i, name := range []string{"old.txt", "new.txt"} {
		var run madeRun
		run.begin(fmt.Sprint("machine ", i), "")
		for process := 1; process <= 5; process++ {
			fmt.Fprintf(&run, "# process %d\n", process)
			for variant := range 8 {
				ns := float64(1000*(1+variant)) * (1 + 0.01*rng.Float64()) * float64(2-i)
				fmt.Fprintf(&run, "BenchmarkMatVec/format=f/variant=v%d/rows=8/cols=8/threads=1/cache=warm-2 10 %.4g ns/op\n", variant, ns)
			}
		}
		files = append(files, txtar.File{Name: name, Data: run.Bytes()})
	}
	return files
}

// commits makes the results files of commits, a day apart, a line for each series.
func commits(n, series int, header func(commit int) string, ns func(series, commit int) float64) (files []txtar.File) {
	for commit := range n {
		var b bytes.Buffer
		day := time.Date(2026, 1, 1+commit, 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "goos: linux\ncpu: simulated\ncommit: a%05dabc\ncommit-date: %s\n%s", commit, day.Format(time.RFC3339), header(commit))
		for s := range series {
			fmt.Fprintf(&b, "BenchmarkModel/model=m%d/test=tg8-2 1 %.4g ns/op\n", s, ns(s, commit))
		}
		files = append(files, txtar.File{Name: fmt.Sprintf("%02d.txt", commit), Data: b.Bytes()})
	}
	return files
}

func weightsOverTime() []txtar.File {
	rng := rand.New(rand.NewPCG(8, 27))
	digest := func(commit int) string {
		if commit < 10 {
			return "models: m0=1111111111111111 m1=3333333333333333\n"
		}
		return "models: m0=2222222222222222 m1=3333333333333333\n"
	}
	return commits(20, 2, digest, func(series, commit int) float64 {
		ns := 1e6 * (1 + 0.01*rng.NormFloat64())
		if series == 0 && commit >= 10 {
			ns *= 1.5 // another network
		}
		return ns
	})
}

func noHeader(int) string { return "" }

func lastingNoise() []txtar.File {
	rng := rand.New(rand.NewPCG(9, 27))
	var last [10]float64
	return commits(60, len(last), noHeader, func(series, _ int) float64 {
		const carried = 0.6
		last[series] = carried*last[series] + math.Sqrt(1-carried*carried)*rng.NormFloat64()
		return 1e6 * (1 + 0.02*last[series])
	})
}

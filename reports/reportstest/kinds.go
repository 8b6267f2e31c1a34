package reportstest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"onebit/bench/history"
	"onebit/bench/hotspot"
	"onebit/bench/names"
	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/reports"
)

// HistoryFixture is a history of hostile names: series 0 became slower, series 1
// began at 0, and the others stayed.
func HistoryFixture(t *testing.T, series, points int) (*history.History, *history.Trends, map[[2]string]int) {
	t.Helper()
	h := &history.History{Machines: []string{"<b>one</b>"}, Files: points, Notes: []string{"<i>note</i>"}}
	for p := range points {
		h.Points = append(h.Points, history.Point{
			Commit: fmt.Sprintf("%040x", p+1), Time: time.Date(2026, 1, 1+p, 0, 0, 0, 0, time.UTC), Subject: "<script>alert(1)</script>",
		})
	}
	for i := range series {
		s := history.Series{Case: history.Case{Name: fmt.Sprintf("Case%d/<script>", i), Unit: "ns/op"}, Better: -1}
		if i == 1 {
			s.Unit = "allocs/op"
		}
		for p := range points {
			v := 1000 + float64((p*7+i*3)%13)
			switch {
			case i == 0 && p >= points/2:
				v *= 1.2
			case i == 1:
				v = float64(p / (points / 2))
			}
			s.At, s.Values, s.Files = append(s.At, int32(p)), append(s.Values, v), append(s.Files, 1)
		}
		h.Series = append(h.Series, s)
	}
	found, err := h.Trends(context.Background(), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	between := map[[2]string]int{}
	for _, c := range found.Changes {
		at := h.Series[c.Series].At
		between[[2]string{h.Points[at[c.Before.To-1]].Commit, h.Points[at[c.After.From]].Commit}] = 3
	}
	return h, found, between
}

func KernelPageFixture() (*profiles.Kernel, *results.Set) {
	line := func(addr uint64, mnemonic, operands string, samples int) profiles.KernelLine {
		return profiles.KernelLine{Instruction: hotspot.Instruction{Addr: addr, Mnemonic: mnemonic, Operands: operands}, Samples: []int{samples, 0}, Count: 0.0625}
	}
	k := &profiles.Kernel{
		Format: "q1<b>", Variant: "avx2", Act: "q8_128", Summary: "works <i>somehow</i>", Rows: 64, Cols: 256, Rounds: 6, Planned: 6, Sampler: "a clock",
		Runs: []*profiles.KernelRun{
			{Name: "Kernel/level=l2", Level: "l2", Rows: 64, Cols: 256, Bytes: 4096, Times: []float64{100, 101, 102, 103, 104, 105}, Cycles: []float64{1.5, 1.6, 1.7, 1.5, 1.6, 1.7}, Samples: 8},
			{Name: "MatVec/cache=warm", Cache: "warm", Rows: 64, Cols: 256, Bytes: 4096, Times: []float64{200}, Cycles: []float64{3}},
		},
		Functions: []*profiles.KernelFunction{{
			Function: hotspot.Function{Name: "onebit/kernels.q1AVX2.abi0"}, Samples: []int{8, 0}, Loop: &hotspot.Loop{First: 1, Last: 2},
			Lines: []profiles.KernelLine{line(0x10, "mov", "%rsp,%rbp", 0), line(0x11, "vpmaddubsw", "(%rax),%ymm1,%ymm2", 6), line(0x12, "jne", "11", 2)},
		}},
		Steps: &profiles.KernelSteps{Rows: 128, Cols: 256, Total: 7, Once: 30}, Disassembler: "objdump <1>",
		Bounds: &hotspot.Analysis{CPU: "icelake-server", StandIn: true, Version: "14", Loads: 16, Ports: 32, Simulated: 48},
	}
	return k, &results.Set{Settings: []results.Setting{{Key: "cpu", Value: "a CPU"}, {Key: "command", Value: "onebit profile --kernel"}}}
}

// MachineFile is the results of a machine with some CPUs, scale times as fast as
// another, in three processes.
func MachineFile(t *testing.T, cpus int, scale float64) *results.Set {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "cpu: CPU%v\ncpus-usable: %d\nunavailable: DotPeak/type=bf16/isa=avx512bf16: this machine lacks avx512bf16; Latency/pages=huge: none\n", scale, cpus)
	at := 0.0
	line := func(name string, values string, args ...any) {
		at += 0.25
		fmt.Fprintf(&b, "Benchmark%s-2 1 %s 3.5e+09 Hz 0.01 stolen 0.5 others %v at-s\n", name, fmt.Sprintf(values, args...), at)
	}
	for process := 1; process <= 3; process++ {
		fmt.Fprintf(&b, "# process %d\n# group all\n", process)
		wobble := scale * (1 + 0.01*float64(process))
		for threads := 1; threads <= 2; threads++ {
			for _, size := range []int{8192, 1 << 20, 256 << 20} {
				line(names.Bandwidth{Access: "read", Bytes: size, Pages: "huge", Threads: threads}.String(), "100 ns/op %v read-B/s", 1e11*wobble*8192/float64(size))
			}
			line(names.Bandwidth{Access: "read", Level: "dram", Bytes: 1 << 29, Pages: "huge", Threads: threads}.String(), "100 ns/op %v read-B/s 60 roundtrip-ns", 3e10*wobble)
			line(names.Bandwidth{Access: "copy", Level: "l1d", Bytes: 32768 * int(scale), Pages: "small", Threads: threads}.String(), "100 ns/op %v copy-B/s", 2e11*wobble)
			line(names.DotPeak{Type: "int8", ISA: "avx2", Threads: threads}.String(), "100 ns/op %v mac/s", 1.12e11*wobble*float64(threads))
			line(names.DotPeak{Type: "f32", ISA: "fma", Threads: threads}.String(), "100 ns/op %v mac/s", 5.6e10*wobble*float64(threads))
			line(names.Frequency(threads), "100 ns/op")
			line(names.Dispatch(threads), "%v ns/op", 50/wobble)
			line(names.Gather(threads), "%v ns/op %v estimated-ns", 1e3/wobble, 400*threads)
		}
		for _, size := range []int{8192, 1 << 20} {
			line(names.Latency{Bytes: size, Pages: "small"}.String(), "%v ns/op", float64(size)/8192/wobble)
		}
		line(names.BaseTimer, "20 ns/op")
		for from := range cpus {
			for to := from + 1; to < cpus; to++ {
				line(names.RoundTrip(from, to), "%v ns/op", 40*float64(to-from)/wobble)
			}
		}
	}
	res, err := results.Read(strings.NewReader(b.String()), "machine.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !reports.IsMachine(res) {
		t.Fatal("the results are no machine's")
	}
	return res
}

// ProfileFixture is a profile with samples of its own: a model of a hostile
// name, whose second thread comes late.
func ProfileFixture() (*profiles.Profile, *results.Set) {
	const us = time.Microsecond
	pass := &profiles.Pass{
		Duration: 100 * us,
		Spans: []profiles.Span{
			{Key: profiles.Key{Block: 0, Op: "ffn_down"}, Work: profiles.Work{Bytes: 4000, MACs: 32000, Calls: 1}, Start: 10 * us, End: 60 * us},
			{Key: profiles.Key{Block: profiles.Outside, Op: "output"}, Work: profiles.Work{Bytes: 400, MACs: 800, Calls: 1}, Start: 60 * us, End: 90 * us},
		},
		Threads: [][]profiles.Mark{
			{{At: 12 * us, Dispatch: 1, State: profiles.Dispatching}, {At: 14 * us, Dispatch: 1, State: profiles.Multiplying}, {At: 55 * us, Dispatch: 1, State: profiles.Idle}},
			{{At: 40 * us, Dispatch: 1, State: profiles.Multiplying}, {At: 50 * us, Dispatch: 1, State: profiles.Waiting}},
		},
	}
	test := &profiles.Test{ModelTest: names.ModelTest{Kind: names.Decode, Tokens: 1}, Threads: 2, Tensors: map[profiles.Key][]string{{Block: 0, Op: "ffn_down"}: {"blk.0.ffn_down.weight"}}}
	test.Counts.Add(map[profiles.Key]profiles.Count{{Block: 0, Op: "ffn_down"}: {results.Cycles: 2000, results.Instructions: 5000, results.PageFaults: 0}}, []profiles.Key{{Block: 0, Op: "ffn_down"}})
	c := names.ModelCase{Model: "m<b>1", Variant: "avx2", Act: "q8_128", Packing: names.Packed, Test: test.ModelTest, Threads: 2}
	res := &results.Set{Settings: []results.Setting{{Key: "cpu", Value: "a CPU"}, {Key: "command", Value: "onebit profile"}}}
	for range 6 {
		test.Add(pass, 98*us)
		for _, cost := range test.Passes[0] {
			res.Samples = append(res.Samples, results.Sample{
				Name: results.ParseName(c.Operation(profiles.BlockName(cost.Block), cost.Op)), Iters: 1,
				Values: []results.Metric{{Unit: results.NsPerOp, Value: float64(cost.Time)}},
			})
		}
	}
	p := &profiles.Profile{
		ModelCase: c, Arch: "toy", Blocks: 1, Tests: []*profiles.Test{test}, Planned: 6, Warnings: []string{"a <i>doubt</i>"}, NotCounted: []string{"dTLB <why>"},
		Ceilings: profiles.Ceilings{Threads: 2, Levels: []profiles.Level{{Name: "l2", Bytes: 1 << 20, Rate: 1e11}, {Name: names.DRAM, Rate: 1e10}}, Int8: 1e12, Float32: 1e11, Dispatch: us, Source: "a test"},
		WhatIfs: []profiles.WhatIf{
			{Name: "cache in q8_0", Computed: -0.01, Measured: noise.Figure{Center: 0.02, Lo: 0.01, Hi: 0.03}},
			{Name: "one thread more", Computed: math.NaN(), Measured: noise.Figure{Center: math.NaN()}, Why: "2 CPUs"},
		},
		Memory: profiles.Memory{
			Phases: []profiles.Phase{{Name: "open", End: 5 * us, RSS: 100 << 20, Parts: []profiles.Part{{Owner: profiles.OwnerFile, Resident: 90 << 20, Reserved: 95 << 20}}}},
			Looks:  []profiles.Look{{At: us, Anon: 1 << 20, File: 1 << 20}, {At: 5 * us, Anon: 10 << 20, File: 90 << 20}},
		},
	}
	p.Memory.Phases[0].Reconcile()
	return p, res
}

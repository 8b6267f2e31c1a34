package profile

import (
	"math"
	"strings"
	"testing"

	"onebit/bench/hotspot"
)

// kernelFixture has a loop of three instructions, executed twice for 128 weights.
func kernelFixture() *Kernel {
	line := func(addr uint64, mnemonic, operands string, samples int, count float64) KernelLine {
		return KernelLine{hotspot.Instruction{Addr: addr, Mnemonic: mnemonic, Operands: operands}, []int{samples, 0}, count}
	}
	return &Kernel{
		Runs: []*KernelRun{
			{Level: "l2", Rows: 4, Cols: 256, Bytes: 1000, Times: []float64{100, 100, 100}, Cycles: []float64{8, 9, 10}, Samples: 11},
			{Cache: "warm", Rows: 4, Cols: 256, Bytes: 1000, Times: []float64{200}, Cycles: []float64{20}},
		},
		Functions: []*KernelFunction{{
			Function: hotspot.Function{Name: "kernels.f"}, Samples: []int{11, 0}, Loop: &hotspot.Loop{First: 1, Last: 3, Samples: 10},
			Lines: []KernelLine{
				line(1, "mov", "(%rax),%rbx", 1, 0.5), line(2, "vpdpbusd", "(%rax),%zmm1,%zmm2", 6, 2),
				line(3, "add", "$0x1,%rax", 2, 2), line(4, "jne", "2", 2, 2),
			},
		}, {Function: hotspot.Function{Name: "kernels.g"}, Lines: []KernelLine{line(9, "ret", "", 0, 0.25)}}},
		Steps:  &KernelSteps{Rows: 4, Cols: 256, Total: 6.75, Once: 30},
		Bounds: &hotspot.Analysis{CPU: "a", Loads: 1, Ports: 2, Simulated: 3},
	}
}

func TestKernelFigures(t *testing.T) {
	k := kernelFixture()
	if n := k.Iterations(); n != 2 {
		t.Errorf("%v iterations", n)
	}
	loop, perWeights := k.LoopMix()
	if !perWeights || loop.Total() != 6 || loop.Kinds[hotspot.MultiplyAdd] != 2 || loop.Reads != 2 {
		t.Errorf("%+v, %v", loop, perWeights)
	}
	all, ok := k.Mix()
	if !ok || all.Total() != 6.75 || all.Kinds[hotspot.Load] != 0.5 || all.Reads != 2.5 {
		t.Errorf("%+v, %v", all, ok)
	}
	want := []float64{2, 4, 6}
	for i, b := range k.BoundsOf() {
		if b.Cycles != want[i] {
			t.Errorf("bound by %s: %v cycles, want %v", b.Name, b.Cycles, want[i])
		}
	}
	if r := k.Runs[0]; r.Weights() != 8 || r.Measured().Center != 9 || r.Rate().Center != 1e10 {
		t.Errorf("%v, %v, %v", r.Weights(), r.Measured(), r.Rate())
	}
}

// The verdict names what explains the most, and what memory adds.
func TestVerdict(t *testing.T) {
	k := kernelFixture()
	for want, change := range map[string]func(){
		"is bound by dependencies, which explain 67% of its cycles":              func() {},
		"is far from every bound: ports, the nearest, explain 44% of its cycles": func() { k.Bounds.Simulated = 2.01 },
		"is faster than ports allow on the CPU that llvm-mca knows": func() {
			k.Bounds.Ports, k.Bounds.Simulated = 20, 20
		},
		"takes 9.00 cycles for 128 weights from l2": func() { k.Bounds = nil },
		"takes 9.00 cycles for 128 weights from l2 From dram it takes 18.00, and waits for memory 50% of the time.": func() {
			k.Bounds = nil
			k.Runs = append(k.Runs, &KernelRun{Level: "dram", Cycles: []float64{18}})
		},
		"takes 9.00 cycles for 128 weights from l2 From dram it takes 9.50.": func() {
			k.Bounds = nil
			k.Runs = append(k.Runs, &KernelRun{Level: "dram", Cycles: []float64{9.5}})
		},
		"": func() { k.Runs = nil },
	} {
		k = kernelFixture()
		change()
		if got := strings.TrimSpace(k.Verdict() + " " + strings.Join(k.Farther(), " ")); got != want {
			t.Errorf("verdict %q, want %q", got, want)
		}
	}
}

// Without counts there is the mix of an iteration, and no bounds; without a
// disassembly neither.
func TestKernelWithoutTools(t *testing.T) {
	k := kernelFixture()
	k.Steps = nil
	loop, perWeights := k.LoopMix()
	if _, ok := k.Mix(); ok || perWeights || loop.Total() != 3 || !math.IsNaN(k.Iterations()) || k.BoundsOf() != nil {
		t.Errorf("%+v, %v, %v", loop, perWeights, k.Iterations())
	}
	k.Functions[0].Lines, k.Functions[0].Loop = nil, nil
	if loop, _ := k.LoopMix(); k.Hot() != nil || loop.Total() != 0 {
		t.Errorf("%+v, %+v", k.Hot(), loop)
	}
	k.Functions = nil
	if k.Hot().LoopLines() != nil {
		t.Error("lines of nothing")
	}
}

package reports

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/hotspot"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/reports/render"
)

func kernelPageFixture() (*profiles.Kernel, *results.Set) {
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

func TestKernelPage(t *testing.T) {
	k, res := kernelPageFixture()
	var page, again bytes.Buffer
	if err := errors.Join(printDoc(&page, KernelDocument(k, res), "html", render.Options{}), printDoc(&again, KernelDocument(k, res), "html", render.Options{})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page.Bytes(), again.Bytes()) {
		t.Error("the same profile gives two pages")
	}
	text := page.String()
	for _, want := range []string{
		"Profile of q1&lt;b&gt;/avx2/q8_128", "works &lt;i&gt;somehow", "1.60 cycles</p>", "128 weights from l2", "128 weights take 7.00 instructions", "tables of icelake-server, which stands in",
		"kernels.q1AVX2<", "75.0 %", "0.0625", `>vpmaddubsw (%rax),%ymm1,%ymm2`, "multiply-add", "objdump &lt;1&gt;", `class="strong"`, "30.00 instructions for 128 activations", "3.00",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n := strings.Count(text, `class="strong"`); n != 2 {
		t.Errorf("%d lines are in the hot loop", n)
	}
}

// What could not be found out is told with the reason, and the rest is shown.
func TestKernelPageWithoutTools(t *testing.T) {
	k, res := kernelPageFixture()
	k.Steps, k.StepsWhy = nil, "no steps"
	k.Bounds, k.BoundsWhy = nil, "no bounds"
	k.Functions[0].Lines, k.Functions[0].Loop, k.DisassemblyWhy = nil, nil, "no objdump"
	dir := t.TempDir()
	if err := render.Folder(t.Context(), dir, KernelDocument(k, res), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"instructions for 128 weights: no steps", "bounds: no bounds", "disassembly: no objdump", "takes 1.60 cycles for 128 weights"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, not := range []string{">NaN", `id="code"`, `id="mix"`} {
		if strings.Contains(string(page), not) {
			t.Errorf("the page has %q", not)
		}
	}
	if math.IsNaN(k.Iterations()) != true {
		t.Error("iterations are known")
	}
}

package profile

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/reports/render"
	"onebit/reports/reportstest"
)

func TestKernelPage(t *testing.T) {
	k, res := reportstest.KernelPageFixture()
	var page, again bytes.Buffer
	if err := errors.Join(reportstest.PrintDoc(&page, KernelDocument(k, res), "html", render.Options{}), reportstest.PrintDoc(&again, KernelDocument(k, res), "html", render.Options{})); err != nil {
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
	k, res := reportstest.KernelPageFixture()
	k.Steps, k.StepsWhy = nil, "no steps"
	k.Bounds, k.BoundsWhy = nil, "no bounds"
	k.Functions[0].Lines, k.Functions[0].Loop, k.DisassemblyWhy = nil, nil, "no objdump"
	dir := t.TempDir()
	if err := render.Folder(t.Context(), dir, KernelDocument(k, res), render.FolderOptions{}); err != nil {
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

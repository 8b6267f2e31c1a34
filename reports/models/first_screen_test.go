package models

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"onebit/bench/names"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/reportstest"
)

func TestModelsAreRanked(t *testing.T) {
	const line = "BenchmarkModel/model=%s/variant=v/test=tg8/threads=2 1 5 ns/op %d tok/s 80 %%roof"
	d := digest.Of(reportstest.Set(t, []byte(reportstest.Repeat(6, fmt.Sprintf(line, "slow", 50))+reportstest.Repeat(6, fmt.Sprintf(line, "quick", 100)))))
	want := "slow makes 50.0 tok/s here, quick 100 tok/s. 50.0 tok/s ±? in tg8 by v with 2 threads. Reading its weights alone would allow 62.5 tok/s: it is bound by memory."
	if got := reportstest.FirstText(reportstest.DocOf(t, d.Results).First[0]); got != want {
		t.Errorf("advice %q, want %q", got, want)
	}
}

// What is advised is the fastest of processor and GPU, and never what was emulated.
func TestAdviceOfGPUs(t *testing.T) {
	product := func(variant, where string, ns int) string {
		return reportstest.Repeat(6, fmt.Sprintf("BenchmarkMatVec/format=a/variant=%s/rows=64/cols=64%s/cache=cold 1 %d ns/op", variant, where, ns))
	}
	model := func(engine, where string, ns int) string {
		return reportstest.Repeat(6, fmt.Sprintf("BenchmarkModel/model=m/%s/test=tg8%s 1 %d ns/op %d tok/s", engine, where, ns, 1e9/ns))
	}
	products := func(gpu int) string {
		return product("x", "/threads=1", 3000) + product("x", "/threads=2", 2000) + product("metal-tiles", "", gpu)
	}
	models := func(gpu int) string {
		return model("variant=x", "/threads=1", 3000) + model("variant=x", "/threads=2", 2000) + model("engine=metal/variant=metal-tiles", "", gpu)
	}
	const played, qemu = "emulated: true\nemulator: softmetal\n", "emulated: true\nemulator: qemu\n"
	for _, c := range []struct{ name, text, want string }{
		{"a faster GPU", products(1000), "metal-tiles is the fastest kernel of a here, 2.0 times ahead of x. 1.00 µs ±0 % for 64×64 by metal-tiles with the GPU, cold cache."},
		{"a slower GPU", products(4000), "x is the fastest kernel of a here, 2.0 times ahead of metal-tiles. 2.00 µs ±0 % for 64×64 by x with 2 threads, cold cache."},
		{"a faster GPU that is played", played + products(1000), "x is the fastest kernel of a here. 2.00 µs ±0 % for 64×64 by x with 2 threads, cold cache."},
		{"a slower GPU that is played", played + products(4000), "x is the fastest kernel of a here. 2.00 µs ±0 % for 64×64 by x with 2 threads, cold cache."},
		{"only a GPU that is played", played + product("metal-tiles", "", 1000), "No advice: softmetal emulated"},
		{"an emulated processor", qemu + products(1000), "No advice: qemu emulated"},
		{"models on a faster GPU", models(1000), "m makes 1.00 M tok/s here. 1.00 M tok/s ±? in tg8 by metal-tiles with the GPU."},
		{"models on a slower GPU", models(4000), "m makes 500 k tok/s here. 500 k tok/s ±? in tg8 by x with 2 threads."},
		{"models on a faster GPU that is played", played + models(1000), "m makes 500 k tok/s here. 500 k tok/s ±? in tg8 by x with 2 threads."},
		{"models on nothing else", played + model("engine=metal/variant=metal-tiles", "", 1000), "No advice: softmetal emulated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reportstest.DocOf(t, reportstest.Set(t, []byte(c.text))).First[0]
			if !strings.HasPrefix(reportstest.FirstText(s), c.want) {
				t.Errorf("advice %q, want %q", reportstest.FirstText(s), c.want)
			}
			by := s.Table.Rows[0][slices.IndexFunc(s.Table.Columns, func(c doc.Column) bool { return c.Label == "by" || c.Label == names.Variant })].Text
			if !strings.Contains(c.want, " by "+by+" ") && !strings.HasPrefix(c.want, "No advice") {
				t.Errorf("the table begins with %q, the advice is %q", by, reportstest.FirstText(s))
			}
		})
	}
}

// TestFirstScreenOrder looks for the verdict first, warnings that may change it beside it, and the others
// after the table; and for times in a terminal of 60 columns.
func TestFirstScreenOrder(t *testing.T) {
	text := reportstest.RankedFormats() + "# warning: this is a virtual machine\n# warning: a CPU was busy\n"
	page := reportstest.RenderAll(t, text)
	at := 0
	for _, want := range []string{`<h1>onebit · Some CPU`, `class="verdict">B is the fastest format here`, `class="number">1.00 µs`, `class="grave">a CPU was busy`, "Formats, ranked", "<summary>2 warnings", "this is a virtual machine"} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("the page lacks %q, or has it too early", want)
		}
		at += i
	}
	if !utf8.ValidString(page) || strings.ContainsRune(page, utf8.RuneError) {
		t.Error("the page is not valid UTF-8")
	}
	var b bytes.Buffer
	if err := reportstest.WriteTable(&b, reportstest.Set(t, []byte(text)), reportstest.TableOptions{Width: 60}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "µs/op") {
		t.Errorf("no times:\n%s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 60 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
}

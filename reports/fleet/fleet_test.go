package fleet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	_ "onebit/reports/kernels"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// renderKind renders a fleet as a kind.
func renderKind(t *testing.T, kind string, machines ...*results.Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := reportstest.Print(t.Context(), &b, kind, machines...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFleetPoolsNothing finds in the report of two machines what the report of each says, to the digit.
// As one file, their A/A pairs and samples made floors and medians of no machine.
func TestFleetPoolsNothing(t *testing.T) {
	a, b := reportstest.Derived(t), reportstest.Derived(t, reportstest.Setting("cpu", "Other CPU"), reportstest.TimesAs(2.5))
	var doc jsonFleet
	if err := json.Unmarshal([]byte(renderKind(t, "json", a, b)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Machines) != 2 {
		t.Fatalf("%d machines", len(doc.Machines))
	}
	for i, res := range []*results.Set{a, b} {
		var alone digest.JSON
		if err := json.Unmarshal([]byte(renderKind(t, "json", res)), &alone); err != nil {
			t.Fatal(err)
		}
		compareJSON(t, alone, doc.Machines[i].Results)
	}
	rows, err := csv.NewReader(strings.NewReader(renderKind(t, "csv", a, b))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	medians := make(map[string][]float64)
	name, unit, median := slices.Index(rows[0], "benchmark"), slices.Index(rows[0], "unit"), slices.Index(rows[0], "median")
	for _, row := range rows[1:] {
		if row[unit] == results.NsPerOp {
			v, err := strconv.ParseFloat(row[median], 64)
			if err != nil {
				t.Fatal(err)
			}
			medians[row[name]] = append(medians[row[name]], v)
		}
	}
	for name, v := range medians {
		if len(v) != 2 || math.Abs(v[1]/v[0]-2.5) > 1e-3 {
			t.Errorf("%s has medians %v, want two of which the second is 2.5 times the first", name, v)
		}
	}
}

func compareJSON(t *testing.T, want, got digest.JSON) {
	t.Helper()
	a, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("a machine's part is not its own report")
	}
}

// TestFleetAdvice reads the sentence that compares machines.
func TestFleetAdvice(t *testing.T) {
	cpu := reportstest.Setting("cpu", "Other CPU")
	weak := []reportstest.Edit{cpu, reportstest.Setting("cpu-features", "avx2,fma"), reportstest.Setting("isa-unavailable", "neon avx512vnni"), reportstest.Without("variant=avx512vnni")}
	for _, tc := range []struct {
		name     string
		machines []*results.Set
		want     string
	}{
		{"a slower machine", []*results.Set{reportstest.Derived(t), reportstest.Derived(t, cpu, reportstest.TimesAs(3))},
			`^q1_0_g128 \(2048×2048, 2 threads, cold cache\): AMD EPYC takes [0-9.]+ µs by avx512vnni, [0-9.]+ % of its own roofline; Other CPU takes 3\.0 times as long, [0-9.]+ µs by avx512vnni, [0-9.]+ % of its own roofline\.$`},
		{"first is who is fastest", []*results.Set{reportstest.Derived(t, cpu, reportstest.TimesAs(3)), reportstest.Derived(t)}, `: AMD EPYC takes .*; Other CPU takes 3\.0 times as long`},
		{"a machine as fast", []*results.Set{reportstest.Derived(t), reportstest.Derived(t, cpu, reportstest.TimesAs(1.001))}, `AMD EPYC takes [^;]*; Other CPU can't be told from it\.$`},
		{"the best variant differs", []*results.Set{reportstest.Derived(t), reportstest.Derived(t, weak...)}, `The best variant differs: avx512vnni on AMD EPYC; avx2 on Other CPU\.$`},
		{"an emulated machine", []*results.Set{reportstest.Derived(t, reportstest.Setting("cpu", "Fast"), reportstest.Setting("emulated", "true"), reportstest.TimesAs(0.1)), reportstest.Derived(t), reportstest.Derived(t, cpu, reportstest.TimesAs(3))},
			`: AMD EPYC takes .*; Other CPU takes 3\.0 times as long.* 1 emulated machine is not ranked: Fast\.$`},
		{"one real machine", []*results.Set{reportstest.Derived(t, reportstest.Setting("emulated", "true")), reportstest.Derived(t, cpu)}, `^Other CPU is the only machine that is not emulated: its speed can be compared with none\.$`},
		{"no real machine", []*results.Set{reportstest.Derived(t, reportstest.Setting("emulated", "true")), reportstest.Derived(t, cpu, reportstest.Setting("emulated", "true"))}, `^Every machine here is emulated: these results say nothing about speed\.$`},
		{"no work in common", []*results.Set{reportstest.Derived(t, reportstest.Without("format=i2_s")), reportstest.Derived(t, cpu, reportstest.Without("format=q1_0_g128"))}, `^No work was timed on two machines alike: their speeds can't be compared\.$`},
		{"other shapes", []*results.Set{reportstest.Derived(t, reportstest.Without("rows=6144")), reportstest.Derived(t, cpu, reportstest.Without("rows=(2048|4096)"), reportstest.TimesAs(2))}, `can't be compared`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := New(reportstest.Made(tc.machines...)).advice(); !regexp.MustCompile(tc.want).MatchString(got) {
				t.Errorf("the advice is\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestFleetSaysWhatIsMissing tells what a machine can't run from what it did not run and from what was wrong.
func TestFleetSaysWhatIsMissing(t *testing.T) {
	const lacking = "--- FAIL: BenchmarkMatVec/format=q1_0_g128/variant=scalar/act=q8_128/rows=2048/cols=2048/threads=2/cache=cold\n    wrong by 3\n"
	b := reportstest.Derived(t, reportstest.Setting("cpu", "Other CPU"), reportstest.Setting("isa-unavailable", "avx512vnni"), reportstest.Without("variant=avx512vnni"),
		reportstest.Without("format=q1_0_g128/variant=avx2"), reportstest.Without("variant=scalar"), func(text string) string { return text + lacking })
	for kind, want := range map[string][]string{
		"table":    {"unavailable", notRun, wrongResult, "WRONG, not timed: Other CPU: MatVec/format=q1_0_g128/variant=scalar"},
		"markdown": {"unavailable", notRun, wrongResult, "Other CPU: MatVec/format=q1\\_0\\_g128"},
		"html":     {"unavailable", notRun, wrongResult, "Other CPU: MatVec/format=q1_0_g128/variant=scalar"},
	} {
		text := renderKind(t, kind, reportstest.Derived(t), b)
		for _, w := range want {
			if !strings.Contains(text, w) && !strings.Contains(text, strings.ReplaceAll(w, `\_`, "_")) {
				t.Errorf("%s lacks %q", kind, w)
			}
		}
	}
}

// TestFleetMarksEmulation has no share of an emulated machine, no rank, and its mark wherever it is shown.
func TestFleetMarksEmulation(t *testing.T) {
	f := New(&reports.Source{Machines: []*results.Set{
		reportstest.Derived(t, reportstest.Setting("cpu", "Fast"), reportstest.Setting("emulated", "true"), reportstest.Setting("emulator", "qemu"), reportstest.TimesAs(0.1)),
		reportstest.Derived(t), reportstest.Derived(t, reportstest.Setting("cpu", "Other CPU")),
	}})
	last := f.Members[2]
	if last.Heading() != "Fast (emulated)" {
		t.Fatalf("the last machine is %s", last.Heading())
	}
	best := f.bestSheet()
	for i, row := range best.Rows {
		for _, c := range row[1:] {
			if c.Best && i == 2 || i == 2 && strings.Contains(c.Remark, "%") {
				t.Errorf("the emulated machine has %+v", c)
			}
		}
	}
	if !slices.ContainsFunc(best.Rows[0], func(c doc.Cell) bool { return c.Best }) {
		t.Error("no real machine is the fastest")
	}
	for _, l := range f.Works {
		if p := l.PlaceOf(last); slices.Contains(l.Ranked(), p) {
			t.Errorf("%s ranks the emulated machine", l.Title())
		}
	}
	reportstest.Wants(t, renderKind(t, "html", f.Members[2].Results, f.Members[0].Results), "Fast (emulated)", "emulated by qemu", "the only machine that is not emulated")
}

// TestMachineNames tells machines of one CPU apart by what else they differ in.
func TestMachineNames(t *testing.T) {
	name := func(edits ...reportstest.Edit) *results.Set { return reportstest.Derived(t, edits...) }
	long := strings.Repeat("x", 100)
	for _, tc := range []struct {
		machines []*results.Set
		want     []string
	}{
		{[]*results.Set{name(), name(reportstest.Setting("cpu", "Other"))}, []string{"AMD EPYC", "Other"}},
		{[]*results.Set{name(), name(reportstest.Setting("cpus-usable", "1"))}, []string{"AMD EPYC (2 CPUs)", "AMD EPYC (1 CPU)"}},
		{[]*results.Set{name(), name(reportstest.Setting("cpu-features", "avx2,fma"))}, []string{"AMD EPYC", "AMD EPYC (without avx512bf16 and 8 more)"}},
		{[]*results.Set{name(reportstest.Setting("host", "n1")), name(reportstest.Setting("host", "n2"))}, []string{"n1", "n2"}},
		{[]*results.Set{name(reportstest.Setting("host", "n1")), name(reportstest.Setting("host", "n1"), reportstest.Setting("mem-total", "8 GiB"))}, []string{"n1 (24 GiB memory)", "n1 (8 GiB memory)"}},
		{[]*results.Set{name(reportstest.Setting("host", long+"a")), name(reportstest.Setting("host", long+"b"))}, []string{strings.Repeat("x", 35) + "…", strings.Repeat("x", 35) + "… #2"}},
		{[]*results.Set{name(), reportstest.Set(t, []byte("BenchmarkX 1 5 ns/op\n"))}, []string{"AMD EPYC", "unknown machine"}},
	} {
		var got []string
		for _, m := range New(reportstest.Made(tc.machines...)).Members {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("names %q, want %q", got, tc.want)
		}
	}
}

// TestFleetOfPrograms warns where machines ran different programs: their difference may be the code's.
func TestFleetOfPrograms(t *testing.T) {
	other := reportstest.Derived(t, reportstest.Setting("cpu", "Other"), reportstest.Setting("commit", "abcdef1"), reportstest.Setting("go-version", "go1.99"))
	page := renderKind(t, "html", reportstest.Derived(t), other)
	reportstest.Wants(t, page, "the machines differ in commit: 47efea2-dirty on AMD EPYC; abcdef1 on Other.", "the machines differ in go-version: ")
	if !strings.Contains(page, `<p class="grave">the machines differ in commit`) {
		t.Error("other code is no grave doubt")
	}
	if page := renderKind(t, "html", reportstest.Derived(t), reportstest.Derived(t, reportstest.Setting("cpu", "Other"))); strings.Contains(page, "the machines differ in") {
		t.Error("machines of one program differ")
	}
}

// TestFleetHostileNames puts markup, script, formulas and terminal commands into the names of hosts.
func TestFleetHostileNames(t *testing.T) {
	require.Unraced(t, "a small page shows what many write")
	require.Unplayed(t, "a page is the same wherever it is written")
	const evil = `<script>alert(1)</script><img/src=x/onerror=alert(2)>'"&{{.}}|**` + "\x1b[2J\u202e"
	machines := []*results.Set{reportstest.Derived(t, reportstest.Setting("host", evil+"1")), reportstest.Derived(t, reportstest.Setting("host", "<b>n2</b>"+evil), reportstest.TimesAs(2)), reportstest.Derived(t, reportstest.Setting("cpu", evil), reportstest.TimesAs(3))}
	for _, k := range render.Printers() {
		text := renderKind(t, k.Name, machines...)
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s has a control character", k.Name)
		}
		if k.Name == "html" {
			if n := strings.Count(text, "<script"); n != 1 {
				t.Errorf("the page has %d script elements, its own is 1", n)
			}
			if strings.Contains(text, "<img") || strings.Contains(text, "<b>") {
				t.Error("markup from a host's name")
			}
		}
		if k.Name == "markdown" && (strings.Contains(text, "<script") || strings.Contains(text, "<img")) {
			t.Error("Markdown has markup from a host's name")
		}
	}
	dir := t.TempDir()
	if err := reportstest.Write(t.Context(), dir, render.FolderOptions{}, machines...); err != nil {
		t.Fatal(err)
	}
}

// TestFleetOfFifty keeps the page of fifty machines usable, and says what it leaves out.
// TestFleetOfMany has 16 machines, and 50 under ONEBIT_ALL.
func TestFleetOfMany(t *testing.T) {
	require.Unraced(t, "a small page shows what many write")
	require.Unplayed(t, "a page is the same wherever it is written")
	n := 16
	if require.All() {
		n = 50
	}
	var machines []*results.Set
	for i := range n {
		machines = append(machines, reportstest.Derived(t, reportstest.Setting("host", fmt.Sprintf("node%02d", i+1)), reportstest.TimesAs(1+float64(i)/10)))
	}
	page := renderKind(t, "html", machines...)
	if size := len(page); size > 3<<20 {
		t.Errorf("the page of %d machines has %d bytes", n, size)
	}
	of := fmt.Sprintf(" of %d machines", n)
	reportstest.Wants(t, page, fmt.Sprint("node", n), "The first 8"+of+": CSV and JSON have all.", "The fastest 14"+of+" are shown.", "all machines: this is a virtual machine")
	rows, err := csv.NewReader(strings.NewReader(renderKind(t, "csv", machines...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, row := range rows[1:] {
		seen[row[0]] = true
	}
	if len(seen) != n {
		t.Errorf("the CSV has %d machines", len(seen))
	}
}

// TestFleetUnusual renders machines that have little or nothing in common.
func TestFleetUnusual(t *testing.T) {
	require.Unraced(t, "a small page shows what many write")
	require.Unplayed(t, "a page is the same wherever it is written")
	for _, text := range require.Draw(t, 3, []string{
		"", "cpu: X\n", "cpu: X\nBenchmarkSum 100 12.5 ns/op\n", "cpu: X\nBenchmarkMatVec/format=a/variant=x/rows=2/cols=2 1 0 ns/op 0 nmse 0 packed-B\n",
		"cpu: X\n--- FAIL: BenchmarkMatVec/format=q1_0_g128/variant=avx2\n    wrong\n",
		"cpu: X\nBenchmarkMatVec/format=q1_0_g128/variant=y/act=q8_row/rows=2048/cols=2048/threads=64/cache=warm 1 1e300 ns/op 1e300 %roof\n",
		"cpu: X\nBenchmarkModel/model=bonsai-1.7b/variant=avx2/test=tg64/threads=2 1 5e9 ns/op 12.5 tok/s 0.002 kld\n",
	}) {
		for _, k := range render.Printers() {
			renderKind(t, k.Name, reportstest.Derived(t), reportstest.Set(t, []byte(text)))
			renderKind(t, k.Name, reportstest.Set(t, []byte(text)), reportstest.Set(t, []byte(strings.ReplaceAll(text, "X", "Y"))))
		}
	}
}

// TestFleetOfModels compares tests of models by tokens per second, under the names of all machines' variants.
func TestFleetOfModels(t *testing.T) {
	const a = "cpu: A\nBenchmarkModel/model=m/variant=avx2/act=q8_128/test=tg64/threads=2 1 5e9 ns/op 12.5 tok/s 80 %roof\nBenchmarkModel/model=m/variant=avx2/act=q8_32/test=tg64/threads=2 1 6e9 ns/op 10.5 tok/s 60 %roof\n"
	const b = "cpu: B\nBenchmarkModel/model=m/variant=avx2/act=q8_128/test=tg64/threads=8 1 1e9 ns/op 62.5 tok/s 45 %roof\n"
	text := renderKind(t, "table", reportstest.Set(t, []byte(a)), reportstest.Set(t, []byte(b)))
	reportstest.Wants(t, text, "12.5 tok/s avx2 q8_128, 80.0 %", "62.5 tok/s avx2 q8_128, 45.0 %", "each machine with all its threads", "80.0 % of reading  45.0 % of reading")
}

// TestFleetSameBytes renders twice and compares the pages.
func TestFleetSameBytes(t *testing.T) {
	require.Turns(t, "TestSameResultsSameBytes", "TestFleetSameBytes")
	machines := []*results.Set{reportstest.Derived(t), reportstest.Derived(t, reportstest.Setting("cpu", "Other"), reportstest.TimesAs(1.5)), reportstest.Derived(t, reportstest.Setting("cpu", "Third"), reportstest.Without("variant=avx2"))}
	var first []byte
	for range 2 {
		dir := t.TempDir()
		if err := reportstest.Write(t.Context(), dir, render.FolderOptions{}, machines...); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, page) {
			t.Error("the second time differs")
		}
		first = page
	}
}

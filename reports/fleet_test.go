package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"onebit/internal/require"
	"onebit/reports/doc"
	"onebit/reports/render"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"onebit/bench/results"
)

// An edit derives the results of another machine from those of a real run.
type edit func(text string) string

// setting gives the header another value, or a line more.
func setting(key, value string) edit {
	line := regexp.MustCompile(`(?m)^` + key + `: .*\n`)
	return func(text string) string { return key + ": " + value + "\n" + line.ReplaceAllString(text, "") }
}

// without drops the lines of benchmarks that match.
func without(pattern string) edit {
	line := regexp.MustCompile(`(?m)^Benchmark.*` + pattern + `.*\n`)
	return func(text string) string { return line.ReplaceAllString(text, "") }
}

// timesAs makes all times so many times as long, and leaves the shares of the roofline as they were: what a
// slower machine does that the code uses as well.
func timesAs(factor float64) edit {
	time := regexp.MustCompile(`[0-9.e+]+ ns/op`)
	return func(text string) string {
		return time.ReplaceAllStringFunc(text, func(s string) string {
			ns, err := strconv.ParseFloat(strings.TrimSuffix(s, " ns/op"), 64)
			if err != nil {
				return s
			}
			return fmt.Sprintf("%g ns/op", ns*factor)
		})
	}
}

// derived is testdata/results.txt, a real run, with edits.
func derived(t testing.TB, edits ...edit) *results.Set {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	for _, e := range edits {
		s = e(s)
	}
	return fixture(t, []byte(s))
}

// renderKind renders a fleet as a kind.
func renderKind(t *testing.T, kind string, machines ...*results.Set) string {
	t.Helper()
	k, ok := FormatNamed(kind)
	if !ok {
		t.Fatalf("no kind %q", kind)
	}
	var b bytes.Buffer
	if err := k.RenderFleet(t.Context(), &b, &results.Fleet{Machines: machines}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wants reports what a text lacks.
func wants(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("lacks %q", w)
		}
	}
}

// TestFleetPoolsNothing finds in the report of two machines what the report of each says, to the digit.
// As one file, their A/A pairs and samples made floors and medians of no machine.
func TestFleetPoolsNothing(t *testing.T) {
	a, b := derived(t), derived(t, setting("cpu", "Other CPU"), timesAs(2.5))
	var doc jsonFleet
	if err := json.Unmarshal([]byte(renderKind(t, "json", a, b)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Machines) != 2 {
		t.Fatalf("%d machines", len(doc.Machines))
	}
	for i, res := range []*results.Set{a, b} {
		var alone jsonResults
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

func compareJSON(t *testing.T, want, got jsonResults) {
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
	cpu := setting("cpu", "Other CPU")
	weak := []edit{cpu, setting("cpu-features", "avx2,fma"), setting("isa-unavailable", "neon avx512vnni"), without("variant=avx512vnni")}
	for _, tc := range []struct {
		name     string
		machines []*results.Set
		want     string
	}{
		{"a slower machine", []*results.Set{derived(t), derived(t, cpu, timesAs(3))},
			`^q1_0_g128 \(2048×2048, 2 threads, cold cache\): AMD EPYC takes [0-9.]+ µs by avx512vnni, [0-9.]+ % of its own roofline; Other CPU takes 3\.0 times as long, [0-9.]+ µs by avx512vnni, [0-9.]+ % of its own roofline\.$`},
		{"first is who is fastest", []*results.Set{derived(t, cpu, timesAs(3)), derived(t)}, `: AMD EPYC takes .*; Other CPU takes 3\.0 times as long`},
		{"a machine as fast", []*results.Set{derived(t), derived(t, cpu, timesAs(1.001))}, `AMD EPYC takes [^;]*; Other CPU can't be told from it\.$`},
		{"the best variant differs", []*results.Set{derived(t), derived(t, weak...)}, `The best variant differs: avx512vnni on AMD EPYC; avx2 on Other CPU\.$`},
		{"an emulated machine", []*results.Set{derived(t, setting("cpu", "Fast"), setting("emulated", "true"), timesAs(0.1)), derived(t), derived(t, cpu, timesAs(3))},
			`: AMD EPYC takes .*; Other CPU takes 3\.0 times as long.* 1 emulated machine is not ranked: Fast\.$`},
		{"one real machine", []*results.Set{derived(t, setting("emulated", "true")), derived(t, cpu)}, `^Other CPU is the only machine that is not emulated: its speed can be compared with none\.$`},
		{"no real machine", []*results.Set{derived(t, setting("emulated", "true")), derived(t, cpu, setting("emulated", "true"))}, `^Every machine here is emulated: these results say nothing about speed\.$`},
		{"no work in common", []*results.Set{derived(t, without("format=i2_s")), derived(t, cpu, without("format=q1_0_g128"))}, `^No work was timed on two machines alike: their speeds can't be compared\.$`},
		{"other shapes", []*results.Set{derived(t, without("rows=6144")), derived(t, cpu, without("rows=(2048|4096)"), timesAs(2))}, `can't be compared`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := newFleet(made(tc.machines...)).advice(); !regexp.MustCompile(tc.want).MatchString(got) {
				t.Errorf("the advice is\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestFleetSaysWhatIsMissing tells what a machine can't run from what it did not run and from what was wrong.
func TestFleetSaysWhatIsMissing(t *testing.T) {
	const lacking = "--- FAIL: BenchmarkMatVec/format=q1_0_g128/variant=scalar/act=q8_128/rows=2048/cols=2048/threads=2/cache=cold\n    wrong by 3\n"
	b := derived(t, setting("cpu", "Other CPU"), setting("isa-unavailable", "avx512vnni"), without("variant=avx512vnni"),
		without("format=q1_0_g128/variant=avx2"), without("variant=scalar"), func(text string) string { return text + lacking })
	for kind, want := range map[string][]string{
		"table":    {"unavailable", notRun, wrongResult, "WRONG, not timed: Other CPU: MatVec/format=q1_0_g128/variant=scalar"},
		"markdown": {"unavailable", notRun, wrongResult, "Other CPU: MatVec/format=q1\\_0\\_g128"},
		"html":     {"unavailable", notRun, wrongResult, "Other CPU: MatVec/format=q1_0_g128/variant=scalar"},
	} {
		text := renderKind(t, kind, derived(t), b)
		for _, w := range want {
			if !strings.Contains(text, w) && !strings.Contains(text, strings.ReplaceAll(w, `\_`, "_")) {
				t.Errorf("%s lacks %q", kind, w)
			}
		}
	}
}

// TestFleetMarksEmulation has no share of an emulated machine, no rank, and its mark wherever it is shown.
func TestFleetMarksEmulation(t *testing.T) {
	f := newFleet(&Source{Machines: []*results.Set{
		derived(t, setting("cpu", "Fast"), setting("emulated", "true"), setting("emulator", "qemu"), timesAs(0.1)),
		derived(t), derived(t, setting("cpu", "Other CPU")),
	}})
	last := f.members[2]
	if last.heading() != "Fast (emulated)" {
		t.Fatalf("the last machine is %s", last.heading())
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
	for _, l := range f.works {
		if p := l.placeOf(last); slices.Contains(l.ranked(), p) {
			t.Errorf("%s ranks the emulated machine", l.title())
		}
	}
	wants(t, renderKind(t, "html", f.members[2].res, f.members[0].res), "Fast (emulated)", "emulated by qemu", "the only machine that is not emulated")
}

// TestMachineNames tells machines of one CPU apart by what else they differ in.
func TestMachineNames(t *testing.T) {
	name := func(edits ...edit) *results.Set { return derived(t, edits...) }
	long := strings.Repeat("x", 100)
	for _, tc := range []struct {
		machines []*results.Set
		want     []string
	}{
		{[]*results.Set{name(), name(setting("cpu", "Other"))}, []string{"AMD EPYC", "Other"}},
		{[]*results.Set{name(), name(setting("cpus-usable", "1"))}, []string{"AMD EPYC (2 CPUs)", "AMD EPYC (1 CPU)"}},
		{[]*results.Set{name(), name(setting("cpu-features", "avx2,fma"))}, []string{"AMD EPYC", "AMD EPYC (without avx512bf16 and 8 more)"}},
		{[]*results.Set{name(setting("host", "n1")), name(setting("host", "n2"))}, []string{"n1", "n2"}},
		{[]*results.Set{name(setting("host", "n1")), name(setting("host", "n1"), setting("mem-total", "8 GiB"))}, []string{"n1 (24 GiB memory)", "n1 (8 GiB memory)"}},
		{[]*results.Set{name(setting("host", long+"a")), name(setting("host", long+"b"))}, []string{strings.Repeat("x", 35) + "…", strings.Repeat("x", 35) + "… #2"}},
		{[]*results.Set{name(), fixture(t, []byte("BenchmarkX 1 5 ns/op\n"))}, []string{"AMD EPYC", "unknown machine"}},
	} {
		var got []string
		for _, m := range newFleet(made(tc.machines...)).members {
			got = append(got, m.name)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("names %q, want %q", got, tc.want)
		}
	}
}

// TestFleetOfPrograms warns where machines ran different programs: their difference may be the code's.
func TestFleetOfPrograms(t *testing.T) {
	other := derived(t, setting("cpu", "Other"), setting("commit", "abcdef1"), setting("go-version", "go1.99"))
	page := renderKind(t, "html", derived(t), other)
	wants(t, page, "the machines differ in commit: 47efea2-dirty on AMD EPYC; abcdef1 on Other.", "the machines differ in go-version: ")
	if !strings.Contains(page, `<p class="grave">the machines differ in commit`) {
		t.Error("other code is no grave doubt")
	}
	if page := renderKind(t, "html", derived(t), derived(t, setting("cpu", "Other"))); strings.Contains(page, "the machines differ in") {
		t.Error("machines of one program differ")
	}
}

// TestFleetHostileNames puts markup, script, formulas and terminal commands into the names of hosts.
func TestFleetHostileNames(t *testing.T) {
	require.Unraced(t, "a small page shows what many write")
	require.Unplayed(t, "a page is the same wherever it is written")
	const evil = `<script>alert(1)</script><img/src=x/onerror=alert(2)>'"&{{.}}|**` + "\x1b[2J\u202e"
	machines := []*results.Set{derived(t, setting("host", evil+"1")), derived(t, setting("host", "<b>n2</b>"+evil), timesAs(2)), derived(t, setting("cpu", evil), timesAs(3))}
	for _, k := range Formats() {
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
	if err := WriteFleet(t.Context(), dir, &results.Fleet{Machines: machines}, WriteOptions{}); err != nil {
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
		machines = append(machines, derived(t, setting("host", fmt.Sprintf("node%02d", i+1)), timesAs(1+float64(i)/10)))
	}
	page := renderKind(t, "html", machines...)
	if size := len(page); size > 3<<20 {
		t.Errorf("the page of %d machines has %d bytes", n, size)
	}
	of := fmt.Sprintf(" of %d machines", n)
	wants(t, page, fmt.Sprint("node", n), "The first 8"+of+": CSV and JSON have all.", "The fastest 14"+of+" are shown.", "all machines: this is a virtual machine")
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
		for _, k := range Formats() {
			renderKind(t, k.Name, derived(t), fixture(t, []byte(text)))
			renderKind(t, k.Name, fixture(t, []byte(text)), fixture(t, []byte(strings.ReplaceAll(text, "X", "Y"))))
		}
	}
}

// TestFleetOfModels compares tests of models by tokens per second, under the names of all machines' variants.
func TestFleetOfModels(t *testing.T) {
	const a = "cpu: A\nBenchmarkModel/model=m/variant=avx2/act=q8_128/test=tg64/threads=2 1 5e9 ns/op 12.5 tok/s 80 %roof\nBenchmarkModel/model=m/variant=avx2/act=q8_32/test=tg64/threads=2 1 6e9 ns/op 10.5 tok/s 60 %roof\n"
	const b = "cpu: B\nBenchmarkModel/model=m/variant=avx2/act=q8_128/test=tg64/threads=8 1 1e9 ns/op 62.5 tok/s 45 %roof\n"
	text := renderKind(t, "table", fixture(t, []byte(a)), fixture(t, []byte(b)))
	wants(t, text, "12.5 tok/s avx2 q8_128, 80.0 %", "62.5 tok/s avx2 q8_128, 45.0 %", "each machine with all its threads", "80.0 % of reading  45.0 % of reading")
}

// TestGoldenFleet holds the comparison of machines to its goldens.
func TestGoldenFleet(t *testing.T) {
	require.Unplayed(t, "a page is the same wherever it is written")
	fleet := goldenFleet(t)
	for _, kind := range []string{"table", "markdown"} {
		k, _ := FormatNamed(kind)
		var b bytes.Buffer
		if err := k.RenderFleet(t.Context(), &b, fleet); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, "golden-fleet."+k.Extension, b.Bytes())
	}
	var b bytes.Buffer
	if err := printTo(t.Context(), &b, "table", render.Options{Width: 80}, made(fleet.Machines...)); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "golden-fleet-80.txt", b.Bytes())
}

// goldenFleet is of real runs; testdata/README says how they were made.
func goldenFleet(t *testing.T) *results.Fleet {
	t.Helper()
	var files []results.File
	for _, name := range []string{"two-cpus", "two-cpus-again", "one-cpu", "purego", "emulated"} {
		files = append(files, results.File{Path: filepath.Join("testdata", "fleet", name+".txt")})
	}
	fleet, err := results.ReadFleet(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

// TestFleetSameBytes renders twice and compares the pages.
func TestFleetSameBytes(t *testing.T) {
	require.Turns(t, "TestSameResultsSameBytes", "TestFleetSameBytes")
	machines := []*results.Set{derived(t), derived(t, setting("cpu", "Other"), timesAs(1.5)), derived(t, setting("cpu", "Third"), without("variant=avx2"))}
	var first []byte
	for range 2 {
		dir := t.TempDir()
		if err := WriteFleet(t.Context(), dir, &results.Fleet{Machines: machines}, WriteOptions{}); err != nil {
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

// TestFleetInBrowser opens the page of several machines on a phone and on a desk.
func TestFleetInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	require.Turns(t, "TestReportInBrowser", "TestFleetInBrowser")
	b := openBrowser(t)
	dir := t.TempDir()
	machines := []*results.Set{
		derived(t), derived(t, setting("cpu", "Another Vendor's CPU of a Long Name, 64 Cores"), timesAs(1.5)),
		derived(t, setting("host", "board"), timesAs(9), without("variant=avx512vnni"), setting("isa-unavailable", "avx512vnni")),
		derived(t, setting("host", "qemu"), setting("emulated", "true")),
	}
	if err := WriteFleet(t.Context(), dir, &results.Fleet{Machines: machines}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "index.html")
	for _, width := range require.Draw(t, 2, []int64{320, 390, 1280}) {
		for _, scheme := range []string{"light", "dark"} {
			b.load(t, page, width, scheme)
			eval[bool](t, b, `document.querySelectorAll("details").forEach((d) => { d.open = true }), true`)
			if wide := eval[int64](t, b, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("the page is %d pixels wide in a window of %d", wide, width)
			}
		}
	}
	testReferences(t, b)
	b.check(t)
}

package reports

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/figure"
)

// renderAll renders every kind and the whole report, and returns the page.
func renderAll(t *testing.T, text string) string {
	t.Helper()
	res := fixture(t, []byte(text))
	var page bytes.Buffer
	for _, k := range Formats() {
		var b bytes.Buffer
		if err := k.Render(t.Context(), &b, res); err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		if k.Name == "html" {
			page = b
		}
	}
	if require.All() && !raceDetector { // else the page has drawn the same figures as SVG
		if err := Write(t.Context(), t.TempDir(), res, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return page.String()
}

// raceDetector is whether it makes the drawing of pictures slow. It sees
// Write's threads in TestFiguresHaveTheirOwnFiles.
var raceDetector bool

// TestUnusualResults renders files that hold other things than kernels, or hardly anything.
func TestUnusualResults(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"The file holds no samples."}},
		{"header only", "goos: linux\ncpu: Some CPU\n", []string{"Some CPU", "The file holds no samples."}},
		{"failure only", "--- FAIL: BenchmarkMatVec/variant=x\n    wrong by 3\n", []string{"1 wrong result", "wrong by 3", "MatVec/variant=x"}},
		{"one sample", "BenchmarkMatVec/format=i2_s/variant=avx2/rows=8/cols=8/threads=1/cache=warm 1 100 ns/op\n", []string{"avx2 is the fastest kernel of i2_s here", "100 ns"}},
		{"model", "BenchmarkModel/model=bonsai-1.7b/variant=avx2/test=tg64/threads=2 1 5e9 ns/op 12.5 tok/s 0.002 kld\n" +
			"BenchmarkModel/model=bonsai-1.7b/variant=scalar/test=tg64/threads=2 1 5e10 ns/op 1.25 tok/s 0.001 kld\n",
			[]string{"bonsai-1.7b tg64", "kld against decode tg64", "10.0×", "12.5 tok/s"}},
		{"profile only", "BenchmarkOp/model=m/variant=v/test=tg8/threads=1/block=0/op=q 1 5e6 ns/op\n", []string{"m: time by operation, tg8, 1 thread", "5.00 ms"}},
		{"errors only", "BenchmarkLockstep/model=m/variant=v/input=isolated/block=7/tensor=block 1 2e-5 nmse\n", []string{"m: error of the stream", "2e-05", "in 7"}},
		{"few predictions of random weights", "BenchmarkLogits/model=m/variant=v/weights=random/tokens=9 1 0.5 kld 0.25 kld-lo 1 kld-hi 0.25 top1 0.07 top1-lo 0.59 top1-hi\n",
			[]string{"0.25 to 1", "7.0 % to 59.0 %", "95 % intervals", "The weights are random"}},
		{"predictions only", "BenchmarkLogits/model=m/variant=v/tokens=9 1 0.5 kld 0.25 top1 12 ppl 10 ref-ppl\n", []string{"m: error", "25.0 %", "20 %", "over 9 tokens"}},
		{"nameless model", "BenchmarkModel/variant=v/test=pp8 1 0 ns/op 0 tok/s\n", []string{"Model table", "prompt pp8"}},
		{"test of another kind", "BenchmarkModel/model=m/variant=v/test=sing 1 7 ns/op\n", []string{"in sing by v", "7.00 ns"}},
		{"unknown benchmark and unit", "BenchmarkEncode/json-8 100 12.5 ns/op 7 widgets\nBenchmarkEncode/gob-8 100 13.5 ns/op 8 widgets\n",
			[]string{"Encode table", "7.00 widgets", "json"}},
		{"no name parts", "BenchmarkSum 100 12.5 ns/op\n", []string{"Sum table", "12.5 ns"}},
		{"zero times", "BenchmarkMatVec/format=a/variant=x/rows=2/cols=2 1 0 ns/op 0 nmse 0 packed-B\nBenchmarkMatVec/format=a/variant=y/rows=2/cols=2 1 0 ns/op 0 nmse\n",
			[]string{"MatVec table"}},
		{"negative and huge", "BenchmarkMatVec/format=a/variant=x/rows=2/cols=2 1 5 ns/op -1 nmse 1e300 packed-B\n" +
			"BenchmarkMatVec/format=a/variant=y/rows=999999999999/cols=999999999999 1 1e300 ns/op 1e-300 nmse 1 packed-B 1e300 peak-RSS-B\n", []string{"MatVec table"}},
		{"not numbers for shape", "BenchmarkMatVec/format=a/variant=x/rows=many/cols=2 1 5 ns/op 1 nmse 3 packed-B\n", []string{"many×2"}},
		{"emulated", "emulated: true\nBenchmarkA 1 5 ns/op\n", []string{"under emulation"}},
		{"emulated by something", "emulated: true\nemulator: softmetal\nBenchmarkA 1 5 ns/op\n", []string{"under emulation, by softmetal: they say nothing about speed"}},
		{"a GPU", "BenchmarkMatVec/format=a/variant=metal-simd/rows=2/cols=2/cache=warm 1 50 ns/op 41 gpu-ns/op\n" +
			"BenchmarkMatVec/format=a/variant=avx2/rows=2/cols=2/threads=1/cache=warm 1 60 ns/op\n" +
			"BenchmarkModel/model=m/engine=metal/variant=metal-simd/act=q8_row/packing=packed/test=tg8 1 900 ns/op 71 gpu-ns/op 8 tok/s\n" +
			"BenchmarkModel/model=m/variant=avx2/act=q8_row/packing=packed/test=tg8/threads=2 1 950 ns/op 7 tok/s\n" +
			"BenchmarkLogits/model=m/engine=metal/variant=metal-simd/act=q8_row/tokens=9 1 0.5 kld\n",
			[]string{"the GPU, warm cache", "1 thread, warm cache", "41.0 ns", "metal-simd packed", "71.0 ns", "decode tg8", "0.5"}},
		{"partly timed", "BenchmarkMatVec/format=a/variant=x/threads=1 1 5 ns/op\nBenchmarkMatVec/format=b/variant=x/threads=2 1 5 ns/op\n", []string{"1 thread", "2 threads"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page := renderAll(t, tt.text)
			for _, want := range tt.want {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
		})
	}
}

// TestHostileNames puts markup, script and terminal commands wherever a results file holds text.
func TestHostileNames(t *testing.T) {
	const evil = `<script>alert(1)</script><img/src=x/onerror=alert(2)>'"&{{.}}` + "\x1b[2J"
	const part = `<script>alert(3)</script>"'&onload=x` // in names, which end at white space
	text := "cpu: " + evil + "\ncommand: " + evil + "\nnote: " + evil + "\n" +
		"# warning: " + evil + "\n" +
		"--- FAIL: BenchmarkMatVec/variant=" + part + "\n    " + evil + "\n"
	for _, variant := range []string{part + "1", part + "2"} {
		text += fmt.Sprintf("BenchmarkMatVec/format=%s/variant=%s/act=%[1]s/rows=4/cols=8/threads=%[1]s/cache=%[1]s 1 5 ns/op 1e-5 nmse 5 packed-B 9 peak-RSS-B 3 %[1]s\n", part, variant)
	}
	text += "Benchmark" + part + "/" + part + " 1 5 ns/op\n"

	page := renderAll(t, text)
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("the page has %d script elements, its own is 1", n)
	}
	handler := regexp.MustCompile(`\son\w+\s*=`)
	for _, tag := range regexp.MustCompile(`<[^<>]*>`).FindAllString(page, -1) {
		if strings.HasPrefix(tag, "<img") || handler.MatchString(tag) {
			t.Errorf("markup from the file: %s", tag)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)") {
		t.Error("the text itself is lost")
	}

	res := fixture(t, []byte(text))
	for _, name := range []string{"table", "markdown"} {
		k, ok := FormatNamed(name)
		if !ok {
			t.Fatalf("no kind %q", name)
		}
		var b bytes.Buffer
		if err := k.Render(t.Context(), &b, res); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s holds an escape sequence", name)
		}
		if name == "markdown" && strings.Contains(b.String(), "<script") {
			t.Error("markdown holds markup from the file")
		}
	}
}

// TestPageIsSelfContained looks for anything that a browser would load.
func TestPageIsSelfContained(t *testing.T) {
	page := renderAll(t, string(small().results()))
	for _, bad := range regexp.MustCompile(`(?i)(src|href|xlink:href|action)="[^#"][^"]*"|url\(|@import|https?://`).FindAllString(page, -1) {
		if bad != `href="data:,"` {
			t.Errorf("the page refers to %s", bad)
		}
	}
}

// aaPairs are pairs of arms that differ by 2% in every round. Their floor, which takes the 2% for
// chance, is then 1.6%.
func aaPairs(rounds int) string {
	var b strings.Builder
	for pair := range 5 {
		for range rounds {
			fmt.Fprintf(&b, "BenchmarkAA/MatVec/format=f%d/variant=x/arm=a 1 100 ns/op\nBenchmarkAA/MatVec/format=f%[1]d/variant=x/arm=b 1 102 ns/op\n", pair)
		}
	}
	return b.String()
}

func repeat(n int, line string) string { return strings.Repeat(line+"\n", n) }

func TestRankingAndTies(t *testing.T) {
	const name = "BenchmarkMatVec/format=f/variant=%s/rows=2/cols=2/threads=1/cache=warm 1 %v ns/op"
	at := func(variant string, ns float64) string { return fmt.Sprintf(name, variant, ns) }
	// noisy overlaps with 100 ± 5 so much that no test tells them apart.
	noisy := func(variant string, center float64, devs ...float64) string {
		var b strings.Builder
		for _, dev := range devs {
			b.WriteString(at(variant, center+dev) + "\n")
		}
		return b.String()
	}
	tests := []struct {
		name, text string
		want       []string // ranked
		ties       int
	}{
		{"clear", repeat(6, at("a", 100)) + repeat(6, at("b", 200)), []string{"a", "b"}, 0},
		{"within the noise floor", aaPairs(10) + repeat(6, at("a", 100)) + repeat(6, at("b", 100.9)) + repeat(6, at("c", 103)), []string{"a", "b", "c"}, 1},
		{"not significant", noisy("a", 100, -5, -3, -1, 1, 3, 5) + noisy("b", 101, 1, -5, 5, -1, -3, 3) + noisy("c", 150, 3, 1, -5, 5, -1, -3), []string{"b", "a", "c"}, 1},
		{"too few samples to test", at("a", 100) + "\n" + at("b", 101) + "\n", []string{"a", "b"}, 0},
		{"equal", repeat(6, at("a", 100)) + repeat(6, at("b", 100)), []string{"a", "b"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDigest(fixture(t, []byte(tt.text)))
			s, ok := d.rank(d.tasks[0], d.tasks[0].cases[0].panel)
			if !ok {
				t.Fatal("nothing was ranked")
			}
			var got []string
			for _, c := range s.ranked {
				got = append(got, c.variant)
			}
			if !slices.Equal(got, tt.want) || s.ties != tt.ties {
				t.Errorf("ranked %q with %d ties, want %q with %d", got, s.ties, tt.want, tt.ties)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	var b strings.Builder
	line := func(variant, act, cols string, ns, nmse float64) {
		b.WriteString(repeat(6, fmt.Sprintf(
			"BenchmarkMatVec/format=f/variant=%s/act=%s/rows=16/cols=%s 1 %v ns/op 40 %%roof 32 packed-B %v nmse", variant, act, cols, ns, nmse)))
	}
	line("scalar", "f32", "16", 900, 0)
	line("scalar", "q8_128", "16", 800, 2e-5)
	line("avx2", "q8_128", "16", 100, 2e-5)
	line("vnni", "q8_row", "16", 50, 9e-5)
	line("avx2", "q8_128", "32", 100, 2e-5)
	line("vnni", "q8_row", "32", 200, 9e-5)
	line("avx2", "q8_128", "64", 100, 2e-5)
	line("vnni", "q8_row", "64", 110, 9e-5)

	s := kernelReport{newDigest(fixture(t, []byte(b.String())))}.matrices()[0].sections()[0]
	v := judge(s.subject, s.rankings())
	if v.winner != "avx2" || v.leads != 2 || v.rankings != 3 {
		t.Errorf("winner %s leads %d of %d", v.winner, v.leads, v.rankings)
	}
	// Of the two scalars, the one with the winner's activations; they met once, at 800 to 100.
	if v.baseline != "scalar q8_128" || math.Abs(v.speedup-8) > 1e-9 {
		t.Errorf("%v × %q, want 8 × scalar q8_128", v.speedup, v.baseline)
	}
	if want := (extent{32.0 / 1024, 32.0 / 256, true}); v.weight != want {
		t.Errorf("bytes per weight %+v, want %+v", v.weight, want)
	}
}

func TestFront(t *testing.T) {
	var drawn []tradePoint
	for _, q := range []struct {
		name         string
		speed, error float64
	}{
		{"slow, exact", 1, 1e-15}, {"slower, exact", 0.5, 1e-16}, {"fast, bad", 10, 1e-3}, {"fast, worse", 9, 1e-2},
		{"middle", 5, 1e-5}, {"middle's last bits", 4, 1e-5 * 0.999}, {"same speed, worse", 5, 1e-4},
	} {
		drawn = append(drawn, tradePoint{variant: q.name, speed: q.speed, error: q.error})
	}
	var got []string
	for _, q := range front(drawn) {
		got = append(got, q.variant)
	}
	if want := []string{"fast, bad", "middle", "slow, exact"}; !slices.Equal(got, want) {
		t.Errorf("front %q, want %q", got, want)
	}
}

func TestNaturalCompare(t *testing.T) {
	sorted := []string{"", "f16", "i2_s", "q1_0_g64", "q1_0_g128", "q2_0", "q16_0", "x01", "x1", "x1y"}
	for i, a := range sorted {
		for j, b := range sorted {
			got := naturalCompare(a, b)
			if (i < j) != (got < 0) || (i == j) != (got == 0) {
				t.Errorf("naturalCompare(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	ns := results.UnitOf(results.NsPerOp).Format
	tests := []struct {
		name   string
		axis   figure.Axis
		lo, hi float64
		want   []string
	}{
		{"decades", figure.Axis{Log: true, Labels: 4, Format: ns}, 5e4, 2e7, []string{"100 µs", "1 ms", "10 ms"}},
		{"within a decade", figure.Axis{Log: true, Labels: 4, Format: ns}, 1.5e4, 1.2e5, []string{"20 µs", "50 µs", "100 µs"}},
		{"many decades", figure.Axis{Log: true, Labels: 4, Format: results.UnitOf(results.NMSE).Format}, 1e-17, 1e-2,
			[]string{"1e-16", "1e-12", "1e-08", "0.0001"}},
		{"linear", figure.Axis{Labels: 5, Format: ns}, 0, 1000, []string{"0 ns", "200 ns", "400 ns", "600 ns", "800 ns", "1 µs"}},
		{"binary", figure.Axis{Labels: 4, Binary: true, Format: results.UnitOf(results.PackedBytes).Format}, 0, 18 << 20,
			[]string{"0 B", "5 MiB", "10 MiB", "15 MiB"}},
		{"less than two of a unit", figure.Axis{Labels: 4, Binary: true, Format: results.UnitOf(results.PackedBytes).Format}, 0, 1.6 * (1 << 20),
			[]string{"0 B", "512 KiB", "1 MiB", "1.5 MiB"}},
		{"a range that is none beside its values", figure.Axis{Labels: 5, Format: ns}, 1e18, 1e18 + 128, []string{"1e+09 s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, tick := range tt.axis.Ticks(tt.lo, tt.hi) {
				if tick.Value < tt.lo || tick.Value > tt.hi {
					t.Errorf("tick at %v, outside %v to %v", tick.Value, tt.lo, tt.hi)
				}
				if tick.Label != "" {
					got = append(got, tick.Label)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("labels %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPaletteIsReadable holds the series to a contrast of 3:1 with the paper (WCAG 2.1, 1.4.11) in
// both schemes, text colours to 4.5:1, and the light colours to being different.
func TestPaletteIsReadable(t *testing.T) {
	luminance := func(v uint32) float64 {
		part := func(c uint32) float64 {
			x := float64(c&0xFF) / 255
			if x <= 0.03928 {
				return x / 12.92
			}
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return 0.2126*part(v>>16) + 0.7152*part(v>>8) + 0.0722*part(v)
	}
	contrast := func(a, b uint32) float64 {
		x, y := luminance(a), luminance(b)
		return (max(x, y) + 0.05) / (min(x, y) + 0.05)
	}
	seen := make(map[uint32]figure.Role)
	for i, tone := range figure.Tones {
		if tone.Role != figure.Role(i) {
			t.Errorf("tone %d is of role %d", i, tone.Role)
		}
		if other, dup := seen[tone.Light]; dup {
			t.Errorf("roles %d and %d share the colour %06X", other, tone.Role, tone.Light)
		}
		seen[tone.Light] = tone.Role
		least := 0.0
		switch {
		case tone.Role >= figure.FirstSeries:
			least = 4.5 // names of points are written in them
		case tone.Role == figure.Ink, tone.Role == figure.Muted, tone.Role == figure.Front:
			least = 4.5
		}
		for _, c := range []float64{contrast(tone.Light, figure.Tones[figure.Paper].Light), contrast(tone.Dark, figure.Tones[figure.Paper].Dark)} {
			if c < least {
				t.Errorf("--%s: contrast %.2f, want %v", tone.Css, c, least)
			}
		}
	}
	marks := make(map[string]bool)
	for i := range figure.SeriesCount * len(figure.Shapes) {
		key := fmt.Sprint(figure.Series(i), figure.SeriesShape(i))
		if marks[key] {
			t.Errorf("series %d looks like an earlier one", i)
		}
		marks[key] = true
	}
}

func TestFileNames(t *testing.T) {
	tests := []struct {
		parts []string
		want  string
	}{
		{[]string{"latency", "MatVec", "q1_0_g128 6144×2048"}, "latency-matvec-q1_0_g128-6144x2048"},
		{[]string{"samples", "../../etc/passwd"}, "samples-------etc-passwd"},
		{[]string{"x", "<a b=\"c\">"}, "x--a-b--c--"},
	}
	for _, tt := range tests {
		if got := figure.FileName(tt.parts...); got != tt.want {
			t.Errorf("fileName(%q) = %q, want %q", tt.parts, got, tt.want)
		}
	}
	if got := figure.FileName(strings.Repeat("long", 100)); len(got) > 100 {
		t.Errorf("a file name of %d characters", len(got))
	}
}

// TestFiguresHaveTheirOwnFiles renders tasks whose names differ only in what file names can't hold.
func TestFiguresHaveTheirOwnFiles(t *testing.T) {
	text := "BenchmarkMatVec/format=a+b/variant=x/rows=2/cols=2 1 5 ns/op\n" +
		"BenchmarkMatVec/format=a*b/variant=x/rows=2/cols=2 1 5 ns/op\n"
	dir := t.TempDir()
	if err := Write(t.Context(), dir, fixture(t, []byte(text)), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "plots", "latency-*.png"))
	if err != nil || len(files) != 2 {
		t.Errorf("%d latency plots (%v), want 2: %q", len(files), err, files)
	}
}

func TestWriteErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), filepath.Join(file, "report"), &results.Set{}, WriteOptions{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("writing below a file: error %v does not name it", err)
	}
	broken := errors.New("no space left on device")
	for _, k := range Formats() {
		if err := k.Render(t.Context(), failingWriter{broken}, fixture(t, small().results())); !errors.Is(err, broken) {
			t.Errorf("%s: error %v, want the writer's", k.Name, err)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestSamplesCSV(t *testing.T) {
	const text = "BenchmarkB/k=v-2 7 100.5 ns/op 2 \"odd\",unit\n" +
		"BenchmarkAA/B/arm=a 3 1 ns/op\n" +
		"BenchmarkB/k=v-2 8 0.1 ns/op\n"
	const want = `benchmark,sample,iterations,unit,value
B/k=v,1,7,ns/op,100.5
B/k=v,1,7,"""odd"",unit",2
AA/B/arm=a,1,3,ns/op,1
B/k=v,2,8,ns/op,0.1
`
	var b bytes.Buffer
	if err := WriteSamplesCSV(&b, fixture(t, []byte(text))); err != nil {
		t.Fatal(err)
	}
	compareText(t, "samples", want, b.String())
}

package reports_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// TestFixturesUseRealNames holds the simulated runs to operations that engines have.
func TestFixturesUseRealNames(t *testing.T) {
	for _, s := range reportstest.Set(t, reportstest.SmallModels().Results()).Samples {
		if op := s.Name.Get(names.Op); op != "" && !slices.Contains(names.Operations, op) {
			t.Errorf("no engine has the operation %q", op)
		}
	}
}

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
			page := reportstest.RenderAll(t, tt.text)
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

	page := reportstest.RenderAll(t, text)
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

	res := reportstest.Set(t, []byte(text))
	for _, name := range []string{"table", "markdown"} {
		k, ok := render.Named(name)
		if !ok {
			t.Fatalf("no kind %q", name)
		}
		var b bytes.Buffer
		if err := reportstest.Print(t.Context(), &b, k.Name, res); err != nil {
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
	page := reportstest.RenderAll(t, string(reportstest.Small().Results()))
	for _, bad := range regexp.MustCompile(`(?i)(src|href|xlink:href|action)="[^#"][^"]*"|url\(|@import|https?://`).FindAllString(page, -1) {
		if bad != `href="data:,"` {
			t.Errorf("the page refers to %s", bad)
		}
	}
}

// TestFiguresHaveTheirOwnFiles renders tasks whose names differ only in what file names can't hold.
func TestFiguresHaveTheirOwnFiles(t *testing.T) {
	text := "BenchmarkMatVec/format=a+b/variant=x/rows=2/cols=2 1 5 ns/op\n" +
		"BenchmarkMatVec/format=a*b/variant=x/rows=2/cols=2 1 5 ns/op\n"
	dir := t.TempDir()
	if err := reportstest.Write(t.Context(), dir, render.FolderOptions{}, reportstest.Set(t, []byte(text))); err != nil {
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
	if err := reportstest.Write(t.Context(), filepath.Join(file, "report"), render.FolderOptions{}, &results.Set{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("writing below a file: error %v does not name it", err)
	}
	broken := errors.New("no space left on device")
	for _, k := range render.Printers() {
		if err := reportstest.Print(t.Context(), failingWriter{broken}, k.Name, reportstest.Set(t, reportstest.Small().Results())); !errors.Is(err, broken) {
			t.Errorf("%s: error %v, want the writer's", k.Name, err)
		}
	}
}

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
	if err := reportstest.Print(t.Context(), &b, "samples", reportstest.Set(t, []byte(text))); err != nil {
		t.Fatal(err)
	}
	reportstest.CompareText(t, "samples", want, b.String())
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

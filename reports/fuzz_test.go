package reports_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"onebit/bench/results"
	"onebit/reports/compare"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// FuzzRender renders whatever parses as results: no file may make a report panic or hang.
func FuzzRender(f *testing.F) {
	f.Add([]byte("BenchmarkMatVec/format=a/variant=x/rows=2/cols=3/threads=1/cache=warm 1 5 ns/op 1e-5 nmse 3 packed-B 7 peak-RSS-B\n" +
		"BenchmarkMatVec/format=a/variant=y/rows=2/cols=3/threads=1/cache=warm 1 6 ns/op 0 nmse 3 packed-B\n" +
		"BenchmarkRead/format=a/threads=1/cache=warm 1 5 ns/op 1e9 read-B/s\n"))
	f.Add([]byte("BenchmarkAA/x/arm=a 1 5 ns/op\nBenchmarkAA/x/arm=b 1 5 ns/op\nBenchmarkModel/variant=v/model=m 1 5 ns/op 3 tok/s 1 kld\n"))
	f.Add([]byte("BenchmarkB/variant=v 1 1e300 ns/op 1e-300 mac/s 1e308 %roof\nBenchmarkB/variant=w 1 1e-300 ns/op\n"))
	f.Add([]byte("BenchmarkModel/model=m/variant=v/packing=packed/test=tg128/depth=9/threads=1 1 5 ns/op 3 tok/s 50 %roof 9 peak-RSS-B 5 anon-B 4 file-B\n" +
		"BenchmarkModel/model=m/variant=v/packing=packed/test=tg128/threads=1 1 5 ns/op 3 tok/s 0 %roof\n" +
		"BenchmarkModel/model=m/variant=llama-bench/test=pp512/threads=2 1 5 ns/op 3 tok/s\n"))
	f.Add([]byte("BenchmarkModel/model=m/variant=v/test=tg128/depth=NaN/threads=1 1 5 ns/op 3 tok/s\n" +
		"BenchmarkModel/model=m/variant=v/test=tg128/depth=1e300/threads=1 1 5 ns/op 3 tok/s\n" +
		"BenchmarkModel/model=m/variant=v/test=tg128/threads=1 1 5 ns/op 3 tok/s\n"))
	f.Add([]byte("BenchmarkOp/model=m/variant=v/test=tg1/threads=1/block=0/op=q 1 5 ns/op 1e9 weight-B/s\nBenchmarkOp/variant=w/block=outside/op=q 1 0 ns/op\n" +
		"BenchmarkLockstep/model=m/variant=v/input=isolated/block=0/tensor=block 1 0 nmse 1 cosine\n" +
		"BenchmarkLockstep/model=m/variant=w/input=accumulated/block=x/tensor=attn_q 1 -1 nmse\n" +
		"BenchmarkLogits/model=m/variant=v/tokens=9 1 0 kld 1 top1 0 ppl 0 ref-ppl\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		res, err := results.Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		for _, k := range render.Printers() {
			if err := reportstest.Print(t.Context(), io.Discard, k.Name, res); err != nil {
				t.Errorf("%s: %v", k.Name, err)
			}
		}
	})
}

// FuzzCompare compares whatever parses with itself and with a fixed file.
func FuzzCompare(f *testing.F) {
	f.Add([]byte("goos: a\nBenchmarkA 1 5 ns/op 3 x\n\ngoos:\nBenchmarkB-2 1 0 ns/op -1 x\n"))
	f.Add([]byte("Unit x assume=exact\nBenchmarkA 1 1e308 ns/op 5 peak-RSS-B\nBenchmarkA 1 1e-308 ns/op 6 peak-RSS-B\n"))
	f.Add([]byte("# process 1\nBenchmarkA/threads=1 1 5 ns/op\n# process 2\nBenchmarkA/threads=1 1 6 ns/op\nBenchmarkC 1 6 ns/op\n"))
	dir := f.TempDir()
	fixed := filepath.Join(dir, "fixed.txt")
	if err := os.WriteFile(fixed, []byte("BenchmarkA 1 5 ns/op 3 x\nBenchmarkC 1 5 ns/op 3 x\n"), 0o666); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "fuzz.txt")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{path, fixed} {
			c, err := compare.Files(t.Context(), compare.Options{}, path, other)
			if err != nil {
				continue // that it does not parse, or that nothing is in both
			}
			if err := reportstest.PrintDoc(io.Discard, c.Document(false), "table", render.Options{Width: 80}); err != nil {
				t.Error(err)
			}
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
			if other == path && c.Slower+c.Faster > 0 {
				t.Errorf("a file against itself: %s", c.Verdict)
			}
		}
	})
}

package charts

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

// swept is a file with a kernel and a model on several numbers of threads: the first
// doubles up to four threads and gains nothing from eight.
func swept(t *testing.T, threads ...int) *digest.Digest {
	t.Helper()
	var b strings.Builder
	b.WriteString("goos: linux\n\nUnit ns/op better=lower\nUnit tok/s better=higher\n")
	for _, n := range threads {
		for _, cache := range []string{"warm", "cold"} {
			fmt.Fprintf(&b, "BenchmarkMatVec/format=i2_s/variant=avx2/act=q8_row/rows=640/cols=2560/threads=%d/cache=%s-2 100 %d ns/op\n", n, cache, 8000/min(n, 4))
		}
		fmt.Fprintf(&b, "BenchmarkModel/model=m/variant=avx2/packing=packed/test=tg128/threads=%d-2 1 %d ns/op %d tok/s\n", n, 1000000000/n, 128*n)
	}
	return digest.Of(reportstest.Set(t, []byte(b.String())))
}

func TestThreadsFigures(t *testing.T) {
	d := swept(t, 8, 1, 4, 2)
	for _, tc := range []struct {
		models  bool
		reading string
	}{
		{false, "avx2 with cold cache: 2 threads are 2.00 times as fast as 1 (100 % efficiency), 4 threads are 4.00 times as fast as 1 (100 % efficiency), " +
			"8 threads are 4.00 times as fast as 1 (50 % efficiency). Fastest with 4."},
		{true, "avx2 packed: 2 threads are 2.00 times as fast as 1 (100 % efficiency), 4 threads are 4.00 times as fast as 1 (100 % efficiency), " +
			"8 threads are 8.00 times as fast as 1 (100 % efficiency). Fastest with 8."},
	} {
		figures := Threads(d, tc.models)
		if len(figures) != 1 {
			t.Fatalf("models %t: %d figures, want 1", tc.models, len(figures))
		}
		if got := figures[0].Reading; got != tc.reading {
			t.Errorf("models %t:\n%s\nwant\n%s", tc.models, got, tc.reading)
		}
		var png bytes.Buffer
		if err := figures[0].WritePNG(&png); err != nil || png.Len() == 0 {
			t.Errorf("models %t: %d bytes, %v", tc.models, png.Len(), err)
		}
	}
	// Of two numbers of threads the tables say all.
	if got := Threads(swept(t, 1, 2), false); len(got) != 0 {
		t.Errorf("%d figures of two numbers of threads", len(got))
	}
}

// TestThreadsWithoutOne: what more threads are worth is said of the fewest there are.
func TestThreadsWithoutOne(t *testing.T) {
	d := swept(t, 2, 4, 8)
	s := sweeps(d.Families()[0].Tasks[0])[0]
	for i, want := range [][2]float64{{1, 1}, {2, 1}, {2, 0.5}} {
		if got := [2]float64{s.speedUp(i), s.efficiency(i)}; got != want {
			t.Errorf("point %d: %v, want %v", i, got, want)
		}
	}
}

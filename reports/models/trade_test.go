package models

import (
	"math"
	"slices"
	"testing"

	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

// TestErrorTradeOfModels: heads stand on one plot, a divergence has its interval, and a perplexity is no
// error.
func TestErrorTradeOfModels(t *testing.T) {
	const text = `BenchmarkModel/model=m/variant=v/act=q8_32/test=tg16/threads=1 1 5 ns/op 30 tok/s
BenchmarkModel/model=m+q8_0/variant=v/act=q8_32/test=tg16/threads=1 1 5 ns/op 40 tok/s
BenchmarkModel/model=n/variant=v/act=q8_32/test=tg16/threads=1 1 5 ns/op 50 tok/s
BenchmarkLogits/model=m/variant=v/act=q8_32/tokens=9 1 1e-4 kld 5e-5 kld-lo 3e-4 kld-hi 30 ppl
BenchmarkLogits/model=m+q8_0/variant=v/act=q8_32/tokens=9 1 2e-4 kld 1e-4 kld-lo 4e-4 kld-hi 30 ppl
BenchmarkLogits/model=n/variant=v/act=q8_32/tokens=9 1 1e33 ppl
`
	d := newReport(digest.Of(reportstest.Set(t, []byte(text))))
	groups := d.modelsWithHeads()
	if len(groups) != 2 || len(groups[0]) != 2 {
		t.Fatalf("groups %v", groups)
	}
	tr := d.errorTrade(groups[0])
	points := tr.Points[tr.Shown[0]]
	var texts []string
	for _, q := range points {
		texts = append(texts, q.Text)
	}
	if want := []string{"v, head q8_0", "v"}; !slices.Equal(texts, want) {
		t.Fatalf("points %q, want %q", texts, want)
	}
	if q := points[1]; q.Lo != 5e-5 || q.Hi != 3e-4 || math.Abs(q.Error-1e-4) > 1e-12 {
		t.Errorf("kld %v, %v to %v", q.Error, q.Lo, q.Hi)
	}
	if !tr.HasIntervals() {
		t.Error("the intervals are not explained")
	}
	if tr := d.errorTrade(groups[1]); len(tr.Shown) != 0 {
		t.Errorf("%s is drawn for a model of which only the perplexity is known", tr.Unit)
	}
}

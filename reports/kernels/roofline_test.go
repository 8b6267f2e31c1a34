package kernels

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

// TestRooflineAgreesWithTable: a point stands at its true intensity, and at that share of its roof which
// the tables give. Formats of one intensity were spread apart, so that some lay on a roof they did not
// reach.
func TestRooflineAgreesWithTable(t *testing.T) {
	d := report{digest.Of(reportstest.Set(t, reportstest.Small().Results()))}
	looked := 0
	for _, task := range d.Tasks {
		r := d.newRoofline(task.Shape, d.readRoofs())
		for _, p := range r.shown {
			for _, q := range r.points[p] {
				for _, c := range digest.In(p, task.Cases) {
					if q.format != task.Subject || q.variant != c.Variant {
						continue
					}
					looked++
					packed, _ := c.Center(results.PackedBytes)
					if want := task.Ops / packed; q.intensity != want && math.Abs(q.intensity/want-1) > 1e-12 {
						t.Errorf("%s: intensity %v, want %v", c.Name.Full, q.intensity, want)
					}
					share, _ := c.Center(results.PctRoof)
					if drawn := 100 * q.speed / (q.roof * q.intensity); math.Abs(drawn/share-1) > 1e-9 {
						t.Errorf("%s: drawn at %v %% of its roof, the tables say %v %%", c.Name.Full, drawn, share)
					}
				}
			}
		}
		f := d.rooflineFigure(task.Shape, d.readRoofs())
		for i, p := range r.shown {
			panel := f.Panels[i/2][i%2]
			for _, q := range r.points[p] {
				if top := q.roof * q.intensity * roofReach; top > panel.Y.Max || q.intensity*roofReach > panel.X.Max {
					t.Errorf("%s: the roof of %s leaves its panel", p, q.variant)
				}
			}
		}
	}
	if looked < 4 {
		t.Errorf("%d points were looked at", looked)
	}
}

// TestRooflineOwnRoof: each layout is held against the case that reads its own bytes, under its own
// condition.
func TestRooflineOwnRoof(t *testing.T) {
	var text strings.Builder
	for _, packed := range []int{1000, 2000} {
		for threads := 1; threads <= 2; threads++ {
			fmt.Fprintf(&text, "BenchmarkMatVec/format=f/variant=v%d/rows=100/cols=80/threads=%d 1 100 ns/op 50 %%roof %d packed-B\n", packed, threads, packed)
			fmt.Fprintf(&text, "BenchmarkRead/format=f/rows=100/cols=80/bytes=%d/threads=%d 1 100 ns/op %d read-B/s\n", packed, threads, packed*threads*1000)
		}
	}
	text.WriteString("BenchmarkMatVec/format=f/variant=slow/rows=100/cols=80/threads=1 1 100000 ns/op 0.1 %roof 1000 packed-B\n")
	d := report{digest.Of(reportstest.Set(t, []byte(text.String())))}
	r := d.newRoofline("100×80", d.readRoofs())
	for _, p := range r.shown {
		for _, q := range r.points[p] {
			want := 1000.0 * 1000
			if q.variant == "v2000" {
				want *= 2
			}
			if p.Threads == "2" {
				want *= 2
			}
			if q.roof != want {
				t.Errorf("%s %s: roof %v, want %v", p, q.variant, q.roof, want)
			}
		}
	}
	if notes := strings.Join(r.notes(), " "); !strings.Contains(notes, "20 times slower than the fastest: slow.") {
		t.Errorf("what is not drawn is not said: %q", notes)
	}
}

// TestAboveTheRoof explains a share above 100 % in the picture.
func TestAboveTheRoof(t *testing.T) {
	const line = "BenchmarkMatVec/format=f/variant=v/rows=2/cols=4/threads=1 1 5 ns/op %d %%roof 2 packed-B\nBenchmarkRead/format=f/rows=2/cols=4/bytes=2/threads=1 1 5 ns/op 1e9 read-B/s\n"
	for share, want := range map[int]bool{99: false, 130: true} {
		d := report{digest.Of(reportstest.Set(t, fmt.Appendf(nil, line, share)))}
		notes := strings.Join(d.rooflineFigure("2×4", d.readRoofs()).Notes, " ")
		if strings.Contains(notes, "More than 100 % of the roof") != want {
			t.Errorf("at %d %%: notes %q", share, notes)
		}
		if base := d.Cases[0].Name.Base; base != names.BaseMatVec {
			t.Fatalf("first case is %s", base)
		}
	}
}

package reports_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/reportstest"
)

// extremes are finite values that no measurement has.
var extremes = []string{"1e-200", "1e308", "5e-324", "1e-9", "1e25", "0"}

// extremeResults are results for every chart, in which one case of each kind has an extreme value in all
// of its units.
func extremeResults(v string) []byte {
	var b strings.Builder
	for i, value := range []string{"5", "7", v} {
		for _, threads := range []int{2, 4} {
			for range 2 {
				fmt.Fprintf(&b, "BenchmarkMatVec/format=f/variant=v%d/act=q8_row/rows=20/cols=30/threads=%d/cache=warm 1 %s ns/op %[3]s mac/s\n", i, threads, value)
				fmt.Fprintf(&b, "BenchmarkModel/model=m/variant=v%[1]d/act=q%[1]d/test=tg128/threads=%d 1 %s ns/op %[3]s tok/s\n", i, threads, value)
			}
		}
		for range 6 {
			fmt.Fprintf(&b, "BenchmarkMatVec/format=f/variant=v%d/act=q8_row/rows=20/cols=30/threads=1/cache=warm 1 %s ns/op %[2]s mac/s %[2]s %%roof %[2]s packed-B %[2]s peak-RSS-B %[2]s nmse %[2]s act-nmse\n", i, value)
			fmt.Fprintf(&b, "BenchmarkModel/model=m/variant=v%[1]d/act=q%[1]d/test=tg128/threads=1 1 %s ns/op %[2]s tok/s %[2]s %%roof %[2]s %%peak %[2]s peak-RSS-B %[2]s anon-B %[2]s file-B\n", i, value)
			fmt.Fprintf(&b, "BenchmarkModel/model=m/variant=v%[1]d/act=q%[1]d/test=tg128/depth=64/threads=1 1 %s ns/op %[2]s tok/s\n", i, value)
			fmt.Fprintf(&b, "BenchmarkModel/model=m/variant=v%[1]d/act=q%[1]d/test=pp512/threads=1 1 %s ns/op %[2]s tok/s %[2]s %%peak\n", i, value)
		}
		for block, tensor := range []string{"block", "attn_q"} {
			for range 2 {
				fmt.Fprintf(&b, "BenchmarkOp/model=m/variant=v%[1]d/act=q%[1]d/test=tg128/threads=1/block=%d/op=attn 1 %s ns/op %[3]s weight-B/s\n", i, block, value)
			}
			fmt.Fprintf(&b, "BenchmarkLockstep/model=m/variant=v%[1]d/act=q%[1]d/input=isolated/block=%d/tensor=%s 1 %s nmse 1 cosine\n", i, block, tensor, value)
			fmt.Fprintf(&b, "BenchmarkLockstep/model=m/variant=v%[1]d/act=q%[1]d/input=accumulated/block=%d/tensor=%s 1 %s nmse 1 cosine\n", i, block, tensor, value)
		}
		fmt.Fprintf(&b, "BenchmarkLogits/model=m/variant=v%[1]d/act=q%[1]d/tokens=9 1 %s kld\n", i, value)
	}
	fmt.Fprintf(&b, "BenchmarkRead/format=f/rows=20/cols=30/threads=1/cache=warm 1 5 ns/op %s read-B/s\n", v)
	return []byte(b.String())
}

// TestExtremes draws every chart with values that no measurement has. A mark far off the picture was
// rasterized cell by cell, for hours.
func TestExtremes(t *testing.T) {
	for _, v := range require.Draw(t, 2, extremes) {
		t.Run(v, func(t *testing.T) {
			if v != extremes[0] && testing.Short() {
				t.Skip("draws every picture once more")
			}
			res, err := results.Read(strings.NewReader(string(extremeResults(v))), "extremes")
			if err != nil {
				t.Fatal(err)
			}
			drawn := make(chan string)
			go func() {
				defer close(drawn)
				d := reportstest.DocOf(t, res)
				for _, chart := range []string{"depth", "error-depth", "error-speed", "latency", "memory", "ops", "roofline", "threads", "trade"} {
					if !slices.ContainsFunc(figuresBySection(d), func(f sectionFigures) bool { return f.id == chart && len(f.figures) > 0 }) {
						t.Errorf("no figure of %s", chart)
					}
				}
				for _, f := range d.Figures() {
					drawn <- f.Name
					reportstest.DrawCoarsely(f.Figure)
					if _, err := f.SVG(); err != nil {
						t.Error(err)
					}
				}
			}()
			for last := "the digest"; ; {
				select {
				case name, more := <-drawn:
					if !more {
						return
					}
					last = name
				case <-time.After(time.Minute):
					t.Fatalf("%s is not drawn after a minute", last)
				}
			}
		})
	}
}

// TestAbsurdAxisIsSaid: an axis that would have to hold values absurdly far apart is cut, or the value
// left out, and the picture says so. The chart of threads shows
// speed-ups, which are not far apart.
func TestAbsurdAxisIsSaid(t *testing.T) {
	for _, chart := range figuresBySection(reportstest.DocOf(t, reportstest.Set(t, extremeResults("1e308")))) {
		for _, f := range chart.figures {
			notes := strings.Join(f.Remarks(), " ")
			said := slices.ContainsFunc([]string{"was cut before", "times as long as the fastest", "Not drawn", "Too slow"}, func(s string) bool { return strings.Contains(notes, s) })
			if !said && !strings.HasPrefix(chart.id, "threads") {
				t.Errorf("%s: nothing is said of what is not drawn", f.Name)
			}
		}
	}
}

// sectionFigures are those of a chart.
type sectionFigures struct {
	id      string
	figures []*doc.Figure
}

// figuresBySection are the figures of a document by the section that they stand in.
func figuresBySection(d *doc.Document) (all []sectionFigures) {
	for p := range d.All() {
		switch p := p.(type) {
		case *doc.Section:
			all = append(all, sectionFigures{id: p.ID})
		case *doc.Figure:
			if len(all) > 0 { // behind the first screen
				last := &all[len(all)-1]
				last.figures = append(last.figures, p)
			}
		}
	}
	return all
}

// FuzzFigures draws a figure of each chart of whatever parses as results. An input
// is short, and its figures are few, so that there are thousands in a minute.
func FuzzFigures(f *testing.F) {
	const mostText, mostFigures = 4 << 10, 1
	seen := make(map[string]bool)
	for line := range strings.Lines(string(extremeResults("1e308"))) {
		if base, _, _ := strings.Cut(line, "/"); !seen[base] {
			seen[base] = true
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > mostText {
			return
		}
		res, err := results.Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		d, err := reports.Build(t.Context(), &reports.Source{Paths: []string{"fuzz"}, Machines: []*results.Set{res}})
		if err != nil {
			return // of a kind that a file alone does not make
		}
		for _, chart := range figuresBySection(d) {
			for _, f := range chart.figures[:min(len(chart.figures), mostFigures)] {
				reportstest.DrawCoarsely(f.Figure)
			}
		}
	})
}

var textPlace = regexp.MustCompile(`<text x="([^"]*)" y="[^"]*" textLength="([^"]*)"[^>]*>([^<]*)`)

// TestTextsStayInside: no label, whatever the font, leaves its picture at either side.
func TestTextsStayInside(t *testing.T) {
	for name, found := range map[string][]byte{"kernels": reportstest.Small().Results(), "models": reportstest.SmallModels().Results(), "extremes": extremeResults("1e308")} {
		looked := 0
		for _, f := range reportstest.DocOf(t, reportstest.Set(t, found)).Figures() {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range textPlace.FindAllStringSubmatch(svg, -1) {
				x, err := strconv.ParseFloat(m[1], 64)
				length, err2 := strconv.ParseFloat(m[2], 64)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				looked++
				if rotated := strings.Contains(strings.Join(f.Upward, "\n"), m[3]); !rotated && (x < 0 || x+length > figure.Width) {
					t.Errorf("%s, %s: %q from %.0f to %.0f", name, f.Name, m[3], x, x+length)
				}
			}
		}
		if looked < 90 {
			t.Errorf("%s: %d texts were looked at", name, looked)
		}
	}
}

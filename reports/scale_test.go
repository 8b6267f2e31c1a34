package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/doc"
)

// BenchmarkReport renders 100,000 samples: of few cases, and of many.
func BenchmarkReport(b *testing.B) {
	for _, bb := range []struct {
		name           string
		shapes, rounds int
	}{{"cases=80", 1, 1250}, {"cases=10000", 125, 10}} {
		b.Run(bb.name, func(b *testing.B) {
			text := manySamples(bb.shapes, bb.rounds)
			b.ReportAllocs()
			for b.Loop() {
				res, err := results.Read(bytes.NewReader(text), "results")
				if err != nil {
					b.Fatal(err)
				}
				if err := Write(b.Context(), b.TempDir(), res, WriteOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// manySamples are those of 80 cases in each of some shapes.
func manySamples(shapes, rounds int) []byte {
	var text bytes.Buffer
	text.WriteString("classes: threads cache\n\n")
	for round := range rounds {
		if round%5 == 0 {
			fmt.Fprintf(&text, "# process %d\n", round/5+1)
		}
		for shape := range shapes {
			for i := range 80 {
				threads, cache := i/2%2+1, []string{"warm", "cold"}[i%2]
				ns := float64(100*(shape+1)*(i+5)/threads) * (1 + float64(round*7919%100)/1000)
				fmt.Fprintf(&text, "BenchmarkMatVec/format=f%d/variant=v%d/act=q8_32/rows=%d/cols=64/threads=%d/cache=%s 1 %g ns/op %g mac/s %d packed-B 1e-5 nmse 1e-5 act-nmse\n",
					i/40, i/4%10, 64*(shape+1), threads, cache, ns, 64*64*float64(shape+1)/ns*1e9, 1024*(shape+1))
			}
		}
	}
	return text.Bytes()
}

// TestManySamplesMakeASmallPage: a page of hundreds of samples of a case has no stroke for each, and one of many
// shapes has neither all figures nor all rows.
func TestManySamplesMakeASmallPage(t *testing.T) {
	require.Unplayed(t, "a page is the same wherever it is written")
	for _, tt := range require.Draw(t, 2, []struct{ shapes, rounds, most int }{{1, 400, 600_000}, {40, 1, 1_200_000}}) {
		res, err := results.Read(bytes.NewReader(manySamples(tt.shapes, tt.rounds)), "results")
		if err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := WriteHTML(t.Context(), &page, res); err != nil {
			t.Fatal(err)
		}
		if page.Len() > tt.most {
			t.Errorf("%d shapes, %d rounds: a page of %d bytes, want at most %d", tt.shapes, tt.rounds, page.Len(), tt.most)
		}
		rows := make(map[string]int) // by what a table's name begins with
		for p := range docOf(t, res).All() {
			if table, ok := p.(*doc.Table); ok && table.Only.In(doc.Page) {
				kind, _, _ := strings.Cut(table.ID, "-")
				rows[kind] += len(table.Rows)
			}
		}
		if want := min(80*tt.shapes, maxRows); rows["cases"] != want || rows["rankings"] > mostRankings || rows["rankings"] == 0 {
			t.Errorf("%d shapes: rows %v, want %d of cases and %d of rankings at most", tt.shapes, rows, want, mostRankings)
		}
	}
}

// TestDefaultRunMakesASmallPage: a page of a default run stays under a megabyte. The recordings are cut to three
// formats of eleven and few of their values, so each format stands for four, and rates and errors are made up.
func TestDefaultRunMakesASmallPage(t *testing.T) {
	require.Unplayed(t, "a page is the same wherever it is written")
	const most, weights = 1_000_000, 1 << 22
	run := recordings(t, "default")[0]
	recorded := run.Samples
	run.Samples = nil
	for _, format := range []string{"", "a_", "b_", "c_"} {
		for _, s := range recorded {
			s.Name = results.ParseName(strings.Replace(s.Name.Full, "/format=", "/format="+format, 1))
			ns, _ := s.Value(results.NsPerOp)
			s.Values = slices.Concat(s.Values, []results.Metric{
				{Unit: results.WeightRate, Value: weights / 4 / ns * 1e9}, {Unit: results.OpRate, Value: weights / ns * 1e9},
				{Unit: results.PctRoof, Value: 1e6 / ns}, {Unit: results.PackedBytes, Value: weights / 4},
				{Unit: results.PackTime, Value: 3 * ns}, {Unit: results.NMSE, Value: 6.1e-5}, {Unit: results.KernelNMSE, Value: 3.7e-15},
				{Unit: results.ActNMSE, Value: 6.1e-5}, {Unit: results.MaxAbsErr, Value: 0.023}, {Unit: results.AllocBytes}, {Unit: results.Allocs},
			})
			run.Samples = append(run.Samples, s)
		}
	}
	var page strings.Builder
	if err := WriteHTML(t.Context(), &page, run); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(page.String(), "<tr"); rows < 700 {
		t.Errorf("%d rows, fewer than a default run has", rows)
	}
	if page.Len() > most {
		t.Errorf("a page of %d bytes, want at most %d", page.Len(), most)
	}
}

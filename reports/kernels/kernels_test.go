package kernels

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/render"
	"onebit/reports/reportstest"
	"onebit/reports/words"
)

// TestManySamplesMakeASmallPage: a page of hundreds of samples of a case has no stroke for each, and one of many
// shapes has neither all figures nor all rows.
func TestManySamplesMakeASmallPage(t *testing.T) {
	require.Unplayed(t, "a page is the same wherever it is written")
	for _, tt := range require.Draw(t, 2, []struct{ shapes, rounds, most int }{{1, 400, 600_000}, {40, 1, 1_200_000}}) {
		res, err := results.Read(bytes.NewReader(reportstest.ManySamples(tt.shapes, tt.rounds)), "results")
		if err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := reportstest.Print(t.Context(), &page, "html", res); err != nil {
			t.Fatal(err)
		}
		if page.Len() > tt.most {
			t.Errorf("%d shapes, %d rounds: a page of %d bytes, want at most %d", tt.shapes, tt.rounds, page.Len(), tt.most)
		}
		rows := make(map[string]int) // by what a table's name begins with
		for p := range reportstest.DocOf(t, res).All() {
			if table, ok := p.(*doc.Table); ok && table.Only.In(doc.Page) {
				kind, _, _ := strings.Cut(table.ID, "-")
				rows[kind] += len(table.Rows)
			}
		}
		if want := min(80*tt.shapes, digest.MaxRows); rows["cases"] != want || rows["rankings"] > mostRankings || rows["rankings"] == 0 {
			t.Errorf("%d shapes: rows %v, want %d of cases and %d of rankings at most", tt.shapes, rows, want, mostRankings)
		}
	}
}

// TestLargeResultsHaveASmallPage renders more cases and figures than a page should hold.
func TestLargeResultsHaveASmallPage(t *testing.T) {
	var text strings.Builder
	for format := range 40 {
		for rows := range 100 {
			name := "format=f" + words.Exact(float64(format)) + "/variant=x/rows=" + words.Exact(float64(rows+1)) + "/cols=2"
			text.WriteString("BenchmarkMatVec/" + name + " 1 5 ns/op\n")
		}
	}
	var page bytes.Buffer
	res := reportstest.Set(t, []byte(text.String()))
	d := &doc.Document{}
	d.Add(caseSections(digest.Of(res))...)
	d.Add(charts.Chart[report]{Name: "latency", Heading: "Latency", About: "About."}.Section(slices.Repeat([]*figure.Figure{{Height: 100, Panels: [][]*figure.Panel{{nil}}}}, 28), nil))
	if err := reportstest.PrintDoc(&page, d, "html", render.Options{}); err != nil {
		t.Fatal(err)
	}
	if rows, heads := strings.Count(page.String(), "<tr"), strings.Count(page.String(), "<thead>"); heads != 1 || rows-heads != digest.MaxRows {
		t.Errorf("%d rows below %d heads in a page that should hold the rows of %d cases", rows-heads, heads, digest.MaxRows)
	}
	if n := strings.Count(page.String(), "<figure>"); n != charts.MaxFigures {
		t.Errorf("%d figures, want %d", n, charts.MaxFigures)
	}
	for _, want := range []string{"4000 cases", "the first 1000", "--format csv", "The first 12 of 28 figures"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

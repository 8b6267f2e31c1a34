package reports_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// BenchmarkReport renders 100,000 samples: of few cases, and of many.
func BenchmarkReport(b *testing.B) {
	for _, bb := range []struct {
		name           string
		shapes, rounds int
	}{{"cases=80", 1, 1250}, {"cases=10000", 125, 10}} {
		b.Run(bb.name, func(b *testing.B) {
			text := reportstest.ManySamples(bb.shapes, bb.rounds)
			b.ReportAllocs()
			for b.Loop() {
				res, err := results.Read(bytes.NewReader(text), "results")
				if err != nil {
					b.Fatal(err)
				}
				if err := reportstest.Write(b.Context(), b.TempDir(), render.FolderOptions{}, res); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestDefaultRunMakesASmallPage: a page of a default run stays under a megabyte. The recordings are cut to three
// formats of eleven and few of their values, so each format stands for four, and rates and errors are made up.
func TestDefaultRunMakesASmallPage(t *testing.T) {
	require.Unplayed(t, "a page is the same wherever it is written")
	const most, weights = 1_000_000, 1 << 22
	run := reportstest.Recordings(t, "default")[0]
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
	if err := reportstest.Print(t.Context(), &page, "html", run); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(page.String(), "<tr"); rows < 700 {
		t.Errorf("%d rows, fewer than a default run has", rows)
	}
	if page.Len() > most {
		t.Errorf("a page of %d bytes, want at most %d", page.Len(), most)
	}
}

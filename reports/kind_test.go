package reports_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/reports"
	_ "onebit/reports/all"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// A new kind is what this function registers: every printer prints it then.
func init() {
	reports.Register(reports.Kind{
		Name:      "tides",
		Recognise: func(s *reports.Source) bool { return s.Kind() == "tides" },
		Build: func(_ context.Context, s *reports.Source) (*doc.Document, error) {
			d := &doc.Document{Title: "Tides", First: []doc.First{{Verdict: "the tide is high", Table: doc.NewTable("tides", "Tides", "", s.Machines[0].Samples, []doc.Field[results.Sample]{
				{Label: "place", Text: true, Cell: func(x results.Sample) doc.Cell { return doc.Cell{Text: x.Name.Full} }},
			})}}}
			digest.AddRecords(d, []*digest.Member{{Digest: digest.Of(s.Machines[0])}})
			return d, nil
		},
	})
}

func TestNewKind(t *testing.T) {
	res := reportstest.Set(t, []byte("report: tides\nBenchmarkTide/place=Brest 1 7 m\n"))
	for _, form := range []string{"table", "html", "markdown", "csv", "json", "samples"} {
		var b bytes.Buffer
		reportstest.PrintMade(t, &b, form, render.Options{}, res)
		if !strings.Contains(b.String(), "Tide/place=Brest") {
			t.Errorf("%s lacks the place:\n%s", form, &b)
		}
	}
}

// One kind alone recognises any results: the order in which files register theirs decides nothing.
func TestOneKindRecognises(t *testing.T) {
	bench, model := reportstest.Set(t, reportstest.Small().Results()), reportstest.Set(t, reportstest.SmallModels().Results())
	for want, s := range map[string]*reports.Source{
		"kernels": reportstest.Made(bench), "models": reportstest.Made(model), "fleet": reportstest.Made(bench, model), "machine": reportstest.Made(reportstest.MachineFile(t, 2, 1)),
		"profile":  reportstest.Made(reportstest.Set(t, []byte("report: profile\nBenchmarkOp/model=m 1 1 ns/op\n"))),
		"kernel":   reportstest.Made(reportstest.Set(t, []byte("report: kernel\nBenchmarkKernel/level=l2 1 1 ns/op\n"))),
		"history":  reportstest.Made(reportstest.Set(t, []byte("report: history\n"))),
		"compare":  reportstest.Made(reportstest.Set(t, []byte("report: compare\n"))),
		"training": reportstest.Made(trainingFixture()),
		"tides":    reportstest.Made(reportstest.Set(t, []byte("report: tides\n"))),
	} {
		var got []string
		for _, k := range reports.Kinds() {
			if k.Recognise(s) {
				got = append(got, k.Name)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%v recognise the results of %s", got, want)
		}
	}
}

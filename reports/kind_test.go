package reports

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/render"
)

// A new kind is what this function registers: every printer prints it then.
func init() {
	RegisterKind(Kind{
		Name:      "tides",
		Recognise: func(s *Source) bool { return s.kind() == "tides" },
		Build: func(_ context.Context, s *Source) (*doc.Document, error) {
			d := &doc.Document{Title: "Tides", First: []doc.First{{Verdict: "the tide is high", Table: doc.NewTable("tides", "Tides", "", s.Machines[0].Samples, []doc.Field[results.Sample]{
				{Label: "place", Text: true, Cell: func(x results.Sample) doc.Cell { return doc.Cell{Text: x.Name.Full} }},
			})}}}
			addRecords(d, []*member{{digest: newDigest(s.Machines[0])}})
			return d, nil
		},
	})
}

func TestNewKind(t *testing.T) {
	res := fixture(t, []byte("report: tides\nBenchmarkTide/place=Brest 1 7 m\n"))
	for _, form := range []string{"table", "html", "markdown", "csv", "json", "samples"} {
		var b bytes.Buffer
		printMade(t, &b, form, render.Options{}, res)
		if !strings.Contains(b.String(), "Tide/place=Brest") {
			t.Errorf("%s lacks the place:\n%s", form, &b)
		}
	}
}

// One kind alone recognises any results: the order in which files register theirs decides nothing.
func TestOneKindRecognises(t *testing.T) {
	bench, model := fixture(t, small().results()), fixture(t, smallModels().results())
	for want, s := range map[string]*Source{
		"kernels": made(bench), "models": made(model), "fleet": made(bench, model), "machine": made(machineFile(t, 2, 1)),
		"profile":  made(fixture(t, []byte("report: profile\nBenchmarkOp/model=m 1 1 ns/op\n"))),
		"kernel":   made(fixture(t, []byte("report: kernel\nBenchmarkKernel/level=l2 1 1 ns/op\n"))),
		"history":  made(fixture(t, []byte("report: history\n"))),
		"compare":  made(fixture(t, []byte("report: compare\n"))),
		"training": made(trainingFixture()),
		"tides":    made(fixture(t, []byte("report: tides\n"))),
	} {
		var got []string
		for _, k := range Kinds() {
			if k.Recognise(s) {
				got = append(got, k.Name)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%v recognise the results of %s", got, want)
		}
	}
}

package gate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// A gateCase is a benchmark with noise and a change that are known.
type gateCase struct {
	gate.Benchmark
	ratio  float64 // head's time over base's
	noise  float64 // standard deviation of the logarithm
	allocs float64 // of head; base has 2
}

// measure is what a process of a side finds.
func (c gateCase) measure(s gate.Side, rng *rand.Rand, at time.Duration) []results.Metric {
	ns := 1e4 * math.Exp(c.noise*rng.NormFloat64()+0.01*math.Sin(at.Seconds()/20))
	allocs := 2.0
	if s == gate.Head {
		ns, allocs = ns*c.ratio, c.allocs
	}
	if rng.Float64() < 0.03 {
		ns *= 2
	}
	// Whole numbers are the same on every machine.
	return []results.Metric{{Unit: results.NsPerOp, Value: math.Round(ns)}, {Unit: results.Allocs, Value: allocs}, {Unit: "hits", Value: 7}}
}

// gateResults writes the file of a gate of so many rounds, and reads it back.
func gateResults(t testing.TB, cases []gateCase, rounds int, profiles ...gate.Profile) *gate.Results {
	t.Helper()
	var file bytes.Buffer
	settings := []results.Setting{
		{Key: "goos", Value: "linux"}, {Key: "cpu", Value: "Example CPU <4 cores>"}, {Key: "module", Value: "example.com/module"},
		{Key: "base", Value: "v1.0.0"}, {Key: "head", Value: "1a2b3c4"}, {Key: "command", Value: "onebit gate --base v1.0.0"},
		{Key: "layouts", Value: "another for each side of each round"},
	}
	better := func(unit string) int { return results.UnitOf(unit).Better }
	r, rng, at := gate.NewRecorder(&file, settings, better), rand.New(rand.NewPCG(1, 2)), time.Duration(0)
	for round := range rounds {
		at += time.Second // of linking
		for _, c := range cases {
			for position, side := range []gate.Side{gate.Head, gate.Base, gate.Control, gate.Control, gate.Base, gate.Head} {
				m := gate.Measurement{Benchmark: c.Benchmark, Side: side, Round: round, Position: position, N: 5000, Start: at, Took: 80 * time.Millisecond}
				m.Values = c.measure(side, rng, at)
				at += m.Took
				r.Record(m)
			}
		}
	}
	report := &gate.Report{
		Rounds: rounds, Needed: 14, Elapsed: at,
		Options: gate.Options{Threshold: 0.03, Alarm: 0.01, Budget: 5 * time.Minute, Seed: 7, Better: better},
		LeftOut: []gate.LeftOut{{Benchmark: gate.Benchmark{Package: "example.com/module/net", Name: "Dial"}, Reason: "needs a network"}},
	}
	if err := r.Finish(report, profiles); err != nil {
		t.Fatal(err)
	}
	res, err := gate.ReadResults(&file, "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	res.Folder = "gate of main"
	return res
}

// smallGate has each verdict, in packages that share a name, and a profile.
func smallGate(t testing.TB) *gate.Results {
	const codec, hash = "example.com/module/codec", "example.com/module/hash"
	decode := gate.Benchmark{Package: codec, Name: "Decode/size=1000000/kind=nested|objects"}
	return gateResults(t, []gateCase{
		{decode, 1.3, 0.01, 2},
		{gate.Benchmark{Package: codec, Name: "Encode"}, 0.8, 0.01, 2},
		{gate.Benchmark{Package: codec, Name: "Sum"}, 1, 0.01, 3},
		{gate.Benchmark{Package: hash, Name: "Sum"}, 1.001, 0.01, 2},
		{gate.Benchmark{Package: hash, Name: "Close"}, 1.031, 0.1, 2},
	}, 16, gate.Profile{
		Benchmark: decode, Base: 10000, Head: 13000, Samples: [2]int{310, 402},
		Files: [2]string{"Decode.base.pprof", "Decode.head.pprof"},
		Functions: []gate.FunctionChange{
			{Name: codec + ".(*decoder).skip", HeadFlat: 2800, HeadCum: 2900, Error: 400},
			{Name: "runtime.mallocgc", BaseFlat: 3000, HeadFlat: 3300, BaseCum: 3500, HeadCum: 3900, Error: 500},
		},
		Others: gate.FunctionChange{Name: "all others", BaseFlat: 7000, HeadFlat: 6900, Error: 600},
	})
}

func TestGateGolden(t *testing.T) {
	res := smallGate(t)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"golden-gate.html":   func(b *bytes.Buffer) error { return writeBody(b, res) },
		"golden-gate.md":     func(b *bytes.Buffer) error { return WriteGateMarkdown(b, res, 1<<20) },
		"golden-gate.txt":    func(b *bytes.Buffer) error { return WriteGateTable(b, res, 0) },
		"golden-gate-80.txt": func(b *bytes.Buffer) error { return WriteGateTable(b, res, 80) },
		"golden-gate-60.txt": func(b *bytes.Buffer) error { return WriteGateTable(b, res, 60) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		reportstest.CheckGolden(t, name, b.Bytes())
	}
}

// writeBody writes a page without the style and script that all pages share.
func writeBody(b *bytes.Buffer, res *gate.Results) error {
	var page bytes.Buffer
	err := WriteGateHTML(&page, res)
	_, body, _ := strings.Cut(page.String(), "</head>")
	body, _, _ = strings.Cut(body, "<script>")
	b.WriteString(body)
	return err
}

// No line of a table is wider than the terminal, whatever the names.
func TestGateTableFits(t *testing.T) {
	res := smallGate(t)
	for _, width := range []int{40, 60, 80, 120} {
		var b bytes.Buffer
		if err := WriteGateTable(&b, res, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > width && !strings.HasPrefix(line, "go tool") {
				t.Errorf("at %d, %d columns: %s", width, n, line)
			}
		}
		if width >= 60 && !strings.Contains(b.String(), "Decode/") || !strings.Contains(b.String(), "objects") {
			t.Errorf("at %d, the name's ends are lost:\n%s", width, b.String())
		}
	}
}

// GitHub refuses a summary of more than 1 MiB: what has no room is counted.
func TestGateMarkdownIsLimited(t *testing.T) {
	res := smallGate(t)
	for range 12 {
		res.Report.Findings = append(res.Report.Findings, res.Report.Findings...)
	}
	var b bytes.Buffer
	if err := WriteGateMarkdown(&b, res, 100_000); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 100_000 || b.Len() < 80_000 || !strings.Contains(b.String(), "rows more: this report is full.") || !strings.Contains(b.String(), "go tool pprof") {
		t.Errorf("%d bytes", b.Len())
	}
}

// Names come from a module that nobody here wrote.
func TestGateEscapesNames(t *testing.T) {
	const evil = "X/<script>alert(1)</script>\"'&\x1b[31m\u202e"
	res := smallGate(t)
	for i := range res.Report.Findings {
		res.Report.Findings[i].Name = evil
	}
	for i := range res.Measurements {
		res.Measurements[i].Name = evil
	}
	res.Profiles[0].Name, res.Profiles[0].Functions[0].Name = evil, evil
	res.Report.LeftOut[0].Name, res.Report.LeftOut[0].Reason = evil, evil
	var page, table, markdown bytes.Buffer
	for _, err := range []error{WriteGateHTML(&page, res), WriteGateTable(&table, res, 80), WriteGateMarkdown(&markdown, res, 1<<20)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"page": page.String(), "table": table.String(), "markdown": regexp.MustCompile("`[^`\n]*`").ReplaceAllString(markdown.String(), "")} {
		if strings.ContainsAny(text, "\x1b\u202e") || name != "table" && strings.Contains(text, "<script>alert") {
			t.Errorf("the %s has a hostile name as it is", name)
		}
	}
}

// A page of 500 benchmarks, or by default of 60, stays one that a browser opens at once.
func TestGatePageIsBounded(t *testing.T) {
	var cases []gateCase
	many := 60
	if require.All() {
		many = 500
	}
	for i := range many {
		cases = append(cases, gateCase{gate.Benchmark{Package: "example.com/module", Name: fmt.Sprintf("Case%d/size=%d", i, i)}, 1.02, 0.1, 2})
	}
	res := gateResults(t, cases, 60)
	var b bytes.Buffer
	if err := WriteGateHTML(&b, res); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 1<<20 {
		t.Errorf("%d bytes of a page", b.Len())
	}
}

// A gate that was stopped has a page too, which is no pass.
func TestGateStopped(t *testing.T) {
	res := smallGate(t)
	var file bytes.Buffer
	r := gate.NewRecorder(&file, res.Settings, func(unit string) int { return results.UnitOf(unit).Better })
	for _, m := range res.Measurements[:100] {
		r.Record(m)
	}
	stopped, err := gate.ReadResults(&file, "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteGateHTML(&b, stopped); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Exit status 2: the gate did not come to its end") || !strings.Contains(b.String(), `<svg role="img"`) {
		t.Error("the page of a stopped gate says nothing of that, or has no pictures")
	}
}

// A file may hold a profile of what it has no values of: that is said, and nothing drawn.
func TestGateProfileWithoutValues(t *testing.T) {
	for _, lost := range []string{"both sides", "head"} {
		res := smallGate(t)
		f := &res.Report.Findings[slices.IndexFunc(res.Report.Findings, func(f gate.Finding) bool { return f.Unit == results.NsPerOp && f.Verdict == gate.Slower })]
		if f.Head = nil; lost != "head" {
			f.Base, f.Control = nil, nil
		}
		res.Measurements = nil
		var page bytes.Buffer
		if err := WriteGateHTML(&page, res); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), "no value instead of") || !strings.Contains(page.String(), "decoder).skip") {
			t.Errorf("without values of %s the page lacks the finding or its profile", lost)
		}
	}
}

// The names of files are others' too, and may end a span of code.
func TestGateMarkdownEscapesFiles(t *testing.T) {
	res := smallGate(t)
	res.Profiles[0].Files[gate.Head] = "x.pprof` <img src=x>\x1b[31m`"
	var b bytes.Buffer
	if err := WriteGateMarkdown(&b, res, 1<<20); err != nil {
		t.Fatal(err)
	}
	if text := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(b.String(), ""); strings.Contains(text, "<img") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("a file's name is markup:\n%s", b.String())
	}
}

func WriteGateHTML(w io.Writer, res *gate.Results) error {
	return reportstest.PrintDoc(w, Document(res), "html", render.Options{})
}

func WriteGateTable(w io.Writer, res *gate.Results, width int) error {
	return reportstest.PrintDoc(w, Document(res), "table", render.Options{Width: width})
}

func WriteGateMarkdown(w io.Writer, res *gate.Results, limit int) error {
	return reportstest.PrintDoc(w, Document(res), "markdown", render.Options{Limit: limit})
}

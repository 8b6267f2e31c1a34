package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// A report is what every form of a gate's report shows.
type report struct {
	*gate.Report
	results  *gate.Results
	packages bool   // a name stands in several packages
	prefix   string // of all packages then
	raw      map[gate.Benchmark][]gate.Measurement
}

func newReport(res *gate.Results) *report {
	res = harmlessGate(res)
	g := &report{Report: res.Report, results: res, raw: map[gate.Benchmark][]gate.Measurement{}}
	in := map[string]string{}
	for _, f := range g.Findings {
		if pkg, seen := in[f.Name]; seen && pkg != f.Package {
			g.packages = true
		}
		in[f.Name] = f.Package
	}
	if g.packages {
		g.prefix = words.CommonFolder(slices.Collect(maps.Values(in)))
	}
	for _, m := range res.Measurements {
		b := harmlessBenchmark(m.Benchmark)
		g.raw[b] = append(g.raw[b], m)
	}
	return g
}

// harmlessGate is a copy in which nothing that others wrote commands a terminal or hides on a page.
func harmlessGate(res *gate.Results) *gate.Results {
	texts := func(list []string) []string { return words.Mapped(list, term.Text) }
	copied, report := *res, *res.Report
	report.Findings, report.LeftOut = slices.Clone(report.Findings), slices.Clone(report.LeftOut)
	for i := range report.Findings {
		f := &report.Findings[i]
		f.Benchmark, f.Unit = harmlessBenchmark(f.Benchmark), term.Text(f.Unit)
	}
	for i, l := range report.LeftOut {
		report.LeftOut[i] = gate.LeftOut{Benchmark: harmlessBenchmark(l.Benchmark), Reason: term.Text(l.Reason)}
	}
	report.Alarms, report.Changes, report.Unfinished = texts(report.Alarms), texts(report.Changes), term.Text(report.Unfinished)
	copied.Report, copied.Profiles, copied.Warnings = &report, slices.Clone(res.Profiles), texts(res.Warnings)
	for i := range copied.Profiles {
		p := &copied.Profiles[i]
		p.Benchmark, p.Functions = harmlessBenchmark(p.Benchmark), slices.Clone(p.Functions)
		p.Files = [2]string{term.Text(p.Files[gate.Base]), term.Text(p.Files[gate.Head])}
		for k := range p.Functions {
			p.Functions[k].Name = term.Text(p.Functions[k].Name)
		}
	}
	return &copied
}

func harmlessBenchmark(b gate.Benchmark) gate.Benchmark {
	return gate.Benchmark{Package: term.Text(b.Package), Name: term.Text(b.Name)}
}

// sorted are the findings that keep passes, the worst first.
func (g *report) sorted(keep func(gate.Finding) bool) []gate.Finding {
	list := slices.DeleteFunc(slices.Clone(g.Findings), func(f gate.Finding) bool { return !keep(f) })
	slices.SortStableFunc(list, gate.Severity)
	return list
}

// notable are the findings that a short report lists: times, and whatever else is not the same.
func (g *report) notable() []gate.Finding {
	return g.sorted(func(f gate.Finding) bool {
		return f.Unit == results.NsPerOp || f.Judged() && f.Verdict != gate.Same
	})
}

// fields are the columns of a table of findings.
func (g *report) fields() []doc.Field[gate.Finding] {
	side := func(s gate.Side) func(gate.Finding) doc.Cell {
		return func(f gate.Finding) doc.Cell { return doc.Cell{Text: gateValue(f, s)} }
	}
	return []doc.Field[gate.Finding]{
		{Label: "verdict", Text: true, Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: gateVerdict(f)} }},
		{Label: "benchmark", Text: true, Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: f.Name} }},
		{Label: "package", Text: true, Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: g.packageOf(f.Benchmark)} }},
		{Label: "unit", Text: true, Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: f.Unit} }},
		{Label: "base", Drop: 3, Cell: side(gate.Base)},
		{Label: "head", Drop: 2, Cell: side(gate.Head)},
		{Label: "change", Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: gateChange(f)} }},
		{Label: "95% interval", Text: true, Drop: 1, Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: gateInterval(f)} }},
	}
}

// packageOf is a benchmark's package if names alone do not tell benchmarks apart.
func (g *report) packageOf(b gate.Benchmark) string {
	if g.packages {
		return strings.TrimPrefix(b.Package, g.prefix)
	}
	return ""
}

func gateVerdict(f gate.Finding) string {
	if !f.Judged() {
		return "not judged"
	}
	return f.Verdict.String()
}

// gateValue is the middle of a side's values.
func gateValue(f gate.Finding, s gate.Side) string {
	if v := f.Typical(s); !math.IsNaN(v) {
		return results.UnitOf(f.Unit).Format(v)
	}
	return ""
}

func gateChange(f gate.Finding) string {
	if !f.Judged() || math.IsNaN(f.Change.Center) {
		return ""
	}
	return gate.Percent(f.Change.Center)
}

func gateInterval(f gate.Finding) string {
	unknown := math.IsInf(f.Change.Lo, -1) && math.IsInf(f.Change.Hi, 1)
	if f.Exact || !f.Judged() || !drawable(f) || unknown {
		return ""
	}
	return strings.TrimSuffix(gate.Percent(f.Change.Lo), "%") + "…" + gate.Percent(f.Change.Hi)
}

// gateLength is a change as a ratio, with its interval where that is known.
func gateLength(f gate.Finding) doc.Length {
	l := doc.Length{Value: math.Exp(f.Change.Center), Low: math.Exp(f.Change.Lo), High: math.Exp(f.Change.Hi)}
	if gateInterval(f) == "" {
		l.Low, l.High = l.Value, l.Value
	}
	return l
}

// drawable reports whether both sides have values: a file may have lost them.
func drawable(f gate.Finding) bool { return len(f.Base) > 0 && len(f.Head) > 0 }

func insteadOf(f gate.Finding) string {
	return fmt.Sprintf("%s instead of %s", cmp.Or(gateValue(f, gate.Head), "no value"), cmp.Or(gateValue(f, gate.Base), "no value"))
}

// profileOf is nil if there is no profile of the time that f is about.
func (g *report) profileOf(f gate.Finding) *gate.Profile {
	i := slices.IndexFunc(g.results.Profiles, func(p gate.Profile) bool { return p.Benchmark == f.Benchmark })
	if i < 0 || f.Unit != results.NsPerOp {
		return nil
	}
	return &g.results.Profiles[i]
}

// profileCommand shows the profiles that a folder keeps.
func profileCommand(p gate.Profile, folder string) string {
	file := func(s gate.Side) string { return term.ShellWord(path.Join(folder, gate.ProfilesFolder, p.Files[s])) }
	return fmt.Sprintf("go tool pprof -diff_base=%s %s", file(gate.Base), file(gate.Head))
}

func newOrGone(f gate.FunctionChange) string {
	switch {
	case f.New():
		return "new"
	case f.Gone():
		return "gone"
	}
	return ""
}

func signedTime(ns float64) string {
	text := words.Time(math.Abs(ns))
	if ns < 0 {
		return "-" + text
	}
	return "+" + text
}

// functionName is a function's name without the folders of its package.
func functionName(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// inTable reports whether a finding needs no picture.
func (g *report) inTable(f gate.Finding) bool {
	return (f.Exact || !drawable(f)) && g.profileOf(f) == nil
}

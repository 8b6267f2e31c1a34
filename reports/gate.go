package reports

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
)

var (
	//go:embed assets/gate.html.tmpl
	gateSource string
	//go:embed assets/gate.css
	gateStyle string
)

var gateTemplate = sync.OnceValue(func() *template.Template { return newPageTemplate(gateSource) })

// WriteGate writes a gate's page, index.html, into dir, which is made if need be.
func WriteGate(dir string, res *gate.Results, opt WriteOptions) error {
	return writeFiles(dir, opt, func(w io.Writer) error { return WriteGateHTML(w, res) })
}

// WriteGateHTML writes what a gate found as one page that needs nothing beside it.
func WriteGateHTML(w io.Writer, res *gate.Results) error {
	return renderPage(w, gateTemplate(), newGateReport(res).page())
}

// A gateReport is what every form of a gate's report shows.
type gateReport struct {
	*gate.Report
	results  *gate.Results
	packages bool   // a name stands in several packages
	prefix   string // of all packages then
	raw      map[gate.Benchmark][]gate.Measurement
}

func newGateReport(res *gate.Results) *gateReport {
	res = harmlessGate(res)
	g := &gateReport{Report: res.Report, results: res, raw: map[gate.Benchmark][]gate.Measurement{}}
	in := map[string]string{}
	for _, f := range g.Findings {
		if pkg, seen := in[f.Name]; seen && pkg != f.Package {
			g.packages = true
		}
		in[f.Name] = f.Package
	}
	if g.packages {
		g.prefix = commonFolder(slices.Collect(maps.Values(in)))
	}
	for _, m := range res.Measurements {
		b := harmlessBenchmark(m.Benchmark)
		g.raw[b] = append(g.raw[b], m)
	}
	return g
}

// harmlessGate is a copy in which nothing that others wrote commands a terminal or hides on a page.
func harmlessGate(res *gate.Results) *gate.Results {
	texts := func(list []string) []string { return mapped(list, term.Text) }
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
		p.Package, p.Benchmark, p.Functions = term.Text(p.Package), term.Text(p.Benchmark), slices.Clone(p.Functions)
		p.Files = [2]string{term.Text(p.Files[gate.Base]), term.Text(p.Files[gate.Head])}
		for k := range p.Functions {
			p.Functions[k].Name = term.Text(p.Functions[k].Name)
		}
	}
	return &copied
}

func mapped(list []string, f func(string) string) (out []string) {
	for _, s := range list {
		out = append(out, f(s))
	}
	return out
}

func harmlessBenchmark(b gate.Benchmark) gate.Benchmark {
	return gate.Benchmark{Package: term.Text(b.Package), Name: term.Text(b.Name)}
}

// commonFolder is the beginning, up to a slash, that all paths share.
func commonFolder(paths []string) string {
	slices.Sort(paths)
	first, last := paths[0], paths[len(paths)-1]
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	return first[:strings.LastIndex(first[:n], "/")+1]
}

// sorted are the findings that keep passes, the worst first.
func (g *gateReport) sorted(keep func(gate.Finding) bool) []gate.Finding {
	list := slices.DeleteFunc(slices.Clone(g.Findings), func(f gate.Finding) bool { return !keep(f) })
	slices.SortStableFunc(list, gate.Severity)
	return list
}

// notable are the findings that a short report lists: times, and whatever else is not the same.
func (g *gateReport) notable() []gate.Finding {
	return g.sorted(func(f gate.Finding) bool {
		return f.Unit == results.NsPerOp || f.Judged() && f.Verdict != gate.Same
	})
}

// fields are the columns of a table of findings.
func (g *gateReport) fields() []field[gate.Finding] {
	side := func(s gate.Side) func(gate.Finding) sheetCell {
		return func(f gate.Finding) sheetCell { return sheetCell{Text: gateValue(f, s)} }
	}
	return []field[gate.Finding]{
		{label: "verdict", text: true, cell: func(f gate.Finding) sheetCell { return sheetCell{Text: gateVerdict(f)} }},
		{label: "benchmark", text: true, cell: func(f gate.Finding) sheetCell { return sheetCell{Text: f.Name} }},
		{label: "package", text: true, cell: func(f gate.Finding) sheetCell { return sheetCell{Text: g.packageOf(f.Benchmark)} }},
		{label: "unit", text: true, cell: func(f gate.Finding) sheetCell { return sheetCell{Text: f.Unit} }},
		{label: "base", drop: 3, cell: side(gate.Base)},
		{label: "head", drop: 2, cell: side(gate.Head)},
		{label: "change", cell: func(f gate.Finding) sheetCell { return sheetCell{Text: gateChange(f)} }},
		{label: "95% interval", text: true, drop: 1, cell: func(f gate.Finding) sheetCell { return sheetCell{Text: gateInterval(f)} }},
	}
}

// packageOf is a benchmark's package if names alone do not tell benchmarks apart.
func (g *gateReport) packageOf(b gate.Benchmark) string {
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

// exitReason says why the exit status is what it is.
func (g *gateReport) exitReason() string {
	status := g.Exit()
	why := "something is proved to be worse than its threshold"
	switch {
	case status == 0:
		why = "nothing is proved to be worse than its threshold"
	case g.Unfinished != "":
		why = "the gate did not come to its end, which is never a pass"
	case status == 2:
		why = "not all is proved to be within its threshold, as --prove demands"
	case len(g.Alarms) > 0:
		why = "base differs from its twin, so the machine decides: ask again"
	case status == 3:
		why = "there was too little time to prove anything: ask again with a longer --budget"
	}
	return fmt.Sprintf("Exit status %d: %s.", status, why)
}

// effort is what the answer took.
func (g *gateReport) effort() string {
	if g.Rounds == 0 {
		return fmt.Sprintf("It took %v.", g.Elapsed.Round(time.Second))
	}
	return fmt.Sprintf("%s took %v, %v of it to set up.", count.Of(g.Rounds, "round"), g.Elapsed.Round(time.Second), g.Setup.Round(time.Second))
}

// A gatePage is what the template shows.
type gatePage struct {
	shell
	Summary, Exit string
	Advice        []string
	Alarms        []string
	Worst         []worstLine
	More          int // that are worse or may be
	Groups        []gateGroup
	Unjudged      *sheet
	LeftOut       *sheet
	Changes       []string // of the rules
	Doubts        []string
	Facts         []fact
	Environment   []fact
	Command       string
}

// A gateGroup is the findings with one verdict.
type gateGroup struct {
	ID, Heading, About string
	Folded             bool
	Findings           []gateFinding
	Exact              *sheet // those that need no picture
}

type gateFinding struct {
	ID, Name, Package, Unit, Headline, Reason string
	Plots                                     []template.HTML
	Profile                                   *gateProfile
}

type gateProfile struct {
	About, Command string
	Sheet          *sheet
}

func (g *gateReport) page() gatePage {
	p := gatePage{
		shell:   newShell(g.title(), g.subtitle()),
		Summary: g.Summary(), Advice: g.Advice(), Exit: g.exitReason(), Alarms: g.Alarms, Changes: g.Changes, Doubts: g.results.Warnings,
		Facts: g.facts(), Command: g.results.Setting("command"),
	}
	p.Style += template.CSS(gateStyle)
	p.Worst, p.More = g.worst()
	for _, s := range g.results.Settings {
		p.Environment = append(p.Environment, fact{s.Key, s.Value})
	}
	dots := newDotBudget(len(g.Findings))
	for _, v := range gateVerdicts {
		if group, any := g.group(v, dots); any {
			p.Groups = append(p.Groups, group)
		}
	}
	if list := g.sorted(func(f gate.Finding) bool { return !f.Judged() }); len(list) > 0 {
		p.Unjudged = newSheet("unjudged", "Not judged", "Nobody has said whether more or less of these units is better.", list, g.fields())
		p.Unjudged.Folded = true
	}
	if len(g.LeftOut) > 0 {
		p.LeftOut = newSheet("left-out", "Left out", "The module's file of rules leaves these out, and says why.", g.LeftOut, []field[gate.LeftOut]{
			{label: "benchmark", text: true, cell: func(l gate.LeftOut) sheetCell { return sheetCell{Text: l.Name} }},
			{label: "package", text: true, cell: func(l gate.LeftOut) sheetCell { return sheetCell{Text: l.Package} }},
			{label: "reason", text: true, cell: func(l gate.LeftOut) sheetCell { return sheetCell{Text: l.Reason} }},
		})
	}
	return p
}

// sentence begins with a capital letter, unless a name with digits or underscores stands there, and ends with a full stop.
func sentence(s string) string {
	if first, _, _ := strings.Cut(s, " "); strings.ContainsAny(first, "0123456789_") {
		return s + "."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func (g *gateReport) title() string {
	title := "Gate"
	if module := g.results.Setting("module"); module != "" {
		title += " of " + module
	}
	if base := g.results.Setting("base"); base != "" {
		title += fmt.Sprintf(": %s against %s", cmp.Or(g.results.Setting("head"), "head"), base)
	}
	return title
}

func (g *gateReport) subtitle() string {
	return (&digest{res: &results.Set{Settings: g.results.Settings}}).subtitle()
}

// gateVerdicts are in the order in which a reader wants them.
var gateVerdicts = []struct {
	gate.Verdict
	about  string
	folded bool
}{
	{gate.Slower, "Proved to be worse, by an estimate beyond the threshold.", false},
	{gate.Within, "Proved to be worse, by an estimate within the threshold: no failure.", false},
	{gate.Unsure, "The budget ended before anything was proved.", false},
	{gate.Faster, "Proved to be better.", false},
	{gate.Same, "Proved to differ by no more than the threshold, which is more than to find no difference.", true},
}

// mostWorst is how many findings the head of a page names.
const mostWorst = 6

// A worstLine leads to a finding that is worse, or may be.
type worstLine struct{ ID, Verdict, Name, Unit, Change, Values string }

// worst are the first of the findings that are worse or may be, and how many
// there are beside them.
func (g *gateReport) worst() (lines []worstLine, more int) {
	of := map[gate.Verdict]int{} // that stand before it in its group
	for _, f := range g.sorted(func(f gate.Finding) bool { return f.Judged() && (!f.Pass || f.Verdict == gate.Within) }) {
		of[f.Verdict]++
		if len(lines) == mostWorst {
			more++
			continue
		}
		lines = append(lines, worstLine{
			ID: g.findingID(f, of[f.Verdict]), Verdict: f.Verdict.String(), Name: f.Name, Unit: f.Unit,
			Change: strings.TrimSpace(gateChange(f) + " " + parenthesis(gateInterval(f))), Values: insteadOf(f),
		})
	}
	return lines, more
}

// findingID is where a page shows a finding, the nth of its verdict.
func (g *gateReport) findingID(f gate.Finding, n int) string {
	group := strings.ToLower(f.Verdict.String())
	if g.inTable(f) {
		return group + "-exact"
	}
	return fmt.Sprintf("%s-%d", group, n)
}

// inTable reports whether a finding needs no picture.
func (g *gateReport) inTable(f gate.Finding) bool {
	return (f.Exact || !drawable(f)) && g.profileOf(f) == nil
}

func insteadOf(f gate.Finding) string {
	return fmt.Sprintf("%s instead of %s", cmp.Or(gateValue(f, gate.Head), "no value"), cmp.Or(gateValue(f, gate.Base), "no value"))
}

// facts say how the gate was run.
func (g *gateReport) facts() []fact {
	o := g.Options
	facts := []fact{
		{"Rounds", g.roundsText()},
		{"Processes", strconv.Itoa(len(g.results.Measurements))},
		{"Time", fmt.Sprintf("%v, of a budget of %v; profiles are not counted", g.Elapsed.Round(time.Second), o.Budget.Round(time.Second))},
		{"Threshold", fmt.Sprintf("%.3g%%, where a benchmark or unit has none of its own", 100*o.Threshold)},
		{"False alarms", fmt.Sprintf("a chance of at most %.3g%% for all verdicts together", 100*g.FalseAlarms())},
		{"Seed", strconv.FormatUint(o.Seed, 10)},
	}
	if layouts := g.results.Setting("layouts"); layouts != "" {
		facts = append(facts, fact{"Layouts", layouts})
	}
	return facts
}

func (g *gateReport) roundsText() string {
	if !slices.ContainsFunc(g.Findings, func(f gate.Finding) bool { return len(f.Twin) > 0 }) {
		return fmt.Sprintf("%d of head; base was recorded earlier, so that the time between counts as noise", g.Rounds)
	}
	return fmt.Sprintf("%d, in each of which base, head and base's twin are linked anew with functions in another order; verdicts on so many values need %d", g.Rounds, g.Needed)
}

// group is the findings with a verdict; any is false if there are none.
func (g *gateReport) group(v struct {
	gate.Verdict
	about  string
	folded bool
}, dots dotBudget) (group gateGroup, any bool) {
	list := g.sorted(func(f gate.Finding) bool { return f.Judged() && f.Verdict == v.Verdict })
	group = gateGroup{
		ID: strings.ToLower(v.String()), Heading: fmt.Sprintf("%v: %s", v.Verdict, count.Of(len(list), "value")),
		About: v.about, Folded: v.folded,
	}
	var exact []gate.Finding
	for i, f := range list {
		if g.inTable(f) {
			exact = append(exact, f)
			continue
		}
		group.Findings = append(group.Findings, g.finding(f, g.findingID(f, i+1), dots))
	}
	if len(exact) > 0 {
		group.Exact = newSheet(group.ID+"-exact", "", "Values that no process changes: they need no statistics.", exact, g.fields())
		group.Exact.Heading = "Exact values"
	}
	return group, len(list) > 0
}

// drawable reports whether both sides have values: a file may have lost them.
func drawable(f gate.Finding) bool { return len(f.Base) > 0 && len(f.Head) > 0 }

func (g *gateReport) finding(f gate.Finding, id string, dots dotBudget) gateFinding {
	x := gateFinding{ID: id, Name: f.Name, Package: f.Package, Unit: f.Unit, Reason: sentence(f.Reason())}
	x.Headline = insteadOf(f) + ": " + gateChange(f)
	if gateInterval(f) == "" {
		x.Headline += "."
	} else {
		x.Headline += fmt.Sprintf(", 95%% interval from %s to %s; threshold %.3g%%.", gate.Percent(f.Change.Lo), gate.Percent(f.Change.Hi), 100*f.Threshold)
	}
	if f.Floor > 0 {
		x.Headline += fmt.Sprintf(" %.2g%% of it counts as noise: the same code is known to differ by that.", 100*math.Expm1(f.Floor))
	}
	if drawable(f) {
		x.Plots = []template.HTML{
			template.HTML(distributionPlot(f, dots)), template.HTML(ratioPlot(f)), template.HTML(driftPlot(f, g.raw[f.Benchmark], dots)),
		}
	}
	x.Profile = g.profileOf(f)
	return x
}

// profileOf is nil if there is no profile of the time that f is about.
func (g *gateReport) profileOf(f gate.Finding) *gateProfile {
	i := slices.IndexFunc(g.results.Profiles, func(p gate.Profile) bool { return p.Package == f.Package && p.Benchmark == f.Name })
	if i < 0 || f.Unit != results.NsPerOp {
		return nil
	}
	p := g.results.Profiles[i]
	about := fmt.Sprintf("What changed by function, in time per operation; the changes of own time sum up to %s. "+
		"From %d samples of base and %d of head: a change in grey is no more than so few samples explain.",
		signedTime(p.Head-p.Base), p.Samples[gate.Base], p.Samples[gate.Head])
	rows := append(slices.Clone(p.Functions), p.Others)
	return &gateProfile{about, profileCommand(p, "."), newSheet("", "By function", "", rows, profileFields())}
}

// profileCommand shows the profiles that a folder keeps.
func profileCommand(p gate.Profile, folder string) string {
	file := func(s gate.Side) string { return term.ShellWord(path.Join(folder, gate.ProfilesFolder, p.Files[s])) }
	return fmt.Sprintf("go tool pprof -diff_base=%s %s", file(gate.Base), file(gate.Head))
}

func profileFields() []field[gate.FunctionChange] {
	number := func(label, about string, drop int, value func(gate.FunctionChange) string) field[gate.FunctionChange] {
		return field[gate.FunctionChange]{label: label, about: about, drop: drop, cell: func(f gate.FunctionChange) sheetCell { return sheetCell{Text: value(f)} }}
	}
	change := number("change", "of own time", 0, func(f gate.FunctionChange) string { return signedTime(f.Change()) })
	change.cell = func(f gate.FunctionChange) sheetCell {
		if !f.Clear() {
			return sheetCell{Remark: signedTime(f.Change())}
		}
		return sheetCell{Text: signedTime(f.Change()), Best: true}
	}
	orNone := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return formatTime(v)
	}
	return []field[gate.FunctionChange]{
		{label: "function", text: true, cell: func(f gate.FunctionChange) sheetCell { return sheetCell{Text: f.Name, Remark: newOrGone(f)} }},
		change,
		number("±", "95% interval of the change, from the number of samples", 3, func(f gate.FunctionChange) string { return formatTime(f.Error) }),
		number("base", "own time in base", 1, func(f gate.FunctionChange) string { return orNone(f.BaseFlat) }),
		number("head", "own time in head", 1, func(f gate.FunctionChange) string { return orNone(f.HeadFlat) }),
		number("base, with callees", "with what it calls", 2, func(f gate.FunctionChange) string { return orNone(f.BaseCum) }),
		number("head, with callees", "with what it calls", 2, func(f gate.FunctionChange) string { return orNone(f.HeadCum) }),
	}
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
	text := formatTime(math.Abs(ns))
	if ns < 0 {
		return "-" + text
	}
	return "+" + text
}

// functionName is a function's name without the folders of its package.
func functionName(name string) string { return name[strings.LastIndex(name, "/")+1:] }

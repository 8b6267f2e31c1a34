// Package gate reports what a gate found.
package gate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/bounded"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

func init() {
	reports.Register(reports.Kind{
		Name:      "gate",
		Recognise: func(s *reports.Source) bool { return slices.ContainsFunc(s.Machines, gate.IsResults) },
		Build: func(_ context.Context, s *reports.Source) (*doc.Document, error) {
			if len(s.Paths) != 1 {
				return nil, fmt.Errorf("%s: results of a gate are rendered one file at a time", strings.Join(s.Paths, ", "))
			}
			res, err := Read(s.Paths[0])
			if err != nil {
				return nil, err
			}
			return Document(res), nil
		},
	})
}

// Read reads what a gate left behind.
func Read(path string) (*gate.Results, error) {
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	res, err := gate.ReadResults(file, path)
	if err == nil {
		res.Folder = filepath.Dir(path)
	}
	return res, err
}

// exitReason says why the exit status is what it is.
func (g *report) exitReason() string {
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
		why = "base differs from its control, so the machine decides: ask again"
	case status == 3:
		why = "there was too little time to prove anything: ask again with a longer --budget"
	}
	return fmt.Sprintf("Exit status %d: %s.", status, why)
}

// effort is what the answer took.
func (g *report) effort() string {
	if g.Rounds == 0 {
		return fmt.Sprintf("It took %v.", g.Elapsed.Round(time.Second))
	}
	return fmt.Sprintf("%s took %v, %v of it to set up.", count.Of(g.Rounds, "round"), g.Elapsed.Round(time.Second), g.Setup.Round(time.Second))
}

// Document is what a gate found.
func Document(res *gate.Results) *doc.Document {
	g := newReport(res)
	d := &doc.Document{
		Title: g.title(), Subtitle: g.subtitle(), Grave: g.Alarms, Data: gate.NewDocument(res.Report, res.Profiles), Records: g.records,
		First: []doc.First{g.first()},
	}
	for _, w := range g.results.Warnings {
		d.Doubts = append(d.Doubts, doc.Doubt{Text: w})
	}
	d.Add(g.inText()...)
	left := mostDrawn
	for _, v := range gateVerdicts {
		d.Add(g.group(v.Verdict, v.about, v.folded, &left))
	}
	if list := g.sorted(func(f gate.Finding) bool { return !f.Judged() }); len(list) > 0 {
		d.Add((&doc.Section{ID: "unjudged", Heading: "Not judged", Folded: true, Only: doc.Page}).Add(
			words.NewTable("unjudged-table", "", "Nobody has said whether more or less of these units is better.", list, g.fields())))
	}
	d.Add(g.leftOutSection(), g.rulesSection(), g.howSection())
	return d.NameParts()
}

// first names the worst, and ranks the changes.
func (g *report) first() doc.First {
	first := doc.First{Verdict: g.verdict(), Table: g.ranking()}
	if list := g.sorted(func(f gate.Finding) bool { return f.Judged() && f.Verdict == gate.Slower }); len(list) > 0 && len(g.Alarms) == 0 && g.Unfinished == "" {
		f := list[0]
		first.Number, first.NumberOf = gateChange(f), words.Sentences(insteadOf(f), words.If(f.Unit != results.NsPerOp, f.Unit), words.Parenthesis(gateInterval(f)))
		if p := g.profileOf(f); p != nil && g.results.Folder != "" {
			// Of the folder itself: a page is the same wherever it is made again.
			first.Next = doc.Command{Line: profileCommand(*p, "."), Does: "shows where its time went, in the gate's folder"}
		}
	}
	var why []string
	if tally := g.Tally(); len(tally) > 1 || len(tally) == 1 && !strings.HasSuffix(tally[0], " undecided") { // of which Advice says more
		why = []string{doc.Sentence(strings.Join(tally, ", "))}
	}
	first.Why = strings.Join(slices.Concat(why, g.Advice(), []string{g.exitReason() + " " + g.effort()}), "\n")
	return first
}

// verdict is that of the gate, with a name as people say it.
func (g *report) verdict() string {
	text := g.Verdict()
	for _, f := range g.Findings {
		if rest, ok := strings.CutPrefix(text, f.Name+" "); ok {
			return digest.CaseName(f.Name) + " " + rest
		}
	}
	return text
}

// records has a line per finding.
func (g *report) records(line func(...string)) {
	line("verdict", "package", "benchmark", "unit", "base", "head", "change", "lo", "hi", "threshold")
	for _, f := range g.sorted(func(gate.Finding) bool { return true }) {
		line(gateVerdict(f), f.Package, f.Name, f.Unit, words.ExactOrNone(f.Typical(gate.Base)), words.ExactOrNone(f.Typical(gate.Head)),
			words.ExactOrNone(math.Expm1(f.Change.Center)), words.ExactOrNone(math.Expm1(f.Change.Lo)), words.ExactOrNone(math.Expm1(f.Change.Hi)), words.Exact(f.Threshold))
	}
}

// ranking has the findings that are worse or may be or, where there are none, those that changed most; nil if nothing
// was measured.
func (g *report) ranking() *doc.Table {
	heading, list := "Worse, or may be", g.sorted(func(f gate.Finding) bool { return f.Judged() && (!f.Pass || f.Verdict == gate.Within) })
	if len(list) == 0 {
		heading, list = "Changes", g.sorted(func(f gate.Finding) bool { return f.Judged() && !f.Exact && drawable(f) })
	}
	if len(list) == 0 {
		return nil
	}
	rows := list[:min(len(list), mostWorst)]
	scale := doc.NewRatioScale(rows, gateLength)
	t := words.NewTable("worst", heading, words.If(len(list) > mostWorst, fmt.Sprintf("%d more below.", len(list)-mostWorst)), rows, []doc.Field[gate.Finding]{
		{Label: "benchmark", Text: true, Cell: func(f gate.Finding) doc.Cell {
			return doc.Cell{Text: digest.CaseName(f.Name), Remark: words.If(f.Unit != results.NsPerOp, f.Unit)}
		}},
		{Label: "change", Cell: func(f gate.Finding) doc.Cell {
			return doc.Cell{Text: gateChange(f), Remark: words.Parenthesis(gateInterval(f)), Best: f.Verdict == gate.Slower}
		}},
		{Label: "better │ worse", About: "the bar is the change, the line its 95% interval", Text: true, Cell: func(f gate.Finding) doc.Cell {
			cell := scale.Cell(gateLength(f))
			if cell.Bar != nil {
				cell.Bar.Tone = map[gate.Verdict]doc.Tone{gate.Slower: doc.Worse, gate.Faster: doc.Better}[f.Verdict]
			}
			return cell
		}},
		{Label: "verdict", Text: true, Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: f.Verdict.String()} }},
		{Label: "values", Text: true, Cell: func(f gate.Finding) doc.Cell { return doc.Cell{Text: insteadOf(f)} }},
	})
	t.Only = doc.Page // text has all findings
	return t
}

func (g *report) leftOutSection() *doc.Section {
	return (&doc.Section{ID: "left-out", Heading: fmt.Sprintf("Left out: %d", len(g.LeftOut))}).Add(
		words.NewTable("left-out-table", "", "The module's file of rules leaves these out, and says why.", g.LeftOut, []doc.Field[gate.LeftOut]{
			{Label: "benchmark", Text: true, Cell: func(l gate.LeftOut) doc.Cell { return doc.Cell{Text: l.Name} }},
			{Label: "package", Text: true, Drop: 1, Cell: func(l gate.LeftOut) doc.Cell { return doc.Cell{Text: l.Package} }},
			{Label: "reason", Text: true, Cell: func(l gate.LeftOut) doc.Cell { return doc.Cell{Text: l.Reason} }},
		}))
}

func (g *report) rulesSection() *doc.Section {
	return (&doc.Section{ID: "rules", Heading: "head changes the rules that it is judged by"}).Add(doc.List(g.Changes))
}

// howSection says how the gate measured.
func (g *report) howSection() *doc.Section {
	s := &doc.Section{ID: "how", Heading: "How it was measured", Only: doc.Page}
	s.Add(doc.Text{Words: "Control is base once more, linked in another order: what it differs by is noise. Values are medians over the rounds; the change is found within rounds, and need not be the ratio of two medians."})
	s.Add(doc.Facts{List: g.facts(), Wide: true})
	s.Add((&doc.Section{ID: "revisions", Heading: "Machine and revisions"}).Add(doc.Facts{List: digest.Facts(g.results.Settings)}))
	s.Add((&doc.Section{ID: "reproduce", Heading: "Reproduce"}).Add(doc.Code(g.results.Setting("command"))))
	return s.Add(doc.Text{Words: "Every process is in results.txt: benchstat -col 'side@(base head control)' results.txt compares all of them, and benchstat base.txt head.txt those that were judged. Neither knows that layouts and moments are noise."})
}

func (g *report) title() string {
	title := "Gate"
	if module := g.results.Setting("module"); module != "" {
		title += " of " + module
	}
	if base := g.results.Setting("base"); base != "" {
		title += fmt.Sprintf(": %s against %s", cmp.Or(g.results.Setting("head"), "head"), base)
	}
	return title
}

func (g *report) subtitle() string {
	return (&digest.Digest{Results: &results.Set{Settings: g.results.Settings}}).Subtitle("")
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

// mostListed is how many findings of a verdict a page has that it does not draw.
const mostListed = 600

// listedText says how many of a list a page has; "" if it has all.
func listedText(all int) string {
	return words.If(all > mostListed, fmt.Sprintf("These are %d of %d: CSV has all.", mostListed, all))
}

// facts say how the gate was run.
func (g *report) facts() []doc.Fact {
	o := g.Options
	facts := []doc.Fact{
		{Name: "Rounds", Value: g.roundsText()},
		{Name: "Processes", Value: strconv.Itoa(len(g.results.Measurements))},
		{Name: "Time", Value: fmt.Sprintf("%v, of a budget of %v; profiles are not counted", g.Elapsed.Round(time.Second), o.Budget.Round(time.Second))},
		{Name: "Threshold", Value: fmt.Sprintf("%.3g%%, where a benchmark or unit has none of its own", 100*o.Threshold)},
		{Name: "False alarms", Value: fmt.Sprintf("a chance of at most %.3g%% for all verdicts together", 100*g.FalseAlarms())},
		{Name: "Seed", Value: strconv.FormatUint(o.Seed, 10)},
	}
	if layouts := g.results.Setting("layouts"); layouts != "" {
		facts = append(facts, doc.Fact{Name: "Layouts", Value: layouts})
	}
	return facts
}

func (g *report) roundsText() string {
	if !slices.ContainsFunc(g.Findings, func(f gate.Finding) bool { return len(f.Control) > 0 }) {
		return fmt.Sprintf("%d of head; base was recorded earlier, so that the time between counts as noise", g.Rounds)
	}
	return fmt.Sprintf("%d, in each of which base, head and base's control are linked anew with functions in another order; verdicts on so many values need %d", g.Rounds, g.Needed)
}

// group is the findings with a verdict; nil if there are none.
func (g *report) group(v gate.Verdict, about string, folded bool, left *int) *doc.Section {
	list := g.sorted(func(f gate.Finding) bool { return f.Judged() && f.Verdict == v })
	if len(list) == 0 {
		return nil
	}
	s := &doc.Section{ID: strings.ToLower(v.String()), Heading: fmt.Sprintf("%v: %s", v, count.Of(len(list), "value")), Folded: folded, Only: doc.Page}
	s.Add(doc.Text{Words: about})
	var exact, more []gate.Finding
	var drawn []doc.Part
	for _, f := range list {
		switch {
		case g.inTable(f):
			exact = append(exact, f)
		case *left > 0:
			*left--
			drawn = append(drawn, g.finding(f))
		default:
			more = append(more, f)
		}
	}
	if len(exact) > 0 {
		t := words.NewTable(s.ID+"-exact", "Exact values", words.Sentences("No process changes them: they need no statistics.", listedText(len(exact))), exact[:min(len(exact), mostListed)], g.fields())
		t.Records = len(exact) > mostDrawn
		s.Add(t)
	}
	s.Add(drawn...)
	if len(more) > 0 {
		t := words.NewTable(s.ID+"-more", "Not drawn", words.Sentences(fmt.Sprintf("A page draws %d values, the worst.", mostDrawn), listedText(len(more))), more[:min(len(more), mostListed)], g.fields())
		t.Records = true
		s.Add(t)
	}
	return s
}

func (g *report) finding(f gate.Finding) *doc.Section {
	headline := insteadOf(f) + ": " + gateChange(f)
	if gateInterval(f) == "" {
		headline += "."
	} else {
		headline += fmt.Sprintf(", 95%% interval from %s to %s; threshold %.3g%%.", gate.Percent(f.Change.Lo), gate.Percent(f.Change.Hi), 100*f.Threshold)
	}
	if f.Floor > 0 {
		headline += fmt.Sprintf(" %.2g%% of it counts as noise: the same code is known to differ by that.", 100*math.Expm1(f.Floor))
	}
	s := &doc.Section{ID: term.FileName(f.Verdict.String(), f.Name, f.Unit), Heading: digest.CaseName(f.Name) + " in " + f.Unit}
	s.Add(doc.Text{Words: headline}, doc.Text{Words: strings.TrimSpace(doc.Sentence(f.Reason()) + " " + f.Package), Muted: true})
	if drawable(f) {
		s.Add(g.findingFigure(f, dotsOf(len(g.Findings))))
	}
	if p := g.profileOf(f); p != nil {
		about := fmt.Sprintf("What changed by function, in time per operation; the changes of own time sum up to %s. "+
			"From %d samples of base and %d of head: a change in grey is no more than so few samples explain.",
			signedTime(p.Head-p.Base), p.Samples[gate.Base], p.Samples[gate.Head])
		s.Add(words.NewTable("", "By function", about, append(slices.Clone(p.Functions), p.Others), profileFields()), doc.Code(profileCommand(*p, ".")))
	}
	return s
}

func profileFields() []doc.Field[gate.FunctionChange] {
	number := func(label, about string, drop int, value func(gate.FunctionChange) string) doc.Field[gate.FunctionChange] {
		return doc.Field[gate.FunctionChange]{Label: label, About: about, Drop: drop, Cell: func(f gate.FunctionChange) doc.Cell { return doc.Cell{Text: value(f)} }}
	}
	change := number("change", "of own time", 0, func(f gate.FunctionChange) string { return signedTime(f.Change()) })
	change.Cell = func(f gate.FunctionChange) doc.Cell {
		if !f.Clear() {
			return doc.Cell{Remark: signedTime(f.Change())}
		}
		return doc.Cell{Text: signedTime(f.Change()), Best: true}
	}
	orNone := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return words.Time(v)
	}
	return []doc.Field[gate.FunctionChange]{
		{Label: "function", Text: true, Cell: func(f gate.FunctionChange) doc.Cell { return doc.Cell{Text: f.Name, Remark: newOrGone(f)} }},
		change,
		number("±", "95% interval of the change, from the number of samples", 3, func(f gate.FunctionChange) string { return words.Time(f.Error) }),
		number("base", "own time in base", 1, func(f gate.FunctionChange) string { return orNone(f.BaseFlat) }),
		number("head", "own time in head", 1, func(f gate.FunctionChange) string { return orNone(f.HeadFlat) }),
		number("base, with callees", "with what it calls", 2, func(f gate.FunctionChange) string { return orNone(f.BaseCum) }),
		number("head, with callees", "with what it calls", 2, func(f gate.FunctionChange) string { return orNone(f.HeadCum) }),
	}
}

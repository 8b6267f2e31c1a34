// Package history reports results over time: where the level of a benchmark changed.
package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench/history"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// A View is what the forms of a history's report show.
type View struct {
	*history.History
	*history.Trends
	Least    float64           // a change of a smaller share is not listed
	Shuffles *history.Shuffles // nil if nobody asked for them
	Between  map[[2]string]int // how many commits lie after one up to another, as far as that is known
	Options  history.Options

	packages, procs bool   // names alone do not tell benchmarks apart
	prefix          string // of all packages
}

// Sidecar has all but the trends, which are found again.
func (v View) Sidecar() reports.Sidecar {
	v.Trends = nil
	return reports.Sidecar{Kind: "history", Of: v}
}

// Check reports what no history's report can show.
func (v *View) Check() error { return cmp.Or(v.History.Check(), v.Options.Check()) }

// prepare finds out what names need beside them.
func (v *View) prepare() *View {
	type place struct {
		pkg   string
		procs int
	}
	seen := make(map[string]place)
	var packages []string
	for _, s := range v.Series {
		at, ok := seen[s.Name]
		v.packages = v.packages || ok && at.pkg != s.Package
		v.procs = v.procs || ok && at.procs != s.Procs
		seen[s.Name] = place{s.Package, s.Procs}
		packages = append(packages, s.Package)
	}
	if v.packages {
		v.prefix = words.CommonFolder(slices.Compact(packages))
	}
	return v
}

// listed are the changes that are large enough.
func (v *View) listed() []history.Change {
	return slices.DeleteFunc(slices.Clone(v.Changes), func(c history.Change) bool {
		return math.Abs(c.Ratio-1) < v.Least
	})
}

// name is a series' name as far as it needs one, without its unit.
func (v *View) name(s history.Series) string {
	name := s.Name
	if v.procs && s.Procs > 0 {
		name += fmt.Sprintf("-%d", s.Procs)
	}
	if pkg := strings.TrimPrefix(s.Package, v.prefix); v.packages && pkg != "" {
		name = pkg + "." + name
	}
	return name
}

// machine is a machine's number, "" if there is but one.
func (v *View) machine(number int) string {
	if len(v.Machines) < 2 {
		return ""
	}
	return strconv.Itoa(number + 1)
}

// historyFields are the columns of the list of changes.
func (v *View) fields() []doc.Field[history.Change] {
	of := func(c history.Change) *history.Series { return &v.Series[c.Series] }
	return []doc.Field[history.Change]{
		{Label: "change", Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: changeText(c)} }},
		{Label: "worth", Text: true, Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: worthText(c.Worth)} }},
		{Label: "benchmark", Text: true, Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: v.name(*of(c))} }},
		{Label: "machine", Text: true, Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: v.machine(of(c).Machine)} }},
		{Label: "unit", Text: true, Drop: 2, Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: of(c).Unit} }},
		{Label: "before → after", Text: true, Drop: 3, Cell: func(c history.Change) doc.Cell {
			format := results.UnitOf(of(c).Unit).Format
			return doc.Cell{Text: format(c.Before.Level) + " → " + format(c.After.Level)}
		}},
		{Label: "95% interval", Text: true, Drop: 4, Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: changeInterval(c)} }},
		{Label: "commits", Text: true, Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: v.commits(c)} }},
		{Label: "dates", Text: true, Drop: 5, Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: v.dates(c)} }},
		{Label: "files", Text: true, Drop: 6, About: "with the case, at the level before and after",
			Cell: func(c history.Change) doc.Cell {
				return doc.Cell{Text: fmt.Sprintf("%d + %d", c.Before.Files, c.After.Files)}
			}},
		{Label: "p", Text: true, Drop: 7, About: "the chance of such a change anywhere in a history that has none, at most",
			Cell: func(c history.Change) doc.Cell { return doc.Cell{Text: chanceText(c.P)} }},
	}
}

func changeText(c history.Change) string {
	switch {
	case !math.IsNaN(c.Ratio):
		return words.SignedPercent(100 * (c.Ratio - 1))
	case c.After.Level > c.Before.Level:
		return "more"
	}
	return "less"
}

func changeInterval(c history.Change) string {
	switch {
	case math.IsNaN(c.Ratio) || c.Lo == c.Hi:
		return ""
	case math.IsInf(c.Hi, 1):
		return "too few points"
	}
	return strings.TrimSuffix(words.SignedPercent(100*(c.Lo-1)), "%") + "…" + words.SignedPercent(100*(c.Hi-1))
}

func worthText(worth int) string {
	switch worth {
	case +1:
		return "better"
	case -1:
		return "worse"
	}
	return ""
}

func chanceText(p float64) string {
	switch {
	case p == 0:
		return "exact"
	case p < 1e-6:
		return "<1e-6"
	}
	return fmt.Sprintf("%.2g", p)
}

// ends are the last point of the old level and the first of the new one.
func (v *View) ends(c history.Change) (before, after history.Point) {
	s := &v.Series[c.Series]
	return v.Points[s.At[c.Before.To-1]], v.Points[s.At[c.After.From]]
}

// commits is the range in which the level changed, as git writes it.
func (v *View) commits(c history.Change) string {
	before, after := v.ends(c)
	text := before.Label() + ".." + after.Label()
	if n := v.Between[[2]string{before.Commit, after.Commit}]; n > 1 {
		text += fmt.Sprintf(" (%d commits)", n)
	} else if n == 1 && after.Subject != "" {
		text += " " + doc.CutMiddle(after.Subject, 40)
	}
	return text
}

func (v *View) dates(c history.Change) string {
	before, after := v.ends(c)
	a, b := dateText(before.Time), dateText(after.Time)
	if a == b {
		return a
	}
	return a + " … " + b
}

func dateText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// summary says what was found in a line.
func (v *View) summary() string {
	of := fmt.Sprintf("in %s over %s from %s", ofSeries(len(v.Series)), count.Of(len(v.Points), "point"), count.Of(v.Files, "file"))
	list := v.listed()
	if len(list) == 0 {
		return "no change of level " + of
	}
	worse, better := 0, 0
	for _, c := range list {
		switch c.Worth {
		case -1:
			worse++
		case +1:
			better++
		}
	}
	text := count.Of(len(list), "change") + " of level " + of
	if worse+better > 0 {
		text += fmt.Sprintf(": %d worse, %d better", worse, better)
	}
	return text
}

// method says what the list rests on, a sentence each.
func (v *View) method() []string {
	tested := v.Tested()
	said := []string{fmt.Sprintf("the chance of any false change is at most %s in all %s together (permutation tests, Bonferroni), unless noise carries over from point to point",
		words.Percent(v.Alpha), ofSeries(tested))}
	if tested == 0 {
		said = []string{"no series has the 6 points that a change needs"}
	} else if least := v.LeastPoints(v.Options); v.longest() < least {
		said = append(said, fmt.Sprintf("the longest series has %d points, and among so many series a change shows from %d on: more files, or fewer series by --filter", v.longest(), least))
	}
	if hidden := len(v.Changes) - len(v.listed()); hidden > 0 {
		said = append(said, fmt.Sprintf("%s less than %s and not listed", are(hidden, "change"), words.Percent(v.Least)))
	}
	if v.Shuffles != nil {
		said = append(said, fmt.Sprintf("%d of %s had a change: %s to %s of them (95%% interval)",
			v.Shuffles.Alarmed, count.Of(v.Shuffles.Histories, "shuffled history"), words.Percent(v.Shuffles.Lo), words.Percent(v.Shuffles.Hi)))
	}
	return said
}

// longest is the number of points of the longest series.
func (v *View) longest() (n int) {
	for _, s := range v.Series {
		n = max(n, len(s.Values))
	}
	return n
}

// ofSeries counts what has no other plural.
func ofSeries(n int) string { return fmt.Sprintf("%d series", n) }

// alikeDoubt is from which correlation of neighbours on a change may be drift.
const alikeDoubt = 0.15

// doubts are reasons to trust the list less.
func (v *View) doubts() []string {
	var said []string
	for _, c := range v.Common {
		way := "down"
		if c.Up {
			way = "up"
		}
		text := fmt.Sprintf("%d of %d series moved %s together at %s", c.Changed, c.Of, way, v.Points[c.Point].Label())
		if len(v.Machines) > 1 {
			text += " on machine " + v.machine(c.Machine)
		}
		if c.GoVersionMoved {
			text += ", where Go became " + term.Text(v.Points[c.Point].GoVersion)
		}
		said = append(said, text+": look at the machine and the toolchain before the code")
	}
	if v.Alike > alikeDoubt {
		said = append(said, fmt.Sprintf("neighbouring points resemble each other within a level (correlation %.2f): what drifts for weeks counts as a change, and false alarms are more than was said", v.Alike))
	}
	return said
}

// records has a line per point of each series: its value, its level, and where a level begins, what changed.
func (v View) records(line func(...string)) {
	line("machine", "package", "benchmark", "procs", "unit", "point", "commit", "date", "files", "value", "level", "ratio", "lo", "hi", "p")
	begins := make(map[[2]int]history.Change)
	for _, c := range v.Changes {
		begins[[2]int{c.Series, c.After.From}] = c
	}
	for i, s := range v.Series {
		for _, level := range v.Levels[i] {
			for at := level.From; at < level.To; at++ {
				change := make([]string, 4)
				if c, ok := begins[[2]int{i, at}]; ok {
					change = []string{words.ExactOrNone(c.Ratio), words.ExactOrNone(c.Lo), words.ExactOrNone(c.Hi), words.Exact(c.P)}
				}
				p := v.Points[s.At[at]]
				line(append([]string{v.Machines[s.Machine], s.Package, s.Name, strconv.Itoa(s.Procs), s.Unit, strconv.Itoa(int(s.At[at])),
					cmp.Or(p.Commit, p.File), p.Time.UTC().Format(time.RFC3339), strconv.Itoa(int(s.Files[at])), words.Exact(s.Values[at]),
					words.Exact(level.Level)}, change...)...)
			}
		}
	}
}

// A JSON is a history's changes as JSON.
type JSON struct {
	Summary  string            `json:"summary"`
	Alpha    float64           `json:"alpha"`
	Files    int               `json:"files"`
	Points   int               `json:"points"`
	Series   int               `json:"series"`
	Tested   int               `json:"tested"`
	Machines []string          `json:"machines"`
	Changes  []Change          `json:"changes"`
	Shuffles *history.Shuffles `json:"shuffles,omitempty"`
	Warnings []string          `json:"warnings"`
	Notes    []string          `json:"notes"`
}

// A Change is one change. Ratio, Lo and Hi are absent where there is no
// such number.
type Change struct {
	Machine    string   `json:"machine"`
	Package    string   `json:"package"`
	Benchmark  string   `json:"benchmark"`
	Procs      int      `json:"procs"`
	Unit       string   `json:"unit"`
	Worth      string   `json:"worth"` // better, worse, or "" where the unit's direction is unknown
	Before     float64  `json:"before"`
	After      float64  `json:"after"`
	Ratio      *float64 `json:"ratio,omitempty"`
	Lo         *float64 `json:"lo,omitempty"`
	Hi         *float64 `json:"hi,omitempty"`
	P          float64  `json:"p"`
	LastBefore Point    `json:"last_before"`
	FirstAfter Point    `json:"first_after"`
	Commits    int      `json:"commits,omitempty"` // in the range, if a repository was given
	Files      [2]int   `json:"files"`             // at the level before and after
}

// A Point is where a level ends or begins.
type Point struct {
	Commit string `json:"commit,omitempty"`
	File   string `json:"file,omitempty"` // if the commit is unknown
	Date   string `json:"date"`
}

// json is what --json prints.
func (v View) json() JSON {
	d := JSON{
		Summary: v.summary(), Alpha: v.Alpha, Files: v.Files, Points: len(v.Points), Series: len(v.Series), Tested: v.Tested(),
		Machines: v.Machines, Changes: []Change{}, Shuffles: v.Shuffles,
		Warnings: append([]string{}, v.doubts()...), Notes: append([]string{}, v.Notes...),
	}
	point := func(p history.Point) Point {
		out := Point{Commit: p.Commit, Date: p.Time.UTC().Format(time.RFC3339)}
		if p.Commit == "" {
			out.File = p.File
		}
		return out
	}
	for _, c := range v.listed() {
		s := &v.Series[c.Series]
		before, after := v.ends(c)
		x := Change{
			Machine: v.Machines[s.Machine], Package: s.Package, Benchmark: s.Name, Procs: s.Procs, Unit: s.Unit, Worth: worthText(c.Worth),
			Before: c.Before.Level, After: c.After.Level, Ratio: doc.Number(c.Ratio), Lo: doc.Number(c.Lo), Hi: doc.Number(c.Hi), P: c.P,
			LastBefore: point(before), FirstAfter: point(after), Files: [2]int{c.Before.Files, c.After.Files},
		}
		x.Commits = v.Between[[2]string{before.Commit, after.Commit}]
		d.Changes = append(d.Changes, x)
	}
	return d
}

func are(n int, noun string) string {
	verb := " are"
	if n == 1 {
		verb = " is"
	}
	return count.Of(n, noun) + verb
}

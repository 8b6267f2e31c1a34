package history

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"onebit/bench/history"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// HistoryCSV is the file of all values beside the page.
const HistoryCSV = "history.csv"

// mostHistories is how many series are drawn: those with changes, in the order of the list, then the others.
const mostHistories = 60

// Document is what a history's report shows.
func (v View) Document() *doc.Document {
	v.prepare()
	d := &doc.Document{
		Title: "History", Subtitle: v.subtitle(), First: []doc.First{v.first()}, Remarks: v.method(),
		Data: v.json(), Records: v.records, Files: []doc.File{{Name: HistoryCSV, Write: doc.Lines(v.records).WriteCSV}},
	}
	for _, text := range v.doubts() {
		d.Grave = append(d.Grave, "warning: "+text)
	}
	if list := v.listed(); len(list) > 0 {
		d.Add((&doc.Section{ID: "changes", Heading: "Changes of level"}).Add(words.NewTable("changes-table", "", "The most significant first.", list, v.fields())))
	}
	drawn := v.drawn()
	about := "A dot is a point: a commit, or a file that names none. Points stand in their order, whatever time lies between them. A line is a level. Point at a place to see its commit."
	if len(drawn) < len(v.Series) {
		about += fmt.Sprintf(" %d of %d series are drawn: those with changes in the order of the list, then the first others. onebit history --filter chooses others; history.csv beside this page has all.",
			len(drawn), len(v.Series))
	}
	series := (&doc.Section{ID: "series", Heading: "Series", Only: doc.Page}).Add(doc.Text{Words: about})
	for _, i := range drawn {
		s := v.Series[i]
		machine := v.machine(s.Machine)
		series.Add((&doc.Section{ID: term.FileName("series", s.Name), Heading: v.name(s) + " in " + s.Unit + words.If(machine != "", ", machine "+machine)}).Add(doc.Text{Words: v.headline(i)}, v.figure(i)))
	}
	how := &doc.Section{ID: "how", Heading: "How it was found"}
	if len(v.Machines) > 1 {
		var machines doc.List
		for i, m := range v.Machines {
			machines = append(machines, fmt.Sprintf("machine %d: %s", i+1, m))
		}
		how.Add((&doc.Section{ID: "machines", Heading: "Machines"}).Add(machines))
	}
	if len(v.Notes) > 0 {
		how.Add((&doc.Section{ID: "notes", Heading: "Files left out, and the source of the order", Only: doc.Page | doc.Markdown}).Add(doc.List(v.Notes)))
	}
	d.Add(series, how)
	return d.NameParts()
}

// sizeOf is how large a change is, up or down.
func sizeOf(c history.Change) float64 { return math.Abs(math.Log(c.Ratio)) }

// first names the change that is the worst, and ranks all.
func (v *View) first() doc.First {
	list := v.listed()
	if len(list) == 0 {
		return doc.First{Verdict: v.summary()}
	}
	slices.SortStableFunc(list, func(a, b history.Change) int {
		return cmp.Or(cmp.Compare(a.Worth, b.Worth), cmp.Compare(sizeOf(b), sizeOf(a)))
	})
	c := list[0]
	s := v.Series[c.Series]
	before, after := v.ends(c)
	format := results.UnitOf(s.Unit).Format
	first := doc.First{
		Verdict: fmt.Sprintf("%s %s at %s.", v.name(s), becameText(c, s.Unit), after.Label()), Why: doc.Sentence(v.summary()), Table: v.ranking(list),
		Number: changeText(c), NumberOf: words.Sentences(format(c.After.Level)+" after "+format(c.Before.Level), words.Parenthesis(changeInterval(c))),
	}
	if after.Commit != "" && before.Commit != "" {
		first.Next = doc.Command{Line: fmt.Sprintf("git log -p %s..%s", before.Label(), after.Label()), Does: "shows what changed"}
	}
	return first
}

// becameText says what a series did.
func becameText(c history.Change, unit string) string {
	switch {
	case math.IsNaN(c.Ratio):
		return "has " + changeText(c) + " " + unit
	case unit == results.NsPerOp:
		return "became " + words.Slower(c.Ratio)
	case c.Ratio > 1:
		return "has " + words.Percent(c.Ratio-1) + " more " + unit
	}
	return "has " + words.Percent(1-c.Ratio) + " less " + unit
}

// ranking has the first of the changes, as far as a first screen has room.
func (v *View) ranking(list []history.Change) *doc.Table {
	length := func(c history.Change) doc.Length {
		if changeInterval(c) == "" || math.IsInf(c.Hi, 1) {
			return doc.Length{Value: c.Ratio, Low: c.Ratio, High: c.Ratio}
		}
		return doc.Length{Value: c.Ratio, Low: c.Lo, High: c.Hi}
	}
	rows := list[:min(len(list), words.MostChanges)]
	scale := doc.NewRatioScale(rows, length)
	t := words.NewTable("ranking", "Changes", words.If(len(rows) < len(list), fmt.Sprintf("%d more below.", len(list)-len(rows))), rows, []doc.Field[history.Change]{
		{Label: "benchmark", Text: true, Cell: func(c history.Change) doc.Cell {
			s := v.Series[c.Series]
			return doc.Cell{Text: v.name(s), Remark: words.If(s.Unit != results.NsPerOp, s.Unit)}
		}},
		{Label: "change", Cell: func(c history.Change) doc.Cell {
			return doc.Cell{Text: changeText(c), Remark: words.Parenthesis(changeInterval(c))}
		}},
		{Label: "less │ more", About: "the bar is the change, the line its 95% interval; in colour: better or worse", Text: true, Cell: func(c history.Change) doc.Cell {
			cell := scale.Cell(length(c))
			if cell.Bar != nil {
				cell.Bar.Tone = map[int]doc.Tone{-1: doc.Worse, 1: doc.Better}[c.Worth]
			}
			return cell
		}},
		{Label: "since", Text: true, Cell: func(c history.Change) doc.Cell {
			_, after := v.ends(c)
			return doc.Cell{Text: after.Label(), Remark: dateText(after.Time)}
		}},
	})
	t.Only = doc.Page // text has all changes
	return t
}

func (v *View) subtitle() string {
	if len(v.Points) == 0 {
		return ""
	}
	first, last := v.Points[0], v.Points[len(v.Points)-1]
	return strings.Join([]string{
		dateText(first.Time) + " to " + dateText(last.Time), first.Label() + " to " + last.Label(),
		count.Of(len(v.Points), "point"), count.Of(len(v.Machines), "machine"),
	}, " · ")
}

// drawn are the numbers of the series that the page draws.
func (v *View) drawn() (numbers []int) {
	seen := make(map[int]bool)
	add := func(i int) {
		if len(numbers) < mostHistories && !seen[i] {
			seen[i] = true
			numbers = append(numbers, i)
		}
	}
	for _, c := range v.listed() {
		add(c.Series)
	}
	for i := range v.Series {
		add(i)
	}
	return numbers
}

// headline says what a series did, in its own order.
func (v *View) headline(series int) string {
	changes := slices.DeleteFunc(slices.Clone(v.Changes), func(c history.Change) bool { return c.Series != series })
	slices.SortFunc(changes, func(a, b history.Change) int { return a.After.From - b.After.From })
	if len(changes) == 0 {
		return "no change of level"
	}
	var said []string
	for _, c := range changes {
		_, after := v.ends(c)
		said = append(said, fmt.Sprintf("%s at %s", changeText(c), after.Label()))
	}
	return strings.Join(said, ", ")
}

// figure draws a series: its values, its levels, and what stands at each place, which a pointer shows.
func (v *View) figure(number int) *doc.Figure {
	s := v.Series[number]
	format := results.UnitOf(s.Unit).Format
	x := figure.Axis{Min: -0.5, Max: float64(len(s.Values)) - 0.5, Labels: 3, Format: figure.BareNumber}.Bounded()
	y := figure.RobustAxis(s.Values, 0.12, 4, format)
	p := figure.NewPanel(strings.TrimPrefix(figure.BeyondText(y, s.Values), " · ")).XY(x, y, "")
	p.X.Tick.Marker = v.dateTicks(s)
	points := make([][2]float64, len(s.Values))
	for i, value := range s.Values {
		points[i] = [2]float64{float64(i), value}
	}
	p.Add(figure.Dots{Points: points, Color: figure.Color(figure.Series(0))})
	roles := map[int]figure.Role{-1: figure.Series(1), 1: figure.Series(2), 0: figure.Muted} // by what a change is worth
	worth := make(map[int]int)
	for _, c := range v.Changes {
		if c.Series == number {
			worth[c.After.From] = c.Worth
		}
	}
	for i, level := range v.Levels[number] {
		from, to := float64(level.From)-0.5, float64(level.To)-0.5
		if i > 0 {
			p.Add(figure.Polyline{Points: [][2]float64{{from, y.Min}, {from, y.Max}}, Color: figure.Color(roles[worth[level.From]]), Width: 1.4, Dashes: figure.Dashed})
		}
		p.Add(figure.Polyline{Points: [][2]float64{{from, level.Level}, {to, level.Level}}, Color: figure.Color(figure.Ink), Width: 1.4})
	}
	v.addTitles(p, s)
	return &doc.Figure{Figure: &figure.Figure{Reading: v.name(s) + " in " + s.Unit + ": " + v.headline(number), Width: figure.NarrowWidth, Height: 200, Panels: [][]*figure.Panel{{p}}}}
}

// dateTicks say when the first, the middle and the last point were.
func (v *View) dateTicks(s history.Series) (ticks plot.ConstantTicks) {
	last := len(s.At) - 1
	for _, place := range []int{0, last / 2, last} {
		text := dateText(v.Points[s.At[place]].Time)
		if n := len(ticks); n == 0 || ticks[n-1].Label != text {
			ticks = append(ticks, plot.Tick{Value: float64(place), Label: text})
		}
	}
	return ticks
}

// mostTitles limits how many places of a picture have a title: a pointer cannot tell more apart.
const mostTitles = 60

// addTitles says which commits are where.
func (v *View) addTitles(p *figure.Panel, s history.Series) {
	format := results.UnitOf(s.Unit).Format
	places := min(len(s.Values), mostTitles)
	for i := range places {
		from, to := i*len(s.Values)/places, (i+1)*len(s.Values)/places
		first, last := v.Points[s.At[from]], v.Points[s.At[to-1]]
		lo, hi := slices.Min(s.Values[from:to]), slices.Max(s.Values[from:to])
		title := fmt.Sprintf("%s, %s: %s", first.Label(), dateText(first.Time), format(lo))
		if to > from+1 {
			title = fmt.Sprintf("%s to %s, %s to %s: %s to %s", first.Label(), last.Label(), dateText(first.Time), dateText(last.Time), format(lo), format(hi))
		} else if first.Subject != "" {
			title += " " + first.Subject
		}
		p.Add(figure.Spot{X0: float64(from) - 0.5, X1: float64(to) - 0.5, Y0: math.Inf(-1), Y1: math.Inf(1), Text: title})
	}
}

func init() {
	reports.Register(reports.Kind{
		Name:      "history",
		Recognise: func(s *reports.Source) bool { return s.Kind() == "history" },
		Build: func(ctx context.Context, s *reports.Source) (_ *doc.Document, err error) {
			v := new(View)
			if err = s.ReadSidecar(v); err != nil {
				return nil, err
			}
			if v.Trends, err = v.History.Trends(ctx, v.Options); err != nil {
				return nil, err
			}
			return v.Document(), nil
		},
	})
}

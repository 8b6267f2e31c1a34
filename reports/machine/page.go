package machine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// machineDocument shows machines side by side.
func machineDocument(s *reports.Source) *doc.Document {
	r := newReport(s)
	d := &doc.Document{Title: r.title(), First: []doc.First{r.first(s.Paths)}, Words: words.Signs}
	if len(r.machines) == 1 {
		d.Subtitle = r.machines[0].Subtitle(d.Title)
	}
	pictures := map[string][]*figure.Figure{
		"bandwidth": {r.sweepFigure()}, "latency": {r.latencyFigure()}, "costs": r.timeFigures(),
	}
	for _, t := range r.sheets() {
		section := &doc.Section{ID: t.ID, Heading: t.Heading}
		section.Add(doc.Text{Words: t.Caption, Muted: true}) // which a narrow table would break into many lines
		for _, f := range pictures[t.ID] {
			section.Add(&doc.Figure{Figure: f})
		}
		t.ID, t.Heading, t.Caption = t.ID+"-table", "", ""
		d.Add(section.Add(t))
	}
	d.Add(r.roundTrips(), r.environment())
	for _, m := range r.machines {
		d.Remarks = append(d.Remarks, m.remarks()...)
		for _, w := range m.Doubts() {
			w.Text = m.prefix() + w.Text
			d.Doubts = append(d.Doubts, w)
		}
	}
	members := make([]*digest.Member, len(r.machines))
	for i, m := range r.machines {
		members[i] = m.Member
	}
	digest.AddRecords(d, members)
	return d
}

// first ranks what the machine reads from, or several machines by what they read from memory.
func (r *report) first(paths []string) doc.First {
	first := doc.First{Table: r.ranking()}
	if len(r.machines) == 1 {
		first.Verdict, first.Number, first.NumberOf = r.machines[0].verdict()
	}
	for i, m := range r.machines {
		said, more := m.advice()
		if i == 0 && first.Verdict == "" {
			first.Verdict, said = said, ""
		} else if len(r.machines) == 1 {
			said = ""
		}
		first.Why = words.Sentences(first.Why, said, more)
	}
	if len(r.machines) == 1 && len(paths) == 1 {
		first.Next = doc.Command{Line: "onebit bench --machine " + term.ShellWord(paths[0]), Does: "takes these ceilings instead of measuring its own"}
	}
	return first
}

// ranking has reading from each level, with most threads; nil if nothing was read.
func (r *report) ranking() *doc.Table {
	type row struct {
		machine *machineResults
		level   string
		c       *digest.Case
	}
	var rows []row
	for _, level := range names.Levels {
		for _, m := range r.machines {
			if c := m.best(names.BaseBandwidth, results.ReadRate, func(n results.Name) bool { return n.Get(names.Level) == level }); c != nil {
				rows = append(rows, row{m, level, c})
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	scale := doc.NewScale(rows, func(x row) doc.Length { return digest.LengthOf(x.c.Stats[results.ReadRate]) }, true)
	return words.NewTable("ranking", "Reading, by level", "With as many threads as read most; longer is better, and the line is the interval.", rows, []doc.Field[row]{
		{Label: "from", Text: true, Cell: func(x row) doc.Cell { return doc.Cell{Text: levelText(x.level)} }},
		{Label: "machine", Text: true, Cell: func(x row) doc.Cell { return doc.Cell{Text: x.machine.Name} }},
		{Label: "reading", Cell: func(x row) doc.Cell {
			return doc.Cell{Text: digest.ValueOf(x.c, results.ReadRate), Remark: x.c.Stats[results.ReadRate].SpreadText(results.ReadRate)}
		}},
		{Label: "rate", Text: true, Drop: 2, Cell: func(x row) doc.Cell { return scale.Cell(digest.LengthOf(x.c.Stats[results.ReadRate])) }},
		{Label: names.Threads, Drop: 1, Cell: func(x row) doc.Cell { return doc.Cell{Text: x.c.Name.Get(names.Threads)} }},
	})
}

func (r *report) title() string {
	if len(r.machines) > 1 {
		return fmt.Sprintf("onebit machine · %d machines", len(r.machines))
	}
	return strings.Replace(r.machines[0].Title(), "onebit", "onebit machine", 1)
}

// environment is what each machine says of itself.
func (r *report) environment() *doc.Section {
	section := &doc.Section{ID: "machine", Heading: "Machine", Only: doc.Page | doc.Markdown}
	for _, m := range r.machines {
		var facts []doc.Fact
		for _, s := range m.Results.Settings {
			if s.Key != results.UnmeasuredKey {
				facts = append(facts, doc.Fact{Name: s.Key, Value: s.Value})
			}
		}
		said := []doc.Part{doc.Facts{List: facts}, doc.Code(m.Results.Setting("command"))}
		if m.Name != "" {
			section.Heading = "Machines"
			said = []doc.Part{(&doc.Section{Heading: m.Name}).Add(said...)}
		}
		section.Add(said...)
	}
	return section
}

// roundTrips are heat maps of machines with more than two CPUs: of two, another table says all.
func (r *report) roundTrips() *doc.Section {
	section := &doc.Section{ID: "round-trips", Heading: "Round trips", Only: doc.Page | doc.Markdown}
	for _, m := range r.machines {
		cpus, cells := m.pairs()
		if len(cpus) < 3 {
			continue
		}
		longest := 0.0
		for _, c := range cells {
			v, _ := c.Center(results.NsPerOp)
			longest = max(longest, v)
		}
		fields := []doc.Field[int]{{Label: "CPU", Text: true, Cell: func(from int) doc.Cell { return doc.Cell{Text: strconv.Itoa(from)} }}}
		for _, to := range cpus {
			fields = append(fields, doc.Field[int]{Label: strconv.Itoa(to), Cell: func(from int) doc.Cell {
				c := cells[[2]int{min(from, to), max(from, to)}]
				if c == nil || from == to {
					return doc.Cell{}
				}
				v, _ := c.Center(results.NsPerOp)
				return doc.Cell{Text: strconv.FormatFloat(v, 'f', 0, 64), Shade: v / max(longest, 1e-9)}
			}})
		}
		section.Add(words.NewTable("round-trips-table", m.Name, "Nanoseconds for a cache line from one CPU to another and back.", cpus, fields))
	}
	return section
}

// A machineLine is a series of points over sizes.
type machineLine struct {
	name   string
	points [][2]float64 // ascending
}

// lines collects a line for each machine and value of a key.
func (r *report) lines(base, key, unit string, text func(string) string, keep func(results.Name) bool) (out []machineLine) {
	for _, c := range r.columns(r.keys(base, key), text) {
		line := machineLine{name: c.label}
		for _, cs := range c.machine.ofBase(base) {
			v, ok := cs.Center(unit)
			if size := names.BytesOf(cs.Name); ok && v > 0 && size > 0 && cs.Name.Get(key) == c.value && keep(cs.Name) {
				line.points = append(line.points, [2]float64{float64(size), v})
			}
		}
		slices.SortFunc(line.points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		if len(line.points) > 1 {
			out = append(out, line)
		}
	}
	return out
}

// sweepFigure is how fast memory is read, over sizes.
func (r *report) sweepFigure() *figure.Figure {
	pages := "huge"
	if !slices.Contains(r.keys(names.BaseBandwidth, names.Pages), pages) {
		pages = "small"
	}
	lines := r.lines(names.BaseBandwidth, names.Threads, results.ReadRate, threadsText, func(n results.Name) bool {
		return n.Get(names.Access) == names.ReadAccess && n.Get(names.Pages) == pages
	})
	return r.sizesFigure("sweep", "Reading, over sizes", "Higher is faster: how many bytes all threads read again and again, on "+pages+" pages.",
		lines, results.UnitOf(results.ReadRate).Format)
}

// latencyFigure is how long a load takes, over sizes.
func (r *report) latencyFigure() *figure.Figure {
	lines := r.lines(names.BaseLatency, names.Pages, results.NsPerOp, func(p string) string { return p + " pages" }, func(results.Name) bool { return true })
	return r.sizesFigure("latency-curve", "Latency, over sizes", "Lower is faster.", lines, results.UnitOf(results.NsPerOp).Format)
}

// sizesFigure draws lines over sizes; nil if there are none.
func (r *report) sizesFigure(name, heading, reading string, lines []machineLine, format func(float64) string) *figure.Figure {
	if len(lines) == 0 {
		return nil
	}
	var xs, ys []float64
	for _, l := range lines {
		for _, p := range l.points {
			xs, ys = append(xs, p[0]), append(ys, p[1])
		}
	}
	f := &figure.Figure{Name: name, Heading: heading, Reading: reading, Width: figure.NarrowWidth, Height: 330}
	axis := sizesAxis(xs)
	panel := figure.NewPanel("").XY(axis.Axis, figure.NewAxis(ys, true, 6, format), "")
	panel.X.Tick.Marker = axis
	for i, l := range lines {
		panel.Line(i, l.points)
		for _, p := range l.points {
			panel.Add(figure.PointSpot(p[0], p[1], figure.Label(l.name)+", "+sizeText(int(p[0]))+": "+format(p[1])))
		}
		f.Legend = append(f.Legend, figure.LegendEntry{Label: l.name, Glyph: figure.Glyph(i, 4.5)})
	}
	f.Panels = [][]*figure.Panel{{panel}}
	return f
}

// A sizeAxis is a logarithmic axis with labels at powers of 16.
type sizeAxis struct{ figure.Axis }

func sizesAxis(sizes []float64) sizeAxis {
	return sizeAxis{figure.NewAxis(sizes, true, 8, func(v float64) string { return sizeText(int(v)) })}
}

// Ticks implements plot.Ticker.
func (a sizeAxis) Ticks(lo, hi float64) (ticks []plot.Tick) {
	for v := math.Exp2(math.Ceil(math.Log2(max(lo, 1)))); v <= hi && len(ticks) < 64; v *= 2 {
		t := plot.Tick{Value: v}
		if int(math.Round(math.Log2(v)))%4 == 2 { // 16 KiB is 2¹⁴
			t.Label = sysinfo.Bytes(v).String()
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// timeFigures are, for each machine, the clock's frequency and what others took of the CPUs over the
// run.
func (r *report) timeFigures() (out []*figure.Figure) {
	for i, m := range r.machines {
		var seconds []float64
		clock, stolen, others := m.over(results.ClockRate), m.over(results.StolenShare), m.over(results.OtherShare)
		for _, p := range slices.Concat(clock, stolen, others) {
			seconds = append(seconds, p[0])
		}
		if len(clock) < 2 {
			continue
		}
		x := figure.NewAxis(seconds, false, 5, func(v float64) string { return fmt.Sprintf("%.3g s", v) }).FromZero()
		heading := "The clock and the CPUs, over the run"
		if m.Name != "" {
			heading += ": " + m.Name
		}
		f := &figure.Figure{Name: fmt.Sprintf("over-time-%d", i+1), Heading: heading, Width: figure.NarrowWidth, Height: 380,
			Reading: "Above, the clock after each sample. Below, the share of the CPUs that others had."}
		top := timePanel("clock frequency", x, [][][2]float64{clock}, results.UnitOf(results.ClockRate).Format, false)
		bottom := timePanel("share of CPU time", x, [][][2]float64{others, stolen}, results.UnitOf(results.StolenShare).Format, true)
		f.Panels = [][]*figure.Panel{{top}, {bottom}}
		f.Legend = []figure.LegendEntry{{Label: "above: the clock; below: other processes", Glyph: figure.Glyph(0, 4.5)}, {Label: "the hypervisor", Glyph: figure.Glyph(1, 4.5)}}
		out = append(out, f)
	}
	return out
}

// over is a unit's values over the seconds of the run.
func (m *machineResults) over(unit string) (points [][2]float64) {
	for _, s := range m.Results.Samples {
		at, ok1 := s.Value(results.SinceStart)
		v, ok2 := s.Value(unit)
		if ok1 && ok2 {
			points = append(points, [2]float64{at, v})
		}
	}
	slices.SortStableFunc(points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return points
}

func timePanel(title string, x figure.Axis, series [][][2]float64, format func(float64) string, zero bool) *figure.Panel {
	var values []float64
	for _, points := range series {
		for _, p := range points {
			values = append(values, p[1])
		}
	}
	y := figure.NewAxis(values, false, 4, format)
	if zero || y.Log {
		y = y.FromZero()
	}
	panel := figure.NewPanel(title).XY(x, y, "")
	for i, points := range series {
		for _, p := range points {
			panel.Add(figure.Mark{X: p[0], Y: p[1], Style: figure.Glyph(i, 1.8)})
		}
	}
	return panel
}

func init() {
	reports.Register(reports.Kind{
		Name: "machine",
		Recognise: func(s *reports.Source) bool {
			return !slices.ContainsFunc(s.Machines, func(r *results.Set) bool { return !reports.IsMachine(r) })
		},
		Build: func(_ context.Context, s *reports.Source) (*doc.Document, error) { return machineDocument(s), nil },
	})
}

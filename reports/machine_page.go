package reports

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/sysinfo"
)

// machinePage is what the template shows.
type machinePage struct {
	shell
	Advice   []string
	Problems []string
	Sections []machineSection
	Matrices []machineMatrix
	Machines []machineFacts
	Several  bool
}

// A machineSection is a table with its picture.
type machineSection struct {
	Sheet   *sheet
	About   string
	Figures []pageFigure
}

// A machineMatrix is the round trips between CPUs.
type machineMatrix struct {
	Machine string
	CPUs    []int
	Rows    []machineMatrixRow
}

type machineMatrixRow struct {
	CPU   int
	Cells []machineMatrixCell
}

// A machineMatrixCell has the share of the longest round trip, in per cent, as its shade.
type machineMatrixCell struct {
	Text  string
	Shade template.CSS
}

type machineFacts struct {
	Name, Command string
	Environment   []fact
}

// WriteMachinesHTML writes machines side by side as one page that needs nothing beside it.
func WriteMachinesHTML(w io.Writer, machines []Machine) error {
	r := newMachineReport(machines)
	p := machinePage{shell: newShell(r.title(), r.machines[0].subtitle()), Several: len(r.machines) > 1}
	if p.Several {
		p.Subtitle = ""
	}
	pictures := map[string][]*figure{
		"bandwidth": {r.sweepFigure()}, "latency": {r.latencyFigure()}, "peaks": {r.peakFigure()}, "costs": r.timeFigures(),
	}
	for _, s := range r.sheets() {
		section := machineSection{Sheet: s, About: s.Caption}
		s.Caption = "" // which a narrow table would break into many lines
		for _, f := range pictures[s.ID] {
			if f == nil {
				continue
			}
			svg, err := f.svg()
			if err != nil {
				return err
			}
			section.Figures = append(section.Figures, newPageFigure(drawnFigure{f, svg}, ""))
		}
		p.Sections = append(p.Sections, section)
	}
	for _, m := range r.machines {
		p.Advice = append(p.Advice, m.advice())
		p.Problems = append(p.Problems, m.remarks()...)
		if matrix, ok := m.matrix(); ok {
			p.Matrices = append(p.Matrices, matrix)
		}
		facts := machineFacts{Name: m.name, Command: m.res.Setting("command")}
		for _, s := range m.res.Settings {
			if s.Key != results.UnmeasuredKey {
				facts.Environment = append(facts.Environment, fact{s.Key, s.Value})
			}
		}
		p.Machines = append(p.Machines, facts)
	}
	return renderPage(w, machineTemplate(), p)
}

func (r *machineReport) title() string {
	if len(r.machines) > 1 {
		return fmt.Sprintf("onebit machine · %d machines", len(r.machines))
	}
	return strings.Replace(r.machines[0].title(), "onebit", "onebit machine", 1)
}

// matrix is the heat map of round trips; false if there are fewer than three CPUs, of which the table
// says all.
func (m *machineResults) matrix() (machineMatrix, bool) {
	cpus, cells := m.pairs()
	if len(cpus) < 3 {
		return machineMatrix{}, false
	}
	longest := 0.0
	for _, c := range cells {
		v, _ := c.center(results.NsPerOp)
		longest = max(longest, v)
	}
	out := machineMatrix{Machine: m.name, CPUs: cpus}
	for _, from := range cpus {
		row := machineMatrixRow{CPU: from}
		for _, to := range cpus {
			var cell machineMatrixCell
			if c := cells[[2]int{min(from, to), max(from, to)}]; c != nil && from != to {
				v, _ := c.center(results.NsPerOp)
				cell.Text = strconv.FormatFloat(v, 'f', 0, 64)
				cell.Shade = template.CSS(fmt.Sprintf("background:color-mix(in srgb, var(--s1) %.0f%%, var(--paper))", 60*v/max(longest, 1e-9)))
			}
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, true
}

// A machineLine is a series of points over sizes.
type machineLine struct {
	name   string
	points [][2]float64 // ascending
}

// lines collects a line for each machine and value of a key.
func (r *machineReport) lines(base, key, unit string, text func(string) string, keep func(results.Name) bool) (out []machineLine) {
	for _, c := range r.columns(r.keys(base, key), text) {
		line := machineLine{name: c.label}
		for _, cs := range c.machine.ofBase(base) {
			v, ok := cs.center(unit)
			if size := names.BytesOf(cs.name); ok && v > 0 && size > 0 && cs.name.Get(key) == c.value && keep(cs.name) {
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
func (r *machineReport) sweepFigure() *figure {
	pages := "huge"
	if !slices.Contains(r.keys(names.BaseBandwidth, names.Pages), pages) {
		pages = "small"
	}
	lines := r.lines(names.BaseBandwidth, names.Threads, results.ReadRate, threadsText, func(n results.Name) bool {
		return n.Get(names.Access) == names.ReadAccess && n.Get(names.Pages) == pages
	})
	return r.sizesFigure("sweep", "Reading, over sizes", "Bytes read per second over how many bytes are read again and again, on "+pages+" pages, all threads together.",
		lines, results.UnitOf(results.ReadRate).Format)
}

// latencyFigure is how long a load takes, over sizes.
func (r *machineReport) latencyFigure() *figure {
	lines := r.lines(names.BaseLatency, names.Pages, results.NsPerOp, func(p string) string { return p + " pages" }, func(results.Name) bool { return true })
	return r.sizesFigure("latency-curve", "Latency, over sizes", "Time of a load that waits for the one before, over how many bytes they are from.", lines, results.UnitOf(results.NsPerOp).Format)
}

// sizesFigure draws lines over sizes; nil if there are none.
func (r *machineReport) sizesFigure(name, heading, reading string, lines []machineLine, format func(float64) string) *figure {
	if len(lines) == 0 {
		return nil
	}
	var xs, ys []float64
	for _, l := range lines {
		for _, p := range l.points {
			xs, ys = append(xs, p[0]), append(ys, p[1])
		}
	}
	f := &figure{name: name, heading: heading, reading: reading, width: narrowWidth, height: 330}
	panel := newPanel("")
	sizesAxis(xs).apply(&panel.X)
	panel.X.Tick.Marker = sizesAxis(xs)
	newAxis(ys, true, 6, format).apply(&panel.Y)
	addGrid(panel, true, true)
	for i, l := range lines {
		panel.Add(polyline{points: l.points, color: inkOf(seriesRole(i)), width: 1.6})
		for _, p := range l.points {
			panel.Add(mark{p[0], p[1], glyph(i, 3.5)})
		}
		f.legend = append(f.legend, legendEntry{l.name, glyph(i, 4.5)})
	}
	f.panels = [][]*plot.Plot{{panel}}
	return f
}

// A sizeAxis is a logarithmic axis with labels at powers of 16.
type sizeAxis struct{ valueAxis }

func sizesAxis(sizes []float64) sizeAxis {
	return sizeAxis{newAxis(sizes, true, 8, func(v float64) string { return sizeText(int(v)) })}
}

// apply sets the axis.
func (a sizeAxis) apply(axis *plot.Axis) {
	a.valueAxis.apply(axis)
	axis.Tick.Marker = a
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

// peakFigure is the multiply-adds of each instruction set, as bars.
func (r *machineReport) peakFigure() *figure {
	type peak struct {
		label string
		value float64
		role  int
	}
	var peaks []peak
	columns := r.columns(r.keys(names.BaseDotPeak, names.Threads), threadsText)
	for _, kind := range []string{names.Int8, "f32", "bf16"} {
		for _, isa := range r.isas(kind) {
			for i, c := range columns {
				n, _ := strconv.Atoi(c.value)
				cs := c.machine.byName[names.DotPeak{Type: kind, ISA: isa, Threads: n}.String()]
				if cs == nil {
					continue
				}
				if v, ok := cs.center(results.OpRate); ok {
					peaks = append(peaks, peak{label(kind + " " + isa), v, i})
				}
			}
		}
	}
	if len(peaks) == 0 {
		return nil
	}
	var rows []string
	var values []float64
	for i, p := range peaks {
		values = append(values, p.value)
		name := p.label
		if i > 0 && peaks[i-1].label == name {
			name = "" // under the one above
		}
		rows = append(rows, name)
	}
	f := &figure{name: "peaks-bars", heading: "Multiply-adds per second", reading: "Multiply-adds per second of each instruction set, in registers.", width: narrowWidth,
		height: vg.Length(18*len(rows) + 50), margin: 60}
	panel := newPanel("")
	newAxis(values, false, 3, results.UnitOf(results.OpRate).Format).fromZero().apply(&panel.X)
	nominalAxis(panel, rows, true)
	addGrid(panel, true, false)
	for i, p := range peaks {
		row := rowAt(i, len(peaks))
		panel.Add(bar{from: 0, to: p.value, row: row, half: 6, color: inkOf(seriesRole(p.role))}, besides{lo: 0, hi: p.value, row: row, text: results.UnitOf(results.OpRate).Format(p.value)})
	}
	for i, c := range columns {
		f.legend = append(f.legend, legendEntry{c.label, glyph(i, 4.5)})
	}
	f.panels = [][]*plot.Plot{{panel}}
	return f
}

// timeFigures are, for each machine, the clock's frequency and what others took of the CPUs over the
// run.
func (r *machineReport) timeFigures() (out []*figure) {
	for i, m := range r.machines {
		var seconds []float64
		clock, stolen, others := m.over(results.ClockRate), m.over(results.StolenShare), m.over(results.OtherShare)
		for _, p := range slices.Concat(clock, stolen, others) {
			seconds = append(seconds, p[0])
		}
		if len(clock) < 2 {
			continue
		}
		x := newAxis(seconds, false, 5, func(v float64) string { return fmt.Sprintf("%.3g s", v) }).fromZero()
		heading := "The clock and the CPUs, over the run"
		if m.name != "" {
			heading += ": " + m.name
		}
		f := &figure{name: fmt.Sprintf("over-time-%d", i+1), heading: heading, width: narrowWidth, height: 380,
			reading: "Above, the frequency of the clock right after each sample; of several threads, their mean. Below, the share of all CPUs' time that others had in the quarter of a second before."}
		top := timePanel("clock frequency", x, [][][2]float64{clock}, results.UnitOf(results.ClockRate).Format, false)
		bottom := timePanel("share of CPU time", x, [][][2]float64{others, stolen}, results.UnitOf(results.StolenShare).Format, true)
		f.panels = [][]*plot.Plot{{top}, {bottom}}
		f.legend = []legendEntry{{"above: the clock; below: other processes", glyph(0, 4.5)}, {"the hypervisor", glyph(1, 4.5)}}
		out = append(out, f)
	}
	return out
}

// over is a unit's values over the seconds of the run.
func (m *machineResults) over(unit string) (points [][2]float64) {
	for _, s := range m.res.Samples {
		at, ok1 := s.Value(results.SinceStart)
		v, ok2 := s.Value(unit)
		if ok1 && ok2 {
			points = append(points, [2]float64{at, v})
		}
	}
	slices.SortStableFunc(points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return points
}

func timePanel(title string, x valueAxis, series [][][2]float64, format func(float64) string, zero bool) *plot.Plot {
	panel := newPanel(title)
	x.apply(&panel.X)
	var values []float64
	for _, points := range series {
		for _, p := range points {
			values = append(values, p[1])
		}
	}
	y := newAxis(values, false, 4, format)
	if zero || y.log {
		y = y.fromZero()
	}
	y.apply(&panel.Y)
	addGrid(panel, true, true)
	for i, points := range series {
		for _, p := range points {
			panel.Add(mark{p[0], p[1], glyph(i, 1.8)})
		}
	}
	return panel
}

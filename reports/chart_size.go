package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/figure"
)

func init() {
	registerChart(chart{
		order: 30, name: "size", heading: "Bits per weight and peak memory",
		about: "Shorter is smaller. Bits per weight counts the packed matrix, padding and scales included, as the variant reads it; " +
			"peak memory is that of a process which holds the tensor, packs it and multiplies once. Its bars show what exceeds that which every such process held " +
			"besides its packed weights, the Go runtime above all, because a matrix is small against that; the whole is in brackets.",
		figures: sizeFigures,
	})
}

func sizeFigures(d *digest) []*figure.Figure {
	var figures []*figure.Figure
	for _, f := range []*figure.Figure{weightFigure(d), memoryFigure(d)} {
		if f != nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// A sizeBar is one length of a bar chart, with all the variants that share it.
type sizeBar struct {
	format string
	value  float64
	part   float64 // what of it is in the format's colour: packed weights
	shared []string
	all    int // variants of the format
}

func (b sizeBar) label() string {
	if len(b.shared) == b.all && b.all > 1 {
		return figure.Label(b.format + ", all variants")
	}
	if len(b.shared) > 2 {
		return figure.Label(fmt.Sprintf("%s %s and %d more", b.format, b.shared[0], len(b.shared)-1))
	}
	return figure.Label(b.format + " " + strings.Join(b.shared, ", "))
}

// mergeBars joins the variants of a format whose values print alike.
func mergeBars(format string, values map[string]float64, text func(float64) string) []sizeBar {
	var bars []sizeBar
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, naturalCompare)
	for _, name := range names {
		i := slices.IndexFunc(bars, func(b sizeBar) bool { return text(b.value) == text(values[name]) })
		if i < 0 {
			bars = append(bars, sizeBar{format: format, value: values[name], all: len(values)})
			i = len(bars) - 1
		}
		bars[i].shared = append(bars[i].shared, name)
	}
	return bars
}

// weightFigure shows bits per weight over all the tasks of a format.
func weightFigure(d *digest) *figure.Figure {
	var bars []sizeBar
	for _, f := range d.families() {
		values := make(map[string]float64)
		for _, name := range variants(f.cases) {
			var all []float64
			for _, t := range f.tasks {
				for _, c := range t.cases {
					if v, ok := t.bytesPerWeight(c); ok && c.variant == name {
						all = append(all, 8*v)
					}
				}
			}
			if mean, ok := geomean(all); ok {
				values[name] = mean
			}
		}
		bars = append(bars, mergeBars(f.title(), values, formatBits)...)
	}
	for i := range bars {
		bars[i].part = bars[i].value
	}
	return barFigure("size-weights", "Bits per weight", bars, formatBits, func(b sizeBar) string { return formatBits(b.value) })
}

// memoryFigure shows the peak memory of each format's largest task, beyond what every process of the
// run held besides its weights: the runtime alone is larger than most matrices.
func memoryFigure(d *digest) *figure.Figure {
	var bars []sizeBar
	var shapes []string
	text := results.UnitOf(results.PeakRSS).Format
	for _, f := range d.families() {
		if f.base == names.BaseModel {
			continue // has a chart of its own
		}
		t := f.tasks[len(f.tasks)-1] // tasks are in the order of their size
		peaks, parts := make(map[string]float64), make(map[string]float64)
		for _, c := range t.cases {
			if v, ok := c.center(results.PeakRSS); ok && v > 0 {
				peaks[c.variant] = max(peaks[c.variant], v)
				parts[c.variant] = sum(c, results.PackedBytes)
			}
		}
		if len(peaks) == 0 {
			continue
		}
		for _, b := range mergeBars(f.title(), peaks, text) {
			b.part = parts[b.shared[0]]
			bars = append(bars, b)
		}
		shapes = append(shapes, t.shape)
	}
	if len(bars) == 0 {
		return nil
	}
	heading := "Peak memory"
	if slices.Sort(shapes); len(slices.Compact(shapes)) == 1 && shapes[0] != "" {
		heading += ", " + shapes[0]
	} else {
		heading += ", largest shape of each format"
	}
	return memoryBars(figure.Label(heading), bars)
}

func memoryBars(heading string, bars []sizeBar) *figure.Figure {
	text := results.UnitOf(results.PeakRSS).Format
	base := math.Inf(1)
	for _, b := range bars {
		base = max(0, min(base, b.value-b.part))
	}
	for i := range bars {
		bars[i].value -= base
	}
	f := barFigure("size-memory", heading, bars, text, func(b sizeBar) string {
		return fmt.Sprintf("%s (%s in all)", text(b.value), text(b.value+base))
	})
	f.Panels[0][0].X.Label.Text = "beyond the " + text(base) + " that every process held besides its weights"
	f.Height += 16
	f.Legend = []figure.LegendEntry{figure.Square("memory other than packed weights", roleRest)}
	return f
}

// barFigure draws horizontal bars, shortest on top; nil if there are none.
func barFigure(name, heading string, bars []sizeBar, text func(float64) string, whole func(sizeBar) string) *figure.Figure {
	if len(bars) == 0 {
		return nil
	}
	slices.SortStableFunc(bars, func(a, b sizeBar) int { return cmp.Compare(a.value, b.value) })
	formats := make([]string, len(bars))
	for i, b := range bars {
		formats[i] = b.format
	}
	colors := figure.AssignMarks(formats, figure.FormatMark)
	rows := make([]string, len(bars))
	values := make([]float64, len(bars))
	for i, b := range bars {
		rows[i], values[i] = b.label(), b.value
	}
	axis := figure.NewAxis(append(values, 0), false, 8, text).FromZero()
	axis.Max *= 1.2 // room for the values behind the bars
	axis.Binary = strings.HasSuffix(text(1), "B")
	p := figure.NewPanel("")
	axis.Apply(&p.X)
	figure.NominalAxis(p, rows, true)
	figure.AddGrid(p, true, false)
	for i, b := range bars {
		row := figure.RowAt(i, len(bars))
		part := min(b.part, b.value)
		end := figure.AddStack(p, []figure.Segment{{Length: part, Role: figure.Series(colors[b.format])}, {Length: b.value - part, Role: roleRest}}, row)
		p.Add(figure.Behind{Value: end, Row: row, Text: whole(b)})
	}
	first, last := bars[0], bars[len(bars)-1]
	reading := fmt.Sprintf("Smallest: %s, %s.", first.label(), whole(first))
	if len(bars) > 1 {
		reading += fmt.Sprintf(" Largest: %s, %s.", last.label(), whole(last))
	}
	return &figure.Figure{
		Name: name, Heading: heading, Reading: reading,
		Height: figure.RowsHeight(len(bars), 1), Panels: [][]*plot.Plot{{p}},
	}
}

package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/figure"
)

func init() {
	kernelCharts.Add(chart[kernelReport]{
		order: 6, name: "error-speed", heading: "Error against speed",
		about: "Right is faster, down is more accurate; both are geometric means over shapes. All formats and activation schemes are here: variants of a format and scheme " +
			"whose errors are equal, as those of all integer variants are to the last bit, share a point, that of the fastest. The error is that against the exact product of " +
			"the same weights, so it is what rounding the activations costs; the dotted lines are what that rounding costs alone, whatever computes. Bits are those of a packed " +
			"weight, scales and padding included. Ringed points on the dashed front are beaten in one respect only by giving up the other.",
		figures: paretoFigures,
	})
}

// kernelErrorUnits are the measures of a product's error, the first that is there.
var kernelErrorUnits = []string{results.NMSE, results.KLD}

// paretoFigures is one figure of all products.
func paretoFigures(d kernelReport) []*figure.Figure {
	if t := d.errorSpeed(); t != nil {
		return []*figure.Figure{tradeFigure(t)}
	}
	return nil
}

// errorSpeed is what speed costs in error; nil if no error was measured.
func (d kernelReport) errorSpeed() *trade {
	families := slices.DeleteFunc(d.families(), func(f *family) bool { return f.base == names.BaseModel || f.tasks[0].ops == 0 })
	for _, unit := range kernelErrorUnits {
		var cases []*caseStats
		for _, f := range families {
			if measured(f.cases, unit) {
				cases = append(cases, f.cases...)
			}
		}
		t := newTrade("error-speed", "Error against speed: formats and activation schemes", unit, results.OpRate)
		formats := make([]string, len(families))
		for i, f := range families {
			formats[i] = f.title()
		}
		marks := figure.AssignMarks(formats, figure.FormatMark)
		for _, p := range panels(cases) {
			var points []tradePoint
			for _, f := range families {
				points = append(points, f.tradePoints(p, unit, marks[f.title()])...)
			}
			t.add(p, points)
		}
		if unit == results.NMSE {
			t.yardsticks = roundingAlone(cases)
			t.notes = yardstickNotes(t.yardsticks)
		}
		for _, f := range families {
			if slices.ContainsFunc(t.shown, func(p panel) bool {
				return slices.ContainsFunc(t.points[p], func(q tradePoint) bool { return q.series == marks[f.title()] })
			}) {
				t.legend = append(t.legend, figure.LegendEntry{Label: figure.Label(f.title()), Glyph: figure.Glyph(marks[f.title()], 4)})
			}
		}
		if len(t.shown) > 0 {
			return t
		}
	}
	return nil
}

// tradePoints are those of a format: of each activation scheme and error the fastest variant.
func (f *family) tradePoints(p panel, unit string, series int) []tradePoint {
	var points []tradePoint
	schemes := make(map[string]string)
	for _, name := range variants(f.cases) {
		var speeds, errors, sizes []float64
		for _, t := range f.tasks {
			for _, c := range in(p, t.cases) {
				speed, ok := t.speed(c)
				e, known := c.center(unit)
				if !ok || !known || c.variant != name {
					continue
				}
				speeds, errors = append(speeds, speed), append(errors, e)
				if size, ok := t.bytesPerWeight(c); ok {
					sizes = append(sizes, 8*size)
				}
				schemes[name] = c.name.Get(names.Act)
			}
		}
		speed, ok := geomean(speeds)
		if !ok {
			continue
		}
		text := []string{f.title()}
		if size, ok := geomean(sizes); ok {
			text = append(text, bitsText(size))
		}
		if scheme := schemes[name]; scheme != "" {
			text = append(text, scheme)
		}
		e := meanError(errors)
		full := strings.Join(text, ", ")
		if variant, _, _ := strings.Cut(name, " "); variant != "" {
			full += ", " + variant
		}
		points = append(points, tradePoint{variant: name, speed: speed, error: e, text: full, short: strings.TrimSuffix(f.title()+", "+schemes[name], ", "), series: series, lo: e, hi: e})
	}
	return fastestOfEach(points, func(q tradePoint) string { return schemes[q.variant] })
}

func bitsText(size float64) string {
	if text := formatBits(size); text != "1" {
		return text + " bits"
	}
	return "1 bit"
}

// roundingAlone are the errors that rounding the activations alone makes, by scheme, over all formats.
func roundingAlone(cases []*caseStats) []figure.Yardstick {
	errors := make(map[string][]float64)
	var schemes []string
	for _, c := range cases {
		scheme := c.name.Get(names.Act)
		if e, ok := c.center(results.ActNMSE); ok && e > figure.Negligible && !math.IsInf(e, 0) && scheme != "" {
			schemes = append(schemes, scheme)
			errors[scheme] = append(errors[scheme], e)
		}
	}
	slices.SortFunc(schemes, naturalCompare)
	var all []figure.Yardstick
	for _, scheme := range slices.Compact(schemes) {
		e := noise.Percentile(errors[scheme], 50)
		all = append(all, figure.Yardstick{Name: figure.Label(scheme), Error: e})
	}
	return all
}

func yardstickNotes(all []figure.Yardstick) []string {
	var parts []string
	for _, y := range all {
		parts = append(parts, fmt.Sprintf("%s %s (%.1f dB)", y.Name, results.UnitOf(results.ActNMSE).Format(y.Error), -10*math.Log10(y.Error)))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Dotted: what rounding the activations costs alone, whatever computes: " + strings.Join(parts, ", ") + "."}
}

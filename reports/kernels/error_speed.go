package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/words"
)

func init() {
	drawings.Add(charts.Chart[report]{
		Order: 6, Name: "error-speed", Heading: "Error against speed",
		About:   "Right is faster, down is more accurate, and nothing beats the ringed points in both. Variants of equal error share a point, that of the fastest.",
		Figures: paretoFigures,
	})
}

// kernelErrorUnits are the measures of a product's error, the first that is there.
var kernelErrorUnits = []string{results.NMSE, results.KLD}

// paretoFigures is one figure of all products.
func paretoFigures(d report) []*figure.Figure {
	if t := d.errorSpeed(); t != nil {
		return []*figure.Figure{charts.Draw(t)}
	}
	return nil
}

// errorSpeed is what speed costs in error; nil if no error was measured.
func (d report) errorSpeed() *charts.Trade {
	families := slices.DeleteFunc(d.Families(), func(f *digest.Family) bool { return f.Base == names.BaseModel || f.Tasks[0].Ops == 0 })
	for _, unit := range kernelErrorUnits {
		var cases []*digest.Case
		for _, f := range families {
			if digest.Measured(f.Cases, unit) {
				cases = append(cases, f.Cases...)
			}
		}
		t := charts.NewTrade("error-speed", "Error against speed: formats and activation schemes", unit, results.OpRate)
		formats := make([]string, len(families))
		for i, f := range families {
			formats[i] = f.Title()
		}
		marks := figure.AssignMarks(formats, figure.FormatMark)
		for _, p := range digest.Panels(cases) {
			var points []charts.Point
			for _, f := range families {
				points = append(points, tradePoints(f, p, unit, marks[f.Title()])...)
			}
			t.Add(p, points)
		}
		if unit == results.NMSE {
			t.Yardsticks = roundingAlone(cases)
			t.Notes = yardstickNotes(t.Yardsticks)
		}
		if len(t.Shown) > 0 {
			t.Lead = d.Lead(t.Shown)
			return t
		}
	}
	return nil
}

// tradePoints are those of a format: of each activation scheme and error the fastest variant.
func tradePoints(f *digest.Family, p digest.Panel, unit string, series int) []charts.Point {
	var points []charts.Point
	schemes := make(map[string]string)
	for _, name := range digest.Variants(f.Cases) {
		var speeds, errors, sizes []float64
		for _, t := range f.Tasks {
			for _, c := range digest.In(p, t.Cases) {
				speed, ok := t.Speed(c)
				e, known := c.Center(unit)
				if !ok || !known || c.Variant != name {
					continue
				}
				speeds, errors = append(speeds, speed), append(errors, e)
				if size, ok := t.BytesPerWeight(c); ok {
					sizes = append(sizes, 8*size)
				}
				schemes[name] = c.Name.Get(names.Act)
			}
		}
		speed, ok := words.Geomean(speeds)
		if !ok {
			continue
		}
		text := []string{f.Title()}
		if size, ok := words.Geomean(sizes); ok {
			text = append(text, bitsText(size))
		}
		if scheme := schemes[name]; scheme != "" {
			text = append(text, scheme)
		}
		e := charts.MeanError(errors)
		full := strings.Join(text, ", ")
		if variant, _, _ := strings.Cut(name, " "); variant != "" {
			full += ", " + variant
		}
		points = append(points, charts.Point{Variant: name, Speed: speed, Error: e, Text: full, Short: strings.TrimSuffix(f.Title()+", "+schemes[name], ", "), Series: series, Lo: e, Hi: e})
	}
	return charts.FastestOfEach(points, func(q charts.Point) string { return schemes[q.Variant] })
}

func bitsText(size float64) string {
	if text := words.Bits(size); text != "1" {
		return text + " bits"
	}
	return "1 bit"
}

// roundingAlone are the errors that rounding the activations alone makes, by scheme, over all formats.
func roundingAlone(cases []*digest.Case) []figure.Yardstick {
	errors := make(map[string][]float64)
	var schemes []string
	for _, c := range cases {
		scheme := c.Name.Get(names.Act)
		if e, ok := c.Center(results.ActNMSE); ok && e > figure.Negligible && !math.IsInf(e, 0) && scheme != "" {
			schemes = append(schemes, scheme)
			errors[scheme] = append(errors[scheme], e)
		}
	}
	slices.SortFunc(schemes, words.Compare)
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

package digest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// NoAdvice stands for advice where all that could be chosen was emulated.
func (d *Digest) NoAdvice() string {
	return fmt.Sprintf("No advice: %s emulated what was timed, which says nothing about speed.", d.Results.Machine().Emulator)
}

// RankedLegend explains the table's words where they first appear.
func (d *Digest) RankedLegend() string {
	covers := "± is of this one process: another run may differ by more"
	if slices.ContainsFunc(d.Cases, func(c *Case) bool { return c.Stats[results.NsPerOp].NextRun }) {
		covers = "± holds what a run minutes later finds, 19 times in 20"
	}
	if slices.ContainsFunc(d.Cases, func(c *Case) bool { s := c.Stats[results.NsPerOp]; return s.Bounded() && s.Spread() > 1 }) {
		covers += " (×÷3: from a third to three times the figure)"
	}
	return covers + "; a tie can't be told from the row above."
}

// Lead is how far ahead of another something is that takes so many times less.
func Lead(ratio float64) string {
	if ratio < 1.15 {
		return words.Percent(ratio - 1)
	}
	return fmt.Sprintf("%.1f times", ratio)
}

// An Extent is the range of values seen; none if nothing was.
type Extent struct {
	Lo, Hi float64
	Any    bool
}

func (e *Extent) Add(v float64, ok bool) {
	if !ok || math.IsNaN(v) {
		return
	}
	if !e.Any {
		*e = Extent{v, v, true}
	}
	e.Lo, e.Hi = min(e.Lo, v), max(e.Hi, v)
}

// The words that all kinds of report use for the same things.

// ValueOf formats the median in a unit of a case, which may be lacking; "" if there is none.
func ValueOf(c *Case, unit string) string {
	if c != nil {
		if v, ok := c.Center(unit); ok {
			return results.UnitOf(unit).Format(v)
		}
	}
	return ""
}

// SignedValue is ValueOf with the signs of less trust behind a time.
func SignedValue(c *Case, unit string) string {
	text := ValueOf(c, unit)
	if text != "" && unit == results.NsPerOp {
		text += c.Signs
	}
	return text
}

// TimeOf formats a case's time.
func (d *Digest) TimeOf(c *Case) string { return ValueOf(c, results.NsPerOp) }

// spread formats the confidence interval relative to the median, as benchstat does; "" for a unit
// without statistics or a value measured once.
func (s stat) SpreadText(unit string) string {
	switch {
	case results.UnitOf(unit).Exact, len(s.Values) == 1:
		return ""
	case s.Center == 0:
		return "" // there is no share of nothing
	case !s.Bounded():
		return words.UnknownSpread
	case s.Lo == s.Hi:
		return ""
	}
	return words.Spread(s.Spread())
}

// Text formats an extent in a unit's form.
func (e Extent) Text(format func(float64) string) string {
	switch {
	case !e.Any:
		return ""
	case format(e.Lo) == format(e.Hi):
		return format(e.Lo)
	}
	return format(e.Lo) + " to " + format(e.Hi)
}

// NamesOf lists the variants of cases within a sentence.
func NamesOf(cases []*Case) string {
	return words.Names(words.Mapped(cases, func(c *Case) string { return c.Variant }))
}

// NoiseText is the sentence on the noise floors.
func (d *Digest) NoiseText() string {
	var known, unknown []string
	for _, f := range d.Floors {
		class := cmp.Or(f.Class, "all cases")
		if !f.Known() {
			unknown = append(unknown, class)
			continue
		}
		known = append(known, fmt.Sprintf("%s (%s; 95%% interval %s to %s; %s, worst %s)",
			words.Percent(f.Floor), class, words.Percent(f.Lo), words.Percent(f.Hi), count.Of(f.Pairs, "A/A pair"), words.Percent(f.Worst)))
	}
	var text string
	if len(known) > 0 {
		text = fmt.Sprintf("One comparison in twenty of identical code differs by more than %s. %s", words.List(known), tieRule)
	}
	switch {
	case len(unknown) == 0:
	case len(known) == 0 && len(unknown) > 1:
		text = "There are too few A/A pairs to know a noise floor: differences are judged by their intervals alone."
	default:
		text += fmt.Sprintf(" There are too few A/A pairs to know the noise floor of %s: differences are judged by their intervals alone.", strings.Join(unknown, "; "))
	}
	return words.Sentences(strings.TrimSpace(text), d.coldText())
}

// coldText says over how much the cases that are not to find their weights in a cache rotate; "" if the
// file doesn't say.
func (d *Digest) coldText() string {
	size, err := strconv.ParseFloat(d.Results.Setting(coldBytes), 64)
	if err != nil || !slices.ContainsFunc(d.Cases, func(c *Case) bool { return c.Panel.Cache == names.Cold }) {
		return ""
	}
	return fmt.Sprintf("Cold cases rotate over %s of weights.", results.UnitOf(results.PackedBytes).Format(size))
}

// coldBytes is the setting that says so.
const coldBytes = "cold-bytes"

// uselessFloor is the noise floor from which on a ranking says little.
const uselessFloor = 0.2

// FloorDoubt is what stands beside a verdict on cases of a class whose noise is unknown or too large; ""
// else.
func (d *Digest) FloorDoubt(class string) string {
	f := d.Floors.Of(class)
	of := words.If(class != "", " of "+class)
	switch {
	case !f.Known():
		return fmt.Sprintf("The noise%s is unknown: there are too few A/A pairs.", of)
	case f.Floor > uselessFloor:
		return fmt.Sprintf("Too noisy to tell small leads: one comparison in twenty of identical code%s differs by more than %s.", of, words.Percent(f.Floor))
	}
	return ""
}

// tieRule is what noise.Floors.Compare does where the floor is known.
const tieRule = "Cases are compared by slices that are neighbours in time: where the median ratio differs by less, " +
	"or its 95% interval contains 1, that is called a tie."

// NoiseLine is the same in a line, for a chart.
func (d *Digest) NoiseLine() string {
	var known []float64
	unknown := ""
	for _, f := range d.Floors {
		if !f.Known() {
			unknown = " Of some classes of cases it is unknown: there are too few A/A pairs."
		}
		if f.Known() {
			known = append(known, f.Floor)
		}
	}
	if len(known) == 0 {
		return "The noise floor is unknown, for there are too few A/A pairs: ties are told by intervals alone."
	}
	lo, hi := words.Percent(slices.Min(known)), words.Percent(slices.Max(known))
	if lo != hi {
		hi = lo + " to " + hi + ", by threads and cache"
	}
	return fmt.Sprintf("One comparison in twenty of identical code differs by more than %s: smaller differences are ties.", hi) + unknown
}

// LengthOf is a value with its interval.
func LengthOf(s stat) doc.Length {
	if !s.Bounded() || words.Spread(s.Spread()) == words.UnknownSpread {
		return doc.Length{Value: s.Center, Low: s.Center, High: s.Center}
	}
	return doc.Length{Value: s.Center, Low: s.Lo, High: s.Hi}
}

// NewScale is that of the bars of cases in a unit.
func NewScale(cases []*Case, unit string) doc.Scale {
	timed := slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool { _, ok := c.Stats[unit]; return !ok })
	return doc.NewScale(timed, func(c *Case) doc.Length { return LengthOf(c.Stats[unit]) }, results.UnitOf(unit).Better > 0)
}

// Named is a variant with its mark.
func (d *Digest) Named(variant string) doc.Cell {
	return doc.Cell{Text: variant, Mark: doc.MarkOf(d.Marks[variant])}
}

func Measured(cases []*Case, unit string) bool {
	return slices.ContainsFunc(cases, func(c *Case) bool { _, ok := c.Center(unit); return ok })
}

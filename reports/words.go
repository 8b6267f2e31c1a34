package reports

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
)

// The words that all kinds of report use for the same things.

// valueOf formats a case's median in a unit; "" if there is none.
func valueOf(c *caseStats, unit string) string {
	v, ok := c.center(unit)
	if !ok {
		return ""
	}
	return results.UnitOf(unit).Format(v)
}

// signedValue is valueOf with the signs of less trust behind a time.
func signedValue(c *caseStats, unit string) string {
	text := valueOf(c, unit)
	if text != "" && unit == results.NsPerOp {
		text += c.signs
	}
	return text
}

// timeOf formats a case's time.
func (d *digest) timeOf(c *caseStats) string { return valueOf(c, results.NsPerOp) }

// spread formats the confidence interval relative to the median, as benchstat does; "" for a unit
// without statistics or a value measured once.
func (s stat) spread(unit string) string {
	switch {
	case results.UnitOf(unit).Exact, len(s.values) == 1:
		return ""
	case s.Center == 0:
		return "" // there is no share of nothing
	case !s.bounded():
		return unknownSpread
	case s.Lo == s.Hi:
		return ""
	}
	return formatSpread(s.Spread())
}

// unknownSpread stands where samples are too few, or too unlike, for an interval.
const unknownSpread = "±?"

// formatSpread is how far an interval reaches on either side of its center: a share of that, one below
// a per cent to a tenth, and from twice as much on a factor, which is what divides on the other side. One of a factor of
// ten, as of two samples, says nothing of the next run.
func formatSpread(share float64) string {
	switch {
	case !(share < 9):
		return unknownSpread
	case share > 1:
		return fmt.Sprintf("×÷%.1f", 1+share)
	}
	if share >= 0.0005 && share < 0.0095 {
		return fmt.Sprintf("±%.1f %%", 100*share)
	}
	return fmt.Sprintf("±%.0f %%", 100*share)
}

// times formats a ratio.
func times(r float64) string {
	switch {
	case math.IsNaN(r) || math.IsInf(r, 0):
		return "?"
	case r >= 99.95:
		return fmt.Sprintf("%.0f×", r)
	case r >= 9.995:
		return fmt.Sprintf("%.1f×", r)
	}
	return fmt.Sprintf("%.2f×", r)
}

// percent formats a fraction.
func percent(f float64) string {
	if f >= 0.995 {
		return fmt.Sprintf("%.0f %%", 100*f)
	}
	return fmt.Sprintf("%.2g %%", 100*f)
}

// text formats an extent in a unit's form.
func (e extent) text(format func(float64) string) string {
	switch {
	case !e.any:
		return ""
	case format(e.lo) == format(e.hi):
		return format(e.lo)
	}
	return format(e.lo) + " to " + format(e.hi)
}

// conditions names a panel within a sentence.
func conditions(p panel) string {
	if s := p.String(); s != "" {
		return s
	}
	return "all conditions"
}

// namesOf lists the variants of cases within a sentence.
func namesOf(cases []*caseStats) string {
	list := make([]string, len(cases))
	for i, c := range cases {
		list[i] = c.variant
	}
	return joinNames(list)
}

// joinNames lists variants within a sentence.
func joinNames(list []string) string {
	if len(list) > 4 {
		return fmt.Sprintf("%s and %d others", strings.Join(list[:3], ", "), len(list)-3)
	}
	return enumerate(list)
}

// enumerate lists all within a sentence.
func enumerate(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// versusBest heads the ratios by which ties are told. They are no quotients of the times beside them.
const versusBest = "vs best"

// versusAbout says so.
const versusAbout = "how many times longer than the best, and the 95% interval: the median of the ratios between neighbours in time, by which ties are told, and not the ratio of the times shown"

// noiseText is the sentence on the noise floors.
func (d *digest) noiseText() string {
	var known, unknown []string
	for _, f := range d.floors {
		class := cmp.Or(f.Class, "all cases")
		if !f.Known() {
			unknown = append(unknown, class)
			continue
		}
		known = append(known, fmt.Sprintf("%s (%s; 95%% interval %s to %s; %s, worst %s)",
			percent(f.Floor), class, percent(f.Lo), percent(f.Hi), count.Of(f.Pairs, "A/A pair"), percent(f.Worst)))
	}
	var text string
	if len(known) > 0 {
		text = fmt.Sprintf("One comparison in twenty of identical code differs by more than %s. %s", enumerate(known), tieRule)
	}
	switch {
	case len(unknown) == 0:
	case len(known) == 0 && len(unknown) > 1:
		text = "There are too few A/A pairs to know a noise floor: differences are judged by their intervals alone."
	default:
		text += fmt.Sprintf(" There are too few A/A pairs to know the noise floor of %s: differences are judged by their intervals alone.", strings.Join(unknown, "; "))
	}
	return sentences(strings.TrimSpace(text), d.coldText())
}

// coldText says over how much the cases that are not to find their weights in a cache rotate; "" if the
// file doesn't say.
func (d *digest) coldText() string {
	size, err := strconv.ParseFloat(d.res.Setting(coldBytes), 64)
	if err != nil || !slices.ContainsFunc(d.cases, func(c *caseStats) bool { return c.panel.cache == names.Cold }) {
		return ""
	}
	return fmt.Sprintf("Cold cases rotate over %s of weights.", results.UnitOf(results.PackedBytes).Format(size))
}

// coldBytes is the setting that says so.
const coldBytes = "cold-bytes"

// uselessFloor is the noise floor from which on a ranking says little.
const uselessFloor = 0.2

// floorDoubt is what stands beside a verdict on cases of a class whose noise is unknown or too large; ""
// else.
func (d *digest) floorDoubt(class string) string {
	f := d.floors.Of(class)
	of := textIf(class != "", " of "+class)
	switch {
	case !f.Known():
		return fmt.Sprintf("The noise%s is unknown: there are too few A/A pairs.", of)
	case f.Floor > uselessFloor:
		return fmt.Sprintf("Too noisy to tell small leads: one comparison in twenty of identical code%s differs by more than %s.", of, percent(f.Floor))
	}
	return ""
}

// tieRule is what noise.Floors.Compare does where the floor is known.
const tieRule = "Cases are compared by slices that are neighbours in time: where the median ratio differs by less, " +
	"or its 95% interval contains 1, that is called a tie."

// noiseLine is the same in a line, for a chart.
func (d *digest) noiseLine() string {
	var known []float64
	unknown := ""
	for _, f := range d.floors {
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
	lo, hi := percent(slices.Min(known)), percent(slices.Max(known))
	if lo != hi {
		hi = lo + " to " + hi + ", by threads and cache"
	}
	return fmt.Sprintf("One comparison in twenty of identical code differs by more than %s: smaller differences are ties.", hi) + unknown
}

// lengthOf is a value with its interval.
func lengthOf(s stat) doc.Length {
	if !s.bounded() || formatSpread(s.Spread()) == unknownSpread {
		return doc.Length{Value: s.Center, Low: s.Center, High: s.Center}
	}
	return doc.Length{Value: s.Center, Low: s.Lo, High: s.Hi}
}

// newScale is that of the bars of cases in a unit.
func newScale(cases []*caseStats, unit string) doc.Scale {
	var all []doc.Length
	for _, c := range cases {
		if s, ok := c.stats[unit]; ok {
			all = append(all, lengthOf(s))
		}
	}
	return doc.NewScale(all, results.UnitOf(unit).Better > 0)
}

// named is a variant with its mark.
func (d *digest) named(variant string) doc.Cell {
	return doc.Cell{Text: variant, Mark: doc.MarkOf(d.marks[variant])}
}

// weightText is the winner's bits per weight.
func (v verdict) weightText() string {
	return v.weight.text(func(bytes float64) string { return formatBits(8 * bytes) })
}

// formatBits prints bits per weight so that 1.125 and 2.0625 can be told from their neighbours.
func formatBits(v float64) string { return fmt.Sprintf("%.4g", v) }

// warnings lists the run's own warnings and what the header makes doubtful.
func (d *digest) warnings() []string {
	warnings := slices.Clone(d.res.Warnings)
	if m := d.res.Machine(); m.Emulated() {
		warnings = append(warnings, fmt.Sprintf("These results were taken under emulation, by %s: they say nothing about speed.", m.Emulator))
	}
	if len(d.res.Samples) == 0 {
		warnings = append(warnings, "The file holds no samples.")
	}
	return warnings
}

// rawText says where the samples are.
func (d *digest) rawText() string {
	return fmt.Sprintf("%s of %s are in the results file, one line each, in the Go benchmark format: benchstat and every tool "+
		"like it reads them. The same charts are in the folder plots.", count.Of(len(d.res.Samples), "sample"), count.Of(len(d.cases), "case"))
}

// geomean returns the geometric mean of xs as the exponential of the running mean of their
// logarithms, which can't overflow. It is not defined unless there is a value and all are positive.
func geomean(xs []float64) (mean float64, ok bool) {
	logs := 0.0
	for i, x := range xs {
		if !(x > 0) {
			return math.NaN(), false
		}
		logs += (math.Log(x) - logs) / float64(i+1)
	}
	return math.Exp(logs), len(xs) > 0
}

// exactNumber prints the fewest digits that read back as v.
func exactNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// subtitleNames say what a setting is where its value alone would not.
var subtitleNames = map[string]string{"cpus-usable": "%s CPUs", "l3": "%s L3", "mem-total": "%s memory"}

// subtitle says of the machine what a title does not.
func (d *digest) subtitle(title string) string {
	var parts []string
	for _, key := range []string{"cpu", "cpus-usable", "l3", "mem-total", "goos", "goarch", "commit"} {
		// A value that could not be found out is its reason, which belongs to the list below.
		v := d.res.Setting(key)
		said := slices.Contains(strings.Split(title, " · "), v[:min(len(v), shortCommit)]) || slices.Contains(strings.Split(title, " · "), v)
		if v != "" && v != "unknown" && !strings.HasPrefix(v, "unavailable") && !said {
			if named := subtitleNames[key]; named != "" {
				v = fmt.Sprintf(named, v)
			}
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, " · ")
}

func measured(cases []*caseStats, unit string) bool {
	return slices.ContainsFunc(cases, func(c *caseStats) bool { _, ok := c.center(unit); return ok })
}

func signedPercent(v float64) string {
	if math.Abs(v) < 1e-9 {
		return "0"
	}
	return fmt.Sprintf("%+.3g%%", v)
}

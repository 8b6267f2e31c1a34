package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

const (
	// ceilingMoved is the change of a ceiling that is worth a line.
	ceilingMoved = 0.1

	// otherLength is how many times as long samples are, at least, that are worth a line.
	otherLength = 2

	// topRows is how many cases are shown where none clears the noise, and how many of other lists.
	topRows = 5

	// mostNamed is how many changes the first line names.
	mostNamed = 3
)

// verdict says in a line what the comparison says.
func (c *Comparison) verdict() string {
	parts := c.named()
	if n := changedCases(c.Exact); n > 0 {
		parts = append(parts, "errors or bytes differ in "+count.Of(n, "case"))
	}
	if n := len(moved(c.Memory)); n > 0 {
		parts = append(parts, "peak memory differs in "+count.Of(n, "layout"))
	}
	if n := len(c.Failed); n > 0 {
		parts = append(parts, fmt.Sprintf("%s wrong in %s only", count.Of(n, "case"), c.New.Label))
	}
	switch {
	case len(parts) == 0:
		parts = append(parts, "nothing shows a change")
	case c.Suite.Sign == 0:
		parts = append(parts, "nothing else shows a change")
	}
	return c.emulatedText() + strings.Join(parts, "; ")
}

// named says which times changed: the suite, classes, variants as a whole, and cases that are of none of these.
func (c *Comparison) named() (parts []string) {
	if c.Suite.Sign != 0 {
		parts = append(parts, "all cases together are "+words.Slower(c.Suite.Ratio)+c.ceilingClause())
	}
	for _, s := range c.Classes {
		if s.Sign != 0 && c.Suite.Sign == 0 {
			parts = append(parts, fmt.Sprintf("the %d cases of %s are %s", s.Cases, s.Class, words.Slower(s.Ratio)+c.ceilingClause()))
		}
	}
	found := []CaseChange{}
	for _, f := range c.together() {
		found = append(found, f.CaseChange)
	}
	found = append(found, c.alone()...)
	slices.SortStableFunc(found, func(a, b CaseChange) int {
		return cmp.Compare(math.Abs(math.Log(b.Change)), math.Abs(math.Log(a.Change)))
	})
	for _, x := range found[:min(len(found), mostNamed)] {
		parts = append(parts, fmt.Sprintf("%s is %s, ±%s", x.Name, words.Slower(x.Change), words.Percent(x.Within)))
	}
	if n := len(found) - mostNamed; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more changed", n))
	}
	return parts
}

// together are the formats and variants that changed as a whole. A part that changed as all
// of a format did is not named beside it.
func (c *Comparison) together() (all []FamilyChange) {
	families := slices.Clone(c.Families)
	slices.SortStableFunc(families, func(a, b FamilyChange) int { return cmp.Compare(a.kind, b.kind) })
	within := make(map[string]FamilyChange)
	for _, f := range families {
		if f.Sign == 0 || !slices.ContainsFunc(f.Cases, func(name string) bool { return !f.agrees(within[name]) }) {
			continue
		}
		all = append(all, f)
		for _, name := range f.Cases {
			within[name] = f
		}
	}
	return all
}

// agrees reports whether the change is in the direction of that of a whole, and may be as large.
func (f FamilyChange) agrees(whole FamilyChange) bool {
	return f.Sign == whole.Sign && math.Abs(math.Log(f.Change/whole.Change)) <= math.Log1p(f.Within+whole.Within)
}

// alone are the cases that changed, and not with their variant or format as a whole.
func (c *Comparison) alone() (all []CaseChange) {
	within := make(map[string]int)
	for _, f := range c.together() {
		for _, name := range f.Cases {
			within[name] = f.Sign
		}
	}
	for _, x := range moved(c.Cases) {
		if within[x.Name] != x.Sign {
			x.Name = digest.CaseName(x.Name)
			all = append(all, x)
		}
	}
	return all
}

// emulatedText says what no verdict may leave out: that the machine is none.
func (c *Comparison) emulatedText() string {
	if c.Old.Emulated || c.New.Emulated {
		return "emulated, which says nothing about speed: "
	}
	return ""
}

// power is the least change that this pair of runs shows: of variants as a whole, or of cases where there are no
// variants; of what is near the best of its work if there are such cases. why says what a case alone shows.
func (c *Comparison) power() (least, of, why string) {
	noises := func(cases []CaseChange) float64 {
		var near, all []float64
		for _, x := range cases {
			if all = append(all, x.Noise); !x.coarse {
				near = append(near, x.Noise)
			}
		}
		if len(near) > 0 {
			return noise.Median(near)
		}
		return noise.Median(all)
	}
	var variants []CaseChange
	for _, f := range c.Families {
		if f.kind == noise.Family {
			variants = append(variants, f.CaseChange)
		}
	}
	byClass := make(map[string][]CaseChange)
	for _, x := range c.Cases {
		byClass[x.Class] = append(byClass[x.Class], x)
	}
	var classes digest.Extent
	for _, cases := range byClass {
		classes.Add(noises(cases), true)
	}
	const chance = "One in twenty of the changes that are named may be false (Benjamini and Hochberg)."
	switch {
	case len(variants) > 0:
		return atLeast(noises(variants)), "is the least change of a variant that this pair of runs shows",
			words.Sentences("A case alone shows changes from "+classes.Text(atLeast)+" on.", chance)
	case classes.Any:
		return classes.Text(atLeast), "is the least change of a case that this pair of runs shows", chance
	}
	return "", "", ""
}

// next is the command that tells what two runs at different times can't.
func (c *Comparison) next() doc.Command {
	const kernels = " --suite kernels"
	suite := ""
	for _, x := range c.Cases {
		switch results.ParseName(x.Name).Base {
		case names.BaseMatVec, names.BaseKernel:
			suite = kernels
		case names.BaseModel:
			suite = " --suite models"
		}
	}
	line := "onebit gate" + suite + " --base-binary OLD --head-binary NEW"
	if filter := c.surestFilter(); suite == kernels && filter != "" {
		line += " --filter " + term.ShellWord(filter)
	}
	return doc.Command{Line: line, Does: "measures both programs in turns, which shows less"}
}

// surestFilter selects the variant whose change is the surest: a gate over all cases of a run takes an hour. It is
// "" if there is none, or if its names are no plain words.
func (c *Comparison) surestFilter() string {
	variants := slices.DeleteFunc(slices.Clone(c.Families), func(f FamilyChange) bool { return f.kind != noise.Family })
	if len(variants) == 0 {
		return ""
	}
	surest := slices.MaxFunc(variants, func(a, b FamilyChange) int { return cmp.Compare(a.inNoise(), b.inNoise()) })
	name := results.ParseName(surest.Cases[0])
	var parts []string
	for _, key := range []string{names.Format, names.Variant} {
		v := name.Get(key)
		if v == "" || strings.ContainsFunc(v, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
		}) {
			return ""
		}
		parts = append(parts, "/"+key+":"+v)
	}
	return strings.Join(parts, " ")
}

// atLeast names a difference that noise hides, which hostile or tiny files can make absurd.
func atLeast(scatter float64) string {
	if scatter >= 1 {
		return fmt.Sprintf("a factor of %.3g", 1+scatter)
	}
	return words.Percent(scatter)
}

// ceilingClause says what the ceilings have to do with a shift.
func (c *Comparison) ceilingClause() string {
	if len(c.Ceilings) == 0 {
		return " (no ceiling was measured: it may be the machine)"
	}
	return ", the machine's ceilings are not"
}

func changedCases(changes []ExactChange) int {
	var all []string
	for _, c := range changes {
		all = append(all, c.Name)
	}
	return len(slices.Compact(all)) // they are in the order of names
}

// moved are the changes beyond noise.
func moved(changes []CaseChange) []CaseChange {
	return slices.DeleteFunc(slices.Clone(changes), func(c CaseChange) bool { return c.Sign == 0 })
}

// firstOf takes the first rows of a list, and leaves the rest.
func firstOf[T any](list *[]T) []T {
	n := min(len(*list), topRows)
	first := (*list)[:n]
	*list = (*list)[n:]
	return first
}

// remarks are the lines between the verdict and the tables.
func (c *Comparison) remarks() []string {
	var out []string
	ceilings := slices.DeleteFunc(slices.Clone(c.Ceilings), func(x CeilingChange) bool { return math.Abs(math.Log(x.Speed)) < math.Log1p(ceilingMoved) })
	slices.SortStableFunc(ceilings, func(a, b CeilingChange) int {
		return cmp.Compare(math.Abs(math.Log(b.Speed)), math.Abs(math.Log(a.Speed)))
	})
	for _, x := range firstOf(&ceilings) {
		out = append(out, fmt.Sprintf("The machine: %s %s in %s (%s).", x.What, speedText(x.Speed), c.New.Label, x.Class))
	}
	if s := c.Suite; !c.Few && s.Sign == 0 {
		out = append(out, "All cases together: "+s.text()+".")
	}
	for _, s := range c.Classes {
		if c.Suite.Sign == 0 && s.Sign == 0 && !c.Few && math.Abs(math.Log(s.Ratio)) > math.Log1p(s.Noise) {
			out = append(out, fmt.Sprintf("The %s of %s together: %s.", count.Of(s.Cases, "case"), s.Class, s.text()))
		}
	}
	if c.Few {
		out = append(out, fmt.Sprintf("%s can't show what two runs differ by: 9 %% is assumed.", count.Of(len(c.Cases), "case")))
	}
	out = append(out, c.coverage())
	for _, text := range c.Models {
		out = append(out, text+": their cases are not compared.")
	}
	if c.OneProcess {
		out = append(out, "A file has cases of one process: what differs between processes is seen in the spread of all cases only.")
	}
	out = append(out, c.unlikeFiles()...)
	out = append(out, c.Old.doubts(c.New)...)
	out = append(out, c.New.doubts(c.Old)...)
	for _, s := range c.Settings {
		if slices.Contains(tellingSettings, s.Key) {
			out = append(out, fmt.Sprintf("%s: %s, then %s", s.Key, settingText(s.Old), settingText(s.New)))
		}
	}
	for _, name := range firstOf(&c.Failed) {
		out = append(out, fmt.Sprintf("Wrong in %s only, not timed: %s", c.New.Label, name))
	}
	return out
}

// unlikeFiles says what makes files of two kinds less comparable.
func (c *Comparison) unlikeFiles() (out []string) {
	for _, o := range []RunOrigin{c.Old, c.New} {
		if o.Unsliced {
			out = append(out, o.Label+" is of the format before samples had slices: it is compared by whole samples, which tells less.")
		}
	}
	if c.Longer >= otherLength || c.Longer <= 1/otherLength {
		out = append(out, fmt.Sprintf("A sample takes %.2g times as long in %s as in %s (median): shorter ones scatter more.", c.Longer, c.New.Label, c.Old.Label))
	}
	return out
}

// text says of a shift without a sign why it has none.
func (s Shift) text() string {
	switch {
	case math.Abs(math.Log(s.Ratio)) <= math.Log1p(s.Noise):
		return fmt.Sprintf("%s, within the noise of %s", words.Slower(s.Ratio), words.Percent(s.Noise))
	case s.Machine:
		return words.Slower(s.Ratio) + ", which the machine's ceilings explain"
	case s.Unlike:
		return words.Slower(s.Ratio) + ", which may be the machine: a run was disturbed, its threads were nearer each other, or its ceilings moved"
	}
	return words.Slower(s.Ratio) + ", but not in every class"
}

// speedText says how the rate of a ceiling changed.
func speedText(speed float64) string {
	if speed < 1 {
		return fmt.Sprintf("took %.2f times as long", 1/speed)
	}
	return fmt.Sprintf("was %.2f times as fast", speed)
}

// doubts is a line on the warnings that the other run has not.
func (o RunOrigin) doubts(other RunOrigin) []string {
	own := slices.DeleteFunc(slices.Clone(o.Warnings), func(w string) bool { return slices.Contains(other.Warnings, w) })
	if len(own) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has %s of its own, such as: %s", o.Label, count.Of(len(own), "warning"), own[0])}
}

// tellingSettings are those whose change tells why runs differ.
var tellingSettings = []string{"cpu", "commit", "go-version", "gomaxprocs", "governor", "cpu-limit", "cold-bytes", "seed"}

// settingText is a setting without the reason why it is not known.
func settingText(value string) string {
	value, _, _ = strings.Cut(value, ": ")
	return cmp.Or(value, "not said")
}

func (c *Comparison) coverage() string {
	text := count.Of(len(c.Cases), "case") + " in both"
	if c.OnlyOld > 0 {
		text += fmt.Sprintf("; %s only in %s", count.Grouped(c.OnlyOld), c.Old.Label)
	}
	if c.OnlyNew > 0 {
		text += fmt.Sprintf("; %s only in %s", count.Grouped(c.OnlyNew), c.New.Label)
	}
	if c.NoTime > 0 {
		text += fmt.Sprintf("; %s not compared, for a time is 0 or less", count.Of(c.NoTime, "case"))
	}
	return text + "."
}

// largest are the cases that differ most, in units of their noise.
func (c *Comparison) largest() []CaseChange {
	sorted := slices.Clone(c.Cases)
	slices.SortStableFunc(sorted, func(a, b CaseChange) int { return cmp.Compare(b.inNoise(), a.inNoise()) })
	return firstOf(&sorted)
}

func (c CaseChange) inNoise() float64 { return math.Abs(math.Log(c.Change)) / math.Log1p(c.Noise) }

func signed(ratio float64) string {
	change := 100 * (ratio - 1)
	if math.Abs(change) >= 99.5 {
		return fmt.Sprintf("%+.0f %%", change)
	}
	return fmt.Sprintf("%+.1f %%", change)
}

// source says of a picture which run this is.
func (o RunOrigin) source() string {
	parts := []string{figure.Label(o.Label)}
	if o.Started != "" {
		parts = append(parts, "measured "+figure.Label(o.Started))
	}
	if o.Commit != "" {
		parts = append(parts, "commit "+figure.Label(o.Commit))
	}
	return strings.Join(parts, " · ")
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// shortNames leaves out of names what all of them share, and keys whose values speak for themselves.
func shortNames(full []string) []string {
	parsed := make([]results.Name, len(full))
	for i, name := range full {
		parsed[i] = results.ParseName(name)
	}
	shared := func(key, value string) bool {
		return !slices.ContainsFunc(parsed, func(n results.Name) bool { return n.Get(key) != value })
	}
	short := make([]string, len(full))
	for i, n := range parsed {
		parts := []string{n.Base}
		for _, k := range n.Keys {
			if k.Key == "" || !shared(k.Key, k.Value) {
				parts = append(parts, digest.NamedValue(k))
			}
		}
		short[i] = strings.Join(parts, " ")
	}
	return short
}

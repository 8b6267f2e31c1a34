package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/figure"
)

// A digest is what every report shows: each case's statistics, in an order that depends on names
// alone, because the file's own order is that of randomised rounds.
type digest struct {
	res    *results.Set
	cases  []*caseStats
	units  []string // units with a value: onebit's in their order, then the others by name
	floors noise.Floors
	tasks  []*task
	marks  map[string]int // variant → series of its colour and shape
	byBase map[string][]*caseStats
}

// caseStats is one case: a benchmark name with all of its samples.
type caseStats struct {
	name    results.Name
	variant string // what competes: the variant, with its activation scheme if need be, and its packing
	panel   panel
	stats   map[string]stat
	samples int
	signs   string // of less trust; see sign
}

// A stat is one case's values in one unit.
type stat struct {
	noise.Estimate
	values []float64 // as measured, in the order of the rounds
}

// bounded reports whether there were samples enough for a confidence interval.
func (s stat) bounded() bool { return s.Bounded() }

// A panel is the condition under which a variant ran; charts show panels as small multiples.
type panel struct{ threads, cache string }

// onGPU stands for the threads of what a GPU does.
const onGPU = "GPU"

func panelOf(n results.Name) panel {
	if names.OnGPU(n) {
		return panel{onGPU, n.Get(names.Cache)}
	}
	return panel{n.Get(names.Threads), n.Get(names.Cache)}
}

func (p panel) String() string {
	var parts []string
	switch p.threads {
	case "":
	case onGPU:
		parts = append(parts, "the GPU")
	case "1":
		parts = append(parts, "1 thread")
	default:
		parts = append(parts, p.threads+" threads")
	}
	if p.cache != "" {
		parts = append(parts, p.cache+" cache")
	}
	return strings.Join(parts, ", ")
}

// plot is an empty panel of a figure, which a reader may choose by its condition and shape.
func (p panel) plot(shape string) *figure.Panel {
	empty := figure.NewPanel(p.String())
	empty.Threads, empty.Cache, empty.Shape = p.threads, p.cache, shape
	return empty
}

// A task is work that several variants do: the same product, or the same test of a model.
type task struct {
	base    string // MatVec
	subject string // the format or the model
	title   string // q1_0_g128 6144×2048
	shape   string // 6144×2048, or what else is left of the name
	kind    string // of a test of a model, one of names.TestKinds; "" if none of them
	ops     float64
	cases   []*caseStats
}

// newDigest is that of one machine's results; warnings are more about their files.
func newDigest(res *results.Set, warnings ...string) *digest {
	if len(warnings) > 0 {
		warned := *res
		warned.Warnings = slices.Concat(res.Warnings, warnings)
		res = &warned
	}
	d := gather(res)
	nameVariants(d.cases)
	d.form()
	return d
}

// gather makes a digest whose cases have no variants yet.
func gather(res *results.Set) *digest {
	d := &digest{res: res}
	d.floors = noise.FloorsOf(res)
	d.collect()
	d.sign()
	return d
}

// form puts cases that have variants into tasks.
func (d *digest) form() {
	slices.SortStableFunc(d.cases, func(a, b *caseStats) int { return naturalCompare(a.name.Full, b.name.Full) })
	d.byBase = make(map[string][]*caseStats)
	for _, c := range d.cases {
		d.byBase[c.name.Base] = append(d.byBase[c.name.Base], c)
	}
	d.formTasks()
}

// collect gathers the samples of each case.
func (d *digest) collect() {
	byName := make(map[string]*caseStats)
	byUnit := samplesByUnit(d.res.Samples)
	for _, unit := range inOrder(byUnit) {
		// Of the samples that have the unit, since there may be as many units as samples.
		of := *d.res
		of.Samples = byUnit[unit]
		series := noise.Estimates(&of, unit)
		if len(series) > 0 {
			d.units = append(d.units, unit)
		}
		for _, s := range series {
			c := byName[s.Name.Full]
			if c == nil {
				c = &caseStats{name: s.Name, stats: make(map[string]stat)}
				c.panel = panelOf(s.Name)
				byName[s.Name.Full] = c
				d.cases = append(d.cases, c)
			}
			c.stats[unit] = stat{s, s.Values}
			c.samples = max(c.samples, len(s.Values))
		}
	}
	for _, c := range d.cases {
		c.condensed()
	}
}

// condensed takes the interval of a case's time from its line, where one line stands for all samples; see Share.
func (c *caseStats) condensed() {
	low, high := results.Bounds(results.NsPerOp)
	lo, lower := c.center(low)
	hi, upper := c.center(high)
	if time, timed := c.stats[results.NsPerOp]; timed && lower && upper && lo <= time.Center && time.Center <= hi {
		time.Lo, time.Hi, time.NextRun = lo, hi, true
		c.stats[results.NsPerOp] = time
	}
}

func samplesByUnit(samples []results.Sample) map[string][]results.Sample {
	byUnit := make(map[string][]results.Sample)
	for _, s := range samples {
		here := make(map[string]bool, len(s.Values))
		for _, v := range s.Values {
			if !here[v.Unit] {
				here[v.Unit] = true
				byUnit[v.Unit] = append(byUnit[v.Unit], s)
			}
		}
	}
	return byUnit
}

// inOrder lists units: those that bench knows in its order, then the others by name.
func inOrder[V any](of map[string]V) []string {
	var units, others []string
	known := make(map[string]bool, len(results.Units))
	for _, u := range results.Units {
		known[u.Name] = true
		if _, present := of[u.Name]; present {
			units = append(units, u.Name)
		}
	}
	for u := range of {
		if !known[u] {
			others = append(others, u)
		}
	}
	slices.Sort(others)
	return append(units, others...)
}

// nameVariants gives each case the name under which it competes. The activation scheme is part of it
// only where one format or model has the same variant with several.
func nameVariants(cases []*caseStats) {
	type key struct{ base, subject, variant string }
	schemes := make(map[key]string)
	several := make(map[key]bool)
	keyOf := func(c *caseStats) key {
		if m := c.name.Get(names.Model); m != "" { // one engine, whichever of its parts this is
			return key{names.BaseModel, m, c.name.Get(names.Variant)}
		}
		return key{c.name.Base, names.SubjectOf(c.name), c.name.Get(names.Variant)}
	}
	for _, c := range cases {
		k, act := keyOf(c), c.name.Get(names.Act)
		if first, ok := schemes[k]; ok && first != act {
			several[k] = true
		} else {
			schemes[k] = act
		}
	}
	for _, c := range cases {
		c.variant = c.name.Get(names.Variant)
		if c.variant != "" && several[keyOf(c)] {
			c.variant = strings.TrimSpace(c.variant + " " + c.name.Get(names.Act))
		}
		packing := c.name.Get(names.Packing)
		if c.variant != "" && packing != "" && !strings.HasSuffix(c.name.Get(names.Variant), "-"+packing) {
			c.variant += " " + packing // which the name of a variant may say already
		}
	}
}

// byScheme is the variant with its activation scheme, which its name may lack: several variants of a name differ in
// nothing else.
func (c *caseStats) byScheme() string {
	act := c.name.Get(names.Act)
	if act == "" || strings.Contains(" "+c.variant+" ", " "+act+" ") {
		return c.variant
	}
	return c.variant + " under " + act
}

// formTasks groups the cases that have a variant by the work that they do. Parts of a model's work,
// and errors, are no work to compete in.
func (d *digest) formTasks() {
	byWork := make(map[string]*task)
	var variants []string
	for _, c := range d.cases {
		if c.variant == "" {
			continue
		}
		variants = append(variants, c.variant)
		if c.partOfModel() {
			continue
		}
		work := c.name.Without(names.Engine, names.Variant, names.Act, names.Packing, names.Threads, names.Cache)
		t := byWork[work]
		if t == nil {
			t = newTask(c.name)
			byWork[work] = t
			d.tasks = append(d.tasks, t)
		}
		t.cases = append(t.cases, c)
	}
	slices.SortStableFunc(d.tasks, func(a, b *task) int {
		return cmp.Or(naturalCompare(a.base, b.base), naturalCompare(a.subject, b.subject),
			cmp.Compare(a.ops, b.ops), cmp.Compare(testOrder(a.kind), testOrder(b.kind)), naturalCompare(a.title, b.title))
	})
	d.marks = figure.AssignMarks(variants, figure.VariantMark)
}

func newTask(name results.Name) *task {
	test, _ := names.TestOf(name)
	t := &task{base: name.Base, subject: names.SubjectOf(name), kind: test.Kind}
	rows, cols := name.Get(names.Rows), name.Get(names.Cols)
	var parts []string
	for _, k := range name.Keys {
		switch k.Key {
		case names.Format, names.Engine, names.Variant, names.Act, names.Packing, names.Threads, names.Cache, names.Cols:
		case names.Rows:
			parts = append(parts, rows+"×"+cols)
		case names.Depth:
			parts = append(parts, "@ d"+k.Value) // as llama-bench writes it
		case "", names.Test:
			parts = append(parts, k.Value)
		case names.Model:
			if k.Value != t.subject {
				parts = append(parts, k.Value)
			}
		default:
			parts = append(parts, k.Key+"="+k.Value)
		}
	}
	r, rerr := strconv.ParseFloat(rows, 64)
	c, cerr := strconv.ParseFloat(cols, 64)
	if rerr == nil && cerr == nil && r > 0 && c > 0 {
		t.ops = r * c
	}
	t.shape = strings.Join(parts, " ")
	t.title = strings.TrimSpace(t.subject + " " + t.shape)
	if t.title == "" {
		t.title = t.base
	}
	return t
}

// panels lists the conditions under which any of the cases ran, in order.
func panels(cases []*caseStats) []panel {
	var all []panel
	for _, c := range cases {
		all = append(all, c.panel)
	}
	slices.SortFunc(all, func(a, b panel) int {
		return cmp.Or(naturalCompare(a.threads, b.threads), naturalCompare(a.cache, b.cache))
	})
	return slices.Compact(all)
}

// emulated reports whether times under a condition are an emulator's: all of a program that runs in
// one, or those of a GPU that is played.
func (d *digest) emulated(p panel) bool {
	e := d.res.Machine().Emulator
	return e != "" && (e != results.PlayedGPU || p.threads == onGPU)
}

// measured are the conditions that were not emulated; all of them if each was.
func (d *digest) measured(all []panel) []panel {
	some := slices.DeleteFunc(slices.Clone(all), d.emulated)
	if len(some) == 0 {
		return all
	}
	return some
}

// decisive are the conditions by whose fastest a choice is made: most threads, and the GPU; of each
// the cold cache, if that was measured. What was emulated is none, if there is anything else.
func (d *digest) decisive(all []panel) []panel {
	var some []panel
	for _, p := range d.measured(all) {
		last := len(some) - 1
		switch {
		case last < 0 || (p.threads == onGPU) != (some[last].threads == onGPU):
			some = append(some, p)
		case p.threads != some[last].threads || some[last].cache != names.Cold:
			some[last] = p
		}
	}
	return some
}

// in returns the cases that ran under a condition.
func in(p panel, cases []*caseStats) []*caseStats {
	var some []*caseStats
	for _, c := range cases {
		if c.panel == p {
			some = append(some, c)
		}
	}
	return some
}

// in is the task under one condition alone.
func (t *task) in(p panel) *task {
	some := *t
	some.cases = in(p, t.cases)
	return &some
}

// center returns the case's median in a unit.
func (c *caseStats) center(unit string) (float64, bool) {
	s, ok := c.stats[unit]
	return s.Center, ok
}

// speed is the case's multiply-adds per second.
func (t *task) speed(c *caseStats) (float64, bool) {
	if v, ok := c.center(results.OpRate); ok {
		return v, v > 0
	}
	ns, ok := c.center(results.NsPerOp)
	if !ok || ns <= 0 || t.ops == 0 {
		return 0, false
	}
	return t.ops / ns * 1e9, true
}

// bytesPerWeight is the size of the packed weights over their number.
func (t *task) bytesPerWeight(c *caseStats) (float64, bool) {
	packed, ok := c.center(results.PackedBytes)
	if !ok || packed <= 0 || t.ops == 0 {
		return 0, false
	}
	return packed / t.ops, true
}

// logitsOf is the error of the predictions of a case's model and variant; nil if it was not measured.
func (d *digest) logitsOf(c *caseStats) *caseStats {
	return sameVariant(slices.DeleteFunc(slices.Clone(d.byBase[names.BaseLogits]), func(l *caseStats) bool {
		return l.name.Get(names.Model) != c.name.Get(names.Model)
	}), c)
}

// sameVariant finds the case of c's variant and, if the names have one, activation scheme.
func sameVariant(cases []*caseStats, c *caseStats) *caseStats {
	for _, other := range cases {
		act := other.name.Get(names.Act)
		if other.name.Get(names.Variant) == c.name.Get(names.Variant) && (act == "" || act == c.name.Get(names.Act)) {
			return other
		}
	}
	return nil
}

// naturalCompare orders strings with their numbers by value: q2 before q16, 640×2560 before 2560×640.
func naturalCompare(a, b string) int {
	whole := cmp.Compare(a, b)
	for a != "" && b != "" {
		na, nb := leadingDigits(a), leadingDigits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// Package digest is what results say, in the order of names alone: each case with its statistics, the tasks that variants
// compete in, who is fastest in them, what can't be told apart, and how noisy the run was. Kinds of report of runs of
// benchmarks are made of it.
//
// # What the names of benchmarks mean to a report
//
// The key variant (with act, where one variant has several activation schemes, and packing) names the
// competitors. threads and cache are the conditions that charts show side by side. The rest of the
// name, such as format, rows and cols or model and test, is the task: only variants of one task under
// one condition are ranked. Benchmarks and units that onebit doesn't know still get their table.
//
// Whole models have a section of their own, of five kinds of lines:
//
//	Model/model=…/variant=…/packing=…/test=tg128/threads=2         speed, memory: a row per variant and threads
//	Op/model=…/variant=…/…/test=tg128/threads=2/block=3/op=…       time by operation, summed over blocks
//	Lockstep/model=…/variant=…/input=isolated/block=3/tensor=…     error by block and by projection
//	Logits/model=…/variant=…/tokens=512                            error of the predictions
//	Head/model=…/variant=…/head=q8_0                               what the output head is, and what another would give
//
// test is load, ttft (time to first token), or llama-bench's pp and tg with a number; llama-bench
// itself is one more variant. A model has thousands of Op and Lockstep lines: sheets and charts show
// them folded, and only CSV gives each its line. Variants whose errors are the same number for number,
// as those of one activation scheme are, share a line of a chart.
//
// Two variants tie if they differ by less than the noise floor of their class of cases, or by less than
// chance explains; see [noise.Floors].
package digest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// Source says of a picture that stands alone where and when its results were taken, and their noise.
func (d *Digest) Source() []string {
	var parts []string
	add := func(format, key string) {
		// A value that could not be found out is its reason.
		if v := d.Results.Setting(key); v != "" && !strings.HasPrefix(v, "unavailable") {
			parts = append(parts, fmt.Sprintf(format, figure.Label(v)))
		}
	}
	add("%s", "cpu")
	add("%s CPUs", "cpus-usable")
	add("%s", "platform")
	add("measured %s", "started")
	add("commit %s", "commit")
	return []string{strings.Join(parts, " · "), d.NoiseLine()}
}

// Families groups the tasks whose variants are drawn together: by benchmark and format.
func (d *Digest) Families() []*Family {
	var all []*Family
	for _, t := range d.Tasks {
		if n := len(all); n == 0 || all[n-1].Base != t.Base || all[n-1].Subject != t.Subject {
			all = append(all, &Family{Base: t.Base, Subject: t.Subject})
		}
		f := all[len(all)-1]
		f.Tasks = append(f.Tasks, t)
		f.Cases = append(f.Cases, t.Cases...)
	}
	return all
}

// A Family is the tasks of one benchmark and format.
type Family struct {
	Base, Subject string
	Tasks         []*Task
	Cases         []*Case
}

func (f *Family) Title() string { return cmp.Or(f.Subject, f.Base) }

// Variants lists who competes in some cases, in natural order.
func Variants(cases []*Case) []string {
	var names []string
	for _, c := range cases {
		names = append(names, c.Variant)
	}
	slices.SortFunc(names, words.Compare)
	return slices.Compact(names)
}

// SortBy orders names by a score, lowest first; names without one come last.
func SortBy(names []string, score func(string) (float64, bool)) {
	type scored struct {
		score float64
		known bool
	}
	scores := make(map[string]scored, len(names))
	for _, name := range names {
		v, ok := score(name)
		scores[name] = scored{v, ok}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		x, okX := scores[a].score, scores[a].known
		y, okY := scores[b].score, scores[b].known
		switch {
		case okX && okY:
			return cmp.Compare(x, y)
		case okX:
			return -1
		case okY:
			return 1
		}
		return 0
	})
}

// A Digest is what every report shows: each case's statistics, in an order that depends on names
// alone, because the file's own order is that of randomised rounds.
type Digest struct {
	Results *results.Set
	Cases   []*Case
	Units   []string // units with a value: onebit's in their order, then the others by name
	Floors  noise.Floors
	Tasks   []*Task
	Marks   map[string]int // variant → series of its colour and shape
	ByBase  map[string][]*Case
}

// Case is one case: a benchmark name with all of its samples.
type Case struct {
	Name    results.Name
	Variant string // what competes: the variant, with its activation scheme if need be, and its packing
	Panel   Panel
	Stats   map[string]stat
	samples int
	Signs   string // of less trust; see sign
}

// A stat is one case's values in one unit.
type stat struct {
	noise.Estimate
	Values []float64 // as measured, in the order of the rounds
}

// A Panel is the condition under which a variant ran; charts show panels as small multiples.
type Panel struct{ Threads, Cache string }

// onGPU stands for the threads of what a GPU does.
const onGPU = "GPU"

func PanelOf(n results.Name) Panel {
	if names.OnGPU(n) {
		return Panel{onGPU, n.Get(names.Cache)}
	}
	return Panel{n.Get(names.Threads), n.Get(names.Cache)}
}

func (p Panel) String() string {
	var parts []string
	switch p.Threads {
	case "":
	case onGPU:
		parts = append(parts, "the GPU")
	case "1":
		parts = append(parts, "1 thread")
	default:
		parts = append(parts, p.Threads+" threads")
	}
	if p.Cache != "" {
		parts = append(parts, p.Cache+" cache")
	}
	return strings.Join(parts, ", ")
}

// Plot is an empty panel of a figure, which a reader may choose by its condition and shape.
func (p Panel) Plot(shape string) *figure.Panel {
	empty := figure.NewPanel(p.String())
	empty.Threads, empty.Cache, empty.Shape = p.Threads, p.Cache, shape
	return empty
}

// A Task is work that several variants do: the same product, or the same test of a model.
type Task struct {
	Base    string // MatVec
	Subject string // the format or the model
	Title   string // q1_0_g128 6144×2048
	Shape   string // 6144×2048, or what else is left of the name
	Kind    string // of a test of a model, one of names.TestKinds; "" if none of them
	Ops     float64
	Cases   []*Case
}

// Of is that of one machine's results; warnings are more about their files.
func Of(res *results.Set, warnings ...string) *Digest {
	if len(warnings) > 0 {
		warned := *res
		warned.Warnings = slices.Concat(res.Warnings, warnings)
		res = &warned
	}
	d := Gather(res)
	NameVariants(d.Cases)
	d.Form()
	return d
}

// Gather makes a digest whose cases have no variants yet.
func Gather(res *results.Set) *Digest {
	d := &Digest{Results: res}
	d.Floors = noise.FloorsOf(res)
	d.collect()
	d.sign()
	return d
}

// Form puts cases that have variants into tasks.
func (d *Digest) Form() {
	slices.SortStableFunc(d.Cases, func(a, b *Case) int { return words.Compare(a.Name.Full, b.Name.Full) })
	d.ByBase = make(map[string][]*Case)
	for _, c := range d.Cases {
		d.ByBase[c.Name.Base] = append(d.ByBase[c.Name.Base], c)
	}
	d.formTasks()
}

// collect gathers the samples of each case.
func (d *Digest) collect() {
	byName := make(map[string]*Case)
	byUnit := samplesByUnit(d.Results.Samples)
	for _, unit := range inOrder(byUnit) {
		// Of the samples that have the unit, since there may be as many units as samples.
		of := *d.Results
		of.Samples = byUnit[unit]
		series := noise.Estimates(&of, unit)
		if len(series) > 0 {
			d.Units = append(d.Units, unit)
		}
		for _, s := range series {
			c := byName[s.Name.Full]
			if c == nil {
				c = &Case{Name: s.Name, Stats: make(map[string]stat)}
				c.Panel = PanelOf(s.Name)
				byName[s.Name.Full] = c
				d.Cases = append(d.Cases, c)
			}
			c.Stats[unit] = stat{s, s.Values}
			c.samples = max(c.samples, len(s.Values))
		}
	}
	for _, c := range d.Cases {
		c.condensed()
	}
}

// condensed takes the interval of a case's time from its line, where one line stands for all samples; see Share.
func (c *Case) condensed() {
	low, high := results.Bounds(results.NsPerOp)
	lo, lower := c.Center(low)
	hi, upper := c.Center(high)
	if time, timed := c.Stats[results.NsPerOp]; timed && lower && upper && lo <= time.Center && time.Center <= hi {
		time.Lo, time.Hi, time.NextRun = lo, hi, true
		c.Stats[results.NsPerOp] = time
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

// NameVariants gives each case the name under which it competes. The activation scheme is part of it
// only where one format or model has the same variant with several.
func NameVariants(cases []*Case) {
	type key struct{ base, subject, variant string }
	schemes := make(map[key]string)
	several := make(map[key]bool)
	keyOf := func(c *Case) key {
		if m := c.Name.Get(names.Model); m != "" { // one engine, whichever of its parts this is
			return key{names.BaseModel, m, c.Name.Get(names.Variant)}
		}
		return key{c.Name.Base, names.SubjectOf(c.Name), c.Name.Get(names.Variant)}
	}
	for _, c := range cases {
		k, act := keyOf(c), c.Name.Get(names.Act)
		if first, ok := schemes[k]; ok && first != act {
			several[k] = true
		} else {
			schemes[k] = act
		}
	}
	for _, c := range cases {
		c.Variant = c.Name.Get(names.Variant)
		if c.Variant != "" && several[keyOf(c)] {
			c.Variant = strings.TrimSpace(c.Variant + " " + c.Name.Get(names.Act))
		}
		packing := c.Name.Get(names.Packing)
		if c.Variant != "" && packing != "" && !strings.HasSuffix(c.Name.Get(names.Variant), "-"+packing) {
			c.Variant += " " + packing // which the name of a variant may say already
		}
	}
}

// ByScheme is the variant with its activation scheme, which its name may lack: several variants of a name differ in
// nothing else.
func (c *Case) ByScheme() string {
	act := c.Name.Get(names.Act)
	if act == "" || strings.Contains(" "+c.Variant+" ", " "+act+" ") {
		return c.Variant
	}
	return c.Variant + " under " + act
}

// formTasks groups the cases that have a variant by the work that they do. Parts of a model's work,
// and errors, are no work to compete in.
func (d *Digest) formTasks() {
	byWork := make(map[string]*Task)
	var variants []string
	for _, c := range d.Cases {
		if c.Variant == "" {
			continue
		}
		variants = append(variants, c.Variant)
		if c.partOfModel() {
			continue
		}
		work := c.Name.Without(names.Engine, names.Variant, names.Act, names.Packing, names.Threads, names.Cache)
		t := byWork[work]
		if t == nil {
			t = NewTask(c.Name)
			byWork[work] = t
			d.Tasks = append(d.Tasks, t)
		}
		t.Cases = append(t.Cases, c)
	}
	slices.SortStableFunc(d.Tasks, func(a, b *Task) int {
		return cmp.Or(words.Compare(a.Base, b.Base), words.Compare(a.Subject, b.Subject),
			cmp.Compare(a.Ops, b.Ops), cmp.Compare(TestOrder(a.Kind), TestOrder(b.Kind)), words.Compare(a.Title, b.Title))
	})
	d.Marks = figure.AssignMarks(variants, figure.VariantMark)
}

func NewTask(name results.Name) *Task {
	test, _ := names.TestOf(name)
	t := &Task{Base: name.Base, Subject: names.SubjectOf(name), Kind: test.Kind}
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
			if k.Value != t.Subject {
				parts = append(parts, k.Value)
			}
		default:
			parts = append(parts, k.Key+"="+k.Value)
		}
	}
	r, rerr := strconv.ParseFloat(rows, 64)
	c, cerr := strconv.ParseFloat(cols, 64)
	if rerr == nil && cerr == nil && r > 0 && c > 0 {
		t.Ops = r * c
	}
	t.Shape = strings.Join(parts, " ")
	t.Title = strings.TrimSpace(t.Subject + " " + t.Shape)
	if t.Title == "" {
		t.Title = t.Base
	}
	return t
}

// Panels lists the conditions under which any of the cases ran, in order.
func Panels(cases []*Case) []Panel {
	var all []Panel
	for _, c := range cases {
		all = append(all, c.Panel)
	}
	slices.SortFunc(all, func(a, b Panel) int {
		return cmp.Or(words.Compare(a.Threads, b.Threads), words.Compare(a.Cache, b.Cache))
	})
	return slices.Compact(all)
}

// Emulated reports whether times under a condition are an emulator's: all of a program that runs in
// one, or those of a GPU that is played.
func (d *Digest) Emulated(p Panel) bool {
	e := d.Results.Machine().Emulator
	return e != "" && (e != results.PlayedGPU || p.Threads == onGPU)
}

// Measured are the conditions that were not emulated; all of them if each was.
func (d *Digest) Measured(all []Panel) []Panel {
	some := slices.DeleteFunc(slices.Clone(all), d.Emulated)
	if len(some) == 0 {
		return all
	}
	return some
}

// Decisive are the conditions by whose fastest a choice is made: most threads, and the GPU; of each
// the cold cache, if that was measured. What was emulated is none, if there is anything else.
func (d *Digest) Decisive(all []Panel) []Panel {
	var some []Panel
	for _, p := range d.Measured(all) {
		last := len(some) - 1
		switch {
		case last < 0 || (p.Threads == onGPU) != (some[last].Threads == onGPU):
			some = append(some, p)
		case p.Threads != some[last].Threads || some[last].Cache != names.Cold:
			some[last] = p
		}
	}
	return some
}

// Lead is the last condition by which formats are ranked, or the last of all where none is.
func (d *Digest) Lead(all []Panel) (lead Panel) {
	for _, some := range [][]Panel{all, d.Decisive(all)} {
		if len(some) > 0 {
			lead = some[len(some)-1]
		}
	}
	return lead
}

// In returns the cases that ran under a condition.
func In(p Panel, cases []*Case) []*Case {
	var some []*Case
	for _, c := range cases {
		if c.Panel == p {
			some = append(some, c)
		}
	}
	return some
}

// in is the task under one condition alone.
func (t *Task) in(p Panel) *Task {
	some := *t
	some.Cases = In(p, t.Cases)
	return &some
}

// Center returns the case's median in a unit.
func (c *Case) Center(unit string) (float64, bool) {
	s, ok := c.Stats[unit]
	return s.Center, ok
}

// Speed is the case's multiply-adds per second.
func (t *Task) Speed(c *Case) (float64, bool) {
	if v, ok := c.Center(results.OpRate); ok {
		return v, v > 0
	}
	ns, ok := c.Center(results.NsPerOp)
	if !ok || ns <= 0 || t.Ops == 0 {
		return 0, false
	}
	return t.Ops / ns * 1e9, true
}

// BytesPerWeight is the size of the packed weights over their number.
func (t *Task) BytesPerWeight(c *Case) (float64, bool) {
	packed, ok := c.Center(results.PackedBytes)
	if !ok || packed <= 0 || t.Ops == 0 {
		return 0, false
	}
	return packed / t.Ops, true
}

// LogitsOf is the error of the predictions of a case's model and variant; nil if it was not measured.
func (d *Digest) LogitsOf(c *Case) *Case {
	return SameVariant(slices.DeleteFunc(slices.Clone(d.ByBase[names.BaseLogits]), func(l *Case) bool {
		return l.Name.Get(names.Model) != c.Name.Get(names.Model)
	}), c)
}

// SameVariant finds the case of c's variant and, if the names have one, activation scheme.
func SameVariant(cases []*Case, c *Case) *Case {
	for _, other := range cases {
		act := other.Name.Get(names.Act)
		if other.Name.Get(names.Variant) == c.Name.Get(names.Variant) && (act == "" || act == c.Name.Get(names.Act)) {
			return other
		}
	}
	return nil
}

// graveDoubt is what a warning says that may change a verdict.
var graveDoubt = regexp.MustCompile(`slower|busy|steal|emulat|clock|other processes|faster than|throttled`)

// VerdictDoubts are the warnings that stand beside the verdict; the others follow it.
func (d *Digest) VerdictDoubts() []string {
	var grave []string
	for _, w := range d.Doubts() {
		if graveDoubt.MatchString(w.Text) {
			grave = append(grave, w.Text)
		}
	}
	if n := len(grave) - fewGrave; n > 0 {
		grave = append(grave[:fewGrave], fmt.Sprintf("%d more warnings are as grave.", n))
	}
	return grave
}

// fewGrave is how many warnings a verdict has room for.
const fewGrave = 2

// shortCommit is how much of a commit a title has.
const shortCommit = 7

// Title names the report by machine, date and commit, as far as they are known.
func (d *Digest) Title() string {
	parts := []string{"onebit"}
	date, _, _ := strings.Cut(d.Results.Setting("started"), "T")
	commit := d.Results.Setting("commit")
	for _, v := range []string{d.Results.Setting("cpu"), date, commit[:min(len(commit), shortCommit)]} {
		if v != "" && !strings.HasPrefix(v, "unavai") && v != "unknown" {
			parts = append(parts, v)
		}
	}
	if len(parts) == 1 {
		return "onebit results"
	}
	return strings.Join(parts, " · ")
}

// Fullest is the condition of most threads, its weights not in a cache if that was measured.
func Fullest(tasks []*Task) Panel {
	var cases []*Case
	for _, t := range tasks {
		for _, c := range t.Cases {
			if _, timed := c.Center(results.NsPerOp); timed {
				cases = append(cases, c)
			}
		}
	}
	all := Panels(cases)
	if len(all) == 0 {
		return Panel{}
	}
	best := all[len(all)-1]
	for _, p := range all {
		if p.Threads == best.Threads && p.Cache == names.Cold {
			best = p
		}
	}
	return best
}

// Reading is what a machine reads from memory with most threads.
func (d *Digest) Reading() (float64, bool) {
	return d.ceiling(names.BaseRead, results.ReadRate)
}

// Multiplying is what it multiplies in registers.
func (d *Digest) Multiplying() (float64, bool) {
	return d.ceiling(names.BaseDotPeak, results.OpRate)
}

// ceiling is the middle one of the rates of a base's cases under the fullest condition.
func (d *Digest) ceiling(base, unit string) (float64, bool) {
	all := d.OfBase(base)
	where := Fullest([]*Task{{Cases: all}})
	p := FormatRow{Cases: In(where, all)}
	return p.Typical(unit)
}

// TestOrder is where reports list tests of a kind: in the order of names.TestKinds, those of no known
// kind last.
func TestOrder(kind string) int {
	if i := slices.Index(names.TestKinds, kind); i >= 0 {
		return i
	}
	return len(names.TestKinds)
}

// partOfModel reports whether a case tells of a part of a model, and so has no row of its own.
func (c *Case) partOfModel() bool {
	return names.IsPartOfModel(c.Name)
}

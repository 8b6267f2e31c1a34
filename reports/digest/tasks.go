package digest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/figure"
	"onebit/reports/words"
)

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

// A Family is the tasks of one benchmark and format.
type Family struct {
	Base, Subject string
	Tasks         []*Task
	Cases         []*Case
}

func (f *Family) Title() string { return cmp.Or(f.Subject, f.Base) }

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

// TestOrder is where reports list tests of a kind: in the order of names.TestKinds, those of no known
// kind last.
func TestOrder(kind string) int {
	if i := slices.Index(names.TestKinds, kind); i >= 0 {
		return i
	}
	return len(names.TestKinds)
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

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
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/words"
)

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

// sign marks the cases whose group raised a doubt while it was measured, and those of a machine in two
// states.
func (d *Digest) sign() {
	doubted := make(map[string]bool)
	for _, s := range d.Results.Samples {
		if len(s.Doubts) > 0 {
			doubted[s.Name.Full] = true
		}
	}
	for _, c := range d.Cases {
		if doubted[c.Name.Full] {
			c.Signs = words.DoubtSign
		}
		if len(c.Stats[results.NsPerOp].States) > 0 {
			c.Signs += words.StatesSign
		}
	}
}

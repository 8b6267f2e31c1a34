package models

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// An errorSeries is the error of one tensor in each block, for all the variants that share it:
// variants of one activation scheme compute the same numbers.
type errorSeries struct {
	variants []string
	cases    []*digest.Case // of the first variant, by block
}

func (s errorSeries) label() string { return words.Names(s.variants) }

// block is the number of a case's block; negative outside the blocks.
func block(c *digest.Case) int {
	n, ok := names.BlockOf(c.Name)
	if !ok {
		return -1
	}
	return n
}

// formErrors sorts the lockstep cases by tensor and input.
func (m *model) formErrors() {
	m.alike = groupAlike(m.lockstep)
	m.errors = make(map[tensorRow][]errorSeries)
	byVariant := make(map[string]map[tensorRow][]*digest.Case)
	for _, c := range m.lockstep {
		if _, measured := c.Center(results.NMSE); !measured {
			continue
		}
		if byVariant[c.Variant] == nil {
			byVariant[c.Variant] = make(map[tensorRow][]*digest.Case)
		}
		row := tensorRow{c.Name.Get(names.Tensor), c.Name.Get(names.Input)}
		byVariant[c.Variant][row] = append(byVariant[c.Variant][row], c)
	}
	for _, group := range m.alike {
		for row, cases := range byVariant[group[0]] {
			slices.SortStableFunc(cases, func(a, b *digest.Case) int { return block(a) - block(b) })
			m.errors[row] = append(m.errors[row], errorSeries{group, cases})
		}
	}
}

// groupAlike groups variants whose errors are the same in every tensor and block.
func groupAlike(lockstep []*digest.Case) [][]string {
	prints := make(map[string]*strings.Builder)
	for _, c := range lockstep {
		if prints[c.Variant] == nil {
			prints[c.Variant] = new(strings.Builder)
		}
		e, _ := c.Center(results.NMSE)
		fmt.Fprintln(prints[c.Variant], c.Name.Without(names.Variant, names.Act, names.Packing), e)
	}
	var groups [][]string
	for _, name := range digest.Variants(lockstep) {
		same := func(g []string) bool { return prints[g[0]].String() == prints[name].String() }
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i] = append(groups[i], name)
		} else {
			groups = append(groups, []string{name})
		}
	}
	return groups
}

// series are the errors of a tensor under an input, one for each group of variants that has any.
func (m *model) series(input, tensor string) []errorSeries { return m.errors[tensorRow{tensor, input}] }

// tensors lists what errors were measured of: projections in the order of a block's work, then others.
func (m *model) tensors() []string {
	var all []string
	for _, c := range m.lockstep {
		if t := c.Name.Get(names.Tensor); t != names.BlockOutput && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, words.Compare)
	digest.SortBy(all, func(t string) (float64, bool) { i := slices.Index(names.Tensors, t); return float64(i), i >= 0 })
	return all
}

// last is the case of the last block, worst that of the greatest error.
func (s errorSeries) last() *digest.Case { return s.cases[len(s.cases)-1] }

func (s errorSeries) worst() *digest.Case {
	return slices.MaxFunc(s.cases, func(a, b *digest.Case) int {
		x, _ := a.Center(results.NMSE)
		y, _ := b.Center(results.NMSE)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return block(b) - block(a) // the first of equals
	})
}

// leastCosine is the worst cosine of the series; ok is false if there is none.
func (s errorSeries) leastCosine() (least float64, ok bool) {
	least = math.Inf(1)
	for _, c := range s.cases {
		if v, has := c.Center(results.Cosine); has {
			least, ok = min(least, v), true
		}
	}
	return least, ok
}

// of returns the series of a variant.
func of(all []errorSeries, variant string) (errorSeries, bool) {
	i := slices.IndexFunc(all, func(s errorSeries) bool { return slices.Contains(s.variants, variant) })
	if i < 0 {
		return errorSeries{}, false
	}
	return all[i], true
}

// errorSheet shows how wrong each variant's predictions are, and the stream that leads to them.
func (d *report) errorSheet(m *model) *doc.Table {
	cases := slices.Concat(m.logits, m.lockstep)
	fields := []doc.Field[string]{{Label: names.Variant, Text: true, Cell: func(name string) doc.Cell {
		return d.Named(name)
	}}}
	for i, unit := range []string{results.KLD, results.Top1, results.Top5, results.Perplexity, results.RefPpl, results.NMSE} {
		fields = append(fields, doc.Field[string]{Label: unit, About: results.UnitOf(unit).About, Drop: i, Cell: func(name string) doc.Cell {
			c := find(m.logits, name)
			cell := errorCell(c, unit)
			if unit == results.Perplexity {
				cell.Remark = perplexityChange(c)
			}
			return cell
		}})
	}
	isolated, accumulated := m.series(names.Isolated, names.BlockOutput), m.series(names.Accumulated, names.BlockOutput)
	fields = append(fields, doc.Field[string]{Label: "worst block", About: "nmse of the block that adds most, given the reference's own input", Drop: 7, Cell: func(name string) doc.Cell {
		s, ok := of(isolated, name)
		if !ok {
			return doc.Cell{}
		}
		return doc.Cell{Text: digest.ValueOf(s.worst(), results.NMSE), Remark: "in " + s.worst().Name.Get(names.Block)}
	}})
	for i, unit := range []string{results.NMSE, results.Cosine, results.MaxAbsErr} {
		fields = append(fields, doc.Field[string]{Label: "last block " + unit, About: results.UnitOf(unit).About + ", of the stream behind the last block", Drop: 8 + i, Cell: func(name string) doc.Cell {
			s, ok := of(accumulated, name)
			if !ok {
				return doc.Cell{}
			}
			return doc.Cell{Text: digest.ValueOf(s.last(), unit)}
		}})
	}
	return words.NewTable(term.FileName("error", m.name), m.title("error"), errorCaption(m), digest.Variants(cases), fields)
}

// errorCell is a case's value in a unit with its interval; c may be nil.
func errorCell(c *digest.Case, unit string) doc.Cell {
	return doc.Cell{Text: digest.ValueOf(c, unit), Remark: boundsIn(c, unit)}
}

// boundsIn is the interval of a case's value in a unit, "" if there is none.
func boundsIn(c *digest.Case, unit string) string {
	low, high := results.Bounds(unit)
	lo, hi := digest.ValueOf(c, low), digest.ValueOf(c, high)
	if lo == "" || hi == "" {
		return ""
	}
	return "(" + lo + " to " + hi + ")"
}

// perplexityChange is a case's perplexity relative to the reference's; "" if either is lacking.
func perplexityChange(c *digest.Case) string {
	if c == nil {
		return ""
	}
	ppl, ok := c.Center(results.Perplexity)
	ref, known := c.Center(results.RefPpl)
	if !ok || !known || ref <= 0 {
		return ""
	}
	return fmt.Sprintf("%+.2g %%", (ppl/ref-1)*100)
}

func errorCaption(m *model) string {
	text := "Against the reference engine, in float64."
	for _, c := range m.logits {
		n := c.Name.Get(names.Tokens)
		if n == "" {
			continue
		}
		text += " Predictions over " + n + " tokens"
		if boundsIn(c, results.KLD) != "" {
			text += ", with 95 % intervals over them"
		}
		text += "."
		if c.Name.Get(names.Weights) == names.RandomWeights {
			text += " The weights are random: the divergence ranks activation schemes, and is no trained model's."
		}
		break
	}
	return text
}

func find(cases []*digest.Case, variant string) *digest.Case {
	for _, c := range cases {
		if c.Variant == variant {
			return c
		}
	}
	return nil
}

// A tensorRow is a tensor under an input.
type tensorRow struct{ tensor, input string }

// tensorSheet shows the errors of each projection over the blocks.
func (d *report) tensorSheet(m *model) *doc.Table {
	var rows []tensorRow
	for _, tensor := range append(m.tensors(), names.BlockOutput) {
		for _, input := range names.Inputs {
			rows = append(rows, tensorRow{tensor, input})
		}
	}
	fields := []doc.Field[tensorRow]{
		{Label: names.Tensor, Text: true, Cell: func(r tensorRow) doc.Cell { return doc.Cell{Text: r.tensor} }},
		{Label: names.Input, Text: true, Cell: func(r tensorRow) doc.Cell { return doc.Cell{Text: r.input} }},
	}
	rows = slices.DeleteFunc(rows, func(r tensorRow) bool { return len(m.series(r.input, r.tensor)) == 0 })
	for i, group := range m.alike {
		fields = append(fields, doc.Field[tensorRow]{Label: words.Names(group), Drop: i, Cell: func(r tensorRow) doc.Cell {
			s, ok := of(m.series(r.input, r.tensor), group[0])
			if !ok {
				return doc.Cell{}
			}
			return s.cell()
		}})
	}
	s := words.NewTable(term.FileName("tensors", m.name), m.title("error by projection"),
		"nmse, the geometric mean over the blocks; the worst block; and the least cosine. Variants in one column compute the same numbers.", rows, fields)
	s.Folded = true
	return s
}

func (s errorSeries) cell() doc.Cell {
	var errors []float64
	for _, c := range s.cases {
		e, _ := c.Center(results.NMSE)
		errors = append(errors, e)
	}
	var remark string
	if len(s.cases) > 1 {
		remark = fmt.Sprintf("≤ %s in block %s, ", digest.ValueOf(s.worst(), results.NMSE), s.worst().Name.Get(names.Block))
	}
	if least, ok := s.leastCosine(); ok {
		remark += "cosine ≥ " + results.UnitOf(results.Cosine).Format(least)
	}
	remark = strings.TrimSuffix(remark, ", ")
	return doc.Cell{Text: results.UnitOf(results.NMSE).Format(charts.MeanError(errors)), Remark: remark}
}

// logitsOf finds the predictions of a run's variant. How its weights are packed does not change them.
func (m *model) logitsOf(r *run) *digest.Case {
	for _, t := range m.tests {
		if c := r.cases[t]; c != nil {
			return digest.SameVariant(m.logits, c)
		}
	}
	return nil
}

// modelErrorUnits are the measures of a model's error, the first that is there.
var modelErrorUnits = []string{results.KLD, results.NMSE, results.Perplexity}

// errorOf is the model's error in a run of c: that of its predictions or, failing that, of the stream
// behind the last block.
func (m *model) errorOf(c *digest.Case) (unit string, v float64, ok bool) {
	for _, of := range []*digest.Case{c, digest.SameVariant(m.logits, c), m.lastBlock(c)} {
		if of == nil {
			continue
		}
		for _, unit := range modelErrorUnits {
			if v, ok := of.Center(unit); ok {
				return unit, v, true
			}
		}
	}
	return "", 0, false
}

// lastBlock is the error of the stream behind the last block in a variant's own course.
func (m *model) lastBlock(c *digest.Case) *digest.Case {
	same := digest.SameVariant(m.lockstep, c)
	if same == nil {
		return nil
	}
	if s, ok := of(m.series(names.Accumulated, names.BlockOutput), same.Variant); ok {
		return s.last()
	}
	return nil
}

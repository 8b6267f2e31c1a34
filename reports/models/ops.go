package models

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

func init() {
	drawings.Add(charts.Chart[*report]{
		Order: 4, Name: "ops", Heading: "Time by operation",
		About:   "A bar is cut at its operations, the dearest first. Blocks of one shape should look alike: one that does not was disturbed.",
		Figures: opsFigures,
	})
}

// blockPanels is how many variants' blocks stand side by side.
const blockPanels = 3

func opsFigures(d *report) []*figure.Figure {
	var figures []*figure.Figure
	for _, m := range d.models {
		for i, p := range m.profiles {
			f := opsFigure(m, p)
			f.Folded = i > 0
			figures = append(figures, f)
			if f := opBlocksFigure(m, p); f != nil {
				f.Folded = true
				figures = append(figures, f)
			}
		}
	}
	return figures
}

// opColors are the colours of the operations that tend to be dear.
var opColors = map[string]int{
	"ffn_gate_up": 0, "ffn_down": 1, "output": 2, "attn_qkv": 3, "attn_output": 4, "attn": 5, "ffn_act": 6,
}

// colored are the operations with a colour of their own, the dearest first. It is theirs in every
// profile; other operations take, in the order of their names, the colours that are left. The rest shares
// the last.
func (p *profile) colored() (ops []string, colors map[string]int) {
	free := make([]bool, figure.SeriesCount-1)
	for i := range free {
		free[i] = true
	}
	colors = make(map[string]int)
	var others []string
	for _, op := range p.ops {
		if i, ok := opColors[op]; ok {
			colors[op], free[i] = i, false
		} else {
			others = append(others, op)
		}
	}
	others = others[:min(len(others), figure.SeriesCount-1-len(colors))]
	slices.SortFunc(others, words.Compare)
	for _, op := range others {
		i := slices.Index(free, true)
		colors[op], free[i] = i, false
	}
	ops = slices.DeleteFunc(slices.Clone(p.ops), func(op string) bool { _, ok := colors[op]; return !ok })
	return ops, colors
}

func (p *profile) legend() []figure.LegendEntry {
	var all []figure.LegendEntry
	ops, colors := p.colored()
	for _, op := range ops {
		all = append(all, figure.Square(figure.Label(op), figure.Series(colors[op])))
	}
	if len(p.ops) > len(ops) {
		all = append(all, figure.Square("others", roleRest))
	}
	return all
}

// segments cuts a bar at the operations; ns is the time of one.
func (p *profile) segments(ns func(op string) float64) []figure.Segment {
	var parts []figure.Segment
	ops, colors := p.colored()
	rest := 0.0
	for _, op := range p.ops {
		if !slices.Contains(ops, op) {
			rest += ns(op)
		}
	}
	for _, op := range ops {
		parts = append(parts, figure.Segment{Length: ns(op), Role: figure.Series(colors[op])})
	}
	return append(parts, figure.Segment{Length: rest, Role: roleRest})
}

func stackAxis(totals []float64, labels int) figure.Axis {
	axis := figure.NewAxis(append(totals, 0), false, labels, words.Time).FromZero()
	axis.Max *= 1.12 // room for the values behind the bars
	return axis
}

// slowestBar is how many times the fastest's time a bar may take; longer ones would leave no room for
// the others' parts.
const slowestBar = 6

func opsFigure(m *model, p *profile) *figure.Figure {
	var totals, ends []float64
	var shown, slow []string
	for _, name := range p.variants {
		if total := p.total(name); len(shown) == 0 || total <= slowestBar*totals[0] {
			_, _, slowest := p.passes(name)
			shown, totals, ends = append(shown, name), append(totals, total), append(ends, math.Max(total, slowest))
		} else {
			slow = append(slow, name+" "+words.Time(total))
		}
	}
	panel := figure.NewPanel("").Rows(stackAxis(ends, 8), shown)
	panel.X.Label.Text = "time per " + p.per()
	passes := 0
	for i, name := range shown {
		row := figure.RowAt(i, len(shown))
		end := figure.AddStack(panel, p.segments(func(op string) float64 { return p.sum(name, op).ns }), row)
		if of, lo, hi := p.passes(shown[i]); of > 0 {
			passes = max(passes, of)
			panel.Add(figure.Interval{Lo: lo, Hi: hi, Row: row, Color: figure.Color(figure.Ink)})
			end = math.Max(end, hi)
		}
		panel.Add(figure.Behind{Value: end, Row: row, Text: words.Time(totals[i])})
	}
	var notes []string
	if passes > 0 {
		notes = append(notes, fmt.Sprintf("Whiskers hold the middle half of %d passes.", passes))
	}
	if len(slow) > 0 {
		notes = append(notes, "Too slow to be drawn beside the others: "+words.Names(slow)+".")
	}
	reading := fmt.Sprintf("%s spends %s of %s on %s.", shown[0], words.Time(p.sum(shown[0], p.ops[0]).ns), words.Time(totals[0]), p.ops[0])
	return &figure.Figure{
		Name: term.FileName("ops", m.name, p.title()), Heading: figure.Label(m.title(p.title() + ", by operation")), Reading: reading,
		Height: figure.RowsHeight(len(shown), 1) + 16, Panels: [][]*figure.Panel{{panel}}, Legend: p.legend(), Notes: notes,
	}
}

// fewPasses is too few to say what the middle half of them is.
const fewPasses = 3

// passes are how many passes of a variant there were, and the ends of the middle half of their times
// over all operations; n is 0 if there were few, or not every operation was timed in as many.
func (p *profile) passes(variant string) (n int, lo, hi float64) {
	var totals []float64
	for _, block := range append(slices.Clone(p.blocks), names.Outside) {
		for _, op := range p.ops {
			c := p.cases[profileKey{variant, block, op}]
			if c == nil {
				continue
			}
			values := c.Stats[results.NsPerOp].Values
			if totals == nil {
				totals = make([]float64, len(values))
			}
			if len(values) != len(totals) {
				return 0, 0, 0
			}
			for i, v := range values {
				totals[i] += v
			}
		}
	}
	if len(totals) <= fewPasses {
		return 0, 0, 0
	}
	return len(totals), noise.Percentile(totals, 25), noise.Percentile(totals, 75)
}

// OpBlocks shows the blocks of a test, such as tg128, in each model that ran it.
func OpBlocks(d *digest.Digest, test string) []doc.Part {
	var all []doc.Part
	for _, m := range newReport(d).models {
		for _, p := range m.profiles {
			if p.test == test {
				all = append(all, &doc.Figure{Figure: opBlocksFigure(m, p)})
			}
		}
	}
	return all
}

// opBlocksFigure shows the blocks of the fastest variants; nil if there are none.
func opBlocksFigure(m *model, p *profile) *figure.Figure {
	if len(p.blocks) == 0 {
		return nil
	}
	shown := p.variants[:min(len(p.variants), blockPanels)]
	ns := func(name, block, op string) float64 {
		if c := p.cases[profileKey{name, block, op}]; c != nil {
			return sum(c, results.NsPerOp)
		}
		return 0
	}
	total := func(name, block string) float64 {
		all := 0.0
		for _, op := range p.ops {
			all += ns(name, block, op)
		}
		return all
	}
	var totals []float64
	for _, name := range shown {
		for _, block := range p.blocks {
			totals = append(totals, total(name, block))
		}
	}
	axis := stackAxis(totals, 4)
	axis.Max *= 1.15
	rows := make([]string, len(p.blocks))
	for i, block := range p.blocks {
		rows[i] = "block " + block
	}
	var drawn []*figure.Panel
	for _, name := range shown {
		panel := figure.NewPanel(figure.Label(name)).Rows(axis, rows)
		panel.X.Label.Text = "time per " + p.per()
		for i, block := range p.blocks {
			row := figure.RowAt(i, len(p.blocks))
			end := figure.AddStack(panel, p.segments(func(op string) float64 { return ns(name, block, op) }), row)
			panel.Add(figure.Behind{Value: end, Row: row, Text: words.Time(total(name, block))})
		}
		drawn = append(drawn, panel)
	}
	return &figure.Figure{
		Name: term.FileName("op-blocks", m.name, p.title()), Heading: figure.Label(m.title(p.title() + ", by block")),
		Reading: p.blocksReading(total), Height: vg.Length(15*len(rows) + 80), Panels: figure.Arrange(drawn, blockPanels), Legend: p.legend(),
	}
}

// blocksReading names the dearest block of the fastest variant, and what no block holds.
func (p *profile) blocksReading(total func(name, block string) float64) string {
	first := p.variants[0]
	dearest := slices.MaxFunc(p.blocks, func(a, b string) int {
		switch x, y := total(first, a), total(first, b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	text := fmt.Sprintf("%s: dearest is block %s, %s.", first, dearest, words.Time(total(first, dearest)))
	if outside := total(first, names.Outside); outside > 0 {
		text += fmt.Sprintf(" Not drawn: %s outside the blocks.", words.Time(outside))
	}
	return text
}

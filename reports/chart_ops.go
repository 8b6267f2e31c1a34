package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"onebit/bench"
)

func init() {
	registerChart(chart{
		order: 4, name: "ops", heading: "Time by operation", models: true,
		about: "Where the time of one token, or one prompt, goes: each bar is cut at its operations, the dearest first. The second kind of figure takes the " +
			"blocks apart: equal blocks should look alike, one that does not was disturbed or is not equal.",
		figures: opsFigures,
	})
}

// blockPanels is how many contenders' blocks stand side by side.
const blockPanels = 3

func opsFigures(d *digest) []*figure {
	var figures []*figure
	for _, m := range d.models {
		for i, p := range m.profiles {
			f := opsFigure(m, p)
			f.folded = i > 0
			figures = append(figures, f)
			if f := opBlocksFigure(m, p); f != nil {
				f.folded = true
				figures = append(figures, f)
			}
		}
	}
	return figures
}

// coloured are the operations with a colour of their own; what is cheaper shares the last.
func (p *profile) coloured() []string { return p.ops[:min(len(p.ops), seriesCount-1)] }

func (p *profile) legend() []legendEntry {
	var all []legendEntry
	for i, op := range p.coloured() {
		all = append(all, square(label(op), seriesRole(i)))
	}
	if len(p.ops) > len(p.coloured()) {
		all = append(all, square("others", roleRest))
	}
	return all
}

// segments cuts a bar at the operations; ns is the time of one.
func (p *profile) segments(ns func(op string) float64) []segment {
	var parts []segment
	for i, op := range p.coloured() {
		parts = append(parts, segment{ns(op), seriesRole(i)})
	}
	rest := 0.0
	for _, op := range p.ops[len(p.coloured()):] {
		rest += ns(op)
	}
	return append(parts, segment{rest, roleRest})
}

func stackAxis(totals []float64, labels int) valueAxis {
	axis := newAxis(append(totals, 0), false, labels, formatTime).fromZero()
	axis.max *= 1.12 // room for the values behind the bars
	return axis
}

// slowestBar is how many times the fastest's time a bar may take; longer ones would leave no room for
// the others' parts.
const slowestBar = 6

func opsFigure(m *model, p *profile) *figure {
	var totals []float64
	var shown, slow []string
	for _, name := range p.contenders {
		if total := p.total(name); len(shown) == 0 || total <= slowestBar*totals[0] {
			shown, totals = append(shown, name), append(totals, total)
		} else {
			slow = append(slow, name+" "+formatTime(total))
		}
	}
	panel := newPanel("")
	stackAxis(totals, 8).apply(&panel.X)
	panel.X.Label.Text = "time per " + p.per()
	nominalAxis(panel, shown, true)
	addGrid(panel, true, false)
	for i, name := range shown {
		row := rowAt(i, len(shown))
		end := addStack(panel, p.segments(func(op string) float64 { return p.sum(name, op).ns }), row)
		panel.Add(behind{value: end, row: row, text: formatTime(totals[i])})
	}
	reading := fmt.Sprintf("%s spends %s of %s on %s.", shown[0], formatTime(p.sum(shown[0], p.ops[0]).ns), formatTime(totals[0]), p.ops[0])
	if len(slow) > 0 {
		reading += " Too slow to be drawn beside it: " + joinNames(slow) + "."
	}
	return &figure{
		name: fileName("ops", m.name, p.title()), heading: label(m.title(p.title() + ", by operation")), reading: reading,
		height: rowsHeight(len(shown), 1) + 16, panels: [][]*plot.Plot{{panel}}, legend: p.legend(),
	}
}

// opBlocksFigure shows the blocks of the fastest contenders; nil if there are none.
func opBlocksFigure(m *model, p *profile) *figure {
	if len(p.blocks) == 0 {
		return nil
	}
	shown := p.contenders[:min(len(p.contenders), blockPanels)]
	ns := func(name, block, op string) float64 {
		if c := p.cases[profileKey{name, block, op}]; c != nil {
			return sum(c, bench.NsPerOp)
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
	axis.max *= 1.15
	rows := make([]string, len(p.blocks))
	for i, block := range p.blocks {
		rows[i] = "block " + block
	}
	var drawn []*plot.Plot
	for _, name := range shown {
		panel := newPanel(label(name))
		axis.apply(&panel.X)
		panel.X.Label.Text = "time per " + p.per()
		nominalAxis(panel, rows, len(drawn) == 0)
		addGrid(panel, true, false)
		for i, block := range p.blocks {
			row := rowAt(i, len(p.blocks))
			end := addStack(panel, p.segments(func(op string) float64 { return ns(name, block, op) }), row)
			panel.Add(behind{value: end, row: row, text: formatTime(total(name, block))})
		}
		drawn = append(drawn, panel)
	}
	return &figure{
		name: fileName("op-blocks", m.name, p.title()), heading: label(m.title(p.title() + ", by block")),
		reading: p.blocksReading(total), height: vg.Length(15*len(rows) + 80), panels: arrange(drawn, blockPanels), legend: p.legend(),
	}
}

// blocksReading names the dearest block of the fastest contender, and what no block holds.
func (p *profile) blocksReading(total func(name, block string) float64) string {
	first := p.contenders[0]
	dearest := slices.MaxFunc(p.blocks, func(a, b string) int {
		switch x, y := total(first, a), total(first, b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	text := fmt.Sprintf("%s: dearest is block %s, %s.", first, dearest, formatTime(total(first, dearest)))
	if outside := total(first, outsideBlocks); outside > 0 {
		text += fmt.Sprintf(" Not drawn: %s outside the blocks.", formatTime(outside))
	}
	return text
}

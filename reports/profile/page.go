// Package profile reports where the time of a model goes, and what bounds a kernel.
package profile

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench/names"
	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/models"
	"onebit/reports/words"
)

func init() {
	reports.Register(reports.Kind{
		Name:      "profile",
		Recognise: func(s *reports.Source) bool { return s.Kind() == "profile" },
		Build: func(_ context.Context, s *reports.Source) (*doc.Document, error) {
			p := new(profiles.Profile)
			if err := s.ReadSidecar(p); err != nil {
				return nil, err
			}
			p.Warnings = s.WithWarnings(p.Warnings)
			return Document(p, s.Machines[0], profiles.Filter{}), nil
		},
	})
}

// Document shows where the time of a model goes, in the operations and blocks of a filter. res are the samples of
// the same run.
func Document(p *profiles.Profile, res *results.Set, filter profiles.Filter) *doc.Document {
	model := term.Text(p.Model)
	d := digest.Of(res)
	x := &doc.Document{
		Title:    "Profile of " + model,
		Subtitle: fmt.Sprintf("%s with %s, %s, %s", p.Variant, p.Act, p.Packing, profiledOn(p)) + " · " + d.Subtitle(""),
		Remarks:  []string{ceilingsLine(&p.Ceilings)},
	}
	digest.AddRecords(x, []*digest.Member{{Digest: d, Machine: res.Machine()}})
	x.Data = profileJSONOf(p, filter)
	for _, text := range p.NotCounted {
		x.Doubts = append(x.Doubts, doc.Doubt{Text: "not counted: " + term.Text(text)})
	}
	for _, text := range p.Warnings {
		x.Doubts = append(x.Doubts, doc.Doubt{Text: term.Text(text)})
	}
	for _, t := range p.Tests {
		if n := len(t.Passes); n < p.Planned {
			x.Grave = append(x.Grave, t.String()+": "+fewerRounds(n, p.Planned))
		}
	}
	for i, t := range slices.Backward(p.Tests) { // tokens first, prompts second
		ops := t.Operations(&p.Ceilings, filter)
		if first := profileFirst(p, t, ops); i == len(p.Tests)-1 {
			x.First = append(x.First, first)
		} else {
			x.First[0].Why = words.Sentences(x.First[0].Why, first.Verdict)
		}
		x.Add(profileSection(p, t, d, filter, ops))
	}
	if len(p.WhatIfs) > 0 {
		x.Add((&doc.Section{ID: "what-if", Heading: "What if"}).Add(whatIfSheet(p.WhatIfs)))
	}
	memory := &doc.Section{ID: "memory", Heading: "Memory"}
	if p.Memory.Why != "" {
		memory.Add(doc.Text{Words: "The resident part is not known: " + p.Memory.Why})
	}
	x.Add(memory.Add(&doc.Figure{Figure: memoryOverTime(&p.Memory)}, memorySheet(&p.Memory)))
	flame := &doc.Section{ID: "flame", Heading: "Flame graph", Only: doc.Page}
	x.Add(flame.Add(doc.Text{Words: "The width of a frame is the time that all threads spent in it, in all observed passes.", Muted: true}, newFlame(p.Flame())))
	how := &doc.Section{ID: "how", Heading: "How it was measured", Only: doc.Page | doc.Markdown}
	how.Add(doc.Text{Words: "Passes with and without observation alternate. An operation's bound is the longest of: its bytes at the read rate of where they lie, its multiply-adds at the peak, its dispatches at the cost of an empty one. " +
		"Beside this page: trace.json for Perfetto, cpu.pprof for go tool pprof, and results.txt."})
	how.Add((&doc.Section{ID: "ceilings", Heading: "Ceilings"}).Add(doc.Facts{List: ceilingFacts(&p.Ceilings)}))
	x.Add(how, (&doc.Section{ID: "machine", Heading: "Machine", Only: doc.Page | doc.Markdown}).Add(doc.Facts{List: d.Environment()}))
	x.Add((&doc.Section{ID: "reproduce", Heading: "Reproduce", Only: doc.Page}).Add(doc.Code(res.Setting("command"))))
	return x.NameParts()
}

// profiledOn says what the operations ran on.
func profiledOn(p *profiles.Profile) string {
	if p.Engine == names.Metal {
		return "on a GPU, which is the thread below"
	}
	return count.Of(p.Threads, "thread")
}

// profileFirst says what a token or a prompt costs, and where.
func profileFirst(p *profiles.Profile, t *profiles.Test, ops []profiles.Operation) doc.First {
	time := t.Time()
	first := doc.First{
		Verdict: fmt.Sprintf("%s makes %s in %s.", term.Text(p.Model), results.UnitOf(results.TokenRate).Format(t.Rate().Center), t),
		Number:  words.Seconds(time.Center), NumberOf: figureSpread(time) + " for a " + t.Unit(),
		Why: profileAdvice(ops),
	}
	if t.Unit() != "token" {
		first.Verdict = fmt.Sprintf("%s reads %s in %s.", term.Text(p.Model), results.UnitOf(results.TokenRate).Format(t.Rate().Center), t)
	}
	if len(p.Types) > 0 {
		first.Next = doc.Command{Line: "onebit profile --kernel " + term.Text(p.Types[0]), Does: "says what bounds its kernel"}
	}
	byTime := slices.Clone(ops)
	slices.SortStableFunc(byTime, func(a, b profiles.Operation) int { return cmp.Compare(b.Time.Center, a.Time.Center) })
	byTime = byTime[:min(len(byTime), mostOperations)]
	if len(ops) > 0 {
		first.Table = words.NewTable("where-"+t.Name(), "Where the time of a "+t.Unit()+" goes", "Summed over the blocks; the line is the interval. An operation is bound by the ceiling that it meets first.",
			byTime, operationFields(t, byTime)[:firstFields])
	}
	return first
}

// figureLength is a figure as a bar's length.
func figureLength(f noise.Figure) doc.Length {
	if text := figureSpread(f); text == "" || text == words.UnknownSpread {
		return doc.Length{Value: f.Center, Low: f.Center, High: f.Center}
	}
	return doc.Length{Value: f.Center, Low: f.Lo, High: f.Hi}
}

// mostOperations is how many operations a first screen has room for.
const mostOperations = 8

// profileSection is all of a test, the timeline first.
func profileSection(p *profiles.Profile, t *profiles.Test, d *digest.Digest, filter profiles.Filter, ops []profiles.Operation) *doc.Section {
	s := &doc.Section{ID: "test-" + t.Name(), Heading: t.String()}
	s.Add(doc.Text{Words: fmt.Sprintf("Observing makes a pass %s longer; the speed is that of passes without.", shareInterval(t.Overhead()))})
	line, about := newTimeline(t)
	s.Add((&doc.Section{ID: "timeline-" + t.Name(), Heading: "Timeline by thread", Only: doc.Page}).Add(doc.Text{Words: about, Muted: true}, line))
	s.Add(operationSheet(t, ops), threadSheet(t, filter), turnSheet(t, ops))
	counted := t.Counted(filter)
	units, zero := profiles.CountedUnits(counted)
	if len(units) > 0 {
		s.Add(countSheet(t, counted, units))
	}
	if len(zero) > 0 {
		s.Add(doc.Text{Words: "0 for every operation: " + strings.Join(zero, ", ") + "."})
	}
	s.Add(models.OpBlocks(d, t.String())...)
	return s.Add(&doc.Figure{Figure: operationRoofline(t, ops, &p.Ceilings)})
}

func ceilingFacts(c *profiles.Ceilings) []doc.Fact {
	facts := []doc.Fact{{Name: "from", Value: c.Source}}
	for _, l := range c.Levels {
		facts = append(facts, doc.Fact{Name: "read from " + l.Name, Value: results.UnitOf(results.ReadRate).Format(l.Rate)})
	}
	for _, peak := range []struct {
		name string
		rate float64
	}{{profiles.BoundInt8, c.Int8}, {profiles.BoundFloat32, c.Float32}} {
		if peak.rate > 0 {
			facts = append(facts, doc.Fact{Name: "multiply-adds of " + peak.name, Value: results.UnitOf(results.OpRate).Format(peak.rate)})
		}
	}
	return append(facts, doc.Fact{Name: "an empty dispatch", Value: words.Time(float64(c.Dispatch))})
}

// ceilingsLine says the same in a line.
func ceilingsLine(c *profiles.Ceilings) string {
	if c.Source == "" {
		return "Ceilings of a GPU are not known: nothing is said to be bounded."
	}
	var parts []string
	for _, f := range ceilingFacts(c)[1:] {
		parts = append(parts, f.Name+" "+f.Value)
	}
	return "Ceilings, " + c.Source + ": " + strings.Join(parts, ", ") + "."
}

// profileAdvice says what a reader came for.
func profileAdvice(ops []profiles.Operation) string {
	gain := func(o profiles.Operation) float64 { // as a share, for what observing adds is in all times
		if !(o.Time.Center > 0) {
			return 0
		}
		return o.Share * o.Won / o.Time.Center
	}
	won, bound := 0.0, map[string]float64{}
	for _, o := range ops {
		won += gain(o)
		bound[o.Bound.Name] += o.Share
	}
	name, most := "", 0.0
	for _, o := range ops { // in their order, for equal shares
		if b := o.Bound.Name; b != "" && bound[b] > most {
			name, most = b, bound[b]
		}
	}
	if name == "" || len(ops) == 0 {
		return ""
	}
	return fmt.Sprintf("Operations with %s of the time are bound by %s. If all met their bounds, %s of the time would be won, the most in %s (%s).",
		words.Percent(most), name, words.Percent(won), ops[0].Op, words.Percent(gain(ops[0])))
}

func shareInterval(f noise.Figure) string {
	text := fmt.Sprintf("%+.1f %%", 100*f.Center)
	if f.Bounded() {
		text += fmt.Sprintf(" (%+.1f to %+.1f %%)", 100*f.Lo, 100*f.Hi)
	}
	return text
}

// figureSpread is the wider side of an interval, as the tables show it.
func figureSpread(f noise.Figure) string {
	if !f.Bounded() || !(f.Center > 0) {
		return ""
	}
	return words.Spread(max(f.Hi/f.Center-1, 1-f.Lo/f.Center))
}

// fewerRounds says of a run that was interrupted how many rounds its medians are of.
func fewerRounds(n, planned int) string {
	return fmt.Sprintf("interrupted: medians of %d of %s", n, count.Of(planned, "round"))
}

// firstFields is how many columns of operations a first screen has room for.
const firstFields = 5

func operationFields(t *profiles.Test, ops []profiles.Operation) []doc.Field[profiles.Operation] {
	type op = profiles.Operation
	scale := doc.NewScale(ops, func(o op) doc.Length { return figureLength(o.Time) }, true)
	positive := func(label, about, unit string, of func(op) float64) doc.Field[op] {
		return doc.Field[op]{Label: label, About: about, Cell: func(o op) doc.Cell {
			return doc.Cell{Text: words.If(of(o) > 0, results.UnitOf(unit).Format(of(o)))}
		}}
	}
	bounded := func(label, about string, cell func(op) doc.Cell) doc.Field[op] {
		return doc.Field[op]{Label: label, About: about, Cell: func(o op) doc.Cell {
			if o.Bound.Name == "" {
				return doc.Cell{}
			}
			return cell(o)
		}}
	}
	return []doc.Field[op]{
		{Label: "operation", Text: true, Cell: func(o op) doc.Cell { return doc.Cell{Text: o.Op} }},
		{Label: "time", Cell: func(o op) doc.Cell { return doc.Cell{Text: words.Seconds(o.Time.Center), Remark: figureSpread(o.Time)} }},
		{Label: "share", Cell: func(o op) doc.Cell { return doc.Cell{Text: words.Percent(o.Share)} }},
		{Label: "of a " + t.Unit(), Text: true, Drop: 2, Cell: func(o op) doc.Cell { return scale.Cell(figureLength(o.Time)) }},
		{Label: "bound by", Text: true, Drop: 1, Cell: func(o op) doc.Cell {
			return doc.Cell{Text: o.Bound.Name, Remark: words.If(o.Bound.Name != "", "at "+words.Percent(o.OfBound()))}
		}},
		bounded("at bound", "the least time that the machine's ceilings allow", func(o op) doc.Cell { return doc.Cell{Text: words.Seconds(o.Bound.Seconds)} }),
		bounded("could be won", "the time beyond that", func(o op) doc.Cell { return doc.Cell{Text: words.Seconds(o.Won)} }),
		positive("reads", "weights, or keys and values", results.PackedBytes, func(o op) float64 { return o.PerUnit(o.Bytes) }),
		positive("read rate", "", results.WeightRate, func(o op) float64 { return o.PerSecond(o.Bytes) }),
		positive("multiply-adds", "", results.OpRate, func(o op) float64 { return o.PerSecond(o.MACs) }),
	}
}

func operationSheet(t *profiles.Test, ops []profiles.Operation) *doc.Table {
	return words.NewTable("operations-"+t.Name(), "Operations, by what could be won",
		fmt.Sprintf("Per %s, summed over the blocks; medians of %s with 95 %% intervals.", t.Unit(), count.Of(len(t.Passes), "round")),
		ops, operationFields(t, ops))
}

// countSheet shows what was counted of each operation.
func countSheet(t *profiles.Test, counted []profiles.OperationCount, units []string) *doc.Table {
	type op = profiles.OperationCount
	fields := []doc.Field[op]{{Label: "operation", Text: true, Cell: func(o op) doc.Cell { return doc.Cell{Text: o.Op} }}}
	for _, unit := range units {
		u := results.UnitOf(unit)
		fields = append(fields, doc.Field[op]{Label: strings.TrimSuffix(unit, "/op"), About: u.About, Cell: func(o op) doc.Cell {
			v, ok := o.Values[unit]
			if !ok {
				return doc.Cell{}
			}
			return doc.Cell{Text: u.Format(v.Center), Remark: figureSpread(v)}
		}})
	}
	fields = append(fields, doc.Field[op]{Label: "per cycle", About: "instructions", Cell: func(o op) doc.Cell {
		n, ok := o.PerCycle()
		if !ok {
			return doc.Cell{}
		}
		return doc.Cell{Text: fmt.Sprintf("%.2f", n)}
	}})
	caption := fmt.Sprintf("Per %s, in user mode, by all threads: medians of passes of their own.", t.Unit())
	return words.NewTable("counted-"+t.Name(), "What was counted", caption, counted, fields)
}

func threadSheet(t *profiles.Test, filter profiles.Filter) *doc.Table {
	all := t.Activities(filter)
	threads := make([]int, len(all))
	for i := range threads {
		threads[i] = i
	}
	whole, idle := 1e-12, 0.0 // of the first thread, and of the others
	for i, a := range all {
		if i == 0 {
			for _, f := range a {
				whole += f.Center
			}
			continue
		}
		idle += (a[profiles.Dispatch].Center + a[profiles.Wait].Center + a[profiles.Serial].Center) / float64(len(all)-1)
	}
	caption := words.If(len(all) > 1, fmt.Sprintf("The threads beside the first have nothing to do for %s of a %s. ", words.Percent(idle/whole), t.Unit()))
	fields := []doc.Field[int]{{Label: "thread", Text: true, Cell: func(i int) doc.Cell { return doc.Cell{Text: strconv.Itoa(i)} }}}
	for a := range profiles.Activities {
		fields = append(fields, doc.Field[int]{Label: a.String(), About: activityAbout[a], Cell: func(i int) doc.Cell {
			return doc.Cell{Text: words.Seconds(all[i][a].Center), Remark: figureSpread(all[i][a]), Shade: all[i][a].Center / whole}
		}})
	}
	return words.NewTable("threads-"+t.Name(), "What each thread does", caption+"Per "+t.Unit()+".", threads, fields)
}

var activityAbout = map[profiles.Activity]string{
	profiles.Quantize: "makes activations ready for a product", profiles.Multiply: "computes rows of a product",
	profiles.Other: "other shared work: attention, activation, norms of a prompt", profiles.Dispatch: "hands tasks out, or has not begun yet",
	profiles.Wait: "found no more tasks", profiles.Serial: "thread 0 works alone",
}

// turnSheet shows where threads wait in a dispatch of each operation that they share.
func turnSheet(t *profiles.Test, ops []profiles.Operation) *doc.Table {
	type row struct {
		op, threads string
		turn        profiles.Turn
	}
	others := "1"
	if t.Threads > 2 {
		others = fmt.Sprintf("1 to %d", t.Threads-1)
	}
	var rows []row
	for _, o := range ops {
		if caller, rest, ok := o.Turns(); ok {
			rows = append(rows, row{o.Op, "0", caller}, row{o.Op, others, rest})
		}
	}
	part := func(label string, of func(profiles.Turn) float64) doc.Field[row] {
		return doc.Field[row]{Label: label, Cell: func(r row) doc.Cell { return doc.Cell{Text: words.Seconds(of(r.turn))} }}
	}
	return words.NewTable("turns-"+t.Name(), "In a dispatch", "The mean dispatch of each operation that threads share.", rows, []doc.Field[row]{
		{Label: "operation", Text: true, Group: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.op} }},
		{Label: "thread", Text: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.threads} }},
		part("begin", func(t profiles.Turn) float64 { return t.Begin }), part("quantize", func(t profiles.Turn) float64 { return t.Quantize }),
		part("work", func(t profiles.Turn) float64 { return t.Work }), part("tail", func(t profiles.Turn) float64 { return t.Tail }),
	})
}

func whatIfSheet(all []profiles.WhatIf) *doc.Table {
	type what = profiles.WhatIf
	return words.NewTable("what-if", "What if", "Measured in pairs of passes, or computed from the bounds.", all, []doc.Field[what]{
		{Label: "what if", Text: true, Cell: func(x what) doc.Cell { return doc.Cell{Text: x.Name} }},
		{Label: "time of a token", Cell: func(x what) doc.Cell {
			if f := x.Believed(); !math.IsNaN(f.Center) {
				return doc.Cell{Text: shareInterval(f)}
			}
			return doc.Cell{}
		}},
		{Label: "because", Text: true, Cell: func(x what) doc.Cell { return doc.Cell{Text: x.Because()} }},
	})
}

func memorySheet(m *profiles.Memory) *doc.Table {
	var owners []string
	last := profiles.Phase{}
	for _, owner := range profiles.Owners {
		for _, phase := range m.Phases {
			if last = phase; phase.Part(owner) != (profiles.Part{Owner: owner}) {
				owners = append(owners, owner)
				break
			}
		}
	}
	if n := len(m.Phases); n > 0 {
		last = m.Phases[n-1]
	}
	size := func(n int64) doc.Cell {
		if n == 0 {
			return doc.Cell{}
		}
		return doc.Cell{Text: results.UnitOf(results.PackedBytes).Format(float64(n))}
	}
	const all = "resident"
	fields := []doc.Field[string]{{Label: "owner", Text: true, Cell: func(o string) doc.Cell { return doc.Cell{Text: o} }}}
	for _, phase := range m.Phases {
		fields = append(fields, doc.Field[string]{Label: "after " + phase.Name, Cell: func(o string) doc.Cell {
			if o == all {
				return size(phase.RSS)
			}
			return size(phase.Part(o).Resident)
		}})
	}
	fields = append(fields,
		doc.Field[string]{Label: "shared", About: "with other processes, after the last phase", Cell: func(o string) doc.Cell { return size(last.Part(o).Shared) }},
		doc.Field[string]{Label: "reserved", About: "addresses, after the last phase", Cell: func(o string) doc.Cell { return size(last.Part(o).Reserved) }})
	return words.NewTable("memory-owners", "Resident memory by owner", "At the end of each phase.", append(owners, all), fields)
}

// mostSegments is how many a page draws quickly, in all threads.
const mostSegments = 20_000

// newTimeline is the beginning of the fastest pass.
func newTimeline(t *profiles.Test) (*doc.Timeline, string) {
	line := &doc.Timeline{About: "What each thread does over time, " + t.String(), Rows: [][]int64{}, Names: []string{"between operations"}}
	for a := range profiles.Activities {
		line.Kinds = append(line.Kinds, a.String())
	}
	if t.Shown == nil {
		return line, ""
	}
	all := t.Shown.Timeline()
	end := t.Shown.Duration
	for _, segments := range all {
		if most := mostSegments / max(len(all), 1); len(segments) > most {
			end = min(end, segments[most].Start)
		}
	}
	line.Length = int64(end)
	index := map[profiles.Key]int64{}
	for _, segments := range all {
		flat := []int64{}
		for _, s := range segments {
			if s.Start >= end {
				break
			}
			op := int64(0)
			if s.Span >= 0 {
				key := t.Shown.Spans[s.Span].Key
				if _, ok := index[key]; !ok {
					index[key] = int64(len(line.Names))
					line.Names = append(line.Names, strings.TrimSpace(key.Op+" "+blockText(key.Block)))
				}
				op = index[key]
			}
			flat = append(flat, int64(s.Start), int64(min(s.End, end)-s.Start), int64(s.Activity), op)
		}
		line.Rows = append(line.Rows, flat)
	}
	part := ""
	if end < t.Shown.Duration {
		part = fmt.Sprintf(", its first %v of %v", end.Round(time.Microsecond), t.Shown.Duration.Round(time.Microsecond))
	}
	return line, fmt.Sprintf("The fastest observed pass of %d%s. Drag to move, scroll or use the buttons to zoom; trace.json has all of it for Perfetto.", len(t.Passes), part)
}

func blockText(block int) string {
	if block == profiles.Outside {
		return ""
	}
	return "in block " + strconv.Itoa(block)
}

// newFlame has a row for each level of calls.
func newFlame(root *profiles.Frame) *doc.Timeline {
	line := &doc.Timeline{About: "Time by test, operation and activity", Length: int64(root.Time), Rows: [][]int64{}, Plain: true}
	var add func(f *profiles.Frame, start int64, level int)
	add = func(f *profiles.Frame, start int64, level int) {
		if level == len(line.Rows) {
			line.Rows = append(line.Rows, []int64{})
		}
		line.Rows[level] = append(line.Rows[level], start, int64(f.Time), int64(len(line.Rows[level])/4+level), int64(len(line.Names)))
		line.Names = append(line.Names, term.Text(f.Name))
		for _, c := range f.Children {
			add(c, start, level+1)
			start += int64(c.Time)
		}
	}
	add(root, 0, 0)
	return line
}

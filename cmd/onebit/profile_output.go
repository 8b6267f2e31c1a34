package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"onebit/bench/noise"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/count"
)

func (f *profileFlags) print(w io.Writer, p *profile.Profile) error {
	if f.asJSON {
		return cli.PrintJSON(w, f.document(p))
	}
	fmt.Fprintf(w, "%s by %s with %s, %s, on %s (%s, %s)\n", p.Model, p.Variant, p.Act, p.Packing, count.Of(p.Threads, "thread"), p.Arch, count.Of(p.Blocks, "block"))
	fmt.Fprintln(w, ceilingsText(&p.Ceilings))
	for _, t := range p.Tests {
		if err := f.printTest(w, p, t); err != nil {
			return err
		}
	}
	if err := printWhatIfs(w, p.WhatIfs); err != nil {
		return err
	}
	if err := printMemory(w, &p.Memory); err != nil {
		return err
	}
	for _, text := range p.NotCounted {
		fmt.Fprintf(w, "not counted: %s\n", text)
	}
	for _, text := range p.Warnings {
		fmt.Fprintf(w, "warning: %s\n", text)
	}
	return nil
}

func ceilingsText(c *profile.Ceilings) string {
	var parts []string
	for _, l := range c.Levels {
		parts = append(parts, l.Name+" "+formatAs(results.ReadRate, l.Rate))
	}
	for _, peak := range []struct {
		name string
		rate float64
	}{{profile.BoundInt8, c.Int8}, {profile.BoundFloat32, c.Float32}} {
		if peak.rate > 0 {
			parts = append(parts, peak.name+" "+formatAs(results.OpRate, peak.rate))
		}
	}
	parts = append(parts, "dispatch "+formatAs(results.NsPerOp, float64(c.Dispatch)))
	return "ceilings, " + c.Source + ": " + strings.Join(parts, ", ")
}

func formatAs(unit string, v float64) string { return results.UnitOf(unit).Format(v) }

// spread is an interval around its center, in per cent, if it says anything.
func spread(f noise.Figure) string {
	share := max(f.Hi/f.Center-1, 1-f.Lo/f.Center)
	if !f.Bounded() || !(share < 9) {
		return "±?"
	}
	return fmt.Sprintf("±%.1f%%", 100*share)
}

// change is a share with its interval, both with a sign.
func change(f noise.Figure) string {
	text := fmt.Sprintf("%+.1f%%", 100*f.Center)
	if f.Bounded() {
		text += fmt.Sprintf(" (%+.1f to %+.1f%%)", 100*f.Lo, 100*f.Hi)
	}
	return text
}

func (f *profileFlags) printTest(w io.Writer, p *profile.Profile, t *profile.Test) error {
	time := t.Time()
	fmt.Fprintf(w, "\n%s: %s, %s %s per %s, in %s; observing adds %s\n", t, formatAs(results.TokenRate, t.Rate().Center),
		formatSeconds(time.Center), spread(time), t.Unit(), roundsText(len(t.Passes), p.Planned), change(t.Overhead()))
	table := cli.NewTable(w, "OPERATION", "TIME", "95%", "SHARE", "READS", "READ RATE", "MAC RATE", "BOUND BY", "AT BOUND", "OF BOUND", "TO WIN")
	for _, o := range t.Operations(&p.Ceilings, f.filter) {
		table.Row(operationRow(o)...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := f.printThreads(w, t); err != nil {
		return err
	}
	if err := f.printTurns(w, p, t); err != nil {
		return err
	}
	return f.printCounts(w, t)
}

// printCounts shows what was counted.
func (f *profileFlags) printCounts(w io.Writer, t *profile.Test) error {
	all := t.Counted(f.filter)
	units, zero := profile.CountedUnits(all)
	if len(units)+len(zero) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	if len(units) > 0 {
		if err := printCounted(w, t, all, units); err != nil {
			return err
		}
	}
	if len(zero) > 0 {
		fmt.Fprintf(w, "0 for every operation: %s\n", strings.Join(zero, ", "))
	}
	return nil
}

func printCounted(w io.Writer, t *profile.Test, all []profile.OperationCount, units []string) error {
	header := []any{"COUNTED PER " + strings.ToUpper(t.Unit())}
	for _, unit := range units {
		header = append(header, strings.ToUpper(strings.TrimSuffix(unit, "/op")))
	}
	if slices.Contains(units, results.Cycles) {
		header = append(header, "PER CYCLE")
	}
	table := cli.NewTable(w, header...)
	for _, o := range all {
		row := []any{o.Op}
		for _, unit := range units {
			text := ""
			if v, ok := o.Values[unit]; ok {
				text = strings.TrimSpace(formatAs(unit, v.Center) + " " + spreadOf(v))
			}
			row = append(row, text)
		}
		if n, ok := o.PerCycle(); ok {
			row = append(row, cli.Fixed(2, n))
		}
		table.Row(row...)
	}
	return table.Flush()
}

// roundsText says how many pairs of passes were measured.
func roundsText(n, planned int) string {
	if n < planned {
		return fmt.Sprintf("%d of %s", n, count.Of(planned, "round"))
	}
	return count.Of(n, "round")
}

func formatSeconds(s float64) string { return formatAs(results.NsPerOp, s*1e9) }

func operationRow(o profile.Operation) []any {
	positive := func(unit string, v float64) string {
		if !(v > 0) {
			return ""
		}
		return formatAs(unit, v)
	}
	row := []any{
		o.Op, formatSeconds(o.Time.Center), spread(o.Time), fmt.Sprintf("%.1f%%", 100*o.Share),
		positive(results.PackedBytes, o.PerUnit(o.Bytes)), positive(results.WeightRate, o.PerSecond(o.Bytes)), positive(results.OpRate, o.PerSecond(o.MACs)),
	}
	if o.Bound.Name == "" {
		return append(row, "-")
	}
	return append(row, o.Bound.Name, formatSeconds(o.Bound.Seconds), fmt.Sprintf("%.0f%%", 100*o.OfBound()), formatSeconds(o.Won))
}

// printThreads shows what each thread did, in shares of the time of a unit.
func (f *profileFlags) printThreads(w io.Writer, t *profile.Test) error {
	fmt.Fprintln(w)
	header := []any{"THREAD"}
	for a := range profile.Activities {
		header = append(header, strings.ToUpper(a.String()))
	}
	table := cli.NewTable(w, header...)
	for thread, activities := range t.Activities(f.filter) {
		row := []any{thread}
		for _, a := range activities {
			row = append(row, strings.TrimSpace(formatSeconds(a.Center)+" "+spreadOf(a)))
		}
		table.Row(row...)
	}
	return table.Flush()
}

// printTurns shows where threads wait in a dispatch of each operation that they share.
func (f *profileFlags) printTurns(w io.Writer, p *profile.Profile, t *profile.Test) error {
	table := cli.NewTable(w, "IN A DISPATCH OF", "THREAD", "BEGIN", "QUANTIZE", "WORK", "TAIL")
	shared := false
	for _, o := range t.Operations(&p.Ceilings, f.filter) {
		caller, others, ok := o.Turns()
		if !ok {
			continue
		}
		if !shared {
			fmt.Fprintln(w)
		}
		shared = true
		table.Row(turnRow(o.Op, "0", caller)...)
		table.Row(turnRow("", othersText(t.Threads), others)...)
	}
	if !shared {
		return nil
	}
	return table.Flush()
}

// othersText names the threads beside the caller's, of which a turn is the mean.
func othersText(threads int) string {
	if threads == 2 {
		return "1"
	}
	return fmt.Sprintf("1 to %d", threads-1)
}

func turnRow(op, threads string, t profile.Turn) []any {
	row := []any{op, threads}
	for _, s := range []float64{t.Begin, t.Quantize, t.Work, t.Tail} {
		row = append(row, formatSeconds(s))
	}
	return row
}

// printWhatIfs shows by how much the time of a token would change.
func printWhatIfs(w io.Writer, all []profile.WhatIf) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	table := cli.NewTable(w, "WHAT IF", "TIME/TOKEN", "BECAUSE")
	for _, x := range all {
		believed := "-"
		if f := x.Believed(); !math.IsNaN(f.Center) {
			believed = change(f)
		}
		table.Row(x.Name, believed, x.Because())
	}
	return table.Flush()
}

// printMemory shows what is resident at the end of each phase.
func printMemory(w io.Writer, m *profile.Memory) error {
	fmt.Fprintln(w)
	header := []any{"MEMORY AFTER"}
	for _, phase := range m.Phases {
		header = append(header, strings.ToUpper(phase.Name))
	}
	table := cli.NewTable(w, append(header, "SHARED", "RESERVED")...)
	for _, owner := range profile.Owners {
		row, last := []any{owner}, profile.Part{}
		for _, phase := range m.Phases {
			last = phase.Part(owner)
			row = append(row, residentText(last.Resident))
		}
		if last != (profile.Part{Owner: owner}) {
			table.Row(append(row, residentText(last.Shared), residentText(last.Reserved))...)
		}
	}
	resident, peak := []any{"resident"}, []any{"peak in the phase"}
	for _, phase := range m.Phases {
		resident, peak = append(resident, residentText(phase.RSS)), append(peak, residentText(phase.Peak))
	}
	table.Row(resident...)
	table.Row(peak...)
	if err := table.Flush(); err != nil || m.Why == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "what is resident is not known: %s\n", m.Why)
	return err
}

func residentText(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return formatAs(results.PackedBytes, float64(bytes))
}

// spreadOf is nothing for what is nothing.
func spreadOf(f noise.Figure) string {
	if f.Center == 0 {
		return ""
	}
	return spread(f)
}

// A profileDocument is what --json prints. Times are in seconds.
type profileDocument struct {
	Model    string            `json:"model"`
	Variant  string            `json:"variant"`
	Act      string            `json:"act"`
	Packing  string            `json:"packing"`
	Arch     string            `json:"arch"`
	Threads  int               `json:"threads"`
	Blocks   int               `json:"blocks"`
	Types    []string          `json:"types"`
	Ceilings profileCeilings   `json:"ceilings"`
	Tests    []profileTestJSON `json:"tests"`
	WhatIfs  []profileWhatIf   `json:"what_ifs"`
	Memory   profileMemory     `json:"memory"`
	Warnings []string          `json:"warnings"`
	Missing  []string          `json:"not_counted,omitempty"`
}

type profileCeilings struct {
	Source   string         `json:"source"`
	Levels   []profileLevel `json:"levels"`
	Int8     float64        `json:"int8_macs_per_second,omitempty"`
	Float32  float64        `json:"float32_macs_per_second,omitempty"`
	Dispatch float64        `json:"dispatch"`
}

type profileLevel struct {
	Name  string  `json:"name"`
	Bytes int     `json:"bytes,omitempty"` // absent: holds anything
	Rate  float64 `json:"bytes_per_second"`
}

type profileMemory struct {
	Phases []profilePhase `json:"phases"`
	Why    string         `json:"not_known,omitempty"`
}

// A profilePhase has bytes at the end of a phase.
type profilePhase struct {
	Phase    string        `json:"phase"`
	Resident int64         `json:"resident"`
	Peak     int64         `json:"peak"`
	Owners   []profilePart `json:"owners"`
}

type profilePart struct {
	Owner    string `json:"owner"`
	Resident int64  `json:"resident"`
	Shared   int64  `json:"shared"`
	Reserved int64  `json:"reserved"`
}

func memoryJSON(m *profile.Memory) profileMemory {
	out := profileMemory{Phases: []profilePhase{}, Why: m.Why}
	for _, phase := range m.Phases {
		p := profilePhase{Phase: phase.Name, Resident: phase.RSS, Peak: phase.Peak, Owners: []profilePart{}}
		for _, part := range phase.Parts {
			p.Owners = append(p.Owners, profilePart{part.Owner, part.Resident, part.Shared, part.Reserved})
		}
		out.Phases = append(out.Phases, p)
	}
	return out
}

// A profileWhatIf has changes of the time of a token, as a share of it.
type profileWhatIf struct {
	Name     string     `json:"name"`
	Believed jsonFigure `json:"believed"`
	Because  string     `json:"because"`
	Computed *float64   `json:"computed"` // null if it was refuted, too
	Measured jsonFigure `json:"measured"`
	Why      string     `json:"not_measured,omitempty"`
}

type profileTestJSON struct {
	Test       string             `json:"test"`
	Unit       string             `json:"unit"` // token or prompt
	Passes     int                `json:"passes"`
	Planned    int                `json:"planned"`
	Time       jsonFigure         `json:"time"`
	Rate       jsonFigure         `json:"tokens_per_second"`
	Overhead   jsonFigure         `json:"overhead"`
	Operations []profileOperation `json:"operations"`
	Threads    []map[string]any   `json:"threads"`
	// Counted has, by operation and unit, what was counted per token or prompt.
	Counted map[string]map[string]jsonFigure `json:"counted,omitempty"`
}

type profileOperation struct {
	Op         string               `json:"op"`
	Blocks     int                  `json:"blocks"`
	Time       jsonFigure           `json:"time"`
	Share      float64              `json:"share"`
	Bytes      float64              `json:"bytes"`
	Moved      float64              `json:"moved"`
	MACs       float64              `json:"macs"`
	Dispatches float64              `json:"dispatches"`
	Bound      string               `json:"bound,omitempty"`
	AtBound    float64              `json:"at_bound,omitempty"`
	Won        float64              `json:"could_be_won,omitempty"`
	Threads    []map[string]float64 `json:"threads"` // seconds; divide by dispatches for those of a dispatch
}

// A jsonFigure has no interval where there is none.
type jsonFigure struct {
	Center *float64 `json:"center"`
	Lo     *float64 `json:"lo,omitempty"`
	Hi     *float64 `json:"hi,omitempty"`
}

func figureJSON(f noise.Figure) jsonFigure {
	return jsonFigure{finite(f.Center), finite(f.Lo), finite(f.Hi)}
}

// finite is nil for what JSON has no number for.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (f *profileFlags) document(p *profile.Profile) profileDocument {
	d := profileDocument{
		Model: p.Model, Variant: p.Variant, Act: p.Act, Packing: p.Packing, Arch: p.Arch, Threads: p.Threads, Blocks: p.Blocks,
		Types: p.Types, Memory: memoryJSON(&p.Memory), WhatIfs: []profileWhatIf{}, Tests: []profileTestJSON{}, Warnings: append([]string{}, p.Warnings...), Missing: p.NotCounted,
		Ceilings: profileCeilings{Source: p.Ceilings.Source, Int8: p.Ceilings.Int8, Float32: p.Ceilings.Float32, Dispatch: p.Ceilings.Dispatch.Seconds()},
	}
	for _, l := range p.Ceilings.Levels {
		d.Ceilings.Levels = append(d.Ceilings.Levels, profileLevel{l.Name, l.Bytes, l.Rate})
	}
	for _, x := range p.WhatIfs {
		what := profileWhatIf{x.Name, figureJSON(x.Believed()), x.Because(), finite(x.Computed), figureJSON(x.Measured), x.Why}
		if x.Refuted() {
			what.Computed = nil
		}
		d.WhatIfs = append(d.WhatIfs, what)
	}
	for _, t := range p.Tests {
		d.Tests = append(d.Tests, f.testJSON(p, t))
	}
	return d
}

func (f *profileFlags) testJSON(p *profile.Profile, t *profile.Test) profileTestJSON {
	out := profileTestJSON{
		Test: t.String(), Unit: t.Unit(), Passes: len(t.Passes), Planned: p.Planned,
		Time: figureJSON(t.Time()), Rate: figureJSON(t.Rate()), Overhead: figureJSON(t.Overhead()), Operations: []profileOperation{},
	}
	for _, o := range t.Operations(&p.Ceilings, f.filter) {
		row := profileOperation{
			Op: o.Op, Blocks: o.Blocks, Time: figureJSON(o.Time), Share: o.Share, Bytes: o.PerUnit(o.Bytes), Moved: o.PerUnit(o.Moved),
			MACs: o.PerUnit(o.MACs), Dispatches: o.PerUnit(o.Dispatches), Bound: o.Bound.Name, AtBound: o.Bound.Seconds, Won: o.Won,
		}
		for _, activities := range o.Activities {
			thread := map[string]float64{}
			for a, s := range activities {
				thread[profile.Activity(a).String()] = s
			}
			row.Threads = append(row.Threads, thread)
		}
		out.Operations = append(out.Operations, row)
	}
	for _, o := range t.Counted(f.filter) {
		if out.Counted == nil {
			out.Counted = map[string]map[string]jsonFigure{}
		}
		out.Counted[o.Op] = map[string]jsonFigure{}
		for unit, v := range o.Values {
			out.Counted[o.Op][unit] = figureJSON(v)
		}
	}
	for _, activities := range t.Activities(f.filter) {
		thread := map[string]any{}
		for a, s := range activities {
			thread[profile.Activity(a).String()] = figureJSON(s)
		}
		out.Threads = append(out.Threads, thread)
	}
	return out
}

package reports

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
)

var (
	//go:embed assets/profile.html.tmpl
	profileSource string
	//go:embed assets/profile.css
	profileStyle string
	//go:embed assets/profile.js
	profileScript string
)

var profileTemplate = sync.OnceValue(func() *template.Template { return newPageTemplate(profileSource) })

// flameName is the flame graph in a profile's folder.
const flameName = "flame.svg"

// WriteProfile writes a profile's page, index.html, and flame.svg into dir. res
// are the samples of the same run.
func WriteProfile(dir string, p *profiles.Profile, res *results.Set, opt WriteOptions) error {
	return writeFiles(dir, opt, func(w io.Writer) error { return WriteProfileHTML(w, p, res) },
		File{flameName, func(w io.Writer) error { return WriteFlame(w, p) }})
}

// WriteProfileHTML writes a profile as one page that needs nothing beside it.
func WriteProfileHTML(w io.Writer, p *profiles.Profile, res *results.Set) error {
	page, err := newProfilePage(p, res)
	if err != nil {
		return err
	}
	return renderPage(w, profileTemplate(), page)
}

type profilePage struct {
	shell
	Warnings    []string
	Tests       []profileTest
	WhatIfs     *sheet
	Memory      *sheet
	MemoryWhy   string
	Figures     []pageFigure // of memory
	Ceilings    []fact
	Environment []fact
	Command     string
	Data        template.JS // of the timelines
}

// A profileTest is a test's section.
type profileTest struct {
	ID, Heading, Advice, Overhead string
	Operations, Threads, Counted  *sheet // Counted is nil where nothing was
	Zero                          string // events that were counted and did not happen
	Figures                       []pageFigure
	Timeline                      int // index in Data
	TimelineAbout                 string
}

func newProfilePage(p *profiles.Profile, res *results.Set) (*profilePage, error) {
	model := term.Text(p.Model)
	d := newDigest(res)
	page := &profilePage{
		shell:    newShell("Profile of "+model, fmt.Sprintf("%s with %s, %s, %s", p.Variant, p.Act, p.Packing, count.Of(p.Threads, "thread"))+" · "+d.subtitle()),
		Warnings: mapped(append(mapped(p.NotCounted, func(text string) string { return "not counted: " + text }), p.Warnings...), term.Text), MemoryWhy: p.Memory.Why, Command: d.res.Setting("command"),
	}
	page.Style += template.CSS(profileStyle)
	page.Script += template.JS(profileScript)
	for _, s := range d.res.Settings {
		page.Environment = append(page.Environment, fact{s.Key, s.Value})
	}
	page.Ceilings = ceilingFacts(&p.Ceilings)
	var lines []timeline
	for _, t := range p.Tests {
		test, err := newProfileTest(p, t, d)
		if err != nil {
			return nil, err
		}
		line, about := newTimeline(t)
		test.Timeline, test.TimelineAbout = len(lines), about
		lines = append(lines, line)
		page.Tests = append(page.Tests, test)
	}
	data, err := json.Marshal(lines)
	if err != nil {
		return nil, fmt.Errorf("rendering the page: %w", err)
	}
	page.Data = template.JS(data)
	if len(p.WhatIfs) > 0 {
		page.WhatIfs = whatIfSheet(p.WhatIfs)
	}
	page.Memory = memorySheet(&p.Memory)
	page.Figures, err = pageFigures(phaseFigures(&p.Memory)...)
	return page, err
}

// pageFigures draws those that are not nil.
func pageFigures(all ...*figure) (drawn []pageFigure, err error) {
	for _, f := range all {
		if f == nil {
			continue
		}
		svg, err := f.svg()
		if err != nil {
			return nil, err
		}
		drawn = append(drawn, newPageFigure(drawnFigure{f, svg}, ""))
	}
	return drawn, nil
}

func ceilingFacts(c *profiles.Ceilings) []fact {
	facts := []fact{{"from", c.Source}}
	for _, l := range c.Levels {
		facts = append(facts, fact{"read from " + l.Name, results.UnitOf(results.ReadRate).Format(l.Rate)})
	}
	for _, peak := range []struct {
		name string
		rate float64
	}{{profiles.BoundInt8, c.Int8}, {profiles.BoundFloat32, c.Float32}} {
		if peak.rate > 0 {
			facts = append(facts, fact{"multiply-adds of " + peak.name, results.UnitOf(results.OpRate).Format(peak.rate)})
		}
	}
	return append(facts, fact{"an empty dispatch", formatTime(float64(c.Dispatch))})
}

func newProfileTest(p *profiles.Profile, t *profiles.Test, d *digest) (profileTest, error) {
	ops := t.Operations(&p.Ceilings, profiles.Filter{})
	out := profileTest{
		ID: "test-" + t.Name(), Heading: t.String(), Advice: profileAdvice(t, ops),
		Overhead:   fmt.Sprintf("Observing makes a pass %s longer; the speed is that of passes without.", shareInterval(t.Overhead())),
		Operations: operationSheet(t, ops), Threads: threadSheet(t),
	}
	counted := t.Counted(profiles.Filter{})
	units, zero := profiles.CountedUnits(counted)
	if len(zero) > 0 {
		out.Zero = "0 for every operation: " + strings.Join(zero, ", ") + "."
	}
	if len(units) > 0 {
		out.Counted = countSheet(t, counted, units)
	}
	figures := []*figure{threadFigure(t), operationRoofline(t, ops, &p.Ceilings)}
	for _, m := range d.models {
		for _, q := range m.profiles {
			if q.test == t.String() {
				figures = append([]*figure{opsFigure(m, q), opBlocksFigure(m, q)}, figures...)
			}
		}
	}
	var err error
	out.Figures, err = pageFigures(figures...)
	return out, err
}

// profileAdvice says what a reader came for.
func profileAdvice(t *profiles.Test, ops []profiles.Operation) string {
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
	text := fmt.Sprintf("%s, %s per %s.", results.UnitOf(results.TokenRate).Format(t.Rate().Center), formatSeconds(t.Time().Center), t.Unit())
	if name == "" || len(ops) == 0 {
		return text
	}
	return text + fmt.Sprintf(" Operations with %s of the time are bound by %s. If all met their bounds, %s of the time would be won, the most in %s (%s).",
		percent(most), name, percent(won), ops[0].Op, percent(gain(ops[0])))
}

func formatSeconds(s float64) string { return formatTime(s * 1e9) }

func shareInterval(f noise.Figure) string {
	text := fmt.Sprintf("%+.1f %%", 100*f.Center)
	if f.Bounded() {
		text += fmt.Sprintf(" (%+.1f to %+.1f %%)", 100*f.Lo, 100*f.Hi)
	}
	return text
}

// figureSpread is the wider side of an interval, as the tables show it.
func figureSpread(f noise.Figure) string {
	share := max(f.Hi/f.Center-1, 1-f.Lo/f.Center)
	switch {
	case !f.Bounded() || !(f.Center > 0):
		return ""
	case !(share < 9):
		return unknownSpread
	}
	return "±" + percent(share)
}

func operationSheet(t *profiles.Test, ops []profiles.Operation) *sheet {
	positive := func(unit string, v float64) sheetCell {
		if !(v > 0) {
			return sheetCell{}
		}
		return sheetCell{Text: results.UnitOf(unit).Format(v)}
	}
	type op = profiles.Operation
	return newSheet("operations-"+t.Name(), "Operations, by what could be won",
		fmt.Sprintf("Per %s, summed over the blocks; medians of %s with 95 %% intervals. At bound is the least time that the machine's ceilings allow.", t.Unit(), count.Of(len(t.Passes), "round")),
		ops, []field[op]{
			{label: "operation", text: true, cell: func(o op) sheetCell { return sheetCell{Text: o.Op} }},
			{label: "time", cell: func(o op) sheetCell {
				return sheetCell{Text: formatSeconds(o.Time.Center), Remark: figureSpread(o.Time)}
			}},
			{label: "share", cell: func(o op) sheetCell { return sheetCell{Text: percent(o.Share)} }},
			{label: "reads", about: "weights, or keys and values", cell: func(o op) sheetCell { return positive(results.PackedBytes, o.PerUnit(o.Bytes)) }},
			{label: "read rate", cell: func(o op) sheetCell { return positive(results.WeightRate, o.PerSecond(o.Bytes)) }},
			{label: "multiply-adds", cell: func(o op) sheetCell { return positive(results.OpRate, o.PerSecond(o.MACs)) }},
			{label: "bound by", text: true, cell: func(o op) sheetCell { return sheetCell{Text: o.Bound.Name} }},
			{label: "at bound", cell: func(o op) sheetCell {
				if o.Bound.Name == "" {
					return sheetCell{}
				}
				return sheetCell{Text: formatSeconds(o.Bound.Seconds), Remark: percent(o.OfBound())}
			}},
			{label: "could be won", cell: func(o op) sheetCell {
				if o.Bound.Name == "" {
					return sheetCell{}
				}
				return sheetCell{Text: formatSeconds(o.Won)}
			}},
		})
}

// countSheet shows what was counted of each operation.
func countSheet(t *profiles.Test, counted []profiles.OperationCount, units []string) *sheet {
	type op = profiles.OperationCount
	fields := []field[op]{{label: "operation", text: true, cell: func(o op) sheetCell { return sheetCell{Text: o.Op} }}}
	for _, unit := range units {
		u := results.UnitOf(unit)
		fields = append(fields, field[op]{label: strings.TrimSuffix(unit, "/op"), about: u.About, cell: func(o op) sheetCell {
			v, ok := o.Values[unit]
			if !ok {
				return sheetCell{}
			}
			return sheetCell{Text: u.Format(v.Center), Remark: figureSpread(v)}
		}})
	}
	fields = append(fields, field[op]{label: "per cycle", about: "instructions", cell: func(o op) sheetCell {
		n, ok := o.PerCycle()
		if !ok {
			return sheetCell{}
		}
		return sheetCell{Text: fmt.Sprintf("%.2f", n)}
	}})
	caption := fmt.Sprintf("Per %s, in user mode, by all threads; medians of passes of their own, without what reading the counters takes.", t.Unit())
	return newSheet("counted-"+t.Name(), "What was counted", caption, counted, fields)
}

func threadSheet(t *profiles.Test) *sheet {
	all := t.Activities(profiles.Filter{})
	threads := make([]int, len(all))
	for i := range threads {
		threads[i] = i
	}
	fields := []field[int]{{label: "thread", text: true, cell: func(i int) sheetCell { return sheetCell{Text: strconv.Itoa(i)} }}}
	for a := range profiles.Activities {
		fields = append(fields, field[int]{label: a.String(), about: activityAbout[a], cell: func(i int) sheetCell {
			return sheetCell{Text: formatSeconds(all[i][a].Center), Remark: figureSpread(all[i][a])}
		}})
	}
	return newSheet("threads-"+t.Name(), "What each thread does", "Per "+t.Unit()+". Dispatch of another thread than 0 is its ramp-up, wait the tail in which others still work.", threads, fields)
}

var activityAbout = map[profiles.Activity]string{
	profiles.Quantize: "makes activations ready for a product", profiles.Multiply: "computes rows of a product",
	profiles.Other: "other shared work: attention, activation, norms of a prompt", profiles.Dispatch: "hands tasks out, or has not begun yet",
	profiles.Wait: "found no more tasks", profiles.Serial: "thread 0 works alone",
}

func whatIfSheet(all []profiles.WhatIf) *sheet {
	type what = profiles.WhatIf
	return newSheet("what-if", "What if", "Change of the time of a token: measured in pairs of passes, with a 95 % interval, or computed from the bounds where it was not measured.", all, []field[what]{
		{label: "what if", text: true, cell: func(x what) sheetCell { return sheetCell{Text: x.Name} }},
		{label: "time of a token", cell: func(x what) sheetCell {
			if f := x.Believed(); !math.IsNaN(f.Center) {
				return sheetCell{Text: shareInterval(f)}
			}
			return sheetCell{}
		}},
		{label: "because", text: true, cell: func(x what) sheetCell { return sheetCell{Text: x.Because()} }},
	})
}

func memorySheet(m *profiles.Memory) *sheet {
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
	size := func(n int64) sheetCell {
		if n == 0 {
			return sheetCell{}
		}
		return sheetCell{Text: results.UnitOf(results.PackedBytes).Format(float64(n))}
	}
	const all = "resident"
	fields := []field[string]{{label: "owner", text: true, cell: func(o string) sheetCell { return sheetCell{Text: o} }}}
	for _, phase := range m.Phases {
		fields = append(fields, field[string]{label: "after " + phase.Name, cell: func(o string) sheetCell {
			if o == all {
				return size(phase.RSS)
			}
			return size(phase.Part(o).Resident)
		}})
	}
	fields = append(fields,
		field[string]{label: "shared", about: "with other processes, after the last phase", cell: func(o string) sheetCell { return size(last.Part(o).Shared) }},
		field[string]{label: "reserved", about: "addresses, after the last phase", cell: func(o string) sheetCell { return size(last.Part(o).Reserved) }})
	return newSheet("memory-owners", "Resident memory by owner", "At the end of each phase; the owners add up to what the system tells in one number.", append(owners, all), fields)
}

// A timeline is what the page's script draws: for each thread, segments of start
// and length in ns, activity, and index of an operation.
type timeline struct {
	Name       string    `json:"name"`
	Length     int64     `json:"length"`
	Activities []string  `json:"activities"`
	Ops        []string  `json:"ops"`
	Threads    [][]int64 `json:"threads"` // start, length, activity, operation, and so on
}

// mostSegments is how many a page draws quickly, in all threads.
const mostSegments = 20_000

// newTimeline is the beginning of the fastest pass.
func newTimeline(t *profiles.Test) (timeline, string) {
	line := timeline{Name: t.String(), Threads: [][]int64{}, Ops: []string{"between operations"}}
	for a := range profiles.Activities {
		line.Activities = append(line.Activities, a.String())
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
					index[key] = int64(len(line.Ops))
					line.Ops = append(line.Ops, strings.TrimSpace(key.Op+" "+blockText(key.Block)))
				}
				op = index[key]
			}
			flat = append(flat, int64(s.Start), int64(min(s.End, end)-s.Start), int64(s.Activity), op)
		}
		line.Threads = append(line.Threads, flat)
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

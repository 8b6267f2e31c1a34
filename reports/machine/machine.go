// Package machine reports what machines can do at most, one or several side by side.
package machine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// A report is what every form of a report of machines shows.
type report struct{ machines []*machineResults }

// machineResults are one machine's.
type machineResults struct {
	*digest.Member
	byName map[string]*digest.Case // by the name without bytes where a level stands for them
}

func newReport(s *reports.Source) *report {
	r := &report{}
	seen := make(map[string]int)
	for i, res := range s.Machines {
		found := &machineResults{Member: &digest.Member{Digest: digest.Of(res), Machine: res.Machine()}, byName: make(map[string]*digest.Case)}
		if len(s.Machines) > 1 {
			m := res.Machine()
			found.Name = figure.Label(cmp.Or(m.Host, m.CPU, fmt.Sprintf("machine %d", i+1)))
			if seen[found.Name]++; seen[found.Name] > 1 {
				found.Name += fmt.Sprintf(" (%d)", seen[found.Name])
			}
		}
		for _, c := range found.Cases {
			found.byName[levelName(c.Name)] = c
		}
		r.machines = append(r.machines, found)
	}
	return r
}

// levelName is what machines whose caches differ in size have in common.
func levelName(n results.Name) string {
	if n.Get(names.Level) != "" {
		return n.Without(names.Bytes)
	}
	return n.Full
}

// ofBase are the cases of a base name.
func (m *machineResults) ofBase(base string) []*digest.Case {
	return slices.DeleteFunc(slices.Clone(m.Cases), func(c *digest.Case) bool { return c.Name.Base != base })
}

// keys lists the values that a key has in the cases of a base name of any machine.
func (r *report) keys(base, key string) (values []string) {
	for _, m := range r.machines {
		for _, c := range m.ofBase(base) {
			if v := c.Name.Get(key); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	slices.SortFunc(values, words.Compare)
	return values
}

// A machineColumn is a condition on a machine.
type machineColumn struct {
	machine *machineResults
	label   string
	value   string // of a key
}

// columns has one for each machine and value of a key.
func (r *report) columns(values []string, text func(string) string) (out []machineColumn) {
	for _, v := range values {
		for _, m := range r.machines {
			name := text(v)
			if m.Name != "" {
				name = strings.TrimSpace(name + ", " + m.Name)
				name = strings.TrimPrefix(name, ", ")
			}
			out = append(out, machineColumn{m, name, v})
		}
	}
	return out
}

func threadsText(n string) string { return digest.Panel{Threads: n}.String() }

// A machineRow is a line of a sheet: what its cases are called in each column.
type machineRow struct {
	labels []string
	name   func(column string) string // as levelName gives it
	unit   string
}

// sheet makes a table of rows and columns; nil if it is empty.
func (r *report) sheet(id, heading, caption string, titles []string, rows []machineRow, columns []machineColumn) *doc.Table {
	var fields []doc.Field[machineRow]
	for i, title := range titles {
		fields = append(fields, doc.Field[machineRow]{Label: title, Text: true, Cell: func(row machineRow) doc.Cell {
			return doc.Cell{Text: row.labels[i]}
		}})
	}
	for _, c := range columns {
		fields = append(fields, doc.Field[machineRow]{Label: c.label, Cell: func(row machineRow) doc.Cell {
			return c.machine.cell(row.name(c.value), row.unit)
		}})
	}
	rows = slices.DeleteFunc(rows, func(row machineRow) bool {
		return !slices.ContainsFunc(columns, func(c machineColumn) bool {
			return c.machine.byName[row.name(c.value)] != nil
		})
	})
	if len(rows) == 0 {
		return nil
	}
	return words.NewTable(id, heading, caption, rows, append(fields, rateBars(rows, columns[len(columns)-1])))
}

// rateBars draws a column in which all are rates.
func rateBars(rows []machineRow, c machineColumn) doc.Field[machineRow] {
	length := func(row machineRow) doc.Length {
		cs := c.machine.byName[row.name(c.value)]
		if cs == nil {
			return doc.Length{Value: math.NaN()}
		}
		return digest.LengthOf(cs.Stats[row.unit])
	}
	if slices.ContainsFunc(rows, func(row machineRow) bool { return results.UnitOf(row.unit).Better <= 0 }) {
		return doc.Field[machineRow]{Cell: func(machineRow) doc.Cell { return doc.Cell{} }}
	}
	scale := doc.NewScale(rows, length, true)
	return doc.Field[machineRow]{Label: c.label, About: "longer is better; the line is the interval", Text: true, Drop: 3, Cell: func(row machineRow) doc.Cell { return scale.Cell(length(row)) }}
}

// cell is a case's value, with its interval and, of multiply-adds, how many there are in a cycle.
func (m *machineResults) cell(name, unit string) doc.Cell {
	c := m.byName[name]
	if c == nil {
		return doc.Cell{}
	}
	cell := doc.Cell{Text: digest.ValueOf(c, unit)}
	if s, ok := c.Stats[unit]; ok && cell.Text != "" {
		cell.Text += c.Signs
		cell.Remark = s.SpreadText(unit)
	}
	if rate, ok := perCycle(c); ok && unit == results.OpRate {
		cell.Remark = strings.TrimSpace(cell.Remark + fmt.Sprintf(", %.3g a cycle", rate))
	}
	return cell
}

// perCycle is how many multiply-adds a thread does in a cycle of its clock.
func perCycle(c *digest.Case) (float64, bool) {
	ops, ok1 := c.Center(results.OpRate)
	hz, ok2 := c.Center(results.ClockRate)
	threads := names.ThreadsOf(c.Name)
	if !ok1 || !ok2 || hz <= 0 || threads == 0 {
		return 0, false
	}
	return ops / hz / float64(threads), true
}

// sheets are all tables.
func (r *report) sheets() []*doc.Table {
	all := []*doc.Table{r.bandwidthSheet(), r.latencySheet(), r.peakSheet(), r.costSheet(), r.statesSheet()}
	return slices.DeleteFunc(all, func(s *doc.Table) bool { return s == nil })
}

const spreadText = "± holds the next run's median."

var rateUnits = map[string]string{names.ReadAccess: results.ReadRate, names.WriteAccess: results.WriteRate, names.CopyAccess: results.CopyRate}

func (r *report) bandwidthSheet() *doc.Table {
	var rows []machineRow
	for _, level := range names.Levels {
		for _, access := range names.Accesses {
			for _, pages := range r.keys(names.BaseBandwidth, names.Pages) {
				name := func(threads string) string {
					n, _ := strconv.Atoi(threads) // of a key; else no case is called so
					return names.Bandwidth{Access: access, Level: level, Pages: pages, Threads: n}.String()
				}
				rows = append(rows, machineRow{[]string{levelText(level), access, pages}, name, rateUnits[access]})
			}
		}
	}
	return r.sheet("bandwidth", "Bandwidth", "All threads together; a copy counts what it reads and what it writes. "+spreadText,
		[]string{"level", "access", "pages"}, rows, r.columns(r.keys(names.BaseBandwidth, names.Threads), threadsText))
}

func levelText(level string) string {
	if level == names.DRAM {
		return "memory"
	}
	return strings.ToUpper(level[:1]) + level[1:]
}

func sizeText(bytes int) string { return sysinfo.Bytes(bytes).String() }

func (r *report) latencySheet() *doc.Table {
	var rows []machineRow
	for _, size := range r.keys(names.BaseLatency, names.Bytes) {
		n, err := strconv.Atoi(size)
		if err != nil {
			continue
		}
		name := func(pages string) string { return names.Latency{Bytes: n, Pages: pages}.String() }
		rows = append(rows, machineRow{[]string{sizeText(n)}, name, results.NsPerOp})
	}
	columns := r.columns(r.keys(names.BaseLatency, names.Pages), func(p string) string { return p + " pages" })
	return r.sheet("latency", "Latency", "A load waits for the one before it, in random order. "+spreadText, []string{"bytes"}, rows, columns)
}

func (r *report) peakSheet() *doc.Table {
	var rows []machineRow
	for _, kind := range []string{names.Int8, "f32", "bf16"} {
		for _, isa := range r.isas(kind) {
			name := func(threads string) string {
				n, _ := strconv.Atoi(threads)
				return names.DotPeak{Type: kind, ISA: isa, Threads: n}.String()
			}
			rows = append(rows, machineRow{[]string{kind, isa}, name, results.OpRate})
		}
	}
	return r.sheet("peaks", "Multiply-adds", "In registers, all threads together; in a cycle, of each thread. "+spreadText,
		[]string{"type", "instructions"}, rows, r.columns(r.keys(names.BaseDotPeak, names.Threads), threadsText))
}

// isas are the instruction sets of a type, the fastest first.
func (r *report) isas(kind string) (out []string) {
	best := make(map[string]float64)
	for _, m := range r.machines {
		for _, c := range m.ofBase(names.BaseDotPeak) {
			if isa := c.Name.Get(names.ISA); c.Name.Get(names.Type) == kind {
				if _, seen := best[isa]; !seen {
					out = append(out, isa)
				}
				v, _ := c.Center(results.OpRate)
				best[isa] = max(best[isa], v)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(best[b], best[a]) })
	return out
}

func (r *report) costSheet() *doc.Table {
	var rows []machineRow
	add := func(text, unit, name string) {
		rows = append(rows, machineRow{[]string{text}, func(string) string { return name }, unit})
	}
	for _, threads := range r.keys(names.BaseFrequency, names.Threads) {
		n, _ := strconv.Atoi(threads)
		add("clock, "+threadsText(threads), results.ClockRate, names.Frequency(n))
	}
	add("reading the time", results.NsPerOp, names.BaseTimer)
	for _, threads := range r.keys(names.BaseDispatch, names.Threads) {
		n, _ := strconv.Atoi(threads)
		add("handing work to "+threadsText(threads), results.NsPerOp, names.Dispatch(n))
	}
	for _, threads := range r.keys(names.BaseGather, names.Threads) {
		n, _ := strconv.Atoi(threads)
		add("until "+threadsText(threads)+" have begun and ended", results.NsPerOp, names.Gather(n))
		add("the same, as onebit estimates it", results.Estimated, names.Gather(n))
	}
	if _, cells := r.machines[0].pairs(); len(cells) == 1 {
		for pair := range cells {
			add(fmt.Sprintf("round trip between CPU %d and %d", pair[0], pair[1]), results.NsPerOp, names.RoundTrip(pair[0], pair[1]))
		}
	}
	return r.sheet("costs", "Clock and dispatch", "The frequency is that of a loop of dependent operations. "+spreadText, []string{""}, rows,
		r.columns([]string{""}, func(string) string {
			if len(r.machines) > 1 {
				return ""
			}
			return "value"
		}))
}

// pairs are the CPUs between which round trips were measured, and their times.
func (m *machineResults) pairs() (cpus []int, cells map[[2]int]*digest.Case) {
	cells = make(map[[2]int]*digest.Case)
	for _, c := range m.ofBase(names.BaseRoundTrip) {
		from, to, ok := names.CPUsOf(c.Name)
		if !ok {
			continue
		}
		cells[[2]int{from, to}] = c
		for _, cpu := range []int{from, to} {
			if !slices.Contains(cpus, cpu) {
				cpus = append(cpus, cpu)
			}
		}
	}
	slices.Sort(cpus)
	return cpus, cells
}

// A statesRow is a case in the two states of a machine.
type statesRow struct {
	machine *machineResults
	c       *digest.Case
	unit    string
	states  []noise.State
}

func (r *report) statesSheet() *doc.Table {
	var rows []statesRow
	for _, m := range r.machines {
		for _, c := range m.Cases {
			for _, unit := range []string{results.ReadRate, results.WriteRate, results.CopyRate, results.OpRate} {
				if s, ok := c.Stats[unit]; ok && len(s.States) == 2 {
					rows = append(rows, statesRow{m, c, unit, s.States})
				}
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	trip := func(i int) func(statesRow) doc.Cell {
		return func(row statesRow) doc.Cell {
			return doc.Cell{Text: results.UnitOf(results.RoundTrip).Format(row.states[i].RoundTrip)}
		}
	}
	value := func(i int) func(statesRow) doc.Cell {
		return func(row statesRow) doc.Cell {
			return doc.Cell{Text: results.UnitOf(row.unit).Format(row.states[i].Center)}
		}
	}
	return words.NewTable("states", "Near and far", "The machine was in two states, as a cache line's round trip tells: its threads near each other, and far apart.", rows, []doc.Field[statesRow]{
		{Label: "machine", Text: true, Cell: func(row statesRow) doc.Cell { return doc.Cell{Text: row.machine.Name} }},
		{Label: "what", Text: true, Cell: func(row statesRow) doc.Cell { return doc.Cell{Text: row.c.Name.Full} }},
		{Label: "near", Cell: value(0)}, {Label: "round trip", Cell: trip(0)},
		{Label: "far", Cell: value(1)}, {Label: "round trip", Cell: trip(1)},
	})
}

// advice says what the machine does at most: what it reads, and what it computes.
func (m *machineResults) advice() (first, more string) {
	name := cmp.Or(m.Name, term.Text(m.Results.Setting("cpu")))
	var parts []string
	if c := m.best(names.BaseBandwidth, results.ReadRate, func(n results.Name) bool { return n.Get(names.Level) == names.DRAM }); c != nil {
		parts = append(parts, fmt.Sprintf("reads %s from memory with %s", digest.ValueOf(c, results.ReadRate), threadsText(c.Name.Get(names.Threads))))
	}
	var sums []string
	for _, kind := range []string{names.Int8, "f32"} {
		if c := m.best(names.BaseDotPeak, results.OpRate, func(n results.Name) bool { return n.Get(names.Type) == kind }); c != nil {
			sums = append(sums, fmt.Sprintf("%s %s with %s (%s)", digest.ValueOf(c, results.OpRate), kind, threadsText(c.Name.Get(names.Threads)), figure.Label(c.Name.Get(names.ISA))))
		}
	}
	if len(sums) > 0 {
		parts = append(parts, "multiplies and adds "+words.List(sums))
	}
	if len(parts) == 0 {
		return name + ": of its bandwidth and its multiply-adds nothing was measured.", ""
	}
	if len(parts) > 1 {
		more = "It " + parts[1] + "."
	}
	return name + " " + parts[0] + ".", more
}

// verdict is what the read rate of memory allows a model; none if that was not measured.
func (m *machineResults) verdict() (verdict, number, of string) {
	c := m.best(names.BaseBandwidth, results.ReadRate, func(n results.Name) bool { return n.Get(names.Level) == names.DRAM })
	if c == nil {
		return "", "", ""
	}
	rate, _ := c.Center(results.ReadRate)
	return fmt.Sprintf("%s makes at most %s with a model of 1 GB of weights: each token reads all of them.",
			term.Text(m.Results.Setting("cpu")), results.UnitOf(results.TokenRate).Format(rate/1e9)), digest.ValueOf(c, results.ReadRate),
		strings.TrimSpace(c.Stats[results.ReadRate].SpreadText(results.ReadRate) + " read from memory with " + threadsText(c.Name.Get(names.Threads)))
}

// best is the case that has most of a unit; nil if there is none.
func (m *machineResults) best(base, unit string, keep func(results.Name) bool) (best *digest.Case) {
	most := math.Inf(-1)
	for _, c := range m.ofBase(base) {
		if v, ok := c.Center(unit); ok && v > most && keep(c.Name) {
			best, most = c, v
		}
	}
	return best
}

// prefix stands before what a machine among others says.
func (m *machineResults) prefix() string { return words.If(m.Name != "", m.Name+": ") }

// remarks are failures and what could not be measured.
func (m *machineResults) remarks() (out []string) {
	for _, f := range m.Results.Failures {
		out = append(out, m.prefix()+"not measured: "+f.Name.Full+": "+strings.ReplaceAll(f.Reason, "\n", "; "))
	}
	for _, text := range m.unavailable() {
		out = append(out, m.prefix()+"unavailable: "+text)
	}
	return out
}

// unavailable is what this machine could not measure, and why.
func (m *machineResults) unavailable() []string {
	if text := m.Results.Setting(results.UnmeasuredKey); text != "" {
		return strings.Split(text, "; ")
	}
	return nil
}

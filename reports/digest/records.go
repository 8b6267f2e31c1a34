package digest

import (
	"slices"
	"strconv"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// A Member is a machine of a fleet.
type Member struct {
	*Digest
	Machine results.Machine
	Name    string // unlike that of any other
}

func (m *Member) Emulated() bool { return m.Machine.Emulated() }

// Heading is the machine's name with what must be known of it wherever it is named.
func (m *Member) Heading() string { return m.Name + words.If(m.Emulated(), " (emulated)") }

type JSONMachine struct {
	Name     string `json:"name"`
	Emulated bool   `json:"emulated"` // ranked with none
	Results  JSON   `json:"results"`
}

var (
	valueColumns  = []string{"unit", "samples", "median", "lo", "hi", "better", "vs_best", "vs_best_lo", "vs_best_hi", "tie"}
	sampleColumns = []string{"benchmark", "sample", "iterations", "unit", "value"}
)

// AddRecords gives a document the cases and samples of machines, for programs. Of several machines, each line begins
// with the machine.
func AddRecords(d *doc.Document, members []*Member) {
	d.Records, d.Samples = caseRecords(members), sampleRecords(members)
	if len(members) == 1 {
		d.Data = JSONOf(members[0].Digest)
		return
	}
	var all []JSONMachine
	for _, m := range members {
		all = append(all, JSONMachine{m.Name, m.Emulated(), JSONOf(m.Digest)})
	}
	d.Data = map[string]any{"machines": all}
}

// caseRecords has a line per case and unit: the name, whole and by its keys, the unit, how many samples there are, their
// median and its 95% confidence interval (empty where samples are too few for one), which direction is better, and of
// times how many times longer the case takes than the best of the same work under the same conditions, with the
// interval of that, and whether it is a tie. Of several machines it says whether they were emulated.
func caseRecords(members []*Member) doc.Lines {
	return func(line func(...string)) {
		var keys words.UniqueList
		for _, m := range members {
			for _, key := range nameKeys(m.Cases) {
				if key != "" {
					keys.Add(key)
				}
			}
		}
		line(amongSeveral(members, []string{"machine", "emulated"}, []string{"benchmark", "base"}, keys.List, valueColumns)...)
		for _, m := range members {
			m.eachCase(keys.List, func(values ...string) {
				line(amongSeveral(members, []string{m.Name, strconv.FormatBool(m.Emulated())}, values)...)
			})
		}
	}
}

func (d *Digest) eachCase(keys []string, line func(...string)) {
	versus := d.versus()
	for _, base := range d.Bases() {
		for _, c := range d.OfBase(base) {
			diff, compared := versus[c]
			named := []string{c.Name.Full, c.Name.Base}
			for _, k := range keys {
				named = append(named, c.Name.Get(k))
			}
			for _, u := range d.Units {
				if s, ok := c.Stats[u]; ok {
					line(slices.Concat(named, s.record(u), versusRecord(diff, compared && u == results.NsPerOp))...)
				}
			}
		}
	}
}

func (s stat) record(unit string) []string {
	lo, hi := "", ""
	if s.Bounded() {
		lo, hi = words.Exact(s.Lo), words.Exact(s.Hi)
	}
	return []string{unit, strconv.Itoa(len(s.Values)), words.Exact(s.Center), lo, hi, results.Direction(results.UnitOf(unit).Better)}
}

// versusRecord is the last columns of a line about time.
func versusRecord(diff noise.Difference, compared bool) []string {
	switch {
	case !compared:
		return make([]string, 4)
	case !diff.Bounded():
		return []string{words.Exact(diff.Ratio), "", "", strconv.FormatBool(diff.Tie)}
	}
	return []string{words.Exact(diff.Ratio), words.Exact(diff.Lo), words.Exact(diff.Hi), strconv.FormatBool(diff.Tie)}
}

// sampleRecords has a line per sample and unit in the order of measurement, arms of A/A pairs included: the name, the
// number of the case's sample, its iterations, the unit and the value.
func sampleRecords(members []*Member) doc.Lines {
	return func(line func(...string)) {
		line(amongSeveral(members, []string{"machine"}, sampleColumns)...)
		for _, m := range members {
			number := make(map[string]int)
			for _, s := range m.Results.Samples {
				number[s.Name.Full]++
				for _, v := range s.Values {
					line(amongSeveral(members, []string{m.Name}, []string{s.Name.Full, strconv.Itoa(number[s.Name.Full]), strconv.Itoa(s.Iters), v.Unit, words.Exact(v.Value)})...)
				}
			}
		}
	}
}

// amongSeveral are the values of a line, behind what says of several machines which one it is.
func amongSeveral(members []*Member, which []string, values ...[]string) []string {
	if len(members) < 2 {
		which = nil
	}
	return slices.Concat(append([][]string{which}, values...)...)
}

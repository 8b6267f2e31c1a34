package digest

import (
	"iter"
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
func caseRecords(members []*Member) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var keys words.UniqueList
		for _, m := range members {
			for _, key := range nameKeys(m.Cases) {
				if key != "" {
					keys.Add(key)
				}
			}
		}
		header := slices.Concat([]string{"benchmark", "base"}, keys.List, valueColumns)
		if len(members) > 1 {
			header = append([]string{"machine", "emulated"}, header...)
		}
		if !yield(header) {
			return
		}
		for _, m := range members {
			var front []string
			if len(members) > 1 {
				front = []string{m.Name, strconv.FormatBool(m.Emulated())}
			}
			if !m.eachCase(front, keys.List, yield) {
				return
			}
		}
	}
}

func (d *Digest) eachCase(front, keys []string, yield func([]string) bool) bool {
	versus := d.versus()
	for _, base := range d.Bases() {
		for _, c := range d.OfBase(base) {
			diff, compared := versus[c]
			named := append(slices.Clone(front), c.Name.Full, c.Name.Base)
			for _, k := range keys {
				named = append(named, c.Name.Get(k))
			}
			for _, u := range d.Units {
				if s, ok := c.Stats[u]; ok && !yield(slices.Concat(named, s.record(u), versusRecord(diff, compared && u == results.NsPerOp))) {
					return false
				}
			}
		}
	}
	return true
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
func sampleRecords(members []*Member) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		header := sampleColumns
		if len(members) > 1 {
			header = append([]string{"machine"}, header...)
		}
		if !yield(header) {
			return
		}
		for _, m := range members {
			var front []string
			if len(members) > 1 {
				front = []string{m.Name}
			}
			number := make(map[string]int)
			for _, s := range m.Results.Samples {
				number[s.Name.Full]++
				for _, v := range s.Values {
					line := append(slices.Clone(front), s.Name.Full, strconv.Itoa(number[s.Name.Full]), strconv.Itoa(s.Iters), v.Unit, words.Exact(v.Value))
					if !yield(line) {
						return
					}
				}
			}
		}
	}
}

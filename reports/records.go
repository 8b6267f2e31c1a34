package reports

import (
	"iter"
	"slices"
	"strconv"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/doc"
)

var (
	valueColumns  = []string{"unit", "samples", "median", "lo", "hi", "better", "vs_best", "vs_best_lo", "vs_best_hi", "tie"}
	sampleColumns = []string{"benchmark", "sample", "iterations", "unit", "value"}
)

// addRecords gives a document the cases and samples of machines, for programs. Of several machines, each line begins
// with the machine.
func addRecords(d *doc.Document, members []*member) {
	d.Records, d.Samples = caseRecords(members), sampleRecords(members)
	if len(members) == 1 {
		d.Data = jsonOf(members[0].digest)
		return
	}
	var all []jsonMachine
	for _, m := range members {
		all = append(all, jsonMachine{m.name, m.emulated(), jsonOf(m.digest)})
	}
	d.Data = map[string]any{"machines": all}
}

// caseRecords has a line per case and unit: the name, whole and by its keys, the unit, how many samples there are, their
// median and its 95% confidence interval (empty where samples are too few for one), which direction is better, and of
// times how many times longer the case takes than the best of the same work under the same conditions, with the
// interval of that, and whether it is a tie. Of several machines it says whether they were emulated.
func caseRecords(members []*member) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var keys uniqueList
		for _, m := range members {
			for _, key := range nameKeys(m.cases) {
				if key != "" {
					keys.add(key)
				}
			}
		}
		header := slices.Concat([]string{"benchmark", "base"}, keys.list, valueColumns)
		if len(members) > 1 {
			header = append([]string{"machine", "emulated"}, header...)
		}
		if !yield(header) {
			return
		}
		for _, m := range members {
			var front []string
			if len(members) > 1 {
				front = []string{m.name, strconv.FormatBool(m.emulated())}
			}
			if !m.eachCase(front, keys.list, yield) {
				return
			}
		}
	}
}

func (d *digest) eachCase(front, keys []string, yield func([]string) bool) bool {
	versus := d.versus()
	for _, base := range d.bases() {
		for _, c := range d.ofBase(base) {
			diff, compared := versus[c]
			named := append(slices.Clone(front), c.name.Full, c.name.Base)
			for _, k := range keys {
				named = append(named, c.name.Get(k))
			}
			for _, u := range d.units {
				if s, ok := c.stats[u]; ok && !yield(slices.Concat(named, s.record(u), versusRecord(diff, compared && u == results.NsPerOp))) {
					return false
				}
			}
		}
	}
	return true
}

func (s stat) record(unit string) []string {
	lo, hi := "", ""
	if s.bounded() {
		lo, hi = exactNumber(s.Lo), exactNumber(s.Hi)
	}
	return []string{unit, strconv.Itoa(len(s.values)), exactNumber(s.Center), lo, hi, results.Direction(results.UnitOf(unit).Better)}
}

// versusRecord is the last columns of a line about time.
func versusRecord(diff noise.Difference, compared bool) []string {
	switch {
	case !compared:
		return make([]string, 4)
	case !diff.Bounded():
		return []string{exactNumber(diff.Ratio), "", "", strconv.FormatBool(diff.Tie)}
	}
	return []string{exactNumber(diff.Ratio), exactNumber(diff.Lo), exactNumber(diff.Hi), strconv.FormatBool(diff.Tie)}
}

// sampleRecords has a line per sample and unit in the order of measurement, arms of A/A pairs included: the name, the
// number of the case's sample, its iterations, the unit and the value.
func sampleRecords(members []*member) iter.Seq[[]string] {
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
				front = []string{m.name}
			}
			number := make(map[string]int)
			for _, s := range m.res.Samples {
				number[s.Name.Full]++
				for _, v := range s.Values {
					line := append(slices.Clone(front), s.Name.Full, strconv.Itoa(number[s.Name.Full]), strconv.Itoa(s.Iters), v.Unit, exactNumber(v.Value))
					if !yield(line) {
						return
					}
				}
			}
		}
	}
}

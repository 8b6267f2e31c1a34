package reports

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"onebit/bench/noise"
	"onebit/bench/results"
)

func init() {
	registerKind(Kind{Name: "csv", Extension: "csv", About: "medians and intervals, a line per case and unit", Render: text(WriteCSV), several: text(writeFleetCSV)})
	registerKind(Kind{Name: "samples", Extension: "csv", About: "every sample as CSV", Render: text(WriteSamplesCSV), several: text(writeFleetSamplesCSV)})
}

// WriteCSV writes a line per case and unit: the name, whole and by its keys, the unit, how many
// samples there are, their median and its 95% confidence interval (empty where samples are too few
// for one), which direction is better, and of times how many times longer the case takes than the best
// of the same work under the same conditions, with the interval of that, and whether it is a tie.
func WriteCSV(w io.Writer, res *results.Set) error {
	d := newDigest(res)
	keys := nameKeys(d.cases)
	keys = slices.DeleteFunc(keys, func(k string) bool { return k == "" })
	out := csv.NewWriter(w)
	header := slices.Concat([]string{"benchmark", "base"}, keys, valueColumns)
	if err := out.Write(header); err != nil {
		return err
	}
	if err := d.writeCases(out, nil, keys); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

var valueColumns = []string{"unit", "samples", "median", "lo", "hi", "better", "vs_best", "vs_best_lo", "vs_best_hi", "tie"}

// writeFleetCSV writes the same with the machine in front, and whether it was emulated.
func writeFleetCSV(w io.Writer, f *fleet) error {
	var keys []string
	for _, base := range f.bases() {
		own, _ := f.columnsOf(base)
		keys = append(keys, slices.DeleteFunc(own, func(k string) bool { return k == "" || slices.Contains(keys, k) })...)
	}
	out := csv.NewWriter(w)
	header := slices.Concat([]string{"machine", "emulated", "benchmark", "base"}, keys, valueColumns)
	if err := out.Write(header); err != nil {
		return err
	}
	for _, m := range f.members {
		if err := m.writeCases(out, []string{m.name, strconv.FormatBool(m.emulated())}, keys); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeCases writes the lines of all cases, each behind the same values.
func (d *digest) writeCases(out *csv.Writer, front, keys []string) error {
	versus := d.versus()
	for _, base := range d.bases() {
		for _, c := range d.ofBase(base) {
			diff, ok := versus[c]
			if err := writeCaseCSV(out, front, c, keys, d.units, versusCSV(diff, ok)); err != nil {
				return err
			}
		}
	}
	return nil
}

// versusCSV is the last columns of a line about time.
func versusCSV(diff noise.Difference, compared bool) []string {
	switch {
	case !compared:
		return make([]string, 4)
	case !diff.Bounded():
		return []string{exactNumber(diff.Ratio), "", "", strconv.FormatBool(diff.Tie)}
	}
	return []string{exactNumber(diff.Ratio), exactNumber(diff.Lo), exactNumber(diff.Hi), strconv.FormatBool(diff.Tie)}
}

func writeCaseCSV(out *csv.Writer, front []string, c *caseStats, keys, units, versus []string) error {
	for _, u := range units {
		s, ok := c.stats[u]
		if !ok {
			continue
		}
		row := append(slices.Clone(front), c.name.Full, c.name.Base)
		for _, k := range keys {
			row = append(row, c.name.Get(k))
		}
		row = append(row, u, strconv.Itoa(len(s.values)), exactNumber(s.Center))
		if s.bounded() {
			row = append(row, exactNumber(s.Lo), exactNumber(s.Hi))
		} else {
			row = append(row, "", "")
		}
		row = append(row, betterWord(results.UnitOf(u).Better))
		if u == results.NsPerOp {
			row = append(row, versus...)
		} else {
			row = append(row, versusCSV(noise.Difference{}, false)...)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return nil
}

func betterWord(better int) string {
	switch {
	case better > 0:
		return "higher"
	case better < 0:
		return "lower"
	}
	return ""
}

// WriteSamplesCSV writes a line per sample and unit in the order of measurement, arms of A/A pairs
// included: the name, the number of the case's sample, its iterations, the unit and the value.
func WriteSamplesCSV(w io.Writer, res *results.Set) error {
	out := csv.NewWriter(w)
	if err := out.Write(sampleColumns); err != nil {
		return err
	}
	if err := writeSamples(out, nil, res); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

var sampleColumns = []string{"benchmark", "sample", "iterations", "unit", "value"}

// writeFleetSamplesCSV writes the same with the machine in front.
func writeFleetSamplesCSV(w io.Writer, f *fleet) error {
	out := csv.NewWriter(w)
	if err := out.Write(append([]string{"machine"}, sampleColumns...)); err != nil {
		return err
	}
	for _, m := range f.members {
		if err := writeSamples(out, []string{m.name}, m.res); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeSamples writes the lines of all samples, each behind the same values.
func writeSamples(out *csv.Writer, front []string, res *results.Set) error {
	number := make(map[string]int)
	for _, s := range res.Samples {
		number[s.Name.Full]++
		for _, v := range s.Values {
			row := append(slices.Clone(front), s.Name.Full, strconv.Itoa(number[s.Name.Full]), strconv.Itoa(s.Iters), v.Unit, exactNumber(v.Value))
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

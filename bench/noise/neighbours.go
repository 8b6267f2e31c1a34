package noise

import (
	"cmp"
	"math"
	"slices"
)

// A turn is a round of a process, in which each case gives a sample.
type turn struct{ process, round int }

// polished are the logarithms of what each of some neighbours takes, by process, less what each
// pass, round and process did to all of them. A single process is cut into thirds. within is by how
// much these stray, as the samples of a process scatter.
func polished(neighbours []Estimate) (units [][]float64, within []variance) {
	var turns []turn
	for _, e := range neighbours {
		for _, m := range e.medians {
			for round := range m.samples {
				turns = append(turns, turn{m.process, round})
			}
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(a.process-b.process, a.round-b.round) })
	turns = slices.Compact(turns)
	rows := make([][]float64, len(neighbours))
	for _, at := range turns {
		for i, level := range levelsOf(neighbours, at) {
			rows[i] = append(rows[i], level)
		}
	}
	_, effects := polish(rows)
	units, within = make([][]float64, len(rows)), make([]variance, len(rows))
	for i, row := range rows {
		var samples [][]float64 // by process
		for k, v := range row {
			if k == 0 || turns[k].process != turns[k-1].process {
				samples = append(samples, nil)
			}
			if v -= effects[k]; !math.IsNaN(v) {
				samples[len(samples)-1] = append(samples[len(samples)-1], v)
			}
		}
		for _, of := range replicates(samples) {
			units[i] = append(units[i], Median(of))
			scatter := varianceOf(of)
			scatter.value *= ofMedian(len(of))
			within[i] = joint(within[i], scatter)
		}
	}
	return units, within
}

// replicates are the processes that have samples, or thirds of the only one.
func replicates(processes [][]float64) [][]float64 {
	processes = slices.DeleteFunc(processes, func(samples []float64) bool { return len(samples) == 0 })
	if each := len(processes[0]) / thirds; len(processes) == 1 && each > 0 {
		return slices.Collect(slices.Chunk(processes[0][:thirds*each], each))
	}
	return processes
}

// levelsOf are the logarithms of the neighbours' samples of a turn. Those that were taken in slices took turns in
// passes, and what a pass did to all of them is taken off. Where there is no sample, it is no number.
func levelsOf(neighbours []Estimate, at turn) []float64 {
	out := make([]float64, len(neighbours))
	var sliced [][]float64
	var of []int
	for i, e := range neighbours {
		out[i] = math.NaN()
		k, found := slices.BinarySearchFunc(e.medians, at.process, processMedian.compare)
		if !found || at.round >= len(e.medians[k].samples) {
			continue
		}
		m := e.medians[k]
		out[i] = math.Log(m.samples[at.round])
		if passes := m.slices[at.round]; len(passes) > 1 {
			sliced, of = append(sliced, logs(passes)), append(of, i)
		}
	}
	if len(sliced) >= leastPooled {
		levels, _ := polish(sliced)
		for k, level := range levels {
			if !math.IsNaN(level) {
				out[of[k]] = level
			}
		}
	}
	return out
}

// polish returns what the columns of each row have in common, and what each column did to all rows
// (Tukey's median polish). Too few rows don't tell that. What is no finite number is missing; of a row of
// none, the level is no number.
func polish(rows [][]float64) (levels, effects []float64) {
	levels = make([]float64, len(rows))
	effects = make([]float64, len(slices.MaxFunc(rows, func(a, b []float64) int { return len(a) - len(b) })))
	for range polishes {
		for i, row := range rows {
			levels[i] = middle(len(row), func(k int) float64 { return row[k] - effects[k] })
		}
		if len(rows) < leastPooled {
			break
		}
		for k := range effects {
			effects[k] = middle(len(rows), func(i int) float64 {
				if k < len(rows[i]) {
					return rows[i][k] - levels[i]
				}
				return math.NaN()
			})
		}
		shift := middle(len(effects), func(k int) float64 { return effects[k] })
		for k := range effects {
			effects[k] -= shift
		}
	}
	return levels, effects
}

// middle is the median of those of n values that are numbers; no number if none is.
func middle(n int, value func(i int) float64) float64 {
	known := make([]float64, 0, n)
	for i := range n {
		if v := value(i); !math.IsNaN(v) && !math.IsInf(v, 0) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return math.NaN()
	}
	return Median(known)
}

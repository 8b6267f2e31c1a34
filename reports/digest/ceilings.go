package digest

import (
	"onebit/bench/names"
	"onebit/bench/results"
)

// Reading is what a machine reads from memory with most threads.
func (d *Digest) Reading() (float64, bool) {
	return d.ceiling(names.BaseRead, results.ReadRate)
}

// Multiplying is what it multiplies in registers.
func (d *Digest) Multiplying() (float64, bool) {
	return d.ceiling(names.BaseDotPeak, results.OpRate)
}

// ceiling is the middle one of the rates of a base's cases under the fullest condition.
func (d *Digest) ceiling(base, unit string) (float64, bool) {
	all := d.OfBase(base)
	return Typical(In(Fullest([]*Task{{Cases: all}}), all), unit)
}

// Fullest is the condition of most threads, its weights not in a cache if that was measured.
func Fullest(tasks []*Task) Panel {
	var cases []*Case
	for _, t := range tasks {
		for _, c := range t.Cases {
			if _, timed := c.Center(results.NsPerOp); timed {
				cases = append(cases, c)
			}
		}
	}
	all := Panels(cases)
	if len(all) == 0 {
		return Panel{}
	}
	best := all[len(all)-1]
	for _, p := range all {
		if p.Threads == best.Threads && p.Cache == names.Cold {
			best = p
		}
	}
	return best
}

package hotspot

import "slices"

// A Loop is a run of instructions whose last one jumps back to the first.
type Loop struct {
	First, Last int // indices
	Samples     int
	Nested      bool // whether it contains another loop
}

// Loops returns a function's loops, as their backward branches tell; loops with one
// head are one. samples may be nil.
func Loops(code []Instruction, samples Samples) []Loop {
	ends := map[int]int{}
	for last, i := range code {
		first, found := slices.BinarySearchFunc(code[:last+1], i.Target, func(i Instruction, addr uint64) int {
			switch {
			case i.Addr < addr:
				return -1
			case i.Addr > addr:
				return 1
			}
			return 0
		})
		if found && i.Target != 0 && i.isBranch() && !i.hasPrefix("call", "bl") {
			ends[first] = max(ends[first], last)
		}
	}
	var all []Loop
	for first, last := range ends {
		l := Loop{First: first, Last: last}
		for _, i := range code[first : last+1] {
			l.Samples += samples[i.Addr]
		}
		for inner := range ends {
			l.Nested = l.Nested || inner > first && inner <= last
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b Loop) int { return a.First - b.First })
	return all
}

// HotLoop is the innermost loop that has at least half of the function's samples
// in loops; false if there is none.
func HotLoop(code []Instruction, samples Samples) (Loop, bool) {
	all := Loops(code, samples)
	most := 0
	for _, l := range all {
		most = max(most, l.Samples)
	}
	if most == 0 {
		return Loop{}, false
	}
	all = slices.DeleteFunc(all, func(l Loop) bool { return 2*l.Samples < most })
	return slices.MinFunc(all, func(a, b Loop) int { return (a.Last - a.First) - (b.Last - b.First) }), true
}

package gate

import (
	"cmp"
	"slices"
)

// triples are logarithms of base, head and control by round, positive if worse.
type triples [][3]float64

// control is by how much the control is worse than base in each round.
func (t triples) control() (d []float64) {
	for _, v := range t {
		d = append(d, v[Control]-v[Base])
	}
	return d
}

// scores are those of a round's three values, which chance alone hands out among
// them if head is no different.
type scores [][3]int

// levels is how finely ranks are told apart. More of them find no more, and
// cost time.
const levels = 64

// ranked gives scores by rank over all rounds. Ranks are bounded, so that a burst
// on one side counts for no more than a place, and all of them count, so that
// what is only steadier is not worse.
func (t triples) ranked() scores {
	type place struct {
		value       float64
		round, side int
	}
	places := make([]place, 0, 3*len(t))
	for round, v := range t {
		for side, x := range v {
			places = append(places, place{x, round, side})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.value, b.value) })
	ranks := make(scores, len(t))
	for i := 0; i < len(places); {
		j := i
		for j < len(places) && places[j].value == places[i].value {
			j++
		}
		for _, p := range places[i:j] { // those that are equal share their middle rank
			ranks[p.round][p.side] = (i + j - 1) * levels / (2 * len(places))
		}
		i = j
	}
	return ranks
}

// shifted are the values with head's less a shift.
func (t triples) shifted(shift float64) triples {
	out := slices.Clone(t)
	for i := range out {
		out[i][Head] -= shift
	}
	return out
}

// chances are those of a sum of head's scores as large as this one, or as small,
// if in each round any of the three scores is as likely to be head's. They are
// exact.
func (a scores) chances() (large, small float64) {
	sum, most := 0, 0
	for _, s := range a {
		least := min(s[0], s[1], s[2])
		sum += s[Head] - least
		most += max(s[0], s[1], s[2]) - least
	}
	// Of the 3ⁿ choices, by sum, behind as many zeros as a score may add.
	share, next := make([]float64, levels+most+1), make([]float64, levels+most+1)
	share[levels] = 1
	reach := levels
	for _, s := range a {
		least := min(s[0], s[1], s[2])
		reach += max(s[0], s[1], s[2]) - least
		x, y, z := share[levels-s[0]+least:], share[levels-s[1]+least:], share[levels-s[2]+least:]
		for i := range next[levels : reach+1] {
			next[levels+i] = (x[i] + y[i] + z[i]) * (1.0 / 3)
		}
		share, next = next, share
	}
	share = share[levels:]
	for i, p := range share {
		if i >= sum {
			large += p
		}
		if i <= sum {
			small += p
		}
	}
	return large, small
}

// above is a chance of values like these if head is worse by a shift or less,
// which refutes that where it is small; below if it is worse by that or more.
func (t triples) above(shift float64) float64 {
	large, _ := t.shifted(shift).ranked().chances()
	return large
}

func (t triples) below(shift float64) float64 {
	_, small := t.shifted(shift).ranked().chances()
	return small
}

package engine

import (
	"cmp"
	"math"
	"slices"
)

// A Ranked is a value of a column, and where in it.
type Ranked struct {
	Index int
	Value float32
}

// compare orders values as Top does.
func compare(a, b Ranked) int {
	if aNaN, bNaN := a.Value != a.Value, b.Value != b.Value; aNaN != bNaN {
		if aNaN {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Index, b.Index))
}

// Top returns the k largest values, or all if there are fewer, in the memory of
// scratch if that suffices: the largest first, of equals the one with the lowest
// index, and every NaN before all numbers. It is what Stream.Top computes.
func Top(scratch []Ranked, values []float32, k int) []Ranked {
	const insertion = 1024
	top := scratch[:0]
	if k > insertion {
		for i, x := range values {
			top = append(top, Ranked{i, x})
		}
		slices.SortFunc(top, compare)
		return top[:min(k, len(top))]
	}
	// Few of many values are larger than the least of the k largest so far, so an
	// insertion costs little unless k is large.
	least := float32(math.NaN()) // while there are fewer than k: nothing is less
	for i, x := range values {
		if x <= least {
			continue
		}
		if top = insert(top, Ranked{i, x}, k); len(top) == k {
			least = top[k-1].Value
		}
	}
	return top
}

// insert puts a value among those in order, if it is one of the k largest.
func insert(top []Ranked, r Ranked, k int) []Ranked {
	at, _ := slices.BinarySearchFunc(top, r, compare)
	if len(top) == k {
		if at == k {
			return top
		}
		top = top[:k-1]
	}
	return slices.Insert(top, at, r)
}

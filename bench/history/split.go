package history

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// leastSegment is how many points a level has at least: fewer may be a bad day
// of the machine.
const leastSegment = 3

// A split is a place where the level of values changes.
type split struct {
	at int     // the first value of the new level
	p  float64 // the chance of it, at most, adjusted for all tests of the history
}

// splits returns the splits of values that are significant at a level, which is
// the chance of any false one. tests is by what a chance is multiplied to hold
// for the whole history.
func splits(values []float64, level, tests float64, rng *rand.Rand) []split {
	var found []split
	var search func(from, to int, above float64)
	search = func(from, to int, above float64) {
		// A segment has the part of the level that it has of the series.
		share := float64(to-from) / float64(len(values))
		at, p, ok := testSegment(values[from:to], level*share, rng)
		if !ok {
			return
		}
		s := split{from + at, max(above, min(1, p*tests/share))}
		found = append(found, s)
		search(from, s.at, s.p)
		search(s.at, to, s.p)
	}
	search(0, len(values), 0)
	slices.SortFunc(found, func(a, b split) int { return cmp.Compare(a.at, b.at) })
	settle(values, found)
	return found
}

// settle places each split once more, where its neighbours alone put it: when it
// was found, other levels beyond them counted too.
func settle(values []float64, found []split) {
	for i := range found {
		from, to := 0, len(values)
		if i > 0 {
			from = found[i-1].at
		}
		if i+1 < len(found) {
			to = found[i+1].at
		}
		a := scores(values[from:to])
		if at, _ := newStep(len(a)).best(a); at > 0 {
			found[i].at = from + at
		}
	}
}

// leastForBump is from how many points on a series is searched for levels that
// came back.
const leastForBump = 8 * leastSegment

// testSegment looks for a split at a level, and returns where it is and its chance
// if there is none.
func testSegment(values []float64, level float64, rng *rand.Rand) (at int, p float64, ok bool) {
	if len(values) < 2*leastSegment {
		return 0, 1, false
	}
	a := scores(values)
	if a == nil {
		return 0, 1, false
	}
	tests := 1.0
	if len(values) >= leastForBump {
		tests = 2
	}
	step := newStep(len(a))
	at, t := step.best(a)
	if p, ok := significant(step, a, t, level/tests, rng); ok {
		return at, p * tests, true
	}
	if tests == 1 {
		return 0, 1, false
	}
	bump := newBump(len(a))
	at, t = bump.best(a)
	p, ok = significant(bump, a, t, level/tests, rng)
	return at, p * tests, ok
}

// scores are van der Waerden's normal scores, equal ones for equal values, of
// mean 0 and variance 1; nil if all values are equal.
func scores(values []float64) []float64 {
	n := len(values)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	if values[order[0]] == values[order[n-1]] {
		return nil
	}
	a := make([]float64, n)
	squares := 0.0
	for i := 0; i < n; {
		end, sum := i, 0.0
		for ; end < n && values[order[end]] == values[order[i]]; end++ {
			sum += math.Sqrt2 * math.Erfinv(2*float64(end+1)/float64(n+1)-1)
		}
		mean := sum / float64(end-i)
		for ; i < end; i++ {
			a[order[i]] = mean
			squares += mean * mean
		}
	}
	scale := math.Sqrt(float64(n-1) / squares)
	for i := range a {
		a[i] *= scale
	}
	return a
}

// A statistic says how much scores look like two levels.
type statistic interface {
	// best returns the largest value over all splits, and where it is.
	best(a []float64) (at int, t float64)
	// reaches brings scores into a random order and reports whether the
	// statistic of it is at least t.
	reaches(a []float64, t float64, rng *rand.Rand) bool
	// bound returns a chance that the statistic's own is not above.
	bound(a []float64, t float64) float64
}

// significant tests whether random orders of the scores reach t with a chance of
// at most level, and returns the chance. It stops as soon as the answer is no.
func significant(s statistic, a []float64, t, level float64, rng *rand.Rand) (p float64, ok bool) {
	if p := s.bound(a, t); p <= level {
		return p, true
	}
	const most = 1 << 24
	// Two orders, the true one included, may be as extreme: with one alone, a
	// chance just below the level would be missed too often.
	orders := 2 / level
	if orders > most {
		return 1, false
	}
	shuffled := slices.Clone(a)
	t *= 1 - 1e-9 // sums in another order differ in their last digits
	asExtreme := 1.0
	for range int(orders) - 1 {
		if s.reaches(shuffled, t, rng) {
			if asExtreme++; asExtreme/math.Floor(orders) > level {
				return 1, false
			}
		}
	}
	return asExtreme / math.Floor(orders), true
}

// step is the statistic of one split: its value is the square of the standardized
// sum before it.
type step []float64 // by split: what the square of a sum is multiplied by; 0 where no split may be

func newStep(n int) step {
	s := make(step, n)
	for k := leastSegment; k <= n-leastSegment; k++ {
		s[k] = float64(n) / (float64(k) * float64(n-k))
	}
	return s
}

func (s step) best(a []float64) (at int, t float64) {
	sum := 0.0
	for k, v := range a {
		if z := sum * sum * s[k]; z > t {
			at, t = k, z
		}
		sum += v
	}
	return at, t
}

func (s step) reaches(a []float64, t float64, rng *rand.Rand) bool {
	sum := 0.0
	for k := range a {
		if sum*sum*s[k] >= t {
			return true // a shuffle cut short leaves a random order too
		}
		j := k + int(rng.Uint32N(uint32(len(a)-k)))
		a[k], a[j] = a[j], a[k]
		sum += a[k]
	}
	return false
}

// bound adds Chernoff's bounds of all splits. They hold for sums drawn without
// putting back (Hoeffding 1963, theorem 4). Long clear steps need no more, which
// saves most of the time.
func (s step) bound(a []float64, t float64) float64 {
	n := len(a)
	if t < 4*math.Log(float64(n)) {
		return 1 // hopeless: the bound is above n·exp(−t/2)
	}
	p := 0.0
	for k := leastSegment; k <= n/2; k++ {
		sum := math.Sqrt(t / s[k])
		lambda := sum / float64(k)
		var up, down float64 // means of exp(±λa)
		for _, v := range a {
			e := math.Exp(lambda * v)
			up += e
			down += 1 / e
		}
		for _, mean := range []float64{up / float64(n), down / float64(n)} {
			p += 2 * math.Exp(float64(k)*math.Log(mean)-lambda*sum) // for k and n−k
		}
		if p >= 1 {
			return 1
		}
	}
	return p
}

// bump is the statistic of splits within intervals: n/2 long, n/4, and so on,
// each beginning half a length after the one before.
type bump struct {
	lengths []int
	weights []step // by length
	sums    []float64
}

// leastInterval is the shortest interval that is searched: half of it is a level.
const leastInterval = 4 * leastSegment

func newBump(n int) *bump {
	b := &bump{sums: make([]float64, n+1)}
	for l := n / 2; l >= leastInterval; l /= 2 {
		b.lengths, b.weights = append(b.lengths, l), append(b.weights, newStep(l))
	}
	return b
}

func (b *bump) best(a []float64) (at int, t float64) {
	b.add(a)
	for i, l := range b.lengths {
		for from := 0; from+l <= len(a); from += (l + 1) / 2 {
			if k, z := b.inside(from, l, b.weights[i]); z > t {
				at, t = from+k, z
			}
		}
	}
	return at, t
}

// add sums the scores before each place.
func (b *bump) add(a []float64) {
	sum := 0.0
	for i, v := range a {
		sum += v
		b.sums[i+1] = sum
	}
}

// inside is the best split of an interval.
func (b *bump) inside(from, l int, weights step) (at int, t float64) {
	sums := b.sums[from : from+l+1]
	mean := (sums[l] - sums[0]) / float64(l)
	base := sums[0]
	for k := leastSegment; k <= l-leastSegment; k++ {
		base := base + mean*float64(k)
		if d := sums[k] - base; d*d*weights[k] > t {
			at, t = k, d*d*weights[k]
		}
	}
	return at, t
}

func (b *bump) reaches(a []float64, t float64, rng *rand.Rand) bool {
	for k := range a {
		j := k + int(rng.Uint32N(uint32(len(a)-k)))
		a[k], a[j] = a[j], a[k]
	}
	b.add(a)
	for i, l := range b.lengths {
		for from := 0; from+l <= len(a); from += (l + 1) / 2 {
			if _, z := b.inside(from, l, b.weights[i]); z >= t {
				return true
			}
		}
	}
	return false
}

// bound knows none: intervals are neither drawn nor left out alike.
func (b *bump) bound([]float64, float64) float64 { return 1 }

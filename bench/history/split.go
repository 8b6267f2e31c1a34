package history

import (
	"cmp"
	"context"
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
// for the whole history. Once ctx has ended no more are found.
func splits(ctx context.Context, values []float64, level, tests float64, rng *rand.Rand) []split {
	var found []split
	var search func(from, to int, above float64)
	search = func(from, to int, above float64) {
		// A segment has the part of the level that it has of the series.
		share := float64(to-from) / float64(len(values))
		cuts, p := testSegment(ctx, values[from:to], level*share, rng)
		for _, at := range cuts {
			s := split{from + at, max(above, min(1, p*tests/share))}
			found, above = append(found, s), s.p
		}
		begin := from
		for _, at := range cuts {
			search(begin, from+at, above)
			begin = from + at
		}
		if len(cuts) > 0 {
			search(begin, to, above)
		}
	}
	search(0, len(values), 0)
	slices.SortFunc(found, func(a, b split) int { return cmp.Compare(a.at, b.at) })
	refine(values, found)
	return found
}

// refine places each split once more, where its neighbours alone put it: when it
// was found, other levels beyond them counted too.
func refine(values []float64, found []split) {
	for i := range found {
		from, to := 0, len(values)
		if i > 0 {
			from = found[i-1].at
		}
		if i+1 < len(found) {
			to = found[i+1].at
		}
		a := scores(values[from:to])
		if cuts, _ := newStep(len(a)).best(a); cuts != nil {
			found[i].at = from + cuts[0]
		}
	}
}

// leastForBump is from how many points on a series is searched for levels that
// came back.
const leastForBump = 8 * leastSegment

// testSegment looks for cuts that are significant at a level, and returns them
// with their chance; none if there are none.
func testSegment(ctx context.Context, values []float64, level float64, rng *rand.Rand) (cuts []int, p float64) {
	n := len(values)
	if n < 2*leastSegment {
		return nil, 1
	}
	a := scores(values)
	if a == nil {
		return nil, 1
	}
	tests := []statistic{newStep(n)}
	if n >= leastForBump {
		tests = append(tests, newBump(n))
	}
	for _, s := range tests {
		cuts, t := s.best(a)
		if p, ok := significant(ctx, s, a, t, level/float64(len(tests)), rng); ok {
			return cuts, p * float64(len(tests))
		}
	}
	return nil, 1
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

// A statistic says how much scores look like two levels: it is the largest square
// of a standardized sum of neighbouring scores.
type statistic interface {
	// best returns the statistic, and where the scores of the sum begin and, unless
	// that is the end, end.
	best(a []float64) (cuts []int, t float64)
	// reaches brings scores into a random order and reports whether the
	// statistic of it is at least t.
	reaches(a []float64, t float64, rng *rand.Rand) bool
	// sums returns how many sums of each number of scores are looked at.
	sums() []int
}

// significant tests whether random orders of the scores reach t with a chance of
// at most level, and returns the chance. It stops as soon as the answer is no.
func significant(ctx context.Context, s statistic, a []float64, t, level float64, rng *rand.Rand) (p float64, ok bool) {
	if p := bound(len(a), s.sums(), t, func(lambda float64) moments { return momentsOf(a, lambda) }); p <= level {
		return p, true
	}
	// Two orders, the true one included, may be as extreme: with one alone, a
	// chance just below the level would be missed too often.
	const most = 1 << 24
	orders := math.Ceil(2 / level)
	if orders > most {
		return 1, false
	}
	shuffled := slices.Clone(a)
	t *= 1 - 1e-9 // sums in another order differ in their last digits
	asExtreme := 1.0
	const moment = 1 << 20
	inMoment := max(1, moment/len(a)) // orders
	count := func(orders int) (few bool) {
		for i := range orders {
			if i%inMoment == 0 && ctx.Err() != nil {
				return false
			}
			if s.reaches(shuffled, t, rng) {
				if asExtreme++; asExtreme > 2 {
					return false
				}
			}
		}
		return true
	}
	if !count(int(orders) - 1) {
		return 1, false
	}
	// It is decided; some more orders, in a moment, say how clear it is.
	if count(inMoment) {
		orders += float64(inMoment)
	}
	return min(level, asExtreme/orders), true
}

// bound returns a chance that the statistic's own is not above, the sum of
// Chernoff's bounds of all its sums. They hold for scores drawn without putting
// back (Hoeffding 1963, theorem 4). Long clear changes need no more, which saves
// most of the time. It asks for moments of the n scores a number of times that grows
// with the logarithm of n.
func bound(n int, sums []int, t float64, momentsAt func(lambda float64) moments) float64 {
	if t < 4*math.Log(float64(n)) {
		return 1 // it would be hardly less
	}
	p := 0.0
	var m moments
	for k := leastSegment; k <= n/2; k++ {
		// A sum of the others is as large, with the other sign.
		looks := float64(sums[k])
		if n-k != k {
			looks += float64(sums[n-k])
		}
		if looks == 0 {
			continue
		}
		sum := math.Sqrt(t / weight(n, k))
		// The bound holds for every lambda, and is hardly more for one near the best.
		if best := sum / float64(k); math.Abs(best-m.lambda) > best/64 {
			m = momentsAt(best)
		}
		for _, mean := range []float64{m.up, m.down} {
			p += looks * math.Exp(float64(k)*math.Log(mean)-m.lambda*sum)
		}
		if p >= 1 {
			return 1
		}
	}
	return p
}

// moments are the means of exp(λa) and of exp(−λa).
type moments struct{ lambda, up, down float64 }

func momentsOf(a []float64, lambda float64) moments {
	m := moments{lambda: lambda}
	for _, v := range a {
		e := math.Exp(lambda * v)
		m.up += e / float64(len(a))
		m.down += 1 / e / float64(len(a))
	}
	return m
}

// weight is by what the square of a sum of k of n scores is multiplied to have a
// mean of 1.
func weight(n, k int) float64 { return float64(n) / (float64(k) * float64(n-k)) }

// weights are those of all numbers of scores, 0 where there would be too few.
func weights(n int) []float64 {
	w := make([]float64, n)
	for k := leastSegment; k <= n-leastSegment; k++ {
		w[k] = weight(n, k)
	}
	return w
}

// step is the statistic of one split: it looks at the sums before each place.
type step []float64 // weights

func newStep(n int) step { return weights(n) }

func (s step) best(a []float64) (cuts []int, t float64) {
	sum := 0.0
	for k, v := range a {
		if z := sum * sum * s[k]; z > t {
			cuts, t = []int{k}, z
		}
		sum += v
	}
	return cuts, t
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

func (s step) sums() []int {
	looks := make([]int, len(s))
	for k := leastSegment; k <= len(s)-leastSegment; k++ {
		looks[k] = 1
	}
	return looks
}

// bump is the statistic of a level that came back, against all others (circular
// binary segmentation: Olshen, Venkatraman, Lucito and Wigler, Biostatistics
// 2004). It looks at the sums between places of a grid.
type bump struct {
	weights []float64
	places  []int
	before  []float64 // sums of the scores before each of the places
}

// mostPlaces is how fine the grid is: each order of the scores costs the square
// of it. What is found is placed more finely.
const mostPlaces = 48

func newBump(n int) *bump {
	b := &bump{weights: weights(n)}
	apart := (n + mostPlaces - 1) / mostPlaces
	for at := leastSegment; at <= n-leastSegment; at += apart {
		b.places = append(b.places, at)
	}
	b.before = make([]float64, len(b.places))
	return b
}

func (b *bump) best(a []float64) (cuts []int, t float64) {
	before := make([]float64, len(a)+1)
	for i, v := range a {
		before[i+1] = before[i] + v
	}
	look := func(from, to int) {
		if from < leastSegment || to > len(a)-leastSegment || to-from < leastSegment {
			return
		}
		if d := before[to] - before[from]; d*d*b.weights[to-from] > t {
			cuts, t = []int{from, to}, d*d*b.weights[to-from]
		}
	}
	for i, from := range b.places {
		for _, to := range b.places[i+1:] {
			look(from, to)
		}
	}
	if cuts == nil {
		return nil, 0
	}
	onGrid := t
	for apart, finer := b.places[1]-b.places[0], 0; finer != 1; apart = finer {
		from, to := cuts[0], cuts[1]
		finer = max(1, apart/mostPlaces)
		for i := -apart; i <= apart; i += finer {
			for j := -apart; j <= apart; j += finer {
				look(from+i, to+j)
			}
		}
	}
	return cuts, onGrid // which random orders are held against
}

func (b *bump) reaches(a []float64, t float64, rng *rand.Rand) bool {
	sum, next := 0.0, 0
	for k := range a {
		if next < len(b.places) && b.places[next] == k {
			b.before[next] = sum
			for i, before := range b.before[:next] {
				if d := sum - before; d*d*b.weights[k-b.places[i]] >= t {
					return true
				}
			}
			next++
		}
		j := k + int(rng.Uint32N(uint32(len(a)-k)))
		a[k], a[j] = a[j], a[k]
		sum += a[k]
	}
	return false
}

func (b *bump) sums() []int {
	looks := make([]int, len(b.weights))
	for i, from := range b.places {
		for _, to := range b.places[i+1:] {
			if to-from >= leastSegment {
				looks[to-from]++
			}
		}
	}
	return looks
}

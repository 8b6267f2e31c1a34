package history

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/sync/errgroup"
)

// Options say how changes are found.
type Options struct {
	Alpha float64 // chance of any false change, over all series; 0 means 5%
	Seed  uint64  // of the random orders; the same gives the same changes
}

func (o Options) alpha() float64 { return cmp.Or(o.Alpha, 0.05) }

// A Segment is points of a series at one level.
type Segment struct {
	From, To int     // its values are Values[From:To]
	Level    float64 // their median
	Files    int     // with the case
}

// A Change is the end of one level and the beginning of the next.
type Change struct {
	Series        int // number in History.Series
	Before, After Segment

	// Ratio is after over before: the median of the ratios of all pairs (Hodges
	// and Lehmann), and Lo and Hi its 95% interval, 0 and infinity if there are
	// too few points for one. All are NaN if a value is not above 0. An exact
	// unit has Lo = Hi = Ratio.
	Ratio, Lo, Hi float64

	P     float64 // the chance of such a change if there is none in the history, at most; 0 for exact units
	Worth int     // +1: better, -1: worse, 0: the unit's direction is unknown
}

// Trends are what a history shows.
type Trends struct {
	Changes []Change    // the most significant first, then the largest
	Levels  [][]Segment // of each series
	Alpha   float64
	Common  []Common

	// Alike is the correlation of the scores of neighbouring points within a
	// level, the median over the series with at least 20 points; 0 if there is
	// none. Chance gives about −1/n.
	Alike float64
}

// A Common is a point at which most series of a machine changed alike.
type Common struct {
	Machine        int
	Point          int // the first of the new level
	Changed        int // series
	Of             int
	Up             bool
	GoVersionMoved bool
}

// Trends finds the changes of all series. It returns ctx's error if that ends
// first.
func (h *History) Trends(ctx context.Context, opt Options) (*Trends, error) {
	t := &Trends{Alpha: opt.alpha(), Levels: make([][]Segment, len(h.Series))}
	found := make([][]split, len(h.Series))
	tested := h.Tested()
	err := each(ctx, len(h.Series), func(i int) {
		s := &h.Series[i]
		found[i] = s.splits(ctx, opt.alpha(), tested, opt.Seed)
		t.Levels[i] = s.segments(found[i])
	})
	if err != nil {
		return nil, err
	}
	for i, levels := range t.Levels {
		for j, split := range found[i] {
			t.Changes = append(t.Changes, h.Series[i].change(i, levels[j], levels[j+1], split.p))
		}
	}
	slices.SortStableFunc(t.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(b.size(), a.size()))
	})
	t.Common = h.common(t.Changes)
	t.Alike = h.alike(t.Levels)
	return t, nil
}

// each calls f for 0 to n−1, on all processors, and returns ctx's error if that ends
// first.
func each(ctx context.Context, n int, f func(i int)) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && ctx.Err() == nil; i++ {
		group.Go(func() error { f(i); return nil })
	}
	_ = group.Wait() // none fails
	return ctx.Err()
}

// Tested returns how many series are tested, and so share the chance of a false
// alarm: those that are measured and have points for two levels.
func (h *History) Tested() int {
	n := 0
	for i := range h.Series {
		if h.Series[i].tested() {
			n++
		}
	}
	return n
}

// LeastPoints returns how many points a series of this history needs for a
// change in its middle to be found.
func (h *History) LeastPoints(opt Options) int {
	level := opt.alpha() / float64(max(1, h.Tested()))
	for n := 2 * leastSegment; ; n++ {
		// Of the ways to divide the points into halves, the change and its reverse
		// are the most extreme.
		ways := math.Exp(logFactorial(n) - logFactorial(n/2) - logFactorial(n-n/2))
		tests := 1.0
		if n >= leastForBump {
			tests = 2
		}
		if 2/ways <= level/tests {
			return n
		}
	}
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n + 1))
	return v
}

func (s *Series) tested() bool { return len(s.Values) >= 2*leastSegment && !s.steady() }

// steady reports whether a unit that is computed behaves so: it changes now and
// then, and not from point to point.
func (s *Series) steady() bool { return s.Exact && len(s.steps()) <= len(s.Values)/leastSegment }

// steps are where a value differs from the one before.
func (s *Series) steps() []split {
	var all []split
	for i := 1; i < len(s.Values); i++ {
		if s.Values[i] != s.Values[i-1] {
			all = append(all, split{at: i})
		}
	}
	return all
}

// splits finds the splits of a series, of which there are so many. They mean
// nothing once ctx has ended.
func (s *Series) splits(ctx context.Context, alpha float64, tested int, seed uint64) []split {
	switch {
	case s.steady():
		return s.steps()
	case !s.tested():
		return nil
	}
	return splits(ctx, s.Values, alpha/float64(tested), float64(tested), s.rand(seed))
}

// rand is a source that depends on what the series is of alone, whatever else is
// in the history.
func (s *Series) rand(seed uint64) *rand.Rand {
	name := fnv.New64a()
	for _, part := range []string{s.Package, s.Name, s.Unit} {
		name.Write([]byte(part + "\x00"))
	}
	return rand.New(rand.NewPCG(seed, name.Sum64()+uint64(s.Procs)))
}

func (s *Series) segments(found []split) []Segment {
	var out []Segment
	from := 0
	for _, sp := range append(slices.Clone(found), split{at: len(s.Values)}) {
		seg := Segment{From: from, To: sp.at, Level: median(slices.Clone(s.Values[from:sp.at]))}
		for _, n := range s.Files[from:sp.at] {
			seg.Files += int(n)
		}
		out = append(out, seg)
		from = sp.at
	}
	return out
}

func (s *Series) change(number int, before, after Segment, p float64) Change {
	c := Change{Series: number, Before: before, After: after, P: p, Worth: s.Better}
	if after.Level < before.Level {
		c.Worth = -s.Better
	}
	old, now := s.Values[before.From:before.To], s.Values[after.From:after.To]
	switch {
	case slices.Min(old) <= 0 || slices.Min(now) <= 0:
		c.Ratio, c.Lo, c.Hi = math.NaN(), math.NaN(), math.NaN()
	case s.steady():
		c.Ratio = after.Level / before.Level
		c.Lo, c.Hi = c.Ratio, c.Ratio
	default:
		center, lo, hi := shift(logs(old), logs(now))
		c.Ratio, c.Lo, c.Hi = math.Exp(center), math.Exp(lo), math.Exp(hi)
	}
	return c
}

// size is how large a change is, whatever its direction.
func (c Change) size() float64 {
	if math.IsNaN(c.Ratio) {
		return math.Inf(1)
	}
	return math.Abs(math.Log(c.Ratio))
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	slices.Sort(out)
	return out
}

// shift is by how much the second of two sorted samples lies above the first: the
// median of all differences, and the 95% interval that belongs to the rank-sum
// test; infinite if there are too few values.
func shift(a, b []float64) (center, lo, hi float64) {
	pairs := len(a) * len(b)
	center = (difference(a, b, (pairs+1)/2) + difference(a, b, pairs/2+1)) / 2
	outside := outsideRanks(len(a), len(b))
	if outside == 0 {
		return center, math.Inf(-1), math.Inf(1)
	}
	return center, difference(a, b, outside), difference(a, b, pairs+1-outside)
}

// outsideRanks is the rank of the lower end of the 95% interval among all
// differences, 0 if there is none.
func outsideRanks(n, m int) int {
	const tail = 0.025
	if n+m <= 30 {
		u := stats.UDist{N1: n, N2: m}
		rank := 0
		for float64(rank) <= float64(n*m)/2 && u.CDF(float64(rank)) <= tail {
			rank++
		}
		return rank
	}
	pairs := float64(n) * float64(m)
	return max(0, int(pairs/2-1.96*math.Sqrt(pairs*float64(n+m+1)/12)))
}

// difference returns the rank'th smallest of the differences b−a of two sorted
// samples. It halves the range that holds it, for there may be millions.
func difference(a, b []float64, rank int) float64 {
	lo, hi := b[0]-a[len(a)-1], b[len(b)-1]-a[0]
	for range 60 {
		if middle := lo + (hi-lo)/2; countUpTo(a, b, middle) >= rank {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}

// countUpTo counts the differences b−a that are at most a limit.
func countUpTo(a, b []float64, limit float64) int {
	n, from := 0, 0 // a[from:] are so large that b−a is within
	for _, v := range b {
		for from < len(a) && v-a[from] > limit {
			from++
		}
		n += len(a) - from
	}
	return n
}

// leastCommon is how many series must change at a point for it to be common.
const leastCommon = 3

// common finds the points at which half of a machine's series or more moved in
// one direction.
func (h *History) common(changes []Change) []Common {
	type place struct {
		machine int
		point   int
		up      bool
	}
	moved, of := make(map[place]int), make(map[int]int)
	for i := range h.Series {
		if h.Series[i].tested() {
			of[h.Series[i].Machine]++
		}
	}
	for _, c := range changes {
		s := &h.Series[c.Series]
		if s.tested() {
			moved[place{s.Machine, int(s.At[c.After.From]), c.After.Level > c.Before.Level}]++
		}
	}
	var out []Common
	for at, n := range moved {
		if n >= leastCommon && 2*n >= of[at.machine] {
			c := Common{Machine: at.machine, Point: at.point, Changed: n, Of: of[at.machine], Up: at.up}
			if at.point > 0 {
				old, now := h.Points[at.point-1].GoVersion, h.Points[at.point].GoVersion
				c.GoVersionMoved = old != now && old != "" && now != ""
			}
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Common) int {
		return cmp.Or(cmp.Compare(b.Changed, a.Changed), cmp.Compare(a.Point, b.Point), cmp.Compare(a.Machine, b.Machine))
	})
	return out
}

// leastAlike is how many points a series needs to say how alike neighbours are.
const leastAlike = 20

// alike is Trends.Alike.
func (h *History) alike(levels [][]Segment) float64 {
	var all []float64
	for i := range h.Series {
		s := &h.Series[i]
		if len(s.Values) < leastAlike || !s.tested() {
			continue
		}
		rest := make([]float64, 0, len(s.Values))
		for _, seg := range levels[i] {
			for _, v := range s.Values[seg.From:seg.To] {
				rest = append(rest, v-seg.Level)
			}
		}
		a := scores(rest)
		sum := 0.0
		for k := 1; k < len(a); k++ {
			sum += a[k-1] * a[k]
		}
		all = append(all, sum/float64(len(rest)))
	}
	if len(all) == 0 {
		return 0
	}
	return median(all)
}

package history

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"onebit/internal/deviation"
)

// Shuffles say how often histories without a change had one.
type Shuffles struct {
	Histories int
	Alarmed   int     // with any change
	Lo, Hi    float64 // 95% interval of the chance of an alarm (Wilson 1927)
}

// Shuffled brings the points into n random orders, the same for all series, and
// counts in how many any series has a change. What series have in common, as
// those of one machine do, stays.
func (h *History) Shuffled(ctx context.Context, n int, opt Options) (Shuffles, error) {
	out := Shuffles{Histories: n}
	rng := rand.New(rand.NewPCG(opt.Seed, math.MaxUint64))
	for range n {
		shuffled := h.shuffled(rng.Perm(len(h.Points)))
		seed, tested := rng.Uint64(), shuffled.Tested()
		var alarmed atomic.Bool
		err := each(ctx, len(shuffled.Series), func(i int) {
			s := &shuffled.Series[i]
			if !alarmed.Load() && s.tested() && len(s.splits(ctx, opt.alpha(), tested, seed)) > 0 {
				alarmed.Store(true)
			}
		})
		if err != nil {
			return out, err
		}
		if alarmed.Load() {
			out.Alarmed++
		}
	}
	out.Lo, out.Hi = deviation.Share(float64(out.Alarmed)/float64(max(n, 1)), n)
	return out, nil
}

// shuffled is the history with point i in the place order[i].
func (h *History) shuffled(order []int) *History {
	out := &History{Points: h.Points, Series: make([]Series, 0, len(h.Series))}
	for i := range h.Series {
		s := h.Series[i]
		if !s.tested() {
			continue
		}
		places := make([]int, len(s.At))
		for j := range places {
			places[j] = j
		}
		slices.SortFunc(places, func(a, b int) int { return order[s.At[a]] - order[s.At[b]] })
		values := make([]float64, len(places))
		for j, place := range places {
			values[j] = s.Values[place]
		}
		s.Values = values
		out.Series = append(out.Series, s)
	}
	return out
}

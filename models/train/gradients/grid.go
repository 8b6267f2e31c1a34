package gradients

import (
	"cmp"
	"math"
	"slices"

	"onebit/models/train"
)

// rates are the learning rates that each optimizer is tried with: from one that is
// too low for any of the gradients to one that is too high.
var rates = map[string][]float64{
	"sgd":   {3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1},
	"adamw": {3e-4, 1e-3, 3e-3, 1e-2},
	"lion":  {1e-4, 3e-4, 1e-3, 3e-3},
}

// Names of the gradients that are compared; Float is a network whose weights and
// activations are not rounded.
const Float = "float"

// Gradients returns those that are compared.
func Gradients() []string {
	return []string{Float, train.Exact.String(), train.InverseScale.String()}
}

// A Setting is a kind of network and of clipping.
type Setting struct {
	Normed bool
	Clip   float64
}

// Settings returns those that are compared: with norms, as in NanoLogic's model; the
// same with gradients clipped to 1, as its training does; without norms.
func Settings() []Setting { return []Setting{{Normed: true}, {Normed: true, Clip: 1}, {}} }

func (s Setting) String() string {
	switch {
	case !s.Normed:
		return "no norms"
	case s.Clip != 0:
		return "norms, clipped to 1"
	}
	return "norms"
}

// Grid returns the trials of all optimizers, rates, gradients and settings, with
// seeds from 1 on.
func Grid(seeds int) (all []Trial) {
	for _, s := range Settings() {
		for _, optimizer := range train.RuleNames() {
			for _, gradient := range Gradients() {
				for _, rate := range rates[optimizer] {
					for seed := range uint64(seeds) {
						all = append(all, Trial{optimizer, gradient, s.Normed, s.Clip, rate, seed + 1})
					}
				}
			}
		}
	}
	return all
}

// A Group is the results of trials that differ by the seed alone.
type Group struct {
	Trial   // its seed is 0
	Results []*Result
}

// Groups puts results together, in the order of the first of each.
func Groups(results []*Result) (groups []*Group) {
	for _, r := range results {
		t := r.Trial
		t.Seed = 0
		i := slices.IndexFunc(groups, func(g *Group) bool { return g.Trial == t })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &Group{Trial: t})
		}
		groups[i].Results = append(groups[i].Results, r)
	}
	return groups
}

// Setting returns the group's.
func (g *Group) Setting() Setting { return Setting{g.Normed, g.Clip} }

// Diverged returns how many of the results did.
func (g *Group) Diverged() (n int) {
	for _, r := range g.Results {
		if r.Diverged() {
			n++
		}
	}
	return n
}

// HeldOut returns the mean of the results' losses, the least and the largest: NaN and
// infinities if one diverged.
func (g *Group) HeldOut() (mean, least, most float64) {
	if g.Diverged() > 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	least, most = math.Inf(1), math.Inf(-1)
	for _, r := range g.Results {
		mean += r.HeldOut / float64(len(g.Results))
		least, most = min(least, r.HeldOut), max(most, r.HeldOut)
	}
	return mean, least, most
}

// Best returns the group with the least loss of those with an optimizer, a gradient
// and a setting; nil if all of them diverged.
func Best(groups []*Group, s Setting, optimizer, gradient string) *Group {
	var best *Group
	for _, g := range groups {
		if g.Setting() != s || g.Optimizer != optimizer || g.Gradient != gradient || g.Diverged() > 0 {
			continue
		}
		if best == nil || meanOf(g) < meanOf(best) {
			best = g
		}
	}
	return best
}

func meanOf(g *Group) float64 {
	mean, _, _ := g.HeldOut()
	return mean
}

// Curve returns the mean over the results of a number for each of their steps,
// over windows of so many steps. It ends where the shortest does.
func (g *Group) Curve(of func(*Result) []float64, window int) []float64 {
	shortest := slices.MinFunc(g.Results, func(a, b *Result) int { return cmp.Compare(len(of(a)), len(of(b))) })
	curve := make([]float64, len(of(shortest))/window)
	for i := range curve {
		for _, r := range g.Results {
			for _, v := range of(r)[i*window : (i+1)*window] {
				curve[i] += v / float64(window*len(g.Results))
			}
		}
	}
	return curve
}

// Rates returns the learning rates that an optimizer is tried with.
func Rates(optimizer string) []float64 { return slices.Clone(rates[optimizer]) }

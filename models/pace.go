package models

import "slices"

// A pace says how many tokens to draft. It knows what passes over several
// columns have cost, by how many those were, and how often drafts were right, by the
// length of the match. Where drafts do not pay it tries one now and then, on a credit
// that plain passes fill: what they lose stays within a hundredth of the time and the
// first two.
type pace struct {
	plain   recent                // seconds of passes over one column
	further [MostDraft + 1]recent // by drafted tokens: what they added, as a share of that
	tried   int                   // drafts that were timed
	since   int                   // passes with a draft since the last without
	reach   int                   // as many tokens have been tried together, or half of them
	right   [longestMatch + 1]float64
	credit  float64 // as a share of plain
}

const (
	// firstPasses over one column tell what that costs. One of renewPlain passes
	// does later, as it grows with the text, and more at first.
	firstPasses = 3
	renewPlain  = 64

	// firstDrafts, of one token and then of three if that was right, tell what further
	// columns cost. For so many passes they wait for the longest match, as what they
	// lose is not counted.
	firstDrafts = 2
	patience    = 24

	// Credit is in passes over one column. What the first drafts lose is not taken
	// from it.
	mostCredit = 4    // from drafts that were right
	earned     = 0.01 // by a pass over one column
	mostEarned = 2    // by those
	tryCredit  = 0.2  // that a draft must leave which is expected not to pay

	// surePasses with as many columns tell what they cost without looking at others.
	surePasses = 3
)

func newPace() *pace {
	return &pace{reach: 1, right: [longestMatch + 1]float64{2: 0.5, 3: 0.6, 4: 0.8}}
}

// cost returns what k drafted tokens add to a pass, as a share of one without. Until
// that is sure it is no more than what was measured of others says: more take no less
// time, and fewer at a time could have been taken again and again.
func (p *pace) cost(k int) float64 {
	own := &p.further[k]
	if own.n >= surePasses {
		return own.usual()
	}
	least := float64(k) // beside others a column takes no longer than alone
	for j := 1; j <= MostDraft; j++ {
		if p.further[j].n > 0 {
			least = min(least, p.further[j].usual()*max(1, float64(k)/float64(j)))
		}
	}
	return least
}

// draft returns how many tokens to draft after a match of that length, up to
// most: as many as give the most tokens for the time.
func (p *pace) draft(match, most int) int {
	if match == 0 || p.plain.n < firstPasses || p.since >= min(renewPlain, 4*p.plain.n) {
		return 0
	}
	if p.tried < firstDrafts {
		if match < longestMatch && p.plain.n < patience {
			return 0
		}
		if p.credit > earned*float64(p.plain.n+1) { // the first was right
			return max(0, min(most, 3))
		}
		return min(most, 1)
	}
	most = min(most, p.reach)
	best, rate := 0, 1.0
	tokens, chance := 1.0, 1.0
	for k := 1; k <= most; k++ {
		chance *= p.right[match]
		tokens += chance
		cost := p.cost(k)
		if r := tokens / (1 + cost); r > rate && cost <= p.credit {
			best, rate = k, r
		}
	}
	if best == 0 && most > 0 && p.credit-p.cost(1) >= tryCredit {
		return 1
	}
	return best
}

// timed takes note of a pass that took in k drafted tokens.
func (p *pace) timed(k int, seconds float64) {
	if k == 0 {
		p.plain.add(seconds)
		p.since = 0
		p.credit = max(p.credit, min(p.credit+earned, mostEarned))
		return
	}
	p.since++
	if seconds < 0.7*p.plain.usual() { // then all of those were disturbed
		p.plain, p.reach = recent{}, 1
		return
	}
	p.tried++
	p.further[k].add(min(float64(k), max(0, seconds/p.plain.usual()-1)))
	p.reach = max(p.reach, 2*k)
}

// judged takes note that of so many drafted tokens the first were right.
func (p *pace) judged(match, drafted, right int) {
	for range right {
		p.saw(match, 1)
	}
	if right < drafted {
		p.saw(match, 0)
	}
	won := float64(right) - p.cost(drafted)
	if p.tried <= firstDrafts {
		won = max(0, won)
	}
	p.credit = min(p.credit+won, mostCredit)
}

// saw moves the share of a match's tokens that are right.
func (p *pace) saw(match int, right float64) { p.right[match] += (right - p.right[match]) / 8 }

// recent is the last of what was measured again and again, among which is what
// others have disturbed.
type recent struct {
	values [7]float64
	n      int // that were added
}

func (r *recent) add(x float64) {
	r.values[r.n%len(r.values)] = x
	r.n++
}

// usual is the lower quartile of the values, of which there must be one: what is
// disturbed takes longer.
func (r *recent) usual() float64 {
	sorted := r.values
	n := min(r.n, len(sorted))
	slices.Sort(sorted[:n])
	return sorted[n/4]
}

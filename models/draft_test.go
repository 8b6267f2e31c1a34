package models

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Timeless makes passes take the same time whatever they take in, and known to, so that
// drafts always pay.
func (p *Speculator) Timeless() {
	p.pace.tried, p.pace.reach = 1, MostDraft
	for k := range p.pace.further {
		p.pace.further[k].add(0)
	}
	var t time.Time
	p.now = func() time.Time {
		t = t.Add(time.Millisecond)
		return t
	}
}

func TestDraft(t *testing.T) {
	for _, test := range []struct {
		text  []int
		match int
		want  []int // 5 tokens
	}{
		{nil, 0, nil},
		{[]int{1}, 0, nil},
		{[]int{1, 2, 3, 4}, 0, nil},
		{[]int{1, 2, 1}, 0, nil}, // one token says too little
		{[]int{1, 2, 7, 8, 9, 1, 2}, 2, []int{7, 8, 9, 1, 2}},
		{[]int{1, 2, 7, 1, 2, 8, 1, 2}, 2, []int{8, 1, 2, 8, 1}},       // the last of equals
		{[]int{5, 1, 2, 7, 1, 2, 8, 5, 1, 2}, 3, []int{7, 1, 2, 8, 5}}, // the longest
		{[]int{6, 4, 5, 1, 2, 7, 3, 4, 5, 1, 2, 8, 6, 4, 5, 1, 2}, 5, []int{7, 3, 4, 5, 1}},
		{slices.Concat(counting(9), []int{10}, counting(9)[1:], []int{11}, counting(9)), longestMatch, []int{11, 0, 1, 2, 3}}, // no longer than need be
		{[]int{3, 3, 3}, 2, []int{3, 3, 3, 3, 3}},
		{[]int{1, 2, 1, 2}, 2, []int{1, 2, 1, 2, 1}},
	} {
		h := newHistory()
		h.add(test.text...)
		at, match := h.lookup()
		if match != test.match {
			t.Errorf("%v: a match of %d tokens, want %d", test.text, match, test.match)
			continue
		}
		if match == 0 {
			continue
		}
		if got := h.follow([]int{9}, at, 5); !slices.Equal(got[1:], test.want) {
			t.Errorf("%v: drafted %v, want %v", test.text, got[1:], test.want)
		}
	}
}

// counting is 0 to n-1.
func counting(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// decodeBy returns the time for a text of n tokens and for the same without
// drafts, where a pass costs one for the first column and slope for each further
// one, and drafted tokens are right with a chance. A pass may be disturbed.
func decodeBy(seed uint64, n int, slope, chance, disturbed float64) (took, plain float64) {
	rng := rand.New(rand.NewPCG(seed, uint64(100*slope)))
	p := newPace()
	for tokens := 0; tokens < n; {
		k := p.draft(longestMatch, UsualDraft)
		cost, right := 1+slope*float64(k), 0
		for drafted := true; drafted; {
			again := rng.Float64() < chance
			p.saw(longestMatch, again)
			if drafted = again && right < k; drafted {
				right++
			}
		}
		took += cost
		plain += float64(1 + right)
		tokens += 1 + right
		if rng.Float64() < disturbed {
			cost *= 10
		}
		p.timed(k, cost)
		if k > 0 {
			p.judged(k, right)
		}
	}
	return took, plain
}

// Drafts that never come true cost less than three hundredths of 128 tokens, and
// of a longer text less still; drafts that do come true are used.
func TestPace(t *testing.T) {
	for _, slope := range []float64{0, 0.1, 0.3, 0.5, 0.7, 1} {
		for _, chance := range []float64{0, 0.05, 0.2, 0.5, 0.8} {
			for _, disturbed := range []float64{0, 0.2} {
				for seed := range uint64(10) {
					if took, plain := decodeBy(seed, 128, slope, chance, disturbed); took > 1.03*plain {
						t.Errorf("slope %g, %g right, %g disturbed: %.1f instead of %.1f", slope, chance, disturbed, took, plain)
					}
				}
				if took, plain := decodeBy(1, 4096, slope, chance, disturbed); took > 1.015*plain {
					t.Errorf("slope %g, %g right, %g disturbed: %.1f instead of %.1f for a long text", slope, chance, disturbed, took, plain)
				}
			}
		}
	}
	const texts = 20
	for _, test := range []struct{ slope, chance, gain float64 }{{0.1, 0.9, 2.5}, {0.1, 0.5, 1.4}, {0.3, 0.9, 1.5}, {0.8, 0.95, 1}} {
		gain := 0.0
		for seed := range uint64(texts) {
			took, plain := decodeBy(seed, 512, test.slope, test.chance, 0)
			gain += plain / took / texts
		}
		if gain < test.gain {
			t.Errorf("slope %g, %g right: %.3f times as fast, want %g", test.slope, test.chance, gain, test.gain)
		}
	}
}

// There is no draft in a text that always goes on otherwise than it did, and there is
// one as soon as it goes on as it did for a while.
func TestPaceLooksOn(t *testing.T) {
	for match := shortestMatch; match <= longestMatch; match++ {
		p := newPace()
		drafted := 0
		for range 200 {
			k := p.draft(match, UsualDraft)
			p.timed(k, 1+0.5*float64(k))
			p.saw(match, false)
			if k > 0 {
				p.judged(k, 0)
			}
			drafted += k
		}
		if drafted > 0 {
			t.Errorf("matches of %d tokens, all wrong: %d tokens were drafted", match, drafted)
		}
		for range 40 {
			p.timed(0, 1)
			p.saw(match, true)
		}
		if k := p.draft(match, UsualDraft); k == 0 {
			t.Errorf("matches of %d tokens, lately all right: no draft", match)
		}
	}
}

// One disturbed pass does not end drafts that would pay.
func TestPaceRecovers(t *testing.T) {
	p := newPace()
	tokens, took := 0, 0.0
	for range 100 {
		k := p.draft(longestMatch, UsualDraft)
		cost := 1 + 0.2*float64(k)
		took += cost
		tokens += 1 + k
		if p.tried == 0 && k > 0 {
			cost *= 4
		}
		p.timed(k, cost)
		for range 1 + k {
			p.saw(longestMatch, true)
		}
		if k > 0 {
			p.judged(k, k)
		}
	}
	if gain := float64(tokens) / took; gain < 2 {
		t.Errorf("%.2f times as fast", gain)
	}
}

// Costing makes passes take what cost says of so many columns, in passes over one,
// and returns what they have taken so far.
func (p *Speculator) Costing(cost func(columns int) float64) (spent func() float64) {
	var t time.Time
	total, begun := 0.0, false
	p.now = func() time.Time {
		if begun = !begun; !begun {
			took := cost(len(p.draft))
			total += took
			t = t.Add(time.Duration(took * float64(time.Millisecond)))
		}
		return t
	}
	return func() float64 { return total }
}

package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
)

// A Noise is recorded noise, round by round, to be played to gates.
type Noise struct {
	benchmarks []gate.Benchmark
	rounds     []round
	setup      time.Duration // what a gate took before its first round, the mean
}

// A round is what each case's processes measured, and what it cost to link
// what they ran.
type round struct {
	prepare time.Duration
	cases   map[string]*builds
}

// builds are the processes of each of a round's three builds, in the order in
// which they ran.
type builds [3][]gate.Measurement

// NewNoise makes noise of recordings, one after the other. All must have the
// same cases. Rounds without every case, as the last of one that was
// interrupted, are left out.
func NewNoise(recordings ...*Recording) (*Noise, error) {
	n := new(Noise)
	names := map[string]bool{}
	for _, r := range recordings {
		for _, m := range r.Measurements {
			if !names[m.Name] {
				names[m.Name] = true
				n.benchmarks = append(n.benchmarks, m.Benchmark)
			}
		}
	}
	slices.SortFunc(n.benchmarks, func(a, b gate.Benchmark) int { return cmp.Compare(a.Name, b.Name) })
	for _, r := range recordings {
		if len(r.Measurements) > 0 {
			n.setup += r.Measurements[0].Start / time.Duration(len(recordings))
		}
		for _, recorded := range r.rounds(len(names)) {
			n.rounds = append(n.rounds, recorded, recorded.reversed())
		}
	}
	if len(n.rounds) < leastRounds {
		return nil, fmt.Errorf("the recording has %d whole rounds of %d cases; %d are the least", len(n.rounds), len(names), leastRounds)
	}
	return n, nil
}

// Rounds is how many there are: of each that was recorded two, one of each pass.
func (n *Noise) Rounds() int { return len(n.rounds) }

// leastRounds is about the half of what a gate of five minutes measures: with
// fewer each gate would see all noise there is, more than once.
const leastRounds = 6

// rounds are those in which each of so many cases has two processes of each
// side.
func (r *Recording) rounds(cases int) (whole []round) {
	var end time.Duration
	for rest := r.Measurements; len(rest) > 0; {
		size := slices.IndexFunc(rest, func(m gate.Measurement) bool { return m.Round != rest[0].Round })
		if size < 0 {
			size = len(rest)
		}
		next := round{cases: map[string]*builds{}}
		if end > 0 {
			next.prepare = max(0, rest[0].Start-end)
		}
		for _, m := range rest[:size] {
			if next.cases[m.Name] == nil {
				next.cases[m.Name] = new(builds)
			}
			next.cases[m.Name][m.Side] = append(next.cases[m.Name][m.Side], m)
			end = m.Start + m.Took
		}
		rest = rest[size:]
		if next.whole(cases) {
			whole = append(whole, next)
		}
	}
	if len(whole) > 1 {
		whole[0].prepare = whole[1].prepare // of the first it was not recorded
	}
	return whole
}

// reversed is a round that begins with the processes of the second pass, for a gate
// that measures one.
func (r round) reversed() round {
	reversed := round{prepare: r.prepare, cases: map[string]*builds{}}
	for name, of := range r.cases {
		var b builds
		for build, processes := range of {
			b[build] = slices.Clone(processes)
			slices.Reverse(b[build])
		}
		reversed.cases[name] = &b
	}
	return reversed
}

func (r round) whole(cases int) bool {
	if len(r.cases) != cases {
		return false
	}
	for _, b := range r.cases {
		if slices.ContainsFunc(b[:], func(p []gate.Measurement) bool { return len(p) < 2 }) {
			return false
		}
	}
	return true
}

// A player is a gate's target that plays noise. Which of a round's builds is
// base, head or control is drawn anew in each round, as a gate draws layouts.
type player struct {
	*Noise
	at     int // the round that is played
	slower map[string]float64
	rng    *rand.Rand
	sides  []int // the build of each side
	played map[string]*[3]int
	now    time.Time
}

// player plays from a round on, with head's time multiplied in some cases.
func (n *Noise) player(from int, slower map[string]float64, rng *rand.Rand) *player {
	return &player{Noise: n, at: from - 1, slower: slower, rng: rng}
}

// Prepare implements gate.Target: the next round is played.
func (p *player) Prepare(_ context.Context, round int, _ []gate.Benchmark) error {
	p.at = (p.at + 1) % len(p.rounds)
	p.sides = p.rng.Perm(3)
	p.played = map[string]*[3]int{}
	if round > 0 { // the first is in the time of the setup
		p.now = p.now.Add(p.rounds[p.at].prepare)
	}
	return nil
}

// Plan implements gate.Target: a process for each case, as it was recorded.
func (p *player) Plan(_ context.Context, benchmarks []gate.Benchmark, _ time.Duration) (batches []gate.Batch, err error) {
	p.now = p.now.Add(p.setup)
	for _, b := range benchmarks {
		m := p.rounds[p.at].cases[b.Name][0][0]
		batches = append(batches, gate.Batch{Benchmarks: []gate.Benchmark{b}, N: m.N, Took: m.Took})
	}
	return batches, nil
}

// Run implements gate.Target. It costs what it cost when it was recorded, and
// what is added to it.
func (p *player) Run(_ context.Context, side gate.Side, batch gate.Batch) ([][]results.Metric, error) {
	name := batch.Benchmarks[0].Name
	processes := p.rounds[p.at].cases[name][p.sides[side]]
	if p.played[name] == nil {
		p.played[name] = new([3]int)
	}
	turn := &p.played[name][side]
	if *turn >= len(processes) {
		return nil, errors.New("a gate measures more than was recorded")
	}
	m := processes[*turn]
	*turn++
	values := slices.Clone(m.Values)
	took := m.Took
	if share, ok := p.slower[name]; ok && side == gate.Head {
		for i := range values {
			if values[i].Unit == results.NsPerOp {
				took += time.Duration(share * values[i].Value * float64(m.N))
				values[i].Value *= 1 + share
			}
		}
	}
	p.now = p.now.Add(took)
	return [][]results.Metric{values}, nil
}

// gate runs a gate on what is played.
func (p *player) gate(ctx context.Context, opt gate.Options) (*gate.Report, error) {
	opt.Seed = p.rng.Uint64()
	opt.ThresholdOf = new(gate.Rules).ThresholdOf
	opt.Now = func() time.Time { return p.now }
	return gate.Run(ctx, p, p.benchmarks, opt)
}

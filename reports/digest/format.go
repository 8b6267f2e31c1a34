package digest

import (
	"cmp"
	"slices"
	"strings"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// A FormatRow is the fastest variant of a format over the shapes that all formats ran; of a single format, each
// variant.
type FormatRow struct {
	Subject, Variant string
	Cases            []*Case    // one for each shape
	Over             []*Ranking // of each shape
	Ns               float64    // geometric mean of the cases
	Tie              bool       // whether it can't be told from the format before
	peers            []string   // variants that can't be told from the fastest of a format, itself included; in the order of names
}

// By says which variant it is, or which tie.
func (p FormatRow) By() string {
	if len(p.peers) < 2 {
		return p.Cases[0].ByScheme()
	}
	return words.Names(p.peers) + ", which tie,"
}

// Typical is the median of the cases' values.
func (p FormatRow) Typical(unit string) (float64, bool) { return Typical(p.Cases, unit) }

// Typical is the median of what cases reached in a unit; false if none has it.
func Typical(cases []*Case, unit string) (float64, bool) {
	var values []float64
	for _, c := range cases {
		if v, ok := c.Center(unit); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return noise.Median(values), true
}

// PlaceOver places the variants that were timed in each of the rankings, fastest first, which names its
// peers.
func (d *Digest) PlaceOver(subject string, over []*Ranking) []FormatRow {
	var all []FormatRow
	for _, name := range Rivals(over) {
		p := FormatRow{Subject: subject, Variant: name, Over: over}
		var times []float64
		for _, s := range over {
			if c := s.Find(name); c != nil {
				times = append(times, c.Stats[results.NsPerOp].Center)
				p.Cases = append(p.Cases, c)
			}
		}
		mean, positive := words.Geomean(times)
		if p.Ns = mean; positive && len(times) == len(over) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b FormatRow) int { return cmp.Compare(a.Ns, b.Ns) })
	for i, p := range all {
		if i == 0 || d.NearOver(all[0].Cases, p.Cases) {
			all[0].peers = append(all[0].peers, p.Variant)
		}
	}
	if len(all) > 0 {
		slices.SortFunc(all[0].peers, words.Compare)
	}
	return all
}

// leastLead is the share that a variant is shown to be behind at least to be named apart: a lead that the next run
// may take back is none (TestAdviceOfRecordedRuns).
const leastLead = 0.03

// TiedOver reports whether most of the shapes can't tell two variants apart, of one format or two.
func (d *Digest) TiedOver(a, b []*Case) bool {
	return d.mostly(a, b, func(diff noise.Difference) bool { return diff.Tie })
}

// NearOver reports whether most of the shapes can't tell that b takes longer than a by leastLead.
func (d *Digest) NearOver(a, b []*Case) bool {
	return d.mostly(a, b, func(diff noise.Difference) bool { return diff.Tie || diff.Lo < 1+leastLead })
}

// mostly reports whether two variants differ so on most of the shapes.
func (d *Digest) mostly(a, b []*Case, so func(noise.Difference) bool) bool {
	n := 0
	for i := range min(len(a), len(b)) {
		if so(d.Compare(a[i], b[i])) {
			n++
		}
	}
	return 2*n > len(a)
}

// RatioOver is how many times longer b takes than a, the geometric mean over the shapes of the ratios by
// which ties are told.
func (d *Digest) RatioOver(a, b FormatRow) float64 {
	var ratios []float64
	for i := range min(len(a.Cases), len(b.Cases)) {
		ratios = append(ratios, d.Compare(a.Cases[i], b.Cases[i]).Ratio)
	}
	mean, _ := words.Geomean(ratios)
	return mean
}

// spread is the typical interval of a row, as a share; false if it is unknown.
func (p FormatRow) spread() (float64, bool) {
	var spreads []float64
	for _, c := range p.Cases {
		if s := c.Stats[results.NsPerOp]; s.Bounded() {
			spreads = append(spreads, s.Spread())
		}
	}
	if len(spreads) == 0 {
		return 0, false
	}
	return noise.Median(spreads), true
}

func (p FormatRow) SpreadText() string {
	if s, ok := p.spread(); ok {
		return words.Spread(s)
	}
	return words.UnknownSpread
}

// Length is the time with where the next run's is expected.
func (p FormatRow) Length() doc.Length {
	spread, _ := p.spread()
	return doc.Length{Value: p.Ns, Low: p.Ns / (1 + spread), High: p.Ns * (1 + spread)}
}

// VariantOf is a full name without its activation scheme.
func VariantOf(full string) string {
	variant, _, _ := strings.Cut(full, " ")
	return variant
}

package digest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/words"
)

// CaseName is a case's name as people say it: the variant first.
func CaseName(full string) string {
	n := results.ParseName(full)
	family := FamilyOf(n)
	if family == "" {
		return full
	}
	parts := []string{family}
	if rows, cols := n.Get(names.Rows), n.Get(names.Cols); rows != "" && cols != "" {
		parts = append(parts, rows+"×"+cols)
	}
	for _, key := range []string{names.Test, names.Depth, names.Threads, names.Cache} {
		for _, k := range n.Keys {
			if k.Key == key {
				parts = append(parts, NamedValue(k))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// NamedValue is a key's value as people say it.
func NamedValue(k results.Setting) string {
	if k.Key == names.Threads {
		return Panel{Threads: k.Value}.String()
	}
	return k.Value
}

// FamilyOf names the cases that one change of the program is likely to meet together: those of a variant
// in one format or model, "avx2 of i2_s". It is "" for a benchmark that has no variant.
func FamilyOf(n results.Name) string {
	variant := n.Get(names.Variant)
	if variant == "" {
		return ""
	}
	parts := []string{variant}
	for _, key := range []string{names.Act, names.Packing, names.Engine} {
		if v := n.Get(key); v != "" {
			parts = append(parts, v)
		}
	}
	if subject := names.SubjectOf(n); subject != "" {
		parts = append(parts, "of", subject)
	}
	if n.Base != names.BaseMatVec && n.Base != names.BaseModel {
		parts = append(parts, "in", n.Base)
	}
	return strings.Join(parts, " ")
}

// A LooseRatio is a case whose ratio to the best of its work is known less well than wanted.
type LooseRatio struct {
	Name   string  // of the case
	Group  string  // that it is measured in
	Spread float64 // half its interval, as a share of the ratio; infinite if there is none
	Factor float64 // how many times as many processes would do, if the interval narrows with their root
}

// LooseRatios are those that are not known to within a precision, such as 0.02, the worst first, and out of how
// many. Cases that take ten times as long as the best and longer need no telling apart, and are none of these.
func LooseRatios(res *results.Set, precision float64) (loose []LooseRatio, of int) {
	groups := make(map[string]string)
	for _, s := range res.Samples {
		groups[s.Name.Full] = s.Group
	}
	d := Of(res)
	for _, t := range d.Tasks {
		for _, p := range Panels(t.Cases) {
			s, ok := d.Rank(t, p)
			for i := 1; ok && i < len(s.Ranked); i++ {
				diff, name := s.Diffs[i], s.Ranked[i].Name.Full
				if diff.Ratio > noise.FarBehind {
					continue
				}
				of++
				spread := math.Inf(1)
				if diff.Bounded() {
					spread = diff.Spread()
				}
				if spread > precision {
					loose = append(loose, LooseRatio{name, groups[name], spread, math.Pow(math.Log1p(spread)/math.Log1p(precision), 2)})
				}
			}
		}
	}
	slices.SortFunc(loose, func(a, b LooseRatio) int {
		return cmp.Or(cmp.Compare(b.Spread, a.Spread), words.Compare(a.Name, b.Name))
	})
	return loose, of
}

// PrecisionText says how many ratios are known to within a precision, names some of those that are not, and
// says what they would take: a run of so many processes took so long.
func PrecisionText(res *results.Set, precision float64, took time.Duration) string {
	loose, of := LooseRatios(res, precision)
	text := fmt.Sprintf("%d of %s known to ±%s", of-len(loose), count.Of(of, "ratio"), words.Percent(precision))
	if len(loose) == 0 {
		return text
	}
	var named []string
	for _, r := range loose {
		if n := results.ParseName(r.Name); len(named) < 3 {
			named = append(named, fmt.Sprintf("%s (±%s)", strings.Join([]string{FamilyOf(n), PanelOf(n).String()}, ", "), words.Percent(r.Spread)))
		}
	}
	if more := len(loose) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	text += "; not " + words.List(named)
	factors := make([]float64, 0, len(loose))
	for _, r := range loose {
		factors = append(factors, r.Factor)
	}
	if half := noise.Median(factors); !math.IsInf(half, 1) {
		text += fmt.Sprintf(". Half of these would take %s in all (--budget), if they narrow with the root of the time", time.Duration(half*float64(took)).Round(time.Second))
	}
	return text
}

package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
)

// A descent is one test of a model by one variant, behind the fewest tokens and behind the most.
type descent struct {
	first, last *caseStats
	noise.Difference
}

// alone are the cases of one text of random tokens, which may differ in depth.
func (m *model) alone() []*caseStats {
	return slices.DeleteFunc(m.cases(), func(c *caseStats) bool {
		return c.name.Get(names.Texts)+c.name.Get(names.Text)+c.name.Get(names.Drafts) != ""
	})
}

// descend compares the ends of what cases of one variant and test measured; false if they are of fewer than
// two depths.
func (d *modelReport) descend(cases []*caseStats) (x descent, ok bool) {
	timed := slices.DeleteFunc(slices.Clone(cases), func(c *caseStats) bool {
		_, measured := c.center(results.NsPerOp) // which depths are compared by
		v, ok := c.center(results.TokenRate)
		return !measured || !ok || !(v > 0)
	})
	if len(timed) == 0 {
		return x, false
	}
	byDepth := func(a, b *caseStats) int { return cmp.Compare(a.depth(), b.depth()) }
	x.first, x.last = slices.MinFunc(timed, byDepth), slices.MaxFunc(timed, byDepth)
	x.Difference = d.compare(x.first, x.last)
	return x, x.first.depth() < x.last.depth()
}

// share says how much of the speed is left, with its interval in this run.
func (x descent) share() string {
	text := percent(1 / x.Ratio)
	if x.Lo > 0 && !math.IsInf(x.Hi, 1) && x.Lo < x.Hi {
		text += fmt.Sprintf(" (%s to %s)", percent(1/x.Hi), percent(1/x.Lo))
	}
	return text
}

// cost says what 1000 tokens before it add to a token's time; "" where the run can't tell the depths apart.
func (x descent) cost() string {
	rate, _ := x.first.center(results.TokenRate)
	seconds := func(ratio float64) float64 { return (ratio - 1) / rate / (x.last.depth() - x.first.depth()) * 1000 }
	if x.Tie || !(x.Ratio > 1) {
		return ""
	}
	text := formatSeconds(seconds(x.Ratio))
	if x.Lo > 1 && !math.IsInf(x.Hi, 1) && x.Lo < x.Hi {
		text += fmt.Sprintf(" (%s to %s)", formatSeconds(seconds(x.Lo)), formatSeconds(seconds(x.Hi)))
	}
	return "every 1000 tokens before it make a token take " + text + " longer"
}

// depthVerdict says what a long text leaves of the speed of a model's winner: of decoding, and of reading a
// prompt. It is "" where nothing was measured at several depths.
func (d *modelReport) depthVerdict(m *model, s *ranking) string {
	who := s.best().variant
	of := func(kind string) (descent, bool) {
		t := m.test(kind)
		if t == nil {
			return descent{}, false
		}
		return d.descend(slices.DeleteFunc(in(s.panel, m.alone()), func(c *caseStats) bool {
			return c.variant != who || c.name.Get(names.Test) != t.cases[0].name.Get(names.Test)
		}))
	}
	text := ""
	for _, kind := range []struct{ name, speed string }{{names.Decode, "decoding"}, {names.Prompt, "reading a prompt"}} {
		x, ok := of(kind.name)
		if !ok {
			continue
		}
		said := fmt.Sprintf("%s keeps %s of its speed", kind.speed, x.share())
		if x.Tie {
			said = fmt.Sprintf("%s is as fast as this run can tell, at %s", kind.speed, x.share())
		}
		said += fmt.Sprintf(" (%s, from %s)", x.last.name.Get(names.Test), speedOf(x.first).Text)
		if cost := x.cost(); cost != "" && kind.name == names.Decode {
			said += ": " + cost
		}
		if text == "" {
			text = fmt.Sprintf("Behind %.0f tokens instead of %.0f, with %s, %s's ", x.last.depth(), x.first.depth(), conditions(s.panel), cmp.Or(m.name, names.BaseModel))
		} else {
			text += "; "
		}
		text += said
	}
	return text + textIf(text != "", ".")
}

// computedText says where the tokens before a test came from, if most were not computed.
func (d *modelReport) computedText() string {
	n := d.res.Setting(results.ComputedKey)
	return textIf(n != "", "At most "+n+" of the tokens before a test were computed; behind them their keys and values repeat, which take attention as long as others.")
}

package models

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/words"
)

// A descent is one test of a model by one variant, behind the fewest tokens and behind the most.
type descent struct {
	first, last *digest.Case
	noise.Difference
}

// alone are the cases of one text of random tokens, which may differ in depth.
func (m *model) alone() []*digest.Case {
	return slices.DeleteFunc(m.cases(), func(c *digest.Case) bool {
		return c.Name.Get(names.Texts)+c.Name.Get(names.Text)+c.Name.Get(names.Drafts) != ""
	})
}

// descend compares the ends of what cases of one variant and test measured; false if they are of fewer than
// two depths.
func (d *report) descend(cases []*digest.Case) (x descent, ok bool) {
	timed := slices.DeleteFunc(slices.Clone(cases), func(c *digest.Case) bool {
		_, measured := c.Center(results.NsPerOp) // which depths are compared by
		v, ok := c.Center(results.TokenRate)
		return !measured || !ok || !(v > 0)
	})
	if len(timed) == 0 {
		return x, false
	}
	byDepth := func(a, b *digest.Case) int { return cmp.Compare(depth(a), depth(b)) }
	x.first, x.last = slices.MinFunc(timed, byDepth), slices.MaxFunc(timed, byDepth)
	x.Difference = d.Compare(x.first, x.last)
	return x, depth(x.first) < depth(x.last)
}

// share says how much of the speed is left, with its interval in this run.
func (x descent) share() string {
	text := words.Percent(1 / x.Ratio)
	if x.Lo > 0 && !math.IsInf(x.Hi, 1) && x.Lo < x.Hi {
		text += fmt.Sprintf(" (%s to %s)", words.Percent(1/x.Hi), words.Percent(1/x.Lo))
	}
	return text
}

// cost says what 1000 tokens before it add to a token's time; "" where the run can't tell the depths apart.
func (x descent) cost() string {
	rate, _ := x.first.Center(results.TokenRate)
	seconds := func(ratio float64) float64 { return (ratio - 1) / rate / (depth(x.last) - depth(x.first)) * 1000 }
	if x.Tie || !(x.Ratio > 1) {
		return ""
	}
	text := words.Seconds(seconds(x.Ratio))
	if x.Lo > 1 && !math.IsInf(x.Hi, 1) && x.Lo < x.Hi {
		text += fmt.Sprintf(" (%s to %s)", words.Seconds(seconds(x.Lo)), words.Seconds(seconds(x.Hi)))
	}
	return "every 1000 tokens before it make a token take " + text + " longer"
}

// depthVerdict says what a long text leaves of the speed of a model's winner: of decoding, and of reading a
// prompt. It is "" where nothing was measured at several depths.
func (d *report) depthVerdict(m *model, s *digest.Ranking) string {
	who := s.Best().Variant
	of := func(kind string) (descent, bool) {
		t := m.test(kind)
		if t == nil {
			return descent{}, false
		}
		return d.descend(slices.DeleteFunc(digest.In(s.Panel, m.alone()), func(c *digest.Case) bool {
			return c.Variant != who || c.Name.Get(names.Test) != t.Cases[0].Name.Get(names.Test)
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
		said += fmt.Sprintf(" (%s, from %s)", x.last.Name.Get(names.Test), speedOf(x.first).Text)
		if cost := x.cost(); cost != "" && kind.name == names.Decode {
			said += ": " + cost
		}
		if text == "" {
			text = fmt.Sprintf("Behind %.0f tokens instead of %.0f, with %s, %s's ", depth(x.last), depth(x.first), digest.Conditions(s.Panel), cmp.Or(m.name, names.BaseModel))
		} else {
			text += "; "
		}
		text += said
	}
	return text + words.If(text != "", ".")
}

// computedText says where the tokens before a test came from, if most were not computed.
func (d *report) computedText() string {
	n := d.Results.Setting(results.ComputedKey)
	return words.If(n != "", "At most "+n+" of the tokens before a test were computed; behind them their keys and values repeat, which take attention as long as others.")
}

// depth is that of a case's name; 0 if it has none, or more tokens than can be.
func depth(c *digest.Case) float64 {
	v, err := strconv.ParseUint(c.Name.Get(names.Depth), 10, 31)
	if err != nil {
		return 0
	}
	return float64(v)
}

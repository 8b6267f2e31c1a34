package gradients

import (
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/models/train"
)

// text repeats itself, so that a few steps are enough to learn some of it.
func testConfig() Config {
	text := []byte(strings.Repeat("one line of a text, and the next line\n", 50))
	return Config{Form: train.NanoLogic, Text: text, HeldOut: text, Steps: 40, Width: 32, Depth: 1, Batch: 16}
}

func TestRun(t *testing.T) {
	c := testConfig()
	var trials []Trial
	for _, gradient := range Gradients() {
		trials = append(trials, Trial{Optimizer: "adamw", Gradient: gradient, Normed: true, Rate: 0.01, Seed: 1})
	}
	results, err := Run(t.Context(), c, trials)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Trial != trials[i] || len(r.Losses) != c.Steps || len(r.Norms) != c.Steps || r.Diverged() {
			t.Errorf("%v: %d losses, held-out %v", r.Trial, len(r.Losses), r.HeldOut)
		}
		if r.HeldOut > r.Losses[0]/1.5 {
			t.Errorf("%v: the loss went from %v to %v", r.Trial, r.Losses[0], r.HeldOut)
		}
	}
	// At the first step, the two gradients differ by 1/γ, and by the rounding of x.
	exact, inverse := results[1], results[2]
	for i, norm := range exact.FirstNorms {
		ratio := inverse.FirstNorms[i] / norm * exact.Scales[i]
		if math.Abs(ratio-1) > 0.02 {
			t.Errorf("product %d: the norms' ratio is %v of 1/γ", i, ratio)
		}
	}
	again, err := Run(t.Context(), c, trials[1:2])
	if err != nil || !slices.Equal(again[0].Losses, exact.Losses) {
		t.Errorf("a trial alone gave other losses (%v)", err)
	}
}

// A trial that leaves the numbers is a result.
func TestDiverged(t *testing.T) {
	results, err := Run(t.Context(), testConfig(), []Trial{{Optimizer: "sgd", Gradient: Float, Rate: 1e12, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; !r.Diverged() || len(r.Losses) == testConfig().Steps {
		t.Errorf("held-out loss %v after %d steps", r.HeldOut, len(r.Losses))
	}
}

func TestRunRefuses(t *testing.T) {
	good := Trial{Optimizer: "sgd", Gradient: Float, Rate: 1}
	for want, change := range map[string]func(*Config, *Trial){
		"the text is too small":    func(c *Config, _ *Trial) { c.HeldOut = c.HeldOut[:10] },
		"unknown optimizer":        func(_ *Config, t *Trial) { t.Optimizer = "adam" },
		"unknown gradient":         func(_ *Config, t *Trial) { t.Gradient = "true" },
		"a multiple of 128 inputs": func(c *Config, t *Trial) { c.Form, t.Gradient = train.OneBit, "exact" },
	} {
		c, trial := testConfig(), good
		change(&c, &trial)
		if _, err := Run(t.Context(), c, []Trial{trial}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestGroups(t *testing.T) {
	result := func(gradient string, rate float64, seed uint64, heldOut float64) *Result {
		return &Result{Trial: Trial{"sgd", gradient, true, 0, rate, seed}, HeldOut: heldOut, Losses: []float64{heldOut, 2 * heldOut, 0}}
	}
	groups := Groups([]*Result{
		result("exact", 1, 1, 2), result("exact", 1, 2, 4), result("exact", 2, 1, 1), result("exact", 2, 2, math.NaN()),
		result("float", 1, 1, 1),
	})
	if len(groups) != 3 {
		t.Fatalf("%d groups, want 3", len(groups))
	}
	if mean, least, most := groups[0].HeldOut(); mean != 3 || least != 2 || most != 4 {
		t.Errorf("mean %v of %v to %v, want 3 of 2 to 4", mean, least, most)
	}
	if n := groups[1].Diverged(); n != 1 {
		t.Errorf("%d diverged, want 1", n)
	}
	if best := Best(groups, Settings()[0], "sgd", "exact"); best != groups[0] {
		t.Errorf("best is %v", best)
	}
	if best := Best(groups, Settings()[1], "sgd", "exact"); best != nil {
		t.Errorf("best of none is %v", best)
	}
	if curve := groups[0].Curve(func(r *Result) []float64 { return r.Losses }, 2); !slices.Equal(curve, []float64{4.5}) {
		t.Errorf("curve %v, want [4.5]", curve)
	}
	if n := len(Grid(2)); n != 2*3*3*(8+4+4) {
		t.Errorf("%d trials", n)
	}
}

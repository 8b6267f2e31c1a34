package lockstep_test

import (
	"testing"

	"onebit/formats"
	"onebit/models"
	"onebit/models/lockstep"
)

// Of a model with experts is told how often rounding made a router choose other ones:
// against itself never, in the usual scheme now and then, and never while every operation
// gets what the reference has computed.
func TestChoicesOfRouters(t *testing.T) {
	f := file(t, "tiny-maple", nil)
	m := reference(t, f)
	ids := text(120)
	made := m.Config.Layers * (len(ids) - 1)
	self := run(t, m, reference(t, f), ids, lockstep.Options{Cache: formats.F32})
	for _, input := range []lockstep.Input{lockstep.Isolated, lockstep.Accumulated} {
		if got := self.Choices[input]; got != (lockstep.Choices{Made: made}) {
			t.Errorf("%s, against itself: %+v, want %d made", input, got, made)
		}
	}
	usual := run(t, m, open(t, f, models.Options{}), ids, lockstep.Options{})
	if got := usual.Choices[lockstep.Isolated]; got != (lockstep.Choices{Made: made}) {
		t.Errorf("isolated: %+v, want %d made and none changed", got, made)
	}
	got := usual.Choices[lockstep.Accumulated]
	if got.Made != made || got.Changed == 0 || got.Changed > made/10 {
		t.Errorf("accumulated: %+v, want %d made and a few changed", got, made)
	}
	t.Logf("%d of %d choices changed, a divergence of %.3g nats", got.Changed, got.Made, usual.Estimate.KLD.Value())
	if plain := run(t, reference(t, file(t, "tiny", nil)), reference(t, file(t, "tiny", nil)), text(4), lockstep.Options{}); len(plain.Choices) != 0 {
		t.Errorf("choices of a model without experts: %+v", plain.Choices)
	}
}

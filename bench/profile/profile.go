package profile

import (
	"fmt"
	"math"

	"onebit/bench/names"
	"onebit/bench/noise"
)

// A Profile is what was found of a model.
type Profile struct {
	names.ModelCase        // without a test
	Arch            string // qwen3
	Blocks          int
	Types           []string // what multiplies: format/variant/activation
	Tests           []*Test
	Ceilings        Ceilings
	WhatIfs         []WhatIf
	Memory          Memory
	Warnings        []string
	NotCounted      []string // events that were to be counted and can't be, with the reason

	// Planned is how many pairs of passes each test was to have; fewer were
	// measured if the run was interrupted.
	Planned int
}

// A WhatIf is what a decode test would take if something were different.
type WhatIf struct {
	Name     string
	Computed float64      // change of the time of a token, as a share of it; NaN if it was not
	Measured noise.Figure // the same; NaN if it was not
	Why      string       // not
}

// mostMissed is by how much a computed change may miss what was measured: as much
// as nobody acts on.
const mostMissed = 0.02

// Refuted reports whether what was measured contradicts what was computed, which
// is no prediction then: bounds know nothing of what a layout or a kernel costs.
func (w WhatIf) Refuted() bool {
	m := w.Measured
	return m.Bounded() && !math.IsNaN(w.Computed) && (w.Computed < m.Lo-mostMissed || w.Computed > m.Hi+mostMissed)
}

// Because says where Believed comes from.
func (w WhatIf) Because() string {
	computed := fmt.Sprintf("computed from bounds: %+.1f%%", 100*w.Computed)
	switch {
	case w.Refuted():
		return "measured; bounds foretold otherwise, and are refuted"
	case !math.IsNaN(w.Measured.Center) && math.IsNaN(w.Computed):
		return "measured"
	case !math.IsNaN(w.Measured.Center):
		return "measured; " + computed
	case !math.IsNaN(w.Computed):
		return "computed from bounds, not measured: " + w.Why
	}
	return w.Why
}

// Believed is the change to go by: what was measured, or what was computed where
// nothing was. It is NaN if neither was.
func (w WhatIf) Believed() noise.Figure {
	if !math.IsNaN(w.Measured.Center) {
		return w.Measured
	}
	return noise.Figure{Center: w.Computed, Lo: math.Inf(-1), Hi: math.Inf(1)}
}

package profile

import "onebit/bench/names"

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
	Computed float64 // change of the time of a token, as a share of it; NaN if it was not
	Measured Figure  // the same; NaN if it was not
	Why      string  // not
}

package profile

import (
	"math"
	"slices"
	"testing"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
)

func TestCounted(t *testing.T) {
	down, head := Key{0, "ffn_down"}, Key{Outside, "output"}
	again := Key{1, "ffn_down"}
	nothing := []results.Metric{{Unit: results.Instructions, Value: 100}, {Unit: results.PageFaults, Value: 0}}
	test := &Test{ModelTest: names.ModelTest{Kind: names.Decode, Tokens: 2}}
	for pass := range 6 {
		counts := map[Key]Count{down: {}, again: {}, head: {}}
		for range 2 { // tokens
			counts[down].Include([]results.Metric{{Unit: results.Cycles, Value: 500}, {Unit: results.Instructions, Value: 1100 + float64(pass)}, {Unit: results.PctCounted, Value: 80}}, nothing)
			counts[again].Include([]results.Metric{{Unit: results.Cycles, Value: 500}, {Unit: results.Instructions, Value: 1100}, {Unit: results.PctCounted, Value: 60}}, nothing)
		}
		// Less than reading the counters takes is nothing.
		counts[head].Include([]results.Metric{{Unit: results.Instructions, Value: 40}, {Unit: results.PageFaults, Value: 3}}, nothing)
		test.Counts.Add(counts, []Key{down, again, head})
	}
	all := test.Counted(Filter{})
	if len(all) != 2 || all[0].Op != "ffn_down" || all[1].Op != "output" {
		t.Fatalf("%+v", all)
	}
	// Of both blocks, per token: 1000 and 1000 instructions, and half of the passes' 0 to 5 for each of the tokens.
	if got := all[0].Values[results.Instructions]; got.Center != 2002.5 || got.Lo != 2000 || got.Hi != 2005 {
		t.Errorf("instructions %+v", got)
	}
	if n, ok := all[0].PerCycle(); !ok || n != 2.0025 {
		t.Errorf("%v instructions for each cycle, %v", n, ok)
	}
	if got := all[0].Values[results.PctCounted].Center; got != 60 {
		t.Errorf("counted %v%% of the time, want the least", got)
	}
	if got := all[1].Values[results.PageFaults].Center; got != 1.5 || all[1].Values[results.Instructions].Center != 0 {
		t.Errorf("the head: %+v", all[1].Values)
	}
	if _, ok := all[1].PerCycle(); ok {
		t.Error("instructions for each cycle without cycles")
	}
	units, zero := CountedUnits(all)
	if !slices.Equal(units, []string{results.Cycles, results.Instructions, results.PageFaults, results.PctCounted}) || zero != nil {
		t.Errorf("units %q, 0 everywhere %q", units, zero)
	}
	block := test.Counted(Filter{Blocks: []int{0}, Ops: []string{"ffn_down"}})
	if len(block) != 1 || math.Abs(block[0].Values[results.Cycles].Center-500) > 1e-9 {
		t.Errorf("of block 0: %+v", block)
	}
	if units, zero := CountedUnits([]OperationCount{{Values: map[string]noise.Figure{results.Migrations: {}}}}); units != nil || !slices.Equal(zero, []string{results.Migrations}) {
		t.Errorf("units %q, 0 everywhere %q", units, zero)
	}
}

package cases

import (
	"maps"
	"slices"
	"testing"
	"time"

	"onebit/bench/profile"
	"onebit/models/engine"
)

// An operation that the clock can hardly tell from nothing is reported once
// passes enough are added up.
func TestShortOperationsAreSummed(t *testing.T) {
	const step = 15 * time.Millisecond
	var sums operationTotals
	reported := map[string][]int{}
	for range passes {
		var spans operationSpans
		spans.Observe(engine.Op{Name: "attn", Duration: 150 * step, Bytes: 6})
		spans.Observe(engine.Op{Name: "attn", Duration: 50 * step, Bytes: 4})
		spans.Observe(engine.Op{Name: "attn_norm", Duration: 40 * step, Bytes: 7})
		spans.Observe(engine.Op{Name: "rope", Duration: step})
		pass := profile.Pass{Duration: 240 * step, Spans: spans}
		sums.add(pass.Costs())
		for _, total := range sums.take(spanSteps * step) {
			reported[total.Op] = append(reported[total.Op], total.passes)
			if per := total.time / time.Duration(total.passes); total.time < spanSteps*step || per != 200*step && per != 40*step {
				t.Errorf("%s: %v in %d passes", total.Op, total.time, total.passes)
			}
			if each := map[string]int{"attn": 10, "attn_norm": 7}[total.Op]; total.bytes != each*total.passes {
				t.Errorf("%s: %d bytes in %d passes", total.Op, total.bytes, total.passes)
			}
		}
	}
	want := map[string][]int{"attn": {1, 1, 1, 1, 1, 1}, "attn_norm": {3, 3}}
	if !maps.EqualFunc(reported, want, slices.Equal) {
		t.Errorf("reported after so many passes: %v, want %v", reported, want)
	}
}

package cases

import (
	"maps"
	"slices"
	"testing"
	"time"

	"onebit/bench/names"
	"onebit/models/engine"
)

// What a pass spends outside of its operations is an operation too, so that
// all add up to the pass. A clock that reads operations too long leaves none.
func TestOperationsAddUp(t *testing.T) {
	for _, test := range []struct{ pass, want time.Duration }{{10, 3}, {7, 0}, {5, 0}} {
		ops := newOperationTimes()
		ops.Observe(engine.Op{Block: 0, Name: "attn", Duration: 1})
		ops.Observe(engine.Op{Block: 0, Name: "attn", Duration: 2})
		ops.Observe(engine.Op{Block: engine.Outside, Name: "output", Duration: 4})
		ops.rest(test.pass)
		if got := ops.total[operationKey{engine.Outside, names.Unattributed}].time; got != test.want {
			t.Errorf("a pass of %d: %d is unattributed, want %d", test.pass, got, test.want)
		}
	}
}

// An operation that the clock can hardly tell from nothing is reported once
// passes enough are added up.
func TestShortOperationsAreSummed(t *testing.T) {
	const step = 15 * time.Millisecond
	sums, reported := newOperationTimes(), map[string][]int{}
	for range passes {
		pass := newOperationTimes()
		pass.Observe(engine.Op{Name: "attn", Duration: 200 * step, Bytes: 10})
		pass.Observe(engine.Op{Name: "attn_norm", Duration: 40 * step, Bytes: 7})
		pass.Observe(engine.Op{Name: "rope", Duration: step})
		sums.add(pass)
		for _, total := range sums.take(spanSteps * step) {
			reported[total.name] = append(reported[total.name], total.passes)
			if per := total.time / time.Duration(total.passes); total.time < spanSteps*step || per != 200*step && per != 40*step {
				t.Errorf("%s: %v in %d passes", total.name, total.time, total.passes)
			}
			if total.name == "attn_norm" && total.bytes != 7*total.passes {
				t.Errorf("%s: %d bytes in %d passes", total.name, total.bytes, total.passes)
			}
		}
	}
	want := map[string][]int{"attn": {1, 1, 1, 1, 1, 1}, "attn_norm": {3, 3}}
	if !maps.EqualFunc(reported, want, slices.Equal) {
		t.Errorf("reported after so many passes: %v, want %v", reported, want)
	}
}

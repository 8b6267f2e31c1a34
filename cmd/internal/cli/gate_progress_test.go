package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"onebit/bench/gate"
)

// A log has a line every half minute, also of a gate that only waits, and none
// after its end.
func TestGateSigns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := NewGateSigns(&log, "building")
		time.Sleep(61 * time.Second)
		s.Show(gate.Progress{Doing: "measure", Round: 4, Undecided: 2, All: 3, Elapsed: 61 * time.Second, Budget: 2 * time.Minute})
		time.Sleep(30 * time.Second)
		s.Close()
		s.Close()
		time.Sleep(time.Hour)
		const want = "after 30s: building\nafter 1m0s: building\nafter 1m30s: 59s left, round 5, measure, 2 of 3 undecided\n"
		if log.String() != want {
			t.Errorf("%q, want %q", log.String(), want)
		}
	})
}

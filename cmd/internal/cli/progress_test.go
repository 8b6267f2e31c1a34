package cli

import (
	"bytes"
	"testing"
	"time"

	"onebit/bench"
)

// Where no bar can be drawn, a line every 30 seconds tells that the program lives.
func TestSignsOfLife(t *testing.T) {
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	var log bytes.Buffer
	wait := func(d time.Duration, show func()) string {
		t.Helper()
		now = now.Add(d)
		log.Reset()
		show()
		return log.String()
	}
	run := BenchProgress{signs: NewSigns(&log, clock)}
	show := func() {
		run.Show(bench.Progress{Group: "q1_0_g128", Doing: "round 3", Left: 90 * time.Second, Done: 1, Total: 5})
	}
	const line = "1m30s left, q1_0_g128, round 3\n"
	for i, tt := range []struct {
		after time.Duration
		want  string
	}{{0, ""}, {29 * time.Second, ""}, {time.Second, line}, {time.Millisecond, ""}, {29 * time.Second, ""}, {time.Second, line}, {4 * time.Minute, line}} {
		if got := wait(tt.after, show); got != tt.want {
			t.Errorf("%d: after %v: %q, want %q", i, tt.after, got, tt.want)
		}
	}
	files := &written{NewSigns(&log, clock), "convert", 3 << 20, 0}
	if got := wait(time.Minute, func() { files.Write(make([]byte, 1<<20)) }); got != "convert: 1 MiB of 3 MiB\n" {
		t.Errorf("a file: %q", got)
	}
	runs := Counter{signs: NewSigns(&log, clock), what: "runs", total: 12}
	if got := wait(time.Minute, func() { runs.Set(5) }); got != "runs: 5 of 12\n" {
		t.Errorf("a counter: %q", got)
	}
}

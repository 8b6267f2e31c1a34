package sysinfo

import (
	"strings"
	"testing"
	"time"
)

const procStat = `cpu  300 30 60 9000 40 6 9 5 200 0
cpu0 100 10 20 3000 15 2 3 1 100 0
cpu1 200 20 40 6000 25 4 6 4 100 0
intr 12345 0 9
ctxt 67890
`

func TestCPUTimes(t *testing.T) {
	all := func(int) bool { return true }
	for _, tc := range []struct {
		name, stat   string
		usable       func(int) bool
		busy, stolen time.Duration
		err          string
	}{
		{"all CPUs", procStat, all, 4050 * time.Millisecond, 50 * time.Millisecond, ""},
		{"one of them", procStat, func(cpu int) bool { return cpu == 1 }, 2700 * time.Millisecond, 40 * time.Millisecond, ""},
		{"none of them", procStat, func(cpu int) bool { return cpu == 7 }, 0, 0, "no line of a CPU"},
		{"empty", "", all, 0, 0, "no line of a CPU"},
		{"short", "cpu0 1 2 3\n", all, 0, 0, "cpu0 has 3 numbers, want 8"},
		{"nonsense", "cpu0 1 2 3 4 5 6 7 many\n", all, 0, 0, `"many" is no number`},
		{"negative", "cpu0 1 2 3 4 5 6 7 -8\n", all, 0, 0, `"-8" is no number`},
		{"huge", "cpu0 1 2 3 4 5 6 7 99999999999\n", all, 0, 0, "is no number"},
	} {
		busy, stolen, err := cpuTimes(tc.stat, tc.usable)
		if busy != tc.busy || stolen != tc.stolen || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v and %v, %v; want %v and %v, %q", tc.name, busy, stolen, err, tc.busy, tc.stolen, tc.err)
		}
	}
}

func TestOwnTimeGrows(t *testing.T) {
	before := ReadCPUTime()
	if !before.OK() {
		t.Skip(before.Err)
	}
	for x, start := 1.0, time.Now(); time.Since(start) < 50*time.Millisecond; x++ {
		_ = x * x
	}
	spent := ReadCPUTime().V.Sub(before.V)
	if spent.Own <= 0 || spent.Busy < 0 || spent.Stolen < 0 {
		t.Errorf("%+v spent by a loop", spent)
	}
}

func TestProcessTime(t *testing.T) {
	for stat, want := range map[string]time.Duration{
		"7 (one bit) 5) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 9 9 20 0 1 0 100": 3 * time.Second,
		"7 (x) R 1 7 7 0 -1 0 0 0 0 0 0 0":                                      0,
	} {
		if got, err := processTime(stat); got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", stat, got, err, want)
		}
	}
	for _, stat := range []string{"", "7 (x", "7 (x) R 1 7", "7 (x) R 1 7 7 0 -1 0 0 0 0 0 many 0", "7 (x) R 1 7 7 0 -1 0 0 0 0 0 -1 0"} {
		if got, err := processTime(stat); err == nil {
			t.Errorf("%q: %v and no error", stat, got)
		}
	}
}

package require

import (
	"fmt"
	"runtime"
	"testing"
)

type recorder struct{ got string }

func (r *recorder) Helper()                      {}
func (r *recorder) Fatalf(f string, args ...any) { r.got += "fatal " + fmt.Sprintf(f, args...) + "\n" }
func (r *recorder) Skipf(f string, args ...any)  { r.got += "skip " + fmt.Sprintf(f, args...) + "\n" }

func TestSkip(t *testing.T) {
	t.Setenv(variable, "avx2,chromium")
	for what, want := range map[string]string{
		"chromium": "fatal ONEBIT_REQUIRE names chromium: no browser\nskip chromium: no browser\n",
		"chrom":    "skip chrom: no browser\n",
		"fma,avx2": "fatal ONEBIT_REQUIRE names avx2: no browser\nskip fma,avx2: no browser\n",
		"fma,neon": "skip fma,neon: no browser\n",
		"":         "skip : no browser\n",
	} {
		var r recorder
		Skip(&r, what, "no browser")
		if r.got != want {
			t.Errorf("%q: %q, want %q", what, r.got, want)
		}
	}
}

// Procs are there during the test, and as before after it.
func TestProcs(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Run("more", func(t *testing.T) {
		if Procs(t, before+3); runtime.GOMAXPROCS(0) != before+3 {
			t.Errorf("GOMAXPROCS %d, want %d", runtime.GOMAXPROCS(0), before+3)
		}
		if Procs(t, 1); runtime.GOMAXPROCS(0) != before+3 {
			t.Errorf("GOMAXPROCS %d after asking for less, want %d", runtime.GOMAXPROCS(0), before+3)
		}
	})
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("GOMAXPROCS %d after the test, want %d", got, before)
	}
}

func TestEmulated(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": true} {
		if t.Setenv(emulated, value); Emulated() != want {
			t.Errorf("%s=%q: %t", emulated, value, Emulated())
		}
	}
}

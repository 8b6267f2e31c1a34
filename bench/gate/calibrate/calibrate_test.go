package calibrate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/internal/require"
)

func embedded(t *testing.T, kind string) *Noise {
	t.Helper()
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewNoise(all[kind]...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// On recorded noise the gate alarms no more often than it promises, and finds
// what is much slower. A chance of 1% exceeds 3 of 60 in one of 300 runs, and 1 of 6
// in one of 700; the seed is always the same.
func TestErrorRates(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of gates")
	}
	gates, most := 6, 1
	if require.All() {
		gates, most = 60, 3
	}
	rates, err := Replay(t.Context(), embedded(t, "quiet"), Options{Gates: gates, Sizes: []float64{0, 0.1}, Budget: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	same, slower := rates[0], rates[1]
	if same.Alarm.Of != gates || same.Alarm.Count > most {
		t.Errorf("%d of %d gates on the same code claim a difference, want at most %d of %d", same.Alarm.Count, same.Alarm.Of, most, gates)
	}
	if found := slower.Slowed[gate.Slower]; found.Of != gates*Slowed || found.Value() < 0.75 {
		t.Errorf("10%% are found in %v of the cases, want more than 75%%", found)
	}
	if hidden := slower.Slowed[gate.Same]; hidden.Value() > 0.02 {
		t.Errorf("10%% are called the same in %v of the cases", hidden)
	}
	if alone := same.Slowed[gate.Slower]; alone.Of != 0 {
		t.Errorf("%d slower cases where nothing is slower", alone.Of)
	}
}

// The same seed gives the same rates.
func TestReplayIsReproducible(t *testing.T) {
	noise := embedded(t, "quiet")
	var seen []string
	for range 2 {
		rates, err := Replay(t.Context(), noise, Options{Gates: 2, Sizes: []float64{0.05}, Budget: time.Minute, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprint(rates[0].Slowed, rates[0].Others, rates[0].Rivals, rates[0].Seconds))
	}
	if seen[0] != seen[1] {
		t.Errorf("twice the same replay:\n%s\n%s", seen[0], seen[1])
	}
}

// The exact intervals of Clopper and Pearson, whose bounds for no case in n are
// 0 and 1 − 0.025^(1/n).
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		share  Share
		lo, hi float64
	}{
		{Share{0, 200}, 0, 1 - math.Pow(0.025, 1.0/200)},
		{Share{200, 200}, math.Pow(0.025, 1.0/200), 1},
		{Share{2, 10}, 0.02521, 0.55610}, // R: binom.test(2, 10)
	} {
		if lo, hi := c.share.Interval(); math.Abs(lo-c.lo) > 1e-5 || math.Abs(hi-c.hi) > 1e-5 {
			t.Errorf("%v: [%v, %v], want [%v, %v]", c.share, lo, hi, c.lo, c.hi)
		}
	}
}

func TestRecordingIsReadBack(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all["quiet"] {
		var file bytes.Buffer
		if _, err := r.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		again, err := Read(file.Bytes(), "again")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Header, r.Header) || fmt.Sprint(again.Measurements) != fmt.Sprint(r.Measurements) {
			t.Error("a recording differs from itself when it was written and read")
		}
	}
}

func TestBadRecordings(t *testing.T) {
	head := strings.Join(columns, ",") + "\n"
	for text, want := range map[string]string{
		"":                                     "no recording of a gate",
		"a,b\n":                                "no recording of a gate",
		head:                                   "nothing below",
		head + "Sort,x,0,base,1,0,1,1,0,0\n":   "measurement 1",
		head + "Sort,0,0,side,1,0,1,1,0,0\n":   `"side" is no side`,
		head + "Sort,0,0,base,1,-4,1,1,0,0\n":  "start-us -4 is out of range",
		head + "Sort,0,0,base,1,0,1,one,0,0\n": "measurement 1",
	} {
		var file bytes.Buffer
		z := gzip.NewWriter(&file)
		z.Write([]byte(text))
		z.Close()
		if _, err := Read(file.Bytes(), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: err = %v, want %q", text, err, want)
		}
	}
	if _, err := Read([]byte("text"), "f"); err == nil || !strings.Contains(err.Error(), "f is no recording") {
		t.Errorf("no gzip: err = %v", err)
	}
	if _, err := NewNoise(&Recording{}); err == nil {
		t.Error("noise of nothing is no error")
	}
}

// Every variant builds, has the benchmarks, and differs only in what it says.
func TestModule(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		require.Skip(t, "go", "there is no go command")
	}
	names, err := Benchmarks()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 20 {
		t.Errorf("%d benchmarks, want 20", len(names))
	}
	for _, v := range []Variant{{}, {Units: map[string]int{"Sort": 206}}, {Moved: 7}} {
		dir := t.TempDir()
		if _, err := WriteModule(dir, v); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "test", "-run=Idle", "-bench=^Benchmark(Sort|Float)$", "-benchtime=1x")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("BenchmarkSort")) || !bytes.Contains(out, []byte("BenchmarkFloat")) {
			t.Errorf("%+v: %v: %s", v, err, out)
		}
	}
}

func TestUnitsOfAVariant(t *testing.T) {
	source := []byte("const (\n\tunitsSort = 200\n\tunitsMap  = 200\n)\n")
	want := "const (\n\tunitsSort = 206\n\tunitsMap  = 200\n)\n"
	if got := string(Variant{Units: map[string]int{"Sort": 206}}.units(source)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

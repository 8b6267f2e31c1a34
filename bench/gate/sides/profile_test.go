package sides

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/require"
)

// spinning has a benchmark of two functions; the second does times as much in head.
func spinning(t *testing.T, times string) *Module {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/spin\n\ngo 1.22\n",
		"spin_test.go": `package spin

import "testing"

var sink uint64

//go:noinline
func steady(n int) (x uint64) {
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func planted(n int) (x uint64) {
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func BenchmarkSpin(b *testing.B) {
	b.Run("size=1/odd name", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			sink += steady(20000) + planted(20000*` + times + `)
		}
	})
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return &Module{Dir: dir}
}

// Profiles of real programs name the function that became slower.
func TestProfileNamesThePlantedFunction(t *testing.T) {
	if testing.Short() || !require.All() {
		t.Skip("builds test binaries and profiles them: ONEBIT_ALL=1 does")
	}
	if _, err := exec.LookPath("go"); err != nil {
		require.Skip(t, "go", "there is no go command")
	}
	tests := &Tests{Base: spinning(t, "1"), Head: spinning(t, "6"), Running: Running{Temp: t.TempDir()}}
	both, _, err := tests.Find(t.Context())
	if err != nil || len(both) != 1 {
		t.Fatalf("%v, %v", both, err)
	}
	if err := tests.Prepare(t.Context(), 0, both); err != nil {
		t.Fatal(err)
	}
	report := &gate.Report{Findings: []gate.Finding{
		{Benchmark: both[0], Unit: results.NsPerOp, Verdict: gate.Slower, Base: []float64{40e3}, Head: []float64{140e3}},
	}}
	all, err := gate.ProfileSlower(t.Context(), tests, report, gate.ProfileOptions{Dir: t.TempDir(), Most: 2, Time: 2 * time.Second, Left: time.Minute})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d profiles, %v", len(all), err)
	}
	if first := all[0].Functions[0]; first.Name != "example.com/spin.planted" || !first.Clear() || first.Change() < 50e3 {
		t.Errorf("the first of %+v is not the planted function", all[0].Functions)
	}
}

package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/history"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/render"
)

// keep writes results and their sidecar into a folder, as the command does, and returns their path.
func keep(t testing.TB, res *results.Set, side Sidecar) string {
	t.Helper()
	dir := t.TempDir()
	res.Settings = append(res.Settings, side.Settings()...)
	files := []doc.File{side.File(), {Name: "results.txt", Write: res.Write}}
	for _, f := range files {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "results.txt")
}

// readBack reads a results file as the command report does.
func readBack(t testing.TB, path string) *Source {
	t.Helper()
	fleet, err := results.ReadFleet(t.Context(), results.File{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return &Source{Paths: []string{path}, Machines: fleet.Machines, Warnings: fleet.Warnings}
}

// page is a document's index.html.
func page(t testing.TB, d *doc.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := printDoc(&b, d, "html", render.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSidecarMakesThePageAgain(t *testing.T) {
	p, res := profileFixture()
	k, timed := kernelPageFixture()
	timed.Samples = []results.Sample{{Name: results.ParseName(k.Runs[0].Name), Iters: 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: 100}}}}
	h, dir := historyFixture(t, 3, 40), t.TempDir()
	old, slow := filepath.Join(dir, "old.txt"), filepath.Join(dir, "slow.txt")
	for path, text := range map[string]string{old: "BenchmarkSort 1 100 ns/op\nBenchmarkSort 1 101 ns/op\n", slow: "BenchmarkSort 1 500 ns/op\nBenchmarkSort 1 501 ns/op"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Compare(t.Context(), CompareOptions{Filter: ".name:Sort"}, "a="+old, slow)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]func() *doc.Document{
		keep(t, res, Sidecar{"profile", p}):        func() *doc.Document { return ProfileDocument(p, res, profiles.Filter{}) },
		keep(t, new(results.Set), h.Sidecar()):     h.Document,
		keep(t, new(results.Set), c.Sidecar(true)): func() *doc.Document { return c.Document(true) },
		keep(t, timed, Sidecar{"kernel", k}):       func() *doc.Document { return KernelDocument(k, timed) },
	} {
		d, err := Build(t.Context(), readBack(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := page(t, d), page(t, want()); got != want {
			t.Errorf("%s: another page: %d bytes, want %d", d.Title, len(got), len(want))
		}
	}
}

// What a sidecar says is checked before a report indexes by it.
func TestBadSidecar(t *testing.T) {
	p, res := profileFixture()
	p.Tests[0].Threads = 1 << 40
	_, err := Build(t.Context(), readBack(t, keep(t, res, Sidecar{"profile", p})))
	if err == nil || !strings.Contains(err.Error(), "profile.gob: test") {
		t.Errorf("threads: %v", err)
	}
	k, res := kernelPageFixture()
	k.Functions[0].Loop.Last = 3
	_, err = Build(t.Context(), readBack(t, keep(t, res, Sidecar{"kernel", k})))
	if err == nil || !strings.Contains(err.Error(), "a loop from line 1 to 3 of 3") {
		t.Errorf("loop: %v", err)
	}
	for text, spoil := range map[string]func(*HistoryView){
		"machine 7 of 1": func(v *HistoryView) { v.Series[0].Machine = 7 },
		"40 values":      func(v *HistoryView) { v.Series[0].At = nil },
		"beyond the 40":  func(v *HistoryView) { v.Series[0].At[39] = 40 },
		"alpha -1":       func(v *HistoryView) { v.Options.Alpha = -1 },
	} {
		v := historyFixture(t, 3, 40)
		spoil(&v)
		if _, err = Build(t.Context(), readBack(t, keep(t, new(results.Set), v.Sidecar()))); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// No other file is read in the place of one that is missing.
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	side := Sidecar{"compare", compared{Old: comparedFile{Path: file.Name()}}}
	if _, err = Build(t.Context(), readBack(t, keep(t, new(results.Set), side))); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("no text: %v", err)
	}
	for _, name := range []string{"", "../profile.gob", "/etc/passwd", "none.gob"} {
		path := filepath.Join(t.TempDir(), "results.txt")
		if err := os.WriteFile(path, []byte("report: profile\nsidecar: "+name+"\nBenchmarkA 1 1 ns/op\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Build(t.Context(), readBack(t, path)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzSidecar shows whatever a sidecar holds: none may make a report panic or hang.
func FuzzSidecar(f *testing.F) {
	p, _ := profileFixture()
	k, _ := kernelPageFixture()
	var v HistoryView
	v.History = &history.History{Machines: []string{"a"}, Points: make([]history.Point, 12), Series: []history.Series{{
		Case: history.Case{Name: "Sort", Unit: results.NsPerOp}, Better: -1, At: []int32{0, 1, 2, 3, 4, 5}, Values: []float64{1, 1, 1, 2, 2, 2}, Files: []int32{1, 1, 1, 1, 1, 1},
	}}}
	text := comparedFile{Path: "a", Text: []byte("BenchmarkSort 1 100 ns/op\n")}
	for _, side := range []Sidecar{{"profile", p}, {"kernel", k}, v.Sidecar(), {"compare", compared{Old: text, New: text}}} {
		var b bytes.Buffer
		if err := side.File().Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(side.Kind, b.Bytes())
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		side := Sidecar{Kind: kind}
		dir := t.TempDir()
		if !strings.Contains("profile kernel history compare", kind) || os.WriteFile(filepath.Join(dir, side.name()), data, 0o666) != nil {
			return
		}
		res := &results.Set{Settings: side.Settings()}
		if d, err := Build(t.Context(), &Source{Paths: []string{filepath.Join(dir, "results.txt")}, Machines: []*results.Set{res}}); err == nil {
			page(t, d)
		}
	})
}

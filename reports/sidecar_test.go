package reports_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/gate"
	"onebit/bench/history"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/reports"
	"onebit/reports/compare"
	"onebit/reports/doc"
	gatepage "onebit/reports/gate"
	historypage "onebit/reports/history"
	"onebit/reports/profile"
	"onebit/reports/render"
	"onebit/reports/reportstest"
	"onebit/reports/training"
)

// A remade report is what a command shows, and the files from which report makes it again.
type remade struct {
	shown *doc.Document
	paths []string
}

// remadeRun is a run of benchmarks, on one machine or several.
func remadeRun(t *testing.T, machines ...*results.Set) remade {
	t.Helper()
	s := reportstest.Made(machines...)
	for _, res := range machines {
		s.Paths = append(s.Paths, writeFiles(t, doc.File{Name: "results.txt", Write: res.Write}))
	}
	d, err := reports.Build(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return remade{d, s.Paths}
}

func remadeComparison(t *testing.T) remade {
	t.Helper()
	fast := &results.Set{Samples: []results.Sample{{Name: results.ParseName("Sort"), Iters: 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: 100}}}}}
	slow := &results.Set{Samples: []results.Sample{{Name: results.ParseName("Sort"), Iters: 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: 500}}}}}
	path := writeFiles(t, doc.File{Name: "old.txt", Write: fast.Write}, doc.File{Name: "new.txt", Write: slow.Write})
	c, err := compare.Files(t.Context(), compare.Options{Filter: ".name:Sort"}, "a="+filepath.Join(filepath.Dir(path), "old.txt"), path)
	if err != nil {
		t.Fatal(err)
	}
	return remade{c.Document(true), []string{keep(t, new(results.Set), c.Sidecar(true))}}
}

func remadeGate(t *testing.T) remade {
	t.Helper()
	file := madeGate(8, 1, uniform(0.01, 0.01))()[0]
	path := writeFiles(t, doc.File{Name: file.Name, Write: func(w io.Writer) error { _, err := w.Write(file.Data); return err }})
	res, err := gate.ReadResults(bytes.NewReader(file.Data), path)
	if err != nil {
		t.Fatal(err)
	}
	res.Folder = filepath.Dir(path)
	return remade{gatepage.Document(res), []string{path}}
}

func trainingFixture() *results.Set {
	return training.Results([]training.Point{{Step: 2, Loss: 5.5, HeldOut: 7.25}, {Step: 4, Loss: 5, HeldOut: 6.5}},
		training.Score{BitsPerByte: 6.25, Perplexity: 140}, training.Score{BitsPerByte: 5, Perplexity: 90}, results.Setting{Key: "model", Value: "small <b>"}, results.Setting{Key: "recipe", Value: "1 block"})
}

// everyKind has a report of each kind.
func everyKind(t *testing.T) map[string]remade {
	t.Helper()
	p, profiled := reportstest.ProfileFixture()
	k, timed := reportstest.KernelPageFixture()
	timed.Samples = []results.Sample{{Name: results.ParseName(k.Runs[0].Name), Iters: 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: 100}}}}
	past, trends, between := reportstest.HistoryFixture(t, 3, 40)
	h := historypage.View{History: past, Trends: trends, Between: between}
	kernels, models := reportstest.Set(t, reportstest.Small().Results()), reportstest.Set(t, reportstest.SmallModels().Results())
	there := *kernels
	there.Settings = append([]results.Setting{{Key: results.HostKey, Value: "there"}}, kernels.Settings...)
	there.Samples = kernels.Samples[1:] // a file with the samples of another is left out
	all := map[string]remade{
		"kernels": remadeRun(t, kernels), "models": remadeRun(t, models), "machine": remadeRun(t, reportstest.MachineFile(t, 2, 1)), "fleet": remadeRun(t, kernels, &there),
		"gate": remadeGate(t), "compare": remadeComparison(t), "history": {h.Document(), []string{keep(t, new(results.Set), h.Sidecar())}},
	}
	all["training"] = remadeRun(t, trainingFixture())
	path := keep(t, profiled, reports.Sidecar{Kind: "profile", Of: p})
	all["profile"] = remade{profile.Document(p, profiled, profiles.Filter{}), []string{path}}
	path = keep(t, timed, reports.Sidecar{Kind: "kernel", Of: k})
	all["kernel"] = remade{profile.KernelDocument(k, timed), []string{path}}
	return all
}

// Whatever its kind, a report is printed in every form, and its values are those of its kind.
func TestEveryKindHasEveryForm(t *testing.T) {
	said := map[string]string{ // in JSON
		"kernels": `"vs_best"`, "models": `"vs_best"`, "machine": `"cases"`, "fleet": `"machines"`, "gate": `"findings"`, "compare": `"verdict"`,
		"history": `"changes"`, "profile": `"could_be_won"`, "kernel": `"cycles_per_128_weights"`, "training": `"bits/byte"`,
	}
	for kind, r := range everyKind(t) {
		d, err := reports.Build(t.Context(), readBack(t, r.paths...))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		for _, p := range render.Printers() {
			var b bytes.Buffer
			if err := p.Print(t.Context(), &b, d, render.Options{Width: 80}); err != nil || b.Len() < 60 {
				t.Errorf("%s as %s: %d bytes, %v", kind, p.Name, b.Len(), err)
			}
			switch p.Name {
			case "json":
				if said[kind] == "" || !json.Valid(b.Bytes()) || !strings.Contains(b.String(), said[kind]) {
					t.Errorf("%s: the JSON is not valid, or lacks %q", kind, said[kind])
				}
			case "csv", "samples":
				if lines, err := csv.NewReader(&b).ReadAll(); err != nil || len(lines) < 2 {
					t.Errorf("%s as %s: %d lines, %v", kind, p.Name, len(lines), err)
				}
			}
		}
		if len(d.First) == 0 || d.First[0].Verdict == "" && d.First[0].Table == nil {
			t.Errorf("%s has no first screen", kind)
		}
	}
}

// Whatever its kind, a report is made again from the files in its folder, byte for byte.
func TestEveryKindIsMadeAgain(t *testing.T) {
	all := everyKind(t)
	for _, kind := range reports.Kinds() {
		if kind.Name == "tides" {
			continue // this test's own
		}
		r, ok := all[kind.Name]
		if !ok {
			t.Errorf("%s: its page is not made again here", kind.Name)
			continue
		}
		s := readBack(t, r.paths...)
		if !kind.Recognise(s) {
			t.Errorf("%s: does not recognise its own files", kind.Name)
			continue
		}
		d, err := reports.Build(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", kind.Name, err)
			continue
		}
		if got, want := page(t, d), page(t, r.shown); got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%s: from byte %d on the page is another: %.200q, want %.200q", kind.Name, at, got[at:], want[at:])
		}
	}
}

// What a sidecar says is checked before a report indexes by it.
func TestBadSidecar(t *testing.T) {
	p, res := reportstest.ProfileFixture()
	p.Tests[0].Threads = 1 << 30
	_, err := reports.Build(t.Context(), readBack(t, keep(t, res, reports.Sidecar{Kind: "profile", Of: p})))
	if err == nil || !strings.Contains(err.Error(), "profile.gob: test") {
		t.Errorf("threads: %v", err)
	}
	k, res := reportstest.KernelPageFixture()
	k.Functions[0].Loop.Last = 3
	_, err = reports.Build(t.Context(), readBack(t, keep(t, res, reports.Sidecar{Kind: "kernel", Of: k})))
	if err == nil || !strings.Contains(err.Error(), "a loop from line 1 to 3 of 3") {
		t.Errorf("loop: %v", err)
	}
	for text, spoil := range map[string]func(*historypage.View){
		"machine 7 of 1": func(v *historypage.View) { v.Series[0].Machine = 7 },
		"40 values":      func(v *historypage.View) { v.Series[0].At = nil },
		"beyond the 40":  func(v *historypage.View) { v.Series[0].At[39] = 40 },
		"alpha -1":       func(v *historypage.View) { v.Options.Alpha = -1 },
	} {
		h, trends, between := reportstest.HistoryFixture(t, 3, 40)
		v := historypage.View{History: h, Trends: trends, Between: between}
		spoil(&v)
		if _, err = reports.Build(t.Context(), readBack(t, keep(t, new(results.Set), v.Sidecar()))); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// No other file is read in the place of one that is missing.
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	side := reports.Sidecar{Kind: "compare", Of: comparedFiles{Old: comparedFile{Path: file.Name()}}}
	if _, err = reports.Build(t.Context(), readBack(t, keep(t, new(results.Set), side))); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("no text: %v", err)
	}
	for _, name := range []string{"", "../profile.gob", "/etc/passwd", "none.gob"} {
		path := filepath.Join(t.TempDir(), "results.txt")
		if err := os.WriteFile(path, []byte("report: profile\nsidecar: "+name+"\nBenchmarkA 1 1 ns/op\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := reports.Build(t.Context(), readBack(t, path)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// comparedFiles is what the sidecar of a comparison holds.
type (
	comparedFiles struct{ Old, New comparedFile }
	comparedFile  struct {
		Path string
		Text []byte
	}
)

// FuzzSidecar shows whatever a sidecar holds: none may make a report panic or hang.
func FuzzSidecar(f *testing.F) {
	p, _ := reportstest.ProfileFixture()
	k, _ := reportstest.KernelPageFixture()
	var v historypage.View
	v.History = &history.History{Machines: []string{"a"}, Points: make([]history.Point, 12), Series: []history.Series{{
		Case: history.Case{Name: "Sort", Unit: results.NsPerOp}, Better: -1, At: []int32{0, 1, 2, 3, 4, 5}, Values: []float64{1, 1, 1, 2, 2, 2}, Files: []int32{1, 1, 1, 1, 1, 1},
	}}}
	text := comparedFile{Path: "a", Text: []byte("BenchmarkSort 1 100 ns/op\n")}
	for _, side := range []reports.Sidecar{{Kind: "profile", Of: p}, {Kind: "kernel", Of: k}, v.Sidecar(), {Kind: "compare", Of: comparedFiles{Old: text, New: text}}} {
		var b bytes.Buffer
		if err := side.File().Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(side.Kind, b.Bytes())
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		side := reports.Sidecar{Kind: kind}
		dir := t.TempDir()
		if !strings.Contains("profile kernel history compare", kind) || os.WriteFile(filepath.Join(dir, side.File().Name), data, 0o666) != nil {
			return
		}
		res := &results.Set{Settings: side.Settings()}
		if d, err := reports.Build(t.Context(), &reports.Source{Paths: []string{filepath.Join(dir, "results.txt")}, Machines: []*results.Set{res}}); err == nil {
			page(t, d)
		}
	})
}

// keep writes results and their sidecar into a folder, as the command does, and returns their path.
func keep(t testing.TB, res *results.Set, side reports.Sidecar) string {
	t.Helper()
	res.Settings = append(res.Settings, side.Settings()...)
	return writeFiles(t, side.File(), doc.File{Name: "results.txt", Write: res.Write})
}

// writeFiles writes files into a folder, and returns the path of the last.
func writeFiles(t testing.TB, files ...doc.File) (path string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// readBack reads results files as the command report does.
func readBack(t testing.TB, paths ...string) *reports.Source {
	t.Helper()
	var files []results.File
	for _, path := range paths {
		files = append(files, results.File{Path: path})
	}
	fleet, err := results.ReadFleet(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	return &reports.Source{Paths: paths, Machines: fleet.Machines, Warnings: fleet.Warnings}
}

// page is a document's index.html.
func page(t testing.TB, d *doc.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := reportstest.PrintDoc(&b, d, "html", render.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

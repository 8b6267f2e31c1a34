package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	for path, want := range map[string]func() *doc.Document{
		keep(t, res, Sidecar{"profile", p}):  func() *doc.Document { return ProfileDocument(p, res, profiles.Filter{}) },
		keep(t, timed, Sidecar{"kernel", k}): func() *doc.Document { return KernelDocument(k, timed) },
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
	for _, side := range []Sidecar{{"profile", p}, {"kernel", k}} {
		var b bytes.Buffer
		if err := side.File().Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(side.Kind, b.Bytes())
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		side := Sidecar{Kind: kind}
		dir := t.TempDir()
		if !strings.Contains("profile kernel", kind) || os.WriteFile(filepath.Join(dir, side.name()), data, 0o666) != nil {
			return
		}
		res := &results.Set{Settings: side.Settings()}
		if d, err := Build(t.Context(), &Source{Paths: []string{filepath.Join(dir, "results.txt")}, Machines: []*results.Set{res}}); err == nil {
			page(t, d)
		}
	})
}

package reports_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// TestGoldenFleet holds the comparison of machines to its goldens.
func TestGoldenFleet(t *testing.T) {
	require.Unplayed(t, "a page is the same wherever it is written")
	fleet := goldenFleet(t)
	for _, kind := range []string{"table", "markdown"} {
		k, _ := render.Named(kind)
		var b bytes.Buffer
		if err := reportstest.Print(t.Context(), &b, k.Name, fleet.Machines...); err != nil {
			t.Fatal(err)
		}
		reportstest.CheckGolden(t, "golden-fleet."+k.Extension, b.Bytes())
	}
	var b bytes.Buffer
	if err := reportstest.PrintDoc(&b, reportstest.DocOf(t, fleet.Machines...), "table", render.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	reportstest.CheckGolden(t, "golden-fleet-80.txt", b.Bytes())
}

// goldenFleet is of real runs; testdata/README says how they were made.
func goldenFleet(t *testing.T) *results.Fleet {
	t.Helper()
	var files []results.File
	for _, name := range []string{"two-cpus", "two-cpus-again", "one-cpu", "purego", "emulated"} {
		files = append(files, results.File{Path: filepath.Join("testdata", "fleet", name+".txt")})
	}
	fleet, err := results.ReadFleet(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

// TestFleetInBrowser opens the page of several machines on a phone and on a desk.
func TestFleetInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	require.Turns(t, "TestReportInBrowser", "TestFleetInBrowser")
	b := openBrowser(t)
	dir := t.TempDir()
	machines := []*results.Set{
		reportstest.Derived(t), reportstest.Derived(t, reportstest.Setting("cpu", "Another Vendor's CPU of a Long Name, 64 Cores"), reportstest.TimesAs(1.5)),
		reportstest.Derived(t, reportstest.Setting("host", "board"), reportstest.TimesAs(9), reportstest.Without("variant=avx512vnni"), reportstest.Setting("isa-unavailable", "avx512vnni")),
		reportstest.Derived(t, reportstest.Setting("host", "qemu"), reportstest.Setting("emulated", "true")),
	}
	if err := reportstest.Write(t.Context(), dir, render.FolderOptions{}, machines...); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "index.html")
	for _, width := range require.Draw(t, 2, []int64{320, 390, 1280}) {
		for _, scheme := range []string{"light", "dark"} {
			b.load(t, page, width, scheme)
			eval[bool](t, b, `document.querySelectorAll("details").forEach((d) => { d.open = true }), true`)
			if wide := eval[int64](t, b, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("the page is %d pixels wide in a window of %d", wide, width)
			}
		}
	}
	testReferences(t, b)
	b.check(t)
}

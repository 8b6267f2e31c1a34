package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/reports"
	"onebit/reports/render"
)

// writeResults is a run that writes some texts into a folder.
func writeResults(t *testing.T, dir string, texts ...string) {
	t.Helper()
	f, err := createResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != content {
			t.Errorf("%s: %q (%v), want %q", name, got, err, content)
		}
	}
}

// Runs that end before their first sample replace nothing, however many.
func TestResultsWithoutSamples(t *testing.T) {
	dir := t.TempDir()
	first, second := "seed: 1\nBenchmarkA 1 1 ns/op\n", "seed: 2\nBenchmarkA 1 2 ns/op\n"
	writeResults(t, dir, first)
	writeResults(t, dir, second)
	page := `<meta name="generator" content="onebit">`
	writeFileText(t, filepath.Join(dir, "index.html"), page)
	for range 3 {
		writeResults(t, dir, "seed: 3\n", "Unit ns/op better=lower\n", "--- FAIL: BenchmarkB\n    wrong\n")
	}
	writeResults(t, dir)
	wantFiles(t, dir, map[string]string{resultsName: second, oldName: first, "index.html": page})
}

// The first sample makes the file results.txt, which loses no line before it,
// and nothing else in the folder is of another run.
func TestResultsWithSamples(t *testing.T) {
	dir := t.TempDir()
	writeResults(t, dir, "BenchmarkA 1 1 ns/op\n")
	writeFileText(t, filepath.Join(dir, "index.html"), `<meta name="generator" content="onebit">`)
	writeFileText(t, filepath.Join(dir, "notes.html"), "mine")
	f, err := createResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"seed: 1\n", "# process 1\nBenchmarkA 1 2 ns/op\n", "BenchmarkA 1 3 ns/op\n"} {
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
		// What a crash now would leave.
		if named := filepath.Base(f.path()) == resultsName; named != (i > 0) {
			t.Errorf("after %q the file is %s", text, f.path())
		}
	}
	wantFiles(t, dir, map[string]string{
		resultsName: "seed: 1\n# process 1\nBenchmarkA 1 2 ns/op\nBenchmarkA 1 3 ns/op\n",
		oldName:     "BenchmarkA 1 1 ns/op\n", "notes.html": "mine",
	})
	if _, err := os.Stat(filepath.Join(dir, "index.html")); !os.IsNotExist(err) {
		t.Errorf("the page of the run before: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A page that onebit did not write stays.
func TestForeignPage(t *testing.T) {
	dir := t.TempDir()
	writeFileText(t, filepath.Join(dir, "index.html"), "mine")
	writeResults(t, dir, "BenchmarkA 1 1 ns/op\n")
	wantFiles(t, dir, map[string]string{"index.html": "mine"})
}

func writeFileText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestFolderInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	f, err := createResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = createResults(dir)
	if want := fmt.Sprintf("report is in use by another onebit (process %d): ", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a second run into the folder: %v, want %q", err, want)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a run that wrote nothing leaves its folder: %v", err)
	}
	writeResults(t, dir, "BenchmarkA 1 1 ns/op\n")
	wantFiles(t, dir, map[string]string{resultsName: "BenchmarkA 1 1 ns/op\n"})
}

// What takes the folder's name during a run is not written to: not by the results,
// and not by the report beside them.
func TestFolderReplacedByLink(t *testing.T) {
	dir, theirs := filepath.Join(t.TempDir(), "report"), t.TempDir()
	writeFileText(t, filepath.Join(theirs, resultsName), "theirs")
	f, err := createResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	moved := dir + ".moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Skip("the system does not rename a folder that is open: ", err, f.Close())
	}
	if err := os.Symlink(theirs, dir); err != nil {
		t.Skip("no links here: ", err, f.Close())
	}
	const text = "BenchmarkMatVec/format=a/variant=x/rows=2/cols=2 1 5 ns/op\n"
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	res, err := results.Read(strings.NewReader(text), resultsName)
	if err != nil {
		t.Fatal(err)
	}
	d, err := reports.Build(t.Context(), &reports.Source{Machines: []*results.Set{res}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(render.Folder(t.Context(), dir, d, f.options(false)), f.Close()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(theirs); err != nil || len(left) != 1 {
		t.Errorf("%d files in the folder of others (%v)", len(left), err)
	}
	wantFiles(t, theirs, map[string]string{resultsName: "theirs"})
	wantFiles(t, moved, map[string]string{resultsName: text})
	if _, err := os.Stat(filepath.Join(moved, "index.html")); err != nil {
		t.Error(err)
	}
}

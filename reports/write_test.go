package reports_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// writeFormats writes a report of formats into dir: a latency plot each.
func writeFormats(t *testing.T, dir string, opt render.FolderOptions, formats ...string) error {
	t.Helper()
	var text strings.Builder
	for _, f := range formats {
		text.WriteString("BenchmarkMatVec/format=" + f + "/variant=x/rows=2/cols=2 1 5 ns/op\n")
	}
	return reportstest.Write(t.Context(), dir, opt, reportstest.Set(t, []byte(text.String())))
}

func TestWriteRemovesOlderPlots(t *testing.T) {
	dir := t.TempDir()
	if err := writeFormats(t, dir, render.FolderOptions{}, "a", "b"); err != nil {
		t.Fatal(err)
	}
	plot := func(name string) string { return filepath.Join(dir, "plots", name) }
	if err := os.WriteFile(plot("mine.png"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeFormats(t, dir, render.FolderOptions{}, "a"); err != nil {
		t.Fatal(err)
	}
	if exists(plot("latency-matvec-b.png")) || !exists(plot("latency-matvec-a.png")) || !exists(plot("mine.png")) {
		t.Error("want the plot of a and the one that is not onebit's, and not that of b")
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := render.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if exists(plot("latency-matvec-a.png")) || exists(filepath.Join(dir, "index.html")) || !exists(plot("mine.png")) {
		t.Error("Remove: want the file that is not onebit's alone")
	}
}

func TestWriteKeepsForeignPage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.html")
	const mine = "<html>my own page</html>"
	if err := os.WriteFile(path, []byte(mine), 0o666); err != nil {
		t.Fatal(err)
	}
	err := writeFormats(t, dir, render.FolderOptions{}, "a")
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--force") {
		t.Errorf("error %v, want one that names the page and --force", err)
	}
	if page, err := os.ReadFile(path); err != nil || string(page) != mine || exists(filepath.Join(dir, "plots")) {
		t.Errorf("the page is %q (%v), and there may be plots; want nothing changed", page, err)
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := render.Remove(folder); err != nil || !exists(path) {
		t.Errorf("Remove removed the page (%v)", err)
	}
	if err := writeFormats(t, dir, render.FolderOptions{Force: true}, "a"); err != nil || render.Replaceable(dir) != nil {
		t.Errorf("with force: %v; replaceable now: %v", err, render.Replaceable(dir))
	}
}

// lateContext is cancelled when it is asked for the n-th time.
type lateContext struct {
	context.Context
	n int
}

func (c *lateContext) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestRenderEndsWithItsContext(t *testing.T) {
	res := reportstest.Set(t, reportstest.Small().Results())
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range render.Printers() {
		if err := reportstest.Print(cancelled, io.Discard, k.Name, res); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", k.Name, err)
		}
	}
	// Between two figures, with nothing left of what was to be.
	dir := t.TempDir()
	if err := reportstest.Write(&lateContext{t.Context(), 4}, dir, render.FolderOptions{}, res); !errors.Is(err, context.Canceled) || exists(filepath.Join(dir, "index.html")) {
		t.Errorf("Write: %v, want the context's error and no page", err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

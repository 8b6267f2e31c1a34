package reports

import (
	"bytes"
	"context"
	"errors"
	"io"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/render"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// writeFormats writes a report of formats into dir: a latency plot each.
func writeFormats(t *testing.T, dir string, opt WriteOptions, formats ...string) error {
	t.Helper()
	var text strings.Builder
	for _, f := range formats {
		text.WriteString("BenchmarkMatVec/format=" + f + "/variant=x/rows=2/cols=2 1 5 ns/op\n")
	}
	return Write(t.Context(), dir, fixture(t, []byte(text.String())), opt)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestWriteRemovesOlderPlots(t *testing.T) {
	dir := t.TempDir()
	if err := writeFormats(t, dir, WriteOptions{}, "a", "b"); err != nil {
		t.Fatal(err)
	}
	plot := func(name string) string { return filepath.Join(dir, "plots", name) }
	if err := os.WriteFile(plot("mine.png"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeFormats(t, dir, WriteOptions{}, "a"); err != nil {
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
	err := writeFormats(t, dir, WriteOptions{}, "a")
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
	if err := writeFormats(t, dir, WriteOptions{Force: true}, "a"); err != nil || render.Replaceable(dir) != nil {
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
	res := fixture(t, small().results())
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range Formats() {
		if err := k.Render(cancelled, io.Discard, res); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", k.Name, err)
		}
	}
	// Between two figures, with nothing left of what was to be.
	dir := t.TempDir()
	if err := Write(&lateContext{t.Context(), 4}, dir, res, WriteOptions{}); !errors.Is(err, context.Canceled) || exists(filepath.Join(dir, "index.html")) {
		t.Errorf("Write: %v, want the context's error and no page", err)
	}
}

// TestLargeResultsHaveASmallPage renders more cases and figures than a page should hold.
func TestLargeResultsHaveASmallPage(t *testing.T) {
	var text strings.Builder
	for format := range 40 {
		for rows := range 100 {
			name := "format=f" + exactNumber(float64(format)) + "/variant=x/rows=" + exactNumber(float64(rows+1)) + "/cols=2"
			text.WriteString("BenchmarkMatVec/" + name + " 1 5 ns/op\n")
		}
	}
	var page bytes.Buffer
	res := fixture(t, []byte(text.String()))
	d := &doc.Document{}
	d.Add(newDigest(res).caseSections()...)
	d.Add(chart[kernelReport]{name: "latency", heading: "Latency", about: "About."}.section(slices.Repeat([]*figure.Figure{{Height: 100, Panels: [][]*figure.Panel{{nil}}}}, 28), nil))
	if err := printDoc(&page, d, "html", render.Options{}); err != nil {
		t.Fatal(err)
	}
	if rows, heads := strings.Count(page.String(), "<tr"), strings.Count(page.String(), "<thead>"); heads != 1 || rows-heads != maxRows {
		t.Errorf("%d rows below %d heads in a page that should hold the rows of %d cases", rows-heads, heads, maxRows)
	}
	if n := strings.Count(page.String(), "<figure>"); n != maxFigures {
		t.Errorf("%d figures, want %d", n, maxFigures)
	}
	for _, want := range []string{"4000 cases", "the first 1000", "--format csv", "The first 12 of 28 figures"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestFiguresAreEnough: neither many figures nor high ones make a page long.
func TestFiguresAreEnough(t *testing.T) {
	figures := func(n int, height vg.Length) []*figure.Figure {
		return slices.Repeat([]*figure.Figure{{Height: height}}, n)
	}
	for _, tt := range []struct{ n, height, want int }{{3, 100, 3}, {40, 100, maxFigures}, {12, maxHeight / 3, 3}, {2, 2 * maxHeight, 1}} {
		if got := len(enough(figures(tt.n, vg.Length(tt.height)))); got != tt.want {
			t.Errorf("%d figures of %d points: %d are drawn, want %d", tt.n, tt.height, got, tt.want)
		}
	}
	if got := spreadOver([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}, 3); !slices.Equal(got, []int{0, 4, 8}) {
		t.Errorf("spreadOver kept %v", got)
	}
}

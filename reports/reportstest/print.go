package reportstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/render"
	"onebit/reports/words"
)

func WriteTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Finishes fails the test if f takes longer than any machine needs.
func Finishes(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("not finished after %v", limit)
	}
}

// DrawCoarsely rasterizes a figure of any size in few pixels: what is far off costs as
// much as it does in many.
func DrawCoarsely(f *figure.Figure) {
	img := vgimg.NewWith(vgimg.UseWH(figure.Width, f.FullHeight()), vgimg.UseDPI(18))
	f.Draw(draw.New(img))
}

// Wants reports what a text lacks.
func Wants(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("lacks %q", w)
		}
	}
}

// SheetRows are a sheet's texts, row by row, heads first.
func SheetRows(s *doc.Table) [][]string {
	var head []string
	for _, c := range s.Columns {
		head = append(head, c.Label)
	}
	rows := [][]string{head}
	for _, row := range s.Rows {
		var texts []string
		for _, c := range row {
			text := c.Line()
			if c.Best {
				text += " *"
			}
			texts = append(texts, text)
		}
		rows = append(rows, texts)
	}
	return rows
}

func CheckSheet(t *testing.T, s *doc.Table, want [][]string) {
	t.Helper()
	got := SheetRows(s)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("no row %q", want[i])
		case i >= len(want):
			t.Errorf("row %q too many", got[i])
		case !slices.Equal(got[i], want[i]):
			t.Errorf("row %q, want %q", got[i], want[i])
		}
	}
}

// PrintMade prints the report of machines' results in a form.
func PrintMade(t *testing.T, b *bytes.Buffer, form string, opt render.Options, machines ...*results.Set) {
	t.Helper()
	if err := PrintTo(t.Context(), b, form, opt, &reports.Source{Machines: machines}); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
}

func PrintTo(ctx context.Context, w io.Writer, form string, opt render.Options, s *reports.Source) error {
	d, err := reports.Build(ctx, s)
	if err != nil {
		return err
	}
	printer, _ := render.Named(form)
	return printer.Print(ctx, w, d, opt)
}

// Made is a source of results.
func Made(machines ...*results.Set) *reports.Source { return &reports.Source{Machines: machines} }

// writeReport writes a report's folder.
func writeReport(ctx context.Context, dir string, opt render.FolderOptions, machines ...*results.Set) error {
	d, err := reports.Build(ctx, Made(machines...))
	if err != nil {
		return err
	}
	return render.Folder(ctx, dir, d, opt)
}

// DocOf is the document of machines' results.
func DocOf(t testing.TB, machines ...*results.Set) *doc.Document {
	t.Helper()
	d, err := reports.Build(t.Context(), Made(machines...))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The forms of a report, as tests ask for them.

type TableOptions struct {
	Width, Top int
	Brief      bool
}

func WriteTable(w io.Writer, res *results.Set, opt TableOptions) error {
	s := Made(res)
	s.Top = opt.Top
	return PrintTo(context.Background(), w, "table", render.Options{Width: opt.Width, Brief: opt.Brief}, s)
}

func WriteMarkdown(w io.Writer, res *results.Set) error {
	return PrintTo(context.Background(), w, "markdown", render.Options{}, Made(res))
}

func WriteJSON(w io.Writer, res *results.Set) error {
	return PrintTo(context.Background(), w, "json", render.Options{}, Made(res))
}

func WriteCSV(w io.Writer, res *results.Set) error {
	return PrintTo(context.Background(), w, "csv", render.Options{}, Made(res))
}

func WriteSamplesCSV(w io.Writer, res *results.Set) error {
	return PrintTo(context.Background(), w, "samples", render.Options{}, Made(res))
}

func WriteHTML(ctx context.Context, w io.Writer, res *results.Set) error {
	return PrintTo(ctx, w, "html", render.Options{}, Made(res))
}

type WriteOptions = render.FolderOptions

func Write(ctx context.Context, dir string, res *results.Set, opt WriteOptions) error {
	return writeReport(ctx, dir, opt, res)
}

func WriteFleet(ctx context.Context, dir string, f *results.Fleet, opt WriteOptions) error {
	return writeReport(ctx, dir, opt, f.Machines...)
}

const (
	PageName = "index.html"
	pageMark = `<meta name="generator" content="onebit">`
)

// A Format prints results in one form.
type Format struct{ render.Printer }

func (k Format) Render(ctx context.Context, w io.Writer, res *results.Set) error {
	return PrintTo(ctx, w, k.Name, render.Options{}, Made(res))
}

func (k Format) RenderFleet(ctx context.Context, w io.Writer, f *results.Fleet) error {
	return PrintTo(ctx, w, k.Name, render.Options{}, Made(f.Machines...))
}

func Formats() (all []Format) {
	for _, p := range render.Printers() {
		all = append(all, Format{p})
	}
	return all
}

func FormatNamed(name string) (Format, bool) {
	p, ok := render.Named(name)
	return Format{p}, ok
}

func PrintDoc(w io.Writer, d *doc.Document, form string, opt render.Options) error {
	p, _ := render.Named(form)
	return p.Print(context.Background(), w, d, opt)
}

// FirstText is a first screen in sentences.
func FirstText(f doc.First) string {
	return words.Sentences(f.Verdict, f.NumberText(), f.Why)
}

// RenderAll renders every kind and the whole report, and returns the page.
func RenderAll(t *testing.T, text string) string {
	t.Helper()
	res := Set(t, []byte(text))
	var page bytes.Buffer
	for _, k := range Formats() {
		var b bytes.Buffer
		if err := k.Render(t.Context(), &b, res); err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		if k.Name == "html" {
			page = b
		}
	}
	if require.All() && !RaceDetector { // else the page has drawn the same figures as SVG
		if err := Write(t.Context(), t.TempDir(), res, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return page.String()
}

// RaceDetector is whether it makes the drawing of pictures slow. It sees
// Write's threads in TestFiguresHaveTheirOwnFiles.
var RaceDetector bool

// AaPairs are pairs of arms that differ by 2% in every round. Their floor, which takes the 2% for
// chance, is then 1.6%.
func AaPairs(rounds int) string {
	var b strings.Builder
	for pair := range 5 {
		for range rounds {
			fmt.Fprintf(&b, "BenchmarkAA/MatVec/format=f%d/variant=x/arm=a 1 100 ns/op\nBenchmarkAA/MatVec/format=f%[1]d/variant=x/arm=b 1 102 ns/op\n", pair)
		}
	}
	return b.String()
}

// Page is a document's index.html.
func Page(t testing.TB, d *doc.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := PrintDoc(&b, d, "html", render.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

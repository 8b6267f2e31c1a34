package reportstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

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

// PrintMade is Print with options, and fails the test if that is impossible.
func PrintMade(t *testing.T, b *bytes.Buffer, form string, opt render.Options, machines ...*results.Set) {
	t.Helper()
	if err := printTo(t.Context(), b, form, opt, &reports.Source{Machines: machines}); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
}

// Print prints the report of machines' results in a form.
func Print(ctx context.Context, w io.Writer, form string, machines ...*results.Set) error {
	return printTo(ctx, w, form, render.Options{}, Made(machines...))
}

func printTo(ctx context.Context, w io.Writer, form string, opt render.Options, s *reports.Source) error {
	d, err := reports.Build(ctx, s)
	if err != nil {
		return err
	}
	printer, _ := render.Named(form)
	return printer.Print(ctx, w, d, opt)
}

// Made is a source of results.
func Made(machines ...*results.Set) *reports.Source { return &reports.Source{Machines: machines} }

// Write writes a report's folder.
func Write(ctx context.Context, dir string, opt render.FolderOptions, machines ...*results.Set) error {
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
	return printTo(context.Background(), w, "table", render.Options{Width: opt.Width, Brief: opt.Brief}, s)
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
	for _, k := range render.Printers() {
		var b bytes.Buffer
		if err := Print(t.Context(), &b, k.Name, res); err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		if k.Name == "html" {
			page = b
		}
	}
	if require.All() && !RaceDetector { // else the page has drawn the same figures as SVG
		if err := Write(t.Context(), t.TempDir(), render.FolderOptions{}, res); err != nil {
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

// DrawCoarsely rasterizes a figure of any size in few pixels: what is far off costs as
// much as it does in many.
func DrawCoarsely(f *figure.Figure) {
	img := vgimg.NewWith(vgimg.UseWH(figure.Width, f.FullHeight()), vgimg.UseDPI(18))
	f.Draw(draw.New(img))
}

package reports

import (
	"bytes"
	"context"
	"io"
	"testing"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/render"
)

// printMade prints the report of machines' results in a form.
func printMade(t *testing.T, b *bytes.Buffer, form string, opt render.Options, machines ...*results.Set) {
	t.Helper()
	if err := printTo(t.Context(), b, form, opt, &Source{Machines: machines}); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
}

func printTo(ctx context.Context, w io.Writer, form string, opt render.Options, s *Source) error {
	d, err := Build(ctx, s)
	if err != nil {
		return err
	}
	printer, _ := render.Named(form)
	return printer.Print(ctx, w, d, opt)
}

// made is a source of results.
func made(machines ...*results.Set) *Source { return &Source{Machines: machines} }

// writeReport writes a report's folder.
func writeReport(ctx context.Context, dir string, opt render.FolderOptions, machines ...*results.Set) error {
	d, err := Build(ctx, made(machines...))
	if err != nil {
		return err
	}
	return render.Folder(ctx, dir, d, opt)
}

// docOf is the document of machines' results.
func docOf(t testing.TB, machines ...*results.Set) *doc.Document {
	t.Helper()
	d, err := Build(t.Context(), made(machines...))
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
	s := made(res)
	s.Top = opt.Top
	return printTo(context.Background(), w, "table", render.Options{Width: opt.Width, Brief: opt.Brief}, s)
}

func WriteMarkdown(w io.Writer, res *results.Set) error {
	return printTo(context.Background(), w, "markdown", render.Options{}, made(res))
}

func WriteJSON(w io.Writer, res *results.Set) error {
	return printTo(context.Background(), w, "json", render.Options{}, made(res))
}

func WriteCSV(w io.Writer, res *results.Set) error {
	return printTo(context.Background(), w, "csv", render.Options{}, made(res))
}

func WriteSamplesCSV(w io.Writer, res *results.Set) error {
	return printTo(context.Background(), w, "samples", render.Options{}, made(res))
}

func WriteHTML(ctx context.Context, w io.Writer, res *results.Set) error {
	return printTo(ctx, w, "html", render.Options{}, made(res))
}

type WriteOptions = render.FolderOptions

func Write(ctx context.Context, dir string, res *results.Set, opt WriteOptions) error {
	return writeReport(ctx, dir, opt, res)
}

func WriteFleet(ctx context.Context, dir string, f *results.Fleet, opt WriteOptions) error {
	return writeReport(ctx, dir, opt, f.Machines...)
}

const (
	pageName = "index.html"
	pageMark = `<meta name="generator" content="onebit">`
)

// A Format prints results in one form.
type Format struct{ render.Printer }

func (k Format) Render(ctx context.Context, w io.Writer, res *results.Set) error {
	return printTo(ctx, w, k.Name, render.Options{}, made(res))
}

func (k Format) RenderFleet(ctx context.Context, w io.Writer, f *results.Fleet) error {
	return printTo(ctx, w, k.Name, render.Options{}, made(f.Machines...))
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

func printDoc(w io.Writer, d *doc.Document, form string, opt render.Options) error {
	p, _ := render.Named(form)
	return p.Print(context.Background(), w, d, opt)
}

type CompareTextOptions struct {
	Width int
	All   bool
}

func (c *Comparison) WriteText(w io.Writer, opt CompareTextOptions) error {
	return printDoc(w, c.Document(opt.All), "table", render.Options{Width: opt.Width})
}

func (c *Comparison) WriteHTML(w io.Writer) error {
	return printDoc(w, c.Document(false), "html", render.Options{})
}

func WriteGateHTML(w io.Writer, res *gate.Results) error {
	return printDoc(w, GateDocument(res), "html", render.Options{})
}

func WriteGateTable(w io.Writer, res *gate.Results, width int) error {
	return printDoc(w, GateDocument(res), "table", render.Options{Width: width})
}

func WriteGateMarkdown(w io.Writer, res *gate.Results, limit int) error {
	return printDoc(w, GateDocument(res), "markdown", render.Options{Limit: limit})
}

func WriteHistoryTable(w io.Writer, v HistoryView, width int) error {
	return printDoc(w, v.Document(), "table", render.Options{Width: width})
}

// firstText is a first screen in sentences.
func firstText(f doc.First) string {
	return sentences(f.Verdict, f.NumberText(), f.Why)
}

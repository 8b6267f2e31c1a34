// Package render prints documents: a printer a file, each for every kind of report.
//
// Printers are pure functions of a [doc.Document]: the same document gives the same bytes. Text that came from a
// results file commands neither a terminal nor a browser.
package render

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"onebit/internal/ctxio"
	"onebit/reports/doc"
)

// Options shape what is printed.
type Options struct {
	Width int  // columns of the terminal; 0 means as wide as need be
	Brief bool // whether the first screen is enough, where there is one
	Limit int  // bytes of Markdown; 0 means any
}

// A Printer prints documents in one form.
type Printer struct {
	Name      string // html, markdown, table, csv, json, samples
	Extension string // of a file that holds it, without the dot
	About     string // in a few words, for people
	print     func(ctx context.Context, w io.Writer, d *doc.Document, opt Options) error
}

var registry []Printer

// register is called by the init function of each printer's file.
func register(p Printer) { registry = append(registry, p) }

// Printers lists the printers by name.
func Printers() []Printer {
	all := slices.Clone(registry)
	slices.SortFunc(all, func(a, b Printer) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Named returns the printer of a name; false if there is none.
func Named(name string) (Printer, bool) {
	i := slices.IndexFunc(registry, func(p Printer) bool { return p.Name == name })
	if i < 0 {
		return Printer{}, false
	}
	return registry[i], true
}

// Print prints a document. It ends at once with ctx.
func (p Printer) Print(ctx context.Context, w io.Writer, d *doc.Document, opt Options) error {
	return until(ctx, w, func(w io.Writer) error { return p.print(ctx, w, d, opt) })
}

// until does work that writes to w, and ends at once with ctx: what the work goes on to write then is for nothing.
func until(ctx context.Context, w io.Writer, work func(io.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var b bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- work(&b) }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if err == nil {
			_, err = b.WriteTo(ctxio.NewWriter(ctx, w))
		}
		return err
	}
}

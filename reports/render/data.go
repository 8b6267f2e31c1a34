package render

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"onebit/internal/term"
	"onebit/reports/doc"
)

func init() {
	register(Printer{"json", "json", "what the tables are made of, for programs", printJSON})
	register(Printer{"csv", "csv", "medians and intervals, a line per case and unit", func(_ context.Context, w io.Writer, d *doc.Document, _ Options) error { return d.Records.WriteCSV(w) }})
	register(Printer{"samples", "csv", "every sample as CSV, or the same as csv where a report keeps none", func(_ context.Context, w io.Writer, d *doc.Document, _ Options) error {
		if d.Samples == nil {
			return d.Records.WriteCSV(w)
		}
		return d.Samples.WriteCSV(w)
	}})
}

// printJSON writes one document, without what a terminal would obey.
func printJSON(_ context.Context, w io.Writer, d *doc.Document, _ Options) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(d.Data); err != nil {
		return err
	}
	_, err := w.Write(term.JSON(b.Bytes()))
	return err
}

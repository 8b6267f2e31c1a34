package render

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"onebit/internal/term"
	"onebit/reports/doc"
)

func init() {
	register(Printer{"json", "json", "what the tables are made of, for programs", printJSON})
	register(Printer{"csv", "csv", "medians and intervals, a line per case and unit", func(_ context.Context, w io.Writer, d *doc.Document, _ Options) error { return writeCSV(w, d.Records) }})
	register(Printer{"samples", "csv", "every sample as CSV, or the same as csv where a report keeps none", func(_ context.Context, w io.Writer, d *doc.Document, _ Options) error {
		if d.Samples == nil {
			return writeCSV(w, d.Records)
		}
		return writeCSV(w, d.Samples)
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

func writeCSV(w io.Writer, lines iter.Seq[[]string]) error {
	if lines == nil {
		return errors.New("this report has no values of that kind")
	}
	out := csv.NewWriter(w)
	for line := range lines {
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"onebit/internal/term"
)

// ColumnGap is how many blanks are between the columns of a table.
const ColumnGap = 2

// A Table prints aligned columns. Errors of the writer surface in flush.
type Table struct{ w *tabwriter.Writer }

// NewTable begins a table with a header, if one is given.
func NewTable(w io.Writer, header ...any) Table {
	t := Table{tabwriter.NewWriter(w, 0, 0, ColumnGap, ' ', 0)}
	if len(header) > 0 {
		t.Row(header...)
	}
	return t
}

// Row adds a row.
func (t Table) Row(cells ...any) {
	var texts []string
	for _, c := range cells {
		texts = append(texts, fmt.Sprint(c))
	}
	t.Texts(texts...)
}

// Texts adds a row of texts.
func (t Table) Texts(cells ...string) {
	// Without a trailing tab the last cell is not padded.
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// Flush prints the table.
func (t Table) Flush() error { return t.w.Flush() }

// PrintJSON prints a value, of which nothing commands a terminal.
func PrintJSON(w io.Writer, v any) error {
	var document bytes.Buffer
	e := json.NewEncoder(&document)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(term.JSON(document.Bytes()))
	return err
}

// Fixed prints a value to that many digits. A value that rounds to nothing has no sign:
// a divergence may be a hair below 0. One of ten digits before the point has an exponent.
func Fixed(digits int, value float64) string {
	if math.Abs(value) >= 1e9 {
		return strconv.FormatFloat(value, 'g', 6, 64)
	}
	text := strconv.FormatFloat(value, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

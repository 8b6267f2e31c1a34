package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"onebit/internal/term"
)

// A table prints aligned columns. Errors of the writer surface in flush.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, header ...any) table {
	t := table{tabwriter.NewWriter(w, 0, 0, columnGap, ' ', 0)}
	if len(header) > 0 {
		t.row(header...)
	}
	return t
}

func (t table) row(cells ...any) {
	var texts []string
	for _, c := range cells {
		texts = append(texts, fmt.Sprint(c))
	}
	t.texts(texts...)
}

func (t table) texts(cells ...string) {
	// Without a trailing tab the last cell is not padded.
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

func (t table) flush() error { return t.w.Flush() }

func shapeText(shape []int) string {
	var sides []string
	for _, n := range shape {
		sides = append(sides, strconv.Itoa(n))
	}
	return strings.Join(sides, "×")
}

func printJSON(w io.Writer, v any) error {
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

// fixed prints a value to so many digits. What rounds to nothing has no sign:
// a divergence may be a hair below 0. What has more digits before the point than
// anyone reads has an exponent.
func fixed(digits int, value float64) string {
	if math.Abs(value) >= 1e9 {
		return strconv.FormatFloat(value, 'g', 6, 64)
	}
	text := strconv.FormatFloat(value, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// wrapped splits a text into lines of at most width columns, before one of the
// characters in breaks; lines but the first have room for an indent of 4. A part
// without such a character stays whole. Without a width there is one line.
func wrapped(text string, width int, breaks string) (lines []string) {
	const indent = 4
	room := width
	for width > 0 && utf8.RuneCountInString(text) > room {
		runes := []rune(text)
		at := -1
		for i := 1; i < len(runes) && (i <= room || at < 0); i++ {
			if strings.ContainsRune(breaks, runes[i]) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		lines = append(lines, strings.TrimRight(string(runes[:at]), " "))
		text = strings.TrimLeft(string(runes[at:]), " ")
		room = width - indent
	}
	return append(lines, text)
}

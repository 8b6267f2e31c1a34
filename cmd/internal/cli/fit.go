package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const readable = 30 // columns of running text

// fitted makes the rows of a table, of which the first is the header, fit a
// width; 0 is any. It leaves out columns of drop, the first of them first, until
// the last has room for running text, and returns the names of those; what is
// still too long in the last column goes on in rows of its own.
func fitted(rows [][]string, width int, drop ...string) (fit [][]string, dropped []string) {
	fit = rows
	for _, name := range drop {
		if width == 0 || tableWidth(fit) <= width || lastRoom(fit, width) >= readable {
			break
		}
		i := slices.Index(fit[0], name)
		if i < 0 {
			continue // another table's
		}
		var narrower [][]string
		for _, row := range fit {
			narrower = append(narrower, slices.Delete(slices.Clone(row), i, i+1))
		}
		fit, dropped = narrower, append(dropped, name)
	}
	if width == 0 || tableWidth(fit) <= width {
		return fit, dropped
	}
	last := len(fit[0]) - 1
	room := max(1, lastRoom(fit, width))
	var out [][]string
	for _, row := range fit {
		for i, line := range Wrapped(row[last], room, " ") {
			cells := make([]string, last, last+1)
			if i == 0 {
				cells = slices.Clone(row[:last])
			}
			out = append(out, append(cells, line))
		}
	}
	return out, dropped
}

// lastRoom is what the other columns leave the last one of a width.
func lastRoom(rows [][]string, width int) int {
	return width - tableWidth(rows) + columnWidth(rows, len(rows[0])-1)
}

func columnWidth(rows [][]string, i int) (width int) {
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row[i]))
	}
	return width
}

func tableWidth(rows [][]string) int {
	width := -ColumnGap
	for i := range rows[0] {
		width += columnWidth(rows, i) + ColumnGap
	}
	return width
}

// Wrapped splits a text into lines of at most width columns, before one of the
// characters in breaks; lines but the first have room for an indent of 4. A part
// without such a character stays whole. Without a width there is one line.
func Wrapped(text string, width int, breaks string) (lines []string) {
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

// PrintFitted prints the rows as a table that fits the width, and returns the columns left out.
func PrintFitted(w io.Writer, rows [][]string, width int, drop ...string) (dropped []string, err error) {
	fit, dropped := fitted(rows, width, drop...)
	t := NewTable(w)
	for _, row := range fit {
		t.Texts(row...)
	}
	return dropped, t.Flush()
}

// PrintWrapped prints texts, each in as many lines as the width needs, with an indent of all
// but its first.
func PrintWrapped(w io.Writer, width int, indent string, texts ...string) error {
	for _, text := range texts {
		if _, err := fmt.Fprintln(w, strings.Join(Wrapped(text, width, " "), "\n"+indent)); err != nil {
			return err
		}
	}
	return nil
}

// Package term makes text that others wrote fit for a terminal: names of
// tensors, keys and files, units, settings, messages that hold them.
//
// Such text can command a terminal (control characters, of C1 too), show itself
// in another order (bidirectional controls), break a line (also as U+2028), hide
// (characters of no width) and be a megabyte long. What is not graphic in the
// sense of [unicode.IsGraphic] is escaped as in a Go string, and what is long is
// cut, with its length behind.
package term

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	longestName = 80   // bytes
	longestText = 2000 // bytes: more than any message of this program has
)

// Quote returns a name as it is if that is harmless, and otherwise as
// QuoteAlways does.
func Quote(name string) string {
	if len(name) <= 2*longestName && harmless(name) && !strings.HasPrefix(name, `"`) {
		return name
	}
	return QuoteAlways(name)
}

// QuoteAlways returns a name in quotation marks, as a Go string. Of a long one
// it is the beginning, with the name's length behind.
func QuoteAlways(name string) string {
	begin, rest := cut(name, longestName)
	return `"` + escape(begin, true) + `"` + rest
}

// Text returns as one line a text that may hold names. Line ends and tabs become
// spaces; what could do harm is escaped where it stands, the rest stays, without
// quotation marks.
func Text(text string) string {
	begin, rest := cut(text, longestText)
	if harmless(begin) {
		return begin + rest
	}
	return escape(spaces.Replace(begin), false) + rest
}

var spaces = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// Lines is Text for several lines, of which no more are shown than a screen has.
func Lines(text string) string {
	const most = 25
	lines := strings.SplitN(text, "\n", most+1)
	for i, line := range lines {
		lines[i] = Text(line)
	}
	if len(lines) > most {
		lines[most] = fmt.Sprintf("… (%d bytes)", len(text))
	}
	return strings.Join(lines, "\n")
}

// Clean is Text for a whole document, of which nothing is cut: line ends (as \n)
// and tabs stay.
func Clean(document []byte) []byte {
	return rewrite(bytes.ReplaceAll(document, []byte("\r\n"), []byte("\n")), unicode.IsGraphic, escaped)
}

func escaped(dst []byte, char string) []byte { return append(dst, escape(char, false)...) }

// JSON returns a JSON document that means the same, without characters that
// could do harm: within strings, the only place for them, they are escaped.
// encoding/json escapes only a few. Line ends and tabs between values stay.
func JSON(document []byte) []byte {
	return rewrite(document, unicode.IsGraphic, func(dst []byte, char string) []byte {
		for _, unit := range utf16.Encode([]rune(char)) {
			dst = fmt.Appendf(dst, `\u%04x`, unit)
		}
		return dst
	})
}

// rewrite replaces the characters of a document that are neither harmless nor line ends
// nor tabs.
func rewrite(document []byte, harmless func(rune) bool, replace func(dst []byte, char string) []byte) []byte {
	var out []byte
	kept := 0 // document[kept:] is not in out yet
	for at, size := 0, 0; at < len(document); at += size {
		var r rune
		r, size = utf8.DecodeRune(document[at:])
		if r == '\n' || r == '\t' || harmless(r) && !(r == utf8.RuneError && size == 1) {
			continue
		}
		out = replace(append(out, document[kept:at]...), string(document[at:at+size]))
		kept = at + size
	}
	if kept == 0 {
		return document
	}
	return append(out, document[kept:]...)
}

func harmless(s string) bool {
	for i, r := range s {
		if !unicode.IsGraphic(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return false
		}
	}
	return true
}

// escape writes what is not graphic as in a Go string; quoted ones have their
// quotation marks and backslashes escaped, too.
func escape(s string, quoted bool) string {
	var out []byte
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case quoted && (r == '"' || r == '\\'):
			out = append(out, '\\', byte(r))
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, s[0])
		case unicode.IsGraphic(r):
			out = append(out, s[:size]...)
		default:
			literal := strconv.QuoteRune(r)
			out = append(out, literal[1:len(literal)-1]...)
		}
		s = s[size:]
	}
	return string(out)
}

// cut returns the beginning of a long text, without half a character at its
// end, and what tells the reader so.
func cut(s string, most int) (begin, rest string) {
	if len(s) <= most {
		return s, ""
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], fmt.Sprintf("… (%d bytes)", len(s))
}

package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"onebit/internal/term"
)

// ParseFilter parses a filter; the empty one matches all. benchproc's parser takes an
// AND without a second term.
func ParseFilter(expr string) (*benchproc.Filter, error) {
	if expr == "" {
		expr = "*"
	}
	filter, err := benchproc.NewFilter(expr)
	if err != nil {
		return nil, err
	}
	// OR, which it does not take so, in their places.
	_, ands := filterTerms(expr)
	strict := []byte(expr)
	for _, at := range ands {
		copy(strict[at:], " OR")
	}
	if _, err := benchproc.NewFilter(string(strict)); err != nil {
		return nil, fmt.Errorf("%s: AND needs a term on each side", term.Quote(expr))
	}
	return filter, nil
}

// FilterNames reports whether a filter asks for values of a key, such as /variant.
func FilterNames(expr, key string) bool {
	terms, _ := filterTerms(expr)
	return slices.ContainsFunc(terms, func(t filterTerm) bool { return t.key == key && !t.negated })
}

// Matcher returns what tells whether a name matches an expression.
func Matcher(expr string) (func(name string) bool, error) {
	filter, err := ParseFilter(expr)
	if err != nil {
		return nil, err
	}
	return func(name string) bool {
		// A filter keeps measurements, so the name needs one to be kept by.
		res := &benchfmt.Result{Name: benchfmt.Name(name), Values: []benchfmt.Value{{Unit: "sec/op"}}}
		ok, _ := filter.Apply(res)
		return ok
	}, nil
}

// CheckFilter reports the first key of a filter that no name has, and the first
// value that no name has for its key: a typing error, which would silently
// match nothing. The error lists what there is. Keys in more, such as those of a
// file's header, may have any value.
func CheckFilter(expr string, names []Name, more ...string) error {
	if _, err := ParseFilter(expr); err != nil {
		return err
	}
	values := make(map[string][]string)
	keys := []string{".fullname"}
	add := func(key, value string) {
		if _, seen := values[key]; !seen {
			keys = append(keys, key)
		}
		if !slices.Contains(values[key], value) {
			values[key] = append(values[key], value)
		}
	}
	for _, n := range names {
		add(".name", n.Base)
		for _, k := range n.Keys {
			if k.Key != "" {
				add("/"+k.Key, k.Value)
			}
		}
	}
	terms, _ := filterTerms(expr)
	for _, t := range terms {
		switch {
		case slices.Contains(more, t.key):
		case !slices.Contains(keys, t.key):
			return fmt.Errorf("unknown key %s (known: %s)", term.Quote(t.key), listed(append(keys, more...)))
		default:
			matches, err := Matcher(t.text)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(names, func(n Name) bool { return matches(n.Full) }) {
				continue
			}
			what := strings.TrimLeft(t.key, "/.") + " " + term.Quote(t.value)
			if t.key == ".fullname" {
				return fmt.Errorf("no case has the %s", what)
			}
			return fmt.Errorf("no case has %s; there are: %s", what, listed(values[t.key]))
		}
	}
	return nil
}

// listed joins texts, the first of them if they are many.
func listed(texts []string) string {
	const most = 40
	var out []string
	for _, t := range texts[:min(most, len(texts))] {
		out = append(out, term.Quote(t))
	}
	if more := len(texts) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// A filterTerm is one key:value of a filter; key:(a OR b) are two.
type filterTerm struct {
	key   string // as the names have it
	value string // as the filter has it
	text  string // a filter of this term alone

	negated bool // by a - right before it
}

// filterTerms splits a filter that benchproc has parsed, which keeps the parts to
// itself. It returns where the operators AND are, too.
func filterTerms(expr string) (terms []filterTerm, ands []int) {
	var key, rawKey string
	inValues := false // between the parentheses of key:(…)
	negated := false
	for rest := expr; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			return terms, ands
		}
		if key != "" && rest[0] != '(' && rest[0] != ')' {
			word := rest[:filterWord(rest, true)]
			rest = rest[len(word):]
			if word != "OR" || !inValues {
				terms = append(terms, filterTerm{key, word, rawKey + ":" + word, negated})
			}
			if !inValues {
				key, negated = "", false
			}
			continue
		}
		if strings.ContainsRune("()-*", rune(rest[0])) {
			if inValues = key != "" && rest[0] == '('; !inValues {
				key = ""
				negated = rest[0] == '-'
			}
			rest = rest[1:]
			continue
		}
		word, at := rest[:filterWord(rest, false)], len(expr)-len(rest)
		rest = strings.TrimLeftFunc(rest[len(word):], unicode.IsSpace)
		if after, ok := strings.CutPrefix(rest, ":"); ok {
			rawKey, key, rest = word, word, after
			if unquoted, err := strconv.Unquote(word); err == nil {
				key = unquoted
			}
		} else if negated = false; word == "AND" {
			ands = append(ands, at)
		}
	}
}

// filterWord returns the length of the word that begins a text: bare, quoted,
// or, as a value, a regular expression. It is at least 1.
func filterWord(text string, value bool) int {
	switch {
	case text[0] == '"':
		if quoted, err := strconv.QuotedPrefix(text); err == nil {
			return len(quoted)
		}
	case text[0] == '/' && value:
		// Slashes within brackets don't end it, and benchproc knows which do.
		for i := 1; i < len(text); i++ {
			if text[i] != '/' {
				continue
			}
			if _, err := benchproc.NewFilter("key:" + text[:i+1]); err == nil {
				return i + 1
			}
		}
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("():@,", r) })
	if end < 0 {
		return len(text)
	}
	_, first := utf8.DecodeRuneInString(text)
	return max(end, first)
}

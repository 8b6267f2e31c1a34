package gate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// joinClosures gives closures one name on both sides, where two releases of Go
// have two: one that came into a function by inlining is F.G.func2 up to Go 1.26
// and G.func1 since. Names that both sides have stay. Times are by function, of
// base and head, and change together.
func joinClosures(sides [2][]map[string]float64) {
	names := [2]map[string][]string{lacking(sides[Base], sides[Head]), lacking(sides[Head], sides[Base])}
	for key, base := range names[Base] {
		head := names[Head][key]
		switch {
		case len(head) == 1:
			rename(sides[Base], base, head[0])
		case len(base) == 1 && len(head) > 1:
			rename(sides[Head], head, base[0])
		}
	}
}

// lacking are the closures that the other side has no time of, by what Go's
// releases agree in.
func lacking(side, other []map[string]float64) map[string][]string {
	all := map[string][]string{}
	for _, times := range side {
		for name := range maps.Keys(times) {
			key, ok := closureKey(name)
			if !ok || slices.Contains(all[key], name) || slices.ContainsFunc(other, func(m map[string]float64) bool { _, has := m[name]; return has }) {
				continue
			}
			all[key] = append(all[key], name)
		}
	}
	return all
}

func rename(side []map[string]float64, names []string, to string) {
	for _, times := range side {
		for _, name := range names {
			if t, ok := times[name]; ok {
				delete(times, name)
				times[to] += t
			}
		}
	}
}

// closureKey is the function that a closure stands in, and how deep.
func closureKey(name string) (key string, ok bool) {
	parts := nameParts(name)
	at := slices.IndexFunc(parts, func(p string) bool {
		number, is := strings.CutPrefix(p, "func")
		_, err := strconv.Atoi(number)
		return is && err == nil
	})
	if at < 1 {
		return "", false
	}
	key = parts[at-1]
	if at > 1 && strings.HasPrefix(parts[at-2], "(") {
		key = parts[at-2] + "." + key
	}
	return key + strings.Repeat(".func", len(parts)-at), true
}

// nameParts are a function's name at its dots, without its package's path; type
// arguments and receivers are whole.
func nameParts(name string) (parts []string) {
	depth, from := 0, 0
	for i, c := range name {
		switch {
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case depth > 0 || unicode.IsLetter(c):
		case c == '/':
			from, parts = i+1, nil
		case c == '.':
			parts = append(parts, name[from:i])
			from = i + 1
		}
	}
	return append(parts, name[from:])
}

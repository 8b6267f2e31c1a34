package results

import (
	"strings"
	"unicode"
)

// A Setting is one key and value of the results file's header.
type Setting struct{ Key, Value string }

// ValidKey reports whether a header may have a key.
func ValidKey(key string) bool {
	if key == "" || !unicode.IsLower([]rune(key)[0]) {
		return false
	}
	return !strings.ContainsFunc(key, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsUpper(r) || unicode.IsControl(r) || r == ':'
	})
}

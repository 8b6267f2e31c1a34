package term

import (
	"fmt"
	"strings"
)

// FileName makes a name that is safe as a file name and as an HTML id from parts that come from a
// results file.
func FileName(parts ...string) string {
	var b strings.Builder
	for _, r := range strings.Join(parts, "-") {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		case 'A' <= r && r <= 'Z':
			b.WriteRune(r - 'A' + 'a')
		case r == '×':
			b.WriteByte('x')
		default:
			b.WriteByte('-')
		}
		if b.Len() >= 80 {
			break
		}
	}
	return b.String()
}

// FileNames makes names unique: results whose names differ may have file names that don't.
type FileNames map[string]int

func (n FileNames) Unique(name string) string {
	if n[name]++; n[name] > 1 {
		return n.Unique(fmt.Sprintf("%s-%d", name, n[name]))
	}
	return name
}

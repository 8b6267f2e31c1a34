// Package count puts numbers before nouns.
package count

import (
	"fmt"
	"strings"
)

// Of returns "1 sample" and "3 samples" for the noun "sample", "2 studies" for
// "study". The noun may be a phrase that ends in one.
func Of[T int | int64](n T, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

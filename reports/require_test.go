package reports

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// skipUnlessRequired skips a test because this machine lacks something, or fails it where
// ONEBIT_REQUIRE, a comma-separated list, names what is lacking.
func skipUnlessRequired(t testing.TB, what, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("ONEBIT_REQUIRE"), ","), what) {
		t.Fatalf("ONEBIT_REQUIRE names %s: %s", what, why)
	}
	t.Skipf("%s: %s", what, why)
}

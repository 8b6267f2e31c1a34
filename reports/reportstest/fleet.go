package reportstest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"onebit/bench/results"
)

// An Edit derives the results of another machine from those of a real run.
type Edit func(text string) string

// Setting gives the header another value, or a line more.
func Setting(key, value string) Edit {
	line := regexp.MustCompile(`(?m)^` + key + `: .*\n`)
	return func(text string) string { return key + ": " + value + "\n" + line.ReplaceAllString(text, "") }
}

// Without drops the lines of benchmarks that match.
func Without(pattern string) Edit {
	line := regexp.MustCompile(`(?m)^Benchmark.*` + pattern + `.*\n`)
	return func(text string) string { return line.ReplaceAllString(text, "") }
}

// TimesAs makes all times so many times as long, and leaves the shares of the roofline as they were: what a
// slower machine does that the code uses as well.
func TimesAs(factor float64) Edit {
	time := regexp.MustCompile(`[0-9.e+]+ ns/op`)
	return func(text string) string {
		return time.ReplaceAllStringFunc(text, func(s string) string {
			ns, err := strconv.ParseFloat(strings.TrimSuffix(s, " ns/op"), 64)
			if err != nil {
				return s
			}
			return fmt.Sprintf("%g ns/op", ns*factor)
		})
	}
}

// Derived is testdata/results.txt, a real run, with edits.
func Derived(t testing.TB, edits ...Edit) *results.Set {
	t.Helper()
	text, err := os.ReadFile(Testdata("results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	for _, e := range edits {
		s = e(s)
	}
	return Set(t, []byte(s))
}

package kernels

import (
	"strings"
	"testing"

	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

// TestAdviceNamesItsScheme: a variant's name alone may mean another scheme to run.
func TestAdviceNamesItsScheme(t *testing.T) {
	d := digest.Of(reportstest.Set(t, []byte("BenchmarkMatVec/format=f/variant=v/act=q8_row/rows=2/cols=2/threads=1 1 5 ns/op\n")))
	if s := reportstest.DocOf(t, d.Results).First; len(s) != 1 || !strings.Contains(reportstest.FirstText(s[0]), "by v under q8_row with") {
		t.Errorf("%+v", s)
	}
}

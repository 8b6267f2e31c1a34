package term

import (
	"strings"
	"testing"
)

func TestFileNames(t *testing.T) {
	tests := []struct {
		parts []string
		want  string
	}{
		{[]string{"latency", "MatVec", "q1_0_g128 6144×2048"}, "latency-matvec-q1_0_g128-6144x2048"},
		{[]string{"samples", "../../etc/passwd"}, "samples-------etc-passwd"},
		{[]string{"x", "<a b=\"c\">"}, "x--a-b--c--"},
	}
	for _, tt := range tests {
		if got := FileName(tt.parts...); got != tt.want {
			t.Errorf("fileName(%q) = %q, want %q", tt.parts, got, tt.want)
		}
	}
	if got := FileName(strings.Repeat("long", 100)); len(got) > 100 {
		t.Errorf("a file name of %d characters", len(got))
	}
}

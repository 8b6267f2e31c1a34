package words

import (
	"testing"
)

func TestNaturalCompare(t *testing.T) {
	sorted := []string{"", "f16", "i2_s", "q1_0_g64", "q1_0_g128", "q2_0", "q16_0", "x01", "x1", "x1y"}
	for i, a := range sorted {
		for j, b := range sorted {
			got := Compare(a, b)
			if (i < j) != (got < 0) || (i == j) != (got == 0) {
				t.Errorf("naturalCompare(%q, %q) = %d", a, b, got)
			}
		}
	}
}

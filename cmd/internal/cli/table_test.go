package cli

import (
	"math"
	"testing"
)

func TestFixed(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.00", -0.001: "0.00", -0.006: "-0.01", 10: "10.00", -10: "-10.00",
		999999999: "999999999.00", 1.2345678e66: "1.23457e+66", -1e9: "-1e+09", math.Inf(1): "+Inf",
	} {
		if got := Fixed(2, v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

package count

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{{0, "sample", "0 samples"}, {1, "sample", "1 sample"}, {2, "sample", "2 samples"}, {1, "study", "1 study"}, {3, "study", "3 studies"}, {2, "A/A pair", "2 A/A pairs"}} {
		if got := Of(c.n, c.noun); got != c.want {
			t.Errorf("%d, %s: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 248302272: "248,302,272", -123456: "-123,456",
	} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestSignificant(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.12345: "0.123", 1.5: "1.50", 9.996: "10.0", 99.96: "100", 1512: "1512", -23.45: "-23.4", 12345678: "1.23e+07",
	} {
		if got := Significant(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

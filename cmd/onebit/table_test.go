package main

import "testing"

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 248302272: "248,302,272", -123456: "-123,456",
	} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// Names come from files that anyone may have made.
func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"blk.0.attn_q.weight": "blk.0.attn_q.weight",
		"größe":               "größe",
		"\x1b[2J":             `"\x1b[2J"`,
		"a\nb":                `"a\nb"`,
	} {
		if got := printable(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestFixed(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", -0.001: "0.00", -0.006: "-0.01", 10: "10.00", -10: "-10.00"} {
		if got := fixed(2, v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

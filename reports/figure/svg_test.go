package figure

import (
	"strings"
	"testing"
)

func TestCompactSVG(t *testing.T) {
	const grid, fill = `fill:none;stroke:var(--grid);stroke-width:0.7`, `fill:var(--s0)`
	path := func(d, style string) string { return `<path d="` + d + `" style="` + style + `" />` + "\n" }
	tests := []struct{ name, body, want string }{
		{"strokes join", path("M1.26,2L1.26,9", grid) + path("M1,4.04L7.55,4.04", grid),
			`<path d="M1.3,2V9M1,4H7.6" style="` + grid + `"/>` + "\n"},
		{"fills don't", path("M1,2L5,6L1,6Z", fill) + path("M1,2L5,6L1,6Z", fill),
			strings.Repeat(`<path d="M1,2L5,6H1Z" style="`+fill+`"/>`+"\n", 2)},
		{"arcs", path("M8.04,5A4,4 0 1 1 0,5.06L0,5.06Z", fill), `<path d="M8,5A4,4 0 1 1 0,5.1L0,5.1Z" style="` + fill + `"/>` + "\n"},
		{"exponents", path("M1e-07,2L1,2e+01", grid), `<path d="M0,2L1,20" style="` + grid + `"/>` + "\n"},
		{"a tick without a label", `<text x="1" y="2" style="s"> </text>` + "\n", ""},
		{"words keep their numbers", `<text x="1.234" y="-5.678" style="s">1.2345 ms</text>` + "\n", `<text x="1.2" y="-5.7" textLength="56.0" style="s">1.2345 ms</text>` + "\n"},
	}
	for _, tt := range tests {
		if got := CompactSVG(tt.body); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

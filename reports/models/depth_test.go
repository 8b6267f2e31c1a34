package models

import (
	"fmt"
	"strings"
	"testing"

	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

// deepRun is a run of a model behind 0 and 4000 tokens: 20 ms a token, and so many more at depth. Samples
// scatter by a share, the same in both.
func deepRun(more, scatter float64) string {
	var b strings.Builder
	line := func(test, depth string, ns, tokens float64) {
		fmt.Fprintf(&b, "BenchmarkModel/model=m/variant=v/test=%s%s/threads=2 1 %v ns/op %v tok/s\n", test, depth, ns*tokens, 1e9/ns)
	}
	for i := range 6 {
		up := 1 + scatter*float64(i%3)
		down := 1 + scatter*float64((i+1+i/3)%3) // by rounds, as often above as below
		line("tg8", "", 20e6*up, 8)
		line("tg8", "/depth=1000", (20e6+more/4)*up, 8)
		line("tg8", "/depth=4000", (20e6+more)*down, 8)
		line("tg8", "/depth=4000/texts=4", 1e6, 8) // of several texts: another matter
		line("pp16", "", 1e6*up, 16)
		line("pp16", "/depth=4000", 2e6*up, 16)
	}
	return b.String() + reportstest.AaPairs(10)
}

// The verdict on depth says what is left of the speed and what a token's attention costs, with their intervals; of
// depths that the run can't tell apart, that; and nothing of a model that ran at one.
func TestDepthVerdict(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"slower", deepRun(8e6, 0), "Behind 4000 tokens instead of 0, with 2 threads, m's decoding keeps 71 % (70 % to 73 %) of its speed (tg8, from 50.0 tok/s): " +
			"every 1000 tokens before it make a token take 2.00 ms (1.82 ms to 2.18 ms) longer; reading a prompt keeps 50 % (49 % to 51 %) of its speed (pp16, from 1.00 k tok/s)."},
		{"scattered", deepRun(8e6, 0.01), "m's decoding keeps 71 % (70 % to 73 %) of its speed (tg8, from 49.5 tok/s): every 1000 tokens before it make a token take 2."},
		{"a tie", deepRun(1e5, 0.02), "m's decoding is as fast as this run can tell, at "},
		{"one depth", "BenchmarkModel/model=m/variant=v/test=tg8/threads=2 1 5 ns/op 8 tok/s\n", ""},
	} {
		d := newReport(digest.Of(reportstest.Set(t, []byte(c.text))))
		s, ok := d.fastest(d.models[0])
		if !ok {
			t.Fatal("nobody leads")
		}
		got := d.depthVerdict(d.models[0], s)
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if advice := reportstest.FirstText(reportstest.DocOf(t, d.Results).First[0]); !strings.Contains(advice, got) {
			t.Errorf("%s: the first screen says %q", c.name, advice)
		}
		if c.name == "a tie" && strings.Contains(got, "longer") {
			t.Errorf("a cost that is none: %q", got)
		}
	}
}

// The chart says the same, and what was repeated.
func TestDepthReading(t *testing.T) {
	d := newReport(digest.Of(reportstest.Set(t, []byte("depth-computed: 512\n"+deepRun(8e6, 0)))))
	figures := depthFigures(d)
	if len(figures) != 2 {
		t.Fatalf("%d figures, want those of decoding and of the prompt", len(figures))
	}
	const want = "v with 2 threads: 50.0 tok/s after 0 tokens, 71 % (70 % to 73 %) of that after 4000; every 1000 tokens before it make a token take 2.00 ms (1.82 ms to 2.18 ms) longer. " +
		"At most 512 of the tokens before a test were computed; behind them their keys and values repeat, which take attention as long as others."
	for _, f := range figures {
		if strings.Contains(f.Heading, "tg8") && f.Reading != want {
			t.Errorf("the chart says %q, want %q", f.Reading, want)
		}
	}
}

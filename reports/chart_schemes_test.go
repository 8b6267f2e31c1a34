package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestGoldenSchemes holds what the figure of a real run says to its golden, and the figure to having each
// scheme's name in either panel.
func TestGoldenSchemes(t *testing.T) {
	figures := schemesFigures(newDigest(goldenInput(t, "schemes.txt")))
	if len(figures) != 1 {
		t.Fatalf("%d figures, want 1", len(figures))
	}
	f := figures[0]
	lines := append(strings.SplitAfter(f.Reading, ". "), f.Notes...)
	for _, e := range f.Legend {
		lines = append(lines, "legend: "+e.Label)
	}
	checkGolden(t, "golden-schemes.txt", []byte(strings.Join(lines, "\n")+"\n"))
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for scheme, points := range map[string]int{"q8_row": 4, "q8_128": 2, "q8_32": 4} { // q8_128 of 2 bits has no SIMD
		if n := strings.Count(svg, ">"+scheme+"<"); n != points {
			t.Errorf("%d names %s in the SVG, want %d", n, scheme, points)
		}
	}
	var png bytes.Buffer
	if err := f.WritePNG(&png); err != nil || png.Len() == 0 {
		t.Errorf("%d bytes of PNG, %v", png.Len(), err)
	}
}

// TestSchemesFront: each scheme has its fastest variant; the front has those that are not both slower and
// worse.
func TestSchemesFront(t *testing.T) {
	var b strings.Builder
	for i, c := range []struct {
		variant, act string
		speed        int
		kld          string
	}{{"fast", "q8_row", 100, "2e-4"}, {"slow", "q8_row", 90, "2e-4"}, {"fast", "q8_32", 95, "1e-4"}, {"fast", "q8_128", 80, "1.5e-4"}, {"scalar", "f32", 4, "0"}} {
		name := fmt.Sprintf("variant=%s/act=%s", c.variant, c.act)
		fmt.Fprintf(&b, "BenchmarkModel/model=m/%s/test=tg16/threads=2 1 %d ns/op %d tok/s\n", name, 1000+i, c.speed)
		fmt.Fprintf(&b, "BenchmarkLogits/model=m/%s/weights=random/tokens=9 1 %s kld\n", name, c.kld)
	}
	d := newDigest(fixture(t, []byte(b.String())))
	points, slow := d.models[0].schemes("tg", panel{threads: "2"})
	var got []string
	for _, q := range points {
		got = append(got, fmt.Sprintf("%s %s %.2f", q.text, q.variant, q.speed))
	}
	if want := []string{"q8_row fast q8_row 1.00", "q8_32 fast q8_32 0.95", "q8_128 fast q8_128 0.80"}; !slices.Equal(got, want) {
		t.Errorf("points %q, want %q", got, want)
	}
	if !slices.Equal(slow, []string{"m: f32"}) {
		t.Errorf("too slow to draw: %q", slow)
	}
	if best := front(points); len(best) != 2 || best[1].text != "q8_32" {
		t.Errorf("the front is %v", best)
	}
	f := schemesFigures(d)[0]
	const want = "m: decode tg16 with 2 threads: q8_row is fastest, kld 0.0002; q8_32 has 95 % of its speed and 0.5 times its divergence; " +
		"q8_128 has 80 % of its speed and 0.75 times its divergence."
	if f.Reading != want {
		t.Errorf("reading\n%s\nwant\n%s", f.Reading, want)
	}
	if notes := strings.Join(f.Notes, " "); !strings.Contains(notes, "Of random weights: m.") || !strings.Contains(notes, "more than 20 times slower") {
		t.Errorf("notes %q", notes)
	}
}

// TestOneSchemeIsNoChoice: there is nothing to choose from, and no figure.
func TestOneSchemeIsNoChoice(t *testing.T) {
	const text = `BenchmarkModel/model=m/variant=v/act=q8_32/test=tg16/threads=1 1 5 ns/op 30 tok/s
BenchmarkModel/model=m/variant=w/act=q8_32/test=tg16/threads=1 1 6 ns/op 25 tok/s
BenchmarkLogits/model=m/variant=v/act=q8_32/tokens=9 1 1e-4 kld
BenchmarkLogits/model=m/variant=w/act=q8_32/tokens=9 1 1e-4 kld
`
	if got := schemesFigures(newDigest(fixture(t, []byte(text)))); len(got) != 0 {
		t.Errorf("%d figures", len(got))
	}
}

package reports

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"onebit/reports/figure"
	"testing"
)

func TestCurves(t *testing.T) {
	line := func(name string, slope float64) figure.Curve {
		l := figure.Curve{Name: name}
		for x := 1.0; x <= 100; x++ {
			l.Points = append(l.Points, figure.CurvePoint{X: x, Y: slope * x, Low: slope*x - 1, High: slope*x + 1})
		}
		l.Points = append(l.Points, figure.CurvePoint{X: 101, Y: math.NaN()}, figure.CurvePoint{X: math.Inf(1), Y: 1})
		return l
	}
	c := figure.Curves{
		Heading: "Losses", X: "step", Y: "loss", Columns: 2,
		Panels: []figure.CurvePanel{{Title: "left", Lines: []figure.Curve{line("a", 1), line("b", 2)}}, {Title: "right", Lines: []figure.Curve{line("b", 3)}}},
	}
	inks := func(c figure.Curves) map[color.NRGBA]int {
		var b bytes.Buffer
		if err := c.WritePNG(&b); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		count := map[color.NRGBA]int{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				count[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)]++
			}
		}
		return count
	}
	first, second := figure.Color(figure.Series(0)).(color.NRGBA), figure.Color(figure.Series(1)).(color.NRGBA)
	both := inks(c)
	if both[first] == 0 || both[second] == 0 {
		t.Errorf("%d and %d pixels of the two series", both[first], both[second])
	}
	c.LogX, c.LogY, c.Top = true, true, 50
	if cut := inks(c); cut[second] == 0 || cut[second] >= both[second] {
		t.Errorf("%d pixels of the second series up to 50, %d in whole", cut[second], both[second])
	}
	c.Top, c.Span = 0, [2]float64{1, 1000}
	if far := inks(c); far[second] == 0 || far[second] >= both[second] {
		t.Errorf("%d pixels of the second series on an axis to 1000, %d on one to 300", far[second], both[second])
	}
	if err := (&figure.Curves{Panels: []figure.CurvePanel{{Title: "", Lines: []figure.Curve{{Name: "a", Points: []figure.CurvePoint{{Y: math.NaN()}}}}}}}).WritePNG(&bytes.Buffer{}); err == nil {
		t.Error("no error without a finite point")
	}
}

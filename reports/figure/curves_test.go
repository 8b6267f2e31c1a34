package figure

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"testing"
)

func TestCurves(t *testing.T) {
	line := func(name string, slope float64) Curve {
		l := Curve{Name: name}
		for x := 1.0; x <= 100; x++ {
			l.Points = append(l.Points, CurvePoint{X: x, Y: slope * x, Low: slope*x - 1, High: slope*x + 1})
		}
		l.Points = append(l.Points, CurvePoint{X: 101, Y: math.NaN()}, CurvePoint{X: math.Inf(1), Y: 1})
		return l
	}
	c := Curves{
		Heading: "Losses", X: "step", Y: "loss", Columns: 2,
		Panels: []CurvePanel{{Title: "left", Lines: []Curve{line("a", 1), line("b", 2)}}, {Title: "right", Lines: []Curve{line("b", 3)}}},
	}
	inks := func(c Curves) map[color.NRGBA]int {
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
	first, second := Color(Series(0)).(color.NRGBA), Color(Series(1)).(color.NRGBA)
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
	if err := (&Curves{Panels: []CurvePanel{{Title: "", Lines: []Curve{{Name: "a", Points: []CurvePoint{{Y: math.NaN()}}}}}}}).WritePNG(&bytes.Buffer{}); err == nil {
		t.Error("no error without a finite point")
	}
}

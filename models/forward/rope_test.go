package forward

import (
	"math"
	"testing"

	"onebit/models/arch"
)

// θ = 10000 and 4 wide: frequencies 1 and 1/100, linear scaling by 4 slows both
// down.
func TestRopeFrequencies(t *testing.T) {
	c := arch.Config{HeadDim: 4, RopeBase: 10000}
	for factor, want := range map[float32]float64{1: 1, 4: 0.25} {
		if factor > 1 {
			c.RopeScaling = arch.RopeScaling{Type: "linear", Factor: factor}
		} else {
			c.RopeScaling = arch.RopeScaling{}
		}
		r := NewRope(c, false)
		if math.Abs(r.Freq[0]-want) > 1e-12 || math.Abs(r.Freq[1]-want/100) > 1e-12 || r.Magnitude != 1 {
			t.Errorf("factor %v: %v", factor, r)
		}
	}
}

// Base 100 and 8 wide: frequencies 1, 10^-½, 10^-1, 10^-1½. In an original
// context of 2000 the pair that turns 32 times has the index
// 8·ln(2000/64π)/(2·ln 100) = 1.995, the one that turns once
// 8·ln(2000/2π)/(2·ln 100) = 5.006. Rounded outwards 1 and 6, so the pairs
// are slowed down by 0, 0, 1/5 and 2/5 of the way.
func TestYaRN(t *testing.T) {
	r := NewRope(arch.Config{HeadDim: 8, RopeBase: 100, RopeScaling: arch.RopeScaling{Type: "yarn", Factor: 4, OriginalContext: 2000}}, false)
	f := func(exponent, slowed float64) float64 {
		theta := math.Pow(10, exponent)
		return theta*(1-slowed) + theta/4*slowed
	}
	for i, want := range []float64{f(0, 0), f(-0.5, 0), f(-1, 0.2), f(-1.5, 0.4)} {
		if math.Abs(r.Freq[i]-want) > 1e-12 {
			t.Errorf("frequency %d is %v, want %v", i, r.Freq[i], want)
		}
	}
	if want := 1 + 0.1*math.Log(4); r.Magnitude != want {
		t.Errorf("magnitude %v, want %v", r.Magnitude, want)
	}
	// Nothing turns 32 times in a context of 40: the ramp starts at pair 0.
	// Once: 8·ln(40/2π)/(2·ln 100) = 1.608, so it ends at 2.
	r = NewRope(arch.Config{HeadDim: 8, RopeBase: 100, RopeScaling: arch.RopeScaling{Type: "yarn", Factor: 2, OriginalContext: 40}}, false)
	for i, want := range []float64{1, 0.75 * math.Pow(10, -0.5), 0.5 * 0.1, 0.5 * math.Pow(10, -1.5)} {
		if math.Abs(r.Freq[i]-want) > 1e-12 {
			t.Errorf("clamped: frequency %d is %v, want %v", i, r.Freq[i], want)
		}
	}
}

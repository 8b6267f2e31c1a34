package lockstep

import "math"

// Errors is how far values are from the reference's; the package comment has
// the formulas.
type Errors struct {
	NMSE   float64
	Cosine float64
	MaxAbs float64
}

// A difference is the sums of a token that Errors are made of.
type difference struct{ error, signal, test, product, most float64 }

func differenceOf(test, reference []float32) (d difference) {
	for i, v := range reference {
		r, y := float64(v), float64(test[i])
		e := y - r
		d.error += e * e
		d.signal += r * r
		d.test += y * y
		d.product += y * r
		d.most = max(d.most, math.Abs(e))
	}
	return d
}

// cosine is 1 between equals, also where both are zero.
func (d difference) cosine() float64 {
	switch {
	case d.error == 0:
		return 1
	case d.signal == 0 || d.test == 0:
		return 0
	}
	return d.product / math.Sqrt(d.signal*d.test)
}

// A tally adds up tokens.
type tally struct {
	error, signal, cosines, most float64
	tokens                       int
}

func (t *tally) add(d difference) {
	t.error += d.error
	t.signal += d.signal
	t.cosines += d.cosine()
	t.most = max(t.most, d.most)
	t.tokens++
}

func (t *tally) errors() Errors {
	e := Errors{Cosine: t.cosines / float64(t.tokens), MaxAbs: t.most}
	if t.error != 0 { // NaN too
		e.NMSE = t.error / t.signal
	}
	return e
}

package lockstep

import (
	"math"

	"onebit/internal/deviation"
)

// Errors is how far values are from the reference's; the package comment has
// the formulas.
type Errors struct {
	NMSE   float64
	Cosine float64
	MaxAbs float64
}

// A difference is the sums of a token that Errors are made of.
type difference struct {
	deviation.Sum
	test, product float64 // Σy², Σy·r
}

func differenceOf(test, reference []float32) difference {
	d := difference{Sum: deviation.Of(test, reference)}
	for i, v := range reference {
		r, y := float64(v), float64(test[i])
		d.test += y * y
		d.product += y * r
	}
	return d
}

// cosine is 1 between equals, also where both are zero.
func (d difference) cosine() float64 {
	switch {
	case d.Error == 0:
		return 1
	case d.Signal == 0 || d.test == 0:
		return 0
	}
	return d.product / math.Sqrt(d.Signal*d.test)
}

// A tally adds up tokens.
type tally struct {
	deviation.Sum
	cosines float64
	tokens  int
}

func (t *tally) add(d difference) {
	t.Add(d.Sum)
	t.cosines += d.cosine()
	t.tokens++
}

func (t *tally) errors() Errors {
	return Errors{NMSE: t.NMSE(), Cosine: t.cosines / float64(t.tokens), MaxAbs: t.MaxAbs}
}

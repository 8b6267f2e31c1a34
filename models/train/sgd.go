package train

// SGD is gradient descent with momentum: v = momentum·v + grad, w -= rate·v.
type SGD struct{ Momentum float32 }

func init() { registerRule("sgd", func() Rule { return SGD{Momentum: 0.9} }) }

// Slots names the velocity, which no momentum needs none of.
func (r SGD) Slots() []string {
	if r.Momentum == 0 {
		return nil
	}
	return []string{"velocity"}
}

// Update is Rule's.
func (r SGD) Update(w, grad []float32, slots [][]float32, _ int, rate, decay float32) {
	if r.Momentum == 0 {
		for i, g := range grad {
			w[i] -= rate * (g + decay*w[i])
		}
		return
	}
	v := slots[0]
	for i, g := range grad {
		v[i] = r.Momentum*v[i] + g
		w[i] -= rate * (v[i] + decay*w[i])
	}
}

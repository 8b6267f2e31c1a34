package train

// Lion moves each weight by the rate, in the direction of the sign of an average
// of gradients (arXiv 2302.06675).
type Lion struct{ Beta1, Beta2 float32 }

func init() { registerRule("lion", func() Rule { return Lion{Beta1: 0.9, Beta2: 0.99} }) }

// Slots names the average.
func (r Lion) Slots() []string { return []string{"average"} }

// Update is Rule's.
func (r Lion) Update(w, grad []float32, slots [][]float32, _ int, rate, decay float32) {
	m := slots[0]
	for i, g := range grad {
		var sign float32
		switch c := r.Beta1*m[i] + (1-r.Beta1)*g; {
		case c > 0:
			sign = 1
		case c < 0:
			sign = -1
		}
		w[i] -= rate * (sign + decay*w[i])
		m[i] = r.Beta2*m[i] + (1-r.Beta2)*g
	}
}

package lockstep

import (
	"fmt"
	"slices"

	"onebit/models/engine"
	"onebit/models/forward"
)

// A recorder observes the reference and keeps what a block computed.
type recorder struct {
	names  []string
	values [][]float32
	n      int
}

func (r *recorder) reset() { r.n = 0 }

func (r *recorder) Observe(op engine.Op) {
	if op.Block == engine.Outside {
		return
	}
	for _, result := range op.Results {
		if r.n == len(r.names) {
			r.names, r.values = append(r.names, ""), append(r.values, nil)
		}
		r.names[r.n], r.values[r.n] = result.Name, append(r.values[r.n][:0], result.Values...)
		r.n++
	}
}

// A follower observes the test as it computes a block that the reference has
// computed.
type follower struct {
	reference *recorder
	compare   func(block int, projection string, test, reference []float32)
	tensors   map[string]string // the block's projections by tensor; nil: look on
	replace   bool              // the test goes on with the reference's values
	at        int               // in the reference's results
	choices   Choices
	err       error
}

// follow sets the follower to the next block.
func (f *follower) follow(tensors map[string]string, replace bool) {
	f.tensors, f.replace, f.at = tensors, replace, 0
}

func (f *follower) Observe(op engine.Op) {
	if op.Block == engine.Outside || f.tensors == nil || f.err != nil {
		return
	}
	for _, result := range op.Results {
		r := f.reference
		if f.at == r.n || r.names[f.at] != result.Name || len(r.values[f.at]) != len(result.Values) {
			f.err = fmt.Errorf("block %d: the test computes %s where the reference does not", op.Block, result.Name)
			return
		}
		expected := r.values[f.at]
		f.at++
		if result.Name == forward.RouteOp {
			f.choices.count(result.Values, expected, op.Tokens)
		}
		if projection := f.tensors[result.Name]; projection != "" {
			f.compare(op.Block, projection, result.Values, expected)
		}
		if f.replace {
			copy(result.Values, expected)
		}
	}
}

// Choices are those of routers: of so many sets of experts, each a token's in a block, how
// many are other sets than the reference's.
type Choices struct{ Made, Changed int }

// count compares the choices of n tokens: numbers of experts, and their weights.
func (c *Choices) count(test, reference []float32, n int) {
	width := len(test) / n
	for i := range n {
		ours, theirs := slices.Clone(test[i*width:][:width/2]), slices.Clone(reference[i*width:][:width/2])
		slices.Sort(ours)
		slices.Sort(theirs)
		if c.Made++; !slices.Equal(ours, theirs) {
			c.Changed++
		}
	}
}

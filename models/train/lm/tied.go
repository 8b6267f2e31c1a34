package lm

import (
	"onebit/internal/aligned"
	"onebit/models/train"
)

// tied is an embedding that is the head too: one matrix, rounded as its form says
// for both.
type tied struct {
	head  *train.BitLinear
	build *train.Builder

	table []float32 // the rounded weights of the last embed
	ids   []int32
	x     []float32
}

// embed returns the rows of ids.
func (t *tied) embed(ids []int32) []float32 {
	t.ids, t.table = ids, t.head.Rounded()
	width := t.head.In
	t.x = aligned.Grow(t.x, len(ids)*width, nil)
	for r, id := range ids {
		copy(t.x[r*width:(r+1)*width], t.table[int(id)*width:])
	}
	return t.x
}

// embedBackward adds the gradients of the rows that embed took, straight through
// the rounding, each number from the first row to the last.
func (t *tied) embedBackward(grad []float32) {
	const columns = 64
	width, sum := t.head.In, t.head.Weight.Grad
	t.build.Pool.ForEach((width+columns-1)/columns, func(i int) {
		from, to := i*columns, min((i+1)*columns, width)
		for r, id := range t.ids {
			row := sum[int(id)*width : (int(id)+1)*width]
			for c, g := range grad[r*width+from : r*width+to] {
				row[from+c] += g
			}
		}
	})
}

package formats

import "fmt"

// A Shape is rows × cols of a weight matrix: out and in features.
type Shape struct{ Rows, Cols int }

func (s Shape) String() string { return fmt.Sprintf("%d×%d", s.Rows, s.Cols) }

// Dims returns dimensions, outermost first, as a matrix's: all but the last one
// are rows, and a vector is one row. A shape too large to be real has zero rows,
// which every method of Type refuses.
func Dims(shape []int) (rows, cols int) {
	if len(shape) == 0 {
		return 1, 1
	}
	rows = 1
	for _, n := range shape[:len(shape)-1] {
		if n <= 0 || rows > maxElements/n {
			rows = 0
			break
		}
		rows *= n
	}
	return rows, shape[len(shape)-1]
}

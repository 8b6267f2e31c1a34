package engine

// A Rotation is a change of basis that keeps lengths, in which weights are
// stored and their inputs must be written: H(s ⊙ P(x)), or back s ⊙ H(x). H is
// the Walsh-Hadamard transform of consecutive blocks,
//
//	H[r][c] = (-1)^popcount(r&c) / √Block
//
// which is its own inverse. Source: PrismML-Eng/llama.cpp, the keys
// prism.hadamard.* of its files.
type Rotation struct {
	Signs   []float32 // s: 1 or -1, as many as a column has values
	Block   int       // a power of two that divides their number
	Inverse bool      // from the basis of the weights, without P
	// Rows and Run are P, if Rows is not 0: x is read as a matrix of so many
	// rows whose elements are runs of Run values, and P(x) is its transpose.
	Rows, Run int
}

// From returns where P takes value i of its result from.
func (r *Rotation) From(i int) int {
	if r.Rows == 0 || r.Inverse {
		return i
	}
	run, cols := i/r.Run, len(r.Signs)/r.Run/r.Rows
	return (run%r.Rows*cols+run/r.Rows)*r.Run + i%r.Run
}

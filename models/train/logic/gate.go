package logic

import (
	"fmt"
	"math/bits"
)

// A Gate is a Boolean function of few inputs.
type Gate struct {
	Name            string
	Inputs, Outputs int
	// Eval returns the outputs for inputs, bit i of each being the i'th.
	Eval func(in uint) (out uint)
	// Separable says that each output is the side of a plane on which the inputs lie, so
	// that a single neuron can compute it.
	Separable bool
}

func bit(b bool) uint {
	if b {
		return 1
	}
	return 0
}

// Gates are those that SHA-256 is made of.
var Gates = []*Gate{
	{"NOT", 1, 1, func(x uint) uint { return x ^ 1 }, true},
	{"AND", 2, 1, func(x uint) uint { return x >> 1 & x }, true},
	{"OR", 2, 1, func(x uint) uint { return bit(x != 0) }, true},
	{"XOR", 2, 1, func(x uint) uint { return (x>>1 ^ x) & 1 }, false},
	{"Maj", 3, 1, func(x uint) uint { return bit(bits.OnesCount(x) >= 2) }, true},
	{"Ch", 3, 1, func(x uint) uint { // the first input chooses
		if x&1 == 1 {
			return x >> 1 & 1
		}
		return x >> 2 & 1
	}, false},
	{"full adder", 3, 2, func(x uint) uint { return uint(bits.OnesCount(x)) }, false}, // sum, carry
	Parity,
}

// Parity is what each bit of a [Word] is.
var Parity = &Gate{"XOR of 3", 3, 1, func(x uint) uint { return uint(bits.OnesCount(x)) & 1 }, false}

// LookupGate returns the gate of that name.
func LookupGate(name string) (*Gate, error) {
	for _, g := range Gates {
		if g.Name == name {
			return g, nil
		}
	}
	return nil, fmt.Errorf("unknown gate %q", name)
}

// table returns the gate's truth table: -1 and +1 for the inputs, 0 and 1 for the
// outputs.
func (g *Gate) table() (x, y []float32) {
	for in := range uint(1) << g.Inputs {
		out := g.Eval(in)
		for i := range g.Inputs {
			x = append(x, float32(2*int(in>>i&1)-1))
		}
		for i := range g.Outputs {
			y = append(y, float32(out>>i&1))
		}
	}
	return x, y
}

// A Word is a function of 32 bits, each of which is the parity of three: of the
// input rotated, or shifted.
type Word struct {
	Name   string
	Rotate []int // right, by so many bits
	Shift  int   // right; 0 if nothing is
	Eval   func(x uint32) uint32
}

func rotr(x uint32, n int) uint32 { return bits.RotateLeft32(x, -n) }

// Words are those of SHA-256 (FIPS 180-4, section 4.1.2).
var Words = []*Word{
	{"Σ0", []int{2, 13, 22}, 0, bigSigma0},
	{"Σ1", []int{6, 11, 25}, 0, bigSigma1},
	{"σ0", []int{7, 18}, 3, smallSigma0},
	{"σ1", []int{17, 19}, 10, smallSigma1},
}

// sources returns the input bits that bit i, counted from the least significant, is the
// parity of; -1 is a bit that was shifted in, and 0.
func (w *Word) sources(i int) (from []int) {
	for _, n := range w.Rotate {
		from = append(from, (i+n)%32)
	}
	if w.Shift > 0 {
		from = append(from, i+w.Shift)
		if i+w.Shift > 31 {
			from[len(from)-1] = -1
		}
	}
	return from
}

// Through returns the word's value for x, each bit computed by a cell, given as the
// gate's inputs.
func (w *Word) Through(cell func(in uint) uint, x uint32) (out uint32) {
	for i := range 32 {
		var in uint
		for k, from := range w.sources(i) {
			if from >= 0 {
				in |= uint(x>>from&1) << k
			}
		}
		out |= uint32(cell(in)&1) << i
	}
	return out
}

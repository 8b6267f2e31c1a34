package logic

import (
	"encoding/binary"
	"math/rand/v2"
)

// A State is the eight working variables of SHA-256, a to h.
type State [8]uint32

const (
	rounds = 64
	// Bits is the size of a state.
	Bits = 256
)

// initial is the first state of a hash (FIPS 180-4, section 5.3.3).
var initial = State{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}

// constants are K of section 4.2.2.
var constants = [rounds]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

func bigSigma0(x uint32) uint32   { return rotr(x, 2) ^ rotr(x, 13) ^ rotr(x, 22) }
func bigSigma1(x uint32) uint32   { return rotr(x, 6) ^ rotr(x, 11) ^ rotr(x, 25) }
func smallSigma0(x uint32) uint32 { return rotr(x, 7) ^ rotr(x, 18) ^ x>>3 }
func smallSigma1(x uint32) uint32 { return rotr(x, 17) ^ rotr(x, 19) ^ x>>10 }

// next returns the state after round t, which takes word w of the schedule.
func (s State) next(t int, w uint32) State {
	t1 := s[7] + bigSigma1(s[4]) + (s[4]&s[5] ^ ^s[4]&s[6]) + constants[t] + w
	t2 := bigSigma0(s[0]) + (s[0]&s[1] ^ s[0]&s[2] ^ s[1]&s[2])
	return State{t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]}
}

// Trace returns the states before, between and after the rounds of a block of 64
// bytes: 65 of them, from the first state of a hash on.
func Trace(block []byte) (states [rounds + 1]State) {
	var w [rounds]uint32
	for t := range w {
		if t < 16 {
			w[t] = binary.BigEndian.Uint32(block[4*t:])
			continue
		}
		w[t] = smallSigma1(w[t-2]) + w[t-7] + smallSigma0(w[t-15]) + w[t-16]
	}
	states[0] = initial
	for t, word := range w {
		states[t+1] = states[t].next(t, word)
	}
	return states
}

// randomBlock fills 64 bytes.
func randomBlock(r *rand.Rand) (block [64]byte) {
	for i := 0; i < len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], r.Uint64())
	}
	return block
}

// At returns a bit: word·32 + the place in it, 0 being the most significant.
func (s *State) At(i int) uint { return uint(s[i/32]>>(31-i%32)) & 1 }

// Copy returns what is known of the next state: each word's neighbour. Of the words
// that depend on the message it says 0.
func (s State) Copy() State { return State{0, s[0], s[1], s[2], 0, s[4], s[5], s[6]} }

// Ceiling is the largest share of bits that a predictor which knows the state and not
// the message gets right in expectation.
const Ceiling = (6*32 + 2*32*0.5) / Bits

package logic

import (
	"fmt"
	"math/rand/v2"

	"onebit/formats"
)

// A Footprint is what the weights of a model take in a format.
type Footprint struct {
	Format  *formats.Type
	Weights int
	Bytes   int // of the packed matrix
}

// BitsPerWeight returns the size by weight.
func (f Footprint) BitsPerWeight() float64 { return 8 * float64(f.Bytes) / float64(f.Weights) }

// Reduction returns how many times smaller than fp16 it is.
func (f Footprint) Reduction() float64 { return 2 * float64(f.Weights) / float64(f.Bytes) }

// memoryCols is the width of the matrices that sizes are counted with: BitNet b1.58
// 2B4T's, a multiple of every format's block.
const memoryCols = 2560

// PackedFormats are those that a ternary model may be kept in, and the 1-bit one that
// has no zeros.
var PackedFormats = []*formats.Type{formats.I2_S, formats.Q2_0_g128, formats.TQ2_0, formats.TQ1_0, formats.Q1_0_g128}

// Pack allocates and packs a matrix of at least so many random ternary weights, in
// rows of 2560, and counts its bytes. Some rows are read back: the format holds
// what was packed (signs alone in a format without zeros).
func Pack(t *formats.Type, weights int) (Footprint, error) {
	const tile = 256 // rows that are packed at a time, all alike
	rows := (weights + memoryCols - 1) / memoryCols
	m, err := t.NewMatrix(rows, memoryCols)
	if err != nil {
		return Footprint{}, err
	}
	size := len(m.Data)
	r := rand.New(rand.NewPCG(1, 2))
	digits, floats := make([]int8, tile*memoryCols), make([]float32, tile*memoryCols)
	signsOnly := t.TernaryGroup(rows, memoryCols) == 0
	for i := range digits {
		digits[i] = int8(r.IntN(3) - 1)
		if signsOnly {
			digits[i] = int8(2*r.IntN(2) - 1)
		}
		floats[i] = float32(digits[i])
	}
	end := 0
	for from := 0; from < rows; from += tile {
		n := min(tile, rows-from)
		if err := m.EncodeDigits(digits[:n*memoryCols], from, from+n); err == nil {
			end = size
			continue
		}
		part, err := t.Bytes(n, memoryCols)
		if err != nil {
			return Footprint{}, err
		}
		if err := t.Matrix(m.Data[end:end+part], n, memoryCols).Quantize(floats[:n*memoryCols]); err != nil {
			return Footprint{}, err
		}
		end += part
	}
	if end != size {
		return Footprint{}, fmt.Errorf("%s: %d bytes packed of %d", t.Name, end, size)
	}
	if _, err := m.TensorScale(); err == nil {
		if err := m.SetTensorScale(1); err != nil {
			return Footprint{}, err
		}
	}
	return Footprint{t, rows * memoryCols, size}, checkTile(m, floats)
}

// checkTile reads the last rows back.
func checkTile(m formats.Matrix, want []float32) error {
	back := make([]float32, memoryCols)
	last := (m.Rows - 1) % (len(want) / memoryCols)
	if err := m.DequantizeRows(back, m.Rows-1, m.Rows); err != nil {
		return err
	}
	for i, w := range want[last*memoryCols : (last+1)*memoryCols] {
		if back[i] != w {
			return fmt.Errorf("%s: weight %d of the last row is %v, and was %v", m.Type.Name, i, back[i], w)
		}
	}
	return nil
}

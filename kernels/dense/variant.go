package dense

import (
	"onebit/internal/cpu"
	"onebit/kernels"
)

// A Variant is one implementation of the innermost loops. All give the same bits.
type Variant struct {
	*kernels.ISA

	rows, columns side // of a tile

	// tiles are by rows and columns, in units, less one.
	tiles [][]tileFunc

	// transpose packs rows of length k, which begin stride floats apart: dst[l·width + i] =
	// src[i·stride + l] for i < rows ≤ width. What is in dst of other i does not matter.
	transpose func(dst, src []float32, stride, rows, k, width int)

	// gather packs what lies side by side: dst[l·width + i] = src[l·stride + i] for i < width.
	gather func(dst, src []float32, stride, k, width int)
}

// side is how long a side of a tile is: most, or less in whole units at a border.
type side struct{ most, unit int }

// panels returns how many panels n rows or columns take.
func (s side) panels(n int) int { return ceil(n, s.most) }

// padded returns how many they are in whole units.
func (s side) padded(n int) int { return ceil(n, s.unit) * s.unit }

// width returns that of panel i.
func (s side) width(i, n int) int { return min(s.most, s.padded(n-i*s.most)) }

// A tileFunc computes a tile: the sums over k of a panel of a and one of b. They are written
// to c, whose rows begin stride floats apart, or added to it.
type tileFunc func(c []float32, stride int, a, b []float32, k int, add bool)

// tile returns the function for a tile of so many rows and columns, which are whole units.
func (v *Variant) tile(rows, columns int) tileFunc {
	return v.tiles[rows/v.rows.unit-1][columns/v.columns.unit-1]
}

// Variants returns what this program has, the variant go first and the fastest last.
// They may need features that this machine lacks: see Available.
func Variants() []*Variant { return append([]*Variant{goVariant}, archVariants...) }

// Best returns the fastest variant that runs on this machine.
func Best() *Variant { return kernels.Fastest(Variants(), cpu.Detected()) }

package dense

import (
	"fmt"

	"onebit/internal/cpu"
	"onebit/kernels"
)

// A Variant is one implementation of the innermost loop. All give the same bits.
type Variant struct {
	ISA *kernels.ISA

	mr, nr int // rows and columns of a tile
	tile   tileFunc
	pack   packFunc
}

// A tileFunc computes a tile of mr × nr elements: the sums over k of a panel of a and one
// of b. They are written to c, whose rows begin stride floats apart, or added if add.
type tileFunc func(c []float32, stride int, a, b []float32, k int, add bool)

// A packFunc transposes rows, which begin stride floats apart and have k floats
// each: dst[j·width + i] = src[i·stride + j] for i < rows, 0 for rows ≤ i < width.
type packFunc func(dst, src []float32, stride, rows, k, width int)

// Name returns the instruction set's.
func (v *Variant) Name() string { return v.ISA.Name }

// Variants returns what this program has, the variant go first and the fastest last.
// They may need features that this machine lacks: see Available.
func Variants() []*Variant { return append([]*Variant{goVariant}, archVariants...) }

// Available returns nil if v runs on this machine, or an error that names what is
// missing.
func (v *Variant) Available() error {
	if missing := cpu.Detected().Missing(v.ISA.Requires); missing != 0 {
		return fmt.Errorf("variant %s of dense products needs %s", v.ISA.Name, missing)
	}
	return nil
}

// Best returns the fastest variant that runs on this machine.
func Best() *Variant {
	best := goVariant
	for _, v := range archVariants {
		if v.Available() == nil {
			best = v
		}
	}
	return best
}

package dense

import (
	"math"

	"onebit/formats"
	"onebit/internal/aligned"
	"onebit/kernels"
)

// Packed is a weight matrix that training rounds anew in each step, packed for a kernel
// that multiplies it with int8 activations: the forward product where the weights have few
// bits. Its sums are exact integers, so a result is to the bit what the trained model
// gives. docs/measurements/dense.md says from how many tokens on it is faster than
// floats, packing included.
type Packed struct {
	variant *kernels.Variant
	tensor  formats.Tensor
	memory  []byte // of the layout, if it is not the format's own
	digits  []int8 // of ternary weights
	matrix  *kernels.Matrix
}

// packedRows is how many rows are encoded by a task.
const packedRows = 16

// NewPacked returns a matrix of rows × cols for v, or an error if v's format cannot hold
// that shape. It holds nothing until Set.
func NewPacked(v *kernels.Variant, rows, cols int) (*Packed, error) {
	size, err := v.Format.Bytes(rows, cols)
	if err != nil {
		return nil, err
	}
	p := &Packed{variant: v, tensor: formats.Tensor{Name: "weights", Type: v.Format, Shape: []int{rows, cols}, Data: make([]byte, size)}}
	if v.Layout.PackedBytes != nil {
		p.memory = aligned.Grow[byte](nil, v.Layout.PackedBytes(rows, cols), nil)
	}
	return p, nil
}

// Set packs weights, row by row, which must be rounded already to what the format holds: it keeps
// the signs and the largest magnitude of ternary ones. Weights that are not finite are an error.
func (p *Packed) Set(pool *kernels.Pool, w []float32) error {
	rows, cols := p.tensor.Dims()
	if len(w) != rows*cols {
		panic("dense: packed weights of another shape")
	}
	encode := p.encodeBlocks
	if p.ternary() {
		p.digits = aligned.Grow(p.digits, len(w), nil)
		encode = p.encodeDigits
	}
	errs := make([]error, ceil(rows, packedRows))
	most := make([]float32, len(errs))
	pool.ForEach(len(errs), func(i int) {
		most[i], errs[i] = encode(w, i*packedRows, min((i+1)*packedRows, rows))
	})
	var scale float32
	for i, err := range errs {
		if err != nil {
			return err
		}
		scale = max(scale, most[i]) // NaN stays NaN
	}
	if p.ternary() {
		if err := p.tensor.Matrix().SetTensorScale(scale); err != nil {
			return err
		}
	}
	var err error
	p.matrix, err = p.variant.PackInto(p.memory, &p.tensor, pool)
	return err
}

// ternary says that the format is one of digits with a scale for the tensor.
func (p *Packed) ternary() bool {
	return p.tensor.Matrix().EncodeDigits(nil, 0, 0) == nil
}

// encodeDigits writes rows [from, to) and returns the largest magnitude.
func (p *Packed) encodeDigits(w []float32, from, to int) (most float32, err error) {
	_, cols := p.tensor.Dims()
	w, digits := w[from*cols:to*cols], p.digits[from*cols:to*cols]
	var bits int32 // of the largest magnitude: they compare like integers
	for i, x := range w {
		b := int32(math.Float32bits(x))
		magnitude := b & math.MaxInt32
		bits = max(bits, magnitude)
		digits[i] = int8((b>>31 | 1) & (-magnitude >> 31)) // no processor predicts weights
	}
	return math.Float32frombits(uint32(bits)), p.tensor.Matrix().EncodeDigits(digits, from, to)
}

// encodeBlocks writes rows [from, to) of a format whose blocks have their own scales.
func (p *Packed) encodeBlocks(w []float32, from, to int) (most float32, err error) {
	rows, cols := p.tensor.Dims()
	rowBytes := len(p.tensor.Data) / rows
	return 0, p.tensor.Type.Matrix(p.tensor.Data[from*rowBytes:to*rowBytes], to-from, cols).Quantize(w[from*cols : to*cols])
}

// Mul sets y, tokens × rows, to x·Wᵀ: x is tokens × cols, and is rounded to int8 as the
// variant's scheme says. It needs a pool.
func (p *Packed) Mul(pool *kernels.Pool, y, x []float32, tokens int) {
	pool.MatMul(y, p.variant, p.matrix, x, tokens)
}

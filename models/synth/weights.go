package synth

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"

	"onebit/formats"
	"onebit/internal/half"
	"onebit/models/arch"
)

// A generator makes the bytes of a tensor in one format. Weights have mean 0
// and variance 1/cols, so that a product keeps the size of its input and a
// forward pass stays finite through any number of blocks.
type generator struct {
	unit int // bytes that fill makes together
	fill func(dst []byte, rng *rand.PCG)
	tail []byte // what the format keeps behind the weights
}

// generators returns a generator for a matrix of cols columns.
var generators = map[*formats.Type]func(cols int) generator{
	formats.F32:       gains,
	formats.F16:       gaussian,
	formats.Q1_0_g128: signs,
	formats.I2_S:      trits,
}

// gains is for norms: float32, even in [0.9, 1.1).
func gains(int) generator {
	return generator{unit: 4, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[4:] {
			u := float32(rng.Uint64()>>40) * 0x1p-24
			// The conversion keeps the product from being fused with the sum,
			// which would round differently on some machines.
			binary.LittleEndian.PutUint32(dst, math.Float32bits(0.9+float32(0.2*u)))
		}
	}}
}

// gaussian is fp16, normal: each weight is one of 4096 quantiles.
func gaussian(cols int) generator {
	var quantiles [1 << 12]uint16
	for i := range quantiles {
		p := (float64(i) + 0.5) / float64(len(quantiles))
		z := math.Sqrt2 * math.Erfinv(2*p-1)
		quantiles[i] = half.FromFloat32(float32(z / math.Sqrt(float64(cols))))
	}
	return generator{unit: 8, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[8:] {
			r := rng.Uint64()
			binary.LittleEndian.PutUint16(dst, quantiles[r&0xfff])
			binary.LittleEndian.PutUint16(dst[2:], quantiles[r>>16&0xfff])
			binary.LittleEndian.PutUint16(dst[4:], quantiles[r>>32&0xfff])
			binary.LittleEndian.PutUint16(dst[6:], quantiles[r>>48&0xfff])
		}
	}}
}

// signs is q1_0_g128: random signs, a scale within a quarter of 1/√cols per
// block.
func signs(cols int) generator {
	const blockBytes = 18
	var scales [256]uint16
	for i := range scales {
		d := (0.75 + 0.5*float64(i)/float64(len(scales)-1)) / math.Sqrt(float64(cols))
		scales[i] = half.FromFloat32(float32(d))
	}
	return generator{unit: blockBytes, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[blockBytes:] {
			binary.LittleEndian.PutUint16(dst, scales[rng.Uint64()>>56])
			binary.LittleEndian.PutUint64(dst[2:], rng.Uint64())
			binary.LittleEndian.PutUint64(dst[10:], rng.Uint64())
		}
	}}
}

// trits is i2_s: -s, 0 and +s equally often, so that two thirds are not zero,
// and s² = 3/2 / cols.
func trits(cols int) generator {
	// Every byte of four codes below 3, which the order within it does not
	// change.
	var bytes [81]byte
	for i := range bytes {
		bytes[i] = byte(i%3 | i/3%3<<2 | i/9%3<<4 | i/27<<6)
	}
	tail := make([]byte, 32)
	binary.LittleEndian.PutUint32(tail, math.Float32bits(float32(math.Sqrt(1.5/float64(cols)))))
	return generator{unit: 4, tail: tail, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[4:] {
			r := rng.Uint64()
			dst[0] = bytes[r&0xffff*81>>16]
			dst[1] = bytes[r>>16&0xffff*81>>16]
			dst[2] = bytes[r>>32&0xffff*81>>16]
			dst[3] = bytes[r>>48*81>>16]
		}
	}}
}

// chunkBytes bounds what is held of a tensor at a time; a multiple of every
// generator's unit.
const chunkBytes = 72 << 13

// writeWeights streams the bytes of a tensor. They depend on the seed and the
// tensor alone, not on what is written before it.
func writeWeights(w io.Writer, seed uint64, t arch.TensorSpec) error {
	size, err := t.Bytes()
	if err != nil {
		return err
	}
	_, cols := t.Dims()
	newGenerator := generators[t.Type]
	if newGenerator == nil {
		return fmt.Errorf("tensor %s: cannot synthesize %s", t.Name, t.Type.Name)
	}
	g := newGenerator(cols)
	body := size - len(g.tail)
	if body%g.unit != 0 {
		return fmt.Errorf("tensor %s: %d bytes of %s do not come in units of %d", t.Name, body, t.Type.Name, g.unit)
	}
	name := fnv.New64a()
	name.Write([]byte(t.Name))
	rng := rand.NewPCG(seed, name.Sum64())
	buf := make([]byte, min(chunkBytes, body))
	for ; body > 0; body -= len(buf) {
		buf = buf[:min(len(buf), body)]
		g.fill(buf, rng)
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	_, err = w.Write(g.tail)
	return err
}

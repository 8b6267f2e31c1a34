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

// generators are for matrices of cols columns, of formats without a layout of codes.
var generators = map[*formats.Type]func(cols int) generator{
	formats.F32:  gains,
	formats.F16:  gaussian,
	formats.BF16: brainFloats,
	formats.Q4_K: nibbles,
}

// generatorOf returns that of a format; false if there is none.
func generatorOf(t *formats.Type, cols int) (generator, bool) {
	switch c, _ := t.Codes(); {
	case c.Bits == 1:
		return signs(c, cols), true
	case c.Bits == 2 && c.Columns > 0:
		return tritBlocks(c, cols), true
	case c.Bits == 2 && t.BlockLen > 1:
		return trits(t, cols), true
	case c.Bits == 6:
		return sixBits(c, cols), true
	}
	if g := generators[t]; g != nil {
		return g(cols), true
	}
	return generator{}, false
}

// ranges are what float32 tensors that are no gains are even in, by role: taps
// that keep a channel's size, and rates and biases by which a state's half-life
// goes from below one token to some hundred.
var ranges = map[arch.Role]struct{ from, width float32 }{
	arch.Taps: {-0.5, 1},
	arch.Rate: {-1, 0.99},
	arch.Bias: {-3, 3},
	// Not so far from 1 that positions would look alike.
	arch.Divisors: {1, 0.5},
}

// gains is for norms: float32, even in [0.9, 1.1).
func gains(int) generator { return even(0.9, 0.2) }

// even is float32, even in a range.
func even(from, width float32) generator {
	return generator{unit: 4, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[4:] {
			u := float32(rng.Uint64()>>40) * 0x1p-24
			// The conversion keeps the product from being fused with the sum,
			// which would round differently on some machines.
			binary.LittleEndian.PutUint32(dst, math.Float32bits(from+float32(width*u)))
		}
	}}
}

// routerSpread is the standard deviation of a router's logits, for inputs behind a
// norm: see routers.
const routerSpread = 2

// routers is float32, normal, so that logits are normal too, and differ from token to
// token: no expert is a favourite. Of 256 experts the probabilities have an entropy of
// about 3.8 nats, and the 8 likeliest a bit more than half of the probability.
func routers(cols int) generator {
	var quantiles [1 << 12]uint32
	for i := range quantiles {
		quantiles[i] = math.Float32bits(float32(quantile(i, len(quantiles)) * routerSpread / math.Sqrt(float64(cols))))
	}
	return generator{unit: 4, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[4:] {
			binary.LittleEndian.PutUint32(dst, quantiles[rng.Uint64()>>52])
		}
	}}
}

// quantile is the middle of part i of n of the normal distribution.
func quantile(i, n int) float64 {
	p := (float64(i) + 0.5) / float64(n)
	return math.Sqrt2 * math.Erfinv(2*p-1)
}

// rotationSigns are random, for each width of a layer's input.
func rotationSigns(p *arch.Preset, seed uint64) map[int][]float32 {
	out := map[int][]float32{}
	for _, t := range p.Tensors() {
		_, width := t.Dims()
		if t.Role != arch.Projection && t.Role != arch.Head || out[width] != nil {
			continue
		}
		rng := rand.NewPCG(seed, uint64(width))
		signs := make([]float32, width)
		for i := range signs {
			signs[i] = 1 - 2*float32(rng.Uint64()>>63)
		}
		out[width] = signs
	}
	return out
}

// gaussian is fp16, normal: each weight is one of 4096 quantiles.
func gaussian(cols int) generator { return quantiles(cols, half.FromFloat32) }

// brainFloats is the same in bf16, cut off.
func brainFloats(cols int) generator {
	return quantiles(cols, func(x float32) uint16 { return uint16(math.Float32bits(x) >> 16) })
}

func quantiles(cols int, encode func(float32) uint16) generator {
	var quantiles [1 << 12]uint16
	for i := range quantiles {
		quantiles[i] = encode(float32(quantile(i, len(quantiles)) / math.Sqrt(float64(cols))))
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

// tritBlocks is ternary blocks: the codes of -d, 0 and +d equally often, and scales of
// which d² is 3/2 / cols within a quarter.
func tritBlocks(c formats.Codes, cols int) generator {
	scales := aroundScale(math.Sqrt(1.5 / float64(cols)))
	bytes := ternaryBytes()
	return generator{unit: c.Bytes, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[c.Bytes:] {
			binary.LittleEndian.PutUint16(dst[c.ScaleAt:], scales[rng.Uint64()>>56])
			for at := c.At; at < c.At+c.Columns/4; at += 4 {
				fillTernary(dst[at:], bytes, rng.Uint64())
			}
		}
	}}
}

// nibbles is q4_k: random codes, whose variance about their offset of 8 is 21.5,
// and all of a block with one scale.
func nibbles(cols int) generator {
	const blockBytes, codesAt, step = 144, 16, 32
	scales := aroundScale(1 / math.Sqrt(21.5*step*step*float64(cols)))
	// Scale and offset 32 of all groups: both low nibbles 0, both high pairs 2.
	groups := [12]byte{32 | 2<<6, 32 | 2<<6, 32 | 2<<6, 32 | 2<<6, 32 | 2<<6, 32 | 2<<6, 32 | 2<<6, 32 | 2<<6}
	return generator{unit: blockBytes, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[blockBytes:] {
			d := scales[rng.Uint64()>>56]
			binary.LittleEndian.PutUint16(dst, d)
			binary.LittleEndian.PutUint16(dst[2:], half.FromFloat32(8*half.ToFloat32(d)))
			copy(dst[4:], groups[:])
			fillRandom(dst[codesAt:blockBytes], rng)
		}
	}}
}

// sixBits is q6_k: random codes, whose variance about 32 is 341.5, and all of a
// block with one scale.
func sixBits(c formats.Codes, cols int) generator {
	const groups, step = 16, 64
	scalesAt := c.ScaleAt - groups
	scales := aroundScale(1 / math.Sqrt(341.5*step*step*float64(cols)))
	return generator{unit: c.Bytes, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[c.Bytes:] {
			fillRandom(dst[:scalesAt], rng)
			for i := range groups {
				dst[scalesAt+i] = step
			}
			binary.LittleEndian.PutUint16(dst[c.ScaleAt:], scales[rng.Uint64()>>56])
		}
	}}
}

// aroundScale is fp16 scales within a quarter of one.
func aroundScale(scale float64) (scales [256]uint16) {
	for i := range scales {
		scales[i] = half.FromFloat32(float32((0.75 + 0.5*float64(i)/float64(len(scales)-1)) * scale))
	}
	return scales
}

// fillRandom takes whole words.
func fillRandom(dst []byte, rng *rand.PCG) {
	for ; len(dst) > 0; dst = dst[8:] {
		binary.LittleEndian.PutUint64(dst, rng.Uint64())
	}
}

// ternaryBytes are all of four codes below 3, which their order within a byte
// does not change.
func ternaryBytes() *[81]byte {
	bytes := new([81]byte)
	for i := range bytes {
		bytes[i] = byte(i%3 | i/3%3<<2 | i/9%3<<4 | i/27<<6)
	}
	return bytes
}

// fillTernary makes four of random bits.
func fillTernary(dst []byte, bytes *[81]byte, r uint64) {
	dst[0] = bytes[r&0xffff*81>>16]
	dst[1] = bytes[r>>16&0xffff*81>>16]
	dst[2] = bytes[r>>32&0xffff*81>>16]
	dst[3] = bytes[r>>48*81>>16]
}

// signs is random signs, a scale within a quarter of 1/√cols per block.
func signs(c formats.Codes, cols int) generator {
	var scales [256]uint16
	for i := range scales {
		d := (0.75 + 0.5*float64(i)/float64(len(scales)-1)) / math.Sqrt(float64(cols))
		scales[i] = half.FromFloat32(float32(d))
	}
	return generator{unit: c.Bytes, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[c.Bytes:] {
			binary.LittleEndian.PutUint16(dst[c.ScaleAt:], scales[rng.Uint64()>>56])
			fillRandom(dst[c.At:c.At+c.Columns/8], rng)
		}
	}}
}

// trits is ternary weights with a scale per tensor: -s, 0 and +s equally often, so that
// two thirds are not zero, and s² = 3/2 / cols.
func trits(t *formats.Type, cols int) generator {
	bytes := ternaryBytes()
	one, _ := t.Bytes(1, cols)
	two, _ := t.Bytes(2, cols)
	tail := make([]byte, 2*one-two) // what stands once per tensor
	binary.LittleEndian.PutUint32(tail, math.Float32bits(float32(math.Sqrt(1.5/float64(cols)))))
	return generator{unit: 4, tail: tail, fill: func(dst []byte, rng *rand.PCG) {
		for ; len(dst) > 0; dst = dst[4:] {
			fillTernary(dst, bytes, rng.Uint64())
		}
	}}
}

// chunkBytes bounds what is held of a tensor at a time, in whole units.
const chunkBytes = 17 * 72 << 9

// writeWeights streams the bytes of a tensor. They depend on the seed and the
// tensor alone, not on what is written before it.
func writeWeights(w io.Writer, seed uint64, t arch.TensorSpec) error {
	size, err := t.Bytes()
	if err != nil {
		return err
	}
	_, cols := t.Dims()
	g, ok := generatorOf(t.Type, cols)
	if !ok {
		return fmt.Errorf("tensor %s: cannot synthesize %s", t.Name, t.Type.Name)
	}
	if r := ranges[t.Role]; r.width > 0 && t.Type == formats.F32 {
		g = even(r.from, r.width)
	}
	if t.Role == arch.Router && t.Type == formats.F32 {
		g = routers(cols)
	}
	body := size - len(g.tail)
	if body%g.unit != 0 {
		return fmt.Errorf("tensor %s: %d bytes of %s do not come in units of %d", t.Name, body, t.Type.Name, g.unit)
	}
	name := fnv.New64a()
	name.Write([]byte(t.Name))
	rng := rand.NewPCG(seed, name.Sum64())
	buf := make([]byte, min(chunkBytes/g.unit*g.unit, body))
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

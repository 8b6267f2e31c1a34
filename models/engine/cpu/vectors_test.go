package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/half"
	"onebit/internal/require"
)

// adversarial returns n floats of all sizes, with what breaks arithmetic among
// them if special.
func adversarial(rng *rand.Rand, n int, special bool) []float32 {
	specials := []float32{
		0, float32(math.Copysign(0, -1)), 1, -1, 65504, 65519, 65520, -1e30, 1e30, 5e-8, -3e-8, 2.9e-8, 1e-40, 6.1e-5,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 87, -87.5, 88.5, 104, -104,
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64() * math.Exp(4*rng.NormFloat64()))
		if special && rng.IntN(4) == 0 {
			out[i] = specials[rng.IntN(len(specials))]
		}
	}
	return out
}

func bits32(x []float32) []uint32 {
	out := make([]uint32, len(x))
	for i, f := range x {
		out[i] = math.Float32bits(f)
		if f != f {
			out[i] = 0x7fc00000 // NaN, whatever its payload
		}
	}
	return out
}

// eachVectors runs a test of all vectors that this machine runs.
func eachVectors(t *testing.T, test func(t *testing.T, v *Vectors)) {
	for _, v := range AllVectors() {
		t.Run(v.Name, func(t *testing.T) {
			if err := v.Available(); err != nil {
				require.Skip(t, cpu.Detected().Missing(v.ISA.Requires).String(), err.Error())
			}
			test(t, v)
		})
	}
}

// Slabs of any width are updated.
func TestDeltaVectors(t *testing.T) { eachVectors(t, testDeltaVectors) }

func testDeltaVectors(t *testing.T, v *Vectors) {
	rng := rand.New(rand.NewPCG(5, 6))
	same := func(what string, n int, got, want []float32) {
		t.Helper()
		g, w := bits32(got), bits32(want)
		for i := range w {
			if g[i] != w[i] {
				t.Fatalf("%s of %d: element %d is %v, want %v", what, n, i, got[i], want[i])
			}
		}
	}
	for _, n := range []int{1, 16, 31, 32} {
		for _, keys := range []int{1, 2, 37, 128} {
			for _, special := range []bool{false, true} {
				got := adversarial(rng, keys*n, special)
				want := append([]float32(nil), got...)
				q, k, values := adversarial(rng, keys, special), adversarial(rng, keys, special), adversarial(rng, n, special)
				y, z := adversarial(rng, n, true), adversarial(rng, n, true) // what is there does not matter
				v.deltaRule(got, q, k, values, y, 0.7, 0.4)
				deltaRuleScalar(want, q, k, values, z, 0.7, 0.4)
				same("the matrix", n, got, want)
				same("answers", n, y, z)
			}
		}
	}
}

func fill(rng *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

// Rows and positions around those of every kernel, and widths that fill none.
func TestAttentionVectors(t *testing.T) { eachVectors(t, testAttentionVectors) }

func testAttentionVectors(t *testing.T, v *Vectors) {
	require.Unraced(t, "one thread computes it")
	rng := rand.New(rand.NewPCG(3, 4))
	same := func(what string, got, want []float32) {
		t.Helper()
		g, w := bits32(got), bits32(want)
		for i := range w {
			if g[i] != w[i] {
				t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	for _, width := range []int{1, 8, 16, 24, 32, 64, 80, 96, 128, 160} {
		for _, rows := range require.Draw(t, 3, []int{1, 2, 3, 7, 12, 23}) {
			for _, positions := range require.Draw(t, 3, []int{1, 3, 16, 17, 33, 64}) {
				what := fmt.Sprintf("%d rows, %d wide, %d positions", rows, width, positions)
				special := rng.IntN(2) == 0
				q, m := adversarial(rng, rows*width, special), adversarial(rng, 64*width, special)
				got, want := make([]float32, rows*cacheTile), make([]float32, rows*cacheTile)
				ahead := make([]byte, 4096)
				v.scores(got[64:], q, m, width, positions, ahead)
				scoresScalar(want[64:], q, m, width, positions)
				for r := range rows {
					same("scores of "+what, got[r*cacheTile+64:][:positions], want[r*cacheTile+64:][:positions])
				}
				weights, sums := adversarial(rng, rows*cacheTile, special), adversarial(rng, rows*width, special)
				wanted := slices.Clone(sums)
				v.weighted(sums, weights, m, width, positions, ahead)
				weightedScalar(wanted, weights, m, width, positions, 0)
				same("weighted values of "+what, sums, wanted)
				if v.scoresF16 == nil || width%16 != 0 {
					continue
				}
				halves := make([]byte, 2*len(m))
				half.Encode(halves, m)
				half.Decode(m, halves)
				v.scoresF16(got[64:], q, halves, width, positions, ahead)
				scoresScalar(want[64:], q, m, width, positions)
				for r := range rows {
					same("scores in fp16 of "+what, got[r*cacheTile+64:][:positions], want[r*cacheTile+64:][:positions])
				}
				v.weightedF16(sums, weights, halves, width, positions, ahead)
				weightedScalar(wanted, weights, m, width, positions, 0)
				same("weighted values in fp16 of "+what, sums, wanted)
			}
		}
		x, y := adversarial(rng, width, true), adversarial(rng, width, true)
		z := slices.Clone(x)
		v.blend(x, y, 0.7)
		blendScalar(z, y, 0.7)
		same("blend", x, z)
	}
	testScoresQ8(t, v, same)
}

// Codes are extreme as often as not: sums are as large as they get.
func testScoresQ8(t *testing.T, v *Vectors, same func(what string, got, want []float32)) {
	rng := rand.New(rand.NewPCG(5, 6))
	code := func() byte { return byte([]int{-127, 127, rng.IntN(255) - 127, rng.IntN(255) - 127}[rng.IntN(4)]) }
	for _, blocks := range []int{1, 2, 4, 5} {
		for _, rows := range []int{1, 2, 3, 6, 13} {
			keys, q := make([]byte, cacheTile*blocks*q8Bytes), make([]byte, rows*blocks*queryBytes)
			for i := range keys {
				keys[i] = code()
			}
			for b := range cacheTile / keyGroup * blocks {
				for t := range keyGroup {
					half.Put(keys[b*keyGroup*q8Bytes+2*t:], float32(rng.NormFloat64()))
				}
			}
			for b := range rows * blocks {
				block, sum := q[b*queryBytes:], int32(0)
				for i := range q8Len {
					block[i] = code()
					sum += int32(int8(block[i]))
				}
				binary.LittleEndian.PutUint32(block[q8Len:], math.Float32bits(float32(rng.NormFloat64())))
				binary.LittleEndian.PutUint32(block[q8Len+4:], uint32(-128*sum))
			}
			for _, positions := range []int{1, 17, 33, 100, 128} {
				got, want := make([]float32, rows*cacheTile), make([]float32, rows*cacheTile)
				v.scoresQ8(got, q, keys, blocks, positions, make([]byte, 8192))
				scoresQ8Scalar(want, q, keys, blocks, positions)
				for r := range rows {
					same(fmt.Sprintf("int8 scores of %d rows, %d blocks, %d positions", rows, blocks, positions),
						got[r*cacheTile:][:positions], want[r*cacheTile:][:positions])
				}
			}
		}
	}
}

// By hand: queries (1, 2) and (3, 4), and three positions' keys, then values,
// (5, 6), (7, 8) and (-1, 1).
func TestAttentionByHand(t *testing.T) {
	eachVectors(t, func(t *testing.T, v *Vectors) {
		keys := make([]float32, 2*cacheTile)
		copy(keys, []float32{5, 7, -1})
		copy(keys[keyGroup:], []float32{6, 8, 1})
		scores := make([]float32, 2*cacheTile)
		v.scores(scores, []float32{1, 2, 3, 4}, keys, 2, 3, nil)
		near(t, "scores", append(scores[:3:3], scores[cacheTile:][:3]...), 17, 23, 1, 39, 53, 1)
		sums := []float32{100, 0, 0, 0}
		v.weighted(sums, scores, []float32{5, 6, 7, 8, -1, 1}, 2, 2, nil)
		near(t, "weighted", sums, 100+17*5+23*7, 17*6+23*8, 39*5+53*7, 39*6+53*8)
		if v.blend(sums, []float32{1, 1, 1, 1}, 0.5); sums[1] != 144 {
			t.Errorf("blended to %v, want 144", sums[1])
		}
	})
}

package formats

// TQ1_0 packs five ternary digits into a byte. Layout and quantizer:
// ggml-org/ggml src/ggml-common.h, block_tq1_0, and src/ggml-quants.c.
var TQ1_0 = registerBlocks(base3Blocks("tq1_0", "ternary, 5 weights per byte and a scale per 256", []digitRun{{32, 5}, {16, 5}, {4, 4}}))

// A digitRun is bytes of a block of base-3 digits. Digit n of byte m of a run is
// the run's weight n·lanes + m.
type digitRun struct{ lanes, digits int }

// base3Blocks is the layout of formats with five ternary digits in a byte, their
// runs one behind the other and the scale behind the last.
func base3Blocks(name, summary string, runs []digitRun) blocks {
	weights, bytes := 0, 0
	for _, run := range runs {
		weights, bytes = weights+run.lanes*run.digits, bytes+run.lanes
	}
	return blocks{
		name:    name,
		ternary: true,
		summary: summary,
		weights: weights,
		bytes:   bytes + 2,
		scaleAt: bytes,
		scale:   absMax,
		encode:  func(block []byte, w []float32, d float32) { encodeDigitRuns(runs, block, w, d) },
		decode:  func(dst []float32, block []byte, d float32) { decodeDigitRuns(runs, dst, block, d) },
	}
}

// base3Digits has the digits of every byte. A byte b stands for the fraction
// b/256; its base-3 digits come out of it from the most significant one.
var base3Digits = func() (digits [256][5]byte) {
	for b := range digits {
		rest := b
		for n := range digits[b] {
			rest *= 3
			digits[b][n] = byte(rest >> 8)
			rest &= 0xff
		}
	}
	return digits
}()

func encodeDigitRuns(runs []digitRun, block []byte, w []float32, d float32) {
	id := inverse(d)
	for _, run := range runs {
		for m := range run.lanes {
			v := 0
			for n := range 5 {
				v *= 3
				if n < run.digits {
					v += int(nearestCode(w[n*run.lanes+m], id))
				}
			}
			// Rounding v/243 up to a multiple of 1/256 keeps all five digits.
			block[m] = byte((v*256 + 242) / 243)
		}
		block, w = block[run.lanes:], w[run.lanes*run.digits:]
	}
}

func decodeDigitRuns(runs []digitRun, dst []float32, block []byte, d float32) {
	values := [3]float32{-d, 0, d}
	for _, run := range runs {
		for n := range run.digits {
			for m, b := range block[:run.lanes] {
				dst[m] = values[base3Digits[b][n]]
			}
			dst = dst[run.lanes:]
		}
		block = block[run.lanes:]
	}
}

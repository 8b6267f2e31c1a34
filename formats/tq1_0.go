package formats

// TQ1_0 packs five ternary digits into a byte. Layout and quantizer:
// ggml-org/ggml src/ggml-common.h, block_tq1_0, and src/ggml-quants.c.
var TQ1_0 = registerBlocks(blocks{
	name:    "tq1_0",
	ternary: true,
	summary: "ternary, 5 weights per byte and a scale per 256",
	weights: 256,
	bytes:   48 + 4 + 2,
	scaleAt: 48 + 4,
	scale:   absMax,
	encode:  encodeTQ1,
	decode:  decodeTQ1,
})

// tq1Runs are the runs of bytes of a block. Digit n of byte m of a run is the
// run's weight n·lanes + m.
var tq1Runs = [...]struct{ at, lanes, digits int }{{0, 32, 5}, {32, 16, 5}, {48, 4, 4}}

// tq1Digits has the digits of every byte. A byte b stands for the fraction
// b/256; its base-3 digits come out of it from the most significant one.
var tq1Digits = func() (digits [256][5]byte) {
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

func encodeTQ1(block []byte, w []float32, d float32) {
	id := inverse(d)
	for _, run := range tq1Runs {
		for m := range run.lanes {
			v := 0
			for n := range 5 {
				v *= 3
				if n < run.digits {
					v += int(nearestCode(w[n*run.lanes+m], id))
				}
			}
			// Rounding v/243 up to a multiple of 1/256 keeps all five digits.
			block[run.at+m] = byte((v*256 + 242) / 243)
		}
		w = w[run.lanes*run.digits:]
	}
}

func decodeTQ1(dst []float32, block []byte, d float32) {
	values := [3]float32{-d, 0, d}
	for _, run := range tq1Runs {
		bytes := block[run.at:][:run.lanes]
		for n := range run.digits {
			for m, b := range bytes {
				dst[m] = values[tq1Digits[b][n]]
			}
			dst = dst[run.lanes:]
		}
	}
}

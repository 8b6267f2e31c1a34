//go:build !purego

package formats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/half"
	"onebit/internal/require"
)

func needAVX2(t *testing.T) {
	t.Helper()
	if !hasAVX2 {
		require.Skip(t, cpu.Detected().Missing(cpu.AVX2|cpu.F16C).String(), "the conversions need it")
	}
}

// sameBits reports whether floats are the same, NaNs too.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// anyFloat is as often as not a number that is special in some way.
func anyFloat(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return math.Float32frombits(uint32(r.IntN(2)) << 31) // ±0
	case 1:
		return math.Float32frombits(r.Uint32() & 0x807fffff) // subnormal
	case 2:
		return float32(r.IntN(65)-32) / 2 // halves
	case 3:
		return math.Float32frombits(r.Uint32())
	}
	return float32(r.NormFloat64())
}

func TestAbsMaxSIMD(t *testing.T) {
	needAVX2(t)
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 100 {
		w := make([]float32, n)
		for range 20 {
			for i := range w {
				w[i] = anyFloat(r)
			}
			if got, want := absMax(w), absMaxGeneric(w); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("%d floats: absMax = %v, want %v of %v", n, got, want, w)
			}
		}
	}
}

// Every fp16 in every lane, NaNs with their payload.
func TestDecodeF16SIMD(t *testing.T) {
	require.Unraced(t, "assembly, which the detector does not see")
	needAVX2(t)
	for _, n := range []int{0, 1, 7, 8, 9, 16, 33} {
		src := make([]byte, 2*n)
		got, want := make([]float32, n), make([]float32, n)
		for h := range 1 << 16 {
			for i := range n {
				src[2*i], src[2*i+1] = byte(h+i*257), byte((h+i*257)>>8)
			}
			decodeF16(got, src)
			half.Decode(want, src)
			if !sameBits(got, want) {
				t.Fatalf("%d from %#x on: %v, want %v", n, h, got, want)
			}
		}
	}
}

func TestQ6SIMD(t *testing.T) {
	needAVX2(t)
	r := rand.New(rand.NewPCG(2, 3))
	for range 3000 {
		var w [256]float32
		var ids, scales [16]float32
		finite := r.IntN(2) == 0
		for i := range w {
			w[i] = anyFloat(r)
			if finite {
				w[i] = float32(r.NormFloat64())
			}
		}
		var bits [192]byte
		for i := range bits {
			bits[i] = byte(r.Uint32())
		}
		for i := range ids {
			ids[i], scales[i] = float32(20*r.Float64()), anyFloat(r)
		}
		testQ6Extremes(t, &w)
		testQ6Weights(t, &bits, &scales)
		if finite {
			testQ6Codes(t, &w, &ids)
			testQ6Search(t, (*[16]float32)(w[:]), r)
		}
	}
}

func testQ6Extremes(t *testing.T, w *[256]float32) {
	var up, down, wantUp, wantDown [16]uint32
	q6Extremes(&up, &down, w)
	q6ExtremesGeneric(&wantUp, &wantDown, w)
	if up != wantUp || down != wantDown {
		t.Fatalf("extremes %x and %x, want %x and %x, of %v", up, down, wantUp, wantDown, w)
	}
}

func testQ6Weights(t *testing.T, bits *[192]byte, scales *[16]float32) {
	var got, want [256]float32
	q6Weights(&got, bits, scales)
	q6WeightsGeneric(&want, bits, scales)
	for i := range want {
		nans := got[i] != got[i] && want[i] != want[i]
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !nans {
			t.Fatalf("weight %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func testQ6Codes(t *testing.T, w *[256]float32, ids *[16]float32) {
	var got, want [256]byte
	q6Codes(&got, w, ids)
	q6CodesGeneric(&want, w, ids)
	if got != want {
		t.Fatalf("codes %v, want %v", got, want)
	}
}

func testQ6Search(t *testing.T, w *[16]float32, r *rand.Rand) {
	m := absMaxGeneric(w[:])
	first := 1 + r.IntN(q6MaxScale)
	last := min(first-1+r.IntN(10), q6MaxScale)
	// The largest weight is not always coded as about 32.
	steps := float32(first) * float32(30+4*r.Float64())
	got, want := q6Search(w, q6Fixed/m, steps, first, last), q6SearchGeneric(w, q6Fixed/m, steps, first, last)
	if got != want {
		t.Fatalf("scales %d to %d of %v: %#x, want %#x", first, last, w, got, want)
	}
}

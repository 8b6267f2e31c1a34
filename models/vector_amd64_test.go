//go:build !purego

package models

import (
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/internal/require"
)

// AVX2 where the machine would take AVX-512.
func TestNarrowVectors(t *testing.T) {
	if !hasAVX512 {
		require.Skip(t, "avx512f", "this machine takes AVX2 anyway, or nothing")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, width := range []int{16, 64, 128, 208, 256} {
		const n = 24
		q, weights := adversarial(rng, width, true), adversarial(rng, n, true)
		rows := make([]byte, 4*n*width)
		encodeF32(rows, adversarial(rng, n*width, true))

		got, want := make([]float32, n), make([]float32, n)
		scoresAVX2(&got[0], &q[0], &rows[0], n, width, &rows[0])
		scoresGeneric(want, q, rows)
		if !slices.Equal(bits32(got), bits32(want)) {
			t.Errorf("scores of %d columns: %v, want %v", width, got, want)
		}

		got, want = slices.Clone(q), slices.Clone(q)
		weightedAVX2(&got[0], &weights[0], &rows[0], n, width, 4*width, nil)
		weightedGeneric(want, weights, rows, 0)
		if !slices.Equal(bits32(got), bits32(want)) {
			t.Errorf("weighted rows of %d columns: %v, want %v", width, got, want)
		}
	}
}

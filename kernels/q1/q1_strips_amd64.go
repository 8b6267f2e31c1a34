//go:build !purego

package q1

import "onebit/kernels"

// q1StripBytes is how much a task packs of native rows that it looks up: 1536 rows of
// 2048 columns. With the tables of q1LookupTogether columns it stays in L2.
const q1StripBytes = 448 << 10

// strips packs native rows by strips and looks these up with l.
func (l q1Lookup) strips(act kernels.Scheme) kernels.Kernel {
	return kernels.Kernel{From: l.stripFrom, Rows: q1NativeMatMul(l.tiles, q1StripBytes, l.matMulNatural(act)), TaskRows: q1StripTaskRows}
}

// q1StripTaskRows is how many native rows of m a task packs and looks up: whole
// tiles of about q1StripBytes, fewer if threads would go without.
func q1StripTaskRows(m *kernels.Matrix, threads int) int {
	tileBytes := m.Cols / 128 * rows128Block
	share := (m.Rows + threads*rows128Rows - 1) / (threads * rows128Rows)
	return rows128Rows * max(1, min(q1StripBytes/tileBytes, share))
}

// q1StripTables are the columns that threads have tables of.
var q1StripTables kernels.Scratch[kernels.Activations]

// matMulNatural is matMul for activations in their natural order, q1LookupTogether
// columns or more: a thread makes tables of a few at a time for itself.
func (l q1Lookup) matMulNatural(act kernels.Scheme) kernels.MatMulFunc {
	matMul := l.matMul(act)
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		few := q1StripTables.Of(a)
		for c := 0; c < a.N; c += l.batchColumns {
			from := min(c, a.N-q1LookupTogether)
			few.View(a, from, min(c+l.batchColumns, a.N))
			few.Arrange(l.batchOrder)
			matMul(dst[from*m.Rows:], m, few, r0, r1)
		}
		few.Q, few.Scales, few.Sums, few.Spans = nil, nil, nil, nil // keep none of a alive
	}
}

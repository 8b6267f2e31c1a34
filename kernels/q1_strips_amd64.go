//go:build !purego

package kernels

import "sync"

// q1StripBytes is how much a task packs of native rows that it looks up: 1536 rows of
// 2048 columns. With the tables of q1LookupTogether columns it stays in L2.
const q1StripBytes = 448 << 10

// looksStripsUp has v, which multiplies native rows, pack those of batches by strips
// and look them up with l.
func (v *Variant) looksStripsUp(l q1Lookup) {
	v.batchFrom, v.batchRows = l.stripFrom, q1StripTaskRows
	v.matMul = q1NativeMatMul(l.tiles, q1StripBytes, l.matMulNatural(v.Scheme))
}

// q1StripTaskRows is how many native rows of m a task packs and looks up: whole
// tiles of about q1StripBytes, fewer if threads would go without.
func q1StripTaskRows(m *Matrix, threads int) int {
	tileBytes := m.Cols / 128 * rows128Block
	share := (m.Rows + threads*rows128Rows - 1) / (threads * rows128Rows)
	return rows128Rows * max(1, min(q1StripBytes/tileBytes, share))
}

// q1StripTables are the columns that threads have tables of.
var q1StripTables spares[Activations]

// matMulNatural is matMul for activations in their natural order, q1LookupTogether
// columns or more: a thread makes tables of a few at a time for itself.
func (l q1Lookup) matMulNatural(act Scheme) func(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
	matMul := l.matMul(act)
	return func(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
		few := q1StripTables.get()
		defer q1StripTables.put(few)
		for c := 0; c < a.N; c += l.batchColumns {
			from := min(c, a.N-q1LookupTogether)
			few.view(a, from, min(c+l.batchColumns, a.N))
			few.arrange(l.batchOrder)
			matMul(dst[from*m.Rows:], m, few, r0, r1)
		}
		few.Q, few.Scales, few.Sums = nil, nil, nil // keep none of a alive
	}
}

// view makes a the quantized columns [from, to) of b, whose memory it shares, in
// no order yet.
func (a *Activations) view(b *Activations, from, to int) {
	a.Scheme, a.N, a.Cols, a.Stride, a.Groups = b.Scheme, to-from, b.Cols, b.Stride, b.Groups
	a.Q = b.Q[from*b.Stride : to*b.Stride]
	a.Scales = b.Scales[from*b.Groups : to*b.Groups]
	a.Sums = b.Sums[from*b.Stride/32 : to*b.Stride/32]
	for i := range a.ordered {
		a.ordered[i].valid = false
	}
}

// spares are scratch buffers that no thread works in at the moment: as many as threads
// have worked in at once. A sync.Pool would let go of them, to be allocated again.
type spares[T any] struct {
	mu   sync.Mutex
	free []*T
}

func (s *spares[T]) get() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return new(T)
	}
	t := s.free[n-1]
	s.free = s.free[:n-1]
	return t
}

func (s *spares[T]) put(t *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, t)
}

// Package dense multiplies matrices of float32, as training does:
//
//	y  = x·Wᵀ      m.Set(y, x, w.T())      x is tokens × in, w is out × in
//	dx = g·W       m.Set(dx, g, w)         g is tokens × out
//	dW += gᵀ·x     m.Add(dw, g.T(), x)
//
// A [Matrix] is a view of rows that lie Stride floats apart, or its transpose. A
// [Multiplier] has a variant, a pool and the memory that operands are packed in.
//
// # Results
//
// Each element of a product is computed by one thread, in an order that depends on
// nothing but the length of the sum:
//
//	for each block of 256 of k, in order
//		s = 0
//		for each k of the block, in order
//			s = fma(a[i,k], b[k,j], s)      rounded once, to float32
//		c[i,j] = s for the first block of a Set, c[i,j] + s for others
//
// So results are the same bits for any number of threads, any shape around the element,
// and on every instruction set: the variant go is the specification. The error of an element
// is at most (min(k, 256) + ⌈k/256⌉)·2⁻²⁴·Σ|a·b|, to first order and plus |c|·⌈k/256⌉·2⁻²⁴
// where it is added to.
//
// # How it is computed
//
// Both operands are packed in panels that the innermost loop reads from first to last,
// and blocks of them stay in the caches (K. Goto and R. van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008; its loops are named as in F. Van Zee
// and R. van de Geijn, "BLIS", ACM TOMS 41(3), 2015):
//
//	panel of a    MR rows, 256 of k         a[k·MR + i]; a few of them is in level 2
//	panel of b    NR columns, 256 of k      b[k·NR + j]; one is in level 1
//	tile of c     MR × NR                   in registers
//
// All of b is packed first, by all threads. A task is then a rectangle of c, for which its
// thread packs the rows of a. Panels at the border are filled with zeros.
//
// Measurements are in docs/measurements/dense.md.
package dense

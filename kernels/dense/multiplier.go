package dense

import (
	"sync"

	"onebit/internal/aligned"
	"onebit/kernels"
)

// A Multiplier computes products with one variant on the threads of one pool. It keeps
// the memory that it packs operands in: as much as the largest right operand took for each product
// that was computed at the same time, and some 100 KiB for each thread. Its methods may be
// called from several goroutines.
type Multiplier struct {
	variant *Variant
	pool    *kernels.Pool

	mu   sync.Mutex
	free []*scratch
}

// A Product is one of those that Do computes: C = A·B, or C += A·B if Add.
type Product struct {
	C, A, B Matrix
	Add     bool
}

// NewMultiplier returns a multiplier on pool, or on the caller's thread if pool is nil:
// tasks of a pool need one of these, for a pool runs one dispatch at a time. Best gives the variant.
func NewMultiplier(v *Variant, pool *kernels.Pool) *Multiplier {
	return &Multiplier{variant: v, pool: pool}
}

// Set computes c = a·b: a is c.Rows × n, b is n × c.Cols. It panics if they are not. The
// matrix c must not overlap the others.
func (m *Multiplier) Set(c, a, b Matrix) { m.run(m.pool, Product{C: c, A: a, B: b}) }

// Add computes c += a·b, as Set otherwise.
func (m *Multiplier) Add(c, a, b Matrix) { m.run(m.pool, Product{c, a, b, true}) }

// Do computes products that do not depend on each other, in any order. Many small ones, like
// those of the heads of attention, are computed side by side, each by one thread. No
// result may overlap another.
func (m *Multiplier) Do(products ...Product) {
	if len(products) < 2*m.pool.Threads() {
		for _, p := range products {
			m.run(m.pool, p)
		}
		return
	}
	m.pool.ForEach(len(products), func(i int) { m.run(nil, products[i]) })
}

// scratch is what one thread packs into.
type scratch struct{ a, b, tile []float32 }

func (m *Multiplier) take() *scratch {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.free); n > 0 {
		s := m.free[n-1]
		m.free = m.free[:n-1]
		return s
	}
	return &scratch{tile: aligned.Grow[float32](nil, m.variant.rows.most*m.variant.columns.most, nil)}
}

func (m *Multiplier) give(s *scratch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = append(m.free, s)
}

func (m *Multiplier) run(pool *kernels.Pool, p Product) {
	if p.A.rows != p.C.rows || p.B.cols != p.C.cols || p.A.cols != p.B.rows {
		panic("dense: shapes of a product do not match")
	}
	if p.C.transposed { // Cᵀ = Bᵀ·Aᵀ
		p = Product{p.C.T(), p.B.T(), p.A.T(), p.Add}
	}
	if p.C.rows == 0 || p.C.cols == 0 {
		return
	}
	if p.A.cols == 0 {
		if !p.Add {
			clearMatrix(p.C)
		}
		return
	}
	g := newGrid(m.variant, &p, pool.Threads())
	s := m.take()
	defer m.give(s)
	s.b = aligned.Grow(s.b, g.packedB(), nil)
	pool.ForEach(g.blocks*g.columnPanels, func(i int) { g.packB(s.b, i) })
	pool.ForEach(g.rowChunks*g.columnChunks, func(i int) {
		tile := m.take()
		defer m.give(tile)
		g.multiply(tile, s.b, i)
	})
}

func clearMatrix(m Matrix) {
	for r := range m.rows {
		clear(m.data[m.at(r, 0):][:m.cols])
	}
}

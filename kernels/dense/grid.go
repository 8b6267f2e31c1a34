package dense

import "onebit/internal/aligned"

const (
	// depth is how long a sum is before it is rounded and added to the element: all variants
	// must agree. A panel of 32 columns then takes 32 KiB.
	depth = 256

	// maxPanels is how many panels of rows a task packs at a time: for 14 rows a
	// panel, 112 KiB.
	maxPanels = 8
)

// A grid is how a product is cut: k in blocks, the columns of b in panels, c in chunks of
// whole tiles, which are the tasks. Results do not depend on it.
type grid struct {
	*Variant
	*Product

	blocks                  int // of k
	rowPanels, columnPanels int
	rowStep, columnStep     int // panels of a chunk
	rowChunks, columnChunks int
}

func newGrid(v *Variant, p *Product, threads int) *grid {
	g := &grid{
		Variant: v, Product: p,
		blocks:    ceil(p.A.cols, depth),
		rowPanels: ceil(p.C.rows, v.mr), columnPanels: ceil(p.C.cols, v.nr),
	}
	want := 1 // tasks
	if threads > 1 {
		want = 4 * threads
	}
	g.rowStep = min(max(ceil(g.rowPanels, want), 2), maxPanels)
	g.rowChunks, g.rowStep = even(g.rowPanels, g.rowStep)
	g.columnStep = max(1, g.columnPanels/ceil(want, g.rowChunks))
	g.columnChunks, g.columnStep = even(g.columnPanels, g.columnStep)
	return g
}

// even returns how many chunks of about step make n, and a step that makes them alike.
func even(n, step int) (chunks, size int) {
	size = ceil(n, ceil(n, step))
	return ceil(n, size), size
}

func ceil(n, by int) int { return (n + by - 1) / by }

// block returns the part of k that is block i.
func (g *grid) block(i int) (start, length int) {
	return i * depth, min(depth, g.A.cols-i*depth)
}

// packedB returns how many floats packed b takes.
func (g *grid) packedB() int { return g.A.cols * g.columnPanels * g.nr }

// panelB returns the packed panel of b for a block and a panel of columns.
func (g *grid) panelB(b []float32, block, panel int) []float32 {
	start, length := g.block(block)
	at := (start*g.columnPanels + panel*length) * g.nr
	return b[at : at+length*g.nr]
}

// packB packs one panel of b.
func (g *grid) packB(b []float32, i int) {
	block, panel := i/g.columnPanels, i%g.columnPanels
	start, length := g.block(block)
	g.packPanel(g.panelB(b, block, panel), g.B.T(), panel*g.nr, start, length, g.nr)
}

// packPanel packs rows from row on of m, width if it has so many: dst[j·width + i] is the
// element (row+i, start+j), and 0 for rows that there are not.
func (g *grid) packPanel(dst []float32, m Matrix, row, start, length, width int) {
	rows := min(width, m.rows-row)
	src := m.data[m.at(row, start):]
	if !m.transposed {
		g.pack(dst, src, m.stride, rows, length, width)
		return
	}
	for j := range length {
		out := dst[j*width : (j+1)*width]
		copy(out, src[j*m.stride:][:rows])
		clear(out[rows:])
	}
}

// multiply computes chunk i of c.
func (g *grid) multiply(s *scratch, b []float32, i int) {
	rowPanel, columnPanel := i/g.columnChunks*g.rowStep, i%g.columnChunks*g.columnStep
	rowEnd, columnEnd := min(rowPanel+g.rowStep, g.rowPanels), min(columnPanel+g.columnStep, g.columnPanels)
	s.a = aligned.Grow(s.a, g.rowStep*g.mr*depth, nil)
	for block := range g.blocks {
		start, length := g.block(block)
		panel := length * g.mr
		for r := rowPanel; r < rowEnd; r++ {
			g.packPanel(s.a[(r-rowPanel)*panel:][:panel], g.A, r*g.mr, start, length, g.mr)
		}
		for c := columnPanel; c < columnEnd; c++ {
			pb := g.panelB(b, block, c)
			for r := rowPanel; r < rowEnd; r++ {
				g.computeTile(s, s.a[(r-rowPanel)*panel:][:panel], pb, r*g.mr, c*g.nr, length, g.Add || block > 0)
			}
		}
	}
}

// computeTile computes the tile of c at (row, column): in place, or beside it if c ends
// within the tile.
func (g *grid) computeTile(s *scratch, a, b []float32, row, column, k int, add bool) {
	c := g.C.data[g.C.at(row, column):]
	rows, columns := min(g.mr, g.C.rows-row), min(g.nr, g.C.cols-column)
	if rows == g.mr && columns == g.nr {
		g.tile(c, g.C.stride, a, b, k, add)
		return
	}
	g.tile(s.tile, g.nr, a, b, k, false)
	for i := range rows {
		out, sums := c[i*g.C.stride:][:columns], s.tile[i*g.nr:]
		if !add {
			copy(out, sums)
			continue
		}
		for j := range out {
			out[j] += sums[j]
		}
	}
}

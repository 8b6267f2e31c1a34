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
		rowPanels: v.rows.panels(p.C.rows), columnPanels: v.columns.panels(p.C.cols),
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
func (g *grid) packedB() int { return g.A.cols * g.columns.padded(g.C.cols) }

// panelB returns the packed panel of b for a block and a panel of columns.
func (g *grid) panelB(b []float32, block, panel int) []float32 {
	start, length := g.block(block)
	at := start*g.columns.padded(g.C.cols) + panel*length*g.columns.most
	return b[at : at+length*g.columns.width(panel, g.C.cols)]
}

// packB packs one panel of b.
func (g *grid) packB(b []float32, i int) {
	block, panel := i/g.columnPanels, i%g.columnPanels
	g.packPanel(g.panelB(b, block, panel), g.B.T(), panel*g.columns.most, block)
}

// packPanel packs rows of m from row on, as many as dst has room for, of a block of its columns.
func (g *grid) packPanel(dst []float32, m Matrix, row, block int) {
	start, length := g.block(block)
	width := len(dst) / length
	rows := min(width, m.rows-row)
	src := m.data[m.at(row, start):]
	switch {
	case !m.transposed:
		g.transpose(dst, src, m.stride, rows, length, width)
	case rows == width:
		g.gather(dst, src, m.stride, length, width)
	default:
		for l := range length {
			copy(dst[l*width:], src[l*m.stride:][:rows])
		}
	}
}

// multiply computes chunk i of c.
func (g *grid) multiply(s *scratch, b []float32, i int) {
	row, column := i/g.columnChunks*g.rowStep, i%g.columnChunks*g.columnStep
	rowEnd, columnEnd := min(row+g.rowStep, g.rowPanels), min(column+g.columnStep, g.columnPanels)
	s.a = aligned.Grow(s.a, g.rowStep*g.rows.most*depth, nil)
	for block := range g.blocks {
		_, length := g.block(block)
		panelA := func(r int) []float32 {
			return s.a[(r-row)*g.rows.most*length:][:g.rows.width(r, g.C.rows)*length]
		}
		for r := row; r < rowEnd; r++ {
			g.packPanel(panelA(r), g.A, r*g.rows.most, block)
		}
		for c := column; c < columnEnd; c++ {
			pb := g.panelB(b, block, c)
			for r := row; r < rowEnd; r++ {
				g.computeTile(s, panelA(r), pb, r*g.rows.most, c*g.columns.most, length, g.Add || block > 0)
			}
		}
	}
}

// computeTile computes the tile of c at (row, column): in place, or beside it if c ends
// within the tile.
func (g *grid) computeTile(s *scratch, a, b []float32, row, column, k int, add bool) {
	c := g.C.data[g.C.at(row, column):]
	width, height := len(b)/k, len(a)/k
	tile := g.tile(height, width)
	rows, columns := min(height, g.C.rows-row), min(width, g.C.cols-column)
	if rows == height && columns == width {
		tile(c, g.C.stride, a, b, k, add)
		return
	}
	tile(s.tile, width, a, b, k, false)
	for i := range rows {
		out, sums := c[i*g.C.stride:][:columns], s.tile[i*width:]
		if !add {
			copy(out, sums)
			continue
		}
		for j := range out {
			out[j] += sums[j]
		}
	}
}

//go:build !purego

package twobit

import "onebit/kernels"

// tiles calls multiply for every panel, of cols columns from c on, with every tile of
// rows [r0, r1): the first rows of one from row r on.
func (p panels) tiles(m *kernels.Matrix, a *kernels.Activations, order *kernels.Order, r0, r1, tileBytes int, multiply func(data *byte, panel *int8, c, cols, r, rows int)) {
	for c := 0; c < a.N; c += panelCols {
		panel := p.panel(a, order, c)
		for r := r0; r < r1; r += tileRows {
			rows := min(tileRows, r1-r)
			multiply(&tilesOf(m, r, r+rows, tileBytes)[0], &panel[0], c, min(panelCols, a.N-c), r, rows)
		}
	}
}

//go:build !purego

package heads

import (
	"onebit/internal/aligned"
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// Batches of q8_0 with registers of 32 bytes: panels of 8 columns, which lie in
// the lanes.
const (
	q8LaneCols = 8
	// q8LanePanels is how many panels share what the codes of 8 rows become.
	q8LanePanels = 8
	// q8LaneTaskRows is how many rows are a task, for which scales are laid side by
	// side.
	q8LaneTaskRows = 64
)

// A q8Lanes is a kernel for panels of 8 columns; see q8_0_stubs_amd64.go.
type q8Lanes struct {
	kernel  func(y *float32, w *byte, stride int, x *int8, panelStride int, scales *float32, scaleStride, shift, blocks, panels int, room *byte)
	columns q8Rows // for columns that are no panel
	order   *kernels.Order
	least   int // columns: fewer are faster one by one
}

// q8WordPanels arranges columns of activations as int16, in panels of 8, padded
// with zeros. A panel has for every 32 columns of the weights
//
//	byte  0             32             64            512
//	      | k 0, 1      | k 2, 3       | …           |
//	        8 × 2 int16   8 × 2 int16
var q8WordPanels = &kernels.Order{
	Name: "q8 word panels", Panel: q8LaneCols,
	Size: func(n, stride int) int { return (n + q8LaneCols - 1) / q8LaneCols * stride * 2 * q8LaneCols },
	Arrange: func(dst, q []int8, n, stride int) {
		clear(dst)
		for c := range n {
			panel := dst[c/q8LaneCols*stride*2*q8LaneCols:][:stride*2*q8LaneCols]
			for k, v := range q[c*stride:][:stride] {
				word := panel[4*q8LaneCols*(k/2)+4*(c%q8LaneCols)+2*(k%2):][:2]
				word[0], word[1] = v, v>>7
			}
		}
	},
}

// q8BytePanels is for AVX-VNNI. A panel has for every 32 columns of the weights
//
//	byte  0            32            64            288
//	      | -128·Σq    | k 0…3       | k 4…7       | …
//	        8 int32      8 × 4 int8    8 × 4 int8
var q8BytePanels = &kernels.Order{
	Name: "q8 byte panels", Panel: q8LaneCols,
	Size: func(n, stride int) int { return (n + q8LaneCols - 1) / q8LaneCols * stride / 32 * q8PanelBlock },
	Arrange: func(dst, q []int8, n, stride int) {
		clear(dst)
		for c := range n {
			panel := dst[c/q8LaneCols*stride/32*q8PanelBlock:]
			for b := 0; b < stride; b += 32 {
				arrangeQ8(panel[b/32*q8PanelBlock:][:q8PanelBlock], q[c*stride+b:][:32], c%q8LaneCols)
			}
		}
	},
}

// q8PanelBlock is the bytes that such a panel has for a block of the weights.
const q8PanelBlock = 4*q8LaneCols + 32*q8LaneCols

// arrangeQ8 makes the 32 q column c of a block of a panel.
func arrangeQ8(block, q []int8, c int) {
	var sum int32
	for i := 0; i < 32; i += 4 {
		for j, v := range q[i : i+4] {
			block[4*q8LaneCols*(1+i/4)+4*c+j] = v
			sum -= 128 * int32(v)
		}
	}
	for i := range 4 {
		block[4*c+i] = int8(sum >> (8 * i))
	}
}

// variant adds batches to one of k.columns.
func (k q8Lanes) variant(act kernels.Scheme) *kernels.Variant {
	v := k.columns.variant(act)
	v.Kernels = append(v.Kernels, kernels.Kernel{From: k.least, Order: k.order, Rows: k.matMul, TaskRows: q8LaneRows})
	return v
}

// q8LaneRows is how many rows of m a task multiplies, fewer if threads would go
// without.
func q8LaneRows(m *kernels.Matrix, threads int) int {
	return max(q8Tile, min(q8LaneTaskRows, m.Rows/(4*threads)/q8Tile*q8Tile))
}

// q8LaneScratch is what a thread works in.
type q8LaneScratch struct {
	room   aligned.Room[[544]byte]
	y      [q8LanePanels][q8Tile][q8LaneCols]float32
	scales []float32
}

var q8LaneScratches kernels.Scratch[q8LaneScratch]

// matMul multiplies by panels, and one by one the columns of a panel that has few.
func (k q8Lanes) matMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	panels := (a.N + q8LaneCols - k.least) / q8LaneCols
	if r1-r0 < q8Tile {
		panels = 0
	}
	if panels > 0 {
		s := q8LaneScratches.Of(a)
		s.arrangeScales(a, panels)
		for p := 0; p < panels; p += q8LanePanels {
			k.panels(dst, m, a, s, p, min(q8LanePanels, panels-p), r0, r1)
		}
	}
	for c := panels * q8LaneCols; c < a.N; c++ {
		k.columns.matVec(dst[c*m.Rows:(c+1)*m.Rows], m, a, c, r0, r1)
	}
}

// arrangeScales lays the scales of a panel's columns side by side: 8 for each group.
func (s *q8LaneScratch) arrangeScales(a *kernels.Activations, panels int) {
	s.scales = aligned.Grow(s.scales, panels*a.Groups*q8LaneCols, nil)
	for c := range panels * q8LaneCols {
		panel := s.scales[c/q8LaneCols*a.Groups*q8LaneCols:][:a.Groups*q8LaneCols]
		for g := range a.Groups {
			panel[g*q8LaneCols+c%q8LaneCols] = 0
			if c < a.N {
				panel[g*q8LaneCols+c%q8LaneCols] = a.Scale(c, g)
			}
		}
	}
}

// panels multiplies with n panels from the first on.
func (k q8Lanes) panels(dst []float32, m *kernels.Matrix, a *kernels.Activations, s *q8LaneScratch, first, n, r0, r1 int) {
	blocks := m.Cols / 32
	stride := blocks * q8Block
	panelBytes := k.order.Size(q8LaneCols, a.Stride)
	x := a.In(k.order)[first*panelBytes:][:n*panelBytes]
	scaleFloats := a.Groups * q8LaneCols
	scales := s.scales[first*scaleFloats:][:n*scaleFloats]
	room := s.room.T()
	tile := func(r int) {
		w := m.Span(r, r+q8Tile, stride)
		y := s.y[:n]
		clear(y)
		k.kernel(&y[0][0][0], &w[0], stride, &x[0], panelBytes, &scales[0], 4*scaleFloats, blockShift(a.Scheme), blocks, n, &room[0])
		for c := first * q8LaneCols; c < min((first+n)*q8LaneCols, a.N); c++ {
			for i := range q8Tile {
				dst[c*m.Rows+r+i] = y[c/q8LaneCols-first][i][c%q8LaneCols]
			}
		}
	}
	tiles.Cover(q8Tile, r0, r1, func(r, tiles, _ int) {
		for i := range tiles {
			tile(r + i*q8Tile)
		}
	})
}

//go:build !purego

package amx

import (
	"encoding/binary"

	"onebit/internal/aligned"
	"onebit/kernels"
)

const (
	stripRows = 64 // of weights, that share a tile of activations
	tileRows  = 16 // of weights, or columns of activations, in a tile
	// togetherCols share a strip's expanded codes. Their results, a block of them and
	// its codes take 48 KB, the L1 cache of a CPU with tiles.
	togetherCols = 64
	// roomBytes is what a kernel works in: the tiles' configuration, the scales of a
	// strip's rows, sums of it, and codes of 256 columns as bytes. kernels/_asm/amx says
	// what is where.
	roomBytes = 64 + 4*stripRows + 4*tileRows*stripRows + 256*stripRows
)

// Variant returns v, a variant for AVX-512 VNNI, with another MatMul, for columns in
// order. Nobody has timed it: so it ranks below v, and is used if it is asked for.
func Variant(v *kernels.Variant, order *kernels.Order, matMul kernels.MatMulFunc) *kernels.Variant {
	w := *v
	w.Name, w.Summary, w.ISA = "amx-int8", "batches by TDPBSSD, 64 rows at a time; else as avx512vnni", kernels.AMX
	w.BatchOrder, w.MatMul, w.Columns = order, matMul, 0
	w.Preference--
	return &w
}

// Codes64 is for package twobit's layout of that name, with tiles of tileBytes and
// scaleStep bytes of activation scales for each block of blockCols columns.
func Codes64(blockCols, scaleStep int, tileBytes func(cols int) int) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		n, blocks := tileBytes(m.Cols), m.Cols/blockCols
		strips(dst, m, a, r0, r1, func(s strip) {
			data := m.Span(s.row/stripRows, s.row/stripRows+1, n)
			codes64(s.dst, s.dstStride, s.rows, &data[0], blockCols/64, blocks, &a.Q[s.col*a.Stride], a.Stride, s.cols, s.tileCols,
				&a.Scales[s.col*a.Groups], 4*a.Groups, scaleStep, s.room)
		})
	}
}

// Bitplanes is for package q1's layout of that name, of 16 rows and blocks of blockBytes.
func Bitplanes(blockBytes, scaleStep int) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		blocks := m.Cols / 128
		strips(dst, m, a, r0, r1, func(s strip) {
			first, tiles := s.row/tileRows, s.tiles()
			data := m.Span(first, first+tiles, blocks*blockBytes)
			bitplanes(s.dst, s.dstStride, s.rows, &data[0], blocks*blockBytes, tiles, blocks, &a.Q[s.col*a.Stride], a.Stride, s.cols, s.tileCols,
				&a.Scales[s.col*a.Groups], 4*a.Groups, scaleStep, s.room)
		})
	}
}

// Rows is for 2-bit codes in place with one scale for all, in rows of rowBytes, and for
// columns in order, each behind 64 bytes.
func Rows(order *kernels.Order, rowBytes func(cols int) int) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		n := rowBytes(m.Cols)
		strips(dst, m, a, r0, r1, func(s strip) {
			q, scales, _ := a.Columns(order, s.col, s.cols)
			rows(s.dst, s.dstStride, s.rows, &wholeTiles(m, a, s, n)[0], n, s.tiles(), &q[64], len(q)/s.cols, s.cols, s.tileCols,
				&scales[0], m.Scale, s.room)
		})
	}
}

// A strip is rows of weights and the columns that they meet.
type strip struct {
	row, rows           int
	col, cols, tileCols int // a tile has so many of the columns
	dst                 *float32
	dstStride           int
	room                *byte
}

// tiles is how many have the strip's rows.
func (s strip) tiles() int { return (s.rows + tileRows - 1) / tileRows }

// scratch is a thread's.
type scratch struct {
	room []byte
	rows []byte // that fill no tile
}

var scratches kernels.Scratch[scratch]

// strips calls multiply for all rows [r0, r1) and columns, whose results are zero.
func strips(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int, multiply func(s strip)) {
	own := scratches.Of(a)
	own.room = aligned.Grow(own.room, roomBytes, nil)
	s := strip{dstStride: 4 * m.Rows, room: &own.room[0]}
	for s.col = 0; s.col < a.N; s.col += togetherCols {
		s.cols = min(togetherCols, a.N-s.col)
		s.tileCols = shape(own.room, s.cols)
		for s.row = r0; s.row < r1; s.row += stripRows {
			s.rows = min(stripRows, r1-s.row)
			for c := s.col; c < s.col+s.cols; c++ {
				clear(dst[c*m.Rows+s.row:][:s.rows])
			}
			s.dst = &dst[s.col*m.Rows+s.row]
			multiply(s)
		}
	}
}

// shape configures the tiles for cols columns, and returns how many one has: all as many,
// as few as their number allows.
func shape(config []byte, cols int) (tileCols int) {
	const sums, activations, all = 4, 4, 8
	tiles := (cols + tileRows - 1) / tileRows
	tileCols = (cols + tiles - 1) / tiles
	config[0] = 1 // the palette of eight tiles of 16 rows of 64 bytes
	for t := range all {
		binary.LittleEndian.PutUint16(config[16+2*t:], 64)
		config[48+t] = tileRows
	}
	for t := range sums {
		config[48+t] = byte(tileCols)
	}
	config[48+activations] = byte(tileCols)
	return tileCols
}

// wholeTiles returns the strip's rows, of n bytes, and what fills its last tile: rows
// that follow, or zeros if there are none.
func wholeTiles(m *kernels.Matrix, a *kernels.Activations, s strip, n int) []byte {
	end := s.row + s.tiles()*tileRows
	if end <= m.Rows {
		return m.Span(s.row, end, n)
	}
	own := scratches.Of(a)
	own.rows = aligned.Grow(own.rows, (end-s.row)*n, nil)
	clear(own.rows[copy(own.rows, m.Span(s.row, s.row+s.rows, n)):])
	return own.rows
}

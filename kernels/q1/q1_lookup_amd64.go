//go:build !purego

package q1

import (
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// The geometry of the layout rows64: a tile of 64 rows × 128 columns is 16
// vectors and 64 fp16 scales.
//
//	vector 0            …   vector 15              scales
//	64 B: columns 0…7       64 B: columns 120…127  128 B
//
// Byte p of a vector is eight columns of row rows64Row(p), bit by bit.
const (
	rows64Rows  = 64
	rows64Bits  = 16 * rows64Rows
	rows64Block = rows64Bits + 2*rows64Rows
)

// rows64Row returns the row of byte p. Groups of eight rows are dealt out so
// that, once bytes are interleaved within 128 bits and widened, registers
// hold rows in sequence.
func rows64Row(p int) int {
	group := [8]int{0, 4, 1, 5, 2, 6, 3, 7}[p/8]
	return 8*group + p%8
}

// rows64 is the packed layout of q1_0_g128 for kernels that look sums up.
var (
	rows64Tiles = q1Tiles{rows64Rows, rows64Block, packRows64Tile, packRows64TileGo}
	rows64      = rows64Tiles.layout("rows64")
)

// packRows64TileGo packs n rows of a tile.
func packRows64TileGo(tile, rows []byte, blocks, n int) {
	for p := range rows64Rows {
		row := rows64Row(p)
		if row >= n {
			continue
		}
		src := rows[row*blocks*q1Block:][:blocks*q1Block]
		for b := range blocks {
			dst, block := tile[b*rows64Block:][:rows64Block], src[b*q1Block:][:q1Block]
			for c, bits := range block[2:] {
				dst[64*c+p] = bits
			}
			copy(dst[rows64Bits+2*row:][:2], block)
		}
	}
}

// A q1LookupFunc multiplies rows of a layout with one column; see
// q1_stubs_amd64.go.
type q1LookupFunc func(dst *float32, data *byte, tables *int8, scales *float32, scaleStep, blocks, rows int)

// A q1Lookup is kernels that look the sums of four activations up.
type q1Lookup struct {
	summary       string
	tiles         q1Tiles
	layout        *kernels.Layout // of them
	order         *kernels.Order
	per128, per32 q1LookupFunc
	isa32         *kernels.ISA // of what multiplies under q8_32
	// together is for the columns [from, to), which lie in batchOrder: q1LookupTogether
	// at least, batchColumns at most.
	together     func(dst []float32, m *kernels.Matrix, a *kernels.Activations, from, to, r0, r1, scaleStep int)
	batchOrder   *kernels.Order
	batchColumns int
	taskRows     func(m *kernels.Matrix, threads int) int // see kernels.Kernel
	// stripFrom is the fewest columns that are worth packing native rows for.
	stripFrom int
}

// q1LookupTogether is the fewest columns that are looked up with the same bits.
const q1LookupTogether = 4

// q1TableBytes is the bytes of tables for an activation: for every four, two
// tables of bytes, or one of int16.
const q1TableBytes = 8

// q1LookupColumns is how many columns have tables at a time, a thread its own:
// 256 KiB for 2048 activations each, or 512 of the larger tables, which stay in L2.
const q1LookupColumns = 16

// q1TableOrder has what tables makes of activations, so many bytes of each.
func q1TableOrder(name string, bytes int, tables func(dst, q *int8, n int)) *kernels.Order {
	return &kernels.Order{
		Name: name, Panel: 1, Columns: q1LookupColumns,
		Size: func(n, stride int) int { return bytes * n * stride },
		Arrange: func(dst, q []int8, n, stride int) {
			dst, q = dst[:bytes*n*stride], q[:n*stride]
			tables(&dst[0], &q[0], len(q))
		},
	}
}

// q1PrefersLookups has a CPU look sums up rather than multiply where a register of 64
// bytes takes VPDPBUSD two cycles and VPERMW one, at half of Intel's rate: Zen 4.
func q1PrefersLookups(m cpu.Machine) int {
	if m.Vendor == "AuthenticAMD" && m.Family == 0x19 {
		return 10
	}
	return 0
}

// q1WordLookup is the look-up with AVX-512.
var q1WordLookup = q1Lookup{
	"sums of four activations from tables, VPERMW, 128 rows at a time",
	rows128Tiles, rows128, q1TableOrder("q1_word_tables", q1TableBytes, q1WordTablesAVX2), q1WordLookup128AVX512, q1WordLookup32AVX512VNNI, kernels.AVX512VNNI,
	q1WordsTogether, q1BatchOrder, q1LookupTogether, nil, 7,
}

// q1Tables has the two tables of bytes that VPSHUFB reads.
var q1Tables = q1TableOrder("q1_tables", q1TableBytes, q1TablesAVX2)

// q1NibbleLookup is the look-up with AVX2.
var q1NibbleLookup = q1Lookup{
	"sums of four activations from tables, VPSHUFB, 32 rows in a register",
	rows64Tiles, rows64, q1Tables, q1Lookup128AVX2, q1Lookup32AVX2, kernels.AVX2,
	q1NibblesTogether, q1Tables, q1LookupColumns, q1NibbleTaskRows, 5,
}

// The look-up with AVX2 was ahead of bit planes with AVX-VNNI too (28.6 against
// 19.2 GB/s from L2): these are gone, and it is what AVX-VNNI has, hence its
// preference. With AVX-512 bit planes win from four columns on, unless q1PrefersLookups.
func init() {
	q1NibbleLookup.register(kernels.AVX2, 14, nil)
	q1WordLookup.register(kernels.AVX512, 4, q1PrefersLookups)
}

func (l q1Lookup) register(isa *kernels.ISA, preference int, prefers func(cpu.Machine) int) {
	for _, act := range []kernels.Scheme{kernels.Q8Per128, kernels.Q8Row, kernels.Q8Per32} {
		isa, preference := isa, preference
		if act == kernels.Q8Per32 && isa != l.isa32 {
			isa, preference = l.isa32, 2 // below its bit planes
		}
		kernels.Register(&kernels.Variant{
			Name: isa.Name + "-lookup", Summary: l.summary, Format: formats.Q1_0_g128, Scheme: act,
			ISA: isa, Layout: l.layout, Preference: preference, Prefers: prefers,
			Kernels: []kernels.Kernel{
				kernels.ByColumn(l.order, l.matVec(act)),
				{From: q1LookupTogether, Order: l.batchOrder, Rows: l.matMul(act), TaskRows: l.taskRows},
			},
		})
	}
}

func (l q1Lookup) matVec(act kernels.Scheme) kernels.MatVecFunc {
	kernel, scaleStep := l.per128, q1ScaleStep(act)
	if act == kernels.Q8Per32 {
		kernel = l.per32
	}
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		blocks, tile := m.Cols/128, l.tiles.rows
		tiles := (r1 - r0 + tile - 1) / tile
		out := dst[r0:r1]
		data := m.Data[r0/tile*blocks*l.tiles.block:][:tiles*blocks*l.tiles.block]
		tables, _, _ := a.Columns(l.order, col, 1)
		kernel(&out[0], &data[0], &tables[0], q1Scales(a, col, 1), scaleStep, blocks, len(out))
	}
}

// matMul is several columns at a time; of those that are left, with some before
// them once more.
func (l q1Lookup) matMul(act kernels.Scheme) kernels.MatMulFunc {
	scaleStep := q1ScaleStep(act)
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		for c := 0; c < a.N; c += l.batchColumns {
			from := min(c, a.N-q1LookupTogether)
			l.together(dst, m, a, from, min(c+l.batchColumns, a.N), r0, r1, scaleStep)
		}
	}
}

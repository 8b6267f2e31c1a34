package shaders

import (
	"fmt"

	"onebit/formats"
)

// A Variant is one kernel of products. The table of them is what benchmarks,
// tests and engines choose from.
type Variant struct {
	Name, Summary string
	Source        string // of the kernel, and of its quantization if that is QuantizePlanes
	Kernel        string
	Layout        Layout
	Quantization  string // the kernel that makes its activations: "" takes floats
	Simdgroups    bool   // it calls simdgroup functions, which GPUs before Apple7 lack
	Columns       int    // of activations from which on it is the fastest that has its layout; 0: it is not for many
	Lanes         int    // a simdgroup has to have so many threads; 0: any number
	PerDispatch   bool   // it multiplies one column of activations a dispatch
	Bindings      Bindings
	plan          func(t *formats.Type, actColumns uint32, rows, cols, columns int) (Plan, error)
}

// A Layout is how weights lie in buffers.
type Layout string

const (
	Native Layout = "native" // the file's bytes
	Split  Layout = "split"  // Codes.Split: scales apart from codes
	Tiled  Layout = "tiles"  // Codes.Tile: tiles of 32 rows, scales apart from bits
)

// The kernels that quantize.
const (
	QuantizeInt8   = "quantize"        // of Quantize
	QuantizePlanes = "quantize_planes" // of Planes, with the constants of the product
)

// Bindings are indices of buffers; those that a kernel does not take are -1.
type Bindings struct {
	Weights, WeightScales int
	Activations           int // floats, int8, or planes
	Sums                  int // of planes
	Scales                int // of activations
	Results               int
	Shape                 int
}

// Shape is the argument of all kernels of products; some take its beginning only.
type Shape struct {
	Rows, Cols uint32
	RowBytes   uint32 // of a row of weights: Plan's
	Stride     uint32 // of a column of activations, a multiple of 256
	Groups     uint32 // scales of a column of activations
	ActColumns uint32 // with one scale
	Scale      float32
	Columns    uint32 // of activations
}

// A Plan says how a variant multiplies a matrix with so many columns of
// activations at most.
type Plan struct {
	Constants map[int]any // of the source's functions
	RowBytes  int         // for Shape
	Groups    [3]int      // threadgroups
	Threads   [3]int      // of a threadgroup
}

// Variants lists the kernels of products, the fastest that is expected last.
func Variants() []Variant { return variants }

var variants = []Variant{
	{
		Name: "metal-naive", Summary: "a thread a row, float activations: cellm's kernel",
		Source: MatVec, Kernel: "matvec_naive", Layout: Native, PerDispatch: true,
		Bindings: Bindings{Weights: 0, WeightScales: -1, Activations: 1, Sums: -1, Scales: -1, Results: 2, Shape: 3},
		plan:     planRows,
	},
	{
		Name: "metal-rows", Summary: "a thread a row, bytes of the file one by one",
		Source: MatVec, Kernel: "matvec_rows", Layout: Native, Quantization: QuantizeInt8,
		Bindings: Bindings{Weights: 0, WeightScales: -1, Activations: 1, Sums: -1, Scales: 2, Results: 3, Shape: 4},
		plan:     planRows,
	},
	{
		Name: "metal-dense", Summary: "eight threads a row, floats, of q4_k as it is decoded",
		Source: Heads, Kernel: "matvec_dense", Layout: Native, Lanes: 8,
		Bindings: Bindings{Weights: 0, WeightScales: -1, Activations: 1, Sums: -1, Scales: -1, Results: 2, Shape: 3},
		plan:     planDense,
	},
	{
		Name: "metal-simd", Summary: "a simdgroup for four rows, threads over columns, sums by simd_sum",
		Source: MatVec, Kernel: "matvec_simd", Layout: Split, Quantization: QuantizeInt8, Simdgroups: true, Lanes: 32,
		Bindings: Bindings{Weights: 0, WeightScales: 1, Activations: 2, Sums: -1, Scales: 3, Results: 4, Shape: 5},
		plan:     planSimd,
	},
	{
		Name: "metal-bytes", Summary: "threads over columns of codes apart from scales, fused multiply-adds of exact floats",
		Source: Bytes, Kernel: "matvec_bytes", Layout: Split, Quantization: QuantizeInt8, Lanes: 32,
		Bindings: Bindings{Weights: 0, WeightScales: 1, Activations: 2, Sums: -1, Scales: 3, Results: 4, Shape: 5},
		plan:     planBytes,
	},
	{
		Name: "metal-bytes-matrix", Summary: "bytes expanded to fp16 once for 32 columns, products of matrices of simdgroups",
		Source: Matrices, Kernel: "matmul_simd", Layout: Split, Quantization: QuantizeInt8, Simdgroups: true, Lanes: 32, Columns: manyColumns,
		Bindings: Bindings{Weights: 0, WeightScales: 1, Activations: 2, Sums: -1, Scales: 3, Results: 4, Shape: 5},
		plan:     planMatrix(8, 8),
	},
	{
		Name: "metal-tiles-matrix", Summary: "packed tiles expanded to fp16 once for 32 columns, products of matrices of simdgroups",
		Source: Matrices, Kernel: "matmul_simd", Layout: Tiled, Quantization: QuantizeInt8, Simdgroups: true, Lanes: 32, Columns: manyColumns,
		Bindings: Bindings{Weights: 0, WeightScales: 1, Activations: 2, Sums: -1, Scales: 3, Results: 4, Shape: 5},
		plan:     planMatrix(1, 2),
	},
	{
		Name: "metal-lanes", Summary: "threads over columns of the file's bytes, bits counted against planes of activations",
		Source: Planes, Kernel: "matvec_lanes", Layout: Native, Quantization: QuantizePlanes, Lanes: 32,
		Bindings: Bindings{Weights: 0, WeightScales: -1, Activations: 2, Sums: 3, Scales: 4, Results: 5, Shape: 6},
		plan:     planLanes,
	},
	{
		Name: "metal-tiles", Summary: "threads over rows of packed tiles, bits counted against planes of activations",
		Source: Planes, Kernel: "matvec_tiles", Layout: Tiled, Quantization: QuantizePlanes,
		Bindings: Bindings{Weights: 0, WeightScales: 1, Activations: 2, Sums: 3, Scales: 4, Results: 5, Shape: 6},
		plan:     planTiles,
	},
}

// Plan returns how to multiply a matrix in a format, or an error that says why the
// variant doesn't. actColumns is how many columns of activations have one scale:
// 32, 128, or 0 for all. Formats that [Pack] packs are planned as what they become.
func (v *Variant) Plan(t *formats.Type, actColumns uint32, rows, cols, columns int) (Plan, error) {
	p, err := v.plan(t, actColumns, rows, cols, columns)
	if err != nil {
		return p, fmt.Errorf("%s: %w", v.Name, err)
	}
	return p, nil
}

const planThreads = 128 // of a threadgroup: four simdgroups

func groups(of, by int) int { return (of + by - 1) / by }

func planRows(t *formats.Type, _ uint32, rows, cols, columns int) (Plan, error) {
	c, err := CodesOf(t)
	return Plan{c.Constants(), c.RowBytes(cols), [3]int{groups(rows, planThreads), columns, 1}, [3]int{planThreads, 1, 1}}, err
}

func planDense(t *formats.Type, _ uint32, rows, cols, columns int) (Plan, error) {
	tile := int(tileColumns(columns, 4))
	c, err := FloatConstants(t, tile)
	if err == nil && cols%4 != 0 {
		err = fmt.Errorf("%d columns; want a multiple of 4", cols)
	}
	return Plan{c, 0, [3]int{groups(rows, planThreads/2), groups(columns, tile), 1}, [3]int{planThreads, 1, 1}}, err
}

func planSimd(t *formats.Type, _ uint32, rows, cols, columns int) (Plan, error) {
	c, err := CodesOf(t)
	if err == nil && (c.Bits == 4 || c.Bits == 6) {
		err = fmt.Errorf("codes of %d bits; want 1, 2 or 8", c.Bits)
	}
	return Plan{c.Constants(), c.SplitRowBytes(cols), [3]int{groups(rows, 4*planThreads/32), columns, 1}, [3]int{planThreads, 1, 1}}, err
}

func planBytes(t *formats.Type, actColumns uint32, rows, cols, columns int) (Plan, error) {
	c, err := CodesOf(t)
	switch {
	case err != nil:
	case c.Bits < 4:
		err = fmt.Errorf("codes of %d bits; want 4, 6 or 8", c.Bits)
	case c.Bits == 6 && actColumns != 32:
		err = fmt.Errorf("activations of %s without a scale for every 32 columns", t.Name)
	}
	cut := BytesCut(cols, columns)
	return Plan{
		cut.Constants(c, actColumns), c.SplitRowBytes(cols),
		[3]int{groups(rows, planThreads/int(cut.Threads)*int(cut.Rows)), groups(columns, int(cut.Columns)), 1}, [3]int{planThreads, 1, 1},
	}, err
}

// A ByteCut is how Bytes cuts a product: threads that share a row, and how many rows and
// columns of activations a thread has, 4 at most and 8 multiplied.
type ByteCut struct{ Threads, Columns, Rows uint32 }

// BytesCut returns the cut of rows of so many columns of weights, with so many of
// activations. Two rows are enough to read activations for where four columns share what
// is read of weights.
func BytesCut(cols, columns int) ByteCut {
	cut := ByteCut{Threads: uint32(rowThreads(groups(cols, 128))), Columns: tileColumns(columns, 4)}
	cut.Rows = min(4, 8/cut.Columns)
	return cut
}

// Constants returns the function constants of Bytes.
func (cut ByteCut) Constants(c Codes, actColumns uint32) map[int]any {
	return map[int]any{0: c.Bits, 1: actColumns, 2: cut.Threads, 3: cut.Columns, 4: cut.Rows}
}

// rowThreads returns how many threads share a row of so many units, 4 to 32: as
// many as leave few of them idle in the last turn.
func rowThreads(units int) int {
	idle := func(threads int) int { return groups(units, threads)*threads - units }
	best := 4
	for threads := 8; threads <= 32; threads *= 2 {
		if idle(threads)*8 <= units || idle(threads) <= idle(best) {
			best = threads
		}
	}
	return best
}

// manyColumns is from how many columns on matrices of simdgroups are faster, by the counts
// of docs/measurements/metal-instructions.md: they take 32 at a time.
const manyColumns = 32

// mostExact is the longest row of which the sum of codes times activations, 2 and 127 at
// most, is exact in float.
const mostExact = 1 << 24 / (2 * 127)

// planMatrix is for codes of so many bits.
func planMatrix(least, most uint32) func(t *formats.Type, actColumns uint32, rows, cols, columns int) (Plan, error) {
	return func(t *formats.Type, actColumns uint32, rows, cols, columns int) (Plan, error) {
		c, err := CodesOf(t)
		switch {
		case err != nil:
		case c.Bits < least || c.Bits > most:
			err = fmt.Errorf("codes of %d bits; want %d to %d", c.Bits, least, most)
		case c.Bits < 8 && actColumns == 32:
			err = fmt.Errorf("activations with scales for 32 columns, whose shares make sums too large for float")
		case cols > mostExact:
			err = fmt.Errorf("rows of %d columns, whose sums may be too large for float; want %d at most", cols, mostExact)
		}
		return Plan{MatricesConstants(c, actColumns), c.SplitRowBytes(cols), [3]int{Tiles(rows), groups(columns, tileRows), 1}, [3]int{planThreads, 1, 1}}, err
	}
}

// MatricesConstants returns the function constants of Matrices.
func MatricesConstants(c Codes, actColumns uint32) map[int]any {
	return map[int]any{0: c.Bits, 1: c.BlockColumns, 2: actColumns}
}

func planLanes(t *formats.Type, actColumns uint32, rows, cols, columns int) (Plan, error) {
	c, err := CodesOf(t)
	if err != nil {
		return Plan{}, err
	}
	cut, err := LanesCut(c, actColumns, cols, columns)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		cut.Constants(c), c.RowBytes(cols),
		[3]int{groups(rows, planThreads/int(cut.Threads)*int(cut.Rows)), groups(columns, int(cut.Columns)), 1}, [3]int{planThreads, 1, 1},
	}, nil
}

// tileParts is how many simdgroups share a tile.
const tileParts = 8

func planTiles(t *formats.Type, actColumns uint32, rows, cols, columns int) (Plan, error) {
	c, err := CodesOf(t)
	if err == nil && c.Bits > 2 {
		err = fmt.Errorf("codes of %d bits; want 1 or 2", c.Bits)
	}
	if err != nil {
		return Plan{}, err
	}
	cut := TilesCut(c, actColumns, rows, columns)
	return Plan{cut.Constants(c), c.RowBytes(cols), [3]int{groups(Tiles(rows), int(cut.Rows)), groups(columns, int(cut.Columns)), 1}, [3]int{32 * tileParts, 1, 1}}, nil
}

// Package amx generates the kernels of batches on AMX's tiles.
//
// Up to 64 rows of weights meet tiles of up to 16 columns of activations, a block of the
// rows at a time. Its codes are expanded to signed bytes, four neighbouring ones of 16
// rows in 64 bytes, which is how TDPBSSD wants its second source; the first is
// activations as they lie. Four tiles of sums, of 16 rows each, share the activations
// that are loaded: five loads of 8 cycles to four products of 16, as docs/measurements/amx.md counts them. The sums of a block
// go through memory to the results.
package amx

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	tiles     = 4  // of rows
	tileRows  = 16 // of weights in a tile
	tileBytes = 1024
	stepCols  = 64 // columns that one product adds up
	codesOf   = 4 * tileBytes
)

// The room that a kernel works in, which package kernels/internal/amx makes.
const (
	configAt  = 0
	weightsAt = 64                   // the rows' scales of a block, as float32
	sumsAt    = weightsAt + tiles*64 // 16 columns × 64 rows
	codesAt   = sumsAt + 16*tiles*64 // expanded: for each tile of rows, up to 4 steps
	sumsRow   = 4 * tiles * tileRows // bytes
	columnRow = stepCols             // bytes of a tile's row
)

// The tile registers: the first hold sums.
const (
	activations = asm.Tile(tiles)
	weights     = activations + 1 // and those behind it
)

// Generate writes all functions of internal/amx/amx_amd64.s.
func Generate(p *asm.Program) {
	g := &generator{Program: p}
	g.constants()
	g.blocks(codes64{g})
	g.blocks(bitplanes{g})
	g.rows()
}

type generator struct {
	*asm.Program
	nibbles, lanes operand.Mem
	// digits[bits] are VPSHUFB's tables, from a nibble to the code at each of its digits.
	digits map[int][]operand.Mem
}

func (g *generator) constants() {
	g.nibbles = g.constant("amxNibbles", func(int) byte { return 0x0f })
	g.lanes = g.constant("amxLanes", func(i int) byte {
		if i%4 > 0 {
			return 0
		}
		return byte(i / 4)
	})
	g.digits = map[int][]operand.Mem{
		1: {
			g.constant("amxSigns0", func(i int) byte { return byte(i&1*2 - 1) }),
			g.constant("amxSigns1", func(i int) byte { return byte(i>>1&1*2 - 1) }),
			g.constant("amxSigns2", func(i int) byte { return byte(i>>2&1*2 - 1) }),
			g.constant("amxSigns3", func(i int) byte { return byte(i>>3&1*2 - 1) }),
		},
		2: {
			g.constant("amxCodes0", func(i int) byte { return byte(i&3 - 1) }),
			g.constant("amxCodes1", func(i int) byte { return byte(i>>2&3 - 1) }),
		},
	}
}

// constant writes 64 bytes.
func (g *generator) constant(name string, at func(i int) byte) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := 0; i < 64; i += 8 {
		var u uint64
		for j := range 8 {
			u |= uint64(at(i+j)) << (8 * j)
		}
		g.AppendDatum(operand.U64(u))
	}
	return m
}

// A digits is what expands codes of so many bits.
type digits struct {
	*generator
	nibble reg.VecVirtual
	tables []reg.VecVirtual
}

func (g *generator) loadDigits(bits int) digits {
	d := digits{generator: g, nibble: g.ZMM()}
	g.VMOVDQU64(g.nibbles, d.nibble)
	for _, m := range g.digits[bits] {
		t := g.ZMM()
		g.VMOVDQU64(m, t)
		d.tables = append(d.tables, t)
	}
	return d
}

// expand stores the codes of every byte of w, from the low bits up: code j at to(j).
func (d digits) expand(w reg.VecVirtual, to func(j int) operand.Mem) {
	high := d.ZMM()
	d.VPSRLW(operand.U8(4), w, high)
	for half, nibble := range []reg.VecVirtual{w, high} {
		d.VPANDD(d.nibble, nibble, nibble)
		for i, table := range d.tables {
			codes := d.ZMM()
			d.VPSHUFB(nibble, table, codes)
			d.VMOVDQU64(codes, to(half*len(d.tables)+i))
		}
	}
}

// A kernel is what all have in common.
type kernel struct {
	*generator
	room, q reg.GPVirtual // q: of the block's columns
	stored  [tiles]reg.OpmaskVirtual
}

// begin shapes the tiles and says which rows are stored.
func (g *generator) begin() *kernel {
	k := &kernel{generator: g, room: g.GP64(), q: g.GP64()}
	g.Load(g.Param("room"), k.room)
	g.Load(g.Param("q"), k.q)
	g.LDTILECFG(asm.At(k.room, configAt))
	rows, numbers, count := g.GP64(), g.ZMM(), g.ZMM()
	g.Load(g.Param("rows"), rows)
	g.VMOVDQU32(g.lanes, numbers)
	for v := range k.stored {
		k.stored[v] = g.K()
		g.VPBROADCASTD(rows.As32(), count)
		g.VPCMPGTD(numbers, count, k.stored[v])
		g.SUBQ(operand.I32(tileRows), rows)
	}
	return k
}

// end gives the tiles back.
func (k *kernel) end() {
	k.TILERELEASE()
	k.VZEROUPPER()
	k.RET()
}

// multiply multiplies what is expanded with all columns, steps products a tile. fold
// adds to the results: it is given where the first column of a tile that has not been
// folded has its sums, which it is, and how many there are.
func (k *kernel) multiply(steps func(to reg.GPVirtual), fold func(sums, column, count reg.GPVirtual)) {
	column, stride, row := k.GP64(), k.GP64(), k.GP64()
	k.XORQ(column, column)
	k.MOVQ(k.Argument("qStride"), stride)
	k.MOVQ(operand.I32(columnRow), row)

	k.Label("columns")
	k.Comment("The last tile begins with columns of the one before, which are not folded twice.")
	from, a, b, left := k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(k.Argument("cols"), from)
	k.SUBQ(k.Argument("tileCols"), from)
	k.CMPQ(column, from)
	k.CMOVQLT(column, from)
	k.MOVQ(from, a)
	k.IMULQ(stride, a)
	k.ADDQ(k.q, a)
	k.LEAQ(asm.At(k.room, codesAt), b)
	for v := range asm.Tile(tiles) {
		k.TILEZERO(v)
	}
	steps(left)
	k.Label("step")
	k.TILELOADD(operand.Mem{Base: a, Index: stride, Scale: 1}, activations)
	for v := range asm.Tile(tiles) {
		w := weights + v%3
		k.TILELOADD(operand.Mem{Base: b, Index: row, Scale: 1, Disp: codesOf * int(v)}, w)
		k.TDPBSSD(w, activations, v)
	}
	k.ADDQ(operand.I32(stepCols), a)
	k.ADDQ(operand.I32(tileBytes), b)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("step"))
	for v := range asm.Tile(tiles) {
		k.TILESTORED(v, operand.Mem{Base: k.room, Index: row, Scale: sumsRow / columnRow, Disp: sumsAt + 64*int(v)})
	}

	sums, count := k.GP64(), k.GP64()
	k.MOVQ(column, sums)
	k.SUBQ(from, sums)
	k.MOVQ(k.Argument("tileCols"), count)
	k.SUBQ(sums, count)
	k.SHLQ(operand.U8(8), sums) // sumsRow
	k.LEAQ(operand.Mem{Base: k.room, Index: sums, Scale: 1, Disp: sumsAt}, sums)
	fold(sums, column, count)
	k.MOVQ(from, column)
	k.ADDQ(k.Argument("tileCols"), column)
	k.CMPQ(column, k.Argument("cols"))
	k.JLT(operand.LabelRef("columns"))
}

// behind returns an argument, a pointer, plus another times n.
func (k *kernel) behind(pointer, stride string, n reg.GPVirtual) reg.GPVirtual {
	at := k.GP64()
	k.MOVQ(n, at)
	k.IMULQ(k.Argument(stride), at)
	k.ADDQ(k.Argument(pointer), at)
	return at
}

// result loads 16 rows of a column, those that are stored.
func (k *kernel) result(v int, column reg.GPVirtual) reg.VecVirtual {
	y := k.ZMM()
	k.VMOVUPS_Z(asm.At(column, 64*v), k.stored[v], y)
	return y
}

func (k *kernel) store(y reg.VecVirtual, v int, column reg.GPVirtual) {
	k.VMOVUPS(y, k.stored[v], asm.At(column, 64*v))
}

// A packed is a layout with a scale per block.
type packed interface {
	// spec returns the function's name, its further arguments and what they are.
	spec() (name, arguments string, doc []string)
	// expand expands a block of all tiles of rows, and goes to the next.
	expand(k *kernel, d digits)
	bits() int
	// steps sets to to the products of a block.
	steps(k *kernel, to reg.GPVirtual)
}

// blocks writes the kernel of a layout.
func (g *generator) blocks(p packed) {
	name, arguments, doc := p.spec()
	g.Func(name, "func(dst *float32, dstStride, rows int, data *byte, "+arguments+", blocks int, q *int8, qStride, cols, tileCols int, scales *float32, scaleStride, scaleStep int, room *byte)",
		append(append([]string{name + " adds to the results of cols columns the products of up to 64 rows of the"}, doc...),
			"",
			"\tfor c := range cols {",
			"\t\tfor r := range rows {",
			"\t\t\tfor b := range blocks {",
			"\t\t\t\tsum := Σ code(r, b, k) · q[c*qStride+k]",
			"\t\t\t\tscale := scales[(c*scaleStride+b*scaleStep)/4]",
			"\t\t\t\tdst[c*dstStride/4+r] += float32(float32(fp16(scale(r, b))*scale) * float32(sum))",
			"\t\t\t}",
			"\t\t}",
			"\t}",
			"",
			"tileCols is how many columns a tile has, as room's configuration says: at most cols.")...)
	k, d, scaleAt := g.begin(), g.loadDigits(p.bits()), g.GP64()
	g.XORQ(scaleAt, scaleAt)

	g.Label("block")
	p.expand(k, d)
	k.multiply(func(to reg.GPVirtual) { p.steps(k, to) }, func(sums, column, count reg.GPVirtual) {
		y, scale, stride, scaleStride := k.behind("dst", "dstStride", column), k.behind("scales", "scaleStride", column), g.GP64(), g.GP64()
		at := g.GP64()
		g.MOVQ(scaleAt, at)
		g.ANDQ(operand.I32(-4), at)
		g.ADDQ(at, scale)
		g.MOVQ(g.Argument("dstStride"), stride)
		g.MOVQ(g.Argument("scaleStride"), scaleStride)
		g.Label("fold")
		activation := g.ZMM()
		g.VBROADCASTSS(asm.At(scale, 0), activation)
		for v := range tiles {
			term, sum := g.ZMM(), g.ZMM()
			g.VMULPS(asm.At(k.room, weightsAt+64*v), activation, term)
			g.VCVTDQ2PS(asm.At(sums, 64*v), sum)
			g.VMULPS(sum, term, term)
			r := k.result(v, y)
			g.VADDPS(term, r, r)
			k.store(r, v, y)
		}
		g.ADDQ(operand.I32(sumsRow), sums)
		g.ADDQ(stride, y)
		g.ADDQ(scaleStride, scale)
		g.DECQ(count)
		g.JNZ(operand.LabelRef("fold"))
	})
	left := g.GP64()
	p.steps(k, left)
	g.SHLQ(operand.U8(6), left) // stepCols
	g.ADDQ(left, k.q)
	g.ADDQ(g.Argument("scaleStep"), scaleAt)
	g.DECQ(g.Argument("blocks"))
	g.JNZ(operand.LabelRef("block"))
	k.end()
}

// codes64 is the layout of that name of package twobit.
type codes64 struct{ *generator }

func (codes64) bits() int { return 2 }

func (codes64) spec() (name, arguments string, doc []string) {
	return "codes64", "steps", []string{
		"layout of that name of package twobit, a tile of it. A block has steps times 64",
		"columns.",
	}
}

func (codes64) steps(k *kernel, to reg.GPVirtual) { k.MOVQ(k.Argument("steps"), to) }

// expand takes four vectors, one for each tile of rows, of each 16 columns.
func (p codes64) expand(k *kernel, d digits) {
	data, to, left := k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(k.Argument("data"), data)
	k.LEAQ(asm.At(k.room, codesAt), to)
	p.steps(k, left)
	k.SHLQ(operand.U8(2), left)
	k.Label("expand")
	for v := range tiles {
		w := k.ZMM()
		k.VMOVDQU64(asm.At(data, 64*v), w)
		d.expand(w, func(j int) operand.Mem { return asm.At(to, codesOf*v+64*j) })
	}
	k.ADDQ(operand.I32(64*tiles), data)
	k.ADDQ(operand.I32(4*64), to)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("expand"))
	for v := range tiles {
		k.copyScales(asm.At(data, 32*v), asm.At(k.room, weightsAt+64*v))
	}
	k.ADDQ(operand.I32(32*tiles), data)
	k.MOVQ(data, k.Argument("data"))
}

// copyScales makes 16 fp16 scales float32.
func (k *kernel) copyScales(from, to operand.Mem) {
	scales := k.ZMM()
	k.VCVTPH2PS(from, scales)
	k.VMOVUPS(scales, to)
}

// bitplanes is the layout of that name of package q1.
type bitplanes struct{ *generator }

const (
	bitplanesVectors = 4 // of 32 columns
	bitplanesBlock   = 64*bitplanesVectors + 2*tileRows
)

func (bitplanes) bits() int { return 1 }

func (bitplanes) spec() (name, arguments string, doc []string) {
	return "bitplanes", "tileStride, tiles", []string{
		"layout of that name of package q1, up to 4 tiles that are tileStride bytes apart.",
	}
}

func (bitplanes) steps(k *kernel, to reg.GPVirtual) { k.MOVQ(operand.I32(2), to) }

// expand leaves the codes of tiles that are not there as they were: their rows are not
// stored.
func (bitplanes) expand(k *kernel, d digits) {
	data, to, scales, left := k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(k.Argument("data"), data)
	k.LEAQ(asm.At(k.room, codesAt), to)
	k.LEAQ(asm.At(k.room, weightsAt), scales)
	k.MOVQ(k.Argument("tiles"), left)
	k.Label("expand")
	for v := range bitplanesVectors {
		w := k.ZMM()
		k.VMOVDQU64(asm.At(data, 64*v), w)
		d.expand(w, func(j int) operand.Mem { return asm.At(to, 8*64*v+64*j) })
	}
	k.copyScales(asm.At(data, 64*bitplanesVectors), asm.At(scales, 0))
	k.ADDQ(k.Argument("tileStride"), data)
	k.ADDQ(operand.I32(codesOf), to)
	k.ADDQ(operand.I32(64), scales)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("expand"))
	k.ADDQ(operand.I32(bitplanesBlock), k.Argument("data"))
}

package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// A block is how a format with a scale per block lays it out.
type block struct {
	name  string
	bytes int
	data  int // where the codes begin
	codes int // bytes of codes: 16, 32 or 64
	scale int // where the fp16 scale is
	// groups is the activation scales of 4 blocks; 0: one for the whole row.
	groups int
}

// A blocksEngine multiplies vectors of codes: what kernels of formats with a
// scale per block do not share. A tile is 4 rows and as many blocks as a
// register has 128-bit lanes.
type blocksEngine interface {
	isa() string
	register() reg.VecVirtual
	prepare()
	// dot returns the sums of vectors of weights with what is behind q: 4
	// vectors of activations for each and their bias.
	dot(w []reg.VecVirtual, q operand.Mem) reg.VecVirtual
	// scaled takes the sums of a tile to what dot's should be.
	scaled(sum reg.VecVirtual)
}

// blockTile is the state of a kernel.
type blockTile struct {
	g *generator
	blocksEngine
	block
	width  int // bytes of a register
	blocks int // of a tile
	rows   [4]reg.GPVirtual
	offset []reg.GPVirtual // of blocks 1 and up; 0 where there is none
	q      reg.GPVirtual
	scales reg.GPVirtual
	ahead  reg.GPVirtual
	left   reg.GPVirtual
	valid  tileMask
}

// A tileMask says which blocks of a tile there are.
type tileMask struct {
	lanes, scales reg.OpmaskVirtual // AVX-512
	address       reg.GPVirtual     // AVX2: of a vector of masks
	second        reg.GPVirtual     // AVX2: where the second block's activation scale is
}

// blocksKernel writes the kernel of a format.
func (g *generator) blocksKernel(e blocksEngine, b block) {
	t := &blockTile{g: g, blocksEngine: e, block: b}
	t.width = int(e.register().Size())
	t.blocks = t.width / 16
	scale := "scales[g]"
	if b.groups > 0 {
		scale = fmt.Sprintf("scales[g*%d/128]", 4*b.codes)
	}
	g.Func("blocks"+b.name+e.isa(), "func(dst *float32, w *byte, stride, blocks int, q *int8, scales *float32, tiles int)",
		fmt.Sprintf("blocks%s%s multiplies tiles of 4 rows of blocks that start stride bytes", b.name, e.isa()),
		"apart; if stride is 0 they are one row, and one result is stored. q is in",
		fmt.Sprintf("block order for vectors of %d bytes of codes.", t.width),
		"",
		"\tfor r := range 4 * tiles {",
		"\t\tvar y float32",
		"\t\tfor g := range blocks {",
		fmt.Sprintf("\t\t\tblock := w[r*stride+%d*g:][:%d]", b.bytes, b.bytes),
		fmt.Sprintf("\t\t\tsum := dot(block[%d:%d], q, g)", b.data, b.data+b.codes),
		fmt.Sprintf("\t\t\ty += float32(float32(fp16(block[%d:])*%s) * float32(sum))", b.scale, scale),
		"\t\t}",
		"\t\tdst[r] = y",
		"\t}")
	t.generate()
}

func (t *blockTile) generate() {
	for i := range t.rows {
		t.rows[i] = t.g.GP64()
	}
	t.offset = []reg.GPVirtual{nil}
	for range t.blocks - 1 {
		t.offset = append(t.offset, t.g.GP64())
	}
	t.q, t.scales, t.ahead, t.left = t.g.GP64(), t.g.GP64(), t.g.GP64(), t.g.GP64()
	if t.width == sizeZMM {
		t.valid.lanes, t.valid.scales = t.g.K(), t.g.K()
	} else {
		t.valid.address, t.valid.second = t.g.GP64(), t.g.GP64()
	}
	t.prepare()

	t.g.Label("tile")
	t.startRows()
	y := t.g.XMM()
	t.g.VXORPS(y, y, y)

	t.g.Label("loop")
	t.g.CMPQ(t.left, operand.I32(t.blocks))
	t.g.JGE(operand.LabelRef("whole"))
	t.maskRest()
	t.g.Label("whole")
	t.addTerms(y, t.terms(t.tileSums()))
	for _, r := range t.rows {
		t.g.ADDQ(operand.I32(t.blocks*t.bytes), r)
	}
	t.g.ADDQ(operand.I32(5*t.blocks*t.codes), t.q)
	t.g.ADDQ(operand.I32(t.groups*t.blocks), t.scales) // 4 bytes for each of groups/4·blocks
	t.g.ADDQ(operand.I32(4*t.blocks*t.bytes), t.ahead)
	t.g.SUBQ(operand.I32(t.blocks), t.left)
	t.g.JG(operand.LabelRef("loop"))

	t.g.MOVQ(t.g.Argument("dst"), t.q)
	t.g.MOVQ(t.g.Argument("stride"), t.left)
	t.g.storeTile(y, t.q, t.left)
	t.g.ADDQ(operand.I32(16), t.g.Argument("dst"))
	t.g.SHLQ(operand.U8(2), t.left)
	t.g.ADDQ(t.left, t.g.Argument("w"))
	t.g.DECQ(t.g.Argument("tiles"))
	t.g.JNZ(operand.LabelRef("tile"))
	t.g.VZEROUPPER()
	t.g.RET()
}

// startRows points to the first block of 4 rows. The arguments in memory are
// the loop variables of the outer loop, for want of registers.
func (t *blockTile) startRows() {
	t.g.MOVQ(t.g.Argument("w"), t.rows[0])
	t.g.MOVQ(t.g.Argument("stride"), t.left)
	for i := range 3 {
		t.g.LEAQ(operand.Mem{Base: t.rows[i], Index: t.left, Scale: 1}, t.rows[i+1])
	}
	t.g.LEAQ(operand.Mem{Base: t.rows[3], Index: t.left, Scale: 1, Disp: prefetchBytes}, t.ahead)
	for i := 1; i < t.blocks; i++ {
		t.g.MOVQ(operand.I32(i*t.bytes), t.offset[i])
	}
	t.g.MOVQ(t.g.Argument("q"), t.q)
	t.g.MOVQ(t.g.Argument("scales"), t.scales)
	if t.width == sizeZMM {
		t.g.KXNORW(t.valid.lanes, t.valid.lanes, t.valid.lanes)
		t.g.MOVQ(operand.I32(1<<max(1, t.groups)-1), t.left)
		t.g.KMOVW(t.left.As32(), t.valid.scales)
	} else {
		t.g.LEAQ(t.g.prefix, t.valid.address)
		t.g.MOVQ(operand.I32(4), t.valid.second)
	}
	t.g.MOVQ(t.g.Argument("blocks"), t.left)
}

// maskRest prepares for a last tile that lacks blocks: the first block is
// read in their place and their terms are masked away.
func (t *blockTile) maskRest() {
	zero := t.g.GP64()
	t.g.XORQ(zero, zero)
	for i := 1; i < t.blocks; i++ {
		t.g.CMPQ(t.left, operand.I32(i))
		t.g.CMOVQLE(zero, t.offset[i])
	}
	if t.width != sizeZMM {
		t.g.LEAQ(t.g.prefix.Offset(64-16), t.valid.address)
		t.g.XORQ(t.valid.second, t.valid.second)
		return
	}
	t.g.prefixMask(t.left, 2, t.valid.lanes)
	switch t.groups {
	case 4:
		t.g.prefixMask(t.left, 0, t.valid.scales)
	case 2: // one scale for 1 and 2 blocks, two for 3
		t.g.MOVQ(t.left, zero)
		t.g.ADDQ(operand.I32(1), zero)
		t.g.SHRQ(operand.U8(1), zero)
		t.g.prefixMask(zero, 0, t.valid.scales)
	}
}

// prefixMask sets the first n<<shift bits of k.
func (g *generator) prefixMask(n reg.Register, shift uint8, k reg.OpmaskVirtual) {
	bits := g.GP64()
	g.MOVQ(n, reg.RCX)
	if shift > 0 {
		g.SHLQ(operand.U8(shift), reg.RCX)
	}
	g.MOVQ(operand.I32(1), bits)
	g.SHLQ(reg.CL, bits)
	g.DECQ(bits)
	g.KMOVW(bits.As32(), k)
}

// tileSums returns a vector with the sum of row r of block b at dword 4b+r.
func (t *blockTile) tileSums() reg.VecVirtual {
	sum := t.sum(0, t.blocks*min(t.codes, t.width)/t.width)
	t.scaled(sum)
	return sum
}

// sum returns the sums of n vectors of each row, from the first on. A vector
// here may be two of the machine's, if a block has as many.
func (t *blockTile) sum(first, n int) reg.VecVirtual {
	if n > 1 { // two adjacent lanes are one block's
		return t.addLanes(t.sum(first, n/2), t.sum(first+n/2, n/2))
	}
	var acc [4]reg.VecVirtual
	per := max(1, t.codes/t.width)
	for r := range acc {
		w := make([]reg.VecVirtual, per)
		for i := range w {
			w[i] = t.loadCodes(r, first*per+i)
		}
		acc[r] = t.dot(w, asm.At(t.q, 5*t.width*first*per))
		t.prefetch(4*first+r, t.blocks*min(t.codes, t.width)/t.width*4)
	}
	return t.g.TransposeAdd(acc)
}

// prefetch is part i of n of the prefetches of a tile.
func (t *blockTile) prefetch(i, n int) {
	lines := asm.Lines(asm.At(t.ahead, 0), 4*t.blocks*t.bytes)
	t.g.Prefetch(prefetchBytes, lines[i*len(lines)/n:(i+1)*len(lines)/n]...)
}

// at is disp bytes behind the start of block b of row r.
func (t *blockTile) at(r, b, disp int) operand.Mem {
	if b == 0 {
		return asm.At(t.rows[r], disp)
	}
	return operand.Mem{Base: t.rows[r], Index: t.offset[b], Scale: 1, Disp: disp}
}

// loadCodes returns vector v of the tile's codes of row r, which are parts of
// a block, or blocks.
func (t *blockTile) loadCodes(r, v int) reg.VecVirtual {
	w := t.register()
	per := t.width / t.codes
	switch {
	case per <= 1:
		parts := t.codes / t.width
		t.g.load(t.at(r, v/parts, t.data+v%parts*t.width), w)
	case t.codes == 32:
		t.g.VMOVDQU(t.at(r, 2*v, t.data), w.AsY())
		t.g.VINSERTI64X4(operand.U8(1), t.at(r, 2*v+1, t.data), w, w)
	default:
		t.g.VMOVDQU(t.at(r, per*v, t.data), w.AsX())
		t.g.VINSERTI128(operand.U8(1), t.at(r, per*v+1, t.data), w.AsY(), w.AsY())
		for i := 2; i < per; i++ {
			t.g.VINSERTI32X4(operand.U8(i), t.at(r, per*v+i, t.data), w, w)
		}
	}
	return w
}

// addLanes adds adjacent 128-bit lanes: those of a come first.
func (t *blockTile) addLanes(a, b reg.VecVirtual) reg.VecVirtual {
	even, odd := t.register(), t.register()
	if t.width == sizeZMM {
		t.g.VSHUFI32X4(operand.U8(0x88), b, a, even)
		t.g.VSHUFI32X4(operand.U8(0xdd), b, a, odd)
	} else {
		t.g.VPERM2I128(operand.U8(0x20), b, a, even)
		t.g.VPERM2I128(operand.U8(0x31), b, a, odd)
	}
	t.g.VPADDD(odd, even, even)
	return even
}

// terms returns (weight scale · activation scale) · sum.
func (t *blockTile) terms(sum reg.VecVirtual) reg.VecVirtual {
	scale := t.weightScales()
	t.g.VMULPS(t.activationScales(), scale, scale)
	t.g.VCVTDQ2PS(sum, sum)
	if t.width == sizeZMM {
		t.g.VMULPS_Z(scale, sum, t.valid.lanes, sum)
		return sum
	}
	t.g.VMULPS(scale, sum, sum)
	t.g.VANDPS(asm.At(t.valid.address, 0), sum, sum)
	return sum
}

// weightScales returns that of row r of block b at dword 4b+r.
func (t *blockTile) weightScales() reg.VecVirtual {
	var pairs []reg.VecVirtual
	for b := 0; b < t.blocks; b += 2 {
		x := t.g.XMM()
		t.g.VPXOR(x, x, x)
		for i := range 8 {
			t.g.VPINSRW(operand.U8(i), t.at(i%4, b+i/4, t.scale), x, x)
		}
		pairs = append(pairs, x)
	}
	scale := t.register()
	if len(pairs) == 1 {
		t.g.VCVTPH2PS(pairs[0], scale)
		return scale
	}
	y := t.g.YMM()
	t.g.VINSERTI128(operand.U8(1), pairs[1], pairs[0].AsY(), y)
	t.g.VCVTPH2PS(y, scale)
	return scale
}

// activationScales returns that of block b at dwords 4b to 4b+3.
func (t *blockTile) activationScales() reg.VecVirtual {
	v := t.register()
	switch {
	case t.groups*t.blocks <= 4: // one for the tile, or the row
		t.g.VBROADCASTSS(asm.At(t.scales, 0), v)
	case t.width == sizeZMM:
		t.g.VMOVUPS_Z(asm.At(t.scales, 0), t.valid.scales, v.AsX())
		index := t.register()
		t.g.VMOVDQU64(t.g.laneIndex[t.groups], index)
		t.g.VPERMPS(v, index, v)
	default:
		second := t.g.XMM()
		t.g.VBROADCASTSS(asm.At(t.scales, 0), v.AsX())
		t.g.VBROADCASTSS(operand.Mem{Base: t.scales, Index: t.valid.second, Scale: 1}, second)
		t.g.VINSERTF128(operand.U8(1), second, v, v)
	}
	return v
}

// addTerms adds the terms of blocks in their order to y.
func (t *blockTile) addTerms(y, terms reg.VecVirtual) {
	t.g.VADDPS(terms.AsX(), y, y)
	x := t.g.XMM()
	t.g.VEXTRACTF128(operand.U8(1), terms.AsY(), x)
	t.g.VADDPS(x, y, y)
	for b := 2; b < t.blocks; b++ {
		t.g.VEXTRACTF32X4(operand.U8(b), terms, x)
		t.g.VADDPS(x, y, y)
	}
}

// dpBlocks adds with VPDPBUSD, from the highest shift to the lowest: after
// each but the last a shift by 2 brings the sum to the next one's scale.
type dpBlocks struct {
	g     *generator
	vex   bool
	masks []reg.VecVirtual
}

func (e *dpBlocks) isa() string {
	if e.vex {
		return "AVXVNNI"
	}
	return "AVX512VNNI"
}

func (e *dpBlocks) register() reg.VecVirtual {
	if e.vex {
		return e.g.YMM()
	}
	return e.g.ZMM()
}

func (e *dpBlocks) prepare() { e.masks = e.g.loadMasks(e.register, 4) }

func (e *dpBlocks) dot(w []reg.VecVirtual, q operand.Mem) reg.VecVirtual {
	acc := e.register()
	width := int(acc.Size())
	e.g.load(q.Offset(4*width), acc)
	for i := 1; i < len(w); i++ {
		e.g.VPADDD(q.Offset((5*i+4)*width), acc, acc)
	}
	for j := 3; j >= 0; j-- {
		for i := range w {
			t := e.register()
			from := q.Offset((5*i + j) * width)
			if e.vex {
				qv := e.g.YMM()
				e.g.VPAND(e.masks[j], w[i], t)
				e.g.VMOVDQU(from, qv)
				e.g.VEXDPBUSD(qv, t, acc)
			} else {
				e.g.VPANDD(e.masks[j], w[i], t)
				e.g.VPDPBUSD(from, t, acc)
			}
		}
		if j > 0 {
			e.g.VPSRAD(operand.U8(2), acc, acc)
		}
	}
	return acc
}

func (e *dpBlocks) scaled(sum reg.VecVirtual) {}

// wordBlocks adds with VPMADDUBSW in int16. Codes of shifts 2 and 6 are left
// 4 times as large: sums of 4 pairs of products stay below 4·2·12·127 =
// 12,192, whatever the codes.
type wordBlocks struct {
	g     *generator
	masks []reg.VecVirtual
}

func (e *wordBlocks) isa() string              { return "AVX2" }
func (e *wordBlocks) register() reg.VecVirtual { return e.g.YMM() }
func (e *wordBlocks) prepare()                 { e.masks = e.g.loadMasks(e.g.YMM, 2) }

func (e *wordBlocks) dot(w []reg.VecVirtual, q operand.Mem) reg.VecVirtual {
	var words [2]reg.VecVirtual
	for i := range w {
		for j := range 4 {
			if j == 2 {
				e.g.VPSRLW(operand.U8(4), w[i], w[i])
			}
			t := e.g.YMM()
			e.g.VPAND(e.masks[j%2], w[i], t)
			e.g.VPMADDUBSW(q.Offset((5*i+j)*32), t, t)
			if words[j%2] == nil {
				words[j%2] = t
			} else {
				e.g.VPADDW(t, words[j%2], words[j%2])
			}
		}
	}
	e.g.VPMADDWD(e.g.word64, words[0], words[0])
	e.g.VPMADDWD(e.g.word16, words[1], words[1])
	e.g.VPADDD(words[1], words[0], words[0])
	for i := range w {
		e.g.VPADDD(q.Offset((5*i+4)*32), words[0], words[0])
	}
	return words[0]
}

func (e *wordBlocks) scaled(sum reg.VecVirtual) { e.g.VPSRAD(operand.U8(6), sum, sum) }

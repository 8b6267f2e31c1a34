// Package twobit generates the kernels of the formats with 2-bit codes.
//
// Those for one column mask the four codes of every byte where they lie, with 0x03,
// 0x0c, 0x30 and 0xc0, and never shift them down: what a mask leaves is the
// code times 4^j, and one shift of the sums makes up for it. The activations
// have been arranged (arrange.go) so that byte i of vector j of a unit
// belongs to the code that mask j leaves of byte i of the weights. A unit is
// 64 bytes of weights and 256 activations.
//
// Those for batches shift codes down to bytes, which many columns meet: in
// registers with AVX-512 (batch.go), in memory with fewer of them (strips.go).
package twobit

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	unitBytes = 64  // of weights
	unitQ     = 256 // activations of a unit
)

// Generate writes all functions of twobit_amd64.s.
func Generate(p *asm.Program) {
	g := &generator{Program: p}
	g.constants()
	g.rows(&rowsAVX512VNNI{g: g})
	g.rows(&rowsAVXVNNI{g: g})
	g.rows(&rowsAVX2{g: g})
	g.arrangeRows(span{"I2S", 32, true})
	g.arrangeRows(span{"I2SARM", 16, true})
	g.arrangeRows(span{"U32", 1, false})
	g.arrangeRows(span{"TQ2", 32, false})
	g.arrangeRows(span{"Dwords", 4, false})
	for _, width := range []int{32, 64} {
		g.arrangeBlocks(span{"TQ2", 32, false}, width)
		g.arrangeBlocks(span{"Q2", 1, false}, width)
	}
	g.panel()
	g.codes64()
	g.narrowCodes64(&dpCodes{g: g})
	g.narrowCodes64(&wordCodes{g: g})
	g.packCodes64()
	g.packRows()
	g.digits64()
	g.packDigits64()
	g.digitsRows(&dpDigits{g: g})
	g.digitsRows(&dpDigits{g: g, vex: true})
	g.digitsRows(&wordDigits{g: g})
	for _, cols := range []int{4, 6, 8} {
		g.tileBatch(cols)
		g.digits64Batch(cols)
	}
	g.strip(dpStrip{g})
	g.strip(wordStrip{g})
	for _, b := range []block{
		{name: "TQ2", bytes: 66, codes: 64, scale: 64},
		{name: "Q2", bytes: 18, data: 2, codes: 16, groups: 2},
		{name: "Q2G128", bytes: 34, data: 2, codes: 32, groups: 4},
	} {
		g.blocksKernel(&dpBlocks{g: g}, b)
		g.blocksKernel(&dpBlocks{g: g, vex: true}, b)
		g.blocksKernel(&wordBlocks{g: g}, b)
	}
}

// A generator is a program with the constants of these kernels in memory.
type generator struct {
	*asm.Program
	masks     [4]operand.Mem // 64 bytes of 0x03 << 2j
	prefix    operand.Mem    // 64 bytes of 0xff, then 64 of zero
	byteOnes  operand.Mem    // 64 bytes of 1
	wordOnes  operand.Mem    // 32 int16 of 1
	wordFours operand.Mem    // 32 int16 of 4
	word16    operand.Mem    // 32 int16 of 16
	word64    operand.Mem    // 32 int16 of 64

	laneNumbers operand.Mem // 0 to 15 as int32

	byteQuads  operand.Mem // VPSHUFB: bytes 0, 4, 8, 12, 1, 5, … of each lane
	dwordLanes operand.Mem // VPERMD: dwords 0, 4, 1, 5, …
	// laneIndex[n] spreads the n activation scales of 4 blocks (VPERMPS).
	laneIndex map[int]operand.Mem
}

func (g *generator) constants() {
	for j := range g.masks {
		g.masks[j] = g.repeat(fmt.Sprint("twobitMask", j), 0x0303030303030303<<(2*j), unitBytes)
	}
	g.byteOnes = g.repeat("twobitByteOnes", 0x0101010101010101, 64)
	g.wordOnes = g.repeat("twobitWordOnes", 0x0001000100010001, 64)
	g.wordFours = g.repeat("twobitWordFours", 0x0004000400040004, 64)
	g.word16 = g.repeat("twobitWord16", 0x0010001000100010, 64)
	g.word64 = g.repeat("twobitWord64", 0x0040004000400040, 64)
	g.prefix = g.repeat("twobitPrefix", 1<<64-1, 64)
	for range 64 / 8 {
		g.AppendDatum(operand.U64(0))
	}
	numbers := make([]uint64, 8)
	for i := range numbers {
		numbers[i] = uint64(2*i+1)<<32 | uint64(2*i)
	}
	g.laneNumbers = g.table("twobitLaneNumbers", numbers...)
	g.byteQuads = g.table("twobitByteQuads", 0x0d0905010c080400, 0x0f0b07030e0a0602, 0x0d0905010c080400, 0x0f0b07030e0a0602)
	g.dwordLanes = g.table("twobitDwordLanes", 4<<32, 5<<32|1, 6<<32|2, 7<<32|3)
	g.laneIndex = map[int]operand.Mem{
		2: g.table("twobitLaneIndex2", 0, 0, 0, 0, 1<<32|1, 1<<32|1, 1<<32|1, 1<<32|1),
		4: g.table("twobitLaneIndex4", 0, 0, 1<<32|1, 1<<32|1, 2<<32|2, 2<<32|2, 3<<32|3, 3<<32|3),
	}
}

// table writes v.
func (g *generator) table(name string, v ...uint64) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, v := range v {
		g.AppendDatum(operand.U64(v))
	}
	return m
}

// repeat writes size bytes of v over and over.
func (g *generator) repeat(name string, v uint64, size int) operand.Mem {
	return g.table(name, slices.Repeat([]uint64{v}, size/8)...)
}

const sizeZMM = 64

// loadMasks returns the first n masks in registers.
func (g *generator) loadMasks(register func() reg.VecVirtual, n int) []reg.VecVirtual {
	masks := make([]reg.VecVirtual, n)
	for j := range masks {
		masks[j] = register()
		g.load(g.masks[j], masks[j])
	}
	return masks
}

func (g *generator) load(from operand.Mem, to reg.VecVirtual) {
	if to.Size() == sizeZMM {
		g.VMOVDQU64(from, to)
	} else {
		g.VMOVDQU(from, to)
	}
}

// zeros returns n cleared registers.
func (g *generator) zeros(register func() reg.VecVirtual, n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = register()
		g.Clear(v[i])
	}
	return v
}

// foldLanes returns the sum of the 128-bit lanes of v.
func (g *generator) foldLanes(v reg.VecVirtual) reg.VecVirtual {
	y := v
	if v.Size() == sizeZMM {
		y = g.YMM()
		g.VEXTRACTI64X4(operand.U8(1), v, y)
		g.VPADDD(v.AsY(), y, y)
	}
	x := g.XMM()
	g.VEXTRACTI128(operand.U8(1), y, x)
	g.VPADDD(y.AsX(), x, x)
	return x
}

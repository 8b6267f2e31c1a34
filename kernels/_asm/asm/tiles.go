package asm

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Tile is one of the eight tile registers of AMX: up to 16 rows of up to 64 bytes, as
// LDTILECFG says.
type Tile uint8

// String returns the register's name.
func (t Tile) String() string { return fmt.Sprintf("TMM%d", uint8(t)) }

// The encodings of AMX's instructions, which neither avo nor Go's assembler knows:
// VEX.128, map 0F38, W0. Source: Intel SDM, volume 2.
var tileOpcodes = map[string]struct{ prefix, opcode byte }{
	"LDTILECFG":   {prefixNone, 0x49},
	"TILERELEASE": {prefixNone, 0x49},
	"TILEZERO":    {prefixF2, 0x49},
	"TILELOADD":   {prefixF2, 0x4b},
	"TILESTORED":  {prefixF3, 0x4b},
	"TDPBSSD":     {prefixF2, 0x5e},
}

// Prefixes as VEX has them.
const (
	prefixNone = 0
	prefixF3   = 2
	prefixF2   = 3
)

const tilePrefix = "TILE_"

// LDTILECFG shapes the tiles by 64 bytes at m, and sets them to zero: palette 1 as byte 0,
// the bytes of a row of tile t as a uint16 at 16+2t, its rows as byte 48+t.
func (p *Program) LDTILECFG(m operand.Mem) { p.tile("LDTILECFG", nil, m) }

// TILERELEASE gives the tiles back, so that no system saves them.
func (p *Program) TILERELEASE() { p.tile("TILERELEASE", nil) }

// TILEZERO sets t to zero.
func (p *Program) TILEZERO(t Tile) { p.tile("TILEZERO", []Tile{t}) }

// TILELOADD loads the rows of t, which are index·scale apart from m's base on.
func (p *Program) TILELOADD(m operand.Mem, t Tile) { p.tile("TILELOADD", []Tile{t}, m) }

// TILESTORED stores the rows of t likewise.
func (p *Program) TILESTORED(t Tile, m operand.Mem) { p.tile("TILESTORED", []Tile{t}, m) }

// TDPBSSD adds products of signed bytes:
//
//	acc.int32[m][n] += Σ_k Σ_{t<4} int32(a.int8[m][4k+t]) · int32(b.int8[k][4n+t])
func (p *Program) TDPBSSD(b, a, acc Tile) { p.tile("TDPBSSD", []Tile{b, a, acc}) }

func (p *Program) tile(op string, tiles []Tile, mem ...operand.Op) {
	i := &ir.Instruction{Opcode: tilePrefix + op, Inputs: mem, ISA: []string{"AMX_INT8"}}
	i.Operands = append(i.Operands, mem...)
	for _, t := range tiles {
		i.Operands = append(i.Operands, operand.U8(t))
	}
	p.Instruction(i)
}

// encodeTiles writes out what tile marked.
func encodeTiles(i *ir.Instruction) error {
	name, marked := strings.CutPrefix(i.Opcode, tilePrefix)
	if !marked {
		return nil
	}
	var address *operand.Mem
	var tiles []Tile
	for _, op := range i.Operands {
		switch op := op.(type) {
		case operand.Mem:
			address = &op
		case operand.U8:
			tiles = append(tiles, Tile(op))
		}
	}
	i.Opcode, i.Operands = "BYTE", []operand.Op{encodeTile(name, tiles, address)}
	return nil
}

// encodeTile returns an instruction on tiles, or on memory and at most one.
func encodeTile(name string, tiles []Tile, m *operand.Mem) bytesOp {
	op := tileOpcodes[name]
	v := vexTile{prefix: op.prefix, opcode: op.opcode}
	operands := make([]string, len(tiles))
	for i, t := range tiles {
		operands[i] = t.String()
	}
	switch {
	case m != nil && len(tiles) == 0:
		v.address(0, m)
		operands = []string{m.Asm()}
	case m != nil:
		v.address(byte(tiles[0]), m)
		operands = []string{m.Asm(), operands[0]}
		if name == "TILESTORED" {
			operands[0], operands[1] = operands[1], operands[0]
		}
	case len(tiles) == 3: // the second source in vvvv
		v.vvvv = byte(tiles[0])
		v.operands = []byte{3<<6 | byte(tiles[2])<<3 | byte(tiles[1])}
	case len(tiles) == 1:
		v.operands = []byte{3<<6 | byte(tiles[0])<<3}
	default:
		v.operands = []byte{3 << 6}
	}
	return bytesOp{v.bytes(), strings.TrimSpace(name + " " + strings.Join(operands, ", "))}
}

// A vexTile is the fields of an encoding.
type vexTile struct {
	prefix, opcode byte
	index, base    byte // their highest bits
	vvvv           byte
	operands       []byte // ModRM and what follows
}

func (v *vexTile) bytes() []byte {
	return append([]byte{
		0xc4,
		1<<7 | (v.index^1)<<6 | (v.base^1)<<5 | 0x02, // R̄ X̄ B̄, map 0F38
		(^v.vvvv&15)<<3 | v.prefix,                   // W0, v̄v̄v̄v̄, L=128
		v.opcode,
	}, v.operands...)
}

// address encodes m with a register, or what stands in its place.
func (v *vexTile) address(register byte, m *operand.Mem) {
	base := number(m.Base)
	v.base = base >> 3
	mod := byte(2) // with 32 bits of displacement
	if m.Disp == 0 && base&7 != 5 {
		mod = 0
	}
	v.operands = []byte{mod<<6 | register<<3 | base&7}
	if m.Index != nil || base&7 == 4 {
		index := byte(4) // none
		if m.Index != nil {
			index = number(m.Index)
		}
		v.index = index >> 3
		v.operands[0] = mod<<6 | register<<3 | 4
		v.operands = append(v.operands, scaleBits[m.Scale]<<6|index&7<<3|base&7)
	}
	if mod == 2 {
		v.operands = binary.LittleEndian.AppendUint32(v.operands, uint32(m.Disp))
	}
}

var scaleBits = map[uint8]byte{1: 0, 2: 1, 4: 2, 8: 3}

func number(r reg.Register) byte { return byte(r.(reg.Physical).PhysicalIndex()) }

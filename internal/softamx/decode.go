package softamx

import "encoding/binary"

// An Op is an instruction on tiles.
type Op string

// The instructions that the model knows.
const (
	LDTILECFG   Op = "ldtilecfg"
	TILERELEASE Op = "tilerelease"
	TILEZERO    Op = "tilezero"
	TILELOADD   Op = "tileloadd"
	TILESTORED  Op = "tilestored"
	TDPBUUD     Op = "tdpbuud" // unsigned with unsigned bytes
	TDPBUSD     Op = "tdpbusd"
	TDPBSUD     Op = "tdpbsud"
	TDPBSSD     Op = "tdpbssd"
)

// An Instruction is decoded.
type Instruction struct {
	Op      Op
	Len     int // bytes
	Tile    int // the destination, or what is stored
	A, B    int // the sources of a product
	Address Address
}

// An Address is base + disp, and from row to row of a tile index << shift more. Registers
// are by their numbers; -1 is none.
type Address struct {
	Base, Index int
	Shift       uint8
	Disp        int64
}

// Prefixes as VEX has them: none, 66, F3, F2.
var (
	registerOps = map[byte][4]Op{
		0x49: {TILERELEASE, "", "", TILEZERO},
		0x5e: {TDPBUUD, TDPBUSD, TDPBSUD, TDPBSSD},
	}
	memoryOps = map[byte][4]Op{
		0x49: {LDTILECFG, "", "", ""},
		0x4b: {"", "", TILESTORED, TILELOADD},
	}
)

// Decode returns the instruction that code begins with, if it is one on tiles: in the
// encoding VEX.128.0F38.W0.
func Decode(code []byte) (i Instruction, ok bool) {
	if len(code) < 5 || code[0] != 0xc4 || code[1]&0x1f != 2 || code[2]&0x84 != 0 {
		return i, false
	}
	prefix, modrm := code[2]&3, code[4]
	register := int(modrm>>3&7) | int(^code[1]>>7)<<3
	vvvv := int(^code[2] >> 3 & 15)
	if modrm>>6 == 3 {
		i = Instruction{Op: registerOps[code[3]][prefix], Len: 5, Tile: register, A: int(modrm & 7), B: vvvv}
		return i, i.Op != "" && i.valid()
	}
	i = Instruction{Op: memoryOps[code[3]][prefix], Tile: register}
	if i.Op == "" || vvvv != 0 || !i.address(code) {
		return i, false
	}
	return i, i.valid()
}

// valid holds the fields that an instruction does not use to what they must be.
func (i *Instruction) valid() bool {
	switch i.Op {
	case LDTILECFG:
		return i.Tile == 0
	case TILERELEASE:
		return i.Tile == 0 && i.A == 0 && i.B == 0
	case TILEZERO:
		return i.Tile < tiles && i.A == 0 && i.B == 0
	case TILELOADD, TILESTORED:
		return i.Tile < tiles
	}
	// The tiles of a product differ.
	return i.Tile < tiles && i.B < tiles && i.Tile != i.A && i.Tile != i.B && i.A != i.B
}

// address decodes ModRM and what follows. Rows of tiles want a SIB byte; addresses by
// RIP are unknown to the model.
func (i *Instruction) address(code []byte) bool {
	mod, rm := code[4]>>6, int(code[4]&7)
	index, base := int(^code[1]>>6&1)<<3, int(^code[1]>>5&1)<<3
	at := 5
	i.Address = Address{Base: base | rm, Index: -1}
	if rm == 4 {
		if len(code) < 6 {
			return false
		}
		sib := code[5]
		at++
		i.Address = Address{Base: base | int(sib&7), Index: index | int(sib>>3&7), Shift: sib >> 6}
		if i.Address.Index == 4 {
			i.Address.Index = -1
		}
	} else if i.Op != LDTILECFG {
		return false
	}
	switch {
	case mod == 0 && i.Address.Base&7 == 5:
		return false
	case mod == 1 && len(code) > at:
		i.Address.Disp = int64(int8(code[at]))
		at++
	case mod == 2 && len(code) >= at+4:
		i.Address.Disp = int64(int32(binary.LittleEndian.Uint32(code[at:])))
		at += 4
	case mod != 0:
		return false
	}
	i.Len = at
	return true
}

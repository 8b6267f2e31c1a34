package softamx

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	tiles    = 8
	maxRows  = 16
	rowBytes = 64
)

// A tile is a register. What is behind its rows and columns is zero.
type tile struct {
	rows, colsb int // none: not configured
	data        [maxRows][rowBytes]byte
}

// A Unit is the tiles of a thread, at first not configured.
type Unit struct {
	tiles [tiles]tile
	// InUse says that they are, and would be saved with the thread.
	InUse bool
}

// Memory is what instructions load from and store to. A row that may not be read or
// written is an error.
type Memory interface {
	Read(rows [][]byte, at []uint64) error
	Write(rows [][]byte, at []uint64) error
}

// Do executes an instruction with general registers by their numbers. An error is what
// the CPU answers by an exception.
func (u *Unit) Do(i *Instruction, registers *[16]uint64, m Memory) error {
	if err := u.do(i, registers, m); err != nil {
		return fmt.Errorf("%s: %w", i.Op, err)
	}
	return nil
}

func (u *Unit) do(i *Instruction, registers *[16]uint64, m Memory) error {
	t := &u.tiles[i.Tile&7]
	switch i.Op {
	case LDTILECFG:
		var config [64]byte
		base, _ := i.Address.rows(registers)
		if err := m.Read([][]byte{config[:]}, []uint64{base}); err != nil {
			return err
		}
		return u.configure(&config)
	case TILERELEASE:
		*u = Unit{}
		return nil
	case TILEZERO:
		if t.rows == 0 {
			return errNotConfigured
		}
		t.data = [maxRows][rowBytes]byte{}
		return nil
	case TILELOADD:
		if t.rows == 0 {
			return errNotConfigured
		}
		rows := make([][]byte, t.rows)
		var data [maxRows][rowBytes]byte
		for r := range rows {
			rows[r] = data[r][:t.colsb]
		}
		if err := m.Read(rows, i.Address.each(registers, t.rows)); err != nil {
			return err
		}
		t.data = data
		return nil
	case TILESTORED:
		if t.rows == 0 {
			return errNotConfigured
		}
		rows := make([][]byte, t.rows)
		for r := range rows {
			rows[r] = t.data[r][:t.colsb]
		}
		return m.Write(rows, i.Address.each(registers, t.rows))
	}
	signedA, signedB := i.Op == TDPBSUD || i.Op == TDPBSSD, i.Op == TDPBUSD || i.Op == TDPBSSD
	return t.addProducts(&u.tiles[i.A], &u.tiles[i.B], signedA, signedB)
}

// rows returns the address of the first row, and the distance of the others.
func (a Address) rows(registers *[16]uint64) (base, stride uint64) {
	base = registers[a.Base] + uint64(a.Disp)
	if a.Index >= 0 {
		stride = registers[a.Index] << a.Shift
	}
	return base, stride
}

func (a Address) each(registers *[16]uint64, rows int) []uint64 {
	base, stride := a.rows(registers)
	at := make([]uint64, rows)
	for r := range at {
		at[r] = base + uint64(r)*stride
	}
	return at
}

var errNotConfigured = errors.New("the tile is not configured")

// configure shapes the tiles as LDTILECFG does.
func (u *Unit) configure(config *[64]byte) error {
	next := Unit{InUse: true}
	switch palette := config[0]; palette {
	case 0:
		*u = Unit{}
		return nil
	case 1:
	default:
		return fmt.Errorf("palette %d", palette)
	}
	for i, b := range config {
		used := i == 0 || i >= 16 && i < 16+2*tiles || i >= 48 && i < 48+tiles
		if !used && b != 0 { // byte 1, the row to start with, is 0 in programs
			return fmt.Errorf("byte %d of the configuration is %d", i, b)
		}
	}
	for t := range next.tiles {
		colsb, rows := int(binary.LittleEndian.Uint16(config[16+2*t:])), int(config[48+t])
		if colsb > rowBytes || rows > maxRows || (colsb == 0) != (rows == 0) {
			return fmt.Errorf("tile %d has %d rows of %d bytes", t, rows, colsb)
		}
		next.tiles[t].colsb, next.tiles[t].rows = colsb, rows
	}
	*u = next
	return nil
}

// addProducts is TDPB…D: t.int32[m][n] += Σ_k Σ_{i<4} a[m][4k+i] · b[k][4n+i].
func (t *tile) addProducts(a, b *tile, signedA, signedB bool) error {
	switch {
	case t.rows == 0 || a.rows == 0 || b.rows == 0:
		return errNotConfigured
	case t.colsb%4 != 0 || a.colsb%4 != 0:
		return fmt.Errorf("rows of %d and %d bytes are not dwords", t.colsb, a.colsb)
	case t.rows != a.rows || t.colsb != b.colsb || a.colsb/4 != b.rows:
		return fmt.Errorf("%d × %d bytes += %d × %d · %d × %d", t.rows, t.colsb, a.rows, a.colsb, b.rows, b.colsb)
	}
	as, bs := a.extend(signedA), b.extend(signedB)
	for m := range t.rows {
		for n := range t.colsb / 4 {
			to := t.data[m][4*n:][:4]
			sum := int32(binary.LittleEndian.Uint32(to))
			for k := range b.rows {
				x, y := (*[4]int32)(as[m][4*k:]), (*[4]int32)(bs[k][4*n:])
				sum += x[0]*y[0] + x[1]*y[1] + x[2]*y[2] + x[3]*y[3]
			}
			binary.LittleEndian.PutUint32(to, uint32(sum))
		}
	}
	return nil
}

// extend returns the bytes as integers.
func (t *tile) extend(signed bool) (out [maxRows][rowBytes]int32) {
	for r := range t.rows {
		for i, b := range t.data[r][:t.colsb] {
			if out[r][i] = int32(b); signed {
				out[r][i] = int32(int8(b))
			}
		}
	}
	return out
}

package roofline

import (
	"encoding/binary"
	"slices"

	"onebit/internal/cpu"
)

// readKernel is one way to read memory.
type readKernel struct {
	Name     string
	Requires cpu.Set

	// step divides the lengths that read accepts; read returns the sum of the
	// n/8 words at p, for n ≥ 0.
	step int
	read func(p *byte, n int) uint64
}

// readKernels returns the kernels that run on a machine with these features,
// usually cpu.Detected(), the widest first. There is always one.
func readKernels(have cpu.Set) []readKernel {
	return slices.DeleteFunc(slices.Concat(archReadKernels, []readKernel{{Name: "go"}}), func(k readKernel) bool {
		return !have.Has(k.Requires)
	})
}

// chunk bounds the time in assembly, which the scheduler cannot interrupt.
const chunk = 4 << 20

// Sum reads buf and returns the sum of its little-endian 64-bit words modulo
// 2⁶⁴; a last part of a word counts as if zeroes followed it.
func (k readKernel) Sum(buf []byte) uint64 {
	var sum uint64
	for len(buf) > chunk {
		sum += k.sumChunk(buf[:chunk])
		buf = buf[chunk:]
	}
	return sum + k.sumChunk(buf)
}

func (k readKernel) sumChunk(buf []byte) uint64 {
	if k.read == nil {
		return sumGo(buf)
	}
	n := len(buf) / k.step * k.step
	switch n {
	case 0:
		return sumGo(buf)
	case len(buf):
		return k.read(&buf[0], n)
	}
	return k.read(&buf[0], n) + sumGo(buf[n:])
}

// sumGo is the pure Go kernel, and what all others are compared with. Eight
// sums keep the additions from waiting for each other.
func sumGo(buf []byte) uint64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for len(buf) >= 64 {
		b := (*[64]byte)(buf)
		s0 += binary.LittleEndian.Uint64(b[0:])
		s1 += binary.LittleEndian.Uint64(b[8:])
		s2 += binary.LittleEndian.Uint64(b[16:])
		s3 += binary.LittleEndian.Uint64(b[24:])
		s4 += binary.LittleEndian.Uint64(b[32:])
		s5 += binary.LittleEndian.Uint64(b[40:])
		s6 += binary.LittleEndian.Uint64(b[48:])
		s7 += binary.LittleEndian.Uint64(b[56:])
		buf = buf[64:]
	}
	sum := s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
	for len(buf) >= 8 {
		sum += binary.LittleEndian.Uint64(buf)
		buf = buf[8:]
	}
	var last [8]byte
	copy(last[:], buf)
	return sum + binary.LittleEndian.Uint64(last[:])
}

// part is the i-th of n parts of buf, which start at multiples of 4 KiB so that
// no page belongs to two; short buffers are cut at cache lines.
func part(buf []byte, i, n int) []byte {
	unit := 4096
	if len(buf) < 4*unit*n {
		unit = 64
	}
	units := len(buf) / unit
	lo, hi := units*i/n*unit, units*(i+1)/n*unit
	if i == n-1 {
		hi = len(buf)
	}
	return buf[lo:hi:hi]
}

package roofline

import (
	"encoding/binary"
	"slices"

	"onebit/internal/cpu"
)

// A kernel is one way to read, write or copy memory.
type kernel[Move any] struct {
	Name     string
	Requires cpu.Set

	// step divides the lengths that move accepts, and align the addresses that it
	// writes to. Go's kernel has no move.
	step, align int
	move        Move
}

type (
	// A readKernel returns the sum of the n/8 words at p, for n ≥ 0.
	readKernel = kernel[func(p *byte, n int) uint64]
	// A writeKernel stores word n/8 times at p, for n ≥ 0.
	writeKernel = kernel[func(p *byte, n int, word uint64)]
	// A copyKernel copies n bytes, for n ≥ 0.
	copyKernel = kernel[func(dst, src *byte, n int)]
)

// running are the kernels that run on a machine with these features, usually
// cpu.Detected(), the widest first. There is always one, in pure Go.
func running[Move any](all []kernel[Move], have cpu.Set) []kernel[Move] {
	return slices.DeleteFunc(slices.Concat(all, []kernel[Move]{{Name: "go"}}), func(k kernel[Move]) bool {
		return !have.Has(k.Requires)
	})
}

// chunk bounds the time in assembly, which the scheduler cannot interrupt.
const chunk = 4 << 20

// sum reads buf and returns the sum of its little-endian 64-bit words modulo
// 2⁶⁴; a last part of a word counts as if zeroes followed it.
func sum(k readKernel, buf []byte) uint64 {
	var s uint64
	for len(buf) > chunk {
		s += sumChunk(k, buf[:chunk])
		buf = buf[chunk:]
	}
	return s + sumChunk(k, buf)
}

func sumChunk(k readKernel, buf []byte) uint64 {
	if k.move == nil {
		return sumGo(buf)
	}
	n := len(buf) / k.step * k.step
	switch n {
	case 0:
		return sumGo(buf)
	case len(buf):
		return k.move(&buf[0], n)
	}
	return k.move(&buf[0], n) + sumGo(buf[n:])
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

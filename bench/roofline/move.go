package roofline

import (
	"slices"
	"unsafe"

	"onebit/internal/cpu"
)

// writeKernel is one way to write memory.
type writeKernel struct {
	Name     string
	Requires cpu.Set

	// step divides the lengths that write accepts, and align the addresses;
	// write stores word n/8 times at p, for n ≥ 0.
	step, align int
	write       func(p *byte, n int, word uint64)
}

// writeKernels returns the kernels that run on a machine with these features,
// usually cpu.Detected(), the widest first. There is always one.
func writeKernels(have cpu.Set) []writeKernel {
	return slices.DeleteFunc(slices.Concat(archWriteKernels, []writeKernel{{Name: "go"}}), func(k writeKernel) bool {
		return !have.Has(k.Requires)
	})
}

// Fill sets every byte of buf to b.
func (k writeKernel) Fill(buf []byte, b byte) {
	for len(buf) > chunk {
		k.fillChunk(buf[:chunk], b)
		buf = buf[chunk:]
	}
	k.fillChunk(buf, b)
}

func (k writeKernel) fillChunk(buf []byte, b byte) {
	if k.write == nil {
		fillGo(buf, b)
		return
	}
	head := min(misalignment(buf, k.align), len(buf))
	fillGo(buf[:head], b)
	buf = buf[head:]
	n := len(buf) / k.step * k.step
	if n > 0 {
		k.write(&buf[0], n, uint64(b)*0x0101010101010101)
	}
	fillGo(buf[n:], b)
}

// misalignment is how many bytes before the first multiple of align buf has.
func misalignment(buf []byte, align int) int {
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf))) & uintptr(align-1))
}

// fillGo is the pure Go kernel, and what all others are compared with. It is
// the runtime's memmove, for Go has no memset but for zeroes.
func fillGo(buf []byte, b byte) {
	if len(buf) == 0 {
		return
	}
	const block = 4096
	first := buf[:min(block, len(buf))]
	for i := range first {
		first[i] = b
	}
	for rest := buf[len(first):]; len(rest) > 0; {
		rest = rest[copy(rest, first):]
	}
}

// copyKernel is one way to copy memory.
type copyKernel struct {
	Name     string
	Requires cpu.Set

	// step divides the lengths that copy accepts, and align the addresses that
	// it copies to.
	step, align int
	copy        func(dst, src *byte, n int)
}

// copyKernels returns the kernels that run on a machine with these features,
// usually cpu.Detected(), the widest first. There is always one: Go's copy.
func copyKernels(have cpu.Set) []copyKernel {
	return slices.DeleteFunc(slices.Concat(archCopyKernels, []copyKernel{{Name: "go"}}), func(k copyKernel) bool {
		return !have.Has(k.Requires)
	})
}

// Copy copies src to dst, which has as many bytes and does not overlap it. It
// panics if dst is shorter.
func (k copyKernel) Copy(dst, src []byte) {
	dst = dst[:len(src)]
	for len(src) > chunk {
		k.copyChunk(dst[:chunk], src[:chunk])
		dst, src = dst[chunk:], src[chunk:]
	}
	k.copyChunk(dst, src)
}

func (k copyKernel) copyChunk(dst, src []byte) {
	if k.copy == nil {
		copy(dst, src)
		return
	}
	head := min(misalignment(dst, k.align), len(dst))
	copy(dst[:head], src)
	dst, src = dst[head:], src[head:]
	n := len(dst) / k.step * k.step
	if n > 0 {
		k.copy(&dst[0], &src[0], n)
	}
	copy(dst[n:], src[n:])
}

package roofline

import "unsafe"

// fill sets every byte of buf to b.
func fill(k writeKernel, buf []byte, b byte) {
	for len(buf) > chunk {
		fillChunk(k, buf[:chunk], b)
		buf = buf[chunk:]
	}
	fillChunk(k, buf, b)
}

func fillChunk(k writeKernel, buf []byte, b byte) {
	if k.move == nil {
		fillGo(buf, b)
		return
	}
	head := min(misalignment(buf, k.align), len(buf))
	fillGo(buf[:head], b)
	buf = buf[head:]
	n := len(buf) / k.step * k.step
	if n > 0 {
		k.move(&buf[0], n, uint64(b)*0x0101010101010101)
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

// copyTo copies src to dst, which has as many bytes and does not overlap it. It
// panics if dst is shorter.
func copyTo(k copyKernel, dst, src []byte) {
	dst = dst[:len(src)]
	for len(src) > chunk {
		copyChunk(k, dst[:chunk], src[:chunk])
		dst, src = dst[chunk:], src[chunk:]
	}
	copyChunk(k, dst, src)
}

func copyChunk(k copyKernel, dst, src []byte) {
	if k.move == nil {
		copy(dst, src)
		return
	}
	head := min(misalignment(dst, k.align), len(dst))
	copy(dst[:head], src)
	dst, src = dst[head:], src[head:]
	n := len(dst) / k.step * k.step
	if n > 0 {
		k.move(&dst[0], &src[0], n)
	}
	copy(dst[n:], src[n:])
}

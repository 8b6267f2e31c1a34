// Package aligned makes room that begins a cache line.
package aligned

import "unsafe"

const line = 64

// A Room has room for a T that begins a cache line.
type Room[T any] struct {
	_ T
	_ [line]byte
}

// T returns it.
func (r *Room[T]) T() *T {
	return (*T)(unsafe.Add(unsafe.Pointer(r), -uintptr(unsafe.Pointer(r))&(line-1)))
}

// Grow returns a slice of n elements, s itself if it is large enough. New
// memory is 64-byte aligned and comes from alloc, or from make if that is nil.
// What was in s is lost.
func Grow[T any](s []T, n int, alloc func(bytes int) []byte) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if alloc != nil {
		// Exactly as large as wanted, so that guard pages bite.
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(alloc(n*size)))), n)
	}
	if cap(s) >= n {
		return s[:n]
	}
	b := make([]byte, n*size+line)
	off := -uintptr(unsafe.Pointer(&b[0])) & (line - 1)
	return unsafe.Slice((*T)(unsafe.Pointer(&b[off])), n)
}

//go:build !purego && (amd64 || arm64)

package roofline

import "unsafe"

// Chains hold addresses, so that a step is one load; they lie outside the Go
// heap.
func chainOrigin(first *byte) uint64 { return uint64(uintptr(unsafe.Pointer(first))) }

func chase(_ []byte, at uint64, steps int) uint64 { return chaseAddresses(at, steps) }

//go:noescape
func chaseAddresses(at uint64, steps int) uint64

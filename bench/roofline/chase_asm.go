//go:build !purego && (amd64 || arm64)

package roofline

// Chains hold addresses, so that a step is one load.
func chainOrigin(first *byte) uint64 { return address(first) }

func chase(_ []byte, at uint64, steps int) uint64 { return chaseAddresses(at, steps) }

//go:noescape
func chaseAddresses(at uint64, steps int) uint64

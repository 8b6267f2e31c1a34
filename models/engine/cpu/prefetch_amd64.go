//go:build !purego

package cpu

import "onebit/internal/cpu"

// prefetchL2 is what the assembly reads.
//
//lint:ignore U1000 it does
var prefetchL2 = cpu.PrefetchL2()

//go:build !purego

package kernels

import "onebit/internal/cpu"

// prefetchL2 says into which cache kernels fetch weights ahead. A core of AMD
// waits for fewer lines at once in level 1 than memory has under way; fetched
// into level 2, they do not count. Intel's gets least of that
// (docs/measurements/kernels-memory.md). It is the one thing that the CPU's vendor
// decides behind a variant's name: a hint, on which no result depends.
//
//lint:ignore U1000 the assembly reads it
var prefetchL2 = cpu.Host().Vendor == "AuthenticAMD"

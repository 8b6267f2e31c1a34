//go:build !purego

package heads

import "onebit/kernels/internal/prefetch"

// prefetchL2 is what the assembly reads.
//
//lint:ignore U1000 it does
var prefetchL2 = prefetch.L2

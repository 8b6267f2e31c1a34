package cpu

import (
	"onebit/kernels"
	"onebit/models/arch"
)

// What operations take a thread, in nanoseconds, by which they are shared among
// threads or not: see [kernels.Pool.Worth]. They are of one machine
// (docs/measurements/threads.md). Where they are wrong operations take longer, by a
// dispatch at most; results do not depend on them.
const (
	// Of a value.
	normCost      = 0.15
	ropeCost      = 0.4
	addCost       = 0.13
	clampCost     = 0.5
	routeCost     = 1 // of a logit
	combineCost   = 0.1
	moveCost      = 0.1
	storeCost     = 0.3
	convolveCost  = 1
	deltaGateCost = 10
	hadamardCost  = 0.5

	runCost = 70 // of each run of values that has a norm of its own

	// Of a multiply-add.
	attendCost    = 0.04
	deltaCost     = 0.1
	productCost   = 0.013
	goProductCost = 1
)

// normsCost is that of so many values in norms of so many each.
func normsCost(values, run int) float64 {
	return normCost*float64(values) + runCost*float64(values/run)
}

// gateCost is that of a value.
func gateCost(f arch.Activation) float64 {
	if f == arch.ReLU2 {
		return 0.1
	}
	return 0.7
}

// productsCost is that of products.
func productsCost(products []kernels.Product) (nanoseconds float64) {
	for _, p := range products {
		cost := productCost
		if p.Variant.ISA == kernels.Go {
			cost = goProductCost
		}
		nanoseconds += cost * float64(len(p.Dst)*p.Matrix.Cols)
	}
	return nanoseconds
}

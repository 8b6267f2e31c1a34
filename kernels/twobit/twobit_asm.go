//go:build !purego && (amd64 || arm64)

package twobit

// The numbers of columns from which batches are worth while. Fewer are done
// one by one while the weights are in the cache. Blocks on AVX-512 VNNI: from two.
const (
	ternaryBatchFrom = 4
	blocksBatchFrom  = 3
)

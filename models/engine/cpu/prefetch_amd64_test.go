//go:build !purego

package cpu

import "testing"

// Where keys and values are fetched to changes no bit: the vectors' tests, with what
// this CPU does and what others do.
func TestPrefetchChangesNothing(t *testing.T) {
	defer func(was bool) { prefetchL2 = was }(prefetchL2)
	prefetchL2 = !prefetchL2
	eachVectors(t, testAttentionVectors)
}

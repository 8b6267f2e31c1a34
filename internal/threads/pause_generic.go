//go:build purego || (!amd64 && !arm64)

package threads

// pause stands in for n spin-wait hints.
func pause(n uint32) {
	for range 16 * n {
	}
}

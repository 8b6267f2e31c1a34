//go:build !purego && (amd64 || arm64)

package threads

// pause executes n spin-wait hints (PAUSE, YIELD).
//
//go:noescape
func pause(n uint32)

//go:build !unix

package bounded

// Files elsewhere are opened without waiting.
const withoutWaiting = 0

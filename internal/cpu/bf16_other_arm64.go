//go:build !purego && arm64 && !linux && !darwin

package cpu

// hasBF16 is false where the system is not known to tell.
func hasBF16() bool { return false }

//go:build !purego && !linux

package cpu

// askForTiles is false where the system is not known to be asked.
func askForTiles() bool { return false }

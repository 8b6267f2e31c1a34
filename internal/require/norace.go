//go:build !race

package require

// Race says that the race detector is on: see race.go.
const Race = false

//go:build !purego

package models

// Every arm64 has NEON.
const hasSIMD = true

//go:noescape
func scoresSIMD(dst, q *float32, rows *byte, n, width int, ahead *byte)

//go:noescape
func weightedSIMD(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)

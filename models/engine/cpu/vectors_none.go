//go:build purego || !(amd64 || arm64)

package cpu

var simdVectors []*Vectors

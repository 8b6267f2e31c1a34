//go:build purego || !(amd64 || arm64)

package vectors

var archVariants []*Variant

//go:build purego || !amd64

package vectors

var archVariants []*Variant

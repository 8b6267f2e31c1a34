//go:build purego || !amd64

package dense

var archVariants []*Variant

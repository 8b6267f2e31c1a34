//go:build purego || !(amd64 || arm64)

package dense

var archVariants []*Variant

//go:build purego || !amd64

package twobit

// packWordUnits leaves all columns of four rows to packWordRow.
func packWordUnits(dst, group []byte) int { return 0 }

// unpackTQ1Blocks unpacks the blocks of src.
func unpackTQ1Blocks(dst, src []byte) { unpackTQ1BlocksGo(dst, src) }

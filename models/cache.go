package models

import (
	"encoding/binary"
	"math"

	"onebit/formats"
	"onebit/internal/mmap"
)

// A cache holds the keys and values of a session's tokens in a float format,
// in tiles of 128 positions × a head's width:
//
//	position 0…127                           │ position 128…255
//	block 0                    block 1       │ block 0 …
//	head 0    head 1    …      head 0   …    │
//	K  V      K  V      …      K  V     …    │
//
// Memory is reserved for all positions and, in this order, taken from the
// system as they come.
type cache struct {
	cell
	mem                *mmap.Anon
	data               []byte
	format             *formats.Type
	blocks, heads, dim int
	capacity           int // positions
	tileBytes          int
}

// cacheTile is the number of positions in a tile.
const cacheTile = 128

// A cell is what a format does as a cache's.
type cell struct {
	width  int // bytes per value
	encode func(dst []byte, src []float32)
	// weighted adds to dst the first rows of a tile, each times its weight.
	weighted func(dst, weights []float32, rows []byte)
}

var cells = map[*formats.Type]cell{
	formats.F16: {2, encodeF16, weightedF16},
	formats.F32: {4, encodeF32, weightedF32},
}

func newCache(c Config, format *formats.Type, capacity int) (*cache, error) {
	kv := &cache{
		cell: cells[format], format: format,
		blocks: c.Layers, heads: c.KVHeads, dim: c.HeadDim, capacity: capacity,
	}
	kv.tileBytes = cacheTile * kv.dim * kv.width
	tiles := (capacity + cacheTile - 1) / cacheTile
	mem, err := mmap.Alloc(tiles * kv.blocks * kv.heads * 2 * kv.tileBytes)
	if err != nil {
		return nil, err
	}
	kv.mem, kv.data = mem, mem.Bytes()
	return kv, nil
}

// keys returns a tile of keys: positions × width.
func (kv *cache) keys(tile, block, head int) []byte {
	at := ((tile*kv.blocks+block)*kv.heads + head) * 2 * kv.tileBytes
	return kv.data[at:][:kv.tileBytes:kv.tileBytes]
}

// values returns the values that belong to keys.
func (kv *cache) values(tile, block, head int) []byte {
	at := (((tile*kv.blocks+block)*kv.heads+head)*2 + 1) * kv.tileBytes
	return kv.data[at:][:kv.tileBytes:kv.tileBytes]
}

// put stores the keys and values of a position: heads × width each.
func (kv *cache) put(block, position int, keys, values []float32) {
	tile, at := position/cacheTile, position%cacheTile*kv.dim*kv.width
	for head := range kv.heads {
		kv.encode(kv.keys(tile, block, head)[at:], keys[head*kv.dim:][:kv.dim])
		kv.encode(kv.values(tile, block, head)[at:], values[head*kv.dim:][:kv.dim])
	}
}

// bytes returns the size of the keys and values of so many positions in one
// block.
func (kv *cache) bytes(positions int) int { return positions * kv.heads * kv.dim * 2 * kv.width }

func encodeF32(dst []byte, src []float32) {
	for i, x := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
	}
}

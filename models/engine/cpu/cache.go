package cpu

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/half"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/engine"
)

// A cache holds the keys and values of a session's tokens in one of several
// formats, in tiles of 128 positions × a head's width:
//
//	position 0…127                           │ position 128…255
//	block 0                    block 1       │ block 0 …
//	head 0    head 1    …      head 0   …    │
//	K  V      K  V      …      K  V     …    │
//
// Memory is reserved for all positions and, in this order, taken from the
// system as they come: for the first tiles in small pages, so that a short
// prompt does not wait for the whole of them to be cleared, 14 MiB of
// Bonsai-1.7B, and behind them in huge ones. What is resident follows the
// position, rounded up to a tile, and goes back when that does.
type cache struct {
	cell
	vec                *Vectors
	mem                *mmap.Anon
	data               []byte
	quantizer          *kernels.Variant // rounds what a format with scales keeps
	blocks, heads, dim int
	slot               []int // of a block, which of those that keep anything it is
	capacity           int   // positions
	rowBytes           int   // of a head's key or value
	tileBytes          int
	reached            int // tiles that may have been written to since they were given back
	ledger             *ledger
}

// cacheTile is the number of positions in a tile.
const cacheTile = 128

// A cell is what a format does as a cache's. Queries stay float32 whatever it
// is, and meet keys that were decoded, so that the rounding of keys and values
// is all the error there is.
type cell struct {
	encode func(kv *cache, dst []byte, src []float32, acts *kernels.Activations)
	decode func(v *Vectors, dst []float32, src []byte) // nil: they are float32
}

var cells = map[*formats.Type]cell{
	formats.F32: {encode: func(_ *cache, dst []byte, src []float32, _ *kernels.Activations) { copy(floatsOf(dst), src) }},
	formats.F16: {
		func(kv *cache, dst []byte, src []float32, _ *kernels.Activations) { kv.vec.encodeF16(dst, src) },
		func(v *Vectors, dst []float32, src []byte) { v.decodeF16(dst, src) },
	},
	formats.Q8_0: {encodeQ8, func(v *Vectors, dst []float32, src []byte) { v.decodeQ8(dst, src) }},
}

// CacheFormats lists what keys and values can be kept in.
func CacheFormats() []*formats.Type {
	return slices.SortedFunc(maps.Keys(cells), func(a, b *formats.Type) int { return cmp.Compare(a.Name, b.Name) })
}

// newCache makes room for the blocks whose state is a KV.
func newCache(vec *Vectors, states []engine.State, shape engine.KV, format *formats.Type, capacity int) (*cache, error) {
	kv := &cache{cell: cells[format], vec: vec, heads: shape.Heads, dim: shape.Dim, capacity: capacity, slot: make([]int, len(states))}
	for i, state := range states {
		if _, ok := state.(engine.KV); ok {
			kv.slot[i] = kv.blocks
			kv.blocks++
		}
	}
	var err error
	// Any variant of these instructions will do, for they quantize alike.
	if kv.quantizer, err = kernels.BestFor(format.Name, kernels.FormatOf(format).Scheme, cpu.Host().With(vec.ISA.Requires)); err != nil {
		return nil, err
	}
	if kv.rowBytes, err = format.Bytes(1, kv.dim); err != nil {
		return nil, fmt.Errorf("keys and values cannot be kept in %s: %w", format.Name, err)
	}
	kv.tileBytes = cacheTile * kv.rowBytes
	if kv.mem, err = mmap.Alloc(tilesOf(capacity) * kv.layerBytes()); err != nil {
		return nil, err
	}
	kv.mem.SmallPages(kv.layerBytes())
	kv.data = kv.mem.Bytes()
	return kv, nil
}

// layerBytes returns the size of a tile of every block and head.
func (kv *cache) layerBytes() int { return kv.blocks * kv.heads * 2 * kv.tileBytes }

// tilesOf returns how many tiles so many positions lie in.
func tilesOf(positions int) int { return roundUp(positions, cacheTile) / cacheTile }

// keys returns a tile of keys: positions × width.
func (kv *cache) keys(tile, block, head int) []byte {
	at := ((tile*kv.blocks+kv.slot[block])*kv.heads + head) * 2 * kv.tileBytes
	return kv.data[at:][:kv.tileBytes:kv.tileBytes]
}

// values returns the values that belong to keys.
func (kv *cache) values(tile, block, head int) []byte {
	at := (((tile*kv.blocks+kv.slot[block])*kv.heads+head)*2 + 1) * kv.tileBytes
	return kv.data[at:][:kv.tileBytes:kv.tileBytes]
}

// put stores the keys and values of a position: heads × width each. acts is
// scratch space.
func (kv *cache) put(block, position int, keys, values []float32, acts *kernels.Activations) {
	tile, at := position/cacheTile, position%cacheTile*kv.rowBytes
	for head := range kv.heads {
		kv.encode(kv, kv.keys(tile, block, head)[at:], keys[head*kv.dim:][:kv.dim], acts)
		kv.encode(kv, kv.values(tile, block, head)[at:], values[head*kv.dim:][:kv.dim], acts)
	}
}

// floats returns rows of a tile, from a position in it on, in float32: those in
// the cache or, decoded, scratch space. Rows behind them are there and hold
// anything.
func (kv *cache) floats(tile []byte, at, rows int, scratch []float32) []float32 {
	src := tile[at%cacheTile*kv.rowBytes:]
	if kv.decode == nil {
		return floatsOf(src)
	}
	kv.decode(kv.vec, scratch[:rows*kv.dim], src)
	return scratch
}

// bytes returns the size of the keys and values of so many positions in one
// block.
func (kv *cache) bytes(positions int) int { return positions * kv.heads * 2 * kv.rowBytes }

// floatsOf returns the float32 numbers that b is, in the machine's byte order: no
// other machine reads them.
func floatsOf(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// encodeQ8 writes blocks of q8_0 as the activation scheme of the same layout
// rounds them: what is not finite gets a scale that is NaN or infinite.
func encodeQ8(kv *cache, dst []byte, src []float32, acts *kernels.Activations) {
	acts.Prepare(kv.quantizer, src, 1, len(src))
	for i, scale := range acts.Scales[:len(src)/q8Len] {
		block, codes := dst[i*q8Bytes:][:q8Bytes], acts.Q[i*q8Len:][:q8Len]
		half.Put(block, scale)
		copy(block[2:], unsafe.Slice((*byte)(unsafe.Pointer(&codes[0])), q8Len))
	}
}

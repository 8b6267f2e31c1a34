package cpu

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unsafe"

	"onebit/formats"
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
// A query meets the keys of 8 positions or more at once, a number of each after
// the other. So number k of 8 positions' keys lies in a row: [8 positions][width]
// turned to [width][8 positions].
//
// Values lie in rows, as formats has them. Those in int8 meet the weights of two
// positions at once, so that a tile of them is the fp16 scales of all positions,
// [width / 32][128], and then the codes of every two positions side by side:
// [64][width][2] bytes. Of q4_0, a byte has a code of one of two positions in its low
// half, and of the position two behind that in its high half: [32][width][2].
//
// Blocks that look at a window have a ring, a cache of as many tiles as a window and a
// batch may touch, which come around again: see [ring].
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
	blocks, heads, dim int
	slot               []int // of a block, which of those that keep anything it is
	capacity           int   // positions, in whole tiles
	window             int   // of a ring: how many positions tokens look at; 0: it is none
	rowBytes           int   // of a head's key or value
	tileBytes          int
	reached            int // tiles that may have been written to since they were given back
	ledger             *ledger
}

// cacheTile is the number of positions in a tile.
const cacheTile = 128

// A cell is what a format does as a cache's. Keys lie in groups of 8 positions, the
// parts of their rows that belong together side by side: of each block, the scales of
// all of them, if it has one, and then units of so many bytes.
type cell struct {
	encode  func(kv *cache, dst []byte, src []float32, acts *kernels.Activations)
	block   int                                         // bytes; 0: a row is one
	scale   int                                         // bytes of a block's scale
	unit    int                                         // bytes
	decode  func(v *Vectors, dst []float32, src []byte) // of values, and of whole groups of keys; nil: they are float32, or
	int8    bool                                        // they are multiplied in int8
	halves  bool                                        // they are fp16
	nibbles bool                                        // blocks are q4_0's, to be unpacked to q8_0's
}

var cells = map[*formats.Type]cell{
	formats.F32: {
		encode: func(_ *cache, dst []byte, src []float32, _ *kernels.Activations) { copy(floatsOf(dst), src) },
		unit:   4,
	},
	formats.F16: {
		encode: func(kv *cache, dst []byte, src []float32, _ *kernels.Activations) { kv.vec.EncodeF16(dst, src) },
		unit:   2, decode: func(v *Vectors, dst []float32, src []byte) { v.DecodeF16(dst, src) },
		halves: true,
	},
	formats.Q8_0: {
		encode: encodeQ8,
		unit:   4, block: q8Bytes, scale: codesOf(formats.Q8_0).At,
		int8: true,
	},
	formats.Q4_0: {
		encode: encodeQ4,
		unit:   4, block: q4Bytes, scale: codesOf(formats.Q4_0).At,
		int8: true, nibbles: true,
	},
}

// CacheFormats lists what keys and values can be kept in.
func CacheFormats() []*formats.Type {
	return slices.SortedFunc(maps.Keys(cells), func(a, b *formats.Type) int { return cmp.Compare(a.Name, b.Name) })
}

// CacheFormat returns the one of CacheFormats that has that name.
func CacheFormat(name string) (*formats.Type, error) {
	var known []string
	for _, t := range CacheFormats() {
		if t.Name == name {
			return t, nil
		}
		known = append(known, t.Name)
	}
	return nil, fmt.Errorf("keys and values cannot be kept in %q (known: %s)", name, strings.Join(known, ", "))
}

// newCache makes room for some blocks, by their numbers.
func newCache(vec *Vectors, blocks []int, shape engine.KV, format *formats.Type, capacity int) (*cache, error) {
	kv := &cache{cell: cells[format], vec: vec, heads: shape.Heads, dim: shape.Dim, capacity: capacity, blocks: len(blocks), window: shape.Window}
	kv.slot = make([]int, slices.Max(blocks)+1)
	for i, block := range blocks {
		kv.slot[block] = i
	}
	var err error
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
	at := ((kv.place(tile)*kv.blocks+kv.slot[block])*kv.heads + head) * 2 * kv.tileBytes
	return kv.data[at:][:kv.tileBytes:kv.tileBytes]
}

// values returns the values that belong to keys.
func (kv *cache) values(tile, block, head int) []byte {
	at := (((kv.place(tile)*kv.blocks+kv.slot[block])*kv.heads+head)*2 + 1) * kv.tileBytes
	return kv.data[at:][:kv.tileBytes:kv.tileBytes]
}

// A cacheWriter is scratch space of put.
type cacheWriter struct {
	acts kernels.Activations
	row  []byte
}

// put stores the keys and values of a position: heads × width each.
func (kv *cache) put(block, position int, keys, values []float32, w *cacheWriter) {
	if len(w.row) < kv.rowBytes {
		w.row = make([]byte, kv.rowBytes)
	}
	tile, at := position/cacheTile, position%cacheTile
	for head := range kv.heads {
		row := w.row[:kv.rowBytes]
		kv.encode(kv, row, keys[head*kv.dim:][:kv.dim], &w.acts)
		kv.scatter(kv.keys(tile, block, head)[at/keyGroup*keyGroup*kv.rowBytes:], at%keyGroup, row)
		dst, src := kv.values(tile, block, head), values[head*kv.dim:][:kv.dim]
		if kv.int8 {
			kv.encode(kv, row, src, &w.acts)
			kv.pair(dst, at, row)
		} else {
			kv.encode(kv, dst[at*kv.rowBytes:], src, &w.acts)
		}
	}
}

// scales returns those of a tile's values in int8.
func (kv *cache) scales(tile []byte) []byte { return tile[:2*cacheTile*kv.dim/q8Len] }

// pair writes a row of values in int8 or less to a position's place in a tile.
func (kv *cache) pair(tile []byte, at int, row []byte) {
	scales, pair, high := kv.scales(tile), at/2, at%4 >= 2
	if kv.nibbles {
		pair /= 2
	}
	codes := tile[len(scales)+pair*2*kv.dim+at%2:]
	for ; len(row) > 0; row, scales = row[kv.cell.block:], scales[2*cacheTile:] {
		copy(scales[2*at:], row[:2])
		for i := range q8Len {
			switch to := &codes[2*i]; {
			case !kv.nibbles:
				*to = row[2+i]
			case high:
				*to = *to&0x0f | nibble(row[2:], i)<<4
			default:
				*to = *to&0xf0 | nibble(row[2:], i)
			}
		}
		codes = codes[min(2*q8Len, len(codes)):]
	}
}

// nibble returns code i of a block of q4_0.
func nibble(codes []byte, i int) byte { return codes[i%(q8Len/2)] >> (i / (q8Len / 2) * 4) & 15 }

// scatter writes a row into a group, as the position of that place in it.
func (kv *cache) scatter(group []byte, place int, row []byte) {
	length := cmp.Or(kv.cell.block, len(row))
	for ; len(row) > 0; row, group = row[length:], group[keyGroup*length:] {
		copy(group[place*kv.scale:], row[:kv.scale])
		spread(group[keyGroup*kv.scale+place*kv.unit:], row[kv.scale:length], kv.unit)
	}
}

// spread writes units of src so that keyGroup-1 others fit between them.
func spread(dst, src []byte, unit int) {
	if unit == 2 {
		for at := 0; len(src) >= 2; at, src = at+2*keyGroup, src[2:] {
			binary.LittleEndian.PutUint16(dst[at:], binary.LittleEndian.Uint16(src))
		}
		return
	}
	for at := 0; len(src) >= 4; at, src = at+4*keyGroup, src[4:] {
		binary.LittleEndian.PutUint32(dst[at:], binary.LittleEndian.Uint32(src))
	}
}

// A cacheReader is scratch space for attendSpan positions of a head in floats, or a
// tile of them in int8.
type cacheReader struct {
	decoded []float32 // keys or values
	copied  []float32 // bytes of them, as a cache has them, or in q8_0
}

func (kv *cache) newReader() cacheReader {
	if kv.int8 {
		return cacheReader{copied: make([]float32, int8ReaderFloats(kv.dim))}
	}
	return cacheReader{make([]float32, attendSpan*kv.dim), make([]float32, attendSpan*kv.dim)}
}

// int8ReaderFloats is how many float32 a tile of a head's keys in q8_0 takes.
func int8ReaderFloats(dim int) int { return cacheTile * dim / q8Len * q8Bytes / 4 }

func (r *cacheReader) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&r.copied[0])), 4*len(r.copied))
}

// groups returns the groups of a tile's keys, for so many positions from one on
// that begins a group, in q8_0 if they are in q4_0, and what kernels may read behind
// them, up to a multiple of attendSpan positions: in the cache where there are as many, otherwise
// in scratch space. What is behind them is anything; in the cache it is not read,
// so as not to take its pages.
func (kv *cache) groups(tile []byte, at, positions int, r *cacheReader) []byte {
	src, groups := tile[at*kv.rowBytes:], (positions+keyGroup-1)/keyGroup
	switch {
	case kv.nibbles:
		kv.vec.unpackQ4(r.bytes(), src, groups*kv.dim/q8Len)
	case positions%attendSpan != 0:
		copy(r.bytes(), src[:groups*keyGroup*kv.rowBytes])
	default:
		return src
	}
	return r.bytes()
}

// floatKeys is groups in float32.
func (kv *cache) floatKeys(tile []byte, at, positions int, r *cacheReader) []float32 {
	if kv.decode == nil {
		return floatsOf(kv.groups(tile, at, positions, r))
	}
	kv.decode(kv.vec, r.decoded[:roundUp(positions, keyGroup)*kv.dim], tile[at*kv.rowBytes:])
	return r.decoded
}

// floatValues returns the values of positions of a tile in float32.
func (kv *cache) floatValues(tile []byte, at, positions int, r *cacheReader) []float32 {
	src := tile[at*kv.rowBytes:]
	if kv.decode == nil {
		return floatsOf(src)
	}
	kv.decode(kv.vec, r.decoded[:positions*kv.dim], src)
	return r.decoded
}

// int8Values returns the codes of the values of a tile's first positions, in pairs.
// What is behind them, up to a multiple of keyGroup, is anything.
func (kv *cache) int8Values(tile []byte, positions int, r *cacheReader) []byte {
	codes := tile[len(kv.scales(tile)):]
	if !kv.nibbles {
		return codes
	}
	kv.vec.unpackPairs(r.bytes(), codes[:roundUp(positions, keyGroup)*kv.dim/2], kv.dim)
	return r.bytes()
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
	acts.Quantize(kv.vec.ISA, kernels.Q8Per32, src, 1, len(src))
	for i, scale := range acts.Scales[:len(src)/q8Len] {
		block, codes := dst[i*q8Bytes:][:q8Bytes], acts.Q[i*q8Len:][:q8Len]
		half.Put(block, scale)
		copy(block[2:], unsafe.Slice((*byte)(unsafe.Pointer(&codes[0])), q8Len))
	}
}

// encodeQ4 writes blocks of q4_0. Where one is not finite, or too large for the
// format, all of the head's are NaN.
func encodeQ4(_ *cache, dst []byte, src []float32, _ *kernels.Activations) {
	dst = dst[:len(src)/q8Len*q4Bytes]
	if formats.Q4_0.Matrix(dst, 1, len(src)).Quantize(src) == nil {
		return
	}
	for ; len(dst) > 0; dst = dst[q4Bytes:] {
		half.Put(dst, float32(math.NaN()))
	}
}

package models

import (
	"encoding/binary"
	"math"

	"onebit/formats"
	"onebit/internal/half"
	"onebit/internal/mmap"
)

// A cache holds the keys and values of a session's tokens in a float format.
// It lies so that both products of attention are matrix-vector products on
// it: keys as rows of a head's width, values transposed, for each run of 128
// positions:
//
//	position 0…127                                      │ position 128…255
//	block 0                        block 1              │ block 0 …
//	head 0    head 1      …        head 0    …          │
//	K  Vᵀ     K  Vᵀ       …        K  Vᵀ     …          │
//
//	K  [128 positions × head width]      Vᵀ [head width × 128 positions]
//
// Memory is reserved for all positions and taken from the system as they
// come.
type cache struct {
	mem                *mmap.Anon
	data               []byte
	format             *formats.Type
	width              int // bytes per value
	blocks, heads, dim int
	capacity           int // positions
	tileBytes          int // of a K or Vᵀ
	write              func(dst []byte, stride int, src []float32)
}

// cacheTile is the number of positions in a tile.
const cacheTile = 128

// A cell is a format that a cache can be in.
type cell struct {
	width int
	write func(dst []byte, stride int, src []float32)
}

var cells = map[*formats.Type]cell{
	formats.F16: {2, writeF16},
	formats.F32: {4, writeF32},
}

func newCache(c Config, format *formats.Type, capacity int) (*cache, error) {
	cell := cells[format]
	tiles := (capacity + cacheTile - 1) / cacheTile
	kv := &cache{
		format: format, width: cell.width, write: cell.write,
		blocks: c.Layers, heads: c.KVHeads, dim: c.HeadDim, capacity: capacity,
		tileBytes: cacheTile * c.HeadDim * cell.width,
	}
	mem, err := mmap.Alloc(tiles * kv.blocks * kv.heads * 2 * kv.tileBytes)
	if err != nil {
		return nil, err
	}
	kv.mem, kv.data = mem, mem.Bytes()
	return kv, nil
}

// tile returns K and Vᵀ of a head of a block, for the positions from
// tile·128.
func (kv *cache) tile(tile, block, head int) (k, v []byte) {
	at := ((tile*kv.blocks+block)*kv.heads + head) * 2 * kv.tileBytes
	pair := kv.data[at:][: 2*kv.tileBytes : 2*kv.tileBytes]
	return pair[:kv.tileBytes], pair[kv.tileBytes:]
}

// put stores the keys and values of a position: heads × width each.
func (kv *cache) put(block, position int, keys, values []float32) {
	tile, row := position/cacheTile, position%cacheTile
	for head := range kv.heads {
		k, v := kv.tile(tile, block, head)
		kv.write(k[row*kv.dim*kv.width:], kv.width, keys[head*kv.dim:][:kv.dim])
		kv.write(v[row*kv.width:], cacheTile*kv.width, values[head*kv.dim:][:kv.dim])
	}
}

// bytes returns the size of the keys and values of so many positions in one
// block.
func (kv *cache) bytes(positions int) int { return positions * kv.heads * kv.dim * 2 * kv.width }

// forget zeroes what later positions left behind in the tile of position n:
// its values are multiplied with zero weights, which an infinity would turn
// into NaN.
func (kv *cache) forget(n int) {
	tile, row := n/cacheTile, n%cacheTile
	if row == 0 {
		return
	}
	for block := range kv.blocks {
		for head := range kv.heads {
			_, v := kv.tile(tile, block, head)
			for ; len(v) > 0; v = v[cacheTile*kv.width:] {
				clear(v[row*kv.width : cacheTile*kv.width])
			}
		}
	}
}

func writeF16(dst []byte, stride int, src []float32) {
	for i, x := range src {
		binary.LittleEndian.PutUint16(dst[i*stride:], half.FromFloat32(x))
	}
}

func writeF32(dst []byte, stride int, src []float32) {
	for i, x := range src {
		binary.LittleEndian.PutUint32(dst[i*stride:], math.Float32bits(x))
	}
}

package cpu

import (
	"fmt"
	"strings"
	"sync/atomic"

	"onebit/formats"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/models/engine"
)

// HostMemory returns the memory outside the Go heap that the engine has taken
// for its weights: what was packed, and what was converted. Room that is left
// in it is not resident. It is for looking at from outside, and gone when the
// engine is closed.
func (e *Engine) HostMemory() (all [][]byte) {
	all = e.packed.Memory()
	for _, c := range e.converted {
		if c.Bytes() != nil {
			all = append(all, c.Bytes())
		}
	}
	return all
}

// HostMemory returns the memory of keys and values, for all positions.
func (s *stream) HostMemory() (all [][]byte) {
	for _, kv := range s.caches {
		all = append(all, kv.data)
	}
	return all
}

// BufferBytes returns the size of the stream's activations and of what its
// attention works in, on the Go heap.
func (s *stream) BufferBytes() (bytes int) {
	for _, b := range s.buffers {
		bytes += 4 * cap(b.data)
	}
	bytes += 4 * (cap(s.cos) + cap(s.sin))
	for range len(s.attentions) {
		a := <-s.attentions
		bytes += 4*(cap(a.reader.decoded)+cap(a.reader.copied)+cap(a.queries)+cap(a.answers)+cap(a.parts)+cap(a.scores)) + 16*cap(a.states) + cap(a.codes)
		s.attentions <- a
	}
	return bytes
}

// A ledger is what an engine's streams may take of memory for keys and values, and
// have taken so far.
type ledger struct{ promised, taken atomic.Int64 }

// Taken implements engine.MemoryCounter.
func (e *Engine) Taken() (weights, streams, promised int64) {
	weights = e.packed.Taken()
	for _, c := range e.converted {
		weights += int64(len(c.Bytes()))
	}
	return weights, e.streams.taken.Load(), e.streams.promised.Load()
}

// grow says that positions below end are about to be written.
func (kv *cache) grow(end int) {
	if tiles := min(tilesOf(end), tilesOf(kv.capacity)); tiles > kv.reached {
		kv.count(tiles)
	}
}

// count counts so many tiles as taken.
func (kv *cache) count(tiles int) {
	kv.ledger.taken.Add(int64((tiles - kv.reached) * kv.layerBytes()))
	kv.reached = tiles
}

// shrink returns the memory behind the first n positions to the system, but for
// the rest of their tile and the tile behind it, which would be cleared each time that
// speculation goes back a few tokens and forth again. It is a hint:
// where it fails, memory stays in use.
func (kv *cache) shrink(n int) {
	if keep := min(tilesOf(n)+1, tilesOf(kv.capacity)); keep < kv.reached {
		_ = kv.mem.Shrink(keep * kv.layerBytes())
		kv.count(keep)
	}
}

// open counts the cache as promised.
func (kv *cache) open(l *ledger) {
	kv.ledger = l
	l.promised.Add(int64(len(kv.data)))
}

// close frees it.
func (kv *cache) close() error {
	if kv.mem.Bytes() != nil {
		kv.count(0)
		kv.ledger.promised.Add(-int64(len(kv.data)))
	}
	return kv.mem.Free()
}

// WeightBytes implements engine.Planner. Gains, and the rows that are looked up in a
// table, are too little to count.
func (opt Options) WeightBytes(r engine.Request, t formats.Tensor, inPlace bool) (mapped, allocated int64, err error) {
	rows, cols := t.Dims()
	if r.Use != engine.Matrix && r.Use != engine.Experts {
		return 0, 0, nil
	}
	format, native := t.Type, opt.Packing.never() || r.Use == engine.Experts
	converted := r.Type != nil && r.Type != t.Type
	if converted {
		format = r.Type
	}
	v, err := opt.Kernels.variantFor(format, native)
	if err != nil {
		return 0, 0, err
	}
	n, err := v.Layout.Bytes(format, rows, cols)
	if v.Layout == kernels.Native && !converted && inPlace {
		return int64(n), 0, err
	}
	return 0, int64(n), err
}

// HoldsOneBlock implements engine.Planner.
func (opt Options) HoldsOneBlock() bool { return opt.Packing == Stream }

// CacheFormats implements engine.Planner.
func (Options) CacheFormats() []*formats.Type { return CacheFormats() }

func (opt Options) threads() int {
	switch {
	case opt.Pool != nil:
		return opt.Pool.Threads()
	case opt.Threads > 0:
		return opt.Threads
	}
	return sysinfo.Threads()
}

// StreamBytes implements engine.Planner.
func (opt Options) StreamBytes(of engine.StreamOptions, group int) (b engine.StreamBytes, err error) {
	b.Positions = tilesOf(of.Context) * cacheTile
	var attention int
	for _, state := range of.States {
		switch state := state.(type) {
		case engine.Delta:
			b.State += 2 * int64(floatBytes(state.ValueHeads*state.KeyDim*state.ValueDim, state.Channels*max(state.Taps-1, 0)))
		case engine.KV:
			if of.Cache == nil || cells[of.Cache].encode == nil {
				return b, badCache(of.Cache)
			}
			row, err := of.Cache.Bytes(1, state.Dim)
			if err != nil {
				return b, fmt.Errorf("keys and values cannot be kept in %s: %w", of.Cache.Name, err)
			}
			if kept := int64(2 * state.Heads * row); state.Window > 0 {
				b.State += 2 * int64(ringTiles(state.Window, &of)*cacheTile) * kept
			} else {
				b.Cache += int64(b.Positions) * kept
			}
			attention = attentionBytes(of, state.Dim, group)
		}
	}
	b.Scratch = int64(opt.threads()*attention + floatBytes(2*len(of.Rope.Freq)*of.Batch)) // and angles
	return b, nil
}

// badCache is about a format that is none of the cache's.
func badCache(t *formats.Type) error {
	var known []string
	for _, format := range CacheFormats() {
		known = append(known, format.Name)
	}
	return fmt.Errorf("keys and values cannot be kept in %s (want one of %s)", nameOf(t), strings.Join(known, ", "))
}

// attentionBytes is what newAttention makes.
func attentionBytes(opt engine.StreamOptions, dim, group int) int {
	rows := min(attendRun(group), opt.Batch) * group
	all := floatBytes(2*rows*dim, rows*cacheTile, 4*rows) + 16*rows
	if cells[opt.Cache].int8 {
		blocks := dim / q8Len
		return all + rows*blocks*queryBytes + floatBytes(int8ReaderFloats(dim), weighingFloats(rows, blocks))
	}
	return all + floatBytes(rows*dim, 2*attendSpan*dim)
}

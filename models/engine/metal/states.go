package metal

import (
	"errors"
	"fmt"
	"math"

	"onebit/formats"
	"onebit/metal"
	"onebit/metal/shaders"
	"onebit/models/engine"
)

// A state is what a block keeps of a text.
type state interface {
	// end says that a batch has ended before position.
	end(position int)
	// mark remembers the state. Nothing of it is in use.
	mark()
	// truncate goes back to n tokens. Nothing of the state is in use.
	truncate(n int) error
	bytes(tokens int) int
	close()
}

// A kv has keys and values of every token, [position][head][dim], those in q8_0
// as codes, with the scales apart.
type kv struct {
	engine.KV
	format                 *formats.Type
	headBytes              int // of a key or a value
	keys, values           *metal.Buffer
	keyScales, valueScales *metal.Buffer // of q8_0; else keys and values again
	append, attend         *metal.Pipeline
	attendParts            *metal.Pipeline // of long texts
	attendMerge            *metal.Pipeline
}

// q8Len is how many values of q8_0 have one scale.
const q8Len = 32

// Threads of an attending threadgroup: a position each, and four values of a
// head at most.
const (
	attendThreads = 128
	attendDim     = 4 * attendThreads
	attendSharing = 8 // threads of a simdgroup that share a key: attention.metal's sharing
)

func (e *Engine) newKV(shape engine.KV, opt *engine.StreamOptions) (*kv, error) {
	if opt.Cache == nil {
		return nil, errors.New("engine metal: keys and values have no format")
	}
	constants, err := shaders.CacheConstants(opt.Cache)
	if err != nil {
		return nil, fmt.Errorf("engine metal: %w (f16, f32 and q8_0 are known)", err)
	}
	if shape.Dim > attendDim {
		return nil, fmt.Errorf("engine metal: heads have %d values, and attention takes %d at most", shape.Dim, attendDim)
	}
	s := &kv{KV: shape, format: opt.Cache}
	if s.headBytes, err = opt.Cache.Bytes(1, shape.Dim); err != nil {
		return nil, fmt.Errorf("engine metal: keys and values cannot be kept in %s: %w", opt.Cache.Name, err)
	}
	if err := errors.Join(e.attention(s, constants), s.allocate(e.device, opt.Context)); err != nil {
		s.close()
		return nil, fmt.Errorf("engine metal: keys and values of %d tokens: %w", opt.Context, err)
	}
	return s, nil
}

// attention finds the kernels of s.
func (e *Engine) attention(s *kv, constants metal.Constants) (err error) {
	function := "append"
	if s.format == formats.Q8_0 {
		function = "append_q8_0"
	}
	for _, k := range []struct {
		to             **metal.Pipeline
		kernel         string
		threads, lanes int
	}{
		{&s.append, function, 1, 0}, {&s.attendMerge, "attend_merge", 1, 0},
		{&s.attend, "attend", attendThreads, attendSharing}, {&s.attendParts, "attend_parts", attendThreads, attendSharing},
	} {
		if *k.to, err = e.pipeline(shaders.Attention, k.kernel, constants, k.threads); err != nil {
			return err
		}
		if err = lanes(*k.to, k.kernel, k.lanes); err != nil {
			return err
		}
	}
	return nil
}

// allocate makes room for so many tokens.
func (s *kv) allocate(d *metal.Device, tokens int) error {
	heads := tokens * s.Heads
	codes, scales := heads*s.headBytes, 0
	if s.format == formats.Q8_0 {
		scales = 2 * heads * s.Dim / q8Len
		codes -= scales
	}
	for _, b := range []struct {
		to   **metal.Buffer
		size int
	}{{&s.keys, codes}, {&s.values, codes}, {&s.keyScales, scales}, {&s.valueScales, scales}} {
		if b.size == 0 {
			continue
		}
		var err error
		if *b.to, err = d.NewBuffer(b.size); err != nil {
			return err
		}
	}
	if scales == 0 {
		s.keyScales, s.valueScales = s.keys, s.values // a buffer has to be there
	}
	return nil
}

// seen returns how many of so many positions the last of them sees.
func (s *kv) seen(positions int) int {
	if s.Window > 0 {
		return min(positions, s.Window)
	}
	return positions
}

func (s *kv) end(int)              {}
func (s *kv) mark()                {}
func (s *kv) truncate(int) error   { return nil }
func (s *kv) bytes(tokens int) int { return 2 * tokens * s.Heads * s.headBytes }
func (s *kv) close()               { closeAll(s.keys, s.values, s.keyScales, s.valueScales) }

// attention is Attention of attention.metal.
type attention struct {
	Heads, KeyHeads, Dim, Position uint32
	Scale                          float32
	Window                         uint32
}

func (s *kv) arguments(heads, position int) attention {
	return attention{uint32(heads), uint32(s.Heads), uint32(s.Dim), uint32(position), float32(1 / math.Sqrt(float64(s.Dim))), uint32(s.Window)}
}

// A delta has a matrix for each value head, [head][key][value], and the last
// inputs of each channel, the oldest first, all in float32.
type delta struct {
	engine.Delta
	matrices, window *metal.Buffer
	tokens           int  // that the state has taken in
	begun            bool // a batch has changed the state and not ended
	convolve, rule   *metal.Pipeline
	marked           deltaMark
}

// A deltaMark is a copy of a state after so many tokens; 0: there is none.
type deltaMark struct {
	matrices, window []byte
	tokens           int
}

func (e *Engine) newDelta(shape engine.Delta) (*delta, error) {
	d := &delta{Delta: shape}
	var errs [4]error
	d.convolve, errs[0] = e.pipeline(shaders.Delta, "convolve", nil, 1)
	d.rule, errs[1] = e.pipeline(shaders.Delta, "delta_rule", nil, 1)
	d.matrices, errs[2] = e.device.NewBuffer(max(4, d.matrixBytes()))
	d.window, errs[3] = e.device.NewBuffer(max(4, d.windowBytes()))
	if err := errors.Join(errs[:]...); err != nil {
		d.close()
		return nil, fmt.Errorf("engine metal: the state of a gated delta net: %w", err)
	}
	return d, nil
}

func (d *delta) matrixBytes() int { return 4 * d.ValueHeads * d.KeyDim * d.ValueDim }
func (d *delta) windowBytes() int { return 4 * d.Channels * max(d.Taps-1, 0) }
func (d *delta) bytes(int) int    { return d.matrixBytes() + d.windowBytes() }
func (d *delta) end(position int) { d.tokens, d.begun = position, false }
func (d *delta) close()           { closeAll(d.matrices, d.window) }

func (d *delta) mark() {
	m := &d.marked
	m.matrices, m.window = append(m.matrices[:0], d.matrices.Bytes()...), append(m.window[:0], d.window.Bytes()...)
	m.tokens = d.tokens
}

// truncate goes back to the start or to the mark, or stays. Behind a mark that
// is gone back beyond there will be another text.
func (d *delta) truncate(n int) error {
	switch {
	case n == d.tokens && !d.begun:
	case n == 0:
		clear(d.matrices.Bytes())
		clear(d.window.Bytes())
		d.tokens, d.begun, d.marked.tokens = 0, false, 0
	case n == d.marked.tokens:
		copy(d.matrices.Bytes(), d.marked.matrices)
		copy(d.window.Bytes(), d.marked.window)
		d.tokens, d.begun = n, false
	default:
		return fmt.Errorf("%w to %d of %d tokens", engine.ErrNoRollback, n, d.tokens)
	}
	return nil
}

func closeAll(buffers ...*metal.Buffer) {
	for _, b := range buffers {
		if b != nil {
			b.Close()
		}
	}
}

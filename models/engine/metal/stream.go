package metal

import (
	"fmt"
	"math"
	"time"

	"onebit/internal/clock"
	"onebit/metal"
	"onebit/models/engine"
)

// A stream is an engine.Stream, whose operations queue.
type stream struct {
	queue
	engine   *Engine
	rope     engine.Rope
	context  int
	position int
	sound    int // tokens that are known to have been computed without an error
	n        int // columns of the batch in progress
	block    int
	states   []state // by block

	buffers  []*buffer
	turns    memory // of the rotary embedding: a cosine and a sine for each column and pair
	ranks    memory // of the largest values of each slice
	top      memory // values, and behind them their indices
	partials memory // of attention in parts: [column][head][part][dim]
	// partialSums are the largest scores and the sums of weights, [column][head][part].
	partialSums memory
	quantized   map[arrangement]*activations
	signs       map[*engine.Rotation]*metal.Buffer

	observer engine.Observer
}

// A memory is a buffer that grows.
type memory struct{ buffer *metal.Buffer }

// A buffer is an engine.Buffer.
type buffer struct {
	memory
	width, n int
}

// Width returns the number of values in a column.
func (b *buffer) Width() int { return b.width }

// len returns the number of values.
func (b *buffer) len() int { return b.n * b.width }

// values are those of the buffer, which the GPU must not be using.
func (b *buffer) values() []float32 {
	if b.n == 0 {
		return nil
	}
	return floatsOf(b.buffer)[:b.len()]
}

// NewStream starts a text.
func (e *Engine) NewStream(opt engine.StreamOptions) (engine.Stream, error) {
	s := &stream{
		queue:  queue{device: e.device, limit: e.options.Work},
		engine: e, rope: opt.Rope, context: opt.Context, block: engine.Outside, quantized: map[arrangement]*activations{},
		signs: map[*engine.Rotation]*metal.Buffer{},
	}
	for _, shape := range opt.States {
		state, err := e.newState(shape, &opt)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.states = append(s.states, state)
	}
	return s, nil
}

func (e *Engine) newState(shape engine.State, opt *engine.StreamOptions) (state, error) {
	switch shape := shape.(type) {
	case engine.KV:
		return e.newKV(shape, opt)
	case engine.Delta:
		return e.newDelta(shape)
	}
	return nil, fmt.Errorf("engine metal: blocks cannot keep a %T", shape)
}

// Close frees what the stream has on the device.
func (s *stream) Close() error {
	s.drop()
	for _, state := range s.states {
		state.close()
	}
	closeAll(s.turns.buffer, s.ranks.buffer, s.top.buffer, s.partials.buffer, s.partialSums.buffer)
	for _, a := range s.quantized {
		a.close()
	}
	for _, b := range s.signs {
		closeAll(b)
	}
	for _, b := range s.buffers {
		closeAll(b.buffer)
	}
	s.states, s.buffers, s.quantized, s.signs = nil, nil, nil, nil
	s.turns, s.ranks, s.top, s.partials, s.partialSums = memory{}, memory{}, memory{}, memory{}, memory{}
	return nil
}

func (s *stream) Buffer(width int) engine.Buffer {
	b := &buffer{width: width}
	s.buffers = append(s.buffers, b)
	return b
}

// grow makes m one of so many bytes at least, which hold anything. It reports
// whether there is memory for that.
func (s *stream) grow(m *memory, bytes int) bool {
	if s.err != nil {
		return false
	}
	if m.buffer != nil && len(m.buffer.Bytes()) >= bytes {
		return true
	}
	return s.replace(m, bytes)
}

// fresh is grow of memory that the GPU is not using, to be written by the
// processor.
func (s *stream) fresh(m *memory, bytes int) bool {
	if !s.idle() && s.err == nil {
		return s.replace(m, bytes)
	}
	return s.grow(m, bytes)
}

// replace takes new memory. The GPU keeps the old until it needs it no more.
func (s *stream) replace(m *memory, bytes int) bool {
	b, err := s.device.NewBuffer(max(bytes, 4))
	if err != nil {
		s.fail(err)
		return false
	}
	closeAll(m.buffer)
	m.buffer = b
	return true
}

// resize makes b one of n columns, whose values are anything.
func (s *stream) resize(b *buffer, n int) bool {
	b.n = n
	return s.grow(&b.memory, 4*b.len())
}

func (s *stream) Begin(n int) {
	if s.position+n > s.context {
		panic("metal: more tokens than the stream's context")
	}
	s.n = n
	half := len(s.rope.Freq)
	if half == 0 || !s.fresh(&s.turns, 8*n*half) {
		return
	}
	turns := floatsOf(s.turns.buffer)
	for c := range n {
		for i, f := range s.rope.Freq {
			sin, cos := math.Sincos(float64(s.position+c) * f)
			at := 2 * (c*half + i)
			turns[at], turns[at+1] = float32(cos*s.rope.Magnitude), float32(sin*s.rope.Magnitude)
		}
	}
}

func (s *stream) Enter(block int) { s.block = block }

func (s *stream) End() {
	s.submit()
	s.position += s.n
	for _, state := range s.states {
		state.end(s.position)
	}
	s.note()
}

// note remembers that all tokens so far were computed, if that is so.
func (s *stream) note() {
	if s.err == nil && s.idle() {
		s.sound = s.position
	}
}

func (s *stream) Position() int { return s.position }

// Mark copies what has no positions, once it is computed.
func (s *stream) Mark() error {
	if err := s.drain(); err != nil {
		return err
	}
	for _, state := range s.states {
		state.mark()
	}
	return nil
}

// Truncate forgets an error too, if it came after the tokens that are left.
func (s *stream) Truncate(n int) error {
	if n < 0 || n > s.position {
		return fmt.Errorf("cannot go back to %d tokens in a text of %d", n, s.position)
	}
	if err := s.drain(); err != nil && n > s.sound {
		return err
	}
	for _, state := range s.states {
		if err := state.truncate(n); err != nil {
			return err
		}
	}
	s.position, s.sound, s.err = n, n, nil
	return nil
}

func (s *stream) StateBytes(tokens int) (total int) {
	for _, state := range s.states {
		total += state.bytes(tokens)
	}
	return total
}

func (s *stream) Read(b engine.Buffer) ([]float32, error) {
	if err := s.drain(); err != nil {
		return nil, err
	}
	s.note()
	return b.(*buffer).values(), nil
}

// mostTop is how many values a GPU looks for: it goes through all of them as often.
const mostTop = 256

// topSlice is how many values a threadgroup looks at.
const topSlice = 4096

func (s *stream) Top(b engine.Buffer, k int) ([]engine.Ranked, error) {
	x := b.(*buffer)
	k = min(k, x.width)
	if k > mostTop {
		values, err := s.Read(b)
		return engine.Top(nil, values, k), err
	}
	slices := (x.width + topSlice - 1) / topSlice
	if s.grow(&s.ranks, 8*slices*k) && s.grow(&s.top, 8*k) {
		threads := reducing(min(x.width, topSlice))
		s.groups(s.engine.operations.topSlices, line(slices), threads, at(x.buffer, 0), out(s.ranks.buffer, 0),
			value([3]uint32{uint32(x.width), topSlice, uint32(k)}))
		s.groups(s.engine.operations.top, line(1), threads, at(s.ranks.buffer, 0), out(s.top.buffer, 0), out(s.top.buffer, 4*k),
			value([3]uint32{uint32(slices * k), 0, uint32(k)}))
	}
	if err := s.drain(); err != nil {
		return nil, err
	}
	s.note()
	values := floatsOf(s.top.buffer)[:2*k]
	out := make([]engine.Ranked, k)
	for i := range out {
		out[i] = engine.Ranked{Index: int(math.Float32bits(values[k+i])), Value: values[i]}
	}
	return out, nil
}

func (s *stream) Write(b engine.Buffer, values []float32) {
	to := b.(*buffer)
	to.n = len(values) / to.width
	if s.fresh(&to.memory, 4*len(values)) {
		copy(floatsOf(to.buffer), values)
	}
}

// DeviceTime implements engine.DeviceTimer.
func (s *stream) DeviceTime() time.Duration { return s.gpu }

// Observe times operations by the GPU's clock while they queue, if the observer wants no
// more and the GPU tells; else each is a command buffer, whose time is the GPU's.
func (s *stream) Observe(o engine.Observer) {
	_ = s.drain() // whose error Read returns
	if s.times != nil {
		s.times.close()
	}
	s.observer, s.times = o, nil
	if _, ok := o.(engine.TimeObserver); !ok {
		return
	}
	if stamps, err := s.device.NewStamps(spansHeld); err == nil {
		s.times = &times{observer: o, idle: []*metal.Stamps{stamps}}
	}
}

// work is what an operation reads, moves and computes; see engine.Op.
type work struct{ bytes, moved, macs int }

// do runs an operation, whose results the observer gets to see.
func (s *stream) do(op string, w work, run func(), results ...result) {
	switch {
	case s.observer == nil:
		run()
		return
	case s.times != nil:
		s.timed(op, w, run, results)
		return
	}
	s.submit() // what came before is not of this operation
	s.wait(0)
	before := s.gpu
	start := clock.Now()
	run()
	if s.drain() == nil {
		s.report(op, w, start, s.gpu-before, results)
	}
}

// A result is a buffer under its name in a report.
type result struct {
	name string
	*buffer
}

func (s *stream) operation(op string, w work, start time.Time) engine.Op {
	return engine.Op{Name: op, Block: s.block, Bytes: w.bytes, Moved: w.moved, MACs: w.macs, Start: start}
}

func (s *stream) report(op string, w work, start time.Time, took time.Duration, results []result) {
	o := s.operation(op, w, start)
	if o.Tokens, o.Duration = results[0].n, took; took == 0 { // nothing ran there
		o.Duration = clock.Since(start)
	}
	for _, r := range results {
		o.Results = append(o.Results, engine.Result{Name: r.name, Values: r.values()})
	}
	s.observer.Observe(o)
}

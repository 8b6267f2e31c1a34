package cpu

import (
	"errors"
	"fmt"
	"math"
	"time"

	"onebit/formats"
	"onebit/internal/clock"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/engine"
)

// A stream is an engine.Stream. Its buffers are slices, and operations are done
// when they return.
type stream struct {
	engine   *Engine
	vec      *Vectors
	rope     engine.Rope
	batch    int // columns that a batch usually has at most
	context  int
	position int
	n        int // columns of the batch in progress
	block    int

	caches     []*cache // of all positions, and of windows
	whole      *cache   // nil if no block looks at all positions
	ring       *ring    // nil if no block looks at a window
	cache      *cache   // one of them, for what all have; nil if no block keeps keys and values
	windows    []int    // by block: see engine.KV
	scoreScale float32
	deltas     []*delta // by block; nil where it keeps none

	buffers  []*buffer
	cos, sin []float32 // n × half a head's width: angles of the rotary embedding

	// A pass through weights that were not checked yet: whether its products
	// are looked at, and whether one was not finite.
	looking, doubtful bool
	failed            error     // of an operation; nil: none
	touched           []*matrix // of the block in progress, while streaming

	products   []kernels.Product
	multiplied []*matrix
	routed     routedCall
	attentions chan *attention // as many as there are threads

	// The arguments of the operation in progress whose tasks share a column
	// among threads. The tasks were made once, because making them would
	// allocate.
	dst, q, k, v *buffer
	from, to     int // columns that attention is about
	activation   arch.Activation
	attendHeads  int // query heads in a task of attention
	storeTask    func(i int)
	attendTask   func(i int)
	gateTask     func(i int)

	// The same of AttendEach.
	attending     []*stream
	attendEach    int // tasks of each
	attendingTask func(i int)

	// The same of the operations of gated delta nets and of Hadamard.
	delta         deltaCall
	latest        []float32 // of Convolve: what the window will have
	gates         gatesCall
	normalize     normalizeCall
	selected      selectCall
	rotation      rotateCall
	convolveTask  func(i int)
	deltaTask     func(i int)
	gatesTask     func(i int)
	normalizeTask func(i int)
	selectTask    func(i int)
	rotateTask    func(i int)

	observer engine.Observer
	observed time.Time // since when
	results  []engine.Result
	top      []engine.Ranked // of Top
}

// A buffer is an engine.Buffer.
type buffer struct {
	width, n int
	data     []float32 // n × width
	columns  []*buffer // each as a buffer: see Column
}

// Width returns the number of values in a column.
func (b *buffer) Width() int { return b.width }

// resize makes b one of n columns, whose values are anything.
func (b *buffer) resize(n int) {
	b.n, b.data = n, grow(b.data, n*b.width)
}

func (b *buffer) column(c int) []float32 { return b.data[c*b.width:][:b.width] }

// Column implements engine.Lender.
func (s *stream) Column(b engine.Buffer, c int) engine.Buffer {
	from := b.(*buffer)
	if from.n != s.n {
		from.resize(s.n)
	}
	for len(from.columns) <= c {
		from.columns = append(from.columns, &buffer{width: from.width, n: 1})
	}
	from.columns[c].data = from.data[c*from.width:][:from.width:from.width]
	return from.columns[c]
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// NewStream starts a text. All blocks that keep keys and values must have the
// same heads.
func (e *Engine) NewStream(opt engine.StreamOptions) (engine.Stream, error) {
	s := &stream{
		engine: e, vec: e.vectors, rope: opt.Rope, batch: opt.Batch, context: opt.Context, block: engine.Outside,
		attentions: make(chan *attention, e.pool.Threads()), deltas: make([]*delta, len(opt.States)),
		windows: make([]int, len(opt.States)),
	}
	var kv engine.KV
	for i, state := range opt.States {
		switch state := state.(type) {
		case engine.KV:
			s.windows[i], state.Window = state.Window, 0
			if kv != (engine.KV{}) && kv != state {
				return nil, fmt.Errorf("blocks keep keys and values of %v and of %v heads; the CPU engine wants them alike", kv, state)
			}
			kv = state
		case engine.Delta:
			s.deltas[i] = newDelta(state)
		}
	}
	if kv.Heads > 0 {
		if err := s.newCaches(opt, kv); err != nil {
			return nil, err
		}
	}
	s.storeTask, s.attendTask, s.gateTask = s.storeColumns, s.attendRuns, s.gateChunk
	s.attendingTask = s.attendOne
	s.convolveTask, s.deltaTask, s.rotateTask = s.convolveChannels, s.deltaSlab, s.rotateRun
	s.gatesTask, s.normalizeTask, s.selectTask = s.gatesColumn, s.normalizeColumn, s.selectColumn
	return s, nil
}

// newCaches makes room for the keys and values of all positions, and of windows.
func (s *stream) newCaches(opt engine.StreamOptions, kv engine.KV) (err error) {
	if opt.Cache == nil || cells[opt.Cache].encode == nil {
		return badCache(opt.Cache)
	}
	var whole, slide []int
	for i, state := range opt.States {
		if _, ok := state.(engine.KV); ok && s.windows[i] > 0 {
			slide, kv.Window = append(slide, i), max(kv.Window, s.windows[i])
		} else if ok {
			whole = append(whole, i)
		}
	}
	for _, blocks := range [][]int{whole, slide} {
		if len(blocks) == 0 {
			continue
		}
		shape, capacity := engine.KV{Heads: kv.Heads, Dim: kv.Dim}, opt.Context
		if s.windows[blocks[0]] > 0 {
			shape, capacity = kv, ringTiles(kv.Window, &opt)*cacheTile
		}
		if s.cache, err = newCache(s.vec, blocks, shape, opt.Cache, capacity); err != nil {
			return errors.Join(err, s.Close())
		}
		if s.cache.open(&s.engine.streams); shape.Window > 0 {
			s.ring = &ring{cache: s.cache, last: -1}
		} else {
			s.whole = s.cache
		}
		s.caches = append(s.caches, s.cache)
	}
	s.scoreScale = float32(1 / math.Sqrt(float64(kv.Dim)))
	return nil
}

// kept is the cache of the block in progress.
func (s *stream) kept() *cache {
	if s.windows[s.block] > 0 {
		return s.ring.cache
	}
	return s.whole
}

func nameOf(t *formats.Type) string {
	if t == nil {
		return "no format"
	}
	return t.Name
}

// Close frees the cache.
func (s *stream) Close() error {
	var errs []error
	for _, kv := range s.caches {
		errs = append(errs, kv.close())
	}
	return errors.Join(errs...)
}

func (s *stream) Buffer(width int) engine.Buffer {
	b := &buffer{width: width}
	s.buffers = append(s.buffers, b)
	return b
}

func (s *stream) Begin(n int) {
	s.n = n
	s.looking = s.engine.unchecked.Load() > 0
	for _, kv := range s.caches {
		kv.grow(s.position + n)
	}
	half := len(s.rope.Freq)
	s.cos, s.sin = grow(s.cos, n*half), grow(s.sin, n*half)
	for c := range n {
		angles(s.rope, s.cos[c*half:][:half], s.sin[c*half:][:half], s.position+c)
	}
}

// Enter unpins what the block before has read, if the model is streamed.
func (s *stream) Enter(block int) {
	for _, m := range s.touched {
		s.engine.unpin(m)
	}
	s.touched = s.touched[:0]
	s.block = block
}

func (s *stream) End() {
	s.position += s.n
	for _, d := range s.deltas {
		d.advance(s.n)
	}
}

func (s *stream) Position() int { return s.position }

func (s *stream) Mark() error {
	s.ring.mark(s.position)
	for _, d := range s.deltas {
		d.mark()
	}
	return nil
}

func (s *stream) Truncate(n int) error {
	if n < 0 || n > s.position {
		return fmt.Errorf("cannot go back to %d tokens in a text of %d", n, s.position)
	}
	if err := s.ring.check(n, s.position); err != nil {
		return err
	}
	for _, d := range s.deltas {
		if err := d.truncate(n); err != nil {
			return err
		}
	}
	s.ring.truncate(n)
	s.position = n
	for _, kv := range s.caches {
		kv.shrink(n)
	}
	return nil
}

func (s *stream) StateBytes(tokens int) int {
	total := 0
	for _, kv := range s.caches {
		total += kv.blocks * kv.bytes(min(tokens, roundUp(kv.capacity, cacheTile)))
	}
	for _, d := range s.deltas {
		total += d.bytes()
	}
	return total
}

// Read returns a buffer's values. Its error is about weights that operations
// before it have shown to be bad.
func (s *stream) Read(b engine.Buffer) ([]float32, error) {
	return b.(*buffer).data, s.verdict()
}

func (s *stream) Top(b engine.Buffer, k int) ([]engine.Ranked, error) {
	s.top = engine.Top(s.top, b.(*buffer).data, k)
	return s.top, s.verdict()
}

func (s *stream) Write(b engine.Buffer, values []float32) {
	to := b.(*buffer)
	to.resize(len(values) / to.width)
	copy(to.data, values)
}

func (s *stream) Observe(o engine.Observer) { s.observer, s.observed = o, clock.Now() }

// begin returns when an operation starts. Without an observer it costs a
// comparison.
func (s *stream) begin() (start time.Time) {
	if s.observer != nil {
		start = s.observed.Add(clock.Since(s.observed)) // half as dear as Now
	}
	return start
}

// work is what an operation reads, moves and computes; see engine.Op.
type work struct {
	bytes, moved, macs int
	int8               bool // see engine.Op
}

// end reports an operation with one result.
func (s *stream) end(start time.Time, name string, w work, b *buffer) {
	if s.observer != nil {
		s.report(start, name, w, b.n, append(s.results[:0], engine.Result{Name: name, Values: b.data}))
	}
}

func (s *stream) report(start time.Time, name string, w work, tokens int, results []engine.Result) {
	s.observer.Observe(engine.Op{
		Name: name, Block: s.block, Tokens: tokens, Bytes: w.bytes, Moved: w.moved, MACs: w.macs, Int8: w.int8,
		Start: start, Duration: clock.Since(start), Results: results,
	})
	s.results = results[:0]
}

// floatBytes is the size of so many.
func floatBytes(n ...int) (bytes int) {
	for _, n := range n {
		bytes += 4 * n
	}
	return bytes
}

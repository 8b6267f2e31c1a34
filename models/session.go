package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/arch"
)

// ErrContextFull is wrapped by the error for tokens beyond a session's
// context.
var ErrContextFull = errors.New("context is full")

// SessionOptions are the choices in a session. The zero value is a session of
// at most 4096 tokens.
type SessionOptions struct {
	// Context is how many tokens the session can hold, at most the model's.
	// 0: the smaller of that and 4096.
	Context int
	// Batch is how many tokens of a prompt are multiplied together; 0: 128.
	// Results do not depend on it.
	Batch int
	// Cache is the format of keys and values: f16, f32 or q8_0, which has
	// half of f16's bytes and wants heads of a multiple of 32. Nil: f16.
	Cache    *formats.Type
	Observer Observer // nil: none
}

const (
	defaultContext = 4096
	defaultBatch   = 128
)

// A Session is a model at work on one text: the keys and values of the tokens
// so far, and the position of the next. It belongs to one goroutine at a
// time. Close frees it.
type Session struct {
	model      *Model
	cache      *cache
	scoreScale float32 // 1/√width of attention's scores
	position   int
	batch      int
	observer   Observer
	observed   time.Time // since when

	// A first pass through an unchecked model: whether its products are looked
	// at, and whether one was not finite.
	looking, doubtful bool

	// The batch in progress: n columns, from position.
	n     int
	block int
	x     []float32 // n × Hidden: the residual stream
	h     []float32 // n × Hidden: input or output of a projection
	q     []float32 // n × Heads·HeadDim
	k, v  []float32 // n × KVHeads·HeadDim
	att   []float32 // n × Heads·HeadDim
	gate  []float32 // n × FFN
	up    []float32 // n × FFN
	// n × HeadDim/2: angles of the rotary embedding
	cos, sin []float32
	logits   []float32 // a chunk of columns × Vocab

	products    []kernels.Product
	attentions  chan *attention // as many as there are threads
	attendHeads int             // query heads in a task of attention
	results     []Result

	// Tasks of operations that share a column among threads, made once
	// because making them would allocate.
	storeTask    func(i int)
	attendTask   func(i int)
	activateTask func(i int)
}

// NewSession starts a session on m.
func (m *Model) NewSession(opt SessionOptions) (*Session, error) {
	if opt.Context == 0 {
		opt.Context = min(defaultContext, m.Config.Context)
	}
	if opt.Batch == 0 {
		opt.Batch = defaultBatch
	}
	if opt.Cache == nil {
		opt.Cache = formats.F16
	}
	switch {
	case opt.Context < 1 || opt.Context > m.Config.Context:
		return nil, fmt.Errorf("a context of %d tokens is not between 1 and the model's %d", opt.Context, m.Config.Context)
	case opt.Batch < 1:
		return nil, fmt.Errorf("a batch of %d tokens is not positive", opt.Batch)
	case cells[opt.Cache].encode == nil:
		return nil, fmt.Errorf("keys and values cannot be kept in %s (want f16, f32 or q8_0)", opt.Cache.Name)
	}
	kv, err := newCache(m.Config, opt.Cache, opt.Context)
	if err != nil {
		return nil, err
	}
	s := &Session{
		model: m, cache: kv, batch: opt.Batch, block: Outside,
		scoreScale: float32(1 / math.Sqrt(float64(m.Config.HeadDim))),
		attentions: make(chan *attention, m.pool.Threads()),
	}
	s.Observe(opt.Observer)
	for range m.pool.Threads() {
		s.attentions <- s.newAttention()
	}
	s.storeTask, s.attendTask, s.activateTask = s.storeColumn, s.attendRuns, s.activateChunk
	return s, nil
}

// Close frees the cache.
func (s *Session) Close() error { return s.cache.mem.Free() }

// Model returns the model that the session runs on.
func (s *Session) Model() *Model { return s.model }

// Position returns the number of tokens in the session.
func (s *Session) Position() int { return s.position }

// Context returns the number of tokens that the session can hold.
func (s *Session) Context() int { return s.cache.capacity }

// CacheBytes returns the size of the keys and values of the tokens so far.
func (s *Session) CacheBytes() int { return s.model.Config.Layers * s.cache.bytes(s.position) }

// Truncate forgets all tokens but the first n.
func (s *Session) Truncate(n int) {
	if n < 0 || n > s.position {
		panic("models: truncate to more tokens than a session has")
	}
	s.position = n
}

// Prefill takes in tokens and returns the logits of the one to follow, valid
// until the next call. Of a model whose weights are unchecked yet, the error is
// that of [Model.Check].
func (s *Session) Prefill(ids []int) ([]float32, error) {
	if err := s.check(ids); err != nil {
		return nil, err
	}
	start := s.position
	err := mmap.Guard(func() error { return s.prefill(ids) })
	s.looking = false
	if err != nil {
		s.position = start
		return nil, err
	}
	return s.logits, nil
}

// prefill leaves the logits after the last of ids in s.logits.
func (s *Session) prefill(ids []int) error {
	s.looking, s.doubtful = s.model.unchecked.Load(), false
	for from := 0; from < len(ids); from += s.batch {
		end := min(from+s.batch, len(ids))
		if err := s.through(ids[from:end]); err != nil {
			return err
		}
		if end == len(ids) {
			s.columnLogits(s.n-1, s.n)
		}
		s.advance()
	}
	if s.looking {
		return s.checkProducts()
	}
	return nil
}

// Decode is Prefill for one token. It does not allocate.
func (s *Session) Decode(id int) ([]float32, error) {
	one := [1]int{id}
	return s.Prefill(one[:])
}

// logitColumns is how many columns the head multiplies together when all
// logits are wanted.
const logitColumns = 16

// Logits takes in tokens and yields, for each, the logits of the one to
// follow it, valid until the next. If the loop over them ends early, how many
// tokens the session has taken in depends on its batch.
func (s *Session) Logits(ids []int) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		err := s.check(ids)
		if err == nil {
			err = s.model.Check()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for len(ids) > 0 {
			n := min(s.batch, len(ids))
			if err := mmap.Guard(func() error { return s.through(ids[:n]) }); err != nil {
				yield(nil, err)
				return
			}
			for logits, err := range s.eachLogits(mmap.Guard) {
				if !yield(logits, err) || err != nil {
					return
				}
			}
			ids = ids[n:]
		}
	}
}

// Generate takes in a prompt and yields the tokens that the sampler draws,
// each taken in as soon as the next is wanted, until the loop ends, ctx is
// done or the context is full; the last two come as an error.
func (s *Session) Generate(ctx context.Context, prompt []int, sampler *Sampler) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		sampler.Accept(prompt...)
		next := prompt
		var one [1]int
		for {
			if err := ctx.Err(); err != nil {
				yield(0, err)
				return
			}
			logits, err := s.Prefill(next)
			if err != nil {
				yield(0, err)
				return
			}
			id, err := sampler.Sample(logits)
			if err != nil {
				yield(0, fmt.Errorf("%s: %w", s.model.source.Name(), err))
				return
			}
			sampler.Accept(id)
			if !yield(id, nil) {
				return
			}
			one[0] = id
			next = one[:]
		}
	}
}

// check refuses tokens that the session cannot take in, before it takes any.
func (s *Session) check(ids []int) error {
	if len(ids) == 0 {
		return errors.New("no tokens to take in")
	}
	for _, id := range ids {
		if id < 0 || id >= s.model.Config.Vocab {
			return fmt.Errorf("token %d is not in the model's vocabulary of %d", id, s.model.Config.Vocab)
		}
	}
	if s.position+len(ids) > s.cache.capacity {
		return fmt.Errorf("%s: %w: %d tokens and %d more exceed the %d of this session (the model's limit is %d)",
			s.model.source.Name(), ErrContextFull, s.position, len(ids), s.cache.capacity, s.model.Config.Context)
	}
	return nil
}

// through starts a batch and takes it through all blocks.
func (s *Session) through(ids []int) error {
	if err := s.startBatch(ids); err != nil {
		return err
	}
	for _, b := range s.model.blocks {
		b.Forward(s)
	}
	return nil
}

// Start begins a batch: it sets the residual stream to the tokens'
// embeddings. Start, [Block.Forward] for each block, and [Session.Finish] are
// Prefill in steps, for those who look in between; the tokens count once
// Finish has run.
func (s *Session) Start(ids []int) error {
	if err := s.model.Check(); err != nil {
		return err
	}
	return mmap.Guard(func() error { return s.startBatch(ids) })
}

func (s *Session) startBatch(ids []int) error {
	if err := s.check(ids); err != nil {
		return err
	}
	s.resize(len(ids))
	start := s.begin()
	m := s.model
	hidden := m.Config.Hidden
	for c, id := range ids {
		err := m.embedding.Type.DequantizeRows(s.x[c*hidden:][:hidden], m.embedding.Data, m.Config.Vocab, hidden, id, id+1)
		if err != nil {
			return m.source.Fault(arch.EmbeddingTensor, err)
		}
	}
	dim := m.Config.HeadDim / 2
	for c := range ids {
		m.rope.angles(s.cos[c*dim:][:dim], s.sin[c*dim:][:dim], s.position+c)
	}
	s.end(start, "token_embd", work{bytes: len(ids) * len(m.embedding.Data) / m.Config.Vocab, moved: floatBytes(len(s.x))}, s.x)
	return nil
}

// Hidden returns the residual stream of the batch in progress, tokens ×
// Hidden. It may be written to.
func (s *Session) Hidden() []float32 { return s.x }

// Finish ends a batch: it returns the logits that follow its last token,
// valid until the next call, and advances the position.
func (s *Session) Finish() []float32 {
	logits := s.columnLogits(s.n-1, s.n)
	s.advance()
	return logits
}

// FinishEach is Finish that yields the logits after each token of the batch,
// valid until the next. The position advances when the loop over them ends.
func (s *Session) FinishEach() iter.Seq[[]float32] {
	return func(yield func([]float32) bool) {
		for logits := range s.eachLogits(func(f func() error) error { return f() }) {
			if !yield(logits) {
				return
			}
		}
	}
}

// eachLogits is FinishEach with the products made within guard.
func (s *Session) eachLogits(guard func(func() error) error) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		defer s.advance()
		vocab := s.model.Config.Vocab
		for from := 0; from < s.n; from += logitColumns {
			var logits []float32
			err := guard(func() error {
				logits = s.columnLogits(from, min(from+logitColumns, s.n))
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for ; len(logits) > 0; logits = logits[vocab:] {
				if !yield(logits[:vocab:vocab], nil) {
					return
				}
			}
		}
	}
}

func (s *Session) advance() { s.position += s.n }

// columnLogits returns the logits of columns [from, end).
func (s *Session) columnLogits(from, end int) []float32 {
	m := s.model
	hidden, vocab := m.Config.Hidden, m.Config.Vocab
	all, x, h := s.n, s.x[from*hidden:end*hidden], s.h[from*hidden:end*hidden]
	s.n = end - from
	s.logits = grow(s.logits, s.n*vocab)
	s.rmsNorm("output_norm", h, x, m.outputNorm)
	s.multiply("output", h, into{m.Head, s.logits})
	s.n = all
	return s.logits
}

// resize cuts the buffers for n columns. They grow to the largest batch.
func (s *Session) resize(n int) {
	c := s.model.Config
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	s.n = n
	for _, b := range []struct {
		buffer *[]float32
		width  int
	}{
		{&s.x, c.Hidden}, {&s.h, c.Hidden},
		{&s.q, q}, {&s.k, kv}, {&s.v, kv}, {&s.att, q},
		{&s.gate, c.FFN}, {&s.up, c.FFN},
		{&s.cos, c.HeadDim / 2}, {&s.sin, c.HeadDim / 2},
	} {
		*b.buffer = grow(*b.buffer, n*b.width)
	}
}

func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

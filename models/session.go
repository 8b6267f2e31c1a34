package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/internal/sysinfo"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/forward"
)

// ErrContextFull is wrapped by the error for tokens beyond a session's
// context.
var ErrContextFull = errors.New("context is full")

// ErrNoRollback is wrapped by the error of [Session.Truncate] where a session
// cannot go back to that position.
var ErrNoRollback = engine.ErrNoRollback

// SessionOptions are the choices in a session. The zero value is a session of
// at most 4096 tokens.
type SessionOptions struct {
	// Context is how many tokens the session can hold, at most the model's.
	// 0: the smaller of that and 4096.
	Context int
	// Batch is how many tokens of a prompt are multiplied together; 0: 128.
	// Results do not depend on it.
	Batch int
	// Cache is the format of keys and values: f16, f32, q8_0, which has half
	// of f16's bytes, or q4_0, which has half of those; the latter two want heads
	// of a multiple of 32. Nil: f16.
	Cache    *formats.Type
	Observer engine.Observer // nil: none
	// Memory is how many bytes there are for the model and its sessions. 0: what
	// the system has available, see [sysinfo.Available], and what they hold already;
	// any, where it does not tell.
	Memory int64
}

func (o *SessionOptions) setDefaults(c arch.Config) {
	if o.Context == 0 {
		o.Context = min(defaultContext, c.Context)
	}
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.Cache == nil {
		o.Cache = formats.F16
	}
}

func (o *SessionOptions) check(c arch.Config) error {
	switch {
	case o.Context < 1 || o.Context > c.Context:
		return fmt.Errorf("a context of %d tokens is not between 1 and the model's %d", o.Context, c.Context)
	case o.Batch < 1:
		return fmt.Errorf("a batch of %d tokens is not positive", o.Batch)
	}
	return nil
}

const (
	defaultContext = 4096
	defaultBatch   = 128
)

// A Session is a model at work on one text: a stream of the model's engine, in
// whose operations the forward passes are written. It belongs to one goroutine
// at a time. Close frees it.
type Session struct {
	model   *Model
	stream  engine.Stream
	pass    *forward.Pass
	context int // tokens that it can hold
	batch   int
	n       int // tokens of the batch in progress

	last   engine.Buffer // Hidden: columns whose logits are wanted
	logits engine.Buffer // Vocab

	one [1]int // of Decode: operations let their arguments escape
}

// NewSession starts a session on m. The error is a *[MemoryError] if its context
// is larger than memory.
func (m *Model) NewSession(opt SessionOptions) (*Session, error) {
	c := m.Config
	opt.setDefaults(c)
	if err := opt.check(c); err != nil {
		return nil, err
	}
	if err := m.fits(opt); err != nil {
		return nil, err
	}
	stream, err := m.engine.NewStream(m.streamOptions(opt))
	if err != nil {
		return nil, err
	}
	stream.Observe(opt.Observer)
	s := m.newSession(stream)
	s.context, s.batch = opt.Context, opt.Batch
	return s, nil
}

func (m *Model) streamOptions(opt SessionOptions) engine.StreamOptions {
	return engine.StreamOptions{States: m.Arch.States(m.Config), Context: opt.Context, Batch: opt.Batch, Cache: opt.Cache, Rope: m.rope}
}

// newSession makes a session's buffers on a stream.
func (m *Model) newSession(stream engine.Stream) *Session {
	return &Session{
		model: m, stream: stream, pass: forward.NewPass(stream, m.Arch, m.Config),
		last: stream.Buffer(m.Config.Hidden), logits: stream.Buffer(m.Config.Vocab),
	}
}

// fits returns an error if a session has no room in memory beside those there are.
func (m *Model) fits(opt SessionOptions) error {
	others, memory := int64(0), opt.Memory
	if e, ok := m.engine.(engine.MemoryCounter); ok {
		weights, streams, promised := e.Taken()
		others = promised
		if memory == 0 {
			free := sysinfo.Available()
			if !free.OK() {
				return nil
			}
			memory = int64(free.V) + weights + streams
		}
	} else if memory == 0 {
		return nil // it may have memory of its own
	}
	_, err := m.plan.Check(opt, max(0, memory-others))
	return err
}

// Close frees what the session keeps of its text.
func (s *Session) Close() error { return s.stream.Close() }

// Model returns the model that the session runs on.
func (s *Session) Model() *Model { return s.model }

// Observe makes o see the operations from now on; nil ends it.
func (s *Session) Observe(o engine.Observer) { s.stream.Observe(o) }

// DeviceTime returns how long the engine's device has worked for the session, by
// its own clock; 0 where it has none.
func (s *Session) DeviceTime() time.Duration {
	if t, ok := s.stream.(engine.DeviceTimer); ok {
		return t.DeviceTime()
	}
	return 0
}

// Position returns the number of tokens in the session.
func (s *Session) Position() int { return s.stream.Position() }

// Context returns the number of tokens that the session can hold.
func (s *Session) Context() int { return s.context }

// CacheBytes returns the size of what the blocks keep of the tokens so far.
func (s *Session) CacheBytes() int { return s.stream.StateBytes(s.Position()) }

// HostMemory returns the memory of keys and values, for all positions, outside
// the Go heap; nil where it is not in the host's.
func (s *Session) HostMemory() [][]byte { return hostMemory(s.stream) }

// BufferBytes returns the size of the session's activations, on the Go heap; 0
// where they are elsewhere.
func (s *Session) BufferBytes() int {
	if h, ok := s.stream.(engine.BufferCounter); ok {
		return h.BufferBytes()
	}
	return 0
}

// Mark remembers the state at the position, in place of what it remembered
// before, so that Truncate can go back there. It costs a copy of what the blocks
// keep without positions, 151 MB of Bonsai 27B's, and nothing of keys and values.
// Going back to 0 forgets it.
func (s *Session) Mark() error { return s.stream.Mark() }

// Truncate forgets all tokens but the first n. The error wraps
// [ErrNoRollback] if what the blocks keep has no such position; 0 always has,
// and the one that was marked.
func (s *Session) Truncate(n int) error { return s.stream.Truncate(n) }

// Lengthen makes the text one of n tokens by repeating the keys and values of those
// that came, 128 or a multiple of it, without computing anything: what comes next
// takes as long as behind n tokens that were taken in, and means nothing. It is for
// measuring. What a block keeps without positions stays as it is. The error wraps
// [errors.ErrUnsupported] if the engine cannot.
func (s *Session) Lengthen(n int) error {
	if l, ok := s.stream.(engine.Lengthener); ok {
		return l.Lengthen(n)
	}
	return fmt.Errorf("texts are not lengthened on this engine: %w", errors.ErrUnsupported)
}

// Prefill takes in tokens and returns the logits of the one to follow, valid
// until the next call. Of a model whose weights are unchecked yet, the error is
// that of [Model.Check]; it is ctx's if that is done between two batches. None
// of the tokens count then.
func (s *Session) Prefill(ctx context.Context, ids []int) (logits []float32, err error) {
	err = s.prefill(ctx, ids, func() error {
		logits, err = s.stream.Read(s.logits)
		return err
	})
	if err != nil {
		return nil, err
	}
	return logits, nil
}

// prefill takes in tokens, and has read fetch what it wants of the logits of the
// one to follow.
func (s *Session) prefill(ctx context.Context, ids []int, read func() error) error {
	if err := s.check(ids); err != nil {
		return err
	}
	return s.rollingBack(func() error { return s.batches(ctx, ids, read) })
}

// rollingBack runs what takes in tokens, of which none count if it fails.
func (s *Session) rollingBack(take func() error) error {
	start := s.Position()
	err := mmap.Guard(take)
	if err != nil {
		if stuck := s.stream.Truncate(start); stuck != nil {
			err = errors.Join(err, stuck)
		}
	}
	return err
}

func (s *Session) batches(ctx context.Context, ids []int, read func() error) error {
	for from := 0; ; from += s.batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(from+s.batch, len(ids))
		if err := s.through(ids[from:end]); err != nil {
			return err
		}
		if end < len(ids) {
			s.stream.End()
			continue
		}
		s.head(s.n-1, s.n)
		err := read()
		if err == nil {
			s.stream.End()
		}
		return err
	}
}

// Decode is Prefill for one token. It does not allocate.
func (s *Session) Decode(id int) ([]float32, error) {
	s.one[0] = id
	return s.Prefill(context.Background(), s.one[:])
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
			for logits, err := range s.FinishEach() {
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
			id, err := s.next(ctx, next, sampler)
			if err != nil {
				yield(0, err)
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

// next takes in tokens and draws the one to follow. Where the sampler needs no
// more than some of the logits, the others stay on the engine's device.
func (s *Session) next(ctx context.Context, ids []int, sampler *Sampler) (id int, err error) {
	var drawn error
	err = s.prefill(ctx, ids, func() error {
		if k := sampler.top(); k > 0 {
			top, err := s.stream.Top(s.logits, k)
			if err == nil {
				id, drawn = sampler.sampleTop(top)
			}
			return err
		}
		logits, err := s.stream.Read(s.logits)
		if err == nil {
			id, drawn = sampler.Sample(logits)
		}
		return err
	})
	if err == nil && drawn != nil {
		err = fmt.Errorf("%s: %w", s.model.source.Name(), drawn)
	}
	return id, err
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
	if s.Position()+len(ids) > s.context {
		return fmt.Errorf("%s: %w: %d tokens and %d more exceed the %d of this session (the model's limit is %d)",
			s.model.source.Name(), ErrContextFull, s.Position(), len(ids), s.context, s.model.Config.Context)
	}
	return nil
}

// through starts a batch and takes it through all blocks.
func (s *Session) through(ids []int) error {
	if err := s.startBatch(ids); err != nil {
		return err
	}
	s.blocks()
	return nil
}

func (s *Session) blocks() {
	for _, b := range s.model.blocks {
		s.pass.Forward(b)
	}
}

// Start begins a batch: it sets the residual stream to the tokens'
// embeddings. Start, [Session.Forward] for each block, and [Session.Finish] are
// Prefill in steps, for callers that read the stream in between; the tokens count
// once Finish has run.
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
	s.begin(ids)
	return nil
}

// begin starts a batch of tokens that have been checked.
func (s *Session) begin(ids []int) {
	s.n = len(ids)
	s.stream.Begin(s.n)
	s.stream.Embed("token_embd", s.pass.X, s.model.embedding, ids)
	if r := s.model.embeddingRotation; r != nil {
		s.stream.Hadamard("token_embd_hadamard", s.pass.X, s.pass.X, r)
	}
	if by := s.model.Config.EmbeddingScale; by != 0 {
		s.stream.Scale("token_embd_scale", s.pass.X, by)
	}
}

// Forward takes the batch in progress through a block.
func (s *Session) Forward(b *forward.Block) { s.pass.Forward(b) }

// Hidden returns the residual stream of the batch in progress, tokens ×
// Hidden, valid until the next block.
func (s *Session) Hidden() ([]float32, error) { return s.stream.Read(s.pass.X) }

// SetHidden replaces the residual stream of the batch in progress.
func (s *Session) SetHidden(x []float32) { s.stream.Write(s.pass.X, x) }

// Finish ends a batch: it returns the logits that follow its last token,
// valid until the next call, and advances the position.
func (s *Session) Finish() (logits []float32, err error) {
	err = mmap.Guard(func() error {
		logits, err = s.columnLogits(s.n-1, s.n)
		return err
	})
	s.stream.End()
	return logits, err
}

// FinishEach is Finish that yields the logits after each token of the batch,
// valid until the next. The position advances when the loop over them ends.
func (s *Session) FinishEach() iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		defer s.stream.End()
		vocab := s.model.Config.Vocab
		for from := 0; from < s.n; from += logitColumns {
			var logits []float32
			err := mmap.Guard(func() (err error) {
				logits, err = s.columnLogits(from, min(from+logitColumns, s.n))
				return err
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

// columnLogits returns the logits of columns [from, end).
func (s *Session) columnLogits(from, end int) ([]float32, error) {
	s.head(from, end)
	return s.stream.Read(s.logits)
}

// head computes them.
func (s *Session) head(from, end int) {
	s.stream.Take(s.last, s.pass.X, from, end)
	s.pass.Norm("output_norm", s.last, s.last, s.model.outputNorm)
	if by := s.model.Config.LogitScale; by != 0 {
		s.stream.Scale("logit_scale", s.last, 1/by)
	}
	s.pass.Multiply("output", s.last, s.model.Head.To(s.logits))
}

package cases

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/deviation"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// testCase is a pp or tg test. An operation is the whole test.
func testCase(store *store, c opening, t names.ModelTest, group string) bench.Case {
	out := bench.Case{
		Name: c.caseOf(t).String(), Group: group, Rates: []results.Metric{{Unit: results.TokenRate, Value: float64(t.Tokens)}},
		Single: t.Kind == names.Prompt, // prompts take too long to measure one twice more
		Setup:  func(ctx context.Context) (bench.Instance, error) { return newText(ctx, store, c, t, t.Depth+t.Tokens) },
	}
	if t.Kind == names.Prompt {
		out.Ops = c.scope().subject.multiplyAdds(t)
	}
	return out
}

// textCase is one on CPUs.
func textCase(store *store, c modelConfig, t names.ModelTest, group string) bench.Case {
	out := testCase(store, c, t, group)
	out.Single = out.Single || !c.simd() || c.packing == cpu.Stream
	out.Expect, out.Check = c.expect(t), store.limits.Check(c.threads)
	if t.Kind == names.Decode {
		out.Bytes = c.bytes(t)
	}
	return out
}

// An opening is how a model is opened: by a variant on CPUs (modelConfig), or by a kernel
// on a GPU (gpuModel).
type opening interface {
	fmt.Stringer // which no other of the scope is called
	scope() scope
	caseOf(names.ModelTest) names.ModelCase
	options(*store) models.Options

	// checkVariants proves what multiplies, and verify that it does so right: with a
	// session of verifyTokens.
	checkVariants(*models.Model) error
	verify(context.Context, *store, *models.Session) error
	verifyTokens() int

	// memory is what a test takes, whose session has so many bytes of a GPU's.
	memory(ctx context.Context, s *store, m *opened, t names.ModelTest, session int) ([]results.Metric, error)

	// alike is what those have in common whose errors are equal to the bit.
	alike() string
}

func (c modelConfig) scope() scope  { return scope{c.subject, c.threads} }
func (c modelConfig) alike() string { return string(c.act()) }

// A text is a test of a model that is set up.
type text struct {
	opening
	names.ModelTest
	store   *store
	model   *opened
	session *models.Session
	ids     []int
	bytes   int // of a GPU's memory, for keys, values and activations
	trip    *roofline.RoundTrip
	stint
}

// newText starts a session with room for so many tokens.
func newText(ctx context.Context, store *store, c opening, t names.ModelTest, room int) (*text, error) {
	m, err := store.open(ctx, c)
	if err != nil {
		return nil, err
	}
	on := c.scope()
	x := &text{opening: c, ModelTest: t, store: store, model: m, ids: tokens(on.subject, t.Depth+t.Tokens)}
	before := store.gpu.allocated()
	if x.session, err = on.subject.session(m.Model, max(room, c.verifyTokens())); err != nil {
		return nil, err
	}
	x.bytes = store.gpu.allocated() - before
	if on.threads > 0 {
		x.trip = roofline.NewRoundTrip(store.pool(on.threads))
	}
	return x, nil
}

// tokens are a text for a model.
func tokens(sub *subject, n int) []int { return randomTokens(sub.config.Vocab, n) }

// randomTokens are drawn at random, always the same ones: how fast a model runs
// does not depend on what it says.
func randomTokens(vocab, n int) []int {
	rng := rand.New(rand.NewPCG(1, uint64(vocab)))
	ids := make([]int, n)
	for i := range ids {
		ids[i] = rng.IntN(vocab)
	}
	return ids
}

// Verify holds the model to the generic path, and fills the cache to the
// test's depth.
func (x *text) Verify(ctx context.Context) ([]results.Metric, error) {
	if err := x.model.verify(ctx, x.opening, x.store, x.session); err != nil {
		return nil, err
	}
	if err := fill(ctx, x.ModelTest, x.session, x.ids); err != nil {
		return nil, err
	}
	metrics, err := x.memory(ctx, x.store, x.model, x.ModelTest, x.bytes)
	return metrics, errors.Join(err, ctx.Err())
}

func (x *text) Run(ctx context.Context, n int) error {
	before := x.session.DeviceTime()
	for range n {
		if err := perform(ctx, x.ModelTest, x.session, x.ids); err != nil {
			return err
		}
	}
	x.stint = stint{x.session.DeviceTime() - before, n}
	return nil
}

// Probe tells of the threads, or of a GPU.
func (x *text) Probe() []results.Metric { return append(x.trip.Probe(), x.stint.Probe()...) }

// fill leaves the session with the tokens before the test, up to its depth.
func fill(ctx context.Context, t names.ModelTest, s *models.Session, ids []int) error {
	if err := s.Truncate(0); err != nil || t.Depth == 0 {
		return err
	}
	if err := reach(ctx, s, ids[:t.Depth]); err != nil {
		return err
	}
	return s.Mark() // to go back to where a state has no positions
}

// computedTokens is how many tokens before a test are computed. The keys and values
// of more are theirs again: attention takes as long whatever it finds.
const computedTokens = 128

// reach takes in the tokens, or makes as if it had where there are many.
func reach(ctx context.Context, s *models.Session, ids []int) error {
	depth, computed := len(ids), min(len(ids), computedTokens)
	if _, err := s.Prefill(ctx, ids[:computed]); err != nil || computed == depth {
		return err
	}
	err := s.Lengthen(depth)
	if errors.Is(err, errors.ErrUnsupported) {
		_, err = s.Prefill(ctx, ids[computed:])
	}
	return err
}

// perform performs the test on a session that holds at least the depth.
func perform(ctx context.Context, t names.ModelTest, s *models.Session, ids []int) error {
	if err := s.Truncate(t.Depth); err != nil {
		return err
	}
	ids = ids[t.Depth:]
	if t.Kind == names.Prompt {
		_, err := s.Prefill(ctx, ids)
		return err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := s.Decode(id); err != nil {
			return err
		}
	}
	return nil
}

func (x *text) Close() error { return x.session.Close() }

// How many tokens a model is verified with: so many against the generic path
// (see checkedBlocks), and, with SIMD, so many in one batch against one at a time, which is a
// kernel's whole tile of columns and a part of one.
const (
	genericTokens = 3
	batchTokens   = 17
)

func (c modelConfig) verifyTokens() int { return min(batchTokens, c.subject.config.Context) }

// verify proves once that an open model is right.
func (m *opened) verify(ctx context.Context, c opening, store *store, s *models.Session) error {
	if m.verified {
		return nil
	}
	if err := c.checkVariants(m.Model); err != nil {
		return err
	}
	if err := c.verify(ctx, store, s); err != nil {
		return err
	}
	m.verified = true
	return nil
}

// verify proves, unless another process has (ModelsOptions.Again), that the logits
// after a batch of two tokens and after one more equal to the bit those of the pure Go
// variant, in all blocks or in those that checkedBlocks chooses of a large model; and
// that the logits after a batch equal those after the same tokens one by one, and so on
// any number of threads. Logits are some hundred thousand sums over every weight of the
// model, or of those blocks: a wrong one shows.
func (c modelConfig) verify(ctx context.Context, store *store, s *models.Session) error {
	if !store.opt.Again {
		if err := store.holdToGeneric(ctx, c, s); err != nil {
			return err
		}
	}
	if c.simd() {
		if err := batchEqualsSteps(ctx, s, tokens(c.subject, c.verifyTokens())); err != nil {
			return err
		}
	}
	store.watchPages(c)
	return nil
}

// holdToGeneric compares a model with the pure Go variant.
func (s *store) holdToGeneric(ctx context.Context, c modelConfig, session *models.Session) error {
	generic, err := s.genericLogits(ctx, c)
	if err != nil {
		return err
	}
	var got logits
	if err := got.take(ctx, session, c.subject); err != nil {
		return err
	}
	if c.variant.Name == reference {
		return got.near(generic)
	}
	return got.equal(generic)
}

// logits are those after a batch of tokens, and after one more, of the blocks
// that are compared with the pure Go variant.
type logits struct{ batch, step []float32 }

func (l *logits) take(ctx context.Context, s *models.Session, sub *subject) error {
	ids := tokens(sub, genericTokens)
	last := len(ids) - 1
	if err := s.Truncate(0); err != nil {
		return err
	}
	batch, err := sub.logitsOfChecked(ctx, s, ids[:last])
	if err != nil {
		return err
	}
	l.batch = slices.Clone(batch)
	step, err := sub.logitsOfChecked(ctx, s, ids[last:])
	l.step = slices.Clone(step)
	return err
}

func (l *logits) equal(want *logits) error {
	if err := sameBits(l.batch, want.batch); err != nil {
		return fmt.Errorf("after a batch, %w of the pure Go variant", err)
	}
	if err := sameBits(l.step, want.step); err != nil {
		return fmt.Errorf("after one more token, %w of the pure Go variant", err)
	}
	return nil
}

// near is for the reference, which does not round activations.
func (l *logits) near(want *logits) error {
	const most = 0.2 // what rounding in all blocks adds up to is a few per cent
	if e := deviation.Of(want.step, l.step).NMSE(); !(e <= most) {
		return fmt.Errorf("the pure Go variant's logits differ from the reference's by an NMSE of %.3g, above %g", e, most)
	}
	return nil
}

func sameBits(got, want []float32) error {
	if len(got) != len(want) || len(got) == 0 {
		return errors.New("there are no logits like those")
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			return fmt.Errorf("logit %d is %v, not the %v", i, got[i], want[i])
		}
	}
	return nil
}

func batchEqualsSteps(ctx context.Context, s *models.Session, ids []int) error {
	if err := s.Truncate(0); err != nil {
		return err
	}
	batch, err := s.Prefill(ctx, ids)
	if err != nil {
		return err
	}
	batch = slices.Clone(batch)
	var step []float32
	if err := s.Truncate(0); err != nil {
		return err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step, err = s.Decode(id); err != nil {
			return err
		}
	}
	if err := sameBits(batch, step); err != nil {
		return fmt.Errorf("after a batch of %d tokens, %w after the same one by one", len(ids), err)
	}
	return nil
}

// genericLogits are those of the pure Go variant of c's scheme, which
// multiplies the file's own bytes. The reference is near that of the main one.
func (s *store) genericLogits(ctx context.Context, c modelConfig) (*logits, error) {
	sub := c.subject
	act := c.act()
	if c.variant.Name == reference {
		act = sub.acts[0]
	}
	if l := sub.generic[act]; l != nil {
		return l, nil
	}
	prefer, err := cpu.Prefer("unrolled", otherAct(sub.format, act))
	if err != nil {
		return nil, err
	}
	c.threads = s.maxThreads
	opt := c.options(s)
	on := cpuOf(&opt)
	on.Kernels, on.Packing = prefer, cpu.PackNever
	opt.Engine = on
	m, err := models.Open(ctx, sub.Path, opt)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	session, err := sub.session(m, genericTokens)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	var l logits
	if err := l.take(ctx, session, sub); err != nil {
		return nil, err
	}
	sub.generic[act] = &l
	return &l, nil
}

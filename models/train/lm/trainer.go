package lm

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"onebit/internal/clock"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/tokenizer"
	"onebit/models/train"
)

// A Trainer is a run: a model, its text and how far it is. It belongs to one
// goroutine.
type Trainer struct {
	Recipe Recipe
	Model  *Model

	pool       *kernels.Pool
	vocabulary *vocabulary
	optimizer  *train.Optimizer
	schedule   train.Schedule
	stream     *stream
	held       []int32
	heldBytes  int
	state      state
	recent     []float64 // losses of the last steps behind the warm-up, for diverged
}

// A state is what a checkpoint has beside tensors.
type state struct {
	Version int
	Recipe  Recipe
	Text    string // the corpus's name and digest, to tell another one
	Digest  string
	Teacher string `json:",omitempty"` // digest of the weights to learn from
	Step    int    // done
	Spent   time.Duration
	Points  []Point
}

// A Point is one of a learning curve.
type Point struct {
	Step    int
	Loss    float64 // mean of the steps since the last point, in nats a token
	HeldOut float64 // bits per byte of a sample of the text held out
}

// New begins a run: it learns the vocabulary from the text and takes random
// weights.
func New(r Recipe, corpus *Corpus, pool *kernels.Pool) (*Trainer, error) {
	shape, err := prepare(r)
	if err != nil {
		return nil, err
	}
	learned, err := tokenizer.Learn(Texts(corpus.Train), r.Splitter, r.Vocab)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", corpus.Name, err)
	}
	v, err := newVocabulary(learned.Metadata(), shape.Table.Text)
	if err != nil {
		return nil, err
	}
	return newTrainer(r, shape, corpus, v, pool)
}

func prepare(r Recipe) (Shape, error) {
	if err := r.Check(); err != nil {
		return Shape{}, err
	}
	table, err := arch.Lookup(r.Architecture)
	if err != nil {
		return Shape{}, err
	}
	return r.shape(table)
}

func newTrainer(r Recipe, s Shape, corpus *Corpus, v *vocabulary, pool *kernels.Pool) (*Trainer, error) {
	t := &Trainer{Recipe: r, pool: pool, vocabulary: v, schedule: r.schedule(), heldBytes: Bytes(corpus.HeldOut)}
	digest := corpus.Digest()
	t.state = state{Version: stateVersion, Recipe: r, Text: corpus.Name, Digest: hex.EncodeToString(digest[:])}
	var err error
	if t.stream, err = newStream(encode(v.Tokenizer, corpus.Train), r.Context, r.Seed); err != nil {
		return nil, fmt.Errorf("%s: %w", corpus.Name, err)
	}
	if t.held = encode(v.Tokenizer, corpus.HeldOut); len(t.held) < r.Context {
		return nil, fmt.Errorf("%s: the text is too small: %d tokens are held out, and a window has %d", corpus.Name, len(t.held), r.Context)
	}
	if t.Model, err = NewModel(s, pool, r.Seed); err != nil {
		return nil, err
	}
	rule, err := train.LookupRule(r.Optimizer)
	if err != nil {
		return nil, err
	}
	t.optimizer = train.NewOptimizer(pool, rule, t.Model.Params())
	t.optimizer.Clip, t.optimizer.Decay = r.Clip, r.Decay
	return t, nil
}

// Step returns how many are done.
func (t *Trainer) Step() int { return t.state.Step }

// SetSteps makes the run end at another step, towards which the learning rate falls
// from now on.
func (t *Trainer) SetSteps(steps int) error {
	r := t.Recipe
	r.Steps = steps
	if err := r.Check(); err != nil {
		return err
	}
	if steps < t.state.Step {
		return fmt.Errorf("the run has made %d steps, and cannot end at %d", t.state.Step, steps)
	}
	t.Recipe, t.state.Recipe, t.schedule = r, r, r.schedule()
	return nil
}

// Done reports whether the run is over.
func (t *Trainer) Done() bool { return t.state.Step >= t.Recipe.Steps }

// Spent returns the time of all steps, before interruptions too.
func (t *Trainer) Spent() time.Duration { return t.state.Spent }

// Points returns the learning curve.
func (t *Trainer) Points() []Point { return t.state.Points }

// Tokens returns how many there are to train on, and how many are held out.
func (t *Trainer) Tokens() (train, held int) { return len(t.stream.tokens), len(t.held) }

// Advance makes one step and returns its loss in nats a token. An error leaves the
// weights as they were: a *train.NotFiniteError, or a *DivergedError.
func (t *Trainer) Advance() (loss float64, err error) {
	began := clock.Now()
	step := t.state.Step + 1
	r := t.Recipe
	if r.Distil > 0 && t.Model.teacher == nil {
		panic("lm: Advance before Teach")
	}
	params := t.Model.Params()
	train.ZeroGrad(params)
	passes := r.Batch / r.Pass
	t.Model.Freeze()
	for p := range passes {
		ids, targets := t.windows((step-1)*r.Batch + p*r.Pass)
		loss += t.Model.Pass(ids, targets) / float64(passes)
	}
	t.Model.Thaw()
	defer t.Model.Time.start(Update)()
	if passes > 1 {
		for _, p := range params {
			each(t.Model.build, len(p.Grad), func(from, to int) { scale(p.Grad[from:to], 1/float64(passes)) })
		}
	}
	if err := t.diverged(step, loss); err != nil {
		return loss, err
	}
	if _, err := t.optimizer.Step(step, t.schedule(step), loss); err != nil {
		return loss, err
	}
	t.state.Step = step
	t.state.Spent += clock.Since(began)
	return loss, nil
}

// windows returns the tokens of a pass from window i on, and those that follow
// each.
func (t *Trainer) windows(i int) (ids, targets []int32) {
	for n := range t.Recipe.Pass {
		w := t.stream.window(i + n)
		ids = append(ids, w[:len(w)-1]...)
		targets = append(targets, w[1:]...)
	}
	return ids, targets
}

// A DivergedError is a run that is worse than no model, and not on its way to be better.
type DivergedError struct {
	Step  int
	Loss  float64 // mean of the last steps
	Guess float64 // of a model that takes all tokens for equally likely
	Rate  float64 // the highest learning rate
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("step %d: the loss is %.2f, and guessing has %.2f: the run has diverged: it does not fall; a learning rate below %v, a longer warm-up or clipped gradients may help", e.Step, e.Loss, e.Guess, e.Rate)
}

// divergedSteps is how many steps are compared with as many before them.
const divergedSteps = 50

// diverged tells of a loss above that of guessing which does not fall. Random weights
// begin above a guess, some far above, and learn little in the warm-up: that is no
// fault of theirs.
func (t *Trainer) diverged(step int, loss float64) error {
	if step <= t.Recipe.Warmup {
		return nil
	}
	t.recent = append(t.recent, loss)
	if len(t.recent) < 2*divergedSteps {
		return nil
	}
	t.recent = t.recent[len(t.recent)-2*divergedSteps:]
	before, last := mean(t.recent[:divergedSteps]), mean(t.recent[divergedSteps:])
	if guess := math.Log(float64(t.Recipe.Vocab)); last > guess+1 && last >= before {
		return &DivergedError{step, last, guess, t.Recipe.Rate}
	}
	return nil
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// sampleViews is how many windows a point of the learning curve is from.
const sampleViews = 24

// Mark adds a point to the learning curve, with the mean loss of the steps since the
// last.
func (t *Trainer) Mark(ctx context.Context, loss float64) (Point, error) {
	all := views(len(t.held), t.Recipe.Context)
	var some []view
	for i := range min(sampleViews, len(all)) {
		some = append(some, all[i*len(all)/min(sampleViews, len(all))])
	}
	s, err := t.evaluate(ctx, some)
	if err != nil {
		return Point{}, err
	}
	p := Point{Step: t.state.Step, Loss: loss, HeldOut: s.BitsPerByte()}
	t.state.Points = append(t.state.Points, p)
	return p, nil
}

// HeldOut scores all of the text that is held out.
func (t *Trainer) HeldOut(ctx context.Context) (Score, error) {
	s, err := t.evaluate(ctx, views(len(t.held), t.Recipe.Context))
	s.Bytes = float64(t.heldBytes)
	return s, err
}

func (t *Trainer) evaluate(ctx context.Context, some []view) (Score, error) {
	t.Model.Freeze()
	defer t.Model.Thaw()
	kept := *t.Model.Time // of training alone
	defer func() { *t.Model.Time = kept }()
	return t.Model.evaluate(ctx, t.held, some, float64(t.heldBytes)/float64(len(t.held)))
}

// Trigram scores the same text with a trigram model of the same tokens.
func (t *Trainer) Trigram() Score {
	return Score{
		Nats:   NewTrigram(t.stream.tokens, t.Recipe.Vocab).Nats(t.held),
		Tokens: len(t.held) - 1,
		Bytes:  float64(t.heldBytes),
	}
}

// Export writes the model as a GGUF file.
func (t *Trainer) Export(w io.Writer) error {
	about := fmt.Sprintf("trained by onebit on %s, recipe %s, %d of %d steps, seed %d", t.state.Text, cmp.Or(t.Recipe.Base, t.Recipe.Name), t.state.Step, t.Recipe.Steps, t.Recipe.Seed)
	return t.Model.Export(w, t.Recipe.Name, about, append(slices.Clone(About(t.state.Text)), t.vocabulary.metadata...))
}

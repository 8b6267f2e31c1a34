package lockstep

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/forward"
	"onebit/models/perplexity"
)

// Reference returns the options to open a reference with, on a pool that stays
// the caller's; nil is one of its own.
func Reference(pool *kernels.Pool) (models.Options, error) {
	kernels, err := cpu.Prefer("reference", "")
	return models.Options{Engine: cpu.Options{Kernels: kernels, Packing: cpu.PackNever, Pool: pool}}, err
}

// Options are the choices in a run.
type Options struct {
	// Cache is the format of the test's keys and values; nil: the usual one.
	Cache *formats.Type
	// Batch is how many tokens go through a block together; 0: 64. Results do
	// not depend on it.
	Batch int
}

const defaultBatch = 64

// An Input says what a tensor was computed from.
type Input string

// The inputs that the package comment explains.
const (
	Isolated    Input = "isolated"
	Accumulated Input = "accumulated"
)

// The names of what is compared beside projections.
const (
	BlockOutput = "block"  // the residual stream behind a block
	Logits      = "output" // outside the blocks
)

// A Tensor is what was computed in one place, compared.
type Tensor struct {
	Input Input
	Block int    // engine.Outside for the logits
	Name  string // a projection's, such as attn_q, or one of the two above
	Errors
}

// A Result is what a run found.
type Result struct {
	Tokens  int      // that went through the blocks
	Tensors []Tensor // by input, block and order of use
	// Choices are the routers', of models that have some. Where the test chose otherwise on
	// its own, accumulated errors of experts compare different ones.
	Choices map[Input]Choices
	// Estimate compares the predictions of the test, running on its own, with
	// the reference's.
	Estimate perplexity.Estimate
}

// Find returns the errors of a tensor.
func (r *Result) Find(input Input, block int, name string) (Errors, bool) {
	for _, t := range r.Tensors {
		if t.Input == input && t.Block == block && t.Name == name {
			return t.Errors, true
		}
	}
	return Errors{}, false
}

// Run takes all tokens but the last through both models, and scores each but
// the first by what was predicted for it. The models are of the same file.
func Run(ctx context.Context, reference, test *models.Model, ids []int, opt Options) (*Result, error) {
	if opt.Batch == 0 {
		opt.Batch = defaultBatch
	}
	switch {
	case reference.Config != test.Config:
		return nil, errors.New("lockstep: the two models differ in architecture or size")
	case len(ids) < 2:
		return nil, fmt.Errorf("lockstep: %d tokens given, at least 2 are needed", len(ids))
	case opt.Batch < 1:
		return nil, fmt.Errorf("lockstep: a batch of %d tokens is not positive", opt.Batch)
	}
	run := &run{pool: cpu.PoolOf(test.Engine()), tallies: map[place]*tally{}}
	defer run.close()
	if err := run.open(reference, test, len(ids)-1, opt.Cache); err != nil {
		return nil, err
	}
	for from := 0; from < len(ids)-1; from += opt.Batch {
		end := min(from+opt.Batch, len(ids)-1)
		err := mmap.Guard(func() error { return run.batch(ctx, ids[from:end], ids[from+1:end+1]) })
		if err != nil {
			return nil, err
		}
	}
	return run.result(), nil
}

// A place is where a tensor is computed.
type place struct {
	input Input
	block int
	name  string
}

// A run is three sessions at the same position.
type run struct {
	reference, isolated, accumulated *models.Session
	blocks                           []pair
	recorder                         recorder
	followers                        map[Input]*follower
	input                            []float32 // a block's, in the reference
	n                                int       // tokens in the batch

	pool    *kernels.Pool
	tallies map[place]*tally
	order   []place
	tokens  int

	estimate perplexity.Estimate
}

// A pair is a block of both models.
type pair struct {
	reference, test *forward.Block
	tensors         map[string]string // attn_q and so on, by the tensor's name
}

func (r *run) open(reference, test *models.Model, context int, cache *formats.Type) (err error) {
	r.followers = map[Input]*follower{}
	for _, s := range []struct {
		session  **models.Session
		model    *models.Model
		cache    *formats.Type
		observer engine.Observer
	}{
		{&r.reference, reference, formats.F32, &r.recorder},
		{&r.isolated, test, cache, r.follower(Isolated)},
		{&r.accumulated, test, cache, r.follower(Accumulated)},
	} {
		*s.session, err = s.model.NewSession(models.SessionOptions{Context: context, Cache: s.cache, Observer: s.observer})
		if err != nil {
			return err
		}
	}
	for _, b := range reference.Blocks() {
		r.blocks = append(r.blocks, pair{reference: b})
	}
	for i, b := range test.Blocks() {
		p := &r.blocks[i]
		p.test, p.tensors = b, map[string]string{}
		prefix := fmt.Sprintf("blk.%d.", i)
		for _, l := range b.Linears() {
			p.tensors[l.Name] = strings.TrimSuffix(strings.TrimPrefix(l.Name, prefix), ".weight")
		}
	}
	return nil
}

func (r *run) close() {
	for _, s := range []*models.Session{r.reference, r.isolated, r.accumulated} {
		if s != nil {
			s.Close()
		}
	}
}

func (r *run) follower(input Input) *follower {
	f := &follower{reference: &r.recorder}
	f.compare = func(block int, projection string, test, reference []float32) {
		r.compare(place{input, block, projection}, test, reference)
	}
	r.followers[input] = f
	return f
}

// batch takes tokens through all blocks; targets are those that follow them.
func (r *run) batch(ctx context.Context, ids, targets []int) error {
	r.n = len(ids)
	for _, s := range []*models.Session{r.reference, r.isolated, r.accumulated} {
		if err := s.Start(ids); err != nil {
			return err
		}
	}
	for _, b := range r.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.block(b); err != nil {
			return err
		}
		for _, f := range r.followers {
			if f.err != nil {
				return f.err
			}
		}
	}
	r.tokens += r.n
	return r.predict(ctx, targets)
}

func (r *run) block(b pair) error {
	input, err := r.reference.Hidden()
	if err != nil {
		return err
	}
	r.input = append(r.input[:0], input...)
	r.recorder.reset()
	r.reference.Forward(b.reference)

	isolated := r.followers[Isolated]
	isolated.follow(b.tensors, true)
	r.isolated.SetHidden(r.input)
	r.isolated.Forward(b.test)
	// Once more, now the block as a whole. It replaces the keys and values.
	isolated.follow(nil, false)
	r.isolated.SetHidden(r.input)
	r.isolated.Forward(b.test)
	if err := r.compareHidden(Isolated, r.isolated, b.test.Index); err != nil {
		return err
	}
	r.followers[Accumulated].follow(b.tensors, false)
	r.accumulated.Forward(b.test)
	return r.compareHidden(Accumulated, r.accumulated, b.test.Index)
}

// compareHidden compares the residual streams behind a block.
func (r *run) compareHidden(input Input, test *models.Session, block int) error {
	reference, err := r.reference.Hidden()
	if err != nil {
		return err
	}
	own, err := test.Hidden()
	if err == nil {
		r.compare(place{input, block, BlockOutput}, own, reference)
	}
	return err
}

// predict compares the logits behind the batch's tokens.
func (r *run) predict(ctx context.Context, targets []int) error {
	hidden, err := r.reference.Hidden()
	if err != nil {
		return err
	}
	r.isolated.SetHidden(hidden)
	isolated, stop := iter.Pull2(r.isolated.FinishEach())
	defer stop()
	accumulated, stop := iter.Pull2(r.accumulated.FinishEach())
	defer stop()
	r.n = 1
	for reference, err := range r.reference.FinishEach() {
		alone, aloneErr, _ := isolated()
		own, ownErr, _ := accumulated()
		if err := errors.Join(ctx.Err(), err, aloneErr, ownErr); err != nil {
			return err
		}
		r.compare(place{Isolated, engine.Outside, Logits}, alone, reference)
		r.compare(place{Accumulated, engine.Outside, Logits}, own, reference)
		if err := r.estimate.Add(own, reference, targets[0]); err != nil {
			return err
		}
		targets = targets[1:]
	}
	return nil
}

// compare adds n tokens' values to the tally of a place.
func (r *run) compare(at place, test, reference []float32) {
	t := r.tallies[at]
	if t == nil {
		t = new(tally)
		r.tallies[at] = t
		r.order = append(r.order, at)
	}
	differences, width := make([]difference, r.n), len(reference)/r.n
	r.pool.ForEach(r.n, func(i int) {
		differences[i] = differenceOf(test[i*width:][:width], reference[i*width:][:width])
	})
	for _, d := range differences {
		t.add(d)
	}
}

func (r *run) result() *Result {
	out := &Result{Tokens: r.tokens, Estimate: r.estimate, Choices: map[Input]Choices{}}
	for input, f := range r.followers {
		if f.choices.Made > 0 {
			out.Choices[input] = f.choices
		}
	}
	for _, input := range []Input{Isolated, Accumulated} {
		for _, at := range r.order {
			if at.input == input {
				out.Tensors = append(out.Tensors, Tensor{at.input, at.block, at.name, r.tallies[at].errors()})
			}
		}
	}
	return out
}

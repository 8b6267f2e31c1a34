// Package gradients measures what two straight-through gradients of a BitLinear's
// weights are worth: NanoLogic's, which divides by the scale of the weights, and
// the exact one. It trains the same small network on the same text with both, with
// several optimizers, learning rates and seeds.
package gradients

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"onebit/models/train"
)

// A Trial is one training run.
type Trial struct {
	Optimizer string  // a rule's name
	Gradient  string  // "exact", "inverse-scale", or "float" for weights that are not rounded
	Normed    bool    // whether the network has a LayerNorm before each product
	Clip      float64 // the largest norm of the gradients; 0: any
	Rate      float64
	Seed      uint64
}

// A Result is what a trial came to.
type Result struct {
	Trial
	Losses  []float64 // of each step's batch, nats per byte; fewer than asked for if it left the numbers
	HeldOut float64   // of text that it was not trained on, at the end; NaN if it left the numbers
	Norms   []float64 // of all gradients, at each step
	// FirstNorms is the norm of each product's weight gradient at the first step, from
	// the input on; Scales is γ there, 0 for floats.
	FirstNorms []float64
	Scales     []float64
}

// Diverged reports whether training left the numbers, or ended at twice the loss
// of taking all bytes for equally likely.
func (r *Result) Diverged() bool { return !(r.HeldOut < 2*math.Log(symbols)) }

// Config is what the trials have in common.
type Config struct {
	Form     *train.Form // of the weights
	Text     []byte      // to train on
	HeldOut  []byte
	Steps    int
	Width    int
	Depth    int // products between the first and the last
	Batch    int
	Progress func(done int) // is told how many trials are done, from several goroutines; may be nil
}

// Run runs the trials, as many at a time as there are processors, each on one
// thread. Results are in the order of the trials and don't depend on how many
// run together.
func Run(ctx context.Context, c Config, trials []Trial) ([]*Result, error) {
	if len(c.Text) <= 2*contextBytes || len(c.HeldOut) <= 2*contextBytes {
		return nil, errors.New("the text is too small to train on and to hold some out")
	}
	results := make([]*Result, len(trials))
	done := make(chan struct{}, len(trials))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range trials {
		g.Go(func() (err error) {
			results[i], err = c.run(ctx, t)
			done <- struct{}{}
			if c.Progress != nil {
				c.Progress(len(done))
			}
			return err
		})
	}
	return results, g.Wait()
}

func (c *Config) run(ctx context.Context, t Trial) (*Result, error) {
	rule, err := train.LookupRule(t.Optimizer)
	if err != nil {
		return nil, err
	}
	n, err := c.network(t)
	if err != nil {
		return nil, err
	}
	o := train.NewOptimizer(nil, rule, n.params())
	o.Clip = t.Clip
	rate := train.WarmupCosine(t.Rate, 0, c.Steps/20, c.Steps)
	result := &Result{Trial: t, HeldOut: math.NaN()}
	batches := newSampler(c.Text, t.Seed)
	for step := 1; step <= c.Steps; step++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ids, targets := batches.next(c.Batch)
		loss := n.backward(ids, targets)
		if step == 1 {
			result.FirstNorms, result.Scales = n.weightNorms()
		}
		norm, err := o.Step(step, rate(step), loss)
		if outside := new(train.NotFiniteError); errors.As(err, &outside) {
			return result, nil // which is a result too
		}
		if err != nil {
			return nil, err
		}
		result.Losses = append(result.Losses, loss)
		result.Norms = append(result.Norms, norm)
	}
	result.HeldOut = n.loss(newSampler(c.HeldOut, 0).next(heldOutBatch))
	return result, nil
}

// Median returns the middle of some numbers, NaN of none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

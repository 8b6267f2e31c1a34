package cases

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"onebit/bench"
	"onebit/formats"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/lockstep"
	"onebit/models/tokenizer"
)

// A Lockstep is a comparison of a model's variants with the reference engine.
type Lockstep struct {
	Model string // as in the samples' names
	// Open opens the model once more. It is closed before the study ends.
	Open func(models.Options) (*models.Model, error)
	Pool *kernels.Pool
	// Contenders have the same activation scheme, and so the same bits. The
	// first one runs in lockstep; the others are held to its logits on the
	// first tokens, and then share its errors.
	Contenders []Contender
	Cache      *formats.Type // of keys and values; nil: the usual one
	Tokens     []int         // the text
}

// A Contender is a variant by the name that its samples have, and the options
// that make the model run it.
type Contender struct {
	Name    string
	Options models.Options
}

// Study returns the comparison; multiplyAdds are those of a token.
func (l Lockstep) Study(group string, multiplyAdds int) bench.Study {
	return bench.Study{
		Name:  fmt.Sprintf("Lockstep/model=%s/variant=%s", l.Model, l.Contenders[0].Name),
		Group: group,
		Time:  lockstepTime(multiplyAdds*(len(l.Tokens)-1), l.Pool.Threads()),
		Run:   l.run,
	}
}

// lockstepTime is what a thread of the reference takes, at 0.35 ns for a
// multiply-add in a batch, and as much again for all else.
func lockstepTime(multiplyAdds, threads int) time.Duration {
	return time.Duration(0.7 * float64(multiplyAdds) / float64(threads))
}

func (l Lockstep) run(ctx context.Context, emit func(bench.Sample) error) error {
	test, err := l.open(l.Contenders[0].Options)
	if err != nil {
		return err
	}
	defer test.Close()
	result, err := l.compare(ctx, test)
	if err != nil {
		return err
	}
	if err := l.emit(emit, l.Contenders[0].Name, result); err != nil {
		return err
	}
	want, err := l.logits(ctx, test)
	if err != nil {
		return err
	}
	for _, c := range l.Contenders[1:] {
		if err := l.check(ctx, c, want); err != nil {
			return err
		}
		if err := l.emit(emit, c.Name, result); err != nil {
			return err
		}
	}
	return nil
}

func (l Lockstep) open(opt models.Options) (*models.Model, error) {
	opt.Pool = l.Pool
	return l.Open(opt)
}

func (l Lockstep) compare(ctx context.Context, test *models.Model) (*lockstep.Result, error) {
	opt, err := lockstep.Reference(l.Pool)
	if err != nil {
		return nil, err
	}
	reference, err := l.Open(opt)
	if err != nil {
		return nil, err
	}
	defer reference.Close()
	return lockstep.Run(ctx, reference, test, l.Tokens, lockstep.Options{Cache: l.Cache})
}

// sameTokens is how many tokens variants of one scheme are compared on: enough
// for batches, and not long for a variant in Go.
const sameTokens = 16

// logits returns those after sameTokens of the text.
func (l Lockstep) logits(ctx context.Context, m *models.Model) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tokens := l.Tokens[:min(len(l.Tokens), sameTokens)]
	s, err := m.NewSession(models.SessionOptions{Context: len(tokens), Cache: l.Cache})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	logits, err := s.Prefill(tokens)
	return slices.Clone(logits), err
}

// check holds a contender to the logits of the first.
func (l Lockstep) check(ctx context.Context, c Contender, want []float32) error {
	m, err := l.open(c.Options)
	if err != nil {
		return err
	}
	defer m.Close()
	got, err := l.logits(ctx, m)
	if err != nil {
		return err
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			return fmt.Errorf("variant %s: logit %d after %d tokens is %v, and that of %s is %v: variants of one activation scheme are equal to the bit",
				c.Name, i, min(len(l.Tokens), sameTokens), got[i], l.Contenders[0].Name, want[i])
		}
	}
	return nil
}

// emit writes a result under a variant's name.
func (l Lockstep) emit(emit func(bench.Sample) error, variant string, r *lockstep.Result) error {
	for _, t := range r.Tensors {
		block := strconv.Itoa(t.Block)
		if t.Block == models.Outside {
			block = "outside"
		}
		name := fmt.Sprintf("Lockstep/model=%s/variant=%s/input=%s/block=%s/tensor=%s", l.Model, variant, t.Input, block, t.Name)
		if err := emit(bench.Sample{Name: bench.ParseName(name), Values: errorMetrics(t.Errors)}); err != nil {
			return err
		}
	}
	e := r.Estimate
	ppl, _ := e.PPL()
	reference, _ := e.ReferencePPL()
	output, _ := r.Find(lockstep.Accumulated, models.Outside, lockstep.Logits)
	return emit(bench.Sample{
		Name: bench.ParseName(fmt.Sprintf("Logits/model=%s/variant=%s/tokens=%d", l.Model, variant, r.Tokens)),
		Values: []bench.Metric{
			{Unit: bench.NMSE, Value: output.NMSE}, {Unit: bench.KLD, Value: e.KLD.Value()},
			{Unit: bench.Top1, Value: e.SameTop.Value()}, {Unit: bench.Top5, Value: e.Top5.Value()},
			{Unit: bench.Perplexity, Value: ppl}, {Unit: bench.RefPpl, Value: reference},
		},
	})
}

func errorMetrics(e lockstep.Errors) []bench.Metric {
	return []bench.Metric{{Unit: bench.NMSE, Value: e.NMSE}, {Unit: bench.MaxAbsErr, Value: e.MaxAbs}, {Unit: bench.Cosine, Value: e.Cosine}}
}

// lockstepText is Lincoln's address at Gettysburg (1863, the Bliss copy): a
// short English text that every model has seen.
const lockstepText = `Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in Liberty, and dedicated to the proposition that all men are created equal.

Now we are engaged in a great civil war, testing whether that nation, or any nation so conceived and so dedicated, can long endure. We are met on a great battle-field of that war. We have come to dedicate a portion of that field, as a final resting place for those who here gave their lives that that nation might live. It is altogether fitting and proper that we should do this.

But, in a larger sense, we can not dedicate -- we can not consecrate -- we can not hallow -- this ground. The brave men, living and dead, who struggled here, have consecrated it, far above our poor power to add or detract. The world will little note, nor long remember what we say here, but it can never forget what they did here. It is for us the living, rather, to be dedicated here to the unfinished work which they who fought here have thus far so nobly advanced. It is rather for us to be here dedicated to the great task remaining before us -- that from these honored dead we take increased devotion to that cause for which they gave the last full measure of devotion -- that we here highly resolve that these dead shall not have died in vain -- that this nation, under God, shall have a new birth of freedom -- and that government of the people, by the people, for the people, shall not perish from the earth.
`

// LockstepTokens returns the first n tokens of a short English text, less if
// it has less.
func LockstepTokens(t *tokenizer.Tokenizer, n int) []int {
	ids := t.Encode(lockstepText, tokenizer.Options{AddSpecial: true})
	out := make([]int, min(n, len(ids)))
	for i := range out {
		out[i] = int(ids[i])
	}
	return out
}

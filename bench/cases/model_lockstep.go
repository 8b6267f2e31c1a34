package cases

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/lockstep"
	"onebit/models/perplexity"
)

// addLockstep adds a study of each variant's errors, block by block. Variants
// of one activation scheme have the same: the best runs in lockstep with the
// reference, and the others, once verified, share what it found. group is one
// in which their models are open.
func (s *Suite) addLockstep(store *store, configs []modelConfig, group string) {
	sub := configs[0].subject
	if sub.opt.Lockstep == 0 {
		return
	}
	schemes := map[kernels.Scheme]bool{}
	for _, c := range slices.Backward(configs) {
		if c.packing == cpu.Stream || c.variant.Name == reference {
			continue
		}
		expect := c.expect(names.ModelTest{Kind: names.Prompt, Tokens: c.verifyTokens()})
		if !schemes[c.act()] {
			expect += c.lockstepTime()
		}
		schemes[c.act()] = true
		s.Studies = append(s.Studies, store.lockstepStudy(c, group, expect))
	}
}

func (s *store) lockstepStudy(c opening, group string, expect time.Duration) bench.Study {
	of := c.caseOf(names.ModelTest{})
	name := names.Lockstep{Model: of.Model, Engine: of.Engine, Variant: of.Variant, Act: of.Act}
	return bench.Study{
		Name: name.String(), Group: group, Time: expect,
		Run: func(ctx context.Context, emit func(results.Sample) error) error {
			result, err := s.lockstep(ctx, c)
			if err != nil {
				return err
			}
			return emitLockstep(emit, name, c.scope().subject, result)
		},
	}
}

// lockstepTime is about how long the reference takes, at 0.35 ns for a
// multiply-add of a batch, and the test, which runs three times.
func (c modelConfig) lockstepTime() time.Duration {
	n := c.subject.lockstepTokens()
	reference := 0.35 * float64(n*(c.subject.macs+c.subject.headMAC)) / float64(c.threads)
	return time.Duration(reference) + 3*c.expect(names.ModelTest{Kind: names.Prompt, Tokens: n})
}

// lockstep returns the errors of c's model, and verifies it.
func (s *store) lockstep(ctx context.Context, c opening) (*lockstep.Result, error) {
	sub := c.scope().subject
	m, err := s.open(ctx, c)
	if err != nil {
		return nil, err
	}
	session, err := sub.session(m.Model, c.verifyTokens())
	if err != nil {
		return nil, err
	}
	defer session.Close()
	if err := m.verify(ctx, c, s, session); err != nil {
		return nil, err
	}
	done := sub.lockstep
	if done[c.alike()] == nil {
		done[c.alike()], err = s.runLockstep(ctx, sub, m.Model)
	}
	return done[c.alike()], err
}

func (s *store) runLockstep(ctx context.Context, sub *subject, test *models.Model) (*lockstep.Result, error) {
	ids, err := sub.text()
	if err != nil {
		return nil, err
	}
	opt, err := lockstep.Reference(s.pool(s.maxThreads))
	if err != nil {
		return nil, err
	}
	opt.GGUF.Types = sub.opt.Types
	reference, err := models.Open(ctx, sub.Path, opt)
	if err != nil {
		return nil, err
	}
	result, err := lockstep.Run(ctx, reference, test, ids, lockstep.Options{Cache: sub.opt.Cache})
	return result, errors.Join(err, reference.Close())
}

func emitLockstep(emit func(results.Sample) error, name names.Lockstep, sub *subject, r *lockstep.Result) error {
	for _, t := range r.Tensors {
		name.Input, name.Block, name.Tensor = string(t.Input), profile.BlockName(t.Block), t.Name
		if err := emit(results.Sample{Name: results.ParseName(name.String()), Values: errorMetrics(t.Errors)}); err != nil {
			return err
		}
	}
	output, _ := r.Find(lockstep.Accumulated, engine.Outside, lockstep.Logits)
	values := append([]results.Metric{{Unit: results.NMSE, Value: output.NMSE}}, predictions(&r.Estimate)...)
	weights := names.RandomWeights
	if !sub.Synthetic {
		weights = ""
		ppl, _ := r.Estimate.PPL()
		reference, _ := r.Estimate.ReferencePPL()
		values = append(values, results.Metric{Unit: results.Perplexity, Value: ppl}, results.Metric{Unit: results.RefPpl, Value: reference})
	}
	return emit(results.Sample{
		Name:   results.ParseName(names.Logits{Model: name.Model, Engine: name.Engine, Variant: name.Variant, Act: name.Act, Weights: weights, Tokens: r.Tokens}.String()),
		Values: values,
	})
}

// predictions are how far the test's are from the reference's, with the
// intervals that so few positions give. A single one gives none.
func predictions(e *perplexity.Estimate) (out []results.Metric) {
	for _, m := range []struct {
		unit     string
		mean     perplexity.Mean
		interval func() (lo, hi float64)
	}{
		{results.KLD, e.KLD, e.KLDInterval}, {results.Top1, e.SameTop, e.SameTopInterval}, {results.Top5, e.Top5, e.Top5Interval},
	} {
		out = append(out, results.Metric{Unit: m.unit, Value: m.mean.Value()})
		if lo, hi := m.interval(); !math.IsInf(hi, 1) {
			low, high := results.Bounds(m.unit)
			out = append(out, results.Metric{Unit: low, Value: lo}, results.Metric{Unit: high, Value: hi})
		}
	}
	return out
}

func errorMetrics(e lockstep.Errors) []results.Metric {
	return []results.Metric{{Unit: results.NMSE, Value: e.NMSE}, {Unit: results.MaxAbsErr, Value: e.MaxAbs}, {Unit: results.Cosine, Value: e.Cosine}}
}

// lockstepTokens are more where a text of its own says something of a model, if it is
// small: as many as narrow the intervals within the time that large ones take.
func (sub *subject) lockstepTokens() int {
	const enough, multiplyAdds = 256, 1 << 30
	if sub.Text == "" {
		return sub.opt.Lockstep
	}
	return max(sub.opt.Lockstep, min(enough, multiplyAdds/(sub.macs+sub.headMAC)))
}

// text returns the beginning of the model's text, or of lockstepText, in its
// tokens: those that go through the blocks, and one more, which is predicted.
func (sub *subject) text() ([]int, error) {
	ids, err := sub.encode(cmp.Or(sub.Text, lockstepText))
	if err != nil {
		return nil, err
	}
	return ids[:min(len(ids), sub.lockstepTokens()+1, sub.config.Context)], nil
}

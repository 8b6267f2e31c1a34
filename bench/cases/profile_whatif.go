package cases

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// A whatIf is a decode test under other choices.
type whatIf struct {
	name    string
	change  string // one of names.Changes
	model   models.Options
	cache   *formats.Type
	threads int
	why     string // it can't be; "" if it can
}

// pack changes when weights are packed.
func (w *whatIf) pack(when cpu.Packing) {
	on := cpuOf(&w.model)
	on.Packing = when
	w.model.Engine = on
}

// whatIfs are the choices that may win something.
func (p *Profiling) whatIfs() (all []whatIf) {
	now := whatIf{model: p.opt.Model, cache: p.opt.Cache, threads: p.pool.Threads()}
	add := func(name, key string, change func(w *whatIf)) {
		w := now
		w.name, w.change = name, key
		change(&w)
		all = append(all, w)
	}
	if head := p.model.Head.Type; kernels.FormatOf(head).Scheme == kernels.F32 {
		add("head in q8_0, not "+head.Name, names.ChangeHead, func(w *whatIf) { w.model.Head = formats.Q8_0 })
	}
	if c := p.opt.Cache; c != formats.Q8_0 {
		if c == nil {
			c = formats.F16
		}
		add("cache in q8_0, not "+c.Name, names.ChangeCache, func(w *whatIf) {
			w.cache = formats.Q8_0
			if p.model.Config.HeadDim%formats.Q8_0.BlockLen != 0 {
				w.why = fmt.Sprintf("heads of %d are no multiple of %d", p.model.Config.HeadDim, formats.Q8_0.BlockLen)
			}
		})
	}
	switch {
	case cpuOf(&p.opt.Model).Packing == cpu.Stream || !p.model.Source().InPlace():
	case p.Profile.Packing == names.Packed:
		add("weights in place, not packed", names.ChangeNative, func(w *whatIf) { w.pack(cpu.PackNever) })
	default:
		add("weights packed, not in place", names.ChangePacked, func(w *whatIf) { w.pack(cpu.PackFirst) })
	}
	add("one thread more", names.ChangeThread, func(w *whatIf) {
		w.threads++
		if usable := p.opt.Host.UsableCPUs; w.threads > usable {
			w.why = fmt.Sprintf("this process may use %d CPUs", usable)
		}
	})
	return all
}

// whatIfStudy computes what-ifs of the decode test, and measures them.
func (p *Profiling) whatIfStudy(t names.ModelTest) bench.Study {
	return bench.Study{
		Name: p.caseOf(t).Operation("", "what-if"), Group: p.Profile.Model + " what-if", Time: profileTime,
		Run: func(ctx context.Context, emit func(results.Sample) error) error {
			i := slices.IndexFunc(p.Profile.Tests, func(test *profile.Test) bool { return test.ModelTest == t })
			if i < 0 || len(p.Profile.Tests[i].Passes) == 0 {
				return errors.New("the decode test was not measured")
			}
			all := p.whatIfs()
			for n, w := range all {
				p.opt.Progress.show("what if: "+w.name, n, len(all))
				found, err := p.tryWhatIf(ctx, w, p.Profile.Tests[i], emit)
				if err != nil {
					return err
				}
				p.Profile.WhatIfs = append(p.Profile.WhatIfs, found)
			}
			return nil
		},
	}
}

// tryWhatIf opens the model a second time, which says what it would read.
func (p *Profiling) tryWhatIf(ctx context.Context, w whatIf, test *profile.Test, emit func(results.Sample) error) (found profile.WhatIf, err error) {
	found = profile.WhatIf{Name: w.name, Computed: math.NaN(), Measured: notMeasured, Why: w.why}
	if w.why != "" {
		return found, nil
	}
	other := &Profiling{opt: p.opt, pool: p.pool}
	other.opt.Cache = w.cache
	if w.threads != p.pool.Threads() {
		other.pool = kernels.NewPool(w.threads)
		defer other.pool.Close()
	}
	on := cpuOf(&w.model)
	on.Pool = other.pool
	w.model.Engine = on
	if other.model, err = models.Open(ctx, p.opt.File.Path, w.model); err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, other.model.Close()) }()
	if err := other.model.Packed(); err != nil {
		return found, err
	}
	if other.session, err = other.model.NewSession(models.SessionOptions{Context: test.Depth + test.Tokens, Cache: w.cache}); err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, other.session.Close()) }()
	other.ids = p.ids
	if found.Computed, err = p.compute(ctx, other, test); err != nil {
		return found, err
	}
	if !p.opt.Check {
		found.Why = "--check=false"
		return found, nil
	}
	now, then, err := p.compare(ctx, other, test)
	if err != nil {
		return found, err
	}
	found.Measured = noise.ChangeOf(then, now)
	return found, p.emitWhatIf(test, w.change, now, then, emit)
}

// compute predicts from the bytes of one observed pass of the other.
func (p *Profiling) compute(ctx context.Context, other *Profiling, test *profile.Test) (float64, error) {
	ceilings := p.Profile.Ceilings
	if other.pool != p.pool {
		var err error
		if ceilings, err = p.ceilings(other.pool); err != nil {
			return 0, err
		}
	}
	if err := fill(ctx, test.ModelTest, other.session, other.ids); err != nil {
		return 0, err
	}
	o := newOpObserver(other.model, other.pool.Threads())
	if _, err := other.observed(ctx, test.ModelTest, o); err != nil { // which learns the tensors
		return 0, err
	}
	pass, err := other.observed(ctx, test.ModelTest, o)
	if err != nil {
		return 0, err
	}
	works := map[profile.Key]profile.Work{}
	for _, c := range pass.Costs() {
		works[c.Key] = c.Work
	}
	same := func(_ profile.Key, w profile.Work) profile.Work { return w }
	then := test.Predict(&p.Profile.Ceilings, &ceilings, func(k profile.Key, _ profile.Work) profile.Work { return works[k] })
	return then/test.Predict(&p.Profile.Ceilings, &p.Profile.Ceilings, same) - 1, nil
}

// compare takes pairs of passes of this model and the other, in turn before each
// other.
func (p *Profiling) compare(ctx context.Context, other *Profiling, test *profile.Test) (now, then []time.Duration, err error) {
	if err := fill(ctx, test.ModelTest, p.session, p.ids); err != nil {
		return nil, nil, err
	}
	for i := range p.passes(test.Plain[0]) {
		for turn := range 2 {
			who, times := p, &now
			if (turn == 0) == (i%2 == 0) {
				who, times = other, &then
			}
			who.prepare()
			d, err := who.plain(ctx, test.ModelTest)
			if err != nil {
				return nil, nil, err
			}
			*times = append(*times, d)
		}
	}
	return now, then, nil
}

// emitWhatIf writes the pairs.
func (p *Profiling) emitWhatIf(test *profile.Test, change string, now, then []time.Duration, emit func(results.Sample) error) error {
	c := p.caseOf(test.ModelTest)
	for i := range now {
		if err := emit(passSample(c.WhatIf(names.Unchanged), test, now[i])); err != nil {
			return err
		}
		if err := emit(passSample(c.WhatIf(change), test, then[i])); err != nil {
			return err
		}
	}
	return nil
}

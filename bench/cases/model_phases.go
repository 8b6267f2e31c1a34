package cases

import (
	"context"
	"errors"
	"fmt"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// A phaseRequest asks a child process for the memory that a model takes while
// it is loaded and in each test.
type phaseRequest struct {
	Path    string
	Types   []string
	Head    string // format to convert it to; "": as it is
	Format  string
	Variant string
	Act     kernels.Scheme
	Packing cpu.Packing
	Threads int
	Cache   string // format of keys and values; "": the usual one
	Tests   []phaseTest
}

// A phaseTest is a test on these tokens.
type phaseTest struct {
	Kind  string
	Depth int
	IDs   []int
}

// A phaseReply is the memory of each phase, the load first.
type phaseReply []phaseMemory

// memory returns what a test of a studied configuration was planned to take, and
// what it took. Variants hardly differ in it, nor do numbers of threads.
func (c modelConfig) memory(ctx context.Context, s *store, m *opened, t names.ModelTest, _ int) ([]results.Metric, error) {
	if !c.studied() {
		return nil, nil
	}
	metrics, err := planned(m.Plan(), t, s.opt.Cache)
	return append(metrics, s.taken(ctx, c, t)...), err
}

// planned is the plan for a test: loading takes weights alone.
func planned(plan *models.Plan, t names.ModelTest, cache *formats.Type) ([]results.Metric, error) {
	f := models.Footprint{Mapped: plan.Mapped, Packed: plan.Packed}
	if t.Kind != names.Load {
		var err error
		if f, err = plan.Footprint(models.SessionOptions{Context: t.Depth + t.Tokens, Cache: cache}); err != nil {
			return nil, err
		}
	}
	return []results.Metric{
		{Unit: results.PlanBytes, Value: float64(f.Total())}, {Unit: results.PlanWeights, Value: float64(f.Mapped + f.Packed)},
		{Unit: results.PlanKV, Value: float64(f.Cache)}, {Unit: results.PlanState, Value: float64(f.State)}, {Unit: results.PlanScratch, Value: float64(f.Scratch)},
	}, nil
}

// taken returns what a child process found for a test, measured for all tests of
// the configuration at the first call. The first reason why it can't be measured
// becomes a warning.
func (s *store) taken(ctx context.Context, c modelConfig, t names.ModelTest) []results.Metric {
	if s.opt.MemoryVerb == "" {
		return nil
	}
	tests := append(c.subject.tests(names.Prompt), c.subject.tests(names.Decode)...)
	if s.phases[c] == nil {
		reply, err := c.askPhases(ctx, tests)
		if err != nil {
			s.warn("memory by phase is not measured: " + err.Error())
			reply = phaseReply{}
		}
		s.phases[c] = reply
	}
	for i, phase := range s.phases[c] {
		if i == 0 && t.Kind == names.Load || i > 0 && tests[i-1] == t {
			return []results.Metric{
				{Unit: results.PeakRSS, Value: float64(phase.Peak)},
				{Unit: results.AnonBytes, Value: float64(phase.Anon)},
				{Unit: results.FileBytes, Value: float64(phase.File)},
			}
		}
	}
	return nil
}

func (c modelConfig) askPhases(ctx context.Context, tests []names.ModelTest) (phaseReply, error) {
	path, files := c.subject.forChild()
	req := &phaseRequest{
		Path: path, Types: c.subject.opt.Types, Format: c.variant.Format.Name, Variant: c.variant.Name, Act: c.variant.Scheme,
		Packing: c.packing, Threads: c.threads,
	}
	if c.subject.Head != nil {
		req.Head = c.subject.Head.Name
	}
	if c.subject.opt.Cache != nil {
		req.Cache = c.subject.opt.Cache.Name
	}
	for _, t := range tests {
		req.Tests = append(req.Tests, phaseTest{t.Kind, t.Depth, tokens(c.subject, t.Depth+t.Tokens)})
	}
	var reply phaseReply
	if err := (memoryRequest{Model: req}).ask(ctx, c.subject.opt.MemoryVerb, files, &reply); err != nil {
		return nil, err
	}
	if len(reply) != 1+len(tests) {
		return nil, fmt.Errorf("child process measured %d phases, want %d", len(reply), 1+len(tests))
	}
	return reply, nil
}

func (req *phaseRequest) measure(ctx context.Context) (reply phaseReply, err error) {
	v, err := kernels.Lookup(req.Format, req.Variant, req.Act)
	if err != nil {
		return nil, err
	}
	pool := kernels.NewPool(req.Threads)
	defer pool.Close()
	c := modelConfig{variant: v, packing: req.Packing}
	opt := models.Options{Engine: cpu.Options{Kernels: c.kernels(), Packing: req.Packing, Pool: pool}, GGUF: gguf.Options{Types: req.Types}}
	if req.Head != "" {
		if opt.Head, err = formats.Lookup(req.Head); err != nil {
			return nil, err
		}
	}
	var cache *formats.Type
	if req.Cache != "" {
		if cache, err = cpu.CacheFormat(req.Cache); err != nil {
			return nil, err
		}
	}
	var m *models.Model
	load, err := measurePhase(func() (err error) {
		m, err = models.Open(ctx, req.Path, opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	reply = phaseReply{load}
	for _, t := range req.Tests {
		phase, err := t.measure(ctx, m, cache)
		if err != nil {
			return nil, err
		}
		reply = append(reply, phase)
	}
	return reply, nil
}

func (t phaseTest) measure(ctx context.Context, m *models.Model, cache *formats.Type) (phase phaseMemory, err error) {
	s, err := m.NewSession(models.SessionOptions{Context: len(t.IDs), Cache: cache})
	if err != nil {
		return phase, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	test := names.ModelTest{Kind: t.Kind, Depth: t.Depth}
	if err := fill(ctx, test, s, t.IDs); err != nil {
		return phase, err
	}
	return measurePhase(func() error { return perform(ctx, test, s, t.IDs) })
}

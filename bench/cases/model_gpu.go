package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats/gguf"
	"onebit/internal/deviation"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine/metal"
)

// A gpuModel is one way to open a model on a GPU.
type gpuModel struct {
	subject *subject
	kernel  metal.Kernel // of the projections
}

func (c gpuModel) String() string {
	return fmt.Sprintf("%s on the GPU by %s", c.subject.Name, c.kernel)
}

func (c gpuModel) packing() string {
	if c.kernel.Layout() == names.Native {
		return names.Native
	}
	return names.Packed
}

func (c gpuModel) caseOf(t names.ModelTest) names.ModelCase {
	return names.ModelCase{
		Model: c.subject.Name, Engine: names.Metal, Variant: c.kernel.Name, Act: string(c.kernel.Scheme), Packing: c.packing(), Test: t,
	}
}

func (c gpuModel) name(t names.ModelTest) string { return c.caseOf(t).String() }

// gpuModels returns how the model is opened on a GPU, the best last: with every
// kernel that is asked for, or the best of each packing.
func (sub *subject) gpuModels(g *gpu) (out []gpuModel) {
	best := map[string]gpuModel{}
	for _, k := range metal.Kernels(sub.format) {
		if sub.opt.Activations != nil && !slices.Contains(sub.opt.Activations, k.Scheme) {
			continue
		}
		c := gpuModel{sub, k}
		out = append(out, c)
		if before, ok := best[c.packing()]; !ok || g.runs(k) == nil || g.runs(before.kernel) != nil {
			best[c.packing()] = c
		}
	}
	if sub.opt.Choice == BestVariants {
		out = slices.DeleteFunc(out, func(c gpuModel) bool { return best[c.packing()].kernel.Name != c.kernel.Name })
	}
	return out
}

// addModelGPU adds the tests of a model on the GPU. The best kernel alone starts
// a process, and has its operations looked at.
func (s *Suite) addModelGPU(store *store, sub *subject) {
	all := sub.gpuModels(store.gpu)
	for i, c := range all {
		if err := store.gpu.runs(c.kernel); err != nil {
			s.unavailable(c.name(names.ModelTest{}), err)
			continue
		}
		best := i == len(all)-1
		s.Cases = append(s.Cases, store.gpuLoadCase(c))
		if best && len(sub.opt.RunCommand) > 0 {
			s.Cases = append(s.Cases, store.gpuFirstToken(c))
		}
		for _, t := range append(sub.tests(names.Prompt), sub.tests(names.Decode)...) {
			s.Cases = append(s.Cases, store.gpuCase(c, t))
			if best {
				s.Studies = append(s.Studies, store.gpuOperations(c, t))
			}
		}
		if sub.opt.Lockstep > 0 {
			s.Studies = append(s.Studies, store.gpuLockstep(c))
		}
	}
}

func (s *store) gpuLoadCase(c gpuModel) bench.Case {
	t := names.ModelTest{Kind: names.Load}
	return bench.Case{
		Name: c.name(t), Group: gpuGroup(c, t), Single: true,
		Setup: func(context.Context) (bench.Instance, error) { return newGPULoading(s, c) },
	}
}

// gpuFirstToken is the case of a process that starts, loads the model and writes
// the first token. The engine's own choice of a kernel must be this one.
func (s *store) gpuFirstToken(c gpuModel) bench.Case {
	t := names.ModelTest{Kind: names.TTFT}
	return bench.Case{
		Name: c.name(t), Group: gpuGroup(c, t), Single: true, Expect: time.Second,
		Setup: func(context.Context) (bench.Instance, error) {
			return &firstToken{subject: c.subject, args: []string{"--engine", names.Metal}, proof: c.kernel.String()}, s.enter(scope{})
		},
	}
}

func gpuGroup(c gpuModel, t names.ModelTest) string { return c.subject.Name + " " + t.Kind + " GPU" }

// gpuCase is a pp or tg test on the GPU. An operation is the whole test.
func (s *store) gpuCase(c gpuModel, t names.ModelTest) bench.Case {
	out := bench.Case{
		Name: c.name(t), Group: gpuGroup(c, t), Single: t.Kind == names.Prompt,
		Rates: []results.Metric{{Unit: results.TokenRate, Value: float64(t.Tokens)}},
		Setup: func(ctx context.Context) (bench.Instance, error) { return newGPUText(ctx, s, c, t) },
	}
	if t.Kind == names.Prompt {
		out.Ops = int64(t.Tokens)*int64(c.subject.macs) + int64(c.subject.headMAC)
	}
	return out
}

func (c gpuModel) options(g *gpu) models.Options {
	opt := c.kernel.Options
	opt.Device = g.device
	return models.Options{Engine: opt, Head: c.subject.Head, GGUF: gguf.Options{Types: c.subject.opt.Types}}
}

// open opens the model, and checks what multiplies its projections.
func (c gpuModel) open(ctx context.Context, g *gpu) (*models.Model, error) {
	m, err := models.Open(ctx, c.subject.Path, c.options(g))
	if err != nil {
		return nil, err
	}
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			if _, err := c.kernel.Bytes(l.Rows, l.Cols); l.Type == c.kernel.Format && err == nil && l.Kernel() != c.kernel.String() {
				return nil, errors.Join(fmt.Errorf("%s is multiplied by %s, not %s", l.Name, l.Kernel(), c.kernel), m.Close())
			}
		}
	}
	return m, nil
}

// openGPU returns the model as c opens it. It stays the store's.
func (s *store) openGPU(ctx context.Context, c gpuModel) (*openedGPU, error) {
	if err := s.enter(scope{subject: c.subject}); err != nil {
		return nil, err
	}
	if m := s.onGPU[c.kernel.String()]; m != nil {
		return m, nil
	}
	before := s.gpu.device.Allocated()
	m, err := c.open(ctx, s.gpu)
	if err != nil {
		return nil, err
	}
	s.onGPU[c.kernel.String()] = &openedGPU{Model: m, bytes: s.gpu.device.Allocated() - before}
	return s.onGPU[c.kernel.String()], nil
}

// An openedGPU is a model on the store that runs on the GPU.
type openedGPU struct {
	*models.Model
	bytes    int // of the GPU's memory
	verified bool
}

// verify proves, once for an open model, that its logits are near those of the
// pure Go variant of the same scheme, or of the reference where there is none,
// and that a batch has those of the same tokens one by one.
func (m *openedGPU) verify(ctx context.Context, c gpuModel, store *store, s *models.Session) error {
	if m.verified {
		return nil
	}
	want, err := store.logitsOf(ctx, c)
	if err != nil {
		return err
	}
	var got logits
	if err := got.take(ctx, s, c.subject); err != nil {
		return err
	}
	if e := deviation.Of(got.step, want.step).NMSE(); !(e <= gpuTolerance) {
		return fmt.Errorf("the logits differ from the pure Go variant's by an NMSE of %.3g, above %g", e, gpuTolerance)
	}
	if err := batchEqualsSteps(ctx, s, tokens(c.subject, gpuTokens(c.subject))); err != nil {
		return err
	}
	m.verified = true
	return nil
}

// gpuTolerance is the largest NMSE of a model's logits. Sums in another order
// change last bits, and where one of those rounds an activation to another int8,
// a few 1e-5 of a product; a wrong one is off by 1.
const gpuTolerance = 1e-2

// gpuTokens is how many tokens must have the same logits in a batch and one by
// one: so few that it takes seconds where the GPU is played.
func gpuTokens(sub *subject) int { return min(5, sub.config.Context) }

// logitsOf are what the CPU says, with the kernel's scheme.
func (s *store) logitsOf(ctx context.Context, c gpuModel) (*logits, error) {
	name := "unrolled"
	if c.kernel.Scheme == kernels.F32 {
		name = "scalar"
	}
	v, err := kernels.Lookup(c.kernel.Format.Name, name, c.kernel.Scheme)
	if err != nil {
		return nil, err
	}
	return s.genericLogits(ctx, modelConfig{subject: c.subject, variant: v, threads: s.maxThreads})
}

// A gpuText is a gpuCase that is set up.
type gpuText struct {
	gpuModel
	names.ModelTest
	store   *store
	model   *openedGPU
	session *models.Session
	ids     []int
	bytes   int // of the GPU's memory, for keys, values and activations
	stint
}

func newGPUText(ctx context.Context, s *store, c gpuModel, t names.ModelTest) (*gpuText, error) {
	m, err := s.openGPU(ctx, c)
	if err != nil {
		return nil, err
	}
	x := &gpuText{gpuModel: c, ModelTest: t, store: s, model: m, ids: tokens(c.subject, t.Depth+t.Tokens)}
	before := s.gpu.device.Allocated()
	x.session, err = c.subject.session(m.Model, max(t.Depth+t.Tokens, gpuTokens(c.subject)))
	if err != nil {
		return nil, err
	}
	x.bytes = s.gpu.device.Allocated() - before
	return x, nil
}

func (x *gpuText) Verify(ctx context.Context) ([]results.Metric, error) {
	if err := x.model.verify(ctx, x.gpuModel, x.store, x.session); err != nil {
		return nil, err
	}
	if err := fill(ctx, x.ModelTest, x.session, x.ids); err != nil {
		return nil, err
	}
	return []results.Metric{{Unit: results.GPUBytes, Value: float64(x.model.bytes + x.bytes)}}, ctx.Err()
}

func (x *gpuText) Run(ctx context.Context, n int) error {
	before := x.session.DeviceTime()
	for range n {
		if err := perform(ctx, x.ModelTest, x.session, x.ids); err != nil {
			return err
		}
	}
	x.stint = stint{x.session.DeviceTime() - before, n}
	return nil
}

func (x *gpuText) Close() error { return x.session.Close() }

func newGPULoading(s *store, c gpuModel) (bench.Instance, error) {
	open := func(ctx context.Context) (*models.Model, error) { return c.open(ctx, s.gpu) }
	verify := func(_ context.Context, m *models.Model) ([]results.Metric, error) {
		return []results.Metric{{Unit: results.GPUBytes, Value: float64(s.gpu.device.Allocated())}}, nil
	}
	return &loading{open: open, verify: verify}, s.enter(scope{})
}

// gpuOperations is the study of where the time of a test on the GPU goes, by the
// GPU's clock.
func (s *store) gpuOperations(c gpuModel, t names.ModelTest) bench.Study {
	return operations(c.caseOf(t), gpuGroup(c, t), time.Second, c.subject.opt.Cache, func(ctx context.Context) (*models.Model, []int, error) {
		m, err := s.openGPU(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return m.Model, tokens(c.subject, t.Depth+t.Tokens), nil
	})
}

// gpuLockstep is the study of the GPU's errors, block by block.
func (s *store) gpuLockstep(c gpuModel) bench.Study {
	name := names.Lockstep{Model: c.subject.Name, Engine: names.Metal, Variant: c.kernel.Name, Act: string(c.kernel.Scheme)}
	return bench.Study{
		Name: name.String(), Group: gpuGroup(c, names.ModelTest{Kind: names.Decode}), Time: time.Second,
		Run: func(ctx context.Context, emit func(results.Sample) error) error {
			m, err := s.openGPU(ctx, c)
			if err != nil {
				return err
			}
			session, err := m.NewSession(models.SessionOptions{Context: gpuTokens(c.subject)})
			if err != nil {
				return err
			}
			defer session.Close()
			if err := m.verify(ctx, c, s, session); err != nil {
				return err
			}
			result, err := s.runLockstep(ctx, c.subject, m.Model)
			if err != nil {
				return err
			}
			return emitLockstep(emit, name, c.subject, result)
		},
	}
}

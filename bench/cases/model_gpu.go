package cases

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	group := func(kind string) string { return sub.Name + " " + kind + " GPU" }
	for i, c := range all {
		if err := store.gpu.runs(c.kernel); err != nil {
			s.unavailable(c.caseOf(names.ModelTest{}).String(), err)
			continue
		}
		best := i == len(all)-1
		s.addLoading(store, c, group(names.Load), 0)
		if best {
			// The engine's own choice of a kernel must be this one.
			s.addFirstToken(store, c, group(names.TTFT), time.Second, &firstToken{subject: sub, args: []string{"--engine", names.Metal}, proof: c.kernel.String()})
		}
		for _, t := range append(sub.tests(names.Prompt), sub.tests(names.Decode)...) {
			s.Cases = append(s.Cases, testCase(store, c, t, group(t.Kind)))
			if best {
				s.Studies = append(s.Studies, store.operations(c, t, group(t.Kind), time.Second))
			}
		}
		if sub.opt.Lockstep > 0 {
			s.Studies = append(s.Studies, store.lockstepStudy(c, group(names.Decode), time.Second))
		}
	}
}

func (c gpuModel) scope() scope  { return scope{subject: c.subject} }
func (c gpuModel) alike() string { return c.kernel.String() }

func (c gpuModel) options(s *store) models.Options {
	opt := c.kernel.Options
	opt.Device = s.gpu.device
	return models.Options{Engine: opt, Head: c.subject.Head, GGUF: gguf.Options{Types: c.subject.opt.Types}}
}

func (c gpuModel) checkVariants(m *models.Model) error {
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			if _, err := c.kernel.Bytes(l.Rows, l.Cols); l.Type == c.kernel.Format && err == nil && l.Kernel() != c.kernel.String() {
				return fmt.Errorf("%s is multiplied by %s, not %s", l.Name, l.Kernel(), c.kernel)
			}
		}
	}
	return nil
}

// verify proves that the logits are near those of the pure Go variant of the same
// scheme, or of the reference where there is none, and that a batch has those of the
// same tokens one by one.
func (c gpuModel) verify(ctx context.Context, store *store, s *models.Session) error {
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
	return batchEqualsSteps(ctx, s, tokens(c.subject, c.verifyTokens()))
}

// gpuTolerance is the largest NMSE of a model's logits. Sums in another order
// change last bits, and where one of those rounds an activation to another int8,
// a few 1e-5 of a product; a wrong one is off by 1.
const gpuTolerance = 1e-2

// verifyTokens is how many tokens must have the same logits in a batch and one by
// one: so few that it takes seconds where the GPU is played.
func (c gpuModel) verifyTokens() int { return min(5, c.subject.config.Context) }

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
	return s.genericLogits(ctx, modelConfig{subject: c.subject, variant: v})
}

// memory is what buffers take of the GPU's.
func (c gpuModel) memory(_ context.Context, _ *store, m *opened, _ names.ModelTest, session int) ([]results.Metric, error) {
	return []results.Metric{{Unit: results.GPUBytes, Value: float64(m.bytes + session)}}, nil
}

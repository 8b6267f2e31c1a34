package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/engine/metal"
	"onebit/models/forward"
	"onebit/models/lockstep"
	"onebit/models/source"
	"onebit/models/synth"
)

// A subject is a model under test: its file, and what was found in it.
type subject struct {
	ModelFile
	opt       *ModelsOptions
	weights   string // their digest
	config    arch.Config
	format    *formats.Type // of most of the projections' weights
	linears   []linear      // every matrix that a token is multiplied with
	macs      int           // multiply-adds of a token in the blocks
	headMAC   int           // and in the head
	kvBytes   int           // keys and values of a token
	state     int           // bytes that blocks keep without positions
	recurrent bool          // texts cannot go back to anywhere
	blocks    int
	checked   []int // the blocks that are compared with the pure Go variant

	headShrinks bool // the head has candidates; see models.Model.HeadCandidates

	inPlace bool // the file's bytes can be multiplied; else each opening makes its own

	// acts are the activation schemes that are measured. The first is the main
	// one, which alone is loaded, started and studied.
	acts []kernels.Scheme

	generic  map[kernels.Scheme]*logits  // see genericLogits
	lockstep map[string]*lockstep.Result // see store.lockstep
	others   []*llamaBench
}

// A linear is the format and the shape of a matrix.
type linear struct {
	format     *formats.Type
	rows, cols int
	used       int // experts that a token meets, of those that stay in the file; 0: it is none
}

// open opens a file, with the tokenizer that it borrows.
func (opt *ModelsOptions) open(path string) (source.Source, error) {
	return source.OpenWith(path, opt.Tokenizer, gguf.Options{Types: opt.Types})
}

// newSubject opens a file on its own bytes.
func newSubject(ctx context.Context, file ModelFile, opt *ModelsOptions) (*subject, error) {
	src, err := opt.open(file.Path)
	if err != nil {
		return nil, err
	}
	digest, err := weightsDigest(src)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	m, err := models.Load(ctx, src, models.Options{Engine: cpu.Options{Packing: cpu.PackNever}})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	sub := &subject{
		ModelFile: file, opt: opt, weights: digest, config: m.Config, inPlace: src.InPlace(), recurrent: m.Recurrent(), headShrinks: len(m.HeadCandidates()) > 0,
		generic: map[kernels.Scheme]*logits{}, lockstep: map[string]*lockstep.Result{},
	}
	meta, err := src.Metadata()
	if errors.Is(err, source.ErrNoTokenizer) && (opt.Lockstep > 0 || opt.RunCommand != nil) {
		return nil, err
	}
	sub.Synthetic = sub.Synthetic || err == nil && synth.Made(meta)
	sub.macs, sub.headMAC = m.MultiplyAdds()
	costs := blockCosts(m)
	sub.blocks, sub.checked = len(costs), checkedBlocks(costs, mostChecked)
	weights := map[*formats.Type]int{}
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			sub.linears = append(sub.linears, linear{l.Type, l.Rows, l.Cols, l.Used})
			if weights[l.Type] += l.MultiplyAdds(); weights[l.Type] > weights[sub.format] {
				sub.format = l.Type
			}
		}
	}
	head := linear{format: m.Head.Type, rows: m.Head.Rows, cols: m.Head.Cols}
	if file.Head != nil {
		head.format = file.Head
	}
	sub.linears = append(sub.linears, head)
	if sub.acts, err = opt.schemes(sub.format); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	for _, t := range append(sub.tests(names.Prompt), sub.tests(names.Decode)...) {
		longest := t.Depth + t.Tokens
		if t.Kind == names.Decode && len(opt.Parallel) > 0 {
			longest += slices.Max(opt.Parallel) - 1
		}
		if longest > m.Config.Context {
			return nil, &ContextError{file.Name, m.Config.Context, longest, t.String()}
		}
	}
	return sub, sub.addState(m)
}

// session starts a text of at most so many tokens.
func (sub *subject) session(m *models.Model, context int) (*models.Session, error) {
	return m.NewSession(models.SessionOptions{Context: context, Cache: sub.opt.Cache})
}

// addState looks at what a text keeps: before its first token the state that has
// no positions, and behind it a token's keys and values too.
func (sub *subject) addState(m *models.Model) error {
	s, err := sub.session(m, 1)
	if err != nil {
		return err
	}
	defer s.Close()
	sub.state = s.CacheBytes()
	if _, err := s.Decode(0); err != nil {
		return err
	}
	sub.kvBytes = s.CacheBytes() - sub.state
	return nil
}

// schemes returns the activation schemes to measure a format with: those asked
// for, of which it must have one, or its usual one and, where there is SIMD for
// it, llama.cpp's: how fast two engines are compares at the same error.
func (opt *ModelsOptions) schemes(format *formats.Type) (acts []kernels.Scheme, err error) {
	of := func(act kernels.Scheme, kind func(*kernels.Variant) bool) bool {
		return slices.ContainsFunc(kernels.Variants(), func(v *kernels.Variant) bool {
			return v.Format == format && v.Scheme == act && kind(v)
		})
	}
	if opt.Activations != nil {
		for _, act := range opt.Activations {
			if of(act, func(v *kernels.Variant) bool { return v.Name != reference }) {
				acts = append(acts, act)
			}
		}
		if len(acts) == 0 {
			err = fmt.Errorf("no variant multiplies %s with activations of %s", format.Name, joinActivations(opt.Activations))
		}
		return acts, err
	}
	acts = []kernels.Scheme{kernels.FormatOf(format).Scheme}
	fast := func(v *kernels.Variant) bool { return isSIMD(v) && v.AvailableOn(opt.Features) == nil }
	if acts[0] != kernels.Q8Per32 && of(kernels.Q8Per32, fast) {
		acts = append(acts, kernels.Q8Per32)
	}
	return acts, nil
}

func joinActivations(acts []kernels.Scheme) string {
	var names []string
	for _, act := range acts {
		names = append(names, string(act))
	}
	return strings.Join(names, " or ")
}

// variants returns the variants of the projections' format, those of the main
// scheme last, and of each scheme by rank. The reference comes first: it is the
// yardstick of every scheme.
func (sub *subject) variants() (out []*kernels.Variant) {
	for _, act := range slices.Backward(append(slices.Clone(sub.acts), "")) {
		for _, v := range kernels.Variants() {
			if v.Format == sub.format && (act == "" && v.Name == reference || v.Scheme == act && v.Name != reference) {
				out = append(out, v)
			}
		}
	}
	return out
}

// reference is the variant that is the yardstick of all.
const reference = "reference"

// configs returns how the model is opened on so many threads, the best last:
// with every variant that is asked for, packed if that is its layout, and
// streamed with the best that needs no packing, if the file can be.
func (sub *subject) configs(threads int) (out []modelConfig) {
	for _, v := range sub.variants() {
		if v.AvailableOn(sub.opt.Features) != nil {
			continue
		}
		c := modelConfig{sub, v, cpu.PackFirst, threads}
		if v.Layout == kernels.Native {
			c.packing = cpu.PackNever
		}
		out = append(out, c)
	}
	all := slices.Clone(out)
	out = slices.DeleteFunc(out, func(c modelConfig) bool { return !c.chosen(all) })
	if sub.opt.Choice == BestVariants || !sub.inPlace {
		return out
	}
	return append(out, modelConfig{sub, best(all, cpu.PackNever, sub.acts[0]).variant, cpu.Stream, threads})
}

// chosen reports whether a configuration among all is one to measure.
func (c modelConfig) chosen(all []modelConfig) bool {
	of, opt := best(all, c.packing, c.act()), c.subject.opt
	switch {
	case opt.Choice == AllVariants:
		return true
	case c.variant.Name == reference:
		return false
	case opt.Choice == BestVariants && !c.main() && c.threads != maxOf(opt.Threads):
		return false
	case !c.simd() && slices.ContainsFunc(all, func(o modelConfig) bool { return o.simd() && o.act() == c.act() }):
		return false
	}
	return c == of || c.simd() && opt.Choice == SIMDVariants
}

// best returns the highest ranking configuration of a packing and a scheme.
func best(configs []modelConfig, packing cpu.Packing, act kernels.Scheme) (c modelConfig) {
	for _, o := range configs {
		if o.packing == packing && o.act() == act {
			c = o
		}
	}
	return c
}

// A modelConfig is one way to open a model.
type modelConfig struct {
	subject *subject
	variant *kernels.Variant // of the projections
	packing cpu.Packing
	threads int
}

var packingNames = map[cpu.Packing]string{cpu.PackFirst: names.Packed, cpu.PackNever: names.Native, cpu.Stream: names.Stream}

func (c modelConfig) String() string {
	return fmt.Sprintf("%s by %s with %s, %s", c.subject.Name, c.variant.Name, c.act(), packingNames[c.packing])
}

func (c modelConfig) name(t names.ModelTest) string { return c.caseOf(t).String() }

func (c modelConfig) caseOf(t names.ModelTest) names.ModelCase {
	return names.ModelCase{
		Model: c.subject.Name, Variant: c.variant.Name, Act: string(c.act()), Packing: packingNames[c.packing], Test: t, Threads: c.threads,
	}
}

func (c modelConfig) act() kernels.Scheme { return c.variant.Scheme }

// main reports whether the configuration has the main scheme.
func (c modelConfig) main() bool { return c.act() == c.subject.acts[0] }

// best reports whether it is the best of its packing under the main scheme.
func (c modelConfig) best() bool {
	return c == best(c.subject.configs(c.threads), c.packing, c.subject.acts[0])
}

// studied reports whether memory and operations are looked at: they are for
// the best variant of a packing, on the largest number of threads.
func (c modelConfig) studied() bool {
	return c.threads == maxOf(c.subject.opt.Threads) && c.best()
}

func (c modelConfig) simd() bool { return isSIMD(c.variant) }

// isSIMD reports whether a variant is more than Go.
func isSIMD(v *kernels.Variant) bool {
	switch v.Name {
	case "scalar", "unrolled", reference:
		return false
	}
	return true
}

// kernels are what the model is computed with: the variant, and what is nearest to
// it for other formats and outside the products.
func (c modelConfig) kernels() cpu.Kernels {
	chosen, err := cpu.Prefer(c.variant.Name, c.otherAct())
	others := chosen.Variant
	chosen.Variant = func(t *formats.Type) (*kernels.Variant, error) {
		switch {
		case t == c.variant.Format:
			return c.variant, nil
		case err != nil:
			return nil, err
		}
		return others(t)
	}
	return chosen
}

func (c modelConfig) otherAct() kernels.Scheme { return otherAct(c.variant.Format, c.act()) }

// otherAct is the scheme of matrices in other formats than the projections':
// each format's usual one ("") if the projections have theirs, else theirs, as
// with the flag --act of the verb run.
func otherAct(projections *formats.Type, act kernels.Scheme) kernels.Scheme {
	if act == kernels.FormatOf(projections).Scheme {
		return ""
	}
	return act
}

// cpuOf returns the options of the CPU's engine that a model is opened with.
func cpuOf(opt *models.Options) cpu.Options {
	on, _ := opt.Engine.(cpu.Options) // the zero value is the default
	return on
}

// onGPU reports whether a model is opened on the engine metal.
func onGPU(opt *models.Options) bool {
	_, ok := opt.Engine.(metal.Options)
	return ok
}

func (c modelConfig) options(s *store) models.Options {
	return models.Options{
		Engine: cpu.Options{Kernels: c.kernels(), Packing: c.packing, Pool: s.pool(c.threads)},
		Head:   c.subject.Head, GGUF: gguf.Options{Types: c.subject.opt.Types},
	}
}

// weightBytes is models.Model.WeightBytes before the model is opened; verify
// holds it to that.
func (c modelConfig) weightBytes() (sum int) {
	chosen := c.kernels()
	for _, l := range c.subject.linears {
		layout := kernels.Native
		if v, err := chosen.Variant(l.format); err == nil && c.packing == cpu.PackFirst && l.used == 0 {
			layout = v.Layout
		}
		n, err := layout.Bytes(l.format, l.rows, l.cols)
		if err != nil {
			continue // opening the model will say so
		}
		sum += n * max(1, l.used)
	}
	return sum
}

// bytes is what a tg test reads: the weights for each token, and the keys and
// values of those before it and its own.
func (c modelConfig) bytes(t names.ModelTest) int64 {
	cached := t.Tokens*t.Depth + t.Tokens*(t.Tokens+1)/2
	return int64(t.Tokens)*int64(c.weightBytes()+c.subject.stateTraffic()) + int64(cached)*int64(c.subject.kvBytes)
}

// stateTraffic is the bytes of states that a token reads and writes.
func (sub *subject) stateTraffic() int { return 2 * sub.state }

// multiplyAdds is what a pp test computes with weights.
func (sub *subject) multiplyAdds(t names.ModelTest) int64 {
	return int64(t.Tokens)*int64(sub.macs) + int64(sub.headMAC)
}

// checkVariants proves what multiplies: of each format one variant, of the
// projections' the one that was asked for; experts have one of their own, for they stay
// in the file.
func (c modelConfig) checkVariants(m *models.Model) error {
	seen := map[*formats.Type]*kernels.Variant{c.variant.Format: c.variant}
	experts := map[*formats.Type]*kernels.Variant{}
	check := func(l *forward.Linear) error {
		v, seen := l.Variant(), seen
		if l.Experts > 0 {
			seen = experts
		}
		if want := seen[l.Type]; want != nil && want != v {
			return fmt.Errorf("%s is multiplied by %s, others by %s", l.Name, v, want)
		}
		seen[l.Type] = v
		return nil
	}
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			if err := check(l); err != nil {
				return err
			}
		}
	}
	if err := check(m.Head); err != nil {
		return err
	}
	if got, want := m.WeightBytes(), c.weightBytes(); got != want {
		return fmt.Errorf("a token reads %d bytes of weights, want %d", got, want)
	}
	return nil
}

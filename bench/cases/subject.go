package cases

import (
	"fmt"
	"slices"

	"onebit/bench/names"
	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/lockstep"
	"onebit/models/synth"
)

// A subject is a model under test: its file, and what was found in it.
type subject struct {
	ModelFile
	opt     *ModelsOptions
	config  models.Config
	format  *formats.Type // of most of the projections' weights
	linears []linear      // every matrix that a token is multiplied with
	macs    int           // multiply-adds of a token in the blocks
	headMAC int           // and in the head
	kvBytes int           // keys and values of a token
	inPlace bool          // the file's bytes can be multiplied; else each opening makes its own

	generic  *logits          // see genericLogits
	lockstep *lockstep.Result // see shelf.lockstep
	llama    *llamaBench
}

// A linear is the format and the shape of a matrix.
type linear struct {
	format     *formats.Type
	rows, cols int
}

// newSubject opens a file on its own bytes.
func newSubject(file ModelFile, opt *ModelsOptions) (*subject, error) {
	source, err := models.OpenSource(file.Path, gguf.Options{Types: opt.Types})
	if err != nil {
		return nil, err
	}
	m, err := models.Load(source, models.Options{Packing: models.PackNever})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	sub := &subject{ModelFile: file, opt: opt, config: m.Config, inPlace: source.InPlace()}
	if meta, err := source.Metadata(); err == nil {
		sub.Synthetic = sub.Synthetic || synth.Made(meta)
	}
	sub.macs, sub.headMAC = m.MultiplyAdds()
	weights := map[*formats.Type]int{}
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			sub.linears = append(sub.linears, linear{l.Type, l.Rows, l.Cols})
			if weights[l.Type] += l.Rows * l.Cols; weights[l.Type] > weights[sub.format] {
				sub.format = l.Type
			}
		}
	}
	head := linear{m.Head.Type, m.Head.Rows, m.Head.Cols}
	if file.Head != nil {
		head.format = file.Head
	}
	sub.linears = append(sub.linears, head)
	for _, t := range append(sub.tests(names.Prompt), sub.tests(names.Decode)...) {
		if t.Depth+t.Tokens > m.Config.Context {
			return nil, &ContextError{file.Name, m.Config.Context, t.Depth + t.Tokens, t.String()}
		}
	}
	s, err := m.NewSession(models.SessionOptions{Context: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if _, err := s.Decode(0); err != nil {
		return nil, err
	}
	sub.kvBytes = s.CacheBytes()
	return sub, nil
}

// variants returns every variant of the projections' format under its usual
// scheme, by rank, and the reference.
func (sub *subject) variants() (out []*kernels.Variant) {
	for _, v := range kernels.Variants() {
		if v.Format == sub.format && (v.Activation == kernels.DefaultActivation(v.Format.Name) || v.Name == reference) {
			out = append(out, v)
		}
	}
	return out
}

// reference is the variant that is the yardstick of all.
const reference = "reference"

// configs returns how the model is opened on so many threads, by rank: with
// every variant, packed if that is its layout, and streamed with the best that
// needs no packing, if the file can be.
func (sub *subject) configs(threads int) (out []modelConfig) {
	var inPlace *kernels.Variant
	for _, v := range sub.variants() {
		if v.AvailableOn(sub.opt.Features) != nil {
			continue
		}
		c := modelConfig{sub, v, models.PackFirst, threads}
		if v.Layout == kernels.Native {
			c.packing, inPlace = models.PackNever, v
		}
		out = append(out, c)
	}
	switch {
	case sub.opt.Best:
		return slices.DeleteFunc(slices.Clone(out), func(c modelConfig) bool { return c != best(out, c.packing) })
	case !sub.inPlace:
		return out
	}
	return append(out, modelConfig{sub, inPlace, models.Stream, threads})
}

// best returns the highest ranking configuration of a packing.
func best(configs []modelConfig, packing models.Packing) (c modelConfig) {
	for _, o := range configs {
		if o.packing == packing {
			c = o
		}
	}
	return c
}

// A modelConfig is one way to open a model.
type modelConfig struct {
	subject *subject
	variant *kernels.Variant // of the projections
	packing models.Packing
	threads int
}

var packingNames = map[models.Packing]string{models.PackFirst: names.Packed, models.PackNever: names.Native, models.Stream: names.Stream}

func (c modelConfig) String() string {
	return fmt.Sprintf("%s by %s, %s", c.subject.Name, c.variant.Name, packingNames[c.packing])
}

func (c modelConfig) name(t names.ModelTest) string { return c.caseOf(t).String() }

func (c modelConfig) caseOf(t names.ModelTest) names.ModelCase {
	return names.ModelCase{Model: c.subject.Name, Variant: c.variant.Name, Packing: packingNames[c.packing], Test: t, Threads: c.threads}
}

// studied reports whether memory and operations are looked at: they are for
// the best variant of a packing, on the largest number of threads.
func (c modelConfig) studied() bool {
	return c.threads == maxOf(c.subject.opt.Threads) && c == best(c.subject.configs(c.threads), c.packing)
}

// simd reports whether the variant is more than Go.
func (c modelConfig) simd() bool {
	switch c.variant.Name {
	case "scalar", "unrolled", reference:
		return false
	}
	return true
}

// prefer chooses the variant for a format, as models.Options.Variant does.
func (c modelConfig) prefer(t *formats.Type) (*kernels.Variant, error) {
	if t == c.variant.Format {
		return c.variant, nil
	}
	prefer, err := models.PreferVariant(c.variant.Name, "")
	if err != nil {
		return nil, err
	}
	return prefer(t)
}

func (c modelConfig) options(pool *kernels.Pool) models.Options {
	return models.Options{
		Variant: c.prefer, Packing: c.packing, Head: c.subject.Head, Pool: pool, GGUF: gguf.Options{Types: c.subject.opt.Types},
	}
}

// weightBytes is models.Model.WeightBytes before the model is opened; verify
// holds it to that.
func (c modelConfig) weightBytes() (sum int) {
	for _, l := range c.subject.linears {
		layout := kernels.Native
		if v, err := c.prefer(l.format); err == nil && c.packing == models.PackFirst {
			layout = v.Layout
		}
		n, err := layout.Bytes(l.format, l.rows, l.cols)
		if err != nil {
			continue // opening the model will say so
		}
		sum += n
	}
	return sum
}

// bytes is what a tg test reads: the weights for each token, and the keys and
// values of those before it and its own.
func (c modelConfig) bytes(t names.ModelTest) int64 {
	cached := t.Tokens*t.Depth + t.Tokens*(t.Tokens+1)/2
	return int64(t.Tokens)*int64(c.weightBytes()) + int64(cached)*int64(c.subject.kvBytes)
}

// multiplyAdds is what a pp test computes with weights.
func (c modelConfig) multiplyAdds(t names.ModelTest) int64 {
	return int64(t.Tokens)*int64(c.subject.macs) + int64(c.subject.headMAC)
}

// checkVariants proves what multiplies: of each format one variant, of the
// projections' the one that was asked for.
func (c modelConfig) checkVariants(m *models.Model) error {
	seen := map[*formats.Type]*kernels.Variant{c.variant.Format: c.variant}
	check := func(l *models.Linear) error {
		v := l.Variant()
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

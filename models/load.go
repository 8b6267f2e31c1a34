package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/forward"
	"onebit/models/source"
	"onebit/models/tokenizer"
)

// Open opens the model at path, as source.Open does, checks
// its tensors against its architecture, and makes the weights ready: those
// outside the transformer blocks first, then block after block, the pages of a
// packed tensor released before the next is read. Weights that are used in
// place may be left for the first prompt to check: see [Model.Check]. What is
// wrong with a file is a *container.FormatError or an *hf.ConfigError, which names the
// key or the tensor.
//
// The file stays mapped. If another process cuts it short meanwhile, those methods
// that return errors return one that names it; [Session.Forward] ends the process.
func Open(ctx context.Context, path string, opt Options) (*Model, error) {
	src, err := source.Open(path, opt.GGUF)
	if err != nil {
		return nil, err
	}
	return Load(ctx, src, opt)
}

// Load is Open for a source, which it closes if it fails; otherwise the
// model's Close does.
func Load(ctx context.Context, src source.Source, opt Options) (*Model, error) {
	m := &Model{source: src}
	if err := mmap.Guard(func() error { return m.load(ctx, opt) }); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// LoadWithTokenizer is Load, and meanwhile makes the tokenizer: a vocabulary takes as long
// to build as weights to map. A tokenizer of another size than the model's is an error.
func LoadWithTokenizer(ctx context.Context, src source.Source, opt Options) (*Model, *tokenizer.Tokenizer, error) {
	var t *tokenizer.Tokenizer
	made := make(chan error, 1)
	go func() {
		made <- mmap.Guard(func() (err error) {
			t, err = src.Tokenizer()
			return err
		})
	}()
	wait := sync.OnceValue(func() error { return <-made })
	m, err := Load(ctx, sharedSource{src, wait}, opt)
	// The model's error comes first: it is the one that says what the file is.
	if tokenizerErr := wait(); err == nil {
		err = tokenizerErr
	}
	if err == nil && t.Vocab() != m.Config.Vocab {
		err = src.Fault(arch.EmbeddingTensor, fmt.Errorf("has a row for each of %d tokens, and the tokenizer has %d", m.Config.Vocab, t.Vocab()))
	}
	if err != nil && m != nil {
		m.Close()
		return nil, nil, err
	}
	return m, t, err
}

// A sharedSource is read by a tokenizer too, which is waited for before it is closed: a
// model that fails to load closes its source.
type sharedSource struct {
	source.Source
	wait func() error
}

func (s sharedSource) Close() error {
	_ = s.wait() // LoadWithTokenizer tells what was wrong with the tokenizer
	return s.Source.Close()
}

func (m *Model) load(ctx context.Context, opt Options) error {
	if err := m.source.Check(); err != nil {
		return err
	}
	opener, err := opt.opener()
	if err != nil {
		return err
	}
	opened, err := opener.Open(m.source)
	if err != nil {
		return err
	}
	m.engine = opened
	table, config, err := m.source.Config()
	if err != nil {
		return err
	}
	m.Config = config
	m.Arch = forward.Of(table)
	if err := m.checkTensors(); err != nil {
		return err
	}
	rotation, err := m.source.Rotation()
	if err != nil {
		return err
	}
	m.rope = forward.NewRope(m.Config, m.Arch.AdjacentPairs)
	if name := divisorsOf[m.Config.RopeScaling.Type]; name != "" {
		if err := m.divideFrequencies(name); err != nil {
			return err
		}
	}
	if err := m.loadWeights(ctx, opt, forward.NewRotations(rotation)); err != nil {
		return err
	}
	m.plan, err = NewPlan(m.source, opt)
	return err
}

// divisorsOf are the tensors that divide frequencies within the original context, by the
// scaling.
var divisorsOf = map[string]string{arch.LongRope: "rope_factors_short.weight", arch.Llama3: arch.FrequencyTensor}

// divideFrequencies takes what divides them from a tensor of the source.
func (m *Model) divideFrequencies(name string) error {
	t, err := m.source.Tensor(name)
	if err != nil {
		return err
	}
	factors, err := t.Floats()
	if err != nil {
		return m.source.Fault(name, err)
	}
	for i, f := range factors {
		if !(f > 0) || math.IsInf(float64(f), 1) {
			return m.source.Fault(name, fmt.Errorf("divisor %d of the rotary embedding's frequencies is %v, want one that is positive and finite", i, f))
		}
		m.rope.Freq[i] /= float64(f)
	}
	return m.source.Release(name)
}

// checkTensors compares the inventory and the vocabulary.
func (m *Model) checkTensors() error {
	if bad := m.Arch.CheckInventory(m.Config, m.source.Tensors()); len(bad) > 0 {
		msg := fmt.Sprintf("%s, in a model of architecture %s", bad[0].Msg, m.Arch.Name)
		if len(bad) > 1 {
			msg += fmt.Sprintf(" (and %d more tensors differ)", len(bad)-1)
		}
		return m.source.Fault(bad[0].Tensor, errors.New(msg))
	}
	if n, where := m.source.Tokens(); where != "" && n != m.Config.Vocab {
		return m.source.Fault(arch.EmbeddingTensor, fmt.Errorf("has a row for each of %d tokens, and %s lists %d", m.Config.Vocab, where, n))
	}
	return nil
}

func headName(c arch.Config) string {
	if c.TiedHead {
		return arch.EmbeddingTensor
	}
	return arch.HeadTensor
}

// loadWeights asks the engine for all weights, in the order in which a token
// meets them.
func (m *Model) loadWeights(ctx context.Context, opt Options, r *forward.Rotations) error {
	var requested []engine.Request
	for _, w := range requests(m.Arch, m.Config, opt.Head) {
		requested = append(requested, w.Request)
	}
	weights, err := m.engine.Load(ctx, requested)
	if err != nil {
		return err
	}
	m.bind(weights, r)
	m.HeadError = m.Head.Weight.Info().Error
	m.headConverted = opt.Head != nil
	return nil
}

// bind takes the weights of requests.
func (m *Model) bind(weights []engine.Weight, r *forward.Rotations) {
	m.embedding, weights = weights[0], weights[1:]
	for n := range m.Config.Layers {
		declared := len(m.Arch.BlockDeclarations(m.Config, n))
		m.blocks, weights = append(m.blocks, forward.NewBlock(n, m.Arch, m.Config, r, weights)), weights[declared:]
	}
	m.outputNorm, m.Head = weights[0], r.Linear(weights[1], m.Config, false)
	m.embeddingRotation = r.Rows(arch.EmbeddingTensor, m.Config.Hidden)
}

// A request is one of a block, or of the number behind the last: of what lies
// outside.
type request struct {
	engine.Request
	block int
}

// requests are for all weights of a model, in the order in which a token meets them.
func requests(a *forward.Architecture, c arch.Config, head *formats.Type) []request {
	out := []request{{engine.Request{Tensor: arch.EmbeddingTensor, Use: engine.Table}, c.Layers}}
	for n := range c.Layers {
		for _, t := range a.BlockTensors(c, n) {
			r := engine.Request{Tensor: t.Name, Use: engine.Gain}
			switch {
			case t.Role == arch.Expert:
				r.Use = engine.Experts
			case t.Role.Multiplies():
				r.Use = engine.Matrix
			}
			out = append(out, request{r, n})
		}
	}
	return append(out,
		request{engine.Request{Tensor: arch.OutputNormTensor, Use: engine.Gain}, c.Layers},
		request{engine.Request{Tensor: headName(c), Use: engine.Matrix, Type: head}, c.Layers})
}

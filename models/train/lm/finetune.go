package lm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/aligned"
	"onebit/internal/deviation"
	"onebit/kernels"
	"onebit/kernels/vectors"
	"onebit/models/arch"
	"onebit/models/train"
)

// A Source is a model to start from: source.Source is one.
type Source interface {
	Name() string
	Config() (*arch.Table, arch.Config, error)
	Metadata() ([]container.KV, error)
	Tensor(name string) (formats.Tensor, error)
	Fault(tensor string, err error) error
}

// From begins a run with a model's weights, as floats, and with its vocabulary. What
// the recipe says of the architecture and its sizes gives way to the model's; its
// context is the shorter of both.
func From(r Recipe, src Source, corpus *Corpus, pool *kernels.Pool) (*Trainer, error) {
	table, c, err := src.Config()
	if err != nil {
		return nil, err
	}
	metadata, err := src.Metadata()
	if err != nil {
		return nil, err
	}
	r.From, r.Context = src.Name(), min(r.Context, c.Context)
	r.Architecture, r.Layers, r.Hidden, r.FFN = c.Arch, c.Layers, c.Hidden, c.FFN
	r.Heads, r.KVHeads, r.HeadDim, r.Vocab = c.Heads, c.KVHeads, c.HeadDim, c.Vocab
	r.RopeBase, r.Eps = c.RopeBase, c.Eps
	if err := r.Check(); err != nil {
		return nil, err
	}
	c.Context = r.Context
	shape, err := r.shapeOf(table, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	v, err := newVocabulary(metadata, table.Text)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Vocab() != c.Vocab:
		return nil, src.Fault(arch.EmbeddingTensor, fmt.Errorf("has a row for each of %d tokens, and the tokenizer has %d", c.Vocab, v.Vocab()))
	case v.EOS() < 0:
		return nil, fmt.Errorf("%s: no token ends a text, which documents are divided by", src.Name())
	}
	t, err := newTrainer(r, shape, corpus, v, pool)
	if err != nil {
		return nil, err
	}
	return t, t.Model.load(src)
}

// load takes a model's weights.
func (m *Model) load(src Source) error {
	for _, p := range m.params {
		tensor, err := src.Tensor(p.Name)
		if err != nil {
			return err
		}
		if !slices.Equal(tensor.Shape, p.Shape) {
			return src.Fault(p.Name, fmt.Errorf("has shape %v, want %v", tensor.Shape, p.Shape))
		}
		w, err := tensor.Floats()
		if err != nil {
			return src.Fault(p.Name, err)
		}
		copy(p.W, w)
	}
	return nil
}

// A teacher is a model of floats, whose predictions another one learns.
type teacher struct {
	model *Model
	share float64 // of the loss
	loops *vectors.Variant

	p []float32 // what it predicts
}

// errOtherTeacher is what a resumed run says of a model that has changed.
var errOtherTeacher = errors.New("these are not the weights that the run began to learn from")

// Teach gives a run whose recipe has a Distil the model to learn from: the one that
// it started with.
func (t *Trainer) Teach(src Source) error {
	shape := t.Model.shape
	shape.Form, shape.Embedding = train.Float, train.Float
	m, err := NewModel(shape, t.pool, 0)
	if err != nil {
		return err
	}
	if err := m.load(src); err != nil {
		return err
	}
	sum := sha256.New()
	for _, p := range m.params {
		sum.Write(floatTensor(p.Name, p.Shape, p.W).Data)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if t.state.Teacher != "" && t.state.Teacher != digest {
		return fmt.Errorf("%s: %w", src.Name(), errOtherTeacher)
	}
	t.state.Teacher = digest
	m.Time = t.Model.Time
	t.Model.teacher = &teacher{model: m, share: t.Recipe.Distil, loops: vectors.Best()}
	return nil
}

// distil mixes into a loss, and into its gradient for logits, the Kullback-Leibler
// divergence from what the teacher predicts (Hinton, Vinyals and Dean, arXiv:
// 1503.02531, at temperature 1), as its share.
func (d *teacher) distil(ids, targets []int32, logits, grad []float32, loss float64) float64 {
	vocab := d.model.Config.Vocab
	z := d.model.Logits(ids)
	d.p = aligned.Grow(d.p, len(z), nil)
	divergences := make([]float64, len(ids))
	factor := float32(d.share / float64(len(ids)))
	d.model.build.Pool.ForEach(len(ids), func(r int) {
		row := func(x []float32) []float32 { return x[r*vocab : (r+1)*vocab] }
		p := row(d.p)
		d.loops.Softmax(p, row(z))
		divergences[r] = deviation.Predict(row(z)).Divergence(deviation.Predict(row(logits)))
		// CrossEntropy left (softmax - onehot)/rows.
		row(grad)[targets[r]] += factor
		d.loops.Axpy(row(grad), -factor, p)
	})
	var sum float64
	for _, x := range divergences {
		sum += x
	}
	return (1-d.share)*loss + d.share*sum/float64(len(ids))
}

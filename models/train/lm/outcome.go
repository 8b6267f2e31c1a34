package lm

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"onebit/kernels"
)

// A Series makes the trials of a [Comparison], each in a folder of its own.
type Series struct {
	Dir    string
	Every  int // steps between points of a learning curve, and checkpoints
	Corpus *Corpus
	Pool   *kernels.Pool
	Open   func(model string) (SourceCloser, error)
}

// A SourceCloser is a Source that holds a file open.
type SourceCloser interface {
	Source
	io.Closer
}

// An Outcome is a trial that is over.
type Outcome struct {
	Trial
	Points []Point // the first is of no step
	Bytes  int     // of the model's tensors in a file
	Final  Score
}

// First and Last are of the same sample of the text held out, in bits per byte: before the
// first step and after the last.
func (o *Outcome) First() float64 { return o.Points[0].HeldOut }
func (o *Outcome) Last() float64  { return o.Points[len(o.Points)-1].HeldOut }

// Run makes a trial, or ends one that was interrupted.
func (s *Series) Run(ctx context.Context, trial Trial, watch Watch) (*Outcome, error) {
	folder := filepath.Join(s.Dir, trial.Recipe.Name)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	checkpoint := filepath.Join(folder, CheckpointName)
	t, err := s.trainer(trial, checkpoint)
	if err != nil {
		return nil, err
	}
	if t.Step() == 0 { // of a model that is only rounded, this is what that loses
		if _, err := t.Mark(ctx, 0); err != nil {
			return nil, err
		}
	}
	if err := t.Run(ctx, checkpoint, s.Every, watch); err != nil {
		return nil, err
	}
	err = replace(filepath.Join(folder, ModelName), func(f *os.File) error { return t.Export(f) })
	if err != nil {
		return nil, err
	}
	o := &Outcome{Trial: trial, Points: t.Points()}
	if o.Bytes, err = t.Recipe.Bytes(); err == nil {
		o.Final, err = t.HeldOut(ctx)
	}
	return o, err
}

// trainer goes on from the trial's checkpoint, or begins one.
func (s *Series) trainer(trial Trial, checkpoint string) (*Trainer, error) {
	var start SourceCloser
	if trial.Start != "" {
		var err error
		if start, err = s.Open(filepath.Join(s.Dir, trial.Start, ModelName)); err != nil {
			return nil, err
		}
		defer start.Close()
	}
	t, err := s.resume(checkpoint)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
	case start != nil:
		t, err = From(trial.Recipe, start, s.Corpus, s.Pool)
	default:
		if err = trial.Recipe.Fits(); err == nil {
			t, err = New(trial.Recipe, s.Corpus, s.Pool)
		}
	}
	if err == nil && t.Recipe.Distil > 0 {
		err = t.Teach(start)
	}
	return t, err
}

func (s *Series) resume(checkpoint string) (*Trainer, error) {
	saved, err := OpenCheckpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	t, err := saved.Resume(s.Corpus, s.Pool)
	return t, errors.Join(err, saved.Close())
}

// A Group is outcomes that differ in the seed alone.
type Group struct {
	Line     string
	Width    int
	Bytes    int
	Outcomes []*Outcome
}

// Groups returns the outcomes' groups, in the order of the trials.
func Groups(outcomes []*Outcome) (groups []*Group) {
	for _, o := range outcomes {
		i := slices.IndexFunc(groups, func(g *Group) bool { return g.Line == o.Line && g.Width == o.Recipe.Hidden })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &Group{Line: o.Line, Width: o.Recipe.Hidden, Bytes: o.Bytes})
		}
		groups[i].Outcomes = append(groups[i].Outcomes, o)
	}
	return groups
}

// Start returns the group of the models that g's trials started with; nil if they began
// with random weights.
func (g *Group) Start(groups []*Group) *Group {
	for _, of := range groups {
		if slices.ContainsFunc(of.Outcomes, func(o *Outcome) bool { return o.Recipe.Name == g.Outcomes[0].Start }) {
			return of
		}
	}
	return nil
}

// Over returns the mean of a value of all outcomes, and its extremes.
func (g *Group) Over(value func(*Outcome) float64) (mean, least, most float64) {
	least, most = value(g.Outcomes[0]), value(g.Outcomes[0])
	for _, o := range g.Outcomes {
		v := value(o)
		mean += v / float64(len(g.Outcomes))
		least, most = min(least, v), max(most, v)
	}
	return mean, least, most
}

// Recovered is the share that training has won back of what rounding lost of the models
// that the trials started with.
func (g *Group) Recovered(float *Group) float64 {
	rounded, _, _ := g.Over((*Outcome).First)
	trained, _, _ := g.Over((*Outcome).Last)
	before, _, _ := float.Over((*Outcome).Last)
	return (rounded - trained) / (rounded - before)
}

package models

import (
	"errors"
	"fmt"
	"slices"

	"onebit/internal/mmap"
	"onebit/models/engine"
)

// A Group decodes several texts of a model together, a token of each in one pass
// that reads the weights once. The texts are sessions of their own: they take in
// their prompts, go back and end by themselves, of any lengths, and any of them may
// be in a pass or not. A group belongs to one goroutine at a time, with the sessions
// that it decodes. It must be closed before the model is.
type Group struct {
	session *Session // whose columns are of different texts
	stream  *engine.Group
	texts   []engine.Stream
	logits  [][]float32
}

// NewGroup returns a group without texts. The error wraps [engine.ErrOneText] if
// the model's engine takes in one at a time.
func (m *Model) NewGroup() (*Group, error) {
	own, err := m.engine.NewStream(engine.StreamOptions{Context: 1, Batch: 1})
	if err != nil {
		return nil, err
	}
	stream, err := engine.NewGroup(own)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s on engine %s: %w", m.source.Name(), m.engine.Name(), err), own.Close())
	}
	return &Group{session: m.newSession(stream), stream: stream}, nil
}

// Close frees what the group has, which none of the texts is.
func (g *Group) Close() error { return g.stream.Close() }

// Decode takes in a token of each text and returns, for each, the logits of the one
// to follow, valid until the next call. They are to the bit what [Session.Decode] of
// that text alone returns. If there is an error none of the tokens count, unless it
// wraps [ErrNoRollback]. The texts are different sessions of the group's model.
func (g *Group) Decode(texts []*Session, ids []int) ([][]float32, error) {
	if err := g.enter(texts, ids); err != nil {
		return nil, err
	}
	err := mmap.Guard(func() error { return g.pass(ids) })
	if err != nil {
		for _, t := range g.texts {
			if stuck := t.Truncate(t.Position()); stuck != nil {
				err = errors.Join(err, stuck)
			}
		}
		return nil, err
	}
	return g.logits, nil
}

// enter makes texts those of the next pass, if each has room for its token.
func (g *Group) enter(texts []*Session, ids []int) error {
	if len(texts) != len(ids) || len(texts) == 0 {
		panic("models: a group decodes one token of each text, and of one text at least")
	}
	g.texts = g.texts[:0]
	for i, t := range texts {
		if t.model != g.session.model || slices.Contains(g.texts, t.stream) {
			panic("models: the texts of a group are different sessions of its model")
		}
		if err := t.check(ids[i : i+1]); err != nil {
			return fmt.Errorf("text %d of %d: %w", i+1, len(texts), err)
		}
		g.texts = append(g.texts, t.stream)
	}
	return nil
}

// pass takes the tokens through the model.
func (g *Group) pass(ids []int) error {
	s := g.session
	g.stream.Of(g.texts)
	s.begin(ids)
	s.blocks()
	logits, err := s.columnLogits(0, s.n)
	if err != nil {
		return err
	}
	g.stream.End()
	g.logits = slices.AppendSeq(g.logits[:0], slices.Chunk(logits, s.model.Config.Vocab))
	return nil
}

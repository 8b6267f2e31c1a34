package engine

import (
	"errors"
	"fmt"
)

// ErrOneText is wrapped by the error of an engine that takes in one text at a time.
var ErrOneText = errors.New("this engine takes in one text at a time")

// A Lender is a Stream whose buffers other streams of its engine may work on, a
// column at a time.
type Lender interface {
	Stream
	// Column returns a column of a buffer as a buffer of one, in the same memory,
	// until the next call for that column. A buffer that has not as many columns as
	// the batch in progress gets them, of any values.
	Column(b Buffer, c int) Buffer
}

// An Attender is a Lender whose streams attend together.
type Attender interface {
	Lender
	// AttendEach is Attend of several texts, each for its column and by its own keys
	// and values.
	AttendEach(op string, texts []Stream, dst, q, k, v Buffer)
}

// A Group is a stream whose batches have a column of each of several texts: what
// multiplies reads its weights once for all of them, and what looks back is done by
// the texts' own streams, each for its column as if it were alone. Whose columns a
// batch has is said before it begins.
type Group struct {
	Lender
	texts []Stream
}

// NewGroup makes a group of a stream of its own, without states. The error wraps
// [ErrOneText] if the engine's streams are no [Lender]s.
func NewGroup(s Stream) (*Group, error) {
	lender, ok := s.(Lender)
	if !ok {
		return nil, fmt.Errorf("several texts together: %w", ErrOneText)
	}
	return &Group{Lender: lender}, nil
}

// Of says whose tokens the columns of the next batch are. The streams are of the
// group's engine and differ.
func (g *Group) Of(texts []Stream) { g.texts = texts }

// Begin starts a batch of a column for each text.
func (g *Group) Begin(n int) {
	if n != len(g.texts) {
		panic("engine: a batch of other texts than the group's")
	}
	g.Lender.Begin(n)
	for _, t := range g.texts {
		t.Begin(1)
	}
}

// Enter implements Stream, for the texts too.
func (g *Group) Enter(block int) {
	g.Lender.Enter(block)
	for _, t := range g.texts {
		t.Enter(block)
	}
}

// End counts the batch's tokens as taken in, one by each text.
func (g *Group) End() {
	g.Lender.End()
	for _, t := range g.texts {
		t.End()
	}
}

// Rotate implements Stream by the texts' positions.
func (g *Group) Rotate(op string, q, k Buffer) {
	for c, t := range g.texts {
		t.Rotate(op, g.Column(q, c), g.Column(k, c))
	}
}

// Attend implements Stream by the texts' keys and values.
func (g *Group) Attend(op string, dst, q, k, v Buffer) {
	if a, ok := g.Lender.(Attender); ok {
		a.AttendEach(op, g.texts, dst, q, k, v)
		return
	}
	for c, t := range g.texts {
		t.Attend(op, g.Column(dst, c), g.Column(q, c), g.Column(k, c), g.Column(v, c))
	}
}

// Convolve implements Stream by the texts' states.
func (g *Group) Convolve(op string, x Buffer, taps Weight) {
	for c, t := range g.texts {
		t.Convolve(op, g.Column(x, c), taps)
	}
}

// DeltaRule implements Stream by the texts' states.
func (g *Group) DeltaRule(op string, dst, q, k, v, decay, beta Buffer) {
	for c, t := range g.texts {
		t.DeltaRule(op, g.Column(dst, c), g.Column(q, c), g.Column(k, c), g.Column(v, c), g.Column(decay, c), g.Column(beta, c))
	}
}

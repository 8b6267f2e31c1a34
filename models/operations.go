package models

import "onebit/models/engine"

// What the forward passes of architectures are written in: the engine's
// operations, with what a session knows.

// into is a layer and where its output goes.
type into struct {
	layer *Linear
	dst   engine.Buffer
}

// multiply is dst = W·x for several layers of the same input. Layers whose
// weights are stored in another basis get the input in that one, which is made
// once for all of them.
func (s *Session) multiply(op string, x engine.Buffer, layers ...into) {
	var rotation *engine.Rotation
	s.products = s.products[:0]
	for _, l := range layers {
		if r := l.layer.rotation; r != nil {
			rotation = r // the same of all: it follows from the width
		} else {
			s.products = append(s.products, engine.Product{Weight: l.layer.weight, Dst: l.dst})
		}
	}
	if len(s.products) > 0 {
		s.stream.Multiply(op, x, s.products)
	}
	if rotation == nil {
		return
	}
	s.products = s.products[:0]
	for _, l := range layers {
		if l.layer.rotation != nil {
			s.products = append(s.products, engine.Product{Weight: l.layer.weight, Dst: l.dst})
		}
	}
	turned := s.turned[rotation]
	if turned == nil {
		turned = s.stream.Buffer(len(rotation.Signs))
		s.turned[rotation] = turned
	}
	s.stream.Hadamard("hadamard", turned, x, rotation)
	s.stream.Multiply(op, turned, s.products)
}

func (s *Session) rmsNorm(op string, dst, x engine.Buffer, gain engine.Weight) {
	s.stream.Norm(op, dst, x, gain, s.model.Config.Eps)
}

func (s *Session) rotate(op string, q, k engine.Buffer) { s.stream.Rotate(op, q, k) }

// attend answers the queries s.q, in s.att, from the batch's keys s.k and
// values s.v and all before them.
func (s *Session) attend(op string) { s.stream.Attend(op, s.att, s.q, s.k, s.v) }

// activate multiplies s.gate, activated, with s.up, in place.
func (s *Session) activate(op string) {
	s.stream.Gate(op, s.gate, s.up, s.model.Arch.Activation)
}

// add adds what a part of a block has computed to the residual stream.
func (s *Session) add(op string, x, y engine.Buffer) {
	if by := s.model.Config.ResidualScale; by != 0 {
		s.stream.Scale("residual_scale", y, by)
	}
	s.stream.Add(op, x, y)
}

// feedForward is the second half of a block of LLaMA's kind: the gated network,
// from the residual stream to it, behind a norm with that gain.
func (s *Session) feedForward(b *Block, gain engine.Weight) {
	s.rmsNorm("ffn_norm", s.h, s.x, gain)
	s.multiply("ffn_gate_up", s.h, into{b.Gate, s.gate}, into{b.Up, s.up})
	s.activate("ffn_act") // s.gate, with s.up
	s.multiply("ffn_down", s.gate, into{b.Down, s.h})
	s.add("ffn_residual", s.x, s.h)
}

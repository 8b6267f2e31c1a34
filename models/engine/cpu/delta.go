package cpu

import (
	"fmt"

	"onebit/internal/math32"
	"onebit/models/engine"
)

// A delta is the state of a block that is a gated delta net, and what its
// operations compute, in float32 as they are specified.
type delta struct {
	engine.Delta
	// matrices are ValueHeads × KeyDim × ValueDim, window the last Taps-1 inputs
	// of each channel, the oldest first.
	matrices, window []float32
	tokens           int  // that the state has taken in
	begun            bool // a batch has changed the state and not ended
}

func newDelta(d engine.Delta) *delta {
	return &delta{
		Delta:    d,
		matrices: make([]float32, d.ValueHeads*d.KeyDim*d.ValueDim),
		window:   make([]float32, d.Channels*max(d.Taps-1, 0)),
	}
}

func (d *delta) advance(n int) {
	if d != nil {
		d.tokens, d.begun = d.tokens+n, false
	}
}

// truncate goes back to the start, or stays.
func (d *delta) truncate(n int) error {
	switch {
	case d == nil || n == d.tokens && !d.begun:
	case n == 0:
		clear(d.matrices)
		clear(d.window)
		d.tokens, d.begun = 0, false
	default:
		return fmt.Errorf("%w to %d of %d tokens", engine.ErrNoRollback, n, d.tokens)
	}
	return nil
}

func (d *delta) bytes() int {
	if d == nil {
		return 0
	}
	return floatBytes(len(d.matrices), len(d.window))
}

// convolveTask is how many channels are one task.
const convolveTask = 64

func (s *stream) Convolve(op string, x engine.Buffer, w engine.Weight) {
	start := s.begin()
	in, taps, d := x.(*buffer), w.(*gain).values, s.deltas[s.block]
	d.begun = true
	s.each((in.width+convolveTask-1)/convolveTask, func(i int) {
		for c := i * convolveTask; c < min((i+1)*convolveTask, in.width); c++ {
			d.convolve(in, taps, c)
		}
	})
	s.end(start, op, work{bytes: floatBytes(len(taps), 2*len(d.window)), moved: 2 * floatBytes(len(in.data)), macs: in.n * len(taps)}, in)
}

// convolve takes a channel through the batch.
func (d *delta) convolve(x *buffer, taps []float32, channel int) {
	past := d.Taps - 1
	window, taps := d.window[channel*past:][:past], taps[channel*d.Taps:][:d.Taps]
	for t := range x.n {
		at := &x.data[t*x.width+channel]
		now := *at
		sum := float32(now * taps[past])
		for i, v := range window {
			sum += float32(v * taps[i])
		}
		if past > 0 {
			copy(window, window[1:])
			window[past-1] = now
		}
		*at = sum / (1 + math32.Exp(-sum))
	}
}

func (s *stream) DeltaRule(op string, dst, q, k, v, decay, beta engine.Buffer) {
	start := s.begin()
	d := s.deltas[s.block]
	out, qs, ks, vs := dst.(*buffer), q.(*buffer), k.(*buffer), v.(*buffer)
	decays, betas := decay.(*buffer), beta.(*buffer)
	out.resize(qs.n)
	d.begun = true
	s.each(d.ValueHeads, func(h int) {
		key := h / (d.ValueHeads / d.KeyHeads)
		for t := range qs.n {
			d.step(h, out.column(t), qs.column(t)[key*d.KeyDim:][:d.KeyDim], ks.column(t)[key*d.KeyDim:][:d.KeyDim],
				vs.column(t), decays.column(t)[h], betas.column(t)[h])
		}
	})
	s.end(start, op, work{
		bytes: 2 * floatBytes(len(d.matrices)), macs: 3 * qs.n * len(d.matrices),
		moved: floatBytes(len(qs.data), len(ks.data), len(vs.data), len(out.data)),
	}, out)
}

// step takes one token into the matrix of a value head.
func (d *delta) step(head int, out, q, k, v []float32, decay, beta float32) {
	n := d.ValueDim
	out, v = out[head*n:][:n], v[head*n:][:n]
	matrix := d.matrices[head*d.KeyDim*n:][:d.KeyDim*n]
	clear(out)
	for i, x := range k { // what the decayed state predicts of v
		row := matrix[i*n:][:n]
		for j := range row {
			row[j] *= decay
			out[j] += float32(row[j] * x)
		}
	}
	for j := range out {
		out[j] = float32(v[j]-out[j]) * beta
	}
	for i, x := range k {
		row := matrix[i*n:][:n]
		for j, by := range out {
			row[j] += float32(x * by)
		}
	}
	clear(out)
	for i, x := range q {
		row := matrix[i*n:][:n]
		for j := range row {
			out[j] += float32(row[j] * x)
		}
	}
}

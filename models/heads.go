package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"onebit/formats"
	"onebit/internal/clock"
	"onebit/internal/deviation"
	"onebit/models/engine"
)

// A HeadTrial is what the output head is, or would be in another format.
type HeadTrial struct {
	Format *formats.Type
	Bytes  int           // of the whole head
	Time   time.Duration // of its product with one column, from memory
	Token  time.Duration // of a token with this head
	// Convert is how long opening the model takes longer; 0 for the file's head.
	Convert time.Duration
	// KLD is the divergence of predictions from those of the file's head, in nats,
	// the mean over the text's last tokens; NMSE is the error of their logits. Of a
	// large vocabulary both are of the likeliest tokens and of some others.
	KLD, NMSE float64
}

// headCandidates are what a head may be converted to, the most accurate first.
var headCandidates = []*formats.Type{formats.Q8_0, formats.Q6_K}

// HeadCandidates returns the formats in which the head would be at least a tenth
// smaller than it is in the file. There are none for a head that was converted, and
// on an engine that tries none.
func (m *Model) HeadCandidates() (out []*formats.Type) {
	if e, ok := m.engine.(engine.HeadTrier); !ok || m.headConverted || e.CheckHead(m.Head.Type) != nil {
		return nil
	}
	for _, t := range headCandidates {
		if n, err := t.Bytes(m.Head.Rows, m.Head.Cols); err == nil && 10*n <= 9*m.Head.Bytes() {
			out = append(out, t)
		}
	}
	return out
}

const (
	trialColumns = logitColumns // tokens whose logits are compared
	trialRows    = 8192         // tokens of a vocabulary that are, at most
	trialTimes   = 3            // a time is the median of so many
)

// TryHeads measures the head as it is, and then each candidate, on the last tokens
// of a text: a candidate by some of its rows, whose time stands for that of all. It
// takes about as long as a prompt of 16 tokens, three decoded ones and a dozen
// products with the head.
func (m *Model) TryHeads(ctx context.Context, text []int) (trials []HeadTrial, err error) {
	e, ok := m.engine.(engine.HeadTrier)
	if !ok || len(text) == 0 {
		return nil, errors.New("heads are tried with a text, on an engine that can, such as the CPU's")
	}
	text = text[max(0, len(text)-min(trialColumns, m.Config.Context-trialTimes)):]
	s, err := m.NewSession(SessionOptions{Context: len(text) + trialTimes, Batch: trialColumns})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	h := &headTrial{model: m, engine: e, n: len(text)}
	if err := h.measureHead(s, text); err != nil {
		return nil, err
	}
	trials = []HeadTrial{h.current()}
	for _, to := range m.HeadCandidates() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := h.try(to)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	return trials, nil
}

// A headTrial is the file's head at the end of a text.
type headTrial struct {
	model  *Model
	engine engine.HeadTrier
	n      int       // columns
	x      []float32 // n × Cols: what the head multiplies
	logits []float32 // n × Rows
	rows   []int     // that are tried
	token  time.Duration
	time   time.Duration // of the head
}

// measureHead takes in the text, and times a token and the head.
func (h *headTrial) measureHead(s *Session, text []int) error {
	if err := s.Start(text); err != nil {
		return err
	}
	s.blocks()
	logits, err := s.columnLogits(0, h.n)
	if err != nil {
		return err
	}
	x, err := s.stream.Read(s.headInput())
	if err != nil {
		return err
	}
	h.logits, h.x = slices.Clone(logits), slices.Clone(x[:h.n*h.model.Head.Cols])
	s.stream.End()
	h.rows = sampledRows(h.logits, h.model.Head.Rows)
	h.token = medianTime(nil, func() {
		if _, decodeErr := s.Decode(text[len(text)-1]); decodeErr != nil {
			err = decodeErr
		}
	})
	h.time = medianTime(nil, h.multiply)
	return err
}

// headInput is what the head multiplied last.
func (s *Session) headInput() engine.Buffer {
	if r := s.model.Head.Rotation; r != nil {
		return s.pass.Rotated(r)
	}
	return s.last
}

// multiply is a product with the whole head, which leaves nothing else in caches
// that it does not fit.
func (h *headTrial) multiply() {
	head := h.model.Head
	h.engine.MultiplyOne(make([]float32, head.Rows), head.Weight, h.x[:head.Cols])
}

// medianTime is how long one of trialTimes calls took, before each of which something
// else is done; nil: nothing.
func medianTime(before, f func()) time.Duration {
	var all [trialTimes]time.Duration
	for i := range all {
		if before != nil {
			before()
		}
		start := clock.Now()
		f()
		all[i] = clock.Since(start)
	}
	slices.Sort(all[:])
	return all[trialTimes/2]
}

func (h *headTrial) current() HeadTrial {
	head := h.model.Head
	return HeadTrial{Format: head.Type, Bytes: head.Bytes(), Time: h.time, Token: h.token}
}

// try measures a candidate.
func (h *headTrial) try(to *formats.Type) (out HeadTrial, err error) {
	head := h.model.Head
	start := clock.Now()
	t, err := h.engine.Try(head.Weight, h.rows, to)
	if err != nil {
		return out, fmt.Errorf("trying a head in %s: %w", to.Name, err)
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	whole := float64(head.Rows) / float64(len(h.rows))
	out = HeadTrial{Format: to, Bytes: t.Bytes(), Convert: time.Duration(float64(clock.Since(start)) * whole)}
	y := make([]float32, h.n*len(h.rows))
	t.Multiply(y, h.x, h.n)
	out.KLD, out.NMSE = h.compare(y)
	one := medianTime(h.multiply, func() { t.Multiply(y[:len(h.rows)], h.x[:head.Cols], 1) })
	out.Time = time.Duration(float64(one) * whole)
	out.Token = max(h.token-h.time, 0) + out.Time
	return out, nil
}

// compare returns the errors of y, n × rows, among the rows that are tried.
func (h *headTrial) compare(y []float32) (kld, nmse float64) {
	vocab, n := h.model.Head.Rows, len(h.rows)
	want := make([]float32, n)
	var sum deviation.Sum
	for c := range h.n {
		for i, r := range h.rows {
			want[i] = h.logits[c*vocab+r]
		}
		got := y[c*n:][:n]
		sum.Add(deviation.Of(got, want))
		kld += deviation.Predict(want).Divergence(deviation.Predict(got))
	}
	return kld / float64(h.n), sum.NMSE()
}

// sampledRows returns rows, in order: all of a small vocabulary, and else the likeliest
// of each column, in which nearly all of the probability is, and others at equal
// distances.
func sampledRows(logits []float32, vocab int) (rows []int) {
	if vocab <= trialRows {
		for r := range vocab {
			rows = append(rows, r)
		}
		return rows
	}
	columns := len(logits) / vocab
	var top []engine.Ranked
	for c := range columns {
		top = engine.Top(top, logits[c*vocab:][:vocab], trialRows/2/columns)
		for _, t := range top {
			rows = append(rows, t.Index)
		}
	}
	for i := range trialRows / 2 {
		rows = append(rows, i*vocab/(trialRows/2))
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

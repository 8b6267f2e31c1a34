package logic

import (
	"math"

	"onebit/models/train"
)

// A Learner is how a gate is learned.
type Learner struct {
	Form *train.Form // of the weights
	// Hidden is how many neurons there are between the inputs and the outputs; 0: none,
	// so that each output is one neuron.
	Hidden int
	Rate   float64 // AdamW's
	Steps  int     // at most
}

// A Lesson is what came of it.
type Lesson struct {
	Steps int // until the whole truth table was right; 0 if it never was
	// Rows is how many rows of the table were right at the end.
	Rows int
	net  train.Sequence
	gate *Gate
}

// Learned reports whether all of the truth table is right.
func (l *Lesson) Learned() bool { return l.Rows == 1<<l.gate.Inputs }

// Eval returns what the network makes of the gate's inputs.
func (l *Lesson) Eval(in uint) (out uint) {
	x := make([]float32, l.gate.Inputs)
	for i := range x {
		x[i] = float32(2*int(in>>i&1) - 1)
	}
	for i, logit := range l.net.Forward(x) {
		out |= bit(logit > 0) << i
	}
	return out
}

// Learn trains a network from a random start on the gate's truth table, all of it at
// each step, until it is right.
func (l Learner) Learn(g *Gate, seed uint64) (*Lesson, error) {
	b := train.NewBuilder(nil, seed)
	opt := train.Options{Form: l.Form, Bias: true}
	var net train.Sequence
	last := g.Inputs
	if l.Hidden > 0 {
		if err := opt.Check(g.Inputs, l.Hidden); err != nil {
			return nil, err
		}
		net = train.Sequence{b.BitLinear("hidden", g.Inputs, l.Hidden, opt), b.Pointwise(train.Tanh)}
		last = l.Hidden
	}
	if err := opt.Check(last, g.Outputs); err != nil {
		return nil, err
	}
	net = append(net, b.BitLinear("out", last, g.Outputs, opt))
	rule, err := train.LookupRule("adamw")
	if err != nil {
		return nil, err
	}
	optimizer := train.NewOptimizer(nil, rule, net.Params())
	lesson := &Lesson{net: net, gate: g}
	x, y := g.table()
	grad := make([]float32, len(y))
	for step := 1; step <= l.Steps; step++ {
		train.ZeroGrad(net.Params())
		logits := net.Forward(x)
		if lesson.Rows = rightRows(logits, y, g.Outputs); lesson.Learned() {
			lesson.Steps = step
			break
		}
		loss := train.BinaryCrossEntropy(nil, grad, logits, y)
		net.Backward(grad)
		if _, err := optimizer.Step(step, l.Rate, loss); err != nil {
			return nil, err
		}
	}
	return lesson, nil
}

// rightRows counts the rows of a table all of whose outputs are right.
func rightRows(logits, y []float32, outputs int) (n int) {
	for ; len(y) > 0; logits, y = logits[outputs:], y[outputs:] {
		right := true
		for i, want := range y[:outputs] {
			// A logit of NaN is right about nothing.
			right = right && !math.IsNaN(float64(logits[i])) && (logits[i] > 0) == (want == 1)
		}
		n += int(bit(right))
	}
	return n
}

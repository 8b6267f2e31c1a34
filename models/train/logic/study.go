package logic

import (
	"context"
	"math/rand/v2"

	"onebit/formats"
	"onebit/kernels"
	"onebit/models/train"
)

// A Study asks this package's questions of gates and of SHA-256; onebit-lab logic prints the
// answers.
type Study struct {
	Starts   int // random starts of each gate
	Steps    int // of each gate's training, at most
	Width    int // features of a bit in the network for SHA-256
	Loops    int // of its block
	Training int // steps of its training
	Messages int // that it is tested on
}

// Forms are those of the weights that are compared; 1bit needs 128 inputs.
var Forms = []*train.Form{train.NanoLogic, train.B158, train.Float}

// Hidden are the widths that gates are learned with; 0 is one neuron for each output.
var Hidden = []int{0, 2, 4, 8, 16}

// Rate is AdamW's for gates.
const Rate = 0.02

// A Trial is how many starts of a network learned a gate.
type Trial struct {
	Gate    string    `json:"gate"`
	Hidden  int       `json:"hidden"`
	Weights string    `json:"weights"`
	Starts  int       `json:"starts"`
	Learned []float64 `json:"learned"` // steps of each start that learned the whole truth table
}

// Gates learns each gate at each width with each form, in this order, and returns the first
// parity that each form learned.
func (s Study) Gates(ctx context.Context) (trials []Trial, parities map[*train.Form]*Lesson, err error) {
	parities = map[*train.Form]*Lesson{}
	for _, g := range Gates {
		for _, hidden := range Hidden {
			for _, form := range Forms {
				learner := Learner{Form: form, Hidden: hidden, Rate: Rate, Steps: s.Steps}
				trial := Trial{g.Name, hidden, form.Name, s.Starts, []float64{}}
				for seed := range uint64(s.Starts) {
					if err := ctx.Err(); err != nil {
						return nil, nil, err
					}
					l, err := learner.Learn(g, seed+1)
					if err != nil {
						return nil, nil, err
					}
					if !l.Learned() {
						continue
					}
					trial.Learned = append(trial.Learned, float64(l.Steps))
					if g == Parity && parities[form] == nil {
						parities[form] = l
					}
				}
				trials = append(trials, trial)
			}
		}
	}
	return trials, parities, nil
}

// A WordTrial is how many random words a function of words is right for.
type WordTrial struct {
	Function string `json:"function"`
	Weights  string `json:"weights"`
	Words    int    `json:"words"`
	Right    int    `json:"right"`
}

// WordsTried is how many random words each function is tried on.
const WordsTried = 10_000

// Words tries SHA-256's functions of words with a learned parity for each of their bits. A
// form that learned none has no trials.
func (s Study) Words(parities map[*train.Form]*Lesson) (trials []WordTrial) {
	for _, word := range Words {
		for _, form := range Forms {
			cell := parities[form]
			if cell == nil {
				continue
			}
			var table [8]uint
			for in := range table {
				table[in] = cell.Eval(uint(in))
			}
			trial := WordTrial{Function: word.Name, Weights: form.Name, Words: WordsTried}
			r := rand.New(rand.NewPCG(1, 2))
			for range WordsTried {
				x := r.Uint32()
				if word.Through(func(in uint) uint { return table[in] }, x) == word.Eval(x) {
					trial.Right++
				}
			}
			trials = append(trials, trial)
		}
	}
	return trials
}

// A Prediction is what share of the bits of SHA-256's state a predictor is right about.
type Prediction struct {
	Predictor string    `json:"predictor"`
	Mean      float64   `json:"mean"`
	Rounds    []float64 `json:"rounds"`
	Words     []float64 `json:"words"`
}

// WordCeiling is a word's share of bits that can be known: words that depend on the message
// are as good as random.
func WordCeiling(word int) float64 {
	if word == 0 || word == 4 {
		return 0.5
	}
	return 1
}

// StatesInBatch is how many states a step of the training has.
const StatesInBatch = 8

// SHA256 trains NanoLogic's network with each form, and returns its predictions behind those
// of copying alone. progress returns what is told the steps of a form's training.
func (s Study) SHA256(ctx context.Context, pool *kernels.Pool, progress func(form string) (step func(int), end func())) ([]Prediction, error) {
	var out []Prediction
	add := func(name string, p Predictor) {
		a := Measure(p, rand.New(rand.NewPCG(1<<32, 0)), s.Messages)
		out = append(out, Prediction{name, a.Mean(), a.Rounds[:], a.Words[:]})
	}
	add("copies", PredictCopy)
	for _, form := range Forms {
		step, end := progress(form.Name)
		network, err := s.train(ctx, pool, form, step)
		end()
		if err != nil {
			return nil, err
		}
		add(form.Name, network.Predict)
	}
	return out, nil
}

func (s Study) train(ctx context.Context, pool *kernels.Pool, form *train.Form, told func(step int)) (*Sparse, error) {
	b := train.NewBuilder(pool, 1)
	network, err := NewSparse(b, s.Width, s.Loops, train.Options{Form: form})
	if err != nil {
		return nil, err
	}
	rule, err := train.LookupRule("adamw")
	if err != nil {
		return nil, err
	}
	o := train.NewOptimizer(pool, rule, network.Params())
	o.Clip = 1
	rate := train.WarmupCosine(2e-3, 0, s.Training/20, s.Training)
	r := rand.New(rand.NewPCG(1, 0))
	for step := 1; step <= s.Training; step++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := network.Train(o, b, step, rate(step), NewBatch(r, StatesInBatch, rounds)); err != nil {
			return nil, err
		}
		told(step)
	}
	return network, nil
}

// Memory packs a model of so many weights in each format.
func Memory(ctx context.Context, weights int) (out []Footprint, err error) {
	for _, format := range PackedFormats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		size, err := Pack(format, weights)
		if err != nil {
			return nil, err
		}
		out = append(out, size)
	}
	return out, nil
}

// NanoLogicWidth is that of NanoLogic's model.
const NanoLogicWidth = 1024

// NanoLogic packs NanoLogic's network at its own size, with the weights that are not rounded in
// fp16, and returns how many are.
func NanoLogic() (out []Footprint, rounded int, err error) {
	network, err := NewSparse(train.NewBuilder(nil, 1), NanoLogicWidth, 1, train.Options{Form: train.NanoLogic, HalfScale: true})
	if err != nil {
		return nil, 0, err
	}
	weights := 0
	for _, p := range network.Params() {
		weights += len(p.W)
	}
	for _, l := range network.Products() {
		rounded += len(l.Weight.W)
	}
	for _, format := range []*formats.Type{formats.I2_S, formats.TQ1_0} {
		size := Footprint{Format: format, Weights: weights, Bytes: 2 * (weights - rounded)}
		for _, l := range network.Products() {
			packed, err := l.Pack(format)
			if err != nil {
				return nil, 0, err
			}
			size.Bytes += len(packed.Data)
		}
		out = append(out, size)
	}
	return out, rounded, nil
}

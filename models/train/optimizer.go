package train

import (
	"fmt"
	"slices"

	"onebit/kernels"
)

// A Rule is how an optimizer changes weights, number by number.
type Rule interface {
	// Slots names what the rule remembers for each weight: a float32 each, 0 at
	// first.
	Slots() []string
	// Update changes weights w by their gradients. slots are parts as long as w;
	// step counts from 1; decay is 0 for weights that none shrinks.
	Update(w, grad []float32, slots [][]float32, step int, rate, decay float32)
}

// rules are the kinds of Rule with the field's usual constants.
var rules = map[string]func() Rule{}

func registerRule(name string, rule func() Rule) { rules[name] = rule }

// RuleNames returns the names that [LookupRule] knows, sorted.
func RuleNames() []string {
	var names []string
	for name := range rules {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// LookupRule returns the rule of that name with its usual constants.
func LookupRule(name string) (Rule, error) {
	rule, ok := rules[name]
	if !ok {
		return nil, fmt.Errorf("unknown optimizer %q (known: %v)", name, RuleNames())
	}
	return rule(), nil
}

// An Optimizer changes parameters by their gradients.
type Optimizer struct {
	Rule  Rule
	Clip  float64 // the largest norm of all gradients together; 0: any
	Decay float64 // weight decay, apart from the gradient (arXiv 1711.05101): w -= rate·decay·w

	pool   *kernels.Pool
	params []*Param
	slots  [][][]float32 // of each parameter, of each slot
}

// NewOptimizer returns one for params.
func NewOptimizer(pool *kernels.Pool, rule Rule, params []*Param) *Optimizer {
	o := &Optimizer{Rule: rule, pool: pool, params: params}
	for _, p := range params {
		slots := make([][]float32, len(rule.Slots()))
		for i := range slots {
			slots[i] = make([]float32, len(p.W))
		}
		o.slots = append(o.slots, slots)
	}
	return o
}

// A Buffer is numbers with a name that no other has.
type Buffer struct {
	Name  string
	Shape []int
	Data  []float32
}

// SlotName is what a buffer of [Optimizer.State] is called: what a rule keeps of a
// parameter.
func SlotName(param, slot string) string { return param + "." + slot }

// State returns what the optimizer remembers, as it is in memory: to be written
// to a checkpoint and read from it.
func (o *Optimizer) State() []Buffer {
	var all []Buffer
	for i, p := range o.params {
		for k, slot := range o.Rule.Slots() {
			all = append(all, Buffer{Name: SlotName(p.Name, slot), Shape: p.Shape, Data: o.slots[i][k]})
		}
	}
	return all
}

// Step changes the parameters and returns the norm of their gradients before it
// was clipped. step counts from 1. If the loss or a gradient is not finite, the
// error is a [*NotFiniteError] and nothing has changed.
func (o *Optimizer) Step(step int, rate, loss float64) (norm float64, err error) {
	norm = GradNorm(o.pool, o.params)
	if err := checkFinite(step, loss, norm, o.params); err != nil {
		return norm, err
	}
	if o.Clip > 0 {
		ClipNorm(o.pool, o.params, norm, o.Clip)
	}
	for i, p := range o.params {
		decay := o.Decay
		if !p.Decay {
			decay = 0
		}
		eachSpan(o.pool, len(p.W), func(from, to int) {
			slots := make([][]float32, len(o.slots[i]))
			for k := range slots {
				slots[k] = o.slots[i][k][from:to]
			}
			o.Rule.Update(p.W[from:to], p.Grad[from:to], slots, step, float32(rate), float32(decay))
		})
	}
	return norm, nil
}

package foreign

import (
	"fmt"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
)

// A rate is a test of a model by its mean: tokens that it took in or made, and how many
// of them a second.
type rate struct {
	model, variant string
	kind           string // names.Prompt or names.Decode
	tokens, depth  int
	threads        string
	perSecond      float64
	more           []key
	also           []results.Metric
}

// addTo makes the test a sample of a set.
func (r rate) addTo(set *results.Set) error {
	if r.tokens < 1 || r.tokens > 1<<30 || r.depth < 0 || r.depth > 1<<30 {
		return fmt.Errorf("%d tokens behind %d are no test", r.tokens, r.depth)
	}
	if err := positive("tokens per second", r.perSecond); err != nil {
		return err
	}
	depth := ""
	if r.depth > 0 {
		depth = strconv.Itoa(r.depth)
	}
	keys := append([]key{
		{names.Model, r.model}, {names.Variant, r.variant}, {names.Test, r.kind + strconv.Itoa(r.tokens)}, {names.Depth, depth}, {names.Threads, r.threads},
	}, r.more...)
	values := append([]results.Metric{
		{Unit: results.NsPerOp, Value: float64(r.tokens) / r.perSecond * 1e9}, {Unit: results.TokenRate, Value: r.perSecond},
	}, r.also...)
	set.Samples = append(set.Samples, results.Sample{Name: results.ParseName(name(names.BaseModel, keys...)), Iters: 1, Process: 1, Values: values})
	return nil
}

// fromRates is the warning where a file has no times.
const fromRates = "times follow from tokens per second, which is what the file holds"

package lm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/internal/sysinfo"
	"onebit/models/arch"
	"onebit/models/train"
)

// A Recipe is all that a run follows from, beside its text. A checkpoint has it as
// JSON.
type Recipe struct {
	Name         string // general.name of the file
	Base         string `json:",omitempty"` // what the recipe that it began as is called on the command line
	Architecture string
	Layers       int
	Hidden       int
	FFN          int
	Heads        int
	KVHeads      int
	HeadDim      int
	RopeBase     float32
	Eps          float32
	Form         string // of the projections: train.LookupForm
	Embedding    string // likewise
	Vocab        int    // tokens
	Splitter     string // of text into words: tokenizer.Learn

	Context   int     // tokens in a window
	Batch     int     // windows in a step
	Pass      int     // windows in a pass: what is in memory at once
	Steps     int     // of all
	Rate      float64 // the highest, which the warm-up reaches
	LastRate  float64 // the rate at the end of a cosine, as a share of Rate
	Warmup    int     // steps
	Optimizer string
	Decay     float64 // of matrices
	Clip      float64 // the largest norm of gradients; 0: any
	Seed      uint64

	From   string  `json:",omitempty"` // the model that the run started with; "": random weights
	Distil float64 `json:",omitempty"` // share of that model's predictions in the loss
}

// Recipes are those of the default models, and of a float one to compare them with.
func Recipes() []Recipe {
	ternary := Recipe{
		Name: "gopher-ternary", Base: "ternary", Architecture: "bitnet-b1.58",
		Layers: 4, Hidden: 256, FFN: 768, Heads: 4, KVHeads: 2, HeadDim: 64, RopeBase: 1e4, Eps: 1e-5,
		Form: train.B158.Name, Embedding: train.EightBit.Name, Vocab: 2048, Splitter: "qwen2",
		Context: 512, Batch: 2, Pass: 1, Steps: 16000, Rate: 3e-3, LastRate: 0.05, Warmup: 300,
		Optimizer: "adamw", Decay: 0.1, Clip: 1, Seed: 1,
	}
	oneBit := ternary
	oneBit.Name, oneBit.Base, oneBit.Architecture = "gopher-1bit", "1bit", "qwen3"
	oneBit.Form, oneBit.Eps = train.OneBit.Name, 1e-6
	float := oneBit
	float.Name, float.Base, float.Form, float.Embedding = "gopher-float", "float", train.Float.Name, train.Float.Name
	return []Recipe{ternary, oneBit, float}
}

// LookupRecipe returns the recipe that is called so on the command line.
func LookupRecipe(base string) (Recipe, error) {
	all := Recipes()
	i := slices.IndexFunc(all, func(r Recipe) bool { return r.Base == base })
	if i < 0 {
		var known []string
		for _, r := range all {
			known = append(known, r.Base)
		}
		return Recipe{}, fmt.Errorf("unknown recipe %q (known: %s)", base, strings.Join(known, ", "))
	}
	return all[i], nil
}

// config is that of the recipe's model.
func (r Recipe) config() arch.Config {
	return arch.Config{
		Arch: r.Architecture, Layers: r.Layers, Hidden: r.Hidden, FFN: r.FFN, Heads: r.Heads, KVHeads: r.KVHeads, HeadDim: r.HeadDim,
		Vocab: r.Vocab, Context: r.Context, RopeBase: r.RopeBase, Eps: r.Eps, TiedHead: true,
	}
}

// shape returns that of the recipe's model, whose architecture has the table.
func (r Recipe) shape(table *arch.Table) (Shape, error) { return r.shapeOf(table, r.config()) }

// shapeOf returns that of a model of the configuration, with the recipe's forms, if
// memory has room for its run.
func (r Recipe) shapeOf(table *arch.Table, c arch.Config) (s Shape, err error) {
	f, err := r.footprint(c, table)
	if err != nil {
		return s, err
	}
	if err := f.fits(sysinfo.Available()); err != nil {
		return s, err
	}
	s = Shape{Table: table, Config: c, Length: r.Context}
	if s.Form, err = train.LookupForm(r.Form); err != nil {
		return s, err
	}
	if s.Embedding, err = train.LookupForm(r.Embedding); err != nil {
		return s, err
	}
	return s, s.check()
}

// Check refuses numbers that make no run; those of the shape apart.
func (r Recipe) Check() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case r.Batch < 1 || r.Pass < 1 || r.Batch%r.Pass != 0:
		return fmt.Errorf("a batch of %d windows cannot be made of passes of %d", r.Batch, r.Pass)
	case r.Steps < 1 || r.Warmup < 0 || r.Warmup > r.Steps:
		return fmt.Errorf("%d steps with a warm-up of %d make no run", r.Steps, r.Warmup)
	case !positive(r.Rate) || !(r.LastRate >= 0 && r.LastRate <= 1):
		return fmt.Errorf("a learning rate of %v, in the end %v of that, makes no run", r.Rate, r.LastRate)
	case !(r.Decay >= 0 && r.Decay*r.Rate < 1) || !(r.Clip >= 0):
		return fmt.Errorf("a weight decay of %v and gradients up to %v make no run", r.Decay, r.Clip)
	case !(r.Distil >= 0 && r.Distil <= 1) || r.Distil > 0 && r.From == "":
		return fmt.Errorf("a share of %v of another model in the loss needs one to start from, and is at most 1", r.Distil)
	case r.Context > math.MaxInt32/r.Batch || r.Steps > math.MaxInt32/r.Batch:
		return fmt.Errorf("%d steps of %d windows of %d tokens are too many", r.Steps, r.Batch, r.Context)
	}
	return nil
}

// usualWarmup is the share of a run's steps that its warm-up has at most, one in so many.
const usualWarmup = 10

// FitWarmup shortens the warm-up to a tenth of the steps, where it is longer: for a run
// whose steps are given, and its warm-up is not.
func (r *Recipe) FitWarmup() { r.Warmup = min(r.Warmup, max(r.Steps, 0)/usualWarmup) }

// schedule is the learning rate of each step.
func (r Recipe) schedule() train.Schedule {
	return train.WarmupCosine(r.Rate, r.Rate*r.LastRate, r.Warmup, r.Steps)
}

// Tokens returns how many a whole run sees.
func (r Recipe) Tokens() int { return r.Steps * r.Batch * r.Context }

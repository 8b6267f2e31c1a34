package lm

import (
	"fmt"

	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/train"
)

// A Trial is a run of a comparison.
type Trial struct {
	Recipe Recipe
	Line   string // what it is a point of: "ternary", "ternary from float"
	Start  string // Recipe.Name of the trial whose model it starts with; "": random weights
}

// A Comparison says what is compared, all else being equal: one architecture, text,
// vocabulary and number of tokens.
type Comparison struct {
	Base   Recipe // sizes and steps; forms, width and seed are the trials'
	Widths []int  // of the residual stream; the feed-forward network is three times as wide
	Seeds  int
	// Tuned is how many steps the trials take that start from a float model; 0: there
	// are none.
	Tuned int
}

// forms are what weights are compared as. The embedding of rounded ones is q8_0.
var comparedForms = []struct {
	line            string
	form, embedding *train.Form
}{
	{"float", train.Float, train.Float},
	{"ternary", train.B158, train.EightBit},
	{"1-bit", train.OneBit, train.EightBit},
}

// headDim is the width of a compared model's heads.
const headDim = 64

// Trials returns the runs, a float one before those that start with it.
func (c Comparison) Trials() (out []Trial) {
	for seed := 1; seed <= c.Seeds; seed++ {
		for _, width := range c.Widths {
			for _, f := range comparedForms {
				out = append(out, c.trial(f.line, f.form, f.embedding, width, seed))
			}
			if c.Tuned > 0 && width == c.Widths[len(c.Widths)-1] {
				out = append(out, c.tuned(out[len(out)-len(comparedForms)], width, seed)...)
			}
		}
	}
	return out
}

func (c Comparison) trial(line string, form, embedding *train.Form, width, seed int) Trial {
	r := c.Base
	r.Name = fmt.Sprintf("%s-%d-%d", line, width, seed)
	r.Hidden, r.FFN, r.HeadDim, r.Seed = width, 3*width, headDim, uint64(seed)
	r.Heads, r.KVHeads = width/headDim, width/headDim
	r.Form, r.Embedding = form.Name, embedding.Name
	return Trial{Recipe: r, Line: line}
}

// tuned are the trials that start with a float one.
func (c Comparison) tuned(float Trial, width, seed int) (out []Trial) {
	for _, f := range comparedForms[1:] {
		for _, share := range []float64{0, 0.5} {
			line := f.line + " from float"
			if share > 0 {
				line += ", distilled"
			}
			t := c.trial(line, f.form, f.embedding, width, seed)
			t.Recipe.Steps, t.Recipe.Warmup, t.Recipe.Rate = c.Tuned, c.Tuned/10, c.Base.Rate/3
			t.Recipe.Distil = share
			t.Start = float.Recipe.Name
			out = append(out, t)
		}
	}
	return out
}

// Bytes returns the size of the recipe's tensors in a file, floats as fp16.
func (r Recipe) Bytes() (total int, err error) {
	table, err := arch.Lookup(r.Architecture)
	if err != nil {
		return 0, err
	}
	s, err := r.shape(table)
	if err != nil {
		return 0, err
	}
	for _, spec := range table.Tensors(s.Config) {
		if form := s.formOf(spec.Role); form != nil {
			if spec.Type = form.Type; spec.Type == nil {
				spec.Type = formats.F16
			}
		}
		n, err := spec.Bytes()
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/models/perplexity"
)

func (r *perplexityResult) print(w io.Writer) error {
	e := &r.estimate
	ppl, stdErr := e.PPL()
	t := cli.NewTable(w)
	t.Row("protocol", r.protocol.String())
	t.Row("variants", strings.Join(r.variants, ", "))
	t.Row("scored", fmt.Sprintf("%s in %d of %s; the text has %s", count.Of(e.Tokens, "token"), e.Windows, count.Of(r.planned, "window"), count.Of(r.tokens, "token")))
	if r.referenceName != "" {
		r.compared(t)
	}
	if r.memory != nil {
		t.Row("memory", r.memory)
	}
	t.Row("speed", speed(e.Windows*r.protocol.Window(), r.duration))
	t.Row("ppl", cli.Fixed(4, ppl)+" ± "+cli.Fixed(5, stdErr))
	if r.random {
		t.Row("note", "the weights are random: the perplexity means nothing, only its distance from a reference does")
	}
	return t.Flush()
}

// compared prints how far the model is from the reference.
func (r *perplexityResult) compared(t cli.Table) {
	e := &r.estimate
	four, six := plusMinus(4), plusMinus(6)
	percent := func(m perplexity.Mean) string { return plusMinus(3)(100*m.Value(), 100*m.StdErr()) + " %" }
	q := e.KLDQuantiles(quantiles[:]...)
	t.Row("reference", r.referenceName)
	t.Row("ppl(ref)", four(e.ReferencePPL()))
	t.Row("ppl - ppl(ref)", four(e.PPLDiff()))
	t.Row("ppl/ppl(ref)", six(e.PPLRatio()))
	t.Row("kld", six(e.KLD.Value(), e.KLD.StdErr())+" nats from the reference")
	var told []string
	for i, name := range []string{"median", "90 %", "95 %", "99 %", "99.9 %", "at most"} {
		told = append(told, name+" "+cli.Fixed(6, q[i]))
	}
	t.Row("kld of tokens", strings.Join(told, ", "))
	t.Row("Δp", percent(e.ProbDiff)+fmt.Sprintf(", root mean square %.3f %%", 100*e.RMSProbDiff()))
	t.Row("same top", percent(e.SameTop))
	t.Row("top 5", percent(e.Top5)+" in common")
}

// quantiles are the shares of tokens whose largest divergence is printed.
var quantiles = [...]float64{0.5, 0.9, 0.95, 0.99, 0.999, 1}

// plusMinus prints a value and its standard error to a number of digits.
func plusMinus(digits int) func(value, stdErr float64) string {
	return func(value, stdErr float64) string {
		return cli.Fixed(digits, value) + " ± " + cli.Fixed(digits, stdErr)
	}
}

// A perplexityDocument is what perplexity prints with --json. Errors are
// standard errors.
type perplexityDocument struct {
	Model      string               `json:"model"`
	Text       string               `json:"text"`
	TextTokens int                  `json:"text_tokens"`
	Variants   []string             `json:"variants"`
	Random     bool                 `json:"random_weights"` // the perplexity means nothing
	Protocol   protocolDocument     `json:"protocol"`
	Windows    int                  `json:"windows"`
	Planned    int                  `json:"windows_planned"` // more than windows if it was interrupted
	Tokens     int                  `json:"scored_tokens"`
	PPL        number               `json:"ppl"`
	PPLError   number               `json:"ppl_error"`
	NLL        measured             `json:"nll"` // nats per token
	Reference  *divergencesDocument `json:"reference,omitempty"`
	Seconds    float64              `json:"seconds"`
	Memory     *memoryDocument      `json:"memory,omitempty"` // of the engine of CPUs; the peak is the reference's too
}

type protocolDocument struct {
	Name    string `json:"name"`
	Context int    `json:"context"`
	Stride  int    `json:"stride"`
	Window  int    `json:"window"`
	Scored  int    `json:"scored_per_window"`
	BOS     int    `json:"bos"` // -1: none
}

type divergencesDocument struct {
	Name      string             `json:"name"` // of the file, or of the engine
	PPL       measured           `json:"ppl"`
	PPLDiff   measured           `json:"ppl_difference"`
	PPLRatio  measured           `json:"ppl_ratio"`
	NLLDiff   measured           `json:"nll_difference"`
	KLD       measured           `json:"kld"`
	Quantiles []quantileDocument `json:"kld_quantiles"`
	ProbDiff  measured           `json:"probability_difference"`
	ProbRMS   float64            `json:"probability_difference_rms"`
	SameTop   measured           `json:"same_top"`
	Top5      measured           `json:"top5"`
}

type quantileDocument struct {
	Share float64 `json:"share"` // of the tokens; 0.5 is the median
	KLD   float64 `json:"kld"`   // that they do not exceed
}

type measured struct {
	Mean  number `json:"mean"`
	Error number `json:"error"`
}

// A number is null in JSON where that has none, as for the perplexity of a model
// that rules out what came.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsInf(x, 0) || math.IsNaN(x) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func pair(mean, stdErr float64) measured { return measured{number(mean), number(stdErr)} }

func mean(m perplexity.Mean) measured { return pair(m.Value(), m.StdErr()) }

func (r *perplexityResult) document() perplexityDocument {
	p, e := r.protocol, &r.estimate
	d := perplexityDocument{
		Model: r.model, Text: r.text, TextTokens: r.tokens, Variants: r.variants, Random: r.random,
		Protocol: protocolDocument{p.String(), p.Context, p.Stride, p.Window(), p.Scored(), p.BOS},
		Windows:  e.Windows, Planned: r.planned, Tokens: e.Tokens, NLL: mean(e.NLL), Seconds: r.duration.Seconds(), Memory: r.memory,
	}
	ppl := pair(e.PPL())
	d.PPL, d.PPLError = ppl.Mean, ppl.Error
	if r.referenceName != "" {
		d.Reference = r.divergences()
	}
	return d
}

func (r *perplexityResult) divergences() *divergencesDocument {
	e := &r.estimate
	d := &divergencesDocument{
		Name: r.referenceName, NLLDiff: mean(e.NLLDiff), KLD: mean(e.KLD),
		ProbDiff: mean(e.ProbDiff), ProbRMS: e.RMSProbDiff(), SameTop: mean(e.SameTop), Top5: mean(e.Top5),
	}
	d.PPL, d.PPLDiff, d.PPLRatio = pair(e.ReferencePPL()), pair(e.PPLDiff()), pair(e.PPLRatio())
	for i, kld := range e.KLDQuantiles(quantiles[:]...) {
		d.Quantiles = append(d.Quantiles, quantileDocument{quantiles[i], kld})
	}
	return d
}

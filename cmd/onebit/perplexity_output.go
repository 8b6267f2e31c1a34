package main

import (
	"fmt"
	"io"
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
	q := e.KLDQuantiles(perplexity.Shares[:]...)
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

// plusMinus prints a value and its standard error to a number of digits.
func plusMinus(digits int) func(value, stdErr float64) string {
	return func(value, stdErr float64) string {
		return cli.Fixed(digits, value) + " ± " + cli.Fixed(digits, stdErr)
	}
}

// A perplexityDocument is what perplexity prints with --json. Errors are
// standard errors.
type perplexityDocument struct {
	Model      string                      `json:"model"`
	Text       string                      `json:"text"`
	TextTokens int                         `json:"text_tokens"`
	Variants   []string                    `json:"variants"`
	Random     bool                        `json:"random_weights"` // the perplexity means nothing
	Protocol   perplexity.ProtocolDocument `json:"protocol"`
	Windows    int                         `json:"windows"`
	Planned    int                         `json:"windows_planned"` // more than windows if it was interrupted
	Tokens     int                         `json:"scored_tokens"`
	PPL        perplexity.Number           `json:"ppl"`
	PPLError   perplexity.Number           `json:"ppl_error"`
	NLL        perplexity.Measured         `json:"nll"` // nats per token
	Reference  *perplexity.Comparison      `json:"reference,omitempty"`
	Seconds    float64                     `json:"seconds"`
	Memory     *memoryDocument             `json:"memory,omitempty"` // of the engine of CPUs; the peak is the reference's too
}

func (r *perplexityResult) document() perplexityDocument {
	e := &r.estimate
	d := perplexityDocument{
		Model: r.model, Text: r.text, TextTokens: r.tokens, Variants: r.variants, Random: r.random,
		Protocol: r.protocol.Document(),
		Windows:  e.Windows, Planned: r.planned, Tokens: e.Tokens, NLL: e.NLL.Measured(), Seconds: r.duration.Seconds(), Memory: r.memory,
	}
	ppl := perplexity.MeasuredOf(e.PPL())
	d.PPL, d.PPLError = ppl.Mean, ppl.Error
	if r.referenceName != "" {
		d.Reference = e.Comparison(r.referenceName)
	}
	return d
}

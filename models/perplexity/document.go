package perplexity

import (
	"encoding/json"
	"math"
)

// A Number is null in JSON where that has none, as for the perplexity of a model that
// rules out what came.
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsInf(x, 0) || math.IsNaN(x) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// A Measured is a mean and its standard error, for JSON.
type Measured struct {
	Mean  Number `json:"mean"`
	Error Number `json:"error"`
}

// MeasuredOf takes what the methods of an [Estimate] return.
func MeasuredOf(mean, stdErr float64) Measured { return Measured{Number(mean), Number(stdErr)} }

// Measured returns the mean for JSON.
func (m Mean) Measured() Measured { return MeasuredOf(m.Value(), m.StdErr()) }

// A ProtocolDocument is a protocol, for JSON.
type ProtocolDocument struct {
	Name    string `json:"name"`
	Context int    `json:"context"`
	Stride  int    `json:"stride"`
	Window  int    `json:"window"`
	Scored  int    `json:"scored_per_window"`
	BOS     int    `json:"bos"` // -1: none
}

// Document returns the protocol for JSON.
func (p Protocol) Document() ProtocolDocument {
	return ProtocolDocument{p.String(), p.Context, p.Stride, p.Window(), p.Scored(), p.BOS}
}

// A Comparison is what an estimate says of a model beside its reference, for JSON.
type Comparison struct {
	Name      string     `json:"name"` // of the reference
	PPL       Measured   `json:"ppl"`
	PPLDiff   Measured   `json:"ppl_difference"`
	PPLRatio  Measured   `json:"ppl_ratio"`
	NLLDiff   Measured   `json:"nll_difference"`
	KLD       Measured   `json:"kld"`
	Quantiles []Quantile `json:"kld_quantiles"`
	ProbDiff  Measured   `json:"probability_difference"`
	ProbRMS   float64    `json:"probability_difference_rms"`
	SameTop   Measured   `json:"same_top"`
	Top5      Measured   `json:"top5"`
}

// A Quantile is the divergence that a share of the tokens does not exceed.
type Quantile struct {
	Share float64 `json:"share"` // 0.5 is the median
	KLD   float64 `json:"kld"`
}

// Shares are those of the quantiles that a comparison has.
var Shares = [...]float64{0.5, 0.9, 0.95, 0.99, 0.999, 1}

// Comparison compares with a reference of that name.
func (e *Estimate) Comparison(name string) *Comparison {
	c := &Comparison{
		Name: name, PPL: MeasuredOf(e.ReferencePPL()), PPLDiff: MeasuredOf(e.PPLDiff()), PPLRatio: MeasuredOf(e.PPLRatio()), NLLDiff: e.NLLDiff.Measured(), KLD: e.KLD.Measured(),
		ProbDiff: e.ProbDiff.Measured(), ProbRMS: e.RMSProbDiff(), SameTop: e.SameTop.Measured(), Top5: e.Top5.Measured(),
	}
	for i, kld := range e.KLDQuantiles(Shares[:]...) {
		c.Quantiles = append(c.Quantiles, Quantile{Shares[i], kld})
	}
	return c
}

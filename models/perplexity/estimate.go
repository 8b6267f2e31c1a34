package perplexity

import (
	"fmt"
	"math"
	"slices"

	"github.com/montanaflynn/stats"

	"onebit/internal/deviation"
	"onebit/models"
)

// A Mean is a mean of values so far, with its standard error.
type Mean struct {
	n            int
	sum, squares float64 // of the values, and of their deviations (Welford 1962)
}

func (m *Mean) add(x float64) {
	d := x - m.Value()
	m.n++
	m.sum += x
	m.squares += d * (x - m.Value())
}

// Value returns the mean, or 0 of no values.
func (m Mean) Value() float64 { return m.sum / float64(max(m.n, 1)) }

// StdErr returns the standard error of the mean, or 0 of less than two values.
func (m Mean) StdErr() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(m.squares / float64(m.n) / float64(m.n-1))
}

// exp returns the exponential of the mean and its standard error.
func (m Mean) exp() (value, stdErr float64) {
	value = math.Exp(m.Value())
	return value, value * m.StdErr()
}

// An Estimate is what the tokens so far say.
type Estimate struct {
	Windows int
	Tokens  int  // scored
	NLL     Mean // negative log-likelihood per token, in nats

	// These are of a comparison only.
	ReferenceNLL Mean // the reference's NLL
	NLLDiff      Mean // NLL less the reference's: the logarithm of the ratio of perplexities
	KLD          Mean // divergence of the reference's distribution from the session's, in nats
	ProbDiff     Mean // probability of the token less the one that the reference gave it
	ProbDiffSq   Mean // its square
	SameTop      Mean // share of tokens for which both have the same likeliest one
	Top5         Mean // share of the reference's five likeliest tokens that are among the session's

	klds []float64 // of each token, in order
}

// PPL returns the perplexity and its standard error.
func (e Estimate) PPL() (ppl, stdErr float64) { return e.NLL.exp() }

// ReferencePPL returns the reference's perplexity and its standard error.
func (e Estimate) ReferencePPL() (ppl, stdErr float64) { return e.ReferenceNLL.exp() }

// PPLRatio returns the perplexity over the reference's and its standard error,
// which is that of the paired differences: much less than both have alone.
func (e Estimate) PPLRatio() (ratio, stdErr float64) { return e.NLLDiff.exp() }

// PPLDiff returns the perplexity less the reference's and its standard error.
// The covariance of the two comes from the variance of their difference.
func (e Estimate) PPLDiff() (diff, stdErr float64) {
	q, qErr := e.PPL()
	p, pErr := e.ReferencePPL()
	a, b, d := e.NLL.StdErr(), e.ReferenceNLL.StdErr(), e.NLLDiff.StdErr()
	variance := qErr*qErr + pErr*pErr - q*p*(a*a+b*b-d*d)
	return q - p, math.Sqrt(max(0, variance))
}

// RMSProbDiff returns the root of the mean square of ProbDiff.
func (e Estimate) RMSProbDiff() float64 { return math.Sqrt(e.ProbDiffSq.Value()) }

// KLDQuantiles returns the divergences that these shares of the tokens do not
// exceed: 0.5 is the median, 1 the largest. Between two tokens it interpolates.
func (e Estimate) KLDQuantiles(shares ...float64) []float64 {
	out := make([]float64, len(shares))
	if len(e.klds) == 0 {
		return out
	}
	for i, share := range shares {
		var err error
		if out[i], err = stats.Percentile(e.klds, 100*share); err != nil {
			out[i] = slices.Min(e.klds) // the library has none at 0
		}
	}
	return out
}

// Add scores a token by the logits for it and, unless it is nil, by those of a
// reference. It is for callers that make both in their own way; Windows stays.
func (e *Estimate) Add(logits, reference []float32, token int) error {
	return e.add(logits, reference, nil, token)
}

// add is Add; with saved, the reference comes from that file: its values are
// logarithms of probabilities, and those at its floor stand for nothing.
func (e *Estimate) add(logits, reference []float32, saved *LogitReader, token int) error {
	if token < 0 || token >= len(logits) {
		return fmt.Errorf("token %d is not in the model's vocabulary of %d", token, len(logits))
	}
	if reference != nil && len(reference) != len(logits) {
		return fmt.Errorf("the reference has %d tokens and the model %d", len(reference), len(logits))
	}
	q := deviation.Predict(logits)
	nll := q.NLL(token)
	if !finite(nll) {
		return models.ErrNotFinite
	}
	if reference != nil {
		p := deviation.Predict(reference)
		if saved != nil {
			if err := saved.checkSum(p.Norm); err != nil {
				return err
			}
			p.Norm, p.Floor = 0, savedFloor
		}
		if err := e.compare(p, q, token); err != nil {
			return err
		}
	}
	e.NLL.add(nll)
	e.Tokens++
	return nil
}

func (e *Estimate) compare(p, q deviation.Prediction, token int) error {
	kld := p.Divergence(q)
	nll, reference := q.NLL(token), p.NLL(token)
	if !finite(kld) || !finite(reference) {
		return models.ErrNotFinite
	}
	e.klds = append(e.klds, kld)
	e.KLD.add(kld)
	e.ReferenceNLL.add(reference)
	e.NLLDiff.add(nll - reference)
	diff := math.Exp(-nll) - math.Exp(-reference)
	e.ProbDiff.add(diff)
	e.ProbDiffSq.add(diff * diff)
	same := 0.0
	tops, others := likeliest(p.Z), likeliest(q.Z)
	if tops[0] == others[0] {
		same = 1
	}
	e.SameTop.add(same)
	e.Top5.add(tops.overlap(others))
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// A ranking is the likeliest tokens, the likeliest first, of equals the one
// with the lower id. Where a vocabulary has fewer, -1 stands for none.
type ranking [5]int

func likeliest(z []float32) ranking {
	r := ranking{-1, -1, -1, -1, -1}
	for id, x := range z {
		at := len(r)
		for at > 0 && (r[at-1] < 0 || x > z[r[at-1]]) {
			at--
		}
		if at < len(r) {
			copy(r[at+1:], r[at:])
			r[at] = id
		}
	}
	return r
}

// overlap returns the share of r's tokens that are among o's.
func (r ranking) overlap(o ranking) float64 {
	var all, both int
	for _, id := range r {
		if id < 0 {
			break
		}
		all++
		if slices.Contains(o[:], id) {
			both++
		}
	}
	return float64(both) / float64(all)
}

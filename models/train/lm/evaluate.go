package lm

import (
	"context"
	"encoding/json"
	"math"

	"onebit/internal/deviation"
)

// A Score is how well a text is predicted.
type Score struct {
	Nats   float64 // -Σ ln p
	Tokens int     // predicted
	Bytes  float64 // of their text
}

// BitsPerByte is the size to which the predictions would compress the text.
func (s Score) BitsPerByte() float64 { return s.Nats / math.Ln2 / s.Bytes }

// MarshalJSON gives what is said of a score.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		BitsPerByte float64 `json:"bits_per_byte"`
		Perplexity  float64 `json:"perplexity"`
		Tokens      int     `json:"tokens"`
	}{s.BitsPerByte(), s.Perplexity(), s.Tokens})
}

// Perplexity is that of a token.
func (s Score) Perplexity() float64 { return math.Exp(s.Nats / float64(s.Tokens)) }

// A view is a window of which tokens from first on are predicted.
type view struct{ start, first int }

// views cover n tokens: each but the first is predicted once, with half a window
// or more before it from there on.
//
//	├────────────┤
//	 ████████████      the first window: all but one
//	      ├────────────┤
//	             ██████ half of the next
func views(n, length int) []view {
	out := []view{{0, 1}}
	for end := length; end < n; {
		start := min(end-length/2, n-length)
		out = append(out, view{start, end - start})
		end = start + length
	}
	return out
}

// evaluate predicts the tokens of some views.
func (m *Model) evaluate(ctx context.Context, tokens []int32, some []view, bytesPerToken float64) (Score, error) {
	var s Score
	vocab := m.Config.Vocab
	for _, v := range some {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		window := tokens[v.start : v.start+m.shape.Length]
		logits := m.Logits(window)
		losses := make([]float64, len(window))
		m.build.Pool.ForEach(len(window)-v.first, func(i int) {
			at := v.first + i
			losses[at] = deviation.Predict(logits[(at-1)*vocab : at*vocab]).NLL(int(window[at]))
		})
		for _, loss := range losses[v.first:] {
			s.Nats += loss
			s.Tokens++
		}
	}
	s.Bytes = bytesPerToken * float64(s.Tokens)
	return s, nil
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"onebit/internal/sysinfo"
	"onebit/models"
)

// A headChoice is what the output head is, or would be in another format.
type headChoice struct {
	Format         string  `json:"format"`
	Bytes          int     `json:"bytes"`
	TokenSeconds   float64 `json:"token_seconds"`
	ConvertSeconds float64 `json:"convert_seconds"`
	KLD            float64 `json:"kld"`
	NMSE           float64 `json:"nmse"`
}

// Trying heads takes about as long as headTokens, and is left out where that is more
// than headTime at the end of a text.
const (
	headTokens    = 12
	headTokensMin = 8
	headTime      = time.Second
)

// tryHeads measures what other heads would give, on a text that is complete: the
// file's first. There are none where that is of no use, or takes too long.
func (g *generation) tryHeads(ctx context.Context) ([]models.HeadTrial, error) {
	if g.decoded() < headTokensMin || g.decodeDuration/time.Duration(g.decoded())*headTokens > headTime || len(g.HeadCandidates()) == 0 {
		return nil, nil
	}
	text := slices.Clone(g.prompt)
	for _, t := range g.tokens {
		text = append(text, t.ID)
	}
	return g.TryHeads(ctx, text)
}

// headChoices are trials for a document.
func headChoices(trials []models.HeadTrial) (out []headChoice) {
	for _, t := range trials {
		out = append(out, headChoice{t.Format.Name, t.Bytes, t.Token.Seconds(), t.Convert.Seconds(), t.KLD, t.NMSE})
	}
	return out
}

// headAdvice is a further line for each head that is likely to make tokens faster.
func headAdvice(trials []models.HeadTrial) string {
	const worth = 1.03
	var b strings.Builder
	for i, t := range trials {
		if own := trials[0]; i > 0 && float64(own.Token) >= worth*float64(t.Token) {
			fmt.Fprintf(&b, "\n--head %s: about %.1f times as fast a token (the head in %s has %.0f%% of its time), divergence %.2g, %s, %.1f s longer to open",
				t.Format.Name, float64(own.Token)/float64(t.Token), own.Format.Name, 100*float64(own.Time)/float64(own.Token), t.KLD,
				sysinfo.Bytes(t.Bytes), t.Convert.Seconds())
		}
	}
	return b.String()
}

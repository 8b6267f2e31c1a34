package verify

import (
	"onebit/models/perplexity"
	"onebit/models/tokenizer"
)

// A Document is a verdict, for JSON.
type Document struct {
	Verdict      string            `json:"verdict"` // right or wrong
	Sentence     string            `json:"sentence"`
	From         string            `json:"from"`
	Positions    int               `json:"positions"`
	Divergence   perplexity.Number `json:"divergence"` // nats
	Limit        perplexity.Number `json:"limit"`
	Explained    perplexity.Number `json:"explained"` // by the activation scheme that rounds most
	PPL          perplexity.Number `json:"ppl"`       // null where the answers do not say
	ReferencePPL perplexity.Number `json:"reference_ppl"`
	Cause        string            `json:"cause,omitempty"`
	Faults       []FaultDocument   `json:"faults,omitempty"` // that were tried, the nearest first
	Part         *PartDocument     `json:"part,omitempty"`   // where they part first
}

// A FaultDocument is a fault that was tried.
type FaultDocument struct {
	Name       string            `json:"name"`
	AsIf       string            `json:"as_if"`
	Divergence perplexity.Number `json:"divergence"`
}

// A PartDocument is where answers part from the reference.
type PartDocument struct {
	Text       int               `json:"text"`
	Position   int               `json:"position"`
	Token      int               `json:"token"`
	Divergence perplexity.Number `json:"divergence"`
}

// Document returns the verdict for JSON; tok names tokens.
func (v *Verdict) Document(tok *tokenizer.Tokenizer) Document {
	d := Document{
		Verdict: "right", Sentence: v.Sentence(tok), From: v.From, Positions: v.Positions, Divergence: perplexity.Number(v.Divergence), Limit: perplexity.Number(v.Limit),
		Explained: perplexity.Number(v.Explained), PPL: perplexity.Number(v.PPL), ReferencePPL: perplexity.Number(v.ReferencePPL),
	}
	if v.Right {
		return d
	}
	d.Verdict = "wrong"
	d.Part = &PartDocument{v.Parts.Text, v.Parts.Position, v.Parts.Token, perplexity.Number(v.Parts.Divergence)}
	if v.Cause.Variation != nil {
		d.Cause = v.Cause.Name
	}
	for _, near := range v.Faults {
		d.Faults = append(d.Faults, FaultDocument{near.Name, near.AsIf, perplexity.Number(near.Divergence)})
	}
	return d
}

package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/internal/count"
	"onebit/internal/deviation"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/source"
	"onebit/models/tokenizer"
)

// A Reference is the model that answers are judged by, on an engine that is right.
type Reference struct {
	Open   func() (source.Source, error)
	Engine engine.Opener
	// Progress, unless it is nil, is told what is computed next.
	Progress func(what string)
}

// A Near is how far answers are from a variation.
type Near struct {
	*Variation
	Divergence float64 // of the answers from it, the mean
}

// A Verdict is what was found.
type Verdict struct {
	From       string
	Positions  int
	Right      bool
	Divergence float64 // of the answers from the reference, the mean in nats
	Limit      float64 // up to which it is right
	Explained  float64 // the most that a scheme of activations explains
	Scheme     Near    // the one that the answers are nearest to; no Variation if none applies
	// PPL and ReferencePPL are the perplexities of what came, and NaN where the answers
	// do not say how likely that was.
	PPL, ReferencePPL float64

	// Of answers that are wrong:
	Faults []Near // that were tried, the nearest first
	Cause  Near   // no Variation if none explains it
	Alike  []Near // that the answers can't tell from Cause
	Parts  Place  // where they part first
}

// A Place is a position of a text.
type Place struct {
	Text, Position int
	Token          int // that was taken in last
	Divergence     float64
}

// What decides; see the package comment.
const (
	limitFactor  = 4
	limitFloor   = 1e-4
	causeFactor  = 10
	partFactor   = 10
	alikeShare   = 0.01
	leastJudged  = 4
	mostRowBytes = 1 << 30
	mostSum      = 1.05 // of saved probabilities, which round up the least likely tokens
)

// Judge compares answers with the reference, and if they are wrong looks for why.
func (r *Reference) Judge(ctx context.Context, a *Answers) (*Verdict, error) {
	if n := a.positions(); n < leastJudged {
		return nil, fmt.Errorf("%w: %s, and %d are the least", errNoAnswers, count.Of(n, "position"), leastJudged)
	}
	m, err := r.model(a)
	if err != nil {
		return nil, err
	}
	v := &Verdict{From: a.From, Positions: a.positions()}
	own := &Variation{Name: "reference", AsIf: "it were the reference"}
	right, each, err := r.rows(ctx, m, own, a)
	if err != nil {
		return nil, err
	}
	v.Divergence = mean(each)
	v.perplexities(a, right)
	for _, scheme := range Variations {
		if scheme.Scheme == "" || !scheme.applies(m) {
			continue
		}
		rows, distances, err := r.rows(ctx, m, &scheme, a)
		if err != nil {
			return nil, err
		}
		v.Explained = max(v.Explained, between(right, rows))
		if d := mean(distances); v.Scheme.Variation == nil || d < v.Scheme.Divergence {
			v.Scheme = Near{&scheme, d}
		}
	}
	v.Limit = limitFactor*v.Explained + limitFloor
	if v.Right = v.Divergence <= v.Limit; v.Right {
		return v, nil
	}
	v.Parts = firstPart(a, each, partFactor*v.Limit)
	return v, r.causes(ctx, m, a, v)
}

// model is what variations ask.
func (r *Reference) model(a *Answers) (*model, error) {
	src, err := r.Open()
	if err != nil {
		return nil, err
	}
	defer src.Close()
	table, config, err := src.Config()
	if err != nil {
		return nil, err
	}
	m := &model{Config: config, table: table, types: make(map[*formats.Type]bool)}
	for _, t := range src.Tensors() {
		m.names = append(m.names, t.Name)
		if strings.HasPrefix(t.Name, "blk.") && t.Type != nil {
			m.types[t.Type] = true
		}
	}
	if tok, err := src.Tokenizer(); err == nil && tok.AddBOS() {
		m.bos = !slices.ContainsFunc(a.Texts, func(t Text) bool { return t.Tokens[0] != tok.BOS() })
	}
	if need := a.positions() * config.Vocab * 4; need > mostRowBytes {
		return nil, fmt.Errorf("%d positions of a vocabulary of %d take %d MiB: ask for fewer", a.positions(), config.Vocab, need>>20)
	}
	for i, rows := range a.Rows {
		for _, row := range rows {
			if sum := row.sum(); sum > mostSum {
				return nil, fmt.Errorf("the answers are no distribution: the probabilities of one sum to %.3g", sum)
			}
			if row.IDs == nil && len(row.LogProbs) != config.Vocab {
				return nil, fmt.Errorf("the answers are of a vocabulary of %d tokens, and the model has %d", len(row.LogProbs), config.Vocab)
			}
			if slices.ContainsFunc(row.IDs, func(id int) bool { return id < 0 || id >= config.Vocab }) {
				return nil, fmt.Errorf("the answers have tokens that are none of the model's %d", config.Vocab)
			}
		}
		if t := a.Texts[i]; slices.ContainsFunc(t.Tokens, func(id int) bool { return id < 0 || id >= config.Vocab }) {
			return nil, fmt.Errorf("the text has tokens that are none of the model's %d", config.Vocab)
		}
	}
	return m, nil
}

// rows runs a variation through all texts: its logits at each position that was asked
// for, and the divergence of the answer there. A position that it lacks has neither.
func (r *Reference) rows(ctx context.Context, m *model, v *Variation, a *Answers) (logits [][]float32, each []float64, err error) {
	if r.Progress != nil {
		r.Progress(v.Name)
	}
	src, err := r.Open()
	if err != nil {
		return nil, nil, err
	}
	loaded, err := models.Load(ctx, src, models.Options{Engine: altered{r.Engine, v, m}})
	if err != nil {
		return nil, nil, err
	}
	defer loaded.Close()
	longest := 0
	for _, t := range a.Texts {
		longest = max(longest, len(t.Tokens))
	}
	if longest > m.Context {
		return nil, nil, fmt.Errorf("a text of %d tokens does not fit in the model's context of %d", longest, m.Context)
	}
	session, err := loaded.NewSession(models.SessionOptions{Context: longest, Cache: formats.F32})
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	for i, t := range a.Texts {
		at, err := positions(ctx, session, v, t)
		if err != nil {
			return nil, nil, err
		}
		for k, row := range a.Rows[i] {
			z := at[t.Asked[k]]
			logits = append(logits, z)
			if d := math.NaN(); z == nil {
				each = append(each, d)
			} else {
				each = append(each, row.divergence(z))
			}
		}
	}
	return logits, each, nil
}

// positions are the logits of a text at each position that was asked for.
func positions(ctx context.Context, session *models.Session, v *Variation, t Text) (map[int][]float32, error) {
	tokens, shorter := v.text(t)
	last := slices.Max(t.Asked) - shorter
	at := make(map[int][]float32)
	if err := session.Truncate(0); err != nil {
		return nil, err
	}
	i := shorter
	for z, err := range session.Logits(tokens[:last+1]) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if slices.Contains(t.Asked, i) {
			at[i] = slices.Clone(z)
		}
		i++
	}
	return at, nil
}

// mean is that of the numbers; those that are none are left out.
func mean(all []float64) float64 {
	var sum float64
	n := 0
	for _, x := range all {
		if !math.IsNaN(x) {
			sum += x
			n++
		}
	}
	return sum / float64(n)
}

// between is the mean divergence of one run's distributions from another's.
func between(p, q [][]float32) float64 {
	var all []float64
	for i := range p {
		all = append(all, logProbs(q[i]).divergence(p[i]))
	}
	return mean(all)
}

// perplexities are those of the tokens that followed.
func (v *Verdict) perplexities(a *Answers, reference [][]float32) {
	var own, theirs float64
	i, known := 0, true
	for k, t := range a.Texts {
		for j, at := range t.Asked {
			next := t.Tokens[at+1]
			ln, ok := a.Rows[k][j].of(next)
			known = known && ok
			theirs -= ln
			own += deviation.Predict(reference[i]).NLL(next)
			i++
		}
	}
	v.PPL, v.ReferencePPL = math.NaN(), math.Exp(own/float64(i))
	if known {
		v.PPL = math.Exp(theirs / float64(i))
	}
}

// firstPart is the first position that is further from the reference than allowed, or
// else the furthest.
func firstPart(a *Answers, each []float64, allowed float64) (found Place) {
	i := 0
	for k, t := range a.Texts {
		for _, at := range t.Asked {
			p := Place{k, at, t.Tokens[at], each[i]}
			if each[i] > allowed {
				return p
			}
			if i == 0 || p.Divergence > found.Divergence {
				found = p
			}
			i++
		}
	}
	return found
}

// causes tries the faults.
func (r *Reference) causes(ctx context.Context, m *model, a *Answers, v *Verdict) error {
	for _, fault := range Variations {
		if fault.Scheme != "" || !fault.applies(m) {
			continue
		}
		_, each, err := r.rows(ctx, m, &fault, a)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d := mean(each)
		if err != nil || math.IsNaN(d) { // weights that are read wrongly may be no numbers
			d = math.Inf(1)
		}
		v.Faults = append(v.Faults, Near{&fault, d})
	}
	slices.SortStableFunc(v.Faults, func(x, y Near) int { return cmp.Compare(x.Divergence, y.Divergence) })
	if len(v.Faults) == 0 {
		return nil
	}
	if best := v.Faults[0].Divergence; best <= v.Limit || best*causeFactor <= v.Divergence {
		v.name(best)
	}
	return nil
}

// name takes for the cause, of the faults that are as near as the nearest, the first of
// Variations: a BOS that is missing is one that attention does not see.
func (v *Verdict) name(nearest float64) {
	for _, near := range v.Faults {
		if near.Divergence <= nearest+alikeShare*math.Abs(nearest) {
			v.Alike = append(v.Alike, near)
		}
	}
	place := func(n Near) int {
		return slices.IndexFunc(Variations, func(o Variation) bool { return o.Name == n.Name })
	}
	slices.SortStableFunc(v.Alike, func(a, b Near) int { return place(a) - place(b) })
	v.Cause, v.Alike = v.Alike[0], v.Alike[1:]
}

// Sentence says what was found, for people. The tokenizer shows where they part; nil:
// by its number.
func (v *Verdict) Sentence(tok *tokenizer.Tokenizer) string {
	said := fmt.Sprintf("its divergence from the reference is %.2g nats over %s, and up to %.2g is rounding", v.Divergence, count.Of(v.Positions, "position"), v.Limit)
	if !math.IsNaN(v.PPL) {
		said += fmt.Sprintf("; perplexity %.4g, the reference's %.4g", v.PPL, v.ReferencePPL)
	}
	if v.Right {
		if v.Scheme.Variation != nil && v.Scheme.Divergence < v.Divergence/2 {
			said += fmt.Sprintf("; nearest (%.2g) if %s", v.Scheme.Divergence, v.Scheme.AsIf)
		}
		return "right: " + said + "."
	}
	where := fmt.Sprint(v.Parts.Token)
	if tok != nil {
		where = fmt.Sprintf("%q", tok.Token(v.Parts.Token))
	}
	said += fmt.Sprintf(". They part first at position %d of text %d, after token %s, by %.2g", v.Parts.Position, v.Parts.Text+1, where, v.Parts.Divergence)
	switch {
	case v.Cause.Variation != nil:
		said += fmt.Sprintf(". It is as if %s: the divergence from that is %.2g", v.Cause.AsIf, v.Cause.Divergence)
		for _, near := range v.Alike {
			said += ", and the same if " + near.AsIf
		}
	case len(v.Faults) > 0:
		said += fmt.Sprintf(". None of %s that were tried explains it; the nearest is %s, at %.2g", count.Of(len(v.Faults), "fault"), v.Faults[0].Name, v.Faults[0].Divergence)
	}
	return "wrong: " + said + "."
}

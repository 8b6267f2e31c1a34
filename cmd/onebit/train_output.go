package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/clock"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/models/train/lm"
	"onebit/reports/training"
)

// trainProgress tells how a run goes: a line at each point of the learning curve and,
// on a terminal, one that changes between them.
type trainProgress struct {
	w        io.Writer
	terminal bool
	trainer  *lm.Trainer

	began time.Time
	first int           // step that this process began with
	spent time.Duration // on the steps before
	sum   float64
	n     int
}

func newTrainProgress(w io.Writer, t *lm.Trainer) *trainProgress {
	return &trainProgress{w: w, terminal: cli.IsTerminal(w), trainer: t}
}

func (p *trainProgress) begin() {
	t := p.trainer
	train, held := t.Tokens()
	fmt.Fprintf(p.w, "%s\n", shortDescription(t.Recipe, t.Model.Weights()))
	fmt.Fprintf(p.w, "%s to train on, %s held out, %d steps of %s\n", count.Of(train, "token"), count.Of(held, "token"), t.Recipe.Steps, count.Of(t.Recipe.Batch*t.Recipe.Context, "token"))
	if t.Step() > 0 {
		fmt.Fprintf(p.w, "goes on from step %d\n", t.Step())
	}
	p.began, p.first, p.spent = clock.Now(), t.Step(), t.Spent()
}

// Step implements lm.Watch.
func (p *trainProgress) Step(loss float64) {
	p.sum += loss
	p.n++
	if p.terminal {
		fmt.Fprintf(p.w, "\r%s\x1b[K", p.line())
	}
}

// mean is the loss since the last point.
func (p *trainProgress) mean() float64 { return p.sum / float64(max(p.n, 1)) }

// Mark implements lm.Watch.
func (p *trainProgress) Mark(point lm.Point) {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, "%s, held out %.4f bits/byte\n", p.line(), point.HeldOut)
	p.sum, p.n = 0, 0
}

// line is the state of the run.
func (p *trainProgress) line() string {
	t := p.trainer
	steps := t.Step() - p.first
	each := clock.Since(p.began) / time.Duration(max(steps, 1))
	left := (each * time.Duration(t.Recipe.Steps-t.Step())).Round(time.Second)
	perSecond := float64(steps*t.Recipe.Batch*t.Recipe.Context) / (t.Spent() - p.spent).Seconds() // of training alone
	var shares []string
	for part, spent := range t.Model.Time.Spent {
		shares = append(shares, fmt.Sprintf("%v %.0f%%", lm.Part(part), 100*spent.Seconds()/t.Model.Time.Total().Seconds()))
	}
	return fmt.Sprintf("step %d of %d: loss %.4f, %.0f tok/s (%s), %v left", t.Step(), t.Recipe.Steps, p.mean(), perSecond, strings.Join(shares, ", "), left)
}

// A trainResult is what came of a run.
type trainResult struct {
	trainer        *lm.Trainer
	path           string
	size           int64
	model, trigram lm.Score
}

func (r *trainResult) print(w io.Writer) error {
	t := cli.NewTable(w)
	t.Row("model", fmt.Sprintf("%s, %d bytes", term.Quote(r.path), r.size))
	t.Row("trained", fmt.Sprintf("%s in %v", count.Of(r.trainer.Step(), "step"), r.trainer.Spent().Round(time.Second)))
	t.Row("held out", fmt.Sprintf("%.0f bytes, %s", r.model.Bytes, count.Of(r.model.Tokens, "token")))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = cli.NewTable(w, "", "bits/byte", "perplexity")
	t.Row(term.Quote(r.trainer.Recipe.Name), cli.Fixed(4, r.model.BitsPerByte()), cli.Fixed(3, r.model.Perplexity()))
	t.Row("trigram (Kneser-Ney, the same tokens)", cli.Fixed(4, r.trigram.BitsPerByte()), cli.Fixed(3, r.trigram.Perplexity()))
	return t.Flush()
}

// A trainDocument is a trainResult as JSON.
type trainDocument struct {
	Model       string     `json:"model"`
	Bytes       int64      `json:"bytes"`
	Recipe      lm.Recipe  `json:"recipe"`
	Seconds     float64    `json:"seconds"`
	HeldOut     lm.Score   `json:"held_out"`
	Trigram     lm.Score   `json:"trigram"`
	HeldOutSize float64    `json:"held_out_bytes"`
	Points      []lm.Point `json:"points"`
}

func (r *trainResult) document() trainDocument {
	return trainDocument{
		Model: r.path, Bytes: r.size, Recipe: r.trainer.Recipe, Seconds: r.trainer.Spent().Seconds(),
		HeldOut: r.model, Trigram: r.trigram, HeldOutSize: r.model.Bytes, Points: r.trainer.Points(),
	}
}

// results are what the page is made of.
func (r *trainResult) results() *results.Set {
	var points []training.Point
	for _, p := range r.trainer.Points() {
		points = append(points, training.Point(p))
	}
	score := func(s lm.Score) training.Score {
		return training.Score{BitsPerByte: s.BitsPerByte(), Perplexity: s.Perplexity()}
	}
	recipe := r.trainer.Recipe
	return training.Results(points, score(r.model), score(r.trigram),
		results.Setting{Key: "model", Value: term.Text(recipe.Name)}, results.Setting{Key: "recipe", Value: term.Text(shortDescription(recipe, r.trainer.Model.Weights()))},
		results.Setting{Key: "steps", Value: fmt.Sprintf("%d of %d × %d tokens", r.trainer.Step(), recipe.Batch, recipe.Context)},
		results.Setting{Key: "seconds", Value: fmt.Sprintf("%.0f", r.trainer.Spent().Seconds())}, results.Setting{Key: "model-bytes", Value: fmt.Sprint(r.size)})
}

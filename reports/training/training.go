// Package training makes results of a training run, and reports them.
package training

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// Names and units of a training run. Its points are Train/step=N; what came of it is HeldOut/by=model, beside HeldOut/by=trigram.
const (
	trainBase, heldOutBase, stepKey, byKey = "Train", "HeldOut", "step", "by"
	byModel, byTrigram                     = "model", "trigram"
	nats, bitsPerByte                      = "nats/token", "bits/byte"
)

func init() {
	reports.Register(reports.Kind{
		Name:      "training",
		Recognise: func(s *reports.Source) bool { return s.Kind() == "training" },
		Build:     func(_ context.Context, s *reports.Source) (*doc.Document, error) { return trainingDocument(s), nil },
	})
}

// Recognise reports whether results are those of a training run.
func Recognise(res *results.Set) bool { return res.Setting(reports.KindKey) == "training" }

// A Point is one of a learning curve.
type Point struct {
	Step          int
	Loss, HeldOut float64 // nats a token of what was trained on, bits a byte of what was held out
}

// A Score is how well a text is predicted.
type Score struct{ BitsPerByte, Perplexity float64 }

// Results are those of a training run; settings say of what.
func Results(points []Point, model, trigram Score, settings ...results.Setting) *results.Set {
	res := &results.Set{Settings: append([]results.Setting{{Key: reports.KindKey, Value: "training"}}, settings...)}
	add := func(name string, values ...results.Metric) {
		for _, v := range values {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
				return
			}
		}
		res.Samples = append(res.Samples, results.Sample{Name: results.ParseName(name), Iters: 1, Values: values})
	}
	for _, p := range points {
		add(fmt.Sprintf("%s/%s=%d", trainBase, stepKey, p.Step), results.Metric{Value: p.Loss, Unit: nats}, results.Metric{Value: p.HeldOut, Unit: bitsPerByte})
	}
	for _, s := range []struct {
		by string
		Score
	}{{byModel, model}, {byTrigram, trigram}} {
		add(heldOutBase+"/"+byKey+"="+s.by, results.Metric{Value: s.BitsPerByte, Unit: bitsPerByte}, results.Metric{Value: s.Score.Perplexity, Unit: results.Perplexity})
	}
	return res
}

// trainingDocument says how well the model predicts, beside a trigram model of the same tokens, and how it came to that.
func trainingDocument(s *reports.Source) *doc.Document {
	res := s.Machines[0]
	d := digest.Of(res, s.Warnings...)
	model := term.Text(cmp.Or(res.Setting("model"), "the model"))
	scores := d.OfBase(heldOutBase)
	x := &doc.Document{Title: "Training of " + model, Subtitle: term.Text(res.Setting("recipe")), Doubts: d.Doubts()}
	digest.AddRecords(x, []*digest.Member{{Digest: d, Machine: res.Machine()}})
	x.First = []doc.First{trainingFirst(model, scores)}
	if len(s.Paths) == 1 {
		path := filepath.ToSlash(filepath.Join(filepath.Dir(s.Paths[0]), "model.gguf"))
		x.First[0].Next = doc.Command{Line: "onebit run " + term.ShellWord(path) + " -p TEXT", Does: "goes on from a text"}
	}
	curve := &doc.Section{ID: "curve", Heading: "Learning curve"}
	curve.Add(&doc.Figure{Figure: learningCurve(d.OfBase(trainBase))}, pointsTable(d))
	x.Add(curve, (&doc.Section{ID: "run", Heading: "Run", Only: doc.Page | doc.Markdown}).Add(doc.Facts{List: d.Environment()}))
	return x
}

func trainingFirst(model string, scores []*digest.Case) doc.First {
	first := doc.First{Verdict: model + " was not scored."}
	if len(scores) == 0 {
		return first
	}
	named := func(c *digest.Case) string {
		return map[string]string{byModel: model, byTrigram: "trigram model of the same tokens"}[c.Name.Get(byKey)]
	}
	bits := make(map[string]float64)
	for _, c := range scores {
		bits[c.Name.Get(byKey)], _ = c.Center(bitsPerByte)
	}
	if v, base := bits[byModel], bits[byTrigram]; v > 0 {
		first.Verdict = fmt.Sprintf("%s predicts held-out text at %.3f bits a byte.", model, v)
		first.Number, first.NumberOf = fmt.Sprintf("%.3f bits", v), "a byte of text that was held out"
		switch {
		case base > v:
			first.Verdict = fmt.Sprintf("%s predicts held-out text in %s fewer bits than a trigram model.", model, words.Percent(1-v/base))
		case base > 0:
			first.Verdict = fmt.Sprintf("%s predicts held-out text no better than a trigram model.", model)
		}
	}
	scale := digest.NewScale(scores, bitsPerByte)
	first.Table = words.NewTable("scores", "Held-out text", "Fewer bits are better.", scores, []doc.Field[*digest.Case]{
		{Label: "by", Text: true, Cell: func(c *digest.Case) doc.Cell { return doc.Cell{Text: named(c)} }},
		{Label: bitsPerByte, Cell: func(c *digest.Case) doc.Cell {
			v, _ := c.Center(bitsPerByte)
			return doc.Cell{Text: fmt.Sprintf("%.3f", v)}
		}},
		{Label: "bits", About: "shorter is better", Text: true, Drop: 2, Cell: func(c *digest.Case) doc.Cell { return scale.Cell(digest.LengthOf(c.Stats[bitsPerByte])) }},
		{Label: "perplexity", Drop: 1, Cell: func(c *digest.Case) doc.Cell { return doc.Cell{Text: digest.ValueOf(c, results.Perplexity)} }},
	})
	return first
}

// step is the number of steps before a point.
func step(c *digest.Case) float64 {
	v, _ := strconv.ParseUint(c.Name.Get(stepKey), 10, 31)
	return float64(v)
}

func pointsTable(d *digest.Digest) *doc.Table {
	value := func(label, about, unit string) doc.Field[*digest.Case] {
		return doc.Field[*digest.Case]{Label: label, About: about, Cell: func(c *digest.Case) doc.Cell {
			v, ok := c.Center(unit)
			return doc.Cell{Text: words.If(ok, fmt.Sprintf("%.4f", v))}
		}}
	}
	t := words.NewTable("points", "", "", d.OfBase(trainBase), []doc.Field[*digest.Case]{
		{Label: stepKey, Cell: func(c *digest.Case) doc.Cell { return doc.Cell{Text: c.Name.Get(stepKey)} }},
		value("loss", "in nats a token, the mean since the point before", nats), value("held out", "in bits a byte, of a sample", bitsPerByte),
	})
	t.Only = doc.Page | doc.Markdown
	return t
}

// learningCurve is the loss in training, and what is predicted of the text that was held out; nil if there are no two points.
func learningCurve(points []*digest.Case) *figure.Figure {
	if len(points) < 2 {
		return nil
	}
	var panels []*figure.Panel
	for i, unit := range []string{bitsPerByte, nats} {
		var line [][2]float64
		var xs, ys []float64
		for _, c := range points {
			if v, ok := c.Center(unit); ok {
				line, xs, ys = append(line, [2]float64{step(c), v}), append(xs, step(c)), append(ys, v)
			}
		}
		title := []string{"held-out text, bits a byte", "training, nats a token"}[i]
		p := figure.NewPanel(title).XY(figure.NewAxis(append(xs, 0), false, 6, figure.BareNumber).FromZero(), figure.NewAxis(ys, false, 5, figure.BareNumber), stepKey)
		p.Line(i, line)
		for _, q := range line {
			p.Add(figure.PointSpot(q[0], q[1], fmt.Sprintf("step %.0f: %.4f", q[0], q[1])))
		}
		panels = append(panels, p)
	}
	return &figure.Figure{Name: "learning-curve", Heading: "Learning curve", Reading: "Lower is better.", Height: 260, Panels: [][]*figure.Panel{panels}}
}

package reports

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/doc"
	"onebit/reports/figure"
)

// Names and units of a training run. Its points are Train/step=N; what came of it is HeldOut/by=model, beside HeldOut/by=trigram.
const (
	trainBase, heldOutBase, stepKey, byKey = "Train", "HeldOut", "step", "by"
	byModel, byTrigram                     = "model", "trigram"
	nats, bitsPerByte                      = "nats/token", "bits/byte"
)

func init() {
	RegisterKind(Kind{
		Name:      "training",
		Recognise: func(s *Source) bool { return s.kind() == "training" },
		Build:     func(_ context.Context, s *Source) (*doc.Document, error) { return trainingDocument(s), nil },
	})
}

// IsTraining reports whether results are those of a training run.
func IsTraining(res *results.Set) bool { return res.Setting(kindKey) == "training" }

// A TrainingPoint is one of a learning curve.
type TrainingPoint struct {
	Step          int
	Loss, HeldOut float64 // nats a token of what was trained on, bits a byte of what was held out
}

// A TrainingScore is how well a text is predicted.
type TrainingScore struct{ BitsPerByte, Perplexity float64 }

// TrainingResults are those of a training run; settings say of what.
func TrainingResults(points []TrainingPoint, model, trigram TrainingScore, settings ...results.Setting) *results.Set {
	res := &results.Set{Settings: append([]results.Setting{{Key: kindKey, Value: "training"}}, settings...)}
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
		TrainingScore
	}{{byModel, model}, {byTrigram, trigram}} {
		add(heldOutBase+"/"+byKey+"="+s.by, results.Metric{Value: s.BitsPerByte, Unit: bitsPerByte}, results.Metric{Value: s.TrainingScore.Perplexity, Unit: results.Perplexity})
	}
	return res
}

// trainingDocument says how well the model predicts, beside a trigram model of the same tokens, and how it came to that.
func trainingDocument(s *Source) *doc.Document {
	res := s.Machines[0]
	d := newDigest(res, s.Warnings...)
	model := term.Text(cmp.Or(res.Setting("model"), "the model"))
	scores := d.ofBase(heldOutBase)
	x := &doc.Document{Title: "Training of " + model, Subtitle: term.Text(res.Setting("recipe")), Doubts: d.doubts()}
	addRecords(x, []*member{{digest: d, machine: res.Machine()}})
	x.First = []doc.First{trainingFirst(model, scores)}
	if len(s.Paths) == 1 {
		path := filepath.ToSlash(filepath.Join(filepath.Dir(s.Paths[0]), "model.gguf"))
		x.First[0].Next = doc.Command{Line: "onebit run " + term.ShellWord(path) + " -p TEXT", Does: "goes on from a text"}
	}
	curve := &doc.Section{ID: "curve", Heading: "Learning curve"}
	curve.Add(&doc.Figure{Figure: learningCurve(d.ofBase(trainBase))}, d.pointsTable())
	x.Add(curve, (&doc.Section{ID: "run", Heading: "Run", Only: doc.Page | doc.Markdown}).Add(doc.Facts{List: d.environment()}))
	return x
}

func trainingFirst(model string, scores []*caseStats) doc.First {
	first := doc.First{Verdict: model + " was not scored."}
	if len(scores) == 0 {
		return first
	}
	named := func(c *caseStats) string {
		return map[string]string{byModel: model, byTrigram: "trigram model of the same tokens"}[c.name.Get(byKey)]
	}
	bits := make(map[string]float64)
	for _, c := range scores {
		bits[c.name.Get(byKey)], _ = c.center(bitsPerByte)
	}
	if v, base := bits[byModel], bits[byTrigram]; v > 0 {
		first.Verdict = fmt.Sprintf("%s predicts held-out text at %.3f bits a byte.", model, v)
		first.Number, first.NumberOf = fmt.Sprintf("%.3f bits", v), "a byte of text that was held out"
		switch {
		case base > v:
			first.Verdict = fmt.Sprintf("%s predicts held-out text in %s fewer bits than a trigram model.", model, percent(1-v/base))
		case base > 0:
			first.Verdict = fmt.Sprintf("%s predicts held-out text no better than a trigram model.", model)
		}
	}
	scale := newScale(scores, bitsPerByte)
	first.Table = newTable("scores", "Held-out text", "Fewer bits are better.", scores, []doc.Field[*caseStats]{
		{Label: "by", Text: true, Cell: func(c *caseStats) doc.Cell { return doc.Cell{Text: named(c)} }},
		{Label: bitsPerByte, Cell: func(c *caseStats) doc.Cell {
			v, _ := c.center(bitsPerByte)
			return doc.Cell{Text: fmt.Sprintf("%.3f", v)}
		}},
		{Label: "bits", About: "shorter is better", Text: true, Drop: 2, Cell: func(c *caseStats) doc.Cell { return scale.Cell(lengthOf(c.stats[bitsPerByte])) }},
		{Label: "perplexity", Drop: 1, Cell: func(c *caseStats) doc.Cell { return doc.Cell{Text: valueOf(c, results.Perplexity)} }},
	})
	return first
}

// step is the number of steps before a point.
func (c *caseStats) step() float64 {
	v, _ := strconv.ParseUint(c.name.Get(stepKey), 10, 31)
	return float64(v)
}

func (d *digest) pointsTable() *doc.Table {
	value := func(label, about, unit string) doc.Field[*caseStats] {
		return doc.Field[*caseStats]{Label: label, About: about, Cell: func(c *caseStats) doc.Cell {
			v, ok := c.center(unit)
			return doc.Cell{Text: textIf(ok, fmt.Sprintf("%.4f", v))}
		}}
	}
	t := newTable("points", "", "", d.ofBase(trainBase), []doc.Field[*caseStats]{
		{Label: stepKey, Cell: func(c *caseStats) doc.Cell { return doc.Cell{Text: c.name.Get(stepKey)} }},
		value("loss", "in nats a token, the mean since the point before", nats), value("held out", "in bits a byte, of a sample", bitsPerByte),
	})
	t.Only = doc.Page | doc.Markdown
	return t
}

// learningCurve is the loss in training, and what is predicted of the text that was held out; nil if there are no two points.
func learningCurve(points []*caseStats) *figure.Figure {
	if len(points) < 2 {
		return nil
	}
	var panels []*figure.Panel
	for i, unit := range []string{bitsPerByte, nats} {
		var line [][2]float64
		var xs, ys []float64
		for _, c := range points {
			if v, ok := c.center(unit); ok {
				line, xs, ys = append(line, [2]float64{c.step(), v}), append(xs, c.step()), append(ys, v)
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

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/train/lm"
	"onebit/reports"
)

type curveFlags struct {
	corpus     corpusFlags
	comparison lm.Comparison
	every      int
	threads    int
	output     string
	json       bool
}

func newTrainCurve() *cobra.Command {
	base, err := lm.LookupRecipe("float")
	if err != nil {
		panic(err) // a recipe of ours
	}
	f := curveFlags{comparison: lm.Comparison{Base: base}}
	cmd := &cobra.Command{
		Use:   "curve -o DIR",
		Short: "Compare ternary and 1-bit models with float ones of equal size",
		Long: `Train models that differ in nothing but the form of their weights and their width, from several
seeds, and float models further in ternary and 1 bit, with and without what they predicted. Print
the bits per byte of held-out text, and draw learning curves and quality by size into DIR. Each run
has a folder there, and one that was interrupted goes on: the same command ends what it began.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags, r := cmd.Flags(), &f.comparison.Base
	f.corpus.add(flags)
	flags.StringVarP(&f.output, "output", "o", "", "`DIR` of runs and figures")
	flags.IntSliceVar(&f.comparison.Widths, "widths", []int{128, 256, 384}, "widths of the residual stream")
	flags.IntVar(&f.comparison.Seeds, "seeds", 3, "seeds")
	flags.IntVar(&f.comparison.Tuned, "tuned", 300, "steps from a float model of the largest width; 0: no such runs")
	flags.IntVar(&r.Steps, "steps", 1500, "steps of other runs")
	flags.IntVar(&r.Warmup, "warmup", 100, "steps of warm-up")
	flags.IntVar(&r.Layers, "layers", r.Layers, "transformer blocks")
	flags.IntVar(&r.Vocab, "vocab", r.Vocab, "tokens of the vocabulary")
	flags.IntVar(&r.Context, "ctx", 256, "tokens in a window")
	flags.IntVar(&r.Batch, "batch", 8, "windows in a step")
	flags.Float64Var(&r.Rate, "rate", r.Rate, "learning rate after the warm-up; a third of it from a float model")
	flags.IntVar(&f.every, "every", 50, "steps between points of a curve")
	flags.IntVar(&f.threads, "threads", 0, "threads (default: one a core, of performance cores where there are others)")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.SortFlags = false
	return cmd
}

// A curveRun is a trial that is over.
type curveRun struct {
	lm.Trial
	points []lm.Point
	bytes  int
	final  lm.Score
}

func (f *curveFlags) run(cmd *cobra.Command) (err error) {
	switch {
	case f.output == "":
		return usagef("-o DIR is missing")
	case f.comparison.Seeds < 1 || f.every < 1 || len(f.comparison.Widths) == 0 || f.comparison.Tuned < 0:
		return usagef("--seeds and --every are at least 1, --tuned at least 0, and --widths has one or more")
	}
	unlock, err := lockFolder(f.output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	corpus, err := f.corpus.read(cmd.Context())
	if err != nil {
		return err
	}
	pool := kernels.NewPool(f.threads)
	defer pool.Close()
	trials := f.comparison.Trials()
	var runs []curveRun
	for i, trial := range trials {
		fmt.Fprintf(cmd.ErrOrStderr(), "run %d of %d: %s\n", i+1, len(trials), trial.Recipe.Name)
		r, err := f.trial(cmd, trial, corpus, pool)
		if err != nil {
			return fmt.Errorf("%s: %w", trial.Recipe.Name, err)
		}
		runs = append(runs, r)
	}
	if f.json {
		err = printJSON(cmd.OutOrStdout(), newCurveDocument(corpus, runs))
	} else {
		err = printCurves(cmd.OutOrStdout(), corpus, runs)
	}
	if err != nil {
		return err
	}
	return drawCurveFigures(f.output, corpus, runs)
}

// trial makes a run, or ends one that was interrupted.
func (f *curveFlags) trial(cmd *cobra.Command, trial lm.Trial, corpus *lm.Corpus, pool *kernels.Pool) (r curveRun, err error) {
	folder := filepath.Join(f.output, trial.Recipe.Name)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return r, err
	}
	one := trainFlags{output: folder, corpus: f.corpus, every: f.every, threads: f.threads, recipe: trial.Recipe, models: f.models()}
	if trial.Start != "" {
		one.from = filepath.Join(f.output, trial.Start, modelName)
	}
	if _, err := os.Stat(one.checkpoint()); !errors.Is(err, fs.ErrNotExist) {
		one.resume, one.recipe.Steps = true, 0
	}
	saved, err := one.openCheckpoint()
	if err != nil {
		return r, err
	}
	if saved != nil {
		defer saved.Close()
	}
	t, err := one.trainer(saved, corpus, pool)
	if err == nil {
		err = one.teach(t)
	}
	if err != nil {
		return r, err
	}
	if t.Step() == 0 { // of a model that is only rounded, this is what that loses
		if _, err := t.Mark(cmd.Context(), 0); err != nil {
			return r, err
		}
	}
	if err := one.advance(cmd, t); err != nil {
		return r, err
	}
	if err := one.export(cmd.Context(), t); err != nil {
		return r, err
	}
	r = curveRun{Trial: trial, points: t.Points()}
	if r.bytes, err = t.Recipe.Bytes(arch.Lookup); err == nil {
		r.final, err = t.HeldOut(cmd.Context())
	}
	return r, err
}

func (f *curveFlags) models() modelFlags { return modelFlags{i2s: i2sPackings()[0]} }

// A curvePlace is runs that differ in the seed alone.
type curvePlace struct {
	line         string
	width, bytes int
	runs         []curveRun
}

// curvePlaces are in the order of the trials.
func curvePlaces(runs []curveRun) (out []*curvePlace) {
	for _, r := range runs {
		i := slices.IndexFunc(out, func(p *curvePlace) bool { return p.line == r.Line && p.width == r.Recipe.Hidden })
		if i < 0 {
			i = len(out)
			out = append(out, &curvePlace{line: r.Line, width: r.Recipe.Hidden, bytes: r.bytes})
		}
		out[i].runs = append(out[i].runs, r)
	}
	return out
}

// over returns the mean of a value of all runs, and its extremes.
func (p *curvePlace) over(value func(curveRun) float64) (mean, least, most float64) {
	least, most = value(p.runs[0]), value(p.runs[0])
	for _, r := range p.runs {
		v := value(r)
		mean += v / float64(len(p.runs))
		least, most = min(least, v), max(most, v)
	}
	return mean, least, most
}

func finalBits(r curveRun) float64 { return r.final.BitsPerByte() }

func printCurves(w io.Writer, corpus *lm.Corpus, runs []curveRun) error {
	fmt.Fprintf(w, "Bits per byte of %s, held out: mean (least to largest) over seeds.\n\n", corpus.Name)
	t := newTable(w, "weights", "width", "bytes", "steps", "at first", "in the end", "recovered")
	places := curvePlaces(runs)
	for _, p := range places {
		mean, least, most := p.over(finalBits)
		first, _, _ := p.over(firstSample)
		recovered := ""
		if p.runs[0].Start != "" {
			recovered = p.recovered(startOf(places, p))
		}
		t.row(p.line, p.width, p.bytes, p.runs[0].Recipe.Steps, fixed(4, first), fmt.Sprintf("%s (%s to %s)", fixed(4, mean), fixed(4, least), fixed(4, most)), recovered)
	}
	return t.flush()
}

// A curveDocument is the runs as JSON, each with its seed.
type curveDocument struct {
	Text string          `json:"text"`
	Runs []curveRunEntry `json:"runs"`
}

type curveRunEntry struct {
	Weights string     `json:"weights"`
	Width   int        `json:"width"`
	Seed    uint64     `json:"seed"`
	Bytes   int        `json:"bytes"`
	Steps   int        `json:"steps"`
	Start   string     `json:"start,omitempty"` // the run whose model it began with
	HeldOut trainScore `json:"held_out"`
	Points  []lm.Point `json:"points"`
}

func newCurveDocument(corpus *lm.Corpus, runs []curveRun) curveDocument {
	d := curveDocument{Text: corpus.Name}
	for _, r := range runs {
		d.Runs = append(d.Runs, curveRunEntry{r.Line, r.Recipe.Hidden, r.Recipe.Seed, r.bytes, r.Recipe.Steps, r.Start, newTrainScore(r.final), r.points})
	}
	return d
}

// firstSample and lastSample are of the same part of the held-out text.
func firstSample(r curveRun) float64 { return r.points[0].HeldOut }
func lastSample(r curveRun) float64  { return r.points[len(r.points)-1].HeldOut }

// startOf returns the place of the models that p's runs started with.
func startOf(places []*curvePlace, p *curvePlace) *curvePlace {
	return places[slices.IndexFunc(places, func(of *curvePlace) bool {
		return slices.ContainsFunc(of.runs, func(r curveRun) bool { return r.Recipe.Name == p.runs[0].Start })
	})]
}

// recovered is how much of what rounding the float models lost, training has won
// back.
func (p *curvePlace) recovered(float *curvePlace) string {
	rounded, _, _ := p.over(firstSample)
	trained, _, _ := p.over(lastSample)
	before, _, _ := float.over(lastSample)
	return fmt.Sprintf("%.0f%%", 100*(rounded-trained)/(rounded-before))
}

// drawCurveFigures writes learning curves by width and quality by size.
func drawCurveFigures(dir string, corpus *lm.Corpus, runs []curveRun) error {
	notes := []string{"Bits per byte of " + corpus.Name + ", held out. Means over seeds, and the least and the largest."}
	steps := reports.Curves{Heading: "Learning curves at equal size", X: "step", Y: "bits per byte", Columns: 2, Notes: notes}
	sizes := reports.Curves{Heading: "Held-out text by bytes of weights", X: "bytes", Y: "bits per byte", LogX: true, Columns: 1, Notes: notes}
	tuned := reports.Curves{Heading: "From float weights", X: "step", Y: "bits per byte", Columns: 1, Notes: notes}
	bySize := reports.CurvePanel{Title: "after as many tokens each"}
	byTuning := reports.CurvePanel{Title: "step 0: the float model, rounded"}
	panels := map[int]*reports.CurvePanel{}
	var widths []int
	places := curvePlaces(runs)
	for _, p := range places {
		curve := p.curve()
		if p.runs[0].Start != "" {
			if byTuning.Lines == nil {
				byTuning.Lines = append(byTuning.Lines, startOf(places, p).level(p.runs[0].Recipe.Steps))
			}
			byTuning.Lines = append(byTuning.Lines, curve)
			continue
		}
		if panels[p.width] == nil {
			panels[p.width] = &reports.CurvePanel{Title: fmt.Sprintf("width %d", p.width)}
			widths = append(widths, p.width)
		}
		panels[p.width].Lines = append(panels[p.width].Lines, curve)
		bySize.Lines = addSize(bySize.Lines, p)
	}
	for _, width := range widths {
		steps.Panels = append(steps.Panels, *panels[width])
	}
	sizes.Panels = []reports.CurvePanel{bySize}
	if err := writeCurves(filepath.Join(dir, "curve-steps.png"), steps); err != nil {
		return err
	}
	if err := writeCurves(filepath.Join(dir, "curve-bytes.png"), sizes); err != nil {
		return err
	}
	if len(byTuning.Lines) == 0 {
		return nil
	}
	tuned.Panels = []reports.CurvePanel{byTuning}
	return writeCurves(filepath.Join(dir, "curve-from-float.png"), tuned)
}

// curve is the held-out text by steps.
func (p *curvePlace) curve() reports.Curve {
	c := reports.Curve{Name: p.line}
	for i, point := range p.runs[0].points {
		mean, least, most := p.over(func(r curveRun) float64 { return r.points[i].HeldOut })
		c.Points = append(c.Points, reports.CurvePoint{X: float64(point.Step), Y: mean, Low: least, High: most})
	}
	return c
}

// level is the held-out text of the runs' end, beside curves of so many steps.
func (p *curvePlace) level(steps int) reports.Curve {
	mean, least, most := p.over(lastSample)
	return reports.Curve{Name: p.line, Points: []reports.CurvePoint{
		{X: 0, Y: mean, Low: least, High: most}, {X: float64(steps), Y: mean, Low: least, High: most},
	}}
}

// addSize adds a place to the line of its form.
func addSize(lines []reports.Curve, p *curvePlace) []reports.Curve {
	i := slices.IndexFunc(lines, func(c reports.Curve) bool { return c.Name == p.line })
	if i < 0 {
		i = len(lines)
		lines = append(lines, reports.Curve{Name: p.line})
	}
	mean, least, most := p.over(finalBits)
	lines[i].Points = append(lines[i].Points, reports.CurvePoint{X: float64(p.bytes), Y: mean, Low: least, High: most})
	return lines
}

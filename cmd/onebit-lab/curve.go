package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models/source"
	"onebit/models/train/lm"
	"onebit/reports/figure"
)

type curveFlags struct {
	corpus     lm.Origin
	comparison lm.Comparison
	every      int
	threads    int
	output     string
	json       bool
}

func newCurve() *cobra.Command {
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
		Args: cli.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags, r := cmd.Flags(), &f.comparison.Base
	cli.CorpusFlags(flags, &f.corpus)
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

func (f *curveFlags) run(cmd *cobra.Command) (err error) {
	switch {
	case f.output == "":
		return cli.Usagef("-o DIR is missing")
	case f.comparison.Seeds < 1 || f.every < 1 || len(f.comparison.Widths) == 0 || f.comparison.Tuned < 0:
		return cli.Usagef("--seeds and --every are at least 1, --tuned at least 0, and --widths has one or more")
	}
	unlock, err := cli.LockFolder(f.output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	corpus, err := f.corpus.Read(cmd.Context())
	if err != nil {
		return err
	}
	pool := kernels.NewPool(f.threads)
	defer pool.Close()
	outcomes, err := f.trials(cmd, &lm.Series{
		Dir: f.output, Every: f.every, Corpus: corpus, Pool: pool,
		Open: func(model string) (lm.SourceCloser, error) { return source.OpenWith(model, "", gguf.Options{}) },
	})
	if err != nil {
		return err
	}
	if f.json {
		err = cli.PrintJSON(cmd.OutOrStdout(), newCurveDocument(corpus, outcomes))
	} else {
		err = printCurves(cmd.OutOrStdout(), corpus, lm.Groups(outcomes))
	}
	if err != nil {
		return err
	}
	return drawCurveFigures(f.output, corpus, lm.Groups(outcomes))
}

// trials makes them all. An interrupted one goes on: the command has no other flags then.
func (f *curveFlags) trials(cmd *cobra.Command, series *lm.Series) (outcomes []*lm.Outcome, err error) {
	trials := f.comparison.Trials()
	for i, trial := range trials {
		fmt.Fprintf(cmd.ErrOrStderr(), "run %d of %d: %s\n", i+1, len(trials), trial.Recipe.Name)
		steps := stepCounter{Counter: cli.NewCounter(cmd.ErrOrStderr(), trial.Recipe.Name, trial.Recipe.Steps)}
		o, err := series.Run(cmd.Context(), trial, &steps)
		steps.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", trial.Recipe.Name, err)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// A stepCounter counts the steps of a run: an lm.Watch.
type stepCounter struct {
	cli.Counter
	done int
}

func (c *stepCounter) Step(float64) {
	c.done++
	c.Set(c.done)
}

func (c *stepCounter) Mark(p lm.Point) { c.done = p.Step }

func finalBits(o *lm.Outcome) float64 { return o.Final.BitsPerByte() }

func printCurves(w io.Writer, corpus *lm.Corpus, groups []*lm.Group) error {
	fmt.Fprintf(w, "Bits per byte of %s, held out: mean (least to largest) over seeds.\n\n", corpus.Name)
	t := cli.NewTable(w, "weights", "width", "bytes", "steps", "at first", "in the end", "recovered")
	for _, g := range groups {
		mean, least, most := g.Over(finalBits)
		first, _, _ := g.Over((*lm.Outcome).First)
		recovered := ""
		if start := g.Start(groups); start != nil {
			recovered = fmt.Sprintf("%.0f%%", 100*g.Recovered(start))
		}
		t.Row(g.Line, g.Width, g.Bytes, g.Outcomes[0].Recipe.Steps, cli.Fixed(4, first), fmt.Sprintf("%s (%s to %s)", cli.Fixed(4, mean), cli.Fixed(4, least), cli.Fixed(4, most)), recovered)
	}
	return t.Flush()
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
	HeldOut lm.Score   `json:"held_out"`
	Points  []lm.Point `json:"points"`
}

func newCurveDocument(corpus *lm.Corpus, outcomes []*lm.Outcome) curveDocument {
	d := curveDocument{Text: corpus.Name}
	for _, o := range outcomes {
		d.Runs = append(d.Runs, curveRunEntry{o.Line, o.Recipe.Hidden, o.Recipe.Seed, o.Bytes, o.Recipe.Steps, o.Start, o.Final, o.Points})
	}
	return d
}

// drawCurveFigures writes learning curves by width and quality by size.
func drawCurveFigures(dir string, corpus *lm.Corpus, groups []*lm.Group) error {
	notes := []string{"Bits per byte of " + corpus.Name + ", held out. Means over seeds, and the least and the largest."}
	steps := figure.Curves{Heading: "Learning curves at equal size", X: "step", Y: "bits per byte", Columns: 2, Notes: notes}
	sizes := figure.Curves{Heading: "Held-out text by bytes of weights", X: "bytes", Y: "bits per byte", LogX: true, Columns: 1, Notes: notes}
	tuned := figure.Curves{Heading: "From float weights", X: "step", Y: "bits per byte", Columns: 1, Notes: notes}
	bySize := figure.CurvePanel{Title: "after as many tokens each"}
	byTuning := figure.CurvePanel{Title: "step 0: the float model, rounded"}
	panels := map[int]*figure.CurvePanel{}
	var widths []int
	for _, g := range groups {
		curve := curveOf(g)
		if start := g.Start(groups); start != nil {
			if byTuning.Lines == nil {
				byTuning.Lines = append(byTuning.Lines, levelOf(start, g.Outcomes[0].Recipe.Steps))
			}
			byTuning.Lines = append(byTuning.Lines, curve)
			continue
		}
		if panels[g.Width] == nil {
			panels[g.Width] = &figure.CurvePanel{Title: fmt.Sprintf("width %d", g.Width)}
			widths = append(widths, g.Width)
		}
		panels[g.Width].Lines = append(panels[g.Width].Lines, curve)
		bySize.Lines = addSize(bySize.Lines, g)
	}
	for _, width := range widths {
		steps.Panels = append(steps.Panels, *panels[width])
	}
	sizes.Panels = []figure.CurvePanel{bySize}
	if err := writeCurves(filepath.Join(dir, "curve-steps.png"), steps); err != nil {
		return err
	}
	if err := writeCurves(filepath.Join(dir, "curve-bytes.png"), sizes); err != nil {
		return err
	}
	if len(byTuning.Lines) == 0 {
		return nil
	}
	tuned.Panels = []figure.CurvePanel{byTuning}
	return writeCurves(filepath.Join(dir, "curve-from-float.png"), tuned)
}

// curveOf is the held-out text by steps.
func curveOf(g *lm.Group) figure.Curve {
	c := figure.Curve{Name: g.Line}
	for i, point := range g.Outcomes[0].Points {
		mean, least, most := g.Over(func(o *lm.Outcome) float64 { return o.Points[i].HeldOut })
		c.Points = append(c.Points, figure.CurvePoint{X: float64(point.Step), Y: mean, Low: least, High: most})
	}
	return c
}

// levelOf is the held-out text of the runs' end, beside curves of that many steps.
func levelOf(g *lm.Group, steps int) figure.Curve {
	mean, least, most := g.Over((*lm.Outcome).Last)
	return figure.Curve{Name: g.Line, Points: []figure.CurvePoint{
		{X: 0, Y: mean, Low: least, High: most}, {X: float64(steps), Y: mean, Low: least, High: most},
	}}
}

// addSize adds a group to the line of its form.
func addSize(lines []figure.Curve, g *lm.Group) []figure.Curve {
	i := slices.IndexFunc(lines, func(c figure.Curve) bool { return c.Name == g.Line })
	if i < 0 {
		i = len(lines)
		lines = append(lines, figure.Curve{Name: g.Line})
	}
	mean, least, most := g.Over(finalBits)
	lines[i].Points = append(lines[i].Points, figure.CurvePoint{X: float64(g.Bytes), Y: mean, Low: least, High: most})
	return lines
}

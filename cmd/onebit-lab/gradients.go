package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/models/train"
	"onebit/models/train/gradients"
	"onebit/models/train/lm"
	"onebit/reports/figure"
)

type gradientsFlags struct {
	corpus lm.Origin
	form   string
	seeds  int
	steps  int
	out    string
	json   bool
}

func newGradients() *cobra.Command {
	var f gradientsFlags
	cmd := &cobra.Command{
		Use:   "gradients",
		Short: "Compare two straight-through gradients: with 1/γ, and without",
		Long: `Train a small network on text with the exact straight-through gradient of the
rounded weights, with NanoLogic's, which divides it by their scale γ, and
with weights that are not rounded: by each optimizer, at several learning rates,
from several seeds, with and without norms and clipping. Print the norms of the
gradients at the first step and the losses on held-out text, and draw them.
Results are the same for any number of threads. It takes some five minutes on two
CPUs.`,
		Example: "  onebit-lab gradients -o figures\n  onebit-lab gradients --form b1.58 --seeds 1",
		Args:    cli.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	cli.CorpusFlags(flags, &f.corpus)
	flags.StringVar(&f.form, "form", train.NanoLogic.Name, "`NAME` of the form of the weights: nanologic or b1.58")
	flags.IntVar(&f.seeds, "seeds", 3, "`NUMBER` of seeds")
	flags.IntVar(&f.steps, "steps", 300, "`NUMBER` of steps of each run")
	flags.StringVarP(&f.out, "output", "o", "", "draw the figures into `DIR`")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.SortFlags = false
	return cmd
}

func (f *gradientsFlags) run(cmd *cobra.Command) error {
	form, err := train.LookupForm(f.form)
	switch {
	case err != nil:
		return cli.Usagef("--form: %w", err)
	case f.seeds < 1 || f.steps < 20:
		return cli.Usagef("--seeds is at least 1, --steps at least 20")
	}
	if err := (train.Options{Form: form, Gradient: train.InverseScale}).Check(128, 128); err != nil {
		return cli.Usagef("--form: %w", err)
	}
	if f.out != "" { // minutes before it is written to
		unlock, err := cli.LockFolder(f.out)
		if err != nil {
			return err
		}
		defer unlock()
	}
	corpus, err := f.corpus.Read(cmd.Context())
	if err != nil {
		return err
	}
	c := gradients.Config{
		Form: form, Steps: f.steps, Width: 192, Depth: 3, Batch: 64,
		Text:    []byte(strings.Join(slices.Collect(lm.Texts(corpus.Train)), "\n")),
		HeldOut: []byte(strings.Join(slices.Collect(lm.Texts(corpus.HeldOut)), "\n")),
	}
	trials := gradients.Grid(f.seeds)
	progress := cli.NewCounter(cmd.ErrOrStderr(), "runs", len(trials))
	c.Progress = progress.Set
	results, err := gradients.Run(cmd.Context(), c, trials)
	progress.Close()
	if err != nil {
		return err
	}
	groups := gradients.Groups(results)
	if f.json {
		err = cli.PrintJSON(cmd.OutOrStdout(), newGradientsDocument(corpus.Name, form.Name, f.steps, results))
	} else {
		title := fmt.Sprintf("Text: %s. Weights: form %s. %d runs of %d steps.", corpus.Name, form.Name, len(trials), f.steps)
		err = printGradients(cmd.OutOrStdout(), title, groups)
	}
	if err != nil || f.out == "" {
		return err
	}
	return drawGradients(f.out, groups, corpus.Name)
}

func printGradients(w io.Writer, title string, groups []*gradients.Group) error {
	fmt.Fprintf(w, "%s\n\n", title)
	if err := printFirstNorms(w, groups); err != nil {
		return err
	}
	for _, s := range gradients.Settings() {
		fmt.Fprintln(w)
		if err := printHeldOut(w, groups, s); err != nil {
			return err
		}
	}
	return nil
}

// A gradientsDocument is all runs as JSON.
type gradientsDocument struct {
	Text    string          `json:"text"`
	Weights string          `json:"weights"`
	Steps   int             `json:"steps"`
	Runs    []gradientEntry `json:"runs"`
}

type gradientEntry struct {
	Optimizer  string    `json:"optimizer"`
	Gradient   string    `json:"gradient"`
	Normed     bool      `json:"normed"`
	Clip       float64   `json:"clip"`
	Rate       float64   `json:"rate"`
	Seed       uint64    `json:"seed"`
	HeldOut    *float64  `json:"held_out"` // nats a byte; null: it diverged
	FirstNorms []float64 `json:"first_norms"`
	Scales     []float64 `json:"scales"`
}

func newGradientsDocument(text, form string, steps int, results []*gradients.Result) gradientsDocument {
	d := gradientsDocument{Text: text, Weights: form, Steps: steps}
	for _, r := range results {
		e := gradientEntry{r.Optimizer, r.Gradient, r.Normed, r.Clip, r.Rate, r.Seed, &r.HeldOut, r.FirstNorms, r.Scales}
		if r.Diverged() {
			e.HeldOut = nil
		}
		d.Runs = append(d.Runs, e)
	}
	return d
}

// printFirstNorms prints the norms of the weights' gradients at the first step of one
// seed: all optimizers and rates begin alike.
func printFirstNorms(w io.Writer, groups []*gradients.Group) error {
	for i, normed := range []bool{true, false} {
		if i > 0 {
			fmt.Fprintln(w)
		}
		first := map[string]*gradients.Result{}
		for _, g := range groups {
			if g.Normed == normed && first[g.Gradient] == nil {
				first[g.Gradient] = g.Results[0]
			}
		}
		fmt.Fprintf(w, "Norm of each product's weight gradient at step 1 (seed 1, %s):\n", gradients.Setting{Normed: normed})
		t := cli.NewTable(w, append([]any{"product", "γ"}, append(anys(gradients.Gradients()), "inverse/exact", "1/γ")...)...)
		exact, inverse := first[train.Exact.String()], first[train.InverseScale.String()]
		for i, gamma := range exact.Scales {
			cells := []any{i, cli.Fixed(4, gamma)}
			for _, name := range gradients.Gradients() {
				cells = append(cells, cli.Fixed(3, first[name].FirstNorms[i]))
			}
			t.Row(append(cells, cli.Fixed(1, inverse.FirstNorms[i]/exact.FirstNorms[i]), cli.Fixed(1, 1/gamma))...)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func anys[T any](values []T) (out []any) {
	for _, v := range values {
		out = append(out, v)
	}
	return out
}

// printHeldOut prints the losses of a setting.
func printHeldOut(w io.Writer, groups []*gradients.Group, s gradients.Setting) error {
	fmt.Fprintf(w, "Held-out loss in nats per byte, mean (least to largest) over seeds; %s:\n", s)
	t := cli.NewTable(w, append([]any{"optimizer", "rate"}, anys(gradients.Gradients())...)...)
	for _, optimizer := range train.RuleNames() {
		for i, rate := range gradients.Rates(optimizer) {
			cells := []any{optimizer, rate}
			if i > 0 {
				cells[0] = ""
			}
			for _, gradient := range gradients.Gradients() {
				for _, g := range groups {
					if g.Setting() == s && g.Optimizer == optimizer && g.Rate == rate && g.Gradient == gradient {
						cells = append(cells, heldOutText(g, g == gradients.Best(groups, s, optimizer, gradient)))
					}
				}
			}
			t.Row(cells...)
		}
	}
	return t.Flush()
}

func heldOutText(g *gradients.Group, best bool) string {
	if n := g.Diverged(); n > 0 {
		return fmt.Sprintf("%d of %d diverged", n, len(g.Results))
	}
	mean, least, most := g.HeldOut()
	text := fmt.Sprintf("%.3f (%.3f to %.3f)", mean, least, most)
	if best {
		text += " best"
	}
	return text
}

// curveWindow is how many steps a point of a curve is the mean of.
const curveWindow = 10

// drawGradients writes the figures into dir.
func drawGradients(dir string, groups []*gradients.Group, text string) error {
	source := "Next byte of " + text + "; means over the seeds."
	rates := figure.Curves{
		Heading: "Held-out loss by learning rate", X: "learning rate", Y: "nats per byte", LogX: true, Columns: 3, Top: math.Log(256),
		Notes: []string{source, "The intervals go from the least to the largest. A rate at which a run diverged has no point."},
	}
	losses := figure.Curves{
		Heading: "Training loss at each gradient's best learning rate", X: "step", Y: "nats per byte", Columns: 3, Top: math.Log(256), Notes: []string{source},
	}
	norms := figure.Curves{
		Heading: "Norm of all gradients at each gradient's best learning rate", X: "step", Y: "norm", LogY: true, Columns: 3, Notes: []string{source},
	}
	for _, s := range gradients.Settings() {
		for _, optimizer := range train.RuleNames() {
			title := optimizer + ", " + s.String()
			byRate, byStep, norm := figure.CurvePanel{Title: title}, figure.CurvePanel{Title: title}, figure.CurvePanel{Title: title}
			for _, gradient := range gradients.Gradients() {
				line := figure.Curve{Name: gradient}
				for _, g := range groups {
					if g.Setting() == s && g.Optimizer == optimizer && g.Gradient == gradient {
						mean, least, most := g.HeldOut()
						line.Points = append(line.Points, figure.CurvePoint{X: g.Rate, Y: mean, Low: least, High: most})
					}
				}
				byRate.Lines = append(byRate.Lines, line)
				if best := gradients.Best(groups, s, optimizer, gradient); best != nil {
					byStep.Lines = append(byStep.Lines, stepCurve(best, func(r *gradients.Result) []float64 { return r.Losses }))
					norm.Lines = append(norm.Lines, stepCurve(best, func(r *gradients.Result) []float64 { return r.Norms }))
				}
			}
			rates.Panels, losses.Panels, norms.Panels = append(rates.Panels, byRate), append(losses.Panels, byStep), append(norms.Panels, norm)
		}
	}
	for name, c := range map[string]figure.Curves{"gradients-rates.png": rates, "gradients-losses.png": losses, "gradients-norms.png": norms} {
		if err := writeCurves(filepath.Join(dir, name), c); err != nil {
			return err
		}
	}
	return nil
}

func stepCurve(g *gradients.Group, of func(*gradients.Result) []float64) figure.Curve {
	line := figure.Curve{Name: g.Gradient}
	for i, v := range g.Curve(of, curveWindow) {
		line.Points = append(line.Points, figure.CurvePoint{X: (float64(i) + 0.5) * curveWindow, Y: v})
	}
	return line
}

// writeCurves draws a figure into a file, in the place of the one that was there. It is
// over before anyone would interrupt it.
func writeCurves(path string, c figure.Curves) error {
	return cli.WriteFile(context.Background(), path, true, c.WritePNG)
}

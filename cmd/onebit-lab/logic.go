package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/kernels"
	"onebit/models/train"
	"onebit/models/train/gradients"
	"onebit/models/train/logic"
	"onebit/reports/figure"
)

type logicFlags struct {
	logic.Study
	weights []int // of the models that are packed
	threads int
	out     string
	json    bool

	found logicDocument
}

// A logicDocument is what was found, as JSON.
type logicDocument struct {
	Gates   []logic.Trial      `json:"gates"`
	Words   []logic.WordTrial  `json:"words"`
	SHA256  []logic.Prediction `json:"sha256"`
	Formats []footprintEntry   `json:"formats"`
	// NanoLogic is its network at its own size, what is not rounded in fp16.
	NanoLogic []footprintEntry `json:"nanologic"`
}

type footprintEntry struct {
	Weights int    `json:"weights"`
	Format  string `json:"format"`
	Bytes   int    `json:"bytes"`
}

func newLogic() *cobra.Command {
	var f logicFlags
	cmd := &cobra.Command{
		Use:   "logic",
		Short: "See what ternary networks learn of gates and of SHA-256",
		Long: `Train ternary and float neurons on the truth tables of gates, from several random
starts each; train NanoLogic's network on the state of SHA-256, and print what
share of the bits it predicts in each round beside the ceiling that follows from what
it is given; and pack models of given sizes in each format and count their bytes.
Some minutes on two CPUs.`,
		Example: "  onebit-lab logic -o figures\n  onebit-lab logic --seeds 5 --steps 0 --json",
		Args:    cli.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.Starts, "seeds", 20, "`NUMBER` of random starts of each gate")
	flags.IntVar(&f.Steps, "gate-steps", 2000, "`NUMBER` of steps of each gate's training, at most")
	flags.IntVar(&f.Width, "width", 32, "`NUMBER` of features of a bit in the network for SHA-256")
	flags.IntVar(&f.Loops, "loops", 2, "`NUMBER` of times that its block is applied")
	flags.IntVar(&f.Training, "steps", 1500, "`NUMBER` of steps of its training; 0 leaves it out")
	flags.IntVar(&f.Messages, "messages", 50, "`NUMBER` of random messages that it is tested on")
	flags.IntSliceVar(&f.weights, "weights", []int{36_000_000, 100_000_000, 1_200_000_000}, "`SIZES` of the models that are packed")
	flags.IntVar(&f.threads, "threads", 0, "`NUMBER` of threads; 0: one for each CPU")
	flags.StringVarP(&f.out, "output", "o", "", "draw the figures into `DIR`")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.SortFlags = false
	return cmd
}

func (f *logicFlags) run(cmd *cobra.Command) error {
	if f.Starts < 1 || f.Steps < 1 || f.Width < 1 || f.Loops < 1 || f.Messages < 1 || f.Training < 0 || f.threads < 0 {
		return cli.Usagef("--seeds, --gate-steps, --width, --loops and --messages are at least 1, --steps and --threads at least 0")
	}
	for _, n := range f.weights {
		if n < 1 || n > 10_000_000_000 {
			return cli.Usagef("--weights: %d is not from 1 to 10,000,000,000", n)
		}
	}
	if f.out != "" { // minutes before it is written to
		unlock, err := cli.LockFolder(f.out)
		if err != nil {
			return err
		}
		defer unlock()
	}
	ctx, w := cmd.Context(), cmd.OutOrStdout()
	if f.json {
		w = io.Discard // of the tables
	}
	if err := f.learnGates(ctx, w); err != nil {
		return err
	}
	if f.Training > 0 {
		fmt.Fprintln(w)
		if err := f.sha256(ctx, w, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	if err := f.memory(ctx, w); err != nil || !f.json {
		return err
	}
	return cli.PrintJSON(cmd.OutOrStdout(), f.found)
}

// formNames are the columns of the forms.
func formNames() (names []any) {
	for _, form := range logic.Forms {
		names = append(names, form.Name)
	}
	return names
}

// learnGates prints how many starts learn each gate.
func (f *logicFlags) learnGates(ctx context.Context, w io.Writer) error {
	fmt.Fprintf(w, "Starts of %d that learn the whole truth table (median of steps), AdamW at %v, at most %d steps:\n", f.Starts, logic.Rate, f.Steps)
	trials, parities, err := f.Gates(ctx)
	if err != nil {
		return err
	}
	f.found.Gates = trials
	t := cli.NewTable(w, append([]any{"gate", "hidden"}, formNames()...)...)
	for i := 0; i < len(trials); i += len(logic.Forms) {
		row := []any{trials[i].Gate, trials[i].Hidden}
		if i > 0 && trials[i-1].Gate == trials[i].Gate {
			row[0] = ""
		}
		for _, trial := range trials[i : i+len(logic.Forms)] {
			text := fmt.Sprint(len(trial.Learned))
			if len(trial.Learned) > 0 {
				text = fmt.Sprintf("%d (%.0f)", len(trial.Learned), gradients.Median(trial.Learned))
			}
			row = append(row, text)
		}
		t.Row(row...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return f.printWords(w, parities)
}

// printWords prints how often SHA-256's functions of words are right with a learned parity
// for each of their bits.
func (f *logicFlags) printWords(w io.Writer, parities map[*train.Form]*logic.Lesson) error {
	fmt.Fprintf(w, "\nΣ and σ of SHA-256, each bit by the first parity of three that was learned; right of %s random words:\n", count.Grouped(logic.WordsTried))
	f.found.Words = f.Words(parities)
	t := cli.NewTable(w, append([]any{"function"}, formNames()...)...)
	at := 0
	for _, word := range logic.Words {
		row := []any{word.Name}
		for _, form := range logic.Forms {
			if parities[form] == nil {
				row = append(row, "not learned")
				continue
			}
			row = append(row, count.Grouped(f.found.Words[at].Right))
			at++
		}
		t.Row(row...)
	}
	return t.Flush()
}

// sha256 prints how well NanoLogic's network predicts, and one of floats.
func (f *logicFlags) sha256(ctx context.Context, w, progress io.Writer) error {
	fmt.Fprintf(w, "The next state of SHA-256, share of bits right over %d random messages; width %d, %d loops, %d steps of %d states (AdamW, 2e-3, warm-up and cosine):\n",
		f.Messages, f.Width, f.Loops, f.Training, logic.StatesInBatch)
	pool := kernels.NewPool(f.threads)
	defer pool.Close()
	found, err := f.SHA256(ctx, pool, func(form string) (func(int), func()) {
		bar := cli.NewCounter(progress, form, f.Training)
		return bar.Set, bar.Close
	})
	if err != nil {
		return err
	}
	f.found.SHA256 = found
	header := []any{"rounds", "ceiling"}
	for _, p := range found {
		header = append(header, p.Predictor)
	}
	t := cli.NewTable(w, header...)
	row := func(name string, ceiling float64, of func(p logic.Prediction) float64) {
		cells := []any{name, percent(ceiling)}
		for _, p := range found {
			cells = append(cells, percent(of(p)))
		}
		t.Row(cells...)
	}
	const together = 8 // rounds
	for from := 0; from < len(found[0].Rounds); from += together {
		row(fmt.Sprintf("%d to %d", from+1, from+together), logic.Ceiling, func(p logic.Prediction) (mean float64) {
			for _, v := range p.Rounds[from : from+together] {
				mean += v / together
			}
			return mean
		})
	}
	row("all", logic.Ceiling, func(p logic.Prediction) float64 { return p.Mean })
	for i := range found[0].Words {
		row("word "+string(rune('a'+i)), logic.WordCeiling(i), func(p logic.Prediction) float64 { return p.Words[i] })
	}
	if err := t.Flush(); err != nil || f.out == "" {
		return err
	}
	return f.drawRounds(found)
}

func percent(share float64) string { return cli.Fixed(1, 100*share) + " %" }

func (f *logicFlags) drawRounds(found []logic.Prediction) error {
	ceiling := figure.Curve{Name: "ceiling"}
	for t := range found[0].Rounds {
		ceiling.Points = append(ceiling.Points, figure.CurvePoint{X: float64(t + 1), Y: 100 * logic.Ceiling})
	}
	panel := figure.CurvePanel{Lines: []figure.Curve{ceiling}}
	for _, p := range found {
		line := figure.Curve{Name: p.Predictor}
		for t, v := range p.Rounds {
			line.Points = append(line.Points, figure.CurvePoint{X: float64(t + 1), Y: 100 * v})
		}
		panel.Lines = append(panel.Lines, line)
	}
	return writeCurves(filepath.Join(f.out, "logic-rounds.png"), figure.Curves{
		Heading: "Bits of SHA-256's next state that are predicted", X: "round", Y: "percent", Span: [2]float64{50, 100},
		Notes: []string{
			fmt.Sprintf("Over %d random messages. No predictor without the message is right about more than 87.5 %% in expectation.", f.Messages),
			"copies is what is known without learning: six words move on, the other two are taken for 0.",
		},
		Panels: []figure.CurvePanel{panel},
	})
}

// memory prints the bytes of models in each format.
func (f *logicFlags) memory(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "Bytes of packed ternary weights, allocated, packed and counted, and how many times smaller than fp16 that is:")
	t := cli.NewTable(w, "weights", "fp16, computed", "format", "bytes", "bits per weight", "smaller")
	for _, n := range f.weights {
		sizes, err := logic.Memory(ctx, n)
		if err != nil {
			return err
		}
		for i, size := range sizes {
			f.found.Formats = append(f.found.Formats, footprintEntry{n, size.Format.Name, size.Bytes})
			row := []any{count.Grouped(n), count.Grouped(2 * n), size.Format.Name, count.Grouped(size.Bytes), cli.Fixed(4, size.BitsPerWeight()), cli.Fixed(2, size.Reduction()) + "×"}
			if i > 0 {
				row[0], row[1] = "", ""
			}
			t.Row(row...)
		}
		ideal := int(math.Ceil(float64(n) * math.Log2(3) / 8))
		t.Row("", "", "log2 3, computed", count.Grouped(ideal), cli.Fixed(4, math.Log2(3)), cli.Fixed(2, 16/math.Log2(3))+"×")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return f.printNanoLogic(w)
}

// printNanoLogic prints NanoLogic's network at its own size.
func (f *logicFlags) printNanoLogic(w io.Writer) error {
	sizes, rounded, err := logic.NanoLogic()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "NanoLogic's network at width %d: %s weights, %s of them rounded; the others in fp16.\n", logic.NanoLogicWidth, count.Grouped(sizes[0].Weights), count.Grouped(rounded))
	t := cli.NewTable(w, "format", "bytes", "smaller than all in fp16")
	for _, size := range sizes {
		f.found.NanoLogic = append(f.found.NanoLogic, footprintEntry{size.Weights, size.Format.Name, size.Bytes})
		t.Row(size.Format.Name, count.Grouped(size.Bytes), cli.Fixed(2, size.Reduction())+"×")
	}
	return t.Flush()
}

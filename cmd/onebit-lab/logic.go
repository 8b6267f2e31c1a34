package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/internal/count"
	"onebit/kernels"
	"onebit/models/train"
	"onebit/models/train/gradients"
	"onebit/models/train/logic"
	"onebit/reports/figure"
)

type logicFlags struct {
	seeds   int
	gates   int // steps of each gate's training, at most
	width   int
	loops   int
	steps   int
	tested  int // messages
	weights []int
	threads int
	out     string
	json    bool

	found logicDocument
}

// A logicDocument is what was found, as JSON.
type logicDocument struct {
	Gates   []gateEntry      `json:"gates"`
	Words   []wordEntry      `json:"words"`
	SHA256  []accuracyEntry  `json:"sha256"`
	Formats []footprintEntry `json:"formats"`
	// NanoLogic is its network at its own size, what is not rounded in fp16.
	NanoLogic []footprintEntry `json:"nanologic"`
}

type gateEntry struct {
	Gate    string    `json:"gate"`
	Hidden  int       `json:"hidden"`
	Weights string    `json:"weights"`
	Starts  int       `json:"starts"`
	Learned []float64 `json:"learned"` // steps of each start that learned the whole truth table
}

type wordEntry struct {
	Function string `json:"function"`
	Weights  string `json:"weights"`
	Words    int    `json:"words"`
	Right    int    `json:"right"`
}

type accuracyEntry struct {
	Predictor string    `json:"predictor"`
	Mean      float64   `json:"mean"`
	Rounds    []float64 `json:"rounds"`
	Words     []float64 `json:"words"`
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
	flags.IntVar(&f.seeds, "seeds", 20, "`NUMBER` of random starts of each gate")
	flags.IntVar(&f.gates, "gate-steps", 2000, "`NUMBER` of steps of each gate's training, at most")
	flags.IntVar(&f.width, "width", 32, "`NUMBER` of features of a bit in the network for SHA-256")
	flags.IntVar(&f.loops, "loops", 2, "`NUMBER` of times that its block is applied")
	flags.IntVar(&f.steps, "steps", 1500, "`NUMBER` of steps of its training; 0 leaves it out")
	flags.IntVar(&f.tested, "messages", 50, "`NUMBER` of random messages that it is tested on")
	flags.IntSliceVar(&f.weights, "weights", []int{36_000_000, 100_000_000, 1_200_000_000}, "`SIZES` of the models that are packed")
	flags.IntVar(&f.threads, "threads", 0, "`NUMBER` of threads; 0: one for each CPU")
	flags.StringVarP(&f.out, "output", "o", "", "draw the figures into `DIR`")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.SortFlags = false
	return cmd
}

func (f *logicFlags) run(cmd *cobra.Command) error {
	if f.seeds < 1 || f.gates < 1 || f.width < 1 || f.loops < 1 || f.tested < 1 || f.steps < 0 || f.threads < 0 {
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
	if f.steps > 0 {
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

// gateForms are those that gates are learned with; 1bit needs 128 inputs.
var gateForms = []*train.Form{train.NanoLogic, train.B158, train.Float}

// hiddenNeurons are the widths that gates are learned with; 0 is one neuron for each
// output.
var hiddenNeurons = []int{0, 2, 4, 8, 16}

const gateRate = 0.02

// learnGates prints how many starts learn each gate.
func (f *logicFlags) learnGates(ctx context.Context, w io.Writer) error {
	fmt.Fprintf(w, "Starts of %d that learn the whole truth table (median of steps), AdamW at %v, at most %d steps:\n", f.seeds, gateRate, f.gates)
	header := []any{"gate", "hidden"}
	for _, form := range gateForms {
		header = append(header, form.Name)
	}
	t := cli.NewTable(w, header...)
	cells := map[*train.Form]*logic.Lesson{} // a parity that was learned
	for _, g := range logic.Gates {
		for i, hidden := range hiddenNeurons {
			row := []any{g.Name, hidden}
			if i > 0 {
				row[0] = ""
			}
			for _, form := range gateForms {
				learner := logic.Learner{Form: form, Hidden: hidden, Rate: gateRate, Steps: f.gates}
				var steps []float64
				for seed := range uint64(f.seeds) {
					if err := ctx.Err(); err != nil {
						return err
					}
					l, err := learner.Learn(g, seed+1)
					if err != nil {
						return err
					}
					if l.Learned() {
						steps = append(steps, float64(l.Steps))
						if g == logic.Parity {
							cells[form] = cmp.Or(cells[form], l)
						}
					}
				}
				f.found.Gates = append(f.found.Gates, gateEntry{g.Name, hidden, form.Name, f.seeds, append([]float64{}, steps...)})
				text := fmt.Sprint(len(steps))
				if len(steps) > 0 {
					text = fmt.Sprintf("%d (%.0f)", len(steps), gradients.Median(steps))
				}
				row = append(row, text)
			}
			t.Row(row...)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return f.printWords(w, cells)
}

// wordsTried is how many random words each function is tried on.
const wordsTried = 10_000

// printWords says what SHA-256's functions of words are with a learned parity for each
// of their bits.
func (f *logicFlags) printWords(w io.Writer, cells map[*train.Form]*logic.Lesson) error {
	fmt.Fprintf(w, "\nΣ and σ of SHA-256, each bit by the first parity of three that was learned; right of %s random words:\n", count.Grouped(wordsTried))
	header := []any{"function"}
	for _, form := range gateForms {
		header = append(header, form.Name)
	}
	t := cli.NewTable(w, header...)
	for _, word := range logic.Words {
		row := []any{word.Name}
		for _, form := range gateForms {
			cell := cells[form]
			if cell == nil {
				row = append(row, "not learned")
				continue
			}
			var table [8]uint
			for in := range table {
				table[in] = cell.Eval(uint(in))
			}
			right := 0
			r := rand.New(rand.NewPCG(1, 2))
			for range wordsTried {
				x := r.Uint32()
				if word.Through(func(in uint) uint { return table[in] }, x) == word.Eval(x) {
					right++
				}
			}
			f.found.Words = append(f.found.Words, wordEntry{word.Name, form.Name, wordsTried, right})
			row = append(row, count.Grouped(right))
		}
		t.Row(row...)
	}
	return t.Flush()
}

const statesInBatch = 8

// sha256 trains NanoLogic's network and one of floats, and prints their accuracies.
func (f *logicFlags) sha256(ctx context.Context, w, progress io.Writer) error {
	fmt.Fprintf(w, "The next state of SHA-256, share of bits right over %d random messages; width %d, %d loops, %d steps of %d states (AdamW, 2e-3, warm-up and cosine):\n",
		f.tested, f.width, f.loops, f.steps, statesInBatch)
	pool := kernels.NewPool(f.threads)
	defer pool.Close()
	measure := func(p logic.Predictor) *logic.Accuracy {
		return logic.Measure(p, rand.New(rand.NewPCG(1<<32, 0)), f.tested)
	}
	names := []string{"copies"}
	found := []*logic.Accuracy{measure(logic.PredictCopy)}
	for _, form := range gateForms {
		s, err := f.trainSparse(ctx, progress, pool, form)
		if err != nil {
			return err
		}
		names, found = append(names, form.Name), append(found, measure(s.Predict))
	}
	for i, a := range found {
		f.found.SHA256 = append(f.found.SHA256, accuracyEntry{names[i], a.Mean(), a.Rounds[:], a.Words[:]})
	}
	t := cli.NewTable(w, append([]any{"rounds", "ceiling"}, anys(names)...)...)
	for from := 0; from < len(found[0].Rounds); from += 8 {
		row := []any{fmt.Sprintf("%d to %d", from+1, from+8), percent(logic.Ceiling)}
		for _, a := range found {
			var mean float64
			for _, v := range a.Rounds[from : from+8] {
				mean += v / 8
			}
			row = append(row, percent(mean))
		}
		t.Row(row...)
	}
	row := []any{"all", percent(logic.Ceiling)}
	for _, a := range found {
		row = append(row, percent(a.Mean()))
	}
	t.Row(row...)
	for i := range found[0].Words {
		row := []any{"word " + string(rune('a'+i)), percent(wordCeiling(i))}
		for _, a := range found {
			row = append(row, percent(a.Words[i]))
		}
		t.Row(row...)
	}
	if err := t.Flush(); err != nil || f.out == "" {
		return err
	}
	return f.drawRounds(names, found)
}

// wordCeiling is 1 but for the words that depend on the message.
func wordCeiling(word int) float64 {
	if word == 0 || word == 4 {
		return 0.5
	}
	return 1
}

func percent(share float64) string { return cli.Fixed(1, 100*share) + " %" }

func (f *logicFlags) trainSparse(ctx context.Context, progress io.Writer, pool *kernels.Pool, form *train.Form) (*logic.Sparse, error) {
	b := train.NewBuilder(pool, 1)
	s, err := logic.NewSparse(b, f.width, f.loops, train.Options{Form: form})
	if err != nil {
		return nil, err
	}
	rule, err := train.LookupRule("adamw")
	if err != nil {
		return nil, err
	}
	o := train.NewOptimizer(pool, rule, s.Params())
	o.Clip = 1
	rate := train.WarmupCosine(2e-3, 0, f.steps/20, f.steps)
	r := rand.New(rand.NewPCG(1, 0))
	bar := cli.NewCounter(progress, form.Name, f.steps)
	defer bar.Close()
	for step := 1; step <= f.steps; step++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := s.Train(o, b, step, rate(step), logic.NewBatch(r, statesInBatch, len(logic.Accuracy{}.Rounds))); err != nil {
			return nil, err
		}
		bar.Set(step)
	}
	return s, nil
}

func (f *logicFlags) drawRounds(names []string, found []*logic.Accuracy) error {
	ceiling := figure.Curve{Name: "ceiling"}
	for t := range found[0].Rounds {
		ceiling.Points = append(ceiling.Points, figure.CurvePoint{X: float64(t + 1), Y: 100 * logic.Ceiling})
	}
	panel := figure.CurvePanel{Lines: []figure.Curve{ceiling}}
	for i, a := range found {
		line := figure.Curve{Name: names[i]}
		for t, v := range a.Rounds {
			line.Points = append(line.Points, figure.CurvePoint{X: float64(t + 1), Y: 100 * v})
		}
		panel.Lines = append(panel.Lines, line)
	}
	return writeCurves(filepath.Join(f.out, "logic-rounds.png"), figure.Curves{
		Heading: "Bits of SHA-256's next state that are predicted", X: "round", Y: "percent", Span: [2]float64{50, 100},
		Notes: []string{
			fmt.Sprintf("Over %d random messages. No predictor without the message is right about more than 87.5 %% in expectation.", f.tested),
			"copies is what is known without learning: six words move on, the other two are taken for 0.",
		},
		Panels: []figure.CurvePanel{panel},
	})
}

// memory prints what models take in each format.
func (f *logicFlags) memory(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "Bytes of packed ternary weights, allocated, packed and counted, and how many times smaller than fp16 that is:")
	t := cli.NewTable(w, "weights", "fp16, computed", "format", "bytes", "bits per weight", "smaller")
	for _, n := range f.weights {
		for i, format := range logic.PackedFormats {
			if err := ctx.Err(); err != nil {
				return err
			}
			size, err := logic.Pack(format, n)
			if err != nil {
				return err
			}
			f.found.Formats = append(f.found.Formats, footprintEntry{n, format.Name, size.Bytes})
			row := []any{count.Grouped(n), count.Grouped(2 * n), format.Name, count.Grouped(size.Bytes), cli.Fixed(4, size.BitsPerWeight()), cli.Fixed(2, size.Reduction()) + "×"}
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

// nanoLogicWidth is that of NanoLogic's model.
const nanoLogicWidth = 1024

// printNanoLogic packs NanoLogic's network at its own size.
func (f *logicFlags) printNanoLogic(w io.Writer) error {
	s, err := logic.NewSparse(train.NewBuilder(nil, 1), nanoLogicWidth, 1, train.Options{Form: train.NanoLogic, HalfScale: true})
	if err != nil {
		return err
	}
	weights, rounded := 0, 0
	for _, p := range s.Params() {
		weights += len(p.W)
	}
	for _, l := range s.Products() {
		rounded += len(l.Weight.W)
	}
	fmt.Fprintf(w, "NanoLogic's network at width %d: %s weights, %s of them rounded; the others in fp16.\n", nanoLogicWidth, count.Grouped(weights), count.Grouped(rounded))
	t := cli.NewTable(w, "format", "bytes", "smaller than all in fp16")
	for _, format := range []*formats.Type{formats.I2_S, formats.TQ1_0} {
		size := 2 * (weights - rounded)
		for _, l := range s.Products() {
			packed, err := l.Pack(format)
			if err != nil {
				return err
			}
			size += len(packed.Data)
		}
		f.found.NanoLogic = append(f.found.NanoLogic, footprintEntry{weights, format.Name, size})
		t.Row(format.Name, count.Grouped(size), cli.Fixed(2, float64(2*weights)/float64(size))+"×")
	}
	return t.Flush()
}

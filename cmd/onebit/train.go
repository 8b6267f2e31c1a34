package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/kernels"
	"onebit/models/train"
	"onebit/models/train/lm"
	"onebit/reports"
	"onebit/reports/doc"
	"onebit/reports/render"
	"onebit/reports/training"
)

// trainFlags are the flags of onebit train.
type trainFlags struct {
	output  string
	corpus  lm.Origin
	heldOut string
	threads int
	every   int
	resume  bool
	force   bool
	json    bool
	from    string
	models  modelFlags
	recipe  lm.Recipe // what was given of it
}

func newTrain() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "train RECIPE -o DIR",
		Short: "Train a small ternary or 1-bit language model, written as GGUF",
		Long: "Train a small language model whose weights are rounded to ternary or 1 bit in every\n" +
			"pass, on the documentation of the Go installation or on another text, and write it as\n" +
			"DIR/" + lm.ModelName + ". The same recipe, seed and text give the same file for any number of threads.\n\n" +
			"DIR/" + lm.CheckpointName + " is replaced every --every steps and when the run is interrupted, whole at\n" +
			"any moment; --resume goes on from it to the same bits. Flags change the recipe.\n\n" +
			"Recipes:\n" + recipeList(),
		Example: "  onebit train ternary -o ternary\n" +
			"  onebit train --resume -o ternary\n" +
			"  onebit train 1bit -o letters --text letters.txt --layers 4 --steps 500",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.resume && len(args) == 0 {
				return nil
			}
			return cli.ExactArgs("RECIPE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`DIR` of checkpoint and model")
	cli.CorpusFlags(flags, &f.corpus)
	flags.StringVar(&f.heldOut, "held-out", "", "write the text that is held out to `FILE`")
	flags.IntVar(&f.threads, "threads", 0, "threads (default: one a core, of performance cores where there are others)")
	flags.IntVar(&f.every, "every", 100, "steps between checkpoints and points of the learning curve")
	flags.StringVar(&f.from, "from", "", "start with the weights, the sizes and the vocabulary of a `MODEL`: GGUF, .cellm or a Hugging Face directory")
	f.models.register(cmd)
	flags.BoolVar(&f.resume, "resume", false, "go on from the checkpoint in DIR")
	flags.BoolVar(&f.force, "force", false, forceUsage)
	flags.BoolVar(&f.json, "json", false, "print JSON")
	for _, flag := range recipeFlags {
		flag.add(cmd, &f.recipe)
	}
	return cmd
}

func recipeList() string {
	var b strings.Builder
	t := cli.NewTable(&b)
	for _, r := range lm.Recipes() {
		t.Row("  "+r.Base, fmt.Sprintf("%s, %s: %d blocks of %d, %d tokens;", r.Architecture, r.Form, r.Layers, r.Hidden, r.Vocab))
		t.Row("", fmt.Sprintf("%d steps of %d × %d tokens", r.Steps, r.Batch, r.Context))
	}
	t.Flush()
	return strings.TrimRight(b.String(), "\n")
}

// stepsFlag is the one of a recipe that a run can go on with changed.
const stepsFlag = "steps"

// A recipeFlag sets a field of the recipe.
type recipeFlag struct {
	name, usage string
	field       func(r *lm.Recipe) any
}

var recipeFlags = []recipeFlag{
	{"arch", "architecture by `NAME`", func(r *lm.Recipe) any { return &r.Architecture }},
	{"form", "`FORM` of the projections' weights: " + strings.Join(formNames(), ", "), func(r *lm.Recipe) any { return &r.Form }},
	{"embedding", "`FORM` of the embedding, which is the head too", func(r *lm.Recipe) any { return &r.Embedding }},
	{"layers", "transformer blocks", func(r *lm.Recipe) any { return &r.Layers }},
	{"hidden", "width of the residual stream", func(r *lm.Recipe) any { return &r.Hidden }},
	{"ffn", "width of the feed-forward network", func(r *lm.Recipe) any { return &r.FFN }},
	{"heads", "query heads", func(r *lm.Recipe) any { return &r.Heads }},
	{"kv-heads", "key and value heads", func(r *lm.Recipe) any { return &r.KVHeads }},
	{"head-dim", "width of a head", func(r *lm.Recipe) any { return &r.HeadDim }},
	{"vocab", "tokens of the vocabulary", func(r *lm.Recipe) any { return &r.Vocab }},
	{"ctx", "tokens in a window", func(r *lm.Recipe) any { return &r.Context }},
	{"batch", "windows in a step", func(r *lm.Recipe) any { return &r.Batch }},
	{"pass", "windows in a pass of a step, which are in memory at once", func(r *lm.Recipe) any { return &r.Pass }},
	{stepsFlag, "steps; beside --resume the run ends there, and the learning rate falls towards that from now on", func(r *lm.Recipe) any { return &r.Steps }},
	{"rate", "learning rate after the warm-up", func(r *lm.Recipe) any { return &r.Rate }},
	{"last-rate", "learning rate of the last step, as a share of --rate", func(r *lm.Recipe) any { return &r.LastRate }},
	{"warmup", "steps of warm-up; of a run whose --steps are given, a tenth of them at most where this is not", func(r *lm.Recipe) any { return &r.Warmup }},
	{"optimizer", "optimizer: " + strings.Join(train.RuleNames(), ", "), func(r *lm.Recipe) any { return &r.Optimizer }},
	{"decay", "weight decay of matrices", func(r *lm.Recipe) any { return &r.Decay }},
	{"clip", "largest norm of the gradients; 0: any", func(r *lm.Recipe) any { return &r.Clip }},
	{"distil", "share of the loss that is the divergence from the predictions of --from's model with its weights as they are", func(r *lm.Recipe) any { return &r.Distil }},
	{"seed", "seed of weights and order", func(r *lm.Recipe) any { return &r.Seed }},
}

func formNames() []string { return each(train.Forms(), func(f *train.Form) string { return f.Name }) }

// add registers the flag, whose default is the recipe's.
func (flag recipeFlag) add(cmd *cobra.Command, given *lm.Recipe) {
	flags, usage := cmd.Flags(), flag.usage+" (default: the recipe's)"
	switch field := flag.field(given).(type) {
	case *string:
		flags.StringVar(field, flag.name, "", usage)
	case *int:
		flags.IntVar(field, flag.name, 0, usage)
	case *float64:
		flags.Float64Var(field, flag.name, 0, usage)
	case *uint64:
		flags.Uint64Var(field, flag.name, 0, usage)
	}
}

// set copies a field that was given.
func (flag recipeFlag) set(to, given *lm.Recipe) {
	switch field := flag.field(to).(type) {
	case *string:
		*field = *flag.field(given).(*string)
	case *int:
		*field = *flag.field(given).(*int)
	case *float64:
		*field = *flag.field(given).(*float64)
	case *uint64:
		*field = *flag.field(given).(*uint64)
	}
}

// check completes the recipe.
func (f *trainFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case f.output == "":
		return cli.Usagef("-o DIR is missing")
	case f.threads < 0 || f.threads > 1024:
		return cli.Usagef("--threads %d: give a number from 1 to 1024", f.threads)
	case f.every < 1:
		return cli.Usagef("--every %d: give a number of steps", f.every)
	case f.corpus.File != "" && f.corpus.GoRoot != "":
		return cli.Usagef("--text and --goroot exclude each other: there is one text")
	case f.resume && f.force:
		return cli.Usagef("--resume and --force exclude each other")
	case f.resume && f.from != "":
		return cli.Usagef("--from has no place beside --resume: the checkpoint has the weights")
	case f.resume && len(args) > 0:
		return cli.Usagef("--resume takes no RECIPE: the checkpoint has it")
	}
	if f.resume {
		if cmd.Flags().Changed(stepsFlag) && f.recipe.Steps < 1 {
			return cli.Usagef("--%s %d: give the step to end with", stepsFlag, f.recipe.Steps)
		}
		for _, flag := range recipeFlags {
			if flag.name != stepsFlag && cmd.Flags().Changed(flag.name) {
				return cli.Usagef("--%s has no place beside --resume: the checkpoint has the recipe", flag.name)
			}
		}
		return nil
	}
	recipe, err := lm.LookupRecipe(args[0])
	if err != nil {
		return cli.Usagef("%w", err)
	}
	for _, flag := range recipeFlags {
		if cmd.Flags().Changed(flag.name) {
			flag.set(&recipe, &f.recipe)
		}
	}
	if cmd.Flags().Changed(stepsFlag) && !cmd.Flags().Changed("warmup") {
		recipe.FitWarmup()
	}
	recipe.From, recipe.Name = f.from, folderName(f.output)
	f.recipe = recipe
	if err := recipe.Check(); err != nil {
		return cli.Usagef("%w", err)
	}
	return nil
}

// folderName is what a model in a folder is called.
func folderName(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return filepath.Base(dir)
}

func (f *trainFlags) run(cmd *cobra.Command) (err error) {
	saved, err := f.openCheckpoint()
	if err != nil {
		return err
	}
	if saved != nil {
		defer func() { err = errors.Join(err, saved.Close()) }()
	}
	unlock, err := cli.LockFolder(f.output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := f.checkFolder(); err != nil {
		return err
	}
	corpus, err := f.corpus.Read(cmd.Context()) // seconds
	if err != nil {
		return err
	}
	if f.heldOut != "" {
		if err := f.writeHeldOut(cmd.Context(), corpus); err != nil {
			return err
		}
	}
	pool := kernels.NewPool(f.threads)
	defer pool.Close()
	t, err := f.trainer(saved, corpus, pool)
	if err == nil {
		err = f.teach(t)
	}
	if err != nil {
		return err
	}
	return f.train(cmd, t)
}

// openCheckpoint opens the one to go on from, if any. It refuses one that is missing or
// damaged, one beyond memory and one of another text, and a new run beyond memory, before a folder is
// made or a text is read.
func (f *trainFlags) openCheckpoint() (*lm.Checkpoint, error) {
	if !f.resume {
		return nil, f.foresee()
	}
	saved, err := lm.OpenCheckpoint(f.checkpoint())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no checkpoint to go on from", f.checkpoint())
	}
	if err != nil {
		return nil, err
	}
	if err := f.corpus.MayBe(saved.Text()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.checkpoint(), err), saved.Close())
	}
	return saved, nil
}

// foresee refuses a new run beyond memory. The sizes of one that starts from a model are
// the model's.
func (f *trainFlags) foresee() error {
	if f.from != "" {
		return nil
	}
	return f.recipe.Fits()
}

// checkFolder refuses to replace a run.
func (f *trainFlags) checkFolder() error {
	if f.resume || f.force {
		return nil
	}
	for _, name := range []string{lm.CheckpointName, lm.ModelName} {
		path := filepath.Join(f.output, name)
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s exists: --resume goes on from a checkpoint, --force begins anew", path)
		}
	}
	return nil
}

func (f *trainFlags) writeHeldOut(ctx context.Context, c *lm.Corpus) error {
	return cli.WriteFile(ctx, f.heldOut, f.force || f.resume, func(w io.Writer) error {
		for text := range lm.Texts(c.HeldOut) {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *trainFlags) checkpoint() string { return filepath.Join(f.output, lm.CheckpointName) }

// trainer goes on with a saved run, whose file it closes since the next checkpoint takes
// its name, or begins one.
func (f *trainFlags) trainer(saved *lm.Checkpoint, corpus *lm.Corpus, pool *kernels.Pool) (*lm.Trainer, error) {
	if saved != nil {
		t, err := saved.Resume(corpus, pool)
		err = errors.Join(err, saved.Close())
		if err == nil && f.recipe.Steps > 0 {
			err = t.SetSteps(f.recipe.Steps)
		}
		return t, err
	}
	if f.from == "" {
		return lm.New(f.recipe, corpus, pool)
	}
	src, err := f.models.open(f.from)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return lm.From(f.recipe, src, corpus, pool)
}

// teach hands a run the model that it learns from, if it does.
func (f *trainFlags) teach(t *lm.Trainer) error {
	if t.Recipe.Distil == 0 {
		return nil
	}
	src, err := f.models.open(t.Recipe.From)
	if err != nil {
		return err
	}
	defer src.Close()
	return t.Teach(src)
}

// train makes the steps that are left, and says at the end what came of them.
func (f *trainFlags) train(cmd *cobra.Command, t *lm.Trainer) error {
	p := newTrainProgress(cmd.ErrOrStderr(), t)
	p.begin()
	err := t.Run(cmd.Context(), f.checkpoint(), f.every, p)
	if at, ok := errors.AsType[*lm.InterruptedError](err); ok {
		return fmt.Errorf("step %d of %d is in %s; onebit train --resume -o %s goes on: %w", at.Step, at.Steps, at.Path, f.output, at.Err)
	}
	if err != nil {
		return err
	}
	return f.finish(cmd, t)
}

func (f *trainFlags) finish(cmd *cobra.Command, t *lm.Trainer) error {
	path := filepath.Join(f.output, lm.ModelName)
	if err := cli.WriteFile(cmd.Context(), path, true, t.Export); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	held, err := t.HeldOut(cmd.Context())
	if err != nil {
		return fmt.Errorf("%s is written, and not scored: %w", path, err)
	}
	r := trainResult{trainer: t, path: path, size: info.Size(), model: held, trigram: t.Trigram()}
	if f.json {
		err = cli.PrintJSON(cmd.OutOrStdout(), r.document())
	} else {
		err = r.print(cmd.OutOrStdout())
	}
	return errors.Join(err, f.record(cmd, r.results()))
}

// record writes results.txt and the page beside the model.
func (f *trainFlags) record(cmd *cobra.Command, res *results.Set) error {
	path := filepath.Join(f.output, resultsName)
	source := &reports.Source{Paths: []string{path}, Machines: []*results.Set{res}}
	d, err := reports.Build(cmd.Context(), source)
	if err != nil {
		return err
	}
	if there, err := results.ReadFiles(cmd.Context(), path); !f.force && !errors.Is(err, fs.ErrNotExist) && (err != nil || !training.Recognise(there)) {
		return fmt.Errorf("%s holds other results: the model is written, and no report of how it was trained", path)
	}
	if err := render.Folder(cmd.Context(), f.output, d, render.FolderOptions{Force: f.force, Beside: []doc.File{{Name: resultsName, Write: res.Write}}}); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(f.output, "index.html"))
	return nil
}

// shortDescription is a recipe in a few words.
func shortDescription(r lm.Recipe, weights int) string {
	return fmt.Sprintf("%s, %s weights, embedding %s: %d blocks of %d, %.2f million weights",
		r.Architecture, r.Form, cmp.Or(r.Embedding, r.Form), r.Layers, r.Hidden, float64(weights)/1e6)
}

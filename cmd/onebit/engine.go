package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench/names"
	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	enginemetal "onebit/models/engine/metal"
	_ "onebit/models/engine/plain"
	"onebit/models/forward"
	"onebit/models/source"
	"onebit/models/tokenizer"
)

// engineFlags are the flags of every verb that runs a model.
type engineFlags struct {
	modelFlags
	threads int
	variant string
	act     string
	head    string
	cache   string
	native  bool
	stream  bool
	engine  string        // ""; cpu
	pool    *kernels.Pool // of another model, to run on; nil: one of its own
	memory  memorySize
	room    int       // tokens of context that a session is to have; 0: that is not known yet
	notes   io.Writer // for what it will take of memory; nil: nowhere
}

func (e *engineFlags) register(cmd *cobra.Command) {
	e.modelFlags.register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&e.threads, "threads", 0, "threads (default: one a core, of performance cores where there are others)")
	flags.StringVar(&e.variant, "variant", "", "kernel variant by `NAME` (see onebit kernels; default: the best here); the best that needs no other instructions where a format, --native or --stream has no use for it")
	flags.StringVar(&e.act, "act", "", "`SCHEME` of the activations: "+strings.Join(activationNames(), ", ")+" (default: the one that each format is meant for)")
	flags.StringVar(&e.cache, "cache", "", "`FORMAT` of keys and values: f16, f32, q8_0 or q4_0 (default: f16; f32 with --variant reference)")
	flags.StringVar(&e.head, "head", "", "convert the output head to a `FORMAT`, such as q8_0 for one in f16")
	flags.BoolVar(&e.native, "native", false, "multiply the file's bytes in place, without packing the weights behind the run")
	e.memory.register(flags)
	flags.BoolVar(&e.stream, "stream", false, "keep one transformer block in memory at a time, for a model larger than that (a block that a Hugging Face directory makes is made again for each batch of tokens)")
}

// registerEngine adds the choice of an engine, for verbs that ask nothing of it
// that only the CPU's has.
func (e *engineFlags) registerEngine(cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.engine, "engine", "", "engine by `NAME` (see onebit kernels; default: cpu, which the other flags are about; metal takes --variant and --native too)")
}

// onCPU reports whether the engine is the CPU's.
func (e *engineFlags) onCPU() bool { return e.engine == "" || e.engine == "cpu" }

// another returns the opener of an engine that is not the CPU's, and refuses flags
// that it would not follow.
func (e *engineFlags) another() (engine.Opener, error) {
	kind, err := engine.Lookup(e.engine)
	onMetal := e.engine == names.Metal
	switch {
	case err != nil && kind.Name != "": // known, but not for this machine
		return nil, err
	case err != nil:
		return nil, cli.Usagef("--engine: %w", err)
	case onMetal && (e.act != "" || e.stream || e.threads != 0):
		return nil, cli.Usagef("--engine metal goes without --act, --stream and --threads, which are about the engine cpu")
	case onMetal && e.variant != "" && !slices.Contains(enginemetal.KernelNames(), e.variant):
		return nil, cli.Usagef("--variant: the engine metal has no variant %q (known: %s)", e.variant, strings.Join(enginemetal.KernelNames(), ", "))
	case onMetal:
		return enginemetal.Options{Native: e.native, Variant: e.variant}, nil
	case e.variant != "" || e.act != "" || e.native || e.stream || e.threads != 0:
		return nil, cli.Usagef("--engine %s goes without --variant, --act, --native, --stream and --threads, which are about the engine cpu", e.engine)
	}
	return kind.Open, nil
}

// options turns the flags into what a model is opened with; packing is the
// verb's choice where no flag says.
func (e *engineFlags) options(packing cpu.Packing) (models.Options, error) {
	var opt models.Options
	on := cpu.Options{Packing: packing, Threads: e.threads, Pool: e.pool}
	switch {
	case e.threads < 0 || e.threads > 1024:
		return opt, cli.Usagef("--threads %d: give a number from 1 to 1024", e.threads)
	case e.native && e.stream:
		return opt, cli.Usagef("--native and --stream exclude each other: streaming is native already")
	case e.native:
		on.Packing = cpu.PackNever
	case e.stream:
		on.Packing = cpu.Stream
	}
	var err error
	if e.head != "" {
		if opt.Head, err = headType(e.head); err != nil {
			return opt, err
		}
	}
	if !e.onCPU() {
		opt.Engine, err = e.another()
		return opt, err
	}
	var act kernels.Scheme
	if e.act != "" {
		if act, err = kernels.ParseScheme(e.act); err != nil {
			return opt, cli.Usagef("--act: %w", err)
		}
	}
	if e.variant != "" || act != "" {
		if err = cpu.CheckChoice(e.variant, act); err == nil {
			on.Kernels, err = cpu.Prefer(e.variant, act)
		}
		if _, wrong := errors.AsType[*cpu.ChoiceError](err); wrong {
			err = cli.Usagef("--variant: %w", err)
		}
	}
	opt.Engine = on
	return opt, err
}

// headType is a format that --head asks for.
func headType(name string) (*formats.Type, error) {
	t, err := formats.Lookup(name)
	if err == nil {
		err = cpu.CheckHead(t)
	}
	if err != nil {
		return nil, cli.Usagef("--head: %w", err)
	}
	return t, nil
}

// cacheFormat is that of keys and values; nil is the usual one.
func (e *engineFlags) cacheFormat() (*formats.Type, error) {
	if e.cache == "" && e.variant == cpu.Reference {
		return formats.F32, nil
	}
	return parseCache(e.cache)
}

// parseCache returns the format that --cache names; nil of "".
func parseCache(name string) (*formats.Type, error) {
	if name == "" {
		return nil, nil
	}
	t, err := cpu.CacheFormat(name)
	if err != nil {
		return nil, cli.Usagef("--cache: %w", err)
	}
	return t, nil
}

// An openModel is a model with its tokenizer.
type openModel struct {
	*models.Model
	Tokenizer *tokenizer.Tokenizer
	cache     *formats.Type // of keys and values; nil for the usual one
	// opened is how long the model took to be ready, its tokenizer apart: what
	// bench calls load.
	opened time.Duration
	memory memorySize
}

// newSession starts a session for a number of tokens.
func (en *openModel) newSession(context int) (*models.Session, error) {
	return en.NewSession(models.SessionOptions{Context: context, Cache: en.cache, Memory: int64(en.memory)})
}

// load opens the model and its tokenizer.
func (e *engineFlags) load(ctx context.Context, path string, packing cpu.Packing) (*openModel, error) {
	opt, err := e.options(packing)
	if err != nil {
		return nil, err
	}
	en := &openModel{memory: e.memory}
	if en.cache, err = e.cacheFormat(); err != nil {
		return nil, err
	}
	start := clock.Now()
	src, err := e.open(path)
	if err != nil {
		return nil, err
	}
	if err := e.foresee(src, opt, en.cache); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	en.Model, en.Tokenizer, err = models.LoadWithTokenizer(ctx, src, opt)
	en.opened = clock.Since(start)
	return en, err
}

// foresee says what the model and its session will take of memory before that is
// taken, and refuses what has no room. Where there is nothing to plan with, or not
// that many tokens in the model, it is for loading to say why.
func (e *engineFlags) foresee(src source.Source, opt models.Options, cache *formats.Type) error {
	if e.room == 0 || !e.onCPU() {
		return nil
	}
	plan, err := models.NewPlan(src, opt)
	if err != nil || e.room > plan.Context() {
		return nil
	}
	return e.memory.foresee(e.notes, plan, e.room, cache)
}

// variants lists what multiplies the weights now: "format/variant/scheme".
func (en *openModel) variants() []string {
	layers := []*forward.Linear{en.Head}
	for _, b := range en.Blocks() {
		layers = append(layers, b.Linears()...)
	}
	var out []string
	for _, l := range layers {
		if name := l.Kernel(); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// headNote is the end of a summary that says what became of the head, if anything.
func (en *openModel) headNote() string {
	if en.HeadError == 0 {
		return ""
	}
	return fmt.Sprintf("; head converted to %s, NMSE %.2g", en.Head.Type.Name, en.HeadError)
}

// gpu is the name of the GPU that the model runs on, if it does, and whether that
// is played.
func (en *openModel) gpu() (name string, emulated bool) {
	if e, ok := en.Engine().(*enginemetal.Engine); ok {
		return e.Device().Name(), e.Device().Emulated()
	}
	return "", false
}

// gpuNote is the end of a summary that names it.
func (en *openModel) gpuNote() string {
	switch name, emulated := en.gpu(); {
	case emulated:
		return fmt.Sprintf("; %s plays the GPU: times say nothing about one", name)
	case name != "":
		return "; on " + name
	}
	return ""
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/internal/bounded"
	"onebit/internal/clock"
	"onebit/models"
	"onebit/models/engine/cpu"
	"onebit/models/perplexity"
	"onebit/models/synth"
	"onebit/models/tokenizer"
)

type perplexityFlags struct {
	engineFlags
	file     string
	protocol perplexity.Protocol
	windows  int
	kld      bool
	logits   string
	save     string
	force    bool
	json     bool
}

func newPerplexity() *cobra.Command {
	var f perplexityFlags
	cmd := &cobra.Command{
		Use:   "perplexity [MODEL] -f TEXT",
		Short: "Measure how well a model predicts a text, and kernel error",
		Long: `Measure the perplexity of a text by llama.cpp's protocol, which the output names: the
text is cut into windows of --ctx tokens that do not overlap, and the second half of
each is scored. With --stride, windows are --ctx + stride/2 tokens long, begin every
stride tokens, and the last stride tokens of each are scored. ± is the standard error.

With --kld, the reference engine (dequantized weights, float64 sums, no quantized
activations) runs beside the model, and its distributions are compared by their
Kullback-Leibler divergence. The reference is slow: --chunks limits the windows.

--save-logits keeps the distributions of a run in the file format of llama.cpp's
--kl-divergence-base: 2 bytes for each scored token and token of the vocabulary, 77 MB a
window of 512 for a vocabulary of 151936. --logits compares with such a file, in place
of a text:
  onebit perplexity model.gguf -f text --variant reference --save-logits base
  onebit perplexity model.gguf --logits base`,
		Args: optionalModel,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, modelOf(args)) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "file", "f", "", "`FILE` of text, less a newline at its end; - reads standard input")
	flags.IntVar(&f.protocol.Context, "ctx", 512, "tokens of context")
	flags.IntVar(&f.protocol.Stride, "stride", 0, "tokens between windows (default: they do not overlap)")
	flags.IntVar(&f.windows, "chunks", 0, "most windows (default: all of the text)")
	flags.BoolVar(&f.kld, "kld", false, "compare with the reference engine")
	flags.StringVar(&f.logits, "logits", "", "compare with the saved logits in `FILE`, which holds its text")
	flags.StringVar(&f.save, "save-logits", "", "write the model's logits to `FILE`")
	flags.BoolVar(&f.force, "force", false, forceUsage)
	flags.BoolVar(&f.json, "json", false, "print JSON")
	f.register(cmd)
	f.registerTokenizer(cmd)
	f.registerEngine(cmd)
	return cmd
}

func (f *perplexityFlags) run(cmd *cobra.Command, path string) (err error) {
	if err := f.check(cmd); err != nil {
		return err
	}
	text, saved, err := f.input(cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer saved.Close()
	f.room = f.protocol.Window()
	if !f.json {
		f.notes = cmd.ErrOrStderr()
	}
	en, err := f.load(cmd.Context(), path, cpu.PackFirst)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, en.Close()) }()
	if window := f.protocol.Window(); window > en.Config.Context {
		if saved != nil {
			return fmt.Errorf("%s: windows of %d tokens do not fit in the model's context of %d", f.logits, window, en.Config.Context)
		}
		return cli.Usagef("windows of %d tokens do not fit in the model's context of %d: use a smaller --ctx", window, en.Config.Context)
	}
	session, err := en.newSession(f.room)
	if err != nil {
		return err
	}
	defer session.Close()
	reference, closeReference, err := f.reference(cmd.Context(), path, en, saved)
	if err != nil {
		return err
	}
	defer closeReference()

	f.protocol.BOS = -1
	if en.Tokenizer.AddBOS() {
		f.protocol.BOS = en.Tokenizer.BOS()
	}
	r := perplexityResult{
		model: path, text: cmp.Or(f.file, f.logits), referenceName: f.referenceName(), variants: en.variants(), protocol: f.protocol,
	}
	if meta, err := en.Source().Metadata(); err == nil {
		r.random = synth.Made(meta)
	}
	var ids []int
	if saved != nil {
		ids = saved.Tokens
	} else {
		ids = en.Tokenizer.Encode(text, tokenizer.Options{AddSpecial: true})
	}
	err = f.measure(cmd, &r, session, reference, ids, en.Config.Vocab)
	if r.estimate.Windows == 0 {
		return err
	}
	r.memory = en.memoryOf(session.Context())
	if f.json {
		return errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), r.document()))
	}
	return errors.Join(err, r.print(cmd.OutOrStdout()))
}

func (f *perplexityFlags) check(cmd *cobra.Command) error {
	if f.logits != "" {
		for _, name := range []string{"file", "ctx", "stride", "kld", "save-logits"} {
			if cmd.Flags().Changed(name) {
				return cli.Usagef("--%s has no place beside --logits, whose file holds the text and its windows", name)
			}
		}
	} else if f.file == "" {
		return cli.Usagef("-f TEXT is missing")
	}
	if f.windows < 0 {
		return cli.Usagef("--chunks %d: give a number of windows", f.windows)
	}
	if f.save != "" && f.protocol.Stride > 0 {
		return cli.Usagef("--save-logits: the format is for windows that do not overlap, without --stride")
	}
	if err := f.protocol.Validate(); err != nil {
		return cli.Usagef("%w", err)
	}
	return nil
}

// input reads the text, or the beginning of the saved logits that stand for it.
// It drops a newline at the end of the text, as llama.cpp does: that is a token,
// and with it there can be one window more.
func (f *perplexityFlags) input(stdin io.Reader) (text string, saved *perplexity.SavedLogits, err error) {
	if f.logits == "" {
		text, err = readText(f.file, stdin)
		return strings.TrimSuffix(text, "\n"), nil, err
	}
	if saved, err = perplexity.OpenLogits(f.logits); err == nil {
		f.protocol.Context = saved.Context
	}
	return "", saved, err
}

// mostText is more bytes than the texts that perplexities are given for have.
const mostText = 1 << 30

func readText(path string, stdin io.Reader) (string, error) {
	if path == "-" {
		text, err := bounded.Read(stdin, mostText)
		if err != nil {
			return "", fmt.Errorf("reading the text: %w", err)
		}
		return string(text), nil
	}
	// Of a pipe too, such as a shell makes of <(command).
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, cli.WithoutPath(err, path))
	}
	defer file.Close()
	text, err := bounded.Read(file, mostText)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, cli.WithoutPath(err, path))
	}
	return string(text), nil
}

// reference returns what the model is compared with, nil for nothing, and what
// to call when done with it.
func (f *perplexityFlags) reference(ctx context.Context, path string, en *openModel, saved *perplexity.SavedLogits) (perplexity.Session, func(), error) {
	switch {
	case f.kld:
		return f.referenceEngine(ctx, path, en)
	case saved == nil:
		return nil, func() {}, nil
	case saved.Vocab != en.Config.Vocab:
		return nil, nil, fmt.Errorf("%s: the saved logits have a vocabulary of %d tokens, the model one of %d", f.logits, saved.Vocab, en.Config.Vocab)
	}
	return saved.LogitReader, func() {}, nil
}

// referenceEngine opens the model once more, as the reference engine. The
// tokens are en's.
func (f *perplexityFlags) referenceEngine(ctx context.Context, path string, en *openModel) (perplexity.Session, func(), error) {
	flags := engineFlags{modelFlags: f.modelFlags, pool: cpu.PoolOf(en.Engine()), variant: cpu.Reference}
	opt, err := flags.options(cpu.PackNever)
	if err != nil {
		return nil, nil, err
	}
	cache, err := flags.cacheFormat()
	if err != nil {
		return nil, nil, err
	}
	src, err := f.open(path)
	if err != nil {
		return nil, nil, err
	}
	model, err := models.Load(ctx, src, opt)
	if err != nil {
		return nil, nil, err
	}
	session, err := model.NewSession(models.SessionOptions{Context: f.protocol.Window(), Cache: cache})
	if err != nil {
		model.Close()
		return nil, nil, err
	}
	return session, func() {
		session.Close()
		model.Close()
	}, nil
}

func (f *perplexityFlags) referenceName() string {
	if f.kld {
		return "the reference engine"
	}
	return f.logits
}

// A perplexityResult is an estimate with what it is of. An error leaves that of
// the windows before it.
type perplexityResult struct {
	model, text   string
	referenceName string // "" if there is none
	protocol      perplexity.Protocol
	variants      []string
	random        bool // weights without meaning
	tokens        int  // of the text
	planned       int  // windows
	estimate      perplexity.Estimate
	duration      time.Duration
	memory        *memoryDocument // nil: not known
}

// measure fills in r, and saves the logits if that is asked for.
func (f *perplexityFlags) measure(cmd *cobra.Command, r *perplexityResult, s, reference perplexity.Session, ids []int, vocab int) error {
	r.tokens, r.planned = len(ids), f.protocol.Windows(len(ids))
	if f.windows > 0 {
		r.planned = min(r.planned, f.windows)
	}
	ctx, progress := cmd.Context(), cmd.ErrOrStderr()
	if f.save == "" || r.planned == 0 {
		return r.evaluate(ctx, progress, s, reference, ids)
	}
	return cli.WriteFile(ctx, f.save, f.force, func(w io.Writer) error {
		header := perplexity.LogitHeader{Context: f.protocol.Context, Vocab: vocab, Tokens: ids[:r.planned*f.protocol.Context]}
		logits, err := perplexity.NewLogitWriter(w, header)
		if err != nil {
			return err
		}
		if err := r.evaluate(ctx, progress, logits.Saving(s), reference, ids); err != nil {
			return err
		}
		return logits.Close()
	})
}

// evaluate shows the estimate so far.
func (r *perplexityResult) evaluate(ctx context.Context, w io.Writer, s, reference perplexity.Session, ids []int) error {
	show := cli.NewSigns(w, clock.Now).Show
	if cli.IsTerminal(w) {
		defer fmt.Fprint(w, "\r\x1b[K")
		show = func(format string, args ...any) { fmt.Fprintf(w, "\r"+format+"\x1b[K", args...) }
	}
	start := clock.Now()
	for e, err := range r.protocol.Compare(ctx, s, reference, ids) {
		if errors.Is(err, models.ErrNotFinite) {
			return fmt.Errorf("%s: %w", r.model, err)
		}
		if err != nil {
			return err
		}
		r.estimate, r.duration = e, clock.Since(start)
		ppl, stdErr := e.PPL()
		show("window %d of %d: ppl %s", e.Windows, r.planned, plusMinus(4)(ppl, stdErr))
		if e.Windows == r.planned {
			break
		}
	}
	return nil
}

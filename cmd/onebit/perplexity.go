package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onebit/models"
	"onebit/models/perplexity"
	"onebit/models/tokenizer"
)

type perplexityFlags struct {
	engineFlags
	file     string
	protocol perplexity.Protocol
	windows  int
	kld      bool
	json     bool
}

func newPerplexity() *cobra.Command {
	var f perplexityFlags
	cmd := &cobra.Command{
		Use:   "perplexity MODEL -f TEXT",
		Short: "How well a model predicts a text, and how far kernels take it from the reference",
		Long: `Measure the perplexity of a text by llama.cpp's protocol, which the output names: the
text is cut into windows of --ctx tokens that do not overlap, and the second half of
each is scored. With --stride, windows are --ctx + stride/2 tokens long, begin every
stride tokens, and the last stride tokens of each are scored. ± is the standard error.

With --kld, the reference engine (dequantized weights, float64 sums, no quantized
activations) runs beside the model, and its distributions are compared by their
Kullback-Leibler divergence. The reference is slow: --chunks limits the windows.`,
		Args: exactArgs("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "file", "f", "", "`FILE` of text; - reads standard input")
	flags.IntVar(&f.protocol.Context, "ctx", 512, "tokens of context")
	flags.IntVar(&f.protocol.Stride, "stride", 0, "tokens between windows (default: they do not overlap)")
	flags.IntVar(&f.windows, "chunks", 0, "most windows (default: all of the text)")
	flags.BoolVar(&f.kld, "kld", false, "compare with the reference engine")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	f.register(cmd)
	return cmd
}

func (f *perplexityFlags) run(cmd *cobra.Command, path string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	text, err := readText(f.file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	en, err := f.load(path, models.PackFirst)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, en.Close()) }()
	if window := f.protocol.Window(); window > en.Config.Context {
		return fmt.Errorf("windows of %d tokens do not fit in the model's context of %d: use a smaller --ctx", window, en.Config.Context)
	}
	session, err := en.newSession(f.protocol.Window())
	if err != nil {
		return err
	}
	defer session.Close()
	var reference perplexity.Session // nil without --kld
	if f.kld {
		r, closeReference, err := f.reference(path, en)
		if err != nil {
			return err
		}
		defer closeReference()
		reference = r
	}

	f.protocol.BOS = -1
	if en.Tokenizer.AddBOS() {
		f.protocol.BOS = int(en.Tokenizer.BOS())
	}
	ids := ints(en.Tokenizer.Encode(text, tokenizer.Options{AddSpecial: true}))
	r := f.measure(cmd.Context(), cmd.ErrOrStderr(), session, reference, ids)
	r.model, r.text, r.variants = path, f.file, en.variants()
	if r.estimate.Windows == 0 {
		return r.err
	}
	if f.json {
		return errors.Join(r.err, printJSON(cmd.OutOrStdout(), r.document()))
	}
	return errors.Join(r.err, r.print(cmd.OutOrStdout()))
}

func (f *perplexityFlags) check() error {
	if f.file == "" {
		return usagef("-f TEXT is missing")
	}
	if f.windows < 0 {
		return usagef("--chunks %d: give a number of windows", f.windows)
	}
	if err := f.protocol.Validate(); err != nil {
		return usagef("%w", err)
	}
	return nil
}

func readText(path string, stdin io.Reader) (string, error) {
	if path == "-" {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return "", fmt.Errorf("reading the text: %w", err)
		}
		return string(text), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, withoutPath(err, path))
	}
	return string(text), nil
}

// reference opens the model once more, as the reference engine.
func (f *perplexityFlags) reference(path string, en *engine) (*models.Session, func(), error) {
	flags := engineFlags{modelFlags: f.modelFlags, pool: en.Pool(), variant: referenceVariant}
	model, err := flags.load(path, models.PackNever)
	if err != nil {
		return nil, nil, err
	}
	session, err := model.newSession(f.protocol.Window())
	if err != nil {
		model.Close()
		return nil, nil, err
	}
	return session, func() {
		session.Close()
		model.Close()
	}, nil
}

// A perplexityResult is an estimate with what it is of. An error leaves that of
// the windows before it.
type perplexityResult struct {
	model, text string
	protocol    perplexity.Protocol
	variants    []string
	tokens      int // of the text
	planned     int // windows
	compared    bool
	estimate    perplexity.Estimate
	duration    time.Duration
	err         error
}

// measure shows the estimate so far on w if that is a terminal.
func (f *perplexityFlags) measure(ctx context.Context, w io.Writer, s, reference perplexity.Session, ids []int) perplexityResult {
	r := perplexityResult{
		protocol: f.protocol, tokens: len(ids), planned: f.protocol.Windows(len(ids)), compared: reference != nil,
	}
	if f.windows > 0 {
		r.planned = min(r.planned, f.windows)
	}
	terminal := isTerminal(w)
	start := time.Now()
	for e, err := range f.protocol.Compare(ctx, s, reference, ids) {
		if r.err = err; err != nil {
			break
		}
		r.estimate, r.duration = e, time.Since(start)
		if terminal {
			ppl, stdErr := e.PPL()
			fmt.Fprintf(w, "\rwindow %d of %d: ppl %.4f ± %.4f\x1b[K", e.Windows, r.planned, ppl, stdErr)
		}
		if e.Windows == r.planned {
			break
		}
	}
	if terminal {
		fmt.Fprint(w, "\r\x1b[K")
	}
	return r
}

func (r *perplexityResult) print(w io.Writer) error {
	e := &r.estimate
	ppl, stdErr := e.PPL()
	t := newTable(w)
	t.row("protocol", r.protocol.String())
	t.row("variants", strings.Join(r.variants, ", "))
	t.row("scored", fmt.Sprintf("%d tokens in %d of %d windows; the text has %d tokens", e.Tokens, e.Windows, r.planned, r.tokens))
	if r.compared {
		t.row("kld", fmt.Sprintf("%.6f ± %.6f nats from the reference, at most %.6f", e.KLD.Value(), e.KLD.StdErr(), e.MaxKLD))
		t.row("ln(ppl/ppl(ref))", fmt.Sprintf("%.6f ± %.6f", e.NLLDiff.Value(), e.NLLDiff.StdErr()))
		t.row("same top", fmt.Sprintf("%.3f ± %.3f %%", 100*e.SameTop.Value(), 100*e.SameTop.StdErr()))
	}
	t.row("speed", speed(e.Windows*r.protocol.Window(), r.duration))
	t.row("ppl", fmt.Sprintf("%.4f ± %.5f", ppl, stdErr))
	return t.flush()
}

// A perplexityDocument is what perplexity prints with --json. Errors are
// standard errors.
type perplexityDocument struct {
	Model      string               `json:"model"`
	Text       string               `json:"text"`
	TextTokens int                  `json:"text_tokens"`
	Variants   []string             `json:"variants"`
	Protocol   protocolDocument     `json:"protocol"`
	Windows    int                  `json:"windows"`
	Planned    int                  `json:"windows_planned"` // more than windows if it was interrupted
	Tokens     int                  `json:"scored_tokens"`
	PPL        float64              `json:"ppl"`
	PPLError   float64              `json:"ppl_error"`
	NLL        measured             `json:"nll"` // nats per token
	Reference  *divergencesDocument `json:"reference,omitempty"`
	Seconds    float64              `json:"seconds"`
}

type protocolDocument struct {
	Name    string `json:"name"`
	Context int    `json:"context"`
	Stride  int    `json:"stride"`
	Window  int    `json:"window"`
	Scored  int    `json:"scored_per_window"`
	BOS     int    `json:"bos"` // -1: none
}

type divergencesDocument struct {
	KLD     measured `json:"kld"`
	MaxKLD  float64  `json:"max_kld"`
	NLLDiff measured `json:"nll_difference"`
	SameTop measured `json:"same_top"`
}

type measured struct {
	Mean  float64 `json:"mean"`
	Error float64 `json:"error"`
}

func mean(m perplexity.Mean) measured { return measured{m.Value(), m.StdErr()} }

func (r *perplexityResult) document() perplexityDocument {
	p, e := r.protocol, &r.estimate
	d := perplexityDocument{
		Model: r.model, Text: r.text, TextTokens: r.tokens, Variants: r.variants,
		Protocol: protocolDocument{p.String(), p.Context, p.Stride, p.Window(), p.Scored(), p.BOS},
		Windows:  e.Windows, Planned: r.planned, Tokens: e.Tokens, NLL: mean(e.NLL), Seconds: r.duration.Seconds(),
	}
	d.PPL, d.PPLError = e.PPL()
	if r.compared {
		d.Reference = &divergencesDocument{mean(e.KLD), e.MaxKLD, mean(e.NLLDiff), mean(e.SameTop)}
	}
	return d
}

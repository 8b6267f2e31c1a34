package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/internal/clock"
	"onebit/models/engine"
	"onebit/models/gopher"
	"onebit/models/lockstep"
	"onebit/models/perplexity"
	"onebit/models/source"
	"onebit/models/tokenizer"
	"onebit/models/verify"
)

type verifyFlags struct {
	modelFlags
	logits, server, program string
	file                    string
	tokens                  int
	json                    bool
}

func newVerify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify MODEL",
		Short: "Judge another engine by its answers beside the reference",
		Long: `Compare another engine's predictions with the reference in float64, and say
whether that engine runs the model right. Its answers come from one of

  --logits FILE    llama-perplexity --kl-divergence-base FILE
  --server URL     an OpenAI-compatible server on this machine, as llama-server
  --program CMD    a program that reads tokens and writes logits on a pipe:
    stdin:   a number of tokens, then the tokens, each a uint32
    stdout:  after each token as many float32 as the vocabulary has, the logits
             of the token to follow
    Numbers are little-endian. A BOS comes first where the model wants one.

Rounding of activations to 8 bits is no fault: how much it explains is measured.
Where an engine is wrong, variations of the reference are tried that are
wrong in known ways, and the one that the answers are nearest to is named.

The exit status is 0 if it is right, 1 if wrong, 2 if that could not be judged.`,
		Example: `  llama-perplexity -m model.gguf -f t.txt --kl-divergence-base base
  onebit verify model.gguf --logits base
  onebit verify model.gguf --server http://localhost:8080`,
		Args: cli.ExactArgs("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.logits, "logits", "", "judge the saved logits in `FILE`")
	flags.StringVar(&f.server, "server", "", "judge the server at `URL`, on this machine")
	flags.StringVar(&f.program, "program", "", "judge a program, by `CMD` with its arguments")
	flags.StringVarP(&f.file, "file", "f", "", "`FILE` of text to ask about (default: some of onebit's documentation)")
	flags.IntVar(&f.tokens, "tokens", 32, "most positions that are judged")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	f.register(cmd)
	f.registerTokenizer(cmd)
	return cmd
}

func (f *verifyFlags) run(cmd *cobra.Command, path string) error {
	if n := len(f.logits) + len(f.server) + len(f.program); n == 0 || n != max(len(f.logits), len(f.server), len(f.program)) {
		return cli.Usagef("give one of --logits, --server and --program")
	}
	if f.tokens < 1 {
		return cli.Usagef("--tokens %d: give a number of positions", f.tokens)
	}
	if f.logits != "" && f.file != "" {
		return cli.Usagef("-f has no place beside --logits, whose file holds the text")
	}
	verdict, tok, err := f.judge(cmd, path)
	if err != nil {
		return &cli.EndError{Status: 2, Err: fmt.Errorf("%s: %w", path, err)}
	}
	if f.json {
		err = cli.PrintJSON(cmd.OutOrStdout(), verdict.Document(tok))
	} else {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), verdict.Sentence(tok))
	}
	if err == nil && !verdict.Right {
		err = &cli.EndError{Status: 1}
	}
	return err
}

func (f *verifyFlags) judge(cmd *cobra.Command, path string) (*verify.Verdict, *tokenizer.Tokenizer, error) {
	src, err := f.open(path)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	tok, err := src.Tokenizer()
	if err != nil {
		return nil, nil, err
	}
	answers, err := f.answers(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr(), tok)
	if err != nil {
		return nil, nil, err
	}
	on, err := referenceFor(src)
	if err != nil {
		return nil, nil, err
	}
	signs := cli.NewSigns(cmd.ErrOrStderr(), clock.Now)
	r := &verify.Reference{
		Open: func() (source.Source, error) { return f.open(path) }, Engine: on,
		Progress: func(what string) { signs.Show("computing %s", what) },
	}
	verdict, err := r.Judge(cmd.Context(), answers)
	return verdict, tok, err
}

// plainBytes is up to how large a file the engine plain takes a model, which it decodes
// to eight bytes a weight.
const plainBytes = 64 << 20

// referenceFor is the engine that defines each operation or, for a model that is too
// large for it, the reference of the engine of CPUs.
func referenceFor(src source.Source) (engine.Opener, error) {
	if src.Size() <= plainBytes {
		kind, err := engine.Lookup("plain")
		return kind.Open, err
	}
	opt, err := lockstep.Reference(nil)
	return opt.Engine, err
}

func (f *verifyFlags) answers(ctx context.Context, stdin io.Reader, stderr io.Writer, tok *tokenizer.Tokenizer) (*verify.Answers, error) {
	if f.logits != "" {
		saved, err := perplexity.OpenLogits(f.logits)
		if err != nil {
			return nil, err
		}
		defer saved.Close()
		bos := -1
		if tok.AddBOS() {
			bos = tok.BOS()
		}
		return verify.FromLogits(saved.LogitReader, bos, f.tokens)
	}
	text := gopher.Text
	if f.file != "" {
		var err error
		if text, err = readText(f.file, stdin); err != nil {
			return nil, err
		}
	}
	ids := tok.Encode(text, tokenizer.Options{AddSpecial: true})
	if len(ids) < 2 {
		return nil, errors.New("the text has no two tokens")
	}
	asked := verify.Whole(ids[:min(len(ids), f.tokens+1)])
	if f.server != "" {
		return verify.Server{URL: f.server, Tokenizer: tok}.Answer(ctx, asked)
	}
	return verify.Program{Args: strings.Fields(f.program), Vocab: tok.Vocab(), Stderr: stderr}.Answer(ctx, asked)
}

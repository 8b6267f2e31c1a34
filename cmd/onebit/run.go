package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/internal/bounded"
	"onebit/internal/clock"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/source"
	"onebit/models/tokenizer"
)

type runFlags struct {
	engineFlags
	prompt    string
	asked     bool // -p was given
	chat      string
	think     string // "on", "off" or, as the model usually does, ""
	effort    string // of thinking; "": the usual one
	length    int
	context   int
	sampling  models.SamplerOptions
	speculate int // most tokens of a draft; 0: none
	ignoreEnd bool
	json      bool
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run [MODEL] {-p PROMPT | --chat}",
		Short:   "Generate text, with prompt and decode speed",
		Example: "  onebit run -p 'func NewReader(' -n 60\n  onebit run model.gguf --chat",
		Long: `Continue a prompt. MODEL is a file, or gopher-ternary (the default) or gopher-1bit,
small models of Go's documentation that are inside the program. The text goes to standard output as it comes, times and memory to
standard error: load is the time until the model was ready, its tokenizer apart, as
bench measures it; ready and first token count from the program's start.

Without --temp, each token is the likeliest, unless the file suggests how its tokens
are drawn (general.sampling.*), as those inside the program do; --temp 0 takes the
likeliest. With --temp, tokens are drawn, the same ones for the same --seed. Either way the
same prompt gives the same text with any number of threads and on any machine. Bonsai is meant to be run with
  --temp 0.5 --top-k 20 --top-p 0.85

With --chat and no -p, it is a conversation: each line of standard input is a turn
(one that ends with \ goes on in the next), and earlier turns stay in the context.
Ctrl-C stops a reply and, when there is none, the program, Ctrl-D ends it.

With --speculate, passes take in several tokens where the text repeats itself: the
text is the same, token for token. It pays on code, summaries and edits; where it
does not pay, it stops.

Where the output head has a large part of a token's time, a line tells the speed and
the error that --head with a smaller format would have, tried on the text's end.

Generation ends after -n tokens, or where the model ends its turn or text. The
weights are used as they lie in the file at first and packed behind the run.`,
		Args: optionalModel,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, modelOf(args)) },
	}
	f.register(cmd)
	return cmd
}

func (f *runFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.prompt, "prompt", "p", "", "text to continue, which may spell control tokens; - reads it from standard input, less a newline at its end")
	flags.StringVar(&f.chat, "chat", "", "talk as a user in the model's chat template, for one turn with -p; --chat=`NAME` chooses one: "+strings.Join(chatTemplates(), ", "))
	flags.Lookup("chat").NoOptDefVal = chatOfModel
	flags.StringVar(&f.think, "think", "", "with --chat, on or off: whether the model thinks before it replies, if it has learned the choice")
	flags.StringVar(&f.effort, "effort", "", "with --chat, how much it thinks: low, medium or xhigh, if it has learned these (Bonsai 2)")
	flags.IntVarP(&f.length, "tokens", "n", 128, "most tokens to generate; -1: until the model ends or the context is full, as in a conversation by default")
	flags.IntVar(&f.context, "ctx", 0, "tokens of context (default: as many as the prompt and -n need, 4096 for -n -1 and for a conversation; at most the model's)")
	flags.Float64Var(&f.sampling.Temperature, "temp", 0, "temperature; 0: always the likeliest token (default: the file's suggestion, else 0)")
	flags.IntVar(&f.sampling.TopK, "top-k", 0, "draw among the `N` likeliest tokens (default: all)")
	flags.Float64Var(&f.sampling.TopP, "top-p", 0, "draw among the likeliest tokens that have this much of the probability (default: all)")
	flags.Float64Var(&f.sampling.MinP, "min-p", 0, "draw among tokens with this share of the likeliest one's probability (default: all)")
	flags.Float64Var(&f.sampling.RepetitionPenalty, "repeat-penalty", 0, "divide the logits of the last 64 tokens (default: no)")
	flags.Uint64Var(&f.sampling.Seed, "seed", 1, "seed of the draw")
	flags.IntVar(&f.speculate, "speculate", 0, "look for the text's last tokens earlier in it and take in up to `N` of the tokens behind them with each pass: the same text, in fewer passes")
	flags.Lookup("speculate").NoOptDefVal = strconv.Itoa(models.UsualDraft)
	flags.BoolVar(&f.ignoreEnd, "ignore-eos", false, "go on where the model ends")
	flags.BoolVar(&f.json, "json", false, "print one JSON document at the end instead of the text")
	f.engineFlags.register(cmd)
	f.registerTokenizer(cmd)
	f.registerEngine(cmd)
}

// chatOfModel is the value of --chat without a name.
const chatOfModel = "auto"

func (f *runFlags) run(cmd *cobra.Command, path string) (err error) {
	begin := clock.Now()
	sampler, err := f.check(cmd)
	if err != nil {
		return err
	}
	if f.prompt == "-" {
		if f.prompt, err = readPrompt(cmd.InOrStdin()); err != nil {
			return err
		}
	}
	collect := postponeGC()
	if f.room = f.context; !f.json {
		f.notes = cmd.ErrOrStderr()
	}
	en, err := f.load(cmd.Context(), path, cpu.PackBehind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, en.Close()) }()
	for _, note := range source.Notes(en.Source()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "note: "+note)
	}
	if sampler, err = f.suggested(cmd, en, sampler); err != nil {
		return err
	}
	if f.conversation() {
		return f.converse(cmd, en, sampler, begin, collect)
	}
	prompt, err := f.encode(en.Tokenizer, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	session, err := f.session(en, len(prompt))
	if err != nil {
		return err
	}
	defer session.Close()

	g := &generation{openModel: en, session: session, sampler: sampler, speculator: f.speculator(cmd, en), begin: begin, collect: collect, limit: f.length, ignoreEnd: f.ignoreEnd}
	if !f.json {
		g.out = screen(cmd.OutOrStdout(), cli.IsTerminal(cmd.OutOrStdout()))
	}
	runErr := g.run(cmd.Context(), prompt)
	if g.refused() {
		return runErr // there is nothing else to tell
	}
	if runErr == nil {
		g.heads, runErr = g.tryHeads(cmd.Context())
	}
	if f.json {
		return errors.Join(runErr, cli.PrintJSON(cmd.OutOrStdout(), g.document(path, f.prompt)))
	}
	fmt.Fprintln(cmd.ErrOrStderr(), g.summary()+headAdvice(g.heads))
	return runErr
}

// suggested is the sampler of the flags, or without any the one that the model's file
// suggests, with a note.
func (f *runFlags) suggested(cmd *cobra.Command, en *openModel, asked *models.Sampler) (*models.Sampler, error) {
	flags := cmd.Flags()
	if flags.Changed("temp") || flags.Changed("repeat-penalty") {
		return asked, nil
	}
	opt, ok, err := models.SuggestedSampling(en.Source())
	switch {
	case err != nil:
		return nil, err
	case !ok && flags.Changed("seed"):
		return nil, cli.Usagef("--seed has no effect without --temp")
	case !ok:
		return asked, nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "note: tokens are drawn as the file suggests: %s; --temp 0 takes the likeliest\n", opt)
	opt.Seed = f.sampling.Seed
	return models.NewSampler(opt)
}

// screen is where a model's text goes: as it is to a file or program, and without
// commands to a terminal.
func screen(w io.Writer, terminal bool) io.Writer {
	if terminal {
		return term.NewWriter(w)
	}
	return w
}

// conversation reports whether a person is to take turns with the model.
func (f *runFlags) conversation() bool { return f.chat != "" && !f.asked }

// check refuses flags that make no sense, before anything is loaded.
func (f *runFlags) check(cmd *cobra.Command) (*models.Sampler, error) {
	flags := cmd.Flags()
	if f.asked = flags.Changed("prompt"); f.conversation() && !flags.Changed("tokens") {
		f.length = -1
	}
	switch {
	case !f.asked && f.chat == "":
		return nil, cli.Usagef("-p PROMPT is missing, or --chat for a conversation")
	case !f.asked && f.json:
		return nil, cli.Usagef("--json is for one reply; give its prompt with -p")
	case f.think != "" && f.think != "on" && f.think != "off":
		return nil, cli.Usagef("--think %s: want on or off", f.think)
	case f.chat == "" && (f.think != "" || f.effort != ""):
		return nil, cli.Usagef("--think and --effort have no effect without --chat")
	case f.length < -1 || f.length == 0:
		return nil, cli.Usagef("-n %d: give a number of tokens, or -1", f.length)
	case f.context < 0:
		return nil, cli.Usagef("--ctx %d: give a number of tokens", f.context)
	case flags.Changed("speculate") && (f.speculate < 1 || f.speculate > models.MostDraft):
		return nil, cli.Usagef("--speculate=%d: give a number of tokens from 1 to %d", f.speculate, models.MostDraft)
	}
	if f.sampling.Temperature == 0 {
		for _, name := range []string{"top-k", "top-p", "min-p", "seed"} {
			if flags.Changed(name) && (name != "seed" || flags.Changed("temp")) {
				return nil, cli.Usagef("--%s has no effect without --temp", name)
			}
		}
	}
	sampler, err := models.NewSampler(f.sampling)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return sampler, nil
}

// speculator returns the flag's, which drafts the text; nil without the flag, or, with a
// note, if the model cannot take a draft back.
func (f *runFlags) speculator(cmd *cobra.Command, en *openModel) *models.Speculator {
	if f.speculate == 0 {
		return nil
	}
	if en.Recurrent() {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s keeps a state that no draft can be taken back from: decoding goes on without --speculate\n", en.Config.Arch)
		return nil
	}
	return models.NewSpeculator(f.speculate)
}

// mostPrompt is more bytes than any context has room for.
const mostPrompt = 64 << 20

// readPrompt drops the newline that editors and echo end a text with.
func readPrompt(r io.Reader) (string, error) {
	text, err := bounded.Read(r, mostPrompt)
	if err != nil {
		return "", fmt.Errorf("reading the prompt: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// encode returns the tokens of the prompt.
func (f *runFlags) encode(t *tokenizer.Tokenizer, notes io.Writer) ([]int, error) {
	ids := t.Encode(f.prompt, tokenizer.Options{AddSpecial: true, ParseSpecial: true})
	if f.chat != "" {
		chat, err := f.template(t, notes)
		if err != nil {
			return nil, err
		}
		parts, err := tokenizer.Prompt(chat, tokenizer.Message{Role: arch.User, Content: f.prompt})
		if err != nil {
			return nil, err
		}
		ids = t.EncodeParts(parts)
	}
	if len(ids) == 0 {
		return nil, errors.New("the prompt is empty, and the model begins a text with no token of its own")
	}
	return ids, nil
}

// template returns the layout of the conversation, with the thinking that was
// asked for.
func (f *runFlags) template(t *tokenizer.Tokenizer, notes io.Writer) (*arch.Chat, error) {
	chat, err := f.layout(t, notes)
	if err != nil || f.think == "" && f.effort == "" {
		return chat, err
	}
	think := f.think == "on" || f.think == "" && f.effort != ""
	chat, err = chat.With(think, f.effort)
	if err != nil {
		return nil, cli.Usagef("--think, --effort: %w", err)
	}
	return chat, nil
}

func (f *runFlags) layout(t *tokenizer.Tokenizer, notes io.Writer) (*arch.Chat, error) {
	if f.chat == chatOfModel {
		chat, err := t.Chat(arch.Chats())
		if err != nil {
			return nil, fmt.Errorf("--chat: %w", err)
		}
		if !t.HasChatTemplate() {
			fmt.Fprintf(notes, "note: the model's file tells of no conversation: it is laid out as %s, which the model may never have learned, and it may only go on with the text\n", chat.Name)
		}
		return chat, nil
	}
	chat, err := arch.LookupChat(f.chat)
	if err != nil {
		return nil, cli.Usagef("--chat: %w", err)
	}
	return chat, nil
}

// openContext is the room for a text of any length.
const openContext = 4096

// session makes room for the prompt and what is to follow.
func (f *runFlags) session(en *openModel, prompt int) (*models.Session, error) {
	room, most := f.context, en.Config.Context
	if room == 0 {
		wanted := f.length
		if wanted < 0 || f.conversation() {
			wanted = openContext
		}
		room = min(most, prompt+wanted)
	}
	if room > most {
		return nil, cli.Usagef("--ctx %d: the model's limit is %d tokens", room, most)
	}
	if prompt > room {
		return nil, fmt.Errorf("the prompt has %s, and the context %d; the model's limit is %d", count.Of(prompt, "token"), room, most)
	}
	if f.room == 0 && f.onCPU() { // else it was said before the model was loaded
		if err := f.memory.foresee(f.notes, en.Plan(), room, en.cache); err != nil {
			return nil, err
		}
	}
	return en.newSession(room)
}

// postponeGC has the heap grow to 40 MB before garbage is collected, what making
// the vocabulary takes and more, until collect is called, which gives it back to
// the system.
func postponeGC() (collect func()) {
	before := debug.SetGCPercent(1000)
	if before < 0 { // GOGC=off
		debug.SetGCPercent(before)
	}
	return func() {
		debug.SetGCPercent(before)
		debug.FreeOSMemory()
	}
}

// A generation is one text in the making, and what it took.
type generation struct {
	*openModel
	session    *models.Session
	sampler    *models.Sampler
	speculator *models.Speculator // nil: a pass for each token
	mark       int                // tokens of the prompt after which the session is marked; 0: it is not
	out        io.Writer          // nil: nowhere
	limit      int                // tokens, or -1
	ignoreEnd  bool
	collect    func() // garbage, once the first token is there

	prompt []int
	tokens []generated
	text   strings.Builder
	stop   string // why it ended: length, end, context, interrupted or error

	begin          time.Time     // of the program's work
	ready          time.Duration // until the prompt was about to be taken in
	first          time.Duration // until the first token
	promptDuration time.Duration
	decodeDuration time.Duration // of the tokens after the first

	heads []models.HeadTrial // what others than the file's would give; see tryHeads
}

// A generated token, and when it came. A token may hold a part of a character;
// its text is what it completes.
type generated struct {
	ID      int     `json:"id"`
	Text    string  `json:"text"`
	Seconds float64 `json:"seconds"` // since the program's start
}

// run generates until the limit, the model's end or an error.
func (g *generation) run(ctx context.Context, prompt []int) error {
	g.prompt = prompt
	start := clock.Now()
	g.ready = start.Sub(g.begin)
	decoder := g.Tokenizer.NewDecoder()
	err := g.generate(ctx, prompt, start, decoder)
	switch {
	case err == nil:
	case errors.Is(err, models.ErrContextFull):
		g.stop = "context"
		if g.limit < 0 {
			err = nil // that much was asked for
		}
	case errors.Is(err, context.Canceled):
		g.stop = "interrupted"
	default:
		g.stop = "error"
	}
	if err != nil && !g.refused() {
		err = fmt.Errorf("after %s: %w", count.Of(len(g.tokens), "token"), err)
	}
	text := decoder.Flush()
	if g.out != nil && len(g.tokens) > 0 {
		text += "\n"
	}
	return errors.Join(err, g.write(text))
}

// refused reports whether the model was found out to be bad before it gave a token.
func (g *generation) refused() bool { return g.stop == "error" && len(g.tokens) == 0 }

func (g *generation) generate(ctx context.Context, prompt []int, start time.Time, decoder *tokenizer.Decoder) error {
	var firstAt time.Time
	if g.mark > 0 {
		if _, err := g.session.Prefill(ctx, prompt[:g.mark]); err != nil {
			return err
		}
		if err := g.session.Mark(); err != nil {
			return err
		}
		g.sampler.Accept(prompt[:g.mark]...)
		prompt = prompt[g.mark:]
	}
	for id, err := range g.ids(ctx, prompt) {
		if err != nil {
			return err
		}
		now := clock.Now()
		if firstAt.IsZero() {
			firstAt = now
			g.promptDuration, g.first = now.Sub(start), now.Sub(g.begin)
			go g.collect()
		}
		g.decodeDuration = now.Sub(firstAt)
		text := decoder.Next(id)
		g.tokens = append(g.tokens, generated{id, text, now.Sub(g.begin).Seconds()})
		if !g.ignoreEnd && g.Tokenizer.IsEnd(id) {
			g.stop = "end"
			return nil
		}
		if err := g.write(text); err != nil {
			return err
		}
		if len(g.tokens) == g.limit {
			g.stop = "length"
			return nil
		}
	}
	return nil
}

// ids yields the tokens behind a prompt.
func (g *generation) ids(ctx context.Context, prompt []int) iter.Seq2[int, error] {
	if g.speculator != nil {
		return g.session.Speculate(ctx, prompt, g.sampler, g.speculator)
	}
	return g.session.Generate(ctx, prompt, g.sampler)
}

func (g *generation) write(text string) error {
	g.text.WriteString(text)
	if g.out == nil || text == "" {
		return nil
	}
	_, err := io.WriteString(g.out, text)
	return err
}

// decoded is how many tokens decodeDuration went into.
func (g *generation) decoded() int { return max(0, len(g.tokens)-1) }

func (g *generation) summary() string {
	s := fmt.Sprintf("prompt %s, %s; decode %s, %s; load %.4f s, ready after %.3f s, first token after %.3f s; %s%s",
		count.Of(len(g.prompt), "token"), speed(len(g.prompt), g.promptDuration), count.Of(g.decoded(), "token"), speed(g.decoded(), g.decodeDuration),
		g.opened.Seconds(), g.ready.Seconds(), g.first.Seconds(), g.memoryOf(g.session.Context()).note(), strings.Join(g.variants(), ", "))
	s += speculationNote(g.speculator) + g.headNote() + g.gpuNote() + g.expertNote()
	if g.stop == "context" {
		s += fmt.Sprintf("; the context of %d tokens is full", g.session.Context())
	}
	return s
}

// expertNote is the part of a summary that says how much of a model's experts the text has
// met: what is resident of them, where memory has room.
func (en *openModel) expertNote() string {
	met, all, token := en.ExpertBytes()
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("; of %v of experts the text has met %v, %v a token", sysinfo.Bytes(all), sysinfo.Bytes(met), sysinfo.Bytes(token))
}

// speculationNote is the part of a summary that says what drafts were good for.
func speculationNote(p *models.Speculator) string {
	if p == nil {
		return ""
	}
	s := p.Stats()
	note := fmt.Sprintf("; %d of %s right, %.2f tokens a pass", s.Accepted, count.Of(s.Drafted, "drafted token"), rate(s.Tokens, time.Duration(s.Passes)*time.Second))
	if s.Gain > 0 {
		note += fmt.Sprintf(", about %.2f times as fast as one a pass", s.Gain)
	}
	return note
}

func speed(tokens int, d time.Duration) string {
	return count.Significant(rate(tokens, d)) + " tok/s"
}

// rate returns tokens per second, or 0 where there is nothing to tell.
func rate(tokens int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(tokens) / d.Seconds()
}

// A runDocument is what run prints with --json. Bytes of text that are not
// UTF-8 are U+FFFD in it; the ids are exact.
type runDocument struct {
	Model        string                   `json:"model"`
	Architecture string                   `json:"architecture"`
	Variants     []string                 `json:"variants"` // format/variant/activation, at the end
	HeadError    float64                  `json:"head_nmse"`
	Threads      int                      `json:"threads"`
	GPU          string                   `json:"gpu,omitempty"`
	Emulated     bool                     `json:"emulated,omitempty"` // the GPU is played: times say nothing about one
	Context      int                      `json:"context"`
	Memory       *memoryDocument          `json:"memory,omitempty"` // of the engine of CPUs
	Prompt       string                   `json:"prompt"`
	PromptIDs    []int                    `json:"prompt_ids"`
	Tokens       []generated              `json:"tokens"`
	Text         string                   `json:"text"`
	Stop         string                   `json:"stop"` // length, end, context, interrupted or error
	Timings      runTimings               `json:"timings"`
	Speculation  *models.SpeculationStats `json:"speculation,omitempty"`
	Heads        []headChoice             `json:"heads,omitempty"` // the model's, and others; see headAdvice
}

type runTimings struct {
	LoadSeconds       float64 `json:"load_seconds"`        // of the model until it was ready, as bench measures
	ReadySeconds      float64 `json:"ready_seconds"`       // since the start, tokenizer and prompt included
	FirstTokenSeconds float64 `json:"first_token_seconds"` // since the start
	PromptSeconds     float64 `json:"prompt_seconds"`
	PromptPerSecond   float64 `json:"prompt_tokens_per_second"`
	DecodeTokens      int     `json:"decode_tokens"` // those after the first
	DecodeSeconds     float64 `json:"decode_seconds"`
	DecodePerSecond   float64 `json:"decode_tokens_per_second"`
}

func (g *generation) document(path, prompt string) runDocument {
	gpu, emulated := g.gpu()
	d := runDocument{
		Model: path, Architecture: g.Config.Arch, Variants: g.variants(), HeadError: g.HeadError,
		Threads: cpu.PoolOf(g.Engine()).Threads(), GPU: gpu, Emulated: emulated, Context: g.session.Context(), Memory: g.memoryOf(g.session.Context()),
		Prompt: prompt, PromptIDs: g.prompt, Tokens: append([]generated{}, g.tokens...), Text: g.text.String(), Stop: g.stop,
		Timings: runTimings{
			LoadSeconds: g.opened.Seconds(), ReadySeconds: g.ready.Seconds(), FirstTokenSeconds: g.first.Seconds(),
			PromptSeconds: g.promptDuration.Seconds(), PromptPerSecond: rate(len(g.prompt), g.promptDuration),
			DecodeTokens: g.decoded(), DecodeSeconds: g.decodeDuration.Seconds(), DecodePerSecond: rate(g.decoded(), g.decodeDuration),
		},
		Heads: headChoices(g.heads),
	}
	if g.speculator != nil {
		stats := g.speculator.Stats()
		d.Speculation = &stats
	}
	return d
}

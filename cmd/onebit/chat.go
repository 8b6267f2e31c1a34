package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"onebit/cmd/internal/cli"
	"onebit/internal/clock"
	"onebit/internal/count"
	"onebit/models"
	talk "onebit/models/conversation"
)

// A conversation is run's: a person's lines and the model's replies.
type conversation struct {
	*talk.Conversation
	generation generation       // as each reply begins
	notes      io.Writer        // remarks
	prompt     string           // what asks for a turn, among the remarks
	interrupts <-chan os.Signal // each ends a reply, or the conversation
	replies    []*generation
}

// converse is run for a person who takes turns with the model.
func (f *runFlags) converse(cmd *cobra.Command, en *openModel, sampler *models.Sampler, begin time.Time, collect func()) error {
	template, err := f.template(en.Tokenizer, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	session, err := f.session(en, 0)
	if err != nil {
		return err
	}
	defer session.Close()
	collect()
	// An interrupt is no longer the end of the program.
	signal.Reset(os.Interrupt)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	c := &conversation{
		Conversation: &talk.Conversation{Session: session, Tokenizer: en.Tokenizer, Template: template, Keeps: en.Recurrent() || en.Windowed()},
		generation: generation{
			openModel: en, session: session, sampler: sampler, speculator: f.speculator(cmd, en), limit: f.length, ignoreEnd: f.ignoreEnd,
			out: screen(cmd.OutOrStdout(), cli.IsTerminal(cmd.OutOrStdout())),
		},
		notes: cmd.ErrOrStderr(), interrupts: interrupts,
	}
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		c.prompt = "> "
		fmt.Fprintf(c.notes, "%s, %s template, %d tokens of context. A line is a turn, unless it ends with \\; Ctrl-C stops a reply, Ctrl-D ends.\n",
			en.Config.Arch, template.Name, session.Context())
	}
	ready := clock.Since(begin)
	err = c.run(cmd.Context(), readTurns(cmd.InOrStdin()))
	if len(c.replies) > 0 {
		fmt.Fprintln(c.notes, c.summary(ready))
	}
	return err
}

// A said is what a person said, or why there is no more.
type said struct {
	text string
	err  error
}

// readTurns yields lines, joined where one ends with a backslash, until the
// input ends.
func readTurns(r io.Reader) <-chan said {
	turns := make(chan said)
	go func() {
		defer close(turns)
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, mostPrompt)
		var text strings.Builder
		for lines.Scan() {
			line, more := strings.CutSuffix(lines.Text(), `\`)
			text.WriteString(line)
			if more && text.Len() < mostPrompt {
				text.WriteByte('\n')
				continue
			}
			turns <- said{text: text.String()}
			text.Reset()
		}
		switch err := lines.Err(); {
		case err != nil:
			turns <- said{err: fmt.Errorf("reading the conversation: %w", err)}
		case text.Len() > 0:
			turns <- said{text: text.String()}
		}
	}()
	return turns
}

// run replies to each turn.
func (c *conversation) run(ctx context.Context, turns <-chan said) error {
	for {
		fmt.Fprint(c.notes, c.prompt)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.interrupts:
			return context.Canceled
		case turn, ok := <-turns:
			switch {
			case !ok:
				if c.prompt != "" {
					fmt.Fprintln(c.notes)
				}
				return nil
			case turn.err != nil:
				return turn.err
			case strings.TrimSpace(turn.text) == "":
				continue
			}
			if err := c.reply(ctx, turn.text); err != nil {
				return err
			}
		}
	}
}

// reply takes in a turn and writes the model's.
func (c *conversation) reply(ctx context.Context, text string) error {
	turn, err := c.Say(text)
	var tooLong *talk.TooLongError
	switch {
	case errors.As(err, &tooLong):
		fmt.Fprintf(c.notes, "(that turn has %s; a context of %d has room for %d)\n", count.Of(tooLong.Tokens, "token"), tooLong.Context, tooLong.Most)
		return nil
	case err != nil:
		return err
	case turn.Forgotten > 0:
		fmt.Fprintf(c.notes, "(the context is full: the oldest of the conversation is forgotten, %d turns)\n", turn.Forgotten)
	}
	g := c.generation
	g.mark, g.begin, g.collect = turn.Mark, clock.Now(), func() {}
	err = c.generate(ctx, &g, turn.Tokens)
	if g.refused() {
		return err
	}
	c.replies = append(c.replies, &g)
	var ids []int
	for _, t := range g.tokens {
		ids = append(ids, t.ID)
	}
	c.Reply(turn, ids, strings.TrimSuffix(g.text.String(), "\n"))
	switch {
	case g.stop == "error" || ctx.Err() != nil:
		return err
	case g.stop == "interrupted":
		fmt.Fprintln(c.notes, "(stopped)")
	case g.stop == "context":
		fmt.Fprintf(c.notes, "(the context of %d tokens is full)\n", c.Session.Context())
	}
	return nil
}

// generate runs g until it ends or is interrupted.
func (c *conversation) generate(ctx context.Context, g *generation, prompt []int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.interrupts:
			stop()
		case <-ctx.Done():
		}
	}()
	return g.run(ctx, prompt)
}

func (c *conversation) summary(ready time.Duration) string {
	en := c.generation.openModel
	var prompt, decoded int
	var promptTime, decodeTime time.Duration
	for _, g := range c.replies {
		prompt, promptTime = prompt+len(g.prompt), promptTime+g.promptDuration
		decoded, decodeTime = decoded+g.decoded(), decodeTime+g.decodeDuration
	}
	s := fmt.Sprintf("%s; prompt %s, %s; decode %s, %s; load %.4f s, ready after %.3f s; %s", count.Of(len(c.replies), "reply"),
		count.Of(prompt, "token"), speed(prompt, promptTime), count.Of(decoded, "token"), speed(decoded, decodeTime), en.opened.Seconds(), ready.Seconds(), strings.Join(en.variants(), ", "))
	return s + speculationNote(c.generation.speculator) + en.headNote() + en.gpuNote()
}

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
	"onebit/models/arch"
	"onebit/models/tokenizer"
)

// A conversation is turns of a person and of the model in one session, whose keys
// and values stay from turn to turn.
type conversation struct {
	*openModel
	template   *arch.Chat
	session    *models.Session
	sampler    *models.Sampler
	speculator *models.Speculator // nil: a pass for each token
	limit      int                // tokens of a reply, or -1
	ignoreEnd  bool
	out, notes io.Writer        // replies; remarks
	prompt     string           // what asks for a turn, among the remarks
	interrupts <-chan os.Signal // each ends a reply, or the conversation

	marked    int // tokens after which the session was marked; 0: it was not
	messages  []tokenizer.Message
	inSession []int // the tokens in the session
	replies   []*generation
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
		openModel: en, template: template, session: session, sampler: sampler, speculator: f.speculator(cmd, en), limit: f.length, ignoreEnd: f.ignoreEnd,
		out: screen(cmd.OutOrStdout(), cli.IsTerminal(cmd.OutOrStdout())), notes: cmd.ErrOrStderr(), interrupts: interrupts,
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

// reply takes in a turn and writes the model's. What the session holds of the
// conversation already is not taken in again.
func (c *conversation) reply(ctx context.Context, text string) error {
	c.messages = append(c.messages, tokenizer.Message{Role: arch.User, Content: text})
	ids, err := c.layOut()
	if err != nil || ids == nil {
		return err
	}
	kept, err := c.goBack(min(common(c.inSession, ids), len(ids)-1))
	if err != nil {
		return err
	}
	said := c.said(ids)
	g := &generation{
		openModel: c.openModel, session: c.session, sampler: c.sampler, speculator: c.speculator, mark: max(0, said-kept), out: c.out, limit: c.limit, ignoreEnd: c.ignoreEnd,
		begin: clock.Now(), collect: func() {},
	}
	err = c.generate(ctx, g, ids[kept:])
	if g.refused() {
		return err
	}
	if g.mark > 0 && c.session.Position() >= said { // not if it was interrupted before
		c.marked = said
	}
	c.replies = append(c.replies, g)
	for _, t := range g.tokens {
		ids = append(ids, t.ID)
	}
	c.inSession = ids[:c.session.Position()]
	switch {
	case g.stop == "error" || ctx.Err() != nil:
		return err
	case g.stop == "interrupted":
		fmt.Fprintln(c.notes, "(stopped)")
	case g.stop == "context":
		fmt.Fprintf(c.notes, "(the context of %d tokens is full)\n", c.session.Context())
	}
	if reply := strings.TrimSuffix(g.text.String(), "\n"); reply != "" {
		c.messages = append(c.messages, tokenizer.Message{Role: arch.Assistant, Content: reply})
	} else {
		c.messages = c.messages[:len(c.messages)-1]
	}
	return nil
}

// said returns how many of the conversation's tokens will be there in the next
// turn too: what begins the reply may not, as where a thought is forgotten. It is
// 0 of a session that can go back to any of them.
func (c *conversation) said(ids []int) int {
	if !c.Recurrent() && !c.Windowed() {
		return 0
	}
	parts, err := tokenizer.Prompt(c.template, c.messages...)
	if err != nil {
		return 0 // layOut has told
	}
	return min(common(ids, c.Tokenizer.EncodeParts(parts[:len(parts)-1])), len(ids)-1)
}

// goBack has the session forget all but the first tokens or, where it can't keep
// as few, all behind its mark, or all.
func (c *conversation) goBack(kept int) (int, error) {
	err := c.session.Truncate(kept)
	if errors.Is(err, models.ErrNoRollback) && c.marked <= kept {
		kept, err = c.marked, c.session.Truncate(c.marked)
	} else if errors.Is(err, models.ErrNoRollback) {
		kept, err = 0, c.session.Truncate(0)
	}
	if kept < c.marked {
		c.marked = 0
	}
	return kept, err
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

// layOut returns the conversation's tokens. It forgets the oldest turns of one that
// leaves less than a quarter of the context for the reply; a turn too long by itself
// is dropped, and there are no tokens.
func (c *conversation) layOut() ([]int, error) {
	most := c.session.Context() - max(1, c.session.Context()/4)
	for forgotten := 0; ; forgotten++ {
		parts, err := tokenizer.Prompt(c.template, c.messages...)
		if err != nil {
			return nil, err
		}
		ids := c.Tokenizer.EncodeParts(parts)
		switch {
		case len(ids) <= most:
			if forgotten > 0 {
				fmt.Fprintf(c.notes, "(the context is full: the oldest of the conversation is forgotten, %d turns)\n", 2*forgotten)
			}
			return ids, nil
		case len(c.messages) == 1:
			fmt.Fprintf(c.notes, "(that turn has %s; a context of %d has room for %d)\n", count.Of(len(ids), "token"), c.session.Context(), most)
			c.messages = nil
			return nil, nil
		}
		c.messages = c.messages[2:]
	}
}

// common returns how many tokens a and b begin with in common.
func common(a, b []int) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (c *conversation) summary(ready time.Duration) string {
	var prompt, decoded int
	var promptTime, decodeTime time.Duration
	for _, g := range c.replies {
		prompt, promptTime = prompt+len(g.prompt), promptTime+g.promptDuration
		decoded, decodeTime = decoded+g.decoded(), decodeTime+g.decodeDuration
	}
	s := fmt.Sprintf("%s; prompt %s, %s; decode %s, %s; load %.4f s, ready after %.3f s; %s", count.Of(len(c.replies), "reply"),
		count.Of(prompt, "token"), speed(prompt, promptTime), count.Of(decoded, "token"), speed(decoded, decodeTime), c.opened.Seconds(), ready.Seconds(), strings.Join(c.variants(), ", "))
	return s + speculationNote(c.speculator) + c.headNote() + c.gpuNote()
}

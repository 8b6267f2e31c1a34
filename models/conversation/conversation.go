// Package conversation keeps the turns of a person and of a model in one session: keys and
// values stay from turn to turn, and the oldest turns are forgotten where the context has no
// room for them.
//
//	turn, err := talk.Say("Hello")
//	for id, err := range talk.Session.Generate(ctx, turn.Tokens, sampler) { … }
//	talk.Reply(turn, ids, text)
package conversation

import (
	"errors"
	"fmt"

	"onebit/models"
	"onebit/models/arch"
	"onebit/models/tokenizer"
)

// A Conversation is turns in one session. Its fields are set before the first turn.
type Conversation struct {
	Session   *models.Session
	Tokenizer *tokenizer.Tokenizer
	Template  *arch.Chat
	Keeps     bool // the model keeps a state or a window, so that sessions cannot go back to any token
	Messages  []tokenizer.Message

	marked    int   // tokens after which the session was marked; 0: it was not
	inSession []int // the tokens in the session
}

// A Turn is what a person said, for the model to reply to.
type Turn struct {
	Tokens    []int // to take in, behind those in the session
	Mark      int   // of Tokens, after which the session is to be marked; 0: nowhere
	Forgotten int   // messages that were forgotten, the oldest

	whole []int // the tokens of the whole conversation
	said  int   // of these, those that will be there in the next turn too
}

// A TooLongError is of a turn that leaves no room for a reply.
type TooLongError struct {
	Tokens  int // of the turn
	Context int // of the session
	Most    int // that a turn may have
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the turn has %d tokens; a context of %d has room for %d", e.Tokens, e.Context, e.Most)
}

// Say adds a person's turn. Tokens that the session holds already are not taken in again. A
// turn that is too long by itself is a *TooLongError, and the conversation begins anew.
func (c *Conversation) Say(text string) (*Turn, error) {
	c.Messages = append(c.Messages, tokenizer.Message{Role: arch.User, Content: text})
	t := new(Turn)
	var err error
	if t.whole, t.Forgotten, err = c.layOut(); err != nil {
		return nil, err
	}
	kept, err := c.goBack(min(common(c.inSession, t.whole), len(t.whole)-1))
	if err != nil {
		return nil, err
	}
	t.said = c.lasting(t.whole)
	t.Tokens, t.Mark = t.whole[kept:], max(0, t.said-kept)
	return t, nil
}

// Reply adds the model's reply to a turn: its tokens as far as they were generated, and their
// text. A turn without a reply is taken back.
func (c *Conversation) Reply(t *Turn, tokens []int, text string) {
	if t.Mark > 0 && c.Session.Position() >= t.said { // not if it was interrupted before
		c.marked = t.said
	}
	c.inSession = append(t.whole, tokens...)[:c.Session.Position()]
	if text == "" {
		c.Messages = c.Messages[:len(c.Messages)-1]
		return
	}
	c.Messages = append(c.Messages, tokenizer.Message{Role: arch.Assistant, Content: text})
}

// layOut returns the conversation's tokens. It forgets the oldest turns of one that leaves
// less than a quarter of the context for the reply.
func (c *Conversation) layOut() (ids []int, forgotten int, err error) {
	most := c.Session.Context() - max(1, c.Session.Context()/4)
	for ; ; forgotten += 2 {
		parts, err := tokenizer.Prompt(c.Template, c.Messages...)
		if err != nil {
			return nil, 0, err
		}
		ids := c.Tokenizer.EncodeParts(parts)
		switch {
		case len(ids) <= most:
			return ids, forgotten, nil
		case len(c.Messages) == 1:
			c.Messages = nil
			return nil, 0, &TooLongError{len(ids), c.Session.Context(), most}
		}
		c.Messages = c.Messages[2:]
	}
}

// lasting returns how many of the conversation's tokens will be there in the next turn too:
// the beginning of the reply may not, as where a thought is forgotten. It is 0 of a session
// that can go back to any of them.
func (c *Conversation) lasting(ids []int) int {
	if !c.Keeps {
		return 0
	}
	parts, err := tokenizer.Prompt(c.Template, c.Messages...)
	if err != nil {
		return 0 // layOut has returned it
	}
	return min(common(ids, c.Tokenizer.EncodeParts(parts[:len(parts)-1])), len(ids)-1)
}

// goBack has the session forget all but the first tokens or, where it can't keep as few, all
// behind its mark, or all.
func (c *Conversation) goBack(kept int) (int, error) {
	err := c.Session.Truncate(kept)
	if errors.Is(err, models.ErrNoRollback) {
		if c.marked <= kept {
			kept = c.marked
		} else {
			kept = 0
		}
		err = c.Session.Truncate(kept)
	}
	if kept < c.marked {
		c.marked = 0
	}
	return kept, err
}

// common returns how many tokens a and b begin with in common.
func common(a, b []int) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

package tokenizer

import (
	"fmt"
	"strings"

	"onebit/internal/term"
	"onebit/models/arch"
)

// A Message is one turn of a conversation. Its role is arch.System, arch.User
// or arch.Assistant.
type Message struct{ Role, Content string }

// Chat finds out which of the known ones the model was taught, from the template
// in its file or, if there is none, from its architecture. Of several that the
// template may mean, it is the one with the most marks.
func (t *Tokenizer) Chat(known []*arch.Chat) (*arch.Chat, error) {
	if t.text.IgnoreTemplate {
		return t.text.Chat, nil
	}
	var meant *arch.Chat
	var names []string
	for _, c := range known {
		if c.MeantBy(t.template) && (meant == nil || len(c.Marks) > len(meant.Marks)) {
			meant = c
		}
		names = append(names, c.Name)
	}
	switch {
	case meant != nil:
		return meant, nil
	case t.template != "":
		return nil, fmt.Errorf("the file's chat template is not known; choose one of %s", strings.Join(names, ", "))
	case t.text.Chat != nil:
		return t.text.Chat, nil
	}
	return nil, fmt.Errorf("the file has no chat template, and its architecture %s tells none; choose one of %s", term.QuoteAlways(t.text.Arch), strings.Join(names, ", "))
}

// HasChatTemplate reports whether the file says how a conversation is laid out: a model
// of which it does not may have learned none.
func (t *Tokenizer) HasChatTemplate() bool { return t.template != "" }

// Prompt lays the messages out up to where the model's reply begins. Their
// contents are not Special parts. A role that the model does not know is an
// error; so is a conversation in which it is not the model's turn.
func Prompt(c *arch.Chat, messages ...Message) ([]Part, error) {
	if n := len(messages); n == 0 || messages[n-1].Role == arch.Assistant {
		return nil, fmt.Errorf("chat template %s: there is no message to reply to", c.Name)
	}
	var parts []Part
	for i, m := range prefaced(c, messages) {
		turn, ok := c.Turns[m.Role]
		if !ok {
			return nil, fmt.Errorf("chat template %s: message %d has role %s, want %s", c.Name, i+1, term.QuoteAlways(m.Role), roles(c))
		}
		content := m.Content
		if turn.Content != nil {
			content = turn.Content(content)
		}
		parts = append(parts, Part{turn.Before, true}, Part{content, false}, Part{turn.After, true})
	}
	return append(parts, Part{c.Reply, true}), nil
}

// prefaced returns the messages with the layout's preface in the system's.
func prefaced(c *arch.Chat, messages []Message) []Message {
	if c.Preface == "" {
		return messages
	}
	if first := messages[0]; first.Role == arch.System {
		if content := strings.TrimSpace(first.Content); content != "" {
			first.Content = c.Preface + "\n\n" + content
		} else {
			first.Content = c.Preface
		}
		return append([]Message{first}, messages[1:]...)
	}
	return append([]Message{{arch.System, c.Preface}}, messages...)
}

func roles(c *arch.Chat) string {
	var known []string
	for _, role := range []string{arch.System, arch.User, arch.Assistant} {
		if _, ok := c.Turns[role]; ok {
			known = append(known, role)
		}
	}
	return strings.Join(known, ", ")
}

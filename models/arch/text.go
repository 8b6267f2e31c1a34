package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"onebit/internal/term"
)

// A Text is what an architecture says about its models' text beside what their
// files do.
type Text struct {
	// Arch is the architecture's name, for errors. Package models sets it.
	Arch string
	// Chat is how the models were taught to see a conversation, if the file has
	// no template; nil: that is unknown.
	Chat *Chat
	// Others are further ones that the templates of its files may mean.
	Others []*Chat
	// IgnoreTemplate says that Chat counts even where the file has a template.
	IgnoreTemplate bool
	// Splitter is the pre-tokenizer of a file that names none and has the
	// vocabulary of that pre-tokenizer; empty: such a file is refused.
	Splitter string
}

// The roles of messages in a conversation.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// A Chat is a way in which models were taught to see a conversation. There is
// no interpreter for the templates in files.
type Chat struct {
	Name  string
	About string // one line for people
	// Marks are what a template in a file has all of if it means this one; none:
	// no template does.
	Marks []string
	Turns map[string]Turn // by role
	Reply string          // what the model is to continue
	// Preface stands at the front of the system's message, or is one; "": none.
	Preface string
	// Thinking is how Reply and Preface are chosen; nil: there is no choice.
	Thinking *Thinking
}

// A Thinking is the choice between a model that thinks before it replies and
// one that does not.
type Thinking struct {
	On, Off string // what the model is to continue
	Default bool   // whether it thinks if nobody says
	// Efforts are the prefaces of a model that thinks, by how much; nil: it has
	// not learned any.
	Efforts map[string]string
	Effort  string // the one if nobody says
}

// With returns the layout of a conversation with or without thinking. An effort
// other than "" wants thinking, and an error says which there are.
func (c *Chat) With(think bool, effort string) (*Chat, error) {
	t := c.Thinking
	switch {
	case t == nil && effort == "":
		return nil, fmt.Errorf("chat template %s: the model was not taught to think, or to leave that", c.Name)
	case t == nil || effort != "" && t.Efforts == nil:
		return nil, fmt.Errorf("chat template %s: the model was not taught efforts of thinking", c.Name)
	case effort != "" && !think:
		return nil, fmt.Errorf("chat template %s: an effort of %s without thinking", c.Name, effort)
	}
	out := *c
	out.Reply, out.Preface = t.Off, ""
	if !think {
		return &out, nil
	}
	if effort == "" {
		effort = t.Effort
	}
	preface, ok := t.Efforts[effort]
	if !ok && effort != "" {
		return nil, fmt.Errorf("chat template %s: unknown effort %s (known: %s)", c.Name, term.QuoteAlways(effort),
			strings.Join(slices.Sorted(maps.Keys(t.Efforts)), ", "))
	}
	out.Reply, out.Preface = t.On, preface
	return &out, nil
}

// A Turn is what stands around a message's content.
type Turn struct {
	Before, After string
	Content       func(string) string // nil for unchanged
}

// MeantBy reports whether a file's template has all marks.
func (c *Chat) MeantBy(template string) bool {
	for _, mark := range c.Marks {
		if !strings.Contains(template, mark) {
			return false
		}
	}
	return len(c.Marks) > 0
}

// ChatML is the layout of Qwen2.5, which many models share.
var ChatML = &Chat{
	Name:  "chatml",
	About: "<|im_start|>role … <|im_end|>, as Qwen2.5 has it",
	Marks: []string{"<|im_start|>"},
	Turns: ChatMLTurns(nil),
	Reply: "<|im_start|>assistant\n",
}

// ChatMLTurns returns ChatML's turns; reply is what becomes of the content of
// earlier replies, nil for unchanged.
func ChatMLTurns(reply func(string) string) map[string]Turn {
	return map[string]Turn{
		System:    {"<|im_start|>system\n", "<|im_end|>\n", nil},
		User:      {"<|im_start|>user\n", "<|im_end|>\n", nil},
		Assistant: {"<|im_start|>assistant\n", "<|im_end|>\n", reply},
	}
}

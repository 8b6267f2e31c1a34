package arch

import "strings"

// A Text is what an architecture says about its models' text beside what their
// files do.
type Text struct {
	// Arch is the architecture's name, for errors. Package models sets it.
	Arch string
	// Chat is how the models were taught to see a conversation, if the file has
	// no template; nil: nobody knows.
	Chat *Chat
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

package tokenizer

import (
	"fmt"
	"strings"

	"onebit/internal/term"
)

// The roles of messages.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// A Message is one turn of a conversation.
type Message struct{ Role, Content string }

// A Chat is a way in which a model was taught to see a conversation. There is
// no interpreter for the templates in files; what is known is in this table.
type Chat struct {
	Name  string
	About string
	turns map[string]turn // by role
	reply string          // what the model is to continue
}

// A turn is what stands around a message's content.
type turn struct {
	before, after string
	content       func(string) string // nil for unchanged
}

// chats are all that are known; the sources are in the package comment.
var chats = []*Chat{
	{
		Name:  "chatml",
		About: "<|im_start|>role … <|im_end|>, as Qwen2.5 has it",
		turns: chatML(nil),
		reply: "<|im_start|>assistant\n",
	}, {
		Name:  "qwen3",
		About: "ChatML with an empty <think> block before the reply: enable_thinking is false (Bonsai)",
		turns: chatML(withoutThinking),
		reply: "<|im_start|>assistant\n<think>\n\n</think>\n\n",
	}, {
		Name:  "bitnet",
		About: "User: …<|eot_id|>Assistant: (BitNet b1.58 2B4T)",
		turns: map[string]turn{
			System:    {"System: ", "<|eot_id|>", strings.TrimSpace},
			User:      {"User: ", "<|eot_id|>", strings.TrimSpace},
			Assistant: {"Assistant: ", "<|eot_id|>", strings.TrimSpace},
		},
		reply: "Assistant: ",
	}, {
		Name:  "inst",
		About: "[INST] … [/INST] (1bitLLM)",
		turns: map[string]turn{
			User:      {"[INST] ", " [/INST]", nil},
			Assistant: {" ", " </s><s>", nil},
		},
	},
}

func chatML(reply func(string) string) map[string]turn {
	return map[string]turn{
		System:    {"<|im_start|>system\n", "<|im_end|>\n", nil},
		User:      {"<|im_start|>user\n", "<|im_end|>\n", nil},
		Assistant: {"<|im_start|>assistant\n", "<|im_end|>\n", reply},
	}
}

// withoutThinking leaves out what an earlier reply was thought from.
func withoutThinking(reply string) string {
	if i := strings.LastIndex(reply, thinkEnd); i >= 0 {
		return strings.TrimLeft(reply[i+len(thinkEnd):], "\n")
	}
	return reply
}

const thinkEnd = "</think>"

// Chats returns all that are known.
func Chats() []*Chat { return append([]*Chat(nil), chats...) }

// ChatNamed returns the one of that name.
func ChatNamed(name string) (*Chat, error) {
	for _, c := range chats {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("unknown chat template %s; known ones are %s", term.QuoteAlways(name), chatNames())
}

func chatNames() string {
	var names []string
	for _, c := range chats {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// Chat finds out which one the model was taught, from the template in its file
// or, if there is none, from its architecture.
func (t *Tokenizer) Chat() (*Chat, error) {
	has := func(s string) bool { return strings.Contains(t.template, s) }
	bitnet := t.architecture == "bitnet-b1.58" || t.architecture == "bitnet-25"
	name := ""
	switch {
	case bitnet:
		// Not by the template: the official GGUF file's, with "Human:" and
		// "BITNETAssistant:", is a leftover of its converter and contradicts
		// the model's own in tokenizer_config.json.
		name = "bitnet"
	case has("<|im_start|>") && has("<think>"):
		name = "qwen3"
	case has("<|im_start|>"):
		name = "chatml"
	case has("<|eot_id|>") && has("capitalize"): // of the role, to User and Assistant
		name = "bitnet"
	case has("[INST]"):
		name = "inst"
	case t.template != "":
		return nil, fmt.Errorf("the file's chat template is not known; choose one of %s", chatNames())
	case t.architecture == "qwen3":
		name = "qwen3"
	case t.architecture == "bitnet":
		name = "inst"
	default:
		return nil, fmt.Errorf("the file has no chat template, and its architecture %s tells none; choose one of %s", term.QuoteAlways(t.architecture), chatNames())
	}
	return ChatNamed(name)
}

// Prompt lays the messages out up to where the model's reply begins. Their
// contents are not Special parts. A role that the model does not know is an
// error; so is a conversation in which it is not the model's turn.
func (c *Chat) Prompt(messages ...Message) ([]Part, error) {
	if n := len(messages); n == 0 || messages[n-1].Role == Assistant {
		return nil, fmt.Errorf("chat template %s: there is no message to reply to", c.Name)
	}
	var parts []Part
	for i, m := range messages {
		turn, ok := c.turns[m.Role]
		if !ok {
			return nil, fmt.Errorf("chat template %s: message %d has role %s, want %s", c.Name, i+1, term.QuoteAlways(m.Role), c.roles())
		}
		content := m.Content
		if turn.content != nil {
			content = turn.content(content)
		}
		parts = append(parts, Part{turn.before, true}, Part{content, false}, Part{turn.after, true})
	}
	return append(parts, Part{c.reply, true}), nil
}

func (c *Chat) roles() string {
	var known []string
	for _, role := range []string{System, User, Assistant} {
		if _, ok := c.turns[role]; ok {
			known = append(known, role)
		}
	}
	return strings.Join(known, ", ")
}

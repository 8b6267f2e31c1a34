package models_test

import (
	"strings"
	"testing"

	"onebit/formats/container"
	"onebit/models/arch"
	"onebit/models/source"
	"onebit/models/tokenizer"
)

func turn(role, content string) tokenizer.Message {
	return tokenizer.Message{Role: role, Content: content}
}

const xhigh = "Reasoning effort is set to xhigh. Please think carefully through the task, validate key assumptions, " +
	"consider plausible alternatives, and prioritize correctness, consistency, and clarity in the final answer."

// Thinking is a choice where the models have learned it.
func TestThinking(t *testing.T) {
	const silent = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
	for _, tt := range []struct {
		name, effort   string
		think          bool
		reply, preface string // or an error
	}{
		{"qwen3", "", false, silent, ""},
		{"qwen3", "", true, "<|im_start|>assistant\n", ""},
		{"qwen3.5", "", true, "<|im_start|>assistant\n<think>\n", ""},
		{"qwen3.5", "", false, silent, ""},
		{"qwen3.5", "low", true, "", "was not taught efforts"},
		{"qwen3.8", "", true, "<|im_start|>assistant\n<think>\n", xhigh},
		{"qwen3.8", "xhigh", true, "<|im_start|>assistant\n<think>\n", xhigh},
		{"qwen3.8", "medium", true, "<|im_start|>assistant\n<think>\n", ""},
		{"qwen3.8", "", false, silent, ""},
		{"qwen3.8", "low", false, "", "low without thinking"},
		{"qwen3.8", "high", true, "", `unknown effort "high" (known: low, medium, xhigh)`},
		{"bitnet", "", false, "", "was not taught to think"},
		{"bitnet", "low", true, "", "was not taught efforts"},
	} {
		chat, err := arch.LookupChat(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := chat.With(tt.think, tt.effort)
		switch {
		case tt.reply == "":
			if err == nil || !strings.Contains(err.Error(), tt.preface) {
				t.Errorf("%+v: error %v", tt, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", tt, err)
		case got.Reply != tt.reply || got.Preface != tt.preface:
			t.Errorf("%+v: %q and %q", tt, got.Reply, got.Preface)
		}
	}
}

func TestChatPrompt(t *testing.T) {
	conversation := []tokenizer.Message{
		turn(arch.System, "Be brief."), turn(arch.User, " Hi "), turn(arch.Assistant, "<think>\nhm\n</think>\n\nHello\n"), turn(arch.User, "Bye"),
	}
	for _, tt := range []struct {
		name     string
		messages []tokenizer.Message
		want     string
	}{
		{"qwen3", conversation[3:], "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"},
		{"qwen3", conversation, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n" +
			"<|im_start|>assistant\nHello\n<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"},
		{"qwen3.5", conversation, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n" +
			"<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n<think>\n"},
		{"qwen3.8", conversation, "<|im_start|>system\n" + xhigh + "\n\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n" +
			"<|im_start|>assistant\n<think>\nhm\n</think>\n\nHello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n<think>\n"},
		{"qwen3.8", []tokenizer.Message{turn(arch.User, "a"), turn(arch.Assistant, "b"), turn(arch.User, "c")},
			"<|im_start|>system\n" + xhigh + "<|im_end|>\n<|im_start|>user\na<|im_end|>\n" +
				"<|im_start|>assistant\n<think>\n\n</think>\n\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n<think>\n"},
		{"chatml", conversation[1:], "<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\n<think>\nhm\n</think>\n\nHello\n<|im_end|>\n" +
			"<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"},
		{"bitnet", conversation, "System: Be brief.<|eot_id|>User: Hi<|eot_id|>Assistant: <think>\nhm\n</think>\n\nHello<|eot_id|>" +
			"User: Bye<|eot_id|>Assistant: "},
		{"inst", conversation[3:], "[INST] Bye [/INST]"},
		{"falcon3", conversation[3:], "<|user|>\nBye\n<|assistant|>\n"},
		{"inst", []tokenizer.Message{turn(arch.User, "a"), turn(arch.Assistant, "b"), turn(arch.User, "c")}, "[INST] a [/INST] b </s><s>[INST] c [/INST]"},
	} {
		chat, err := arch.LookupChat(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := tokenizer.Prompt(chat, tt.messages...)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
		}
		if b.String() != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.name, b.String(), tt.want)
		}
	}
}

func TestChatErrors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []tokenizer.Message
		want     string
	}{
		{"qwen3", nil, "no message to reply to"},
		{"qwen3", []tokenizer.Message{turn(arch.User, "a"), turn(arch.Assistant, "b")}, "no message to reply to"},
		{"inst", []tokenizer.Message{turn(arch.System, "a"), turn(arch.User, "b")}, `message 1 has role "system", want user, assistant`},
		{"bitnet", []tokenizer.Message{turn("tool", "a")}, `message 1 has role "tool", want system, user, assistant`},
	} {
		chat, err := arch.LookupChat(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tokenizer.Prompt(chat, tt.messages...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := arch.LookupChat("gemma"); err == nil || err.Error() != `unknown chat template "gemma" (known: bitnet, chatml, falcon3, inst, qwen3, qwen3.5, qwen3.8)` {
		t.Error(err)
	}
}

func TestChatDetection(t *testing.T) {
	for _, tt := range []struct{ template, architecture, want string }{
		{"{{'<|im_start|>'}} … {{'<think>\\n\\n</think>\\n\\n'}}", "qwen3", "qwen3"},
		{"{{'<|im_start|>'}}", "qwen3", "chatml"},
		{"", "qwen3", "qwen3"},
		{"{{'<|im_start|>'}} {{'<tool_call>\\n<function='}} {{'<think>\\n'}}", "qwen35", "qwen3.5"},
		{"{{'<|im_start|>'}} {{'<tool_call>\\n<function='}} {{'<think>\\n'}} {%- if reasoning_effort %}", "qwen35", "qwen3.8"},
		{"", "qwen35", "qwen3.5"},
		{"", "bitnet-b1.58", "bitnet"},
		{"", "bitnet-25", "bitnet"},
		{"{{'Human: '}}{{'BITNETAssistant: '}}", "bitnet-b1.58", "bitnet"},
		{"", "bitnet", "inst"},
		{"{{'[INST] '}}", "llama", "inst"},
		{"{{'<|start_header_id|>'}}", "llama", ""},
		{"", "llama", ""},
		{"{{'<|user|>\\n'}} {{'<|assistant|>\\n'}}", "llama", "falcon3"},
	} {
		x := newFixture(t, preset("tiny"))
		x.set("tokenizer.chat_template", container.Of(tt.template))
		x.set(arch.KeyArchitecture, container.Of(tt.architecture))
		tok, err := source.FromGGUF(x.file(t)).Tokenizer()
		if err != nil {
			t.Fatal(err)
		}
		chat, err := tok.Chat(arch.Chats())
		switch {
		case tt.want == "" && (err == nil || !strings.Contains(err.Error(), "choose one of bitnet, chatml, falcon3, inst, qwen3, qwen3.5, qwen3.8")):
			t.Errorf("%+v: %v", tt, err)
		case tt.want != "" && (err != nil || chat.Name != tt.want):
			t.Errorf("%+v: %v, %v", tt, chat, err)
		}
	}
	if len(arch.Chats()) != 7 {
		t.Errorf("%v", arch.Chats())
	}
	for _, c := range arch.Chats() {
		if c.Name == "" || c.About == "" || len(c.Marks) == 0 {
			t.Errorf("%+v", c)
		}
	}
	for _, a := range arch.Tables() {
		if a.Text.IgnoreTemplate && a.Text.Chat == nil {
			t.Errorf("%s takes no template and has none", a.Name)
		}
	}
}

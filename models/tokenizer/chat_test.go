package tokenizer

import (
	"slices"
	"strings"
	"testing"
)

func TestChatPrompt(t *testing.T) {
	conversation := []Message{
		{System, "Be brief."}, {User, " Hi "}, {Assistant, "<think>\nhm\n</think>\n\nHello\n"}, {User, "Bye"},
	}
	for _, tt := range []struct {
		name     string
		messages []Message
		want     string
	}{
		{"qwen3", conversation[3:], "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"},
		{"qwen3", conversation, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n" +
			"<|im_start|>assistant\nHello\n<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"},
		{"chatml", conversation[1:], "<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\n<think>\nhm\n</think>\n\nHello\n<|im_end|>\n" +
			"<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"},
		{"bitnet", conversation, "System: Be brief.<|eot_id|>User: Hi<|eot_id|>Assistant: <think>\nhm\n</think>\n\nHello<|eot_id|>" +
			"User: Bye<|eot_id|>Assistant: "},
		{"inst", conversation[3:], "[INST] Bye [/INST]"},
		{"inst", []Message{{User, "a"}, {Assistant, "b"}, {User, "c"}}, "[INST] a [/INST] b </s><s>[INST] c [/INST]"},
	} {
		chat, err := ChatNamed(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := chat.Prompt(tt.messages...)
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
		messages []Message
		want     string
	}{
		{"qwen3", nil, "no message to reply to"},
		{"qwen3", []Message{{User, "a"}, {Assistant, "b"}}, "no message to reply to"},
		{"inst", []Message{{System, "a"}, {User, "b"}}, `message 1 has role "system", want user, assistant`},
		{"bitnet", []Message{{"tool", "a"}}, `message 1 has role "tool", want system, user, assistant`},
	} {
		chat, err := ChatNamed(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chat.Prompt(tt.messages...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := ChatNamed("gemma"); err == nil || err.Error() != `unknown chat template "gemma"; known ones are chatml, qwen3, bitnet, inst` {
		t.Error(err)
	}
}

func TestChatDetection(t *testing.T) {
	for _, tt := range []struct{ template, architecture, want string }{
		{"{{'<|im_start|>'}} … {{'<think>\\n\\n</think>\\n\\n'}}", "qwen3", "qwen3"},
		{"{{'<|im_start|>'}}", "qwen3", "chatml"},
		{"", "qwen3", "qwen3"},
		{"", "bitnet-b1.58", "bitnet"},
		{"", "bitnet-25", "bitnet"},
		{"{{'Human: '}}{{'BITNETAssistant: '}}", "bitnet-b1.58", "bitnet"},
		{"", "bitnet", "inst"},
		{"{{'[INST] '}}", "llama", "inst"},
		{"{{'<|start_header_id|>'}}", "llama", ""},
		{"", "llama", ""},
	} {
		tok := small(t, "qwen2", func(m map[string]any) { m[keyTemplate], m[keyArchitecture] = tt.template, tt.architecture })
		chat, err := tok.Chat()
		switch {
		case tt.want == "" && (err == nil || !strings.Contains(err.Error(), "choose one of chatml, qwen3, bitnet, inst")):
			t.Errorf("%+v: %v", tt, err)
		case tt.want != "" && (err != nil || chat.Name != tt.want):
			t.Errorf("%+v: %v, %v", tt, chat, err)
		}
	}
	if len(Chats()) != 4 || slices.ContainsFunc(Chats(), func(c *Chat) bool { return c.Name == "" || c.About == "" }) {
		t.Errorf("%v", Chats())
	}
}

// What a user writes is no control token, and words reach across parts.
func TestEncodeParts(t *testing.T) {
	tok := small(t, "qwen2")
	parts := []Part{{"<|im_start|>", true}, {"\n", true}, {"\nhe<|im|>", false}, {"<|im_end|>", true}}
	want := []int{271, 269, 256, '<', '|', 'i', 'm', '|', '>', 272}
	if got := tok.EncodeParts(parts); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Nor can it be made of what stands in two parts, unless both are Special.
	if got, want := tok.EncodeParts([]Part{{"<|i", false}, {"m|>", true}}), []int{'<', '|', 'i', 'm', '|', '>'}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := tok.EncodeParts([]Part{{"<|i", true}, {"m|>", true}}), []int{274}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := tok.EncodeParts(nil); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}

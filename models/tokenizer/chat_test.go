package tokenizer

import (
	"slices"
	"testing"

	"onebit/models/arch"
)

// The file's template counts, unless the architecture says that it does not, and
// of several that it may mean the one with the most marks.
func TestChat(t *testing.T) {
	own := &arch.Chat{Name: "own"}
	plain, thinking := &arch.Chat{Name: "plain", Marks: []string{"<a>"}}, &arch.Chat{Name: "thinking", Marks: []string{"<a>", "<think>"}}
	known := []*arch.Chat{own, plain, thinking}
	for _, tt := range []struct {
		template string
		text     arch.Text
		want     *arch.Chat
		err      string
	}{
		{"<a> <think>", arch.Text{Chat: own}, thinking, ""},
		{"<a>", arch.Text{Chat: own}, plain, ""},
		{"<a>", arch.Text{Chat: own, IgnoreTemplate: true}, own, ""},
		{"", arch.Text{Chat: own}, own, ""},
		{"<think>", arch.Text{Chat: own}, nil, "the file's chat template is not known; choose one of own, plain, thinking"},
		{"", arch.Text{Arch: "llama"}, nil, `the file has no chat template, and its architecture "llama" tells none; choose one of own, plain, thinking`},
	} {
		tok, err := FromGGUF(smallFile(t, "qwen2", func(m map[string]any) { m[keyTemplate] = tt.template }), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tok.Chat(known)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%q: %v, %v", tt.template, got, err)
		}
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

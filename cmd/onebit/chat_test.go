package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/models"
	"onebit/models/arch"
	talk "onebit/models/conversation"
	"onebit/models/engine/cpu"
	"onebit/models/tokenizer"
)

// newConversation starts one with a tiny model.
func newConversation(t *testing.T, context int) (c *conversation, notes *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	var stderr bytes.Buffer
	if code := run(t.Context(), nil, io.Discard, &stderr, []string{"synth", "tiny", "-o", path}); code != 0 {
		t.Fatal(stderr.String())
	}
	f := runFlags{}
	en, err := f.load(t.Context(), path, cpu.PackNever)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { en.Close() })
	session, err := en.newSession(context)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	template, err := arch.LookupChat("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := models.NewSampler(models.SamplerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	notes = new(bytes.Buffer)
	return &conversation{
		Conversation: &talk.Conversation{Session: session, Tokenizer: en.Tokenizer, Template: template},
		generation:   generation{openModel: en, session: session, sampler: sampler, limit: 9, ignoreEnd: true, out: io.Discard}, notes: notes,
	}, notes
}

// say returns turns of which no more come.
func say(texts ...string) <-chan said {
	turns := make(chan said, len(texts))
	for _, text := range texts {
		turns <- said{text: text}
	}
	close(turns)
	return turns
}

// What the session keeps from turn to turn changes nothing: every reply is the one
// to the whole conversation by itself.
func TestConversationIsOneText(t *testing.T) {
	c, _ := newConversation(t, 512)
	if err := c.run(t.Context(), say("Hello there", "And a second turn", " \t", "Bye")); err != nil {
		t.Fatal(err)
	}
	if len(c.Messages) != 6 || len(c.replies) != 3 {
		t.Fatalf("%d messages and %d replies, want 6 and 3", len(c.Messages), len(c.replies))
	}
	for i, g := range c.replies {
		parts, err := tokenizer.Prompt(c.Template, c.Messages[:2*i+1]...)
		if err != nil {
			t.Fatal(err)
		}
		whole := c.Tokenizer.EncodeParts(parts)
		if kept := len(whole) - len(g.prompt); kept < 0 || i > 0 && kept < 10*i || !slices.Equal(whole[kept:], g.prompt) {
			t.Errorf("reply %d: took in %d of %d tokens", i, len(g.prompt), len(whole))
		}
		fresh, err := c.generation.newSession(512)
		if err != nil {
			t.Fatal(err)
		}
		sampler, err := models.NewSampler(models.SamplerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for id, err := range fresh.Generate(t.Context(), whole, sampler) {
			if err != nil {
				t.Fatal(err)
			}
			if id != g.tokens[n].ID {
				t.Fatalf("reply %d: token %d is %d, want %d", i, n, g.tokens[n].ID, id)
			}
			if n++; n == len(g.tokens) {
				break
			}
		}
		fresh.Close()
	}
}

// Of a conversation longer than the context the oldest turns go; a turn that is
// longer by itself is not taken.
func TestConversationForgets(t *testing.T) {
	c, notes := newConversation(t, 128)
	long := strings.Repeat("many words ", 60)
	if err := c.run(t.Context(), say("Hello", "How do you do?", long, "And now?", "So?", "Well, then that is all.")); err != nil {
		t.Fatal(err)
	}
	if len(c.replies) != 5 || c.Session.Position() > 128 {
		t.Errorf("%d replies, %d tokens in the session", len(c.replies), c.Session.Position())
	}
	for _, want := range []string{"that turn has ", "the oldest of the conversation is forgotten, "} {
		if strings.Count(notes.String(), want) == 0 {
			t.Errorf("no %q in %q", want, notes.String())
		}
	}
	if last := c.Messages[len(c.Messages)-2]; last.Content != "Well, then that is all." {
		t.Errorf("the last turn is %q", last.Content)
	}
}

func TestConversationInterruptedWhileWaiting(t *testing.T) {
	c, _ := newConversation(t, 64)
	interrupts := make(chan os.Signal, 1)
	interrupts <- os.Interrupt
	c.interrupts = interrupts
	if err := c.run(t.Context(), make(chan said)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was canceled", err)
	}
}

// A signaler interrupts the process at the first byte, once.
type signaler struct {
	text bytes.Buffer
	sent bool
}

func (w *signaler) Write(p []byte) (int, error) {
	if !w.sent {
		w.sent = true
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return 0, err
		}
		if err := self.Signal(os.Interrupt); err != nil {
			return 0, err
		}
		time.Sleep(300 * time.Millisecond) // the signal is on its way
	}
	return w.text.Write(p)
}

// An interrupt stops the reply and nothing else.
func TestReplyInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot interrupt itself")
	}
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	var stderr bytes.Buffer
	if code := run(t.Context(), nil, io.Discard, &stderr, []string{"synth", "tiny", "-o", path}); code != 0 {
		t.Fatal(stderr.String())
	}
	stderr.Reset()
	var out signaler
	if code := run(t.Context(), strings.NewReader("Hello\nAgain\n"), &out, &stderr, []string{"run", path, "--chat", "--ignore-eos", "-n", "200"}); code != 0 {
		t.Errorf("exit status %d: %s", code, stderr.String())
	}
	if !strings.Contains(stderr.String(), "\n(stopped)\n2 replies; ") {
		t.Errorf("standard error: %s", stderr.String())
	}
	first, second, _ := strings.Cut(out.text.String(), "\n")
	if first == "" || len(first) >= len(second) {
		t.Errorf("replies %q and %q", first, second)
	}
}

func TestReadTurns(t *testing.T) {
	var got []string
	for turn := range readTurns(strings.NewReader("one\\\ntwo\n\nthree\r\nfour\\")) {
		got = append(got, turn.text)
	}
	if want := []string{"one\ntwo", "", "three", "four\n"}; !slices.Equal(got, want) {
		t.Errorf("turns %q, want %q", got, want)
	}
	for turn := range readTurns(io.MultiReader(strings.NewReader("a\n"), strings.NewReader(strings.Repeat("b", mostPrompt+1)))) {
		if turn.err != nil {
			return
		}
	}
	t.Error("a line of more than 64 MiB came through")
}

// A model whose file tells of no conversation may have learned none.
func TestChatWithoutTemplate(t *testing.T) {
	for model, noted := range map[string]bool{"gopher-ternary": true, tinyModel(t, "tiny"): false} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), nil, &stdout, &stderr, []string{"run", model, "--chat", "-p", "x", "-n", "1"}); code != 0 {
			t.Fatal(stderr.String())
		}
		if got := strings.Contains(stderr.String(), "note: the model's file tells of no conversation"); got != noted {
			t.Errorf("%s: %s", model, stderr.String())
		}
	}
}

package conversation

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/models"
	"onebit/models/arch"
	_ "onebit/models/engine/cpu"
	"onebit/models/synth"
	"onebit/models/tokenizer"
)

func newConversation(t *testing.T, context int) *Conversation {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := arch.LookupPreset("tiny")
	check(err)
	var b bytes.Buffer
	check(synth.Write(&b, p, 1))
	path := filepath.Join(t.TempDir(), "model.gguf")
	check(os.WriteFile(path, b.Bytes(), 0o600))
	model, err := models.Open(t.Context(), path, models.Options{})
	check(err)
	t.Cleanup(func() { model.Close() })
	words, err := model.Source().Tokenizer()
	check(err)
	session, err := model.NewSession(models.SessionOptions{Context: context})
	check(err)
	t.Cleanup(func() { session.Close() })
	template, err := arch.LookupChat("qwen3")
	check(err)
	return &Conversation{Session: session, Tokenizer: words, Template: template}
}

// A turn takes in what the session lacks of the whole conversation, and nothing twice.
func TestTurnsAreOneText(t *testing.T) {
	c := newConversation(t, 512)
	for i, text := range []string{"Hello there", "And a second turn", "Bye"} {
		turn, err := c.Say(text)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := tokenizer.Prompt(c.Template, c.Messages...)
		if err != nil {
			t.Fatal(err)
		}
		whole := c.Tokenizer.EncodeParts(parts)
		kept := len(whole) - len(turn.Tokens)
		if kept != c.Session.Position() || i > 0 && kept == 0 || !slices.Equal(whole[kept:], turn.Tokens) || turn.Forgotten != 0 {
			t.Fatalf("turn %d takes in %d of %d tokens, and the session holds %d", i, len(turn.Tokens), len(whole), c.Session.Position())
		}
		if _, err := c.Session.Prefill(t.Context(), turn.Tokens); err != nil {
			t.Fatal(err)
		}
		c.Reply(turn, nil, "Yes.")
	}
	if len(c.Messages) != 6 {
		t.Errorf("%d messages, want 6", len(c.Messages))
	}
}

// The oldest turns go where the context has no room, and a turn that has none by itself is
// refused; one without a reply is taken back.
func TestTurnsAreForgotten(t *testing.T) {
	c := newConversation(t, 128)
	forgotten := 0
	for range 8 {
		turn, err := c.Say("How do you do?")
		if err != nil {
			t.Fatal(err)
		}
		forgotten += turn.Forgotten
		c.Reply(turn, nil, "Thank you, I do well.")
	}
	if forgotten == 0 || forgotten%2 != 0 || c.Session.Position() > 128 {
		t.Errorf("%d messages forgotten, %d tokens in the session", forgotten, c.Session.Position())
	}
	before := len(c.Messages)
	turn, err := c.Say("Hm?")
	if err != nil {
		t.Fatal(err)
	}
	if c.Reply(turn, nil, ""); len(c.Messages) != before-turn.Forgotten {
		t.Errorf("%d messages after a turn without a reply, want %d", len(c.Messages), before-turn.Forgotten)
	}
	var tooLong *TooLongError
	if _, err := c.Say(strings.Repeat("many words ", 60)); !errors.As(err, &tooLong) || tooLong.Context != 128 || tooLong.Tokens <= tooLong.Most {
		t.Errorf("error %v of a turn longer than the context", err)
	}
}

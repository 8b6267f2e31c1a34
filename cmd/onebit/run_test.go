package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// An interrupter is an output that interrupts the program at the first byte.
type interrupter struct {
	text   bytes.Buffer
	cancel context.CancelFunc
}

func (w *interrupter) Write(p []byte) (int, error) {
	w.cancel()
	return w.text.Write(p)
}

func TestGenerationInterrupted(t *testing.T) {
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	var whole, stderr bytes.Buffer
	if code := run(t.Context(), nil, &whole, &stderr, []string{"synth", "tiny", "-o", model}); code != 0 {
		t.Fatal(stderr.String())
	}
	args := []string{"run", model, "-p", "Once upon", "-n", "100", "--ignore-eos"}
	if code := run(t.Context(), nil, &whole, &stderr, args); code != 0 {
		t.Fatal(stderr.String())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cut := &interrupter{cancel: cancel}
	stderr.Reset()
	if code := run(ctx, nil, cut, &stderr, args); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	text := strings.TrimSuffix(cut.text.String(), "\n")
	if text == "" || len(text) >= whole.Len()-1 || !strings.HasPrefix(whole.String(), text) {
		t.Errorf("text %q is no beginning of %q", text, whole.String())
	}
	if !strings.Contains(stderr.String(), "prompt 8 tokens") || !strings.Contains(stderr.String(), "onebit: interrupted: after ") {
		t.Errorf("standard error: %s", stderr.String())
	}
}

// pieces is an output that keeps what each write wrote.
type pieces []string

func (w *pieces) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

// splits reports whether a character begins in text and goes on in next.
func splits(text, next string) bool {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			return !utf8.FullRuneInString(tail) && !utf8.RuneStart(next[0])
		}
	}
	return false
}

// A vocabulary of bytes: many characters come in several tokens. Text streams
// in many writes, none of which ends within a character.
func TestCharactersAreNotSplit(t *testing.T) {
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	var stderr bytes.Buffer
	if code := run(t.Context(), nil, new(bytes.Buffer), &stderr, []string{"synth", "tiny", "-o", model}); code != 0 {
		t.Fatal(stderr.String())
	}
	var out pieces
	const tokens = 400
	args := []string{"run", model, "-p", "é", "-n", strconv.Itoa(tokens), "--ignore-eos", "--temp", "100", "--seed", "3"}
	if code := run(t.Context(), nil, &out, &stderr, args); code != 0 {
		t.Fatal(stderr.String())
	}
	if len(out) < tokens/2 || len(out) >= tokens {
		t.Errorf("%d writes of %d tokens: want a stream, and some of them held back", len(out), tokens)
	}
	for i, text := range out[:len(out)-1] {
		if splits(text, out[i+1]) {
			t.Errorf("a character is split between %q and %q", text, out[i+1])
		}
	}
}

// An endless prompt ends with an error, not with the memory.
func TestReadPromptEndless(t *testing.T) {
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Skip(err)
	}
	defer zero.Close()
	if _, err := readPrompt(zero); err == nil || !strings.HasPrefix(err.Error(), "reading the prompt: is larger than 67108864 bytes") {
		t.Errorf("error %v", err)
	}
}

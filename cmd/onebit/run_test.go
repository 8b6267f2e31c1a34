package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
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

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// complete asks for completions as a shell does: its last word is being typed.
func complete(t *testing.T, words ...string) (offers []string, directive string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr, append([]string{"__complete"}, words...)); code != 0 {
		t.Fatalf("%q: exit status %d: %s", words, code, &stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	for _, line := range lines[:len(lines)-1] {
		offer, _, _ := strings.Cut(line, "\t") // a description follows
		offers = append(offers, offer)
	}
	return offers, lines[len(lines)-1]
}

// Directives of cobra, by their bits: 2 no space, 4 no files, 8 files with these
// extensions, 16 directories.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		words     []string
		want      []string // among the offers
		without   string   // not among them
		directive string
	}{
		{[]string{""}, []string{"bench", "run", "completion", "man", "version"}, "measure-memory", ":4"},
		{[]string{"bench", ""}, []string{"kernels", "models", "all"}, "", ":4"},
		{[]string{"bench", "models", "--pre"}, []string{"--preset"}, "", ":4"},
		{[]string{"bench", "--pre"}, nil, "--preset", ":4"},
		{[]string{"bench", "models", "--preset", "bonsai-1.7b,"}, []string{"bonsai-1.7b,bitnet-2b-4t"}, "bitnet-2b-4t", ":4"},
		{[]string{"bench", "models", "--head", ""}, []string{"own", "q8_0"}, "i2_s", ":4"},
		{[]string{"bench", "--act", ""}, []string{"f32", "q8_row", "q8_128", "q8_32"}, "", ":4"},
		{[]string{"bench", "--model", ""}, []string{"gguf"}, "", ":8"},
		{[]string{"bench", "--filter", "/f"}, []string{"/format:", "/variant:"}, "", ":6"},
		{[]string{"bench", "--filter", "/rows:2048 -/format:q"}, []string{"/rows:2048 -/format:q1_0_g128"}, "", ":6"},
		{[]string{"bench", "--filter", "/cache:("}, []string{"/cache:(warm", "/cache:(cold"}, "", ":6"},
		{[]string{"bench", "--filter", "/rows:"}, nil, "/rows:2048", ":4"},
		{[]string{"run", ""}, []string{"gguf"}, "", ":8"},
		{[]string{"run", "a.gguf", ""}, nil, "gguf", ":4"},
		{[]string{"run", "a.gguf", "--variant", ""}, []string{"scalar", "reference"}, "", ":4"},
		{[]string{"run", "a.gguf", "--cache", ""}, []string{"f16", "f32"}, "i2_s", ":4"},
		{[]string{"synth", ""}, []string{"bonsai-1.7b", "tiny"}, "", ":4"},
		{[]string{"convert", ""}, []string{"gguf"}, "", ":8"},
		{[]string{"convert", "a", "b", "--type", ""}, []string{"tq2_0"}, "ternary_u32", ":4"},
		{[]string{"report", "--format", ""}, []string{"csv", "json", "markdown"}, "", ":4"},
		{[]string{"report", ""}, []string{"txt"}, "", ":8"},
		{[]string{"man", ""}, nil, "", ":16"},
		{[]string{"kernels", ""}, nil, "", ":4"},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}, "", ":4"},
	} {
		offers, directive := complete(t, c.words...)
		for _, want := range c.want {
			if !slices.Contains(offers, want) {
				t.Errorf("%q: %q is not among %q", c.words, want, offers)
			}
		}
		if c.without != "" && slices.Contains(offers, c.without) {
			t.Errorf("%q: %q is offered", c.words, c.without)
		}
		if directive != c.directive {
			t.Errorf("%q: directive %s, want %s", c.words, directive, c.directive)
		}
	}
}

// Every flag and verb that a completion is written for exists.
func TestCompletionsAreUsed(t *testing.T) {
	root := newRoot()
	used := func(name string) bool {
		for _, verb := range root.Commands() {
			if verb.Flags().Lookup(name) != nil {
				return true
			}
		}
		return false
	}
	for name := range flagValues {
		if !used(name) {
			t.Errorf("no verb has --%s", name)
		}
	}
	for name := range verbArgs {
		if verb, _, err := root.Find([]string{name}); err != nil || verb.Name() != name {
			t.Errorf("there is no verb %s", name)
		}
	}
}

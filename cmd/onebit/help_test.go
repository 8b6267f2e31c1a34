package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The help of every verb has lines that the smallest usual terminal shows.
func TestHelpWidth(t *testing.T) {
	root := newRoot()
	root.InitDefaultCompletionCmd()
	shown := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		var stdout, stderr bytes.Buffer
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if code := run(t.Context(), strings.NewReader(""), &stdout, &stderr, args); code != 0 {
			t.Errorf("onebit %s: exit status %d: %s", strings.Join(args, " "), code, stderr.String())
		}
		for line := range strings.Lines(stdout.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("onebit %s: %d columns: %s", strings.Join(args, " "), n, line)
			}
			shown++
		}
		for _, verb := range cmd.Commands() {
			check(verb)
		}
	}
	check(root)
	if shown < 500 {
		t.Errorf("%d lines in all", shown)
	}
}

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

// Every help has a command line to begin with, whose flags exist.
func TestHelpHasExamples(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if !cmd.Hidden && cmd.Name() != "help" && !strings.Contains("\n"+cmd.Long+"\n"+cmd.Example, "\n  onebit ") {
			t.Errorf("%s --help shows no command line", cmd.CommandPath())
		}
		var lines strings.Builder
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if strings.HasPrefix(line, "  onebit ") {
				lines.WriteString(line)
			}
		}
		for _, words := range onebitLines(lines.String()) {
			verb, rest, err := newRoot().Find(words)
			if err == nil {
				err = verb.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s --help: onebit %s: %v", cmd.CommandPath(), strings.Join(words, " "), err)
			}
		}
		for _, verb := range cmd.Commands() {
			check(verb)
		}
	}
	check(newRoot())
}

// Help has the columns of the terminal, within what people read.
func TestHelpFollowsTheTerminal(t *testing.T) {
	for columns, want := range map[string]int{"60": 60, "100": 100, "20": 40, "500": 120, "": 80} {
		t.Setenv("COLUMNS", columns)
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.NewReader(""), &stdout, &stderr, []string{"machine", "--help"}); code != 0 {
			t.Fatal(stderr.String())
		}
		longest := 0
		for line := range strings.Lines(stdout.String()) {
			if text := strings.TrimSuffix(line, "\n"); !strings.HasPrefix(text, "  onebit ") {
				longest = max(longest, utf8.RuneCountInString(text))
			}
		}
		if longest > want || longest < want-15 {
			t.Errorf("COLUMNS=%s: lines of %d columns, want %d", columns, longest, want)
		}
	}
}

// Flags that had other names are accepted by these, and not shown.
func TestOldSpellings(t *testing.T) {
	for old, now := range oldSpellings {
		found := false
		for _, verb := range newRoot().Commands() {
			if flag := verb.Flags().Lookup(old); flag != nil {
				found = true
				if flag.Name != now || strings.Contains(verb.UsageString(), "--"+old) {
					t.Errorf("%s: --%s is --%s, and shown", verb.Name(), old, flag.Name)
				}
			}
		}
		if !found {
			t.Errorf("no verb takes --%s", old)
		}
	}
}

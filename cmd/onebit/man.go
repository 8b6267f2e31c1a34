package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"onebit/cmd/internal/cli"
	"onebit/internal/build"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write manual pages",
		Example: "  onebit man ~/.local/share/man/man1",
		Long: `Write a manual page for onebit and each of its verbs into DIR, which is made if
need be. man -l DIR/onebit.1 shows one; in a directory such as
~/.local/share/man/man1 they are found by name.`,
		Args: cli.ExactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeManual(cmd.Root(), args[0], build.This())
		},
	}
}

// writeManual writes the manual of a build. Its pages are dated as its commit,
// so that a build has one manual.
func writeManual(root *cobra.Command, dir string, b build.Build) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	header := &doc.GenManHeader{Section: "1", Source: "onebit " + b.Version, Manual: "onebit manual"}
	if date, err := time.Parse(time.RFC3339, b.Date); err == nil {
		header.Date = &date
	}
	root.DisableAutoGenTag = true
	indentExamples(root)
	if err := doc.GenManTree(root, header, dir); err != nil {
		return fmt.Errorf("writing the manual: %w", err)
	}
	return nil
}

// indentExamples makes the indented lines of all texts blocks of Markdown, which
// cobra takes them for; it would run them together.
func indentExamples(cmd *cobra.Command) {
	var b strings.Builder
	within := false
	for line := range strings.Lines(cmd.Long) {
		indented := strings.HasPrefix(line, "  ")
		if indented != within {
			b.WriteString("\n")
		}
		if within = indented; indented {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	cmd.Long = b.String()
	for _, verb := range cmd.Commands() {
		indentExamples(verb)
	}
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"onebit/internal/build"
)

// Each verb has a page with a header that man takes, and nothing in it depends
// on the day.
func TestManual(t *testing.T) {
	b := build.Build{Version: "v1.2.3", Date: "2026-11-22T01:17:25+00:00"}
	write := func() string {
		dir := filepath.Join(t.TempDir(), "man1")
		if err := writeManual(newRoot(), dir, b); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir, again := write(), write()
	pages := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Fatal(err)
		}
		pages++
		header := `.TH "` + strings.ToUpper(name) + `" "1" "Nov 2026" "onebit v1.2.3" "onebit manual"`
		for _, want := range []string{header, "\n.SH NAME\n" + name + ` \- ` + cmd.Short, "\n.SH SYNOPSIS\n"} {
			if !strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), strings.ReplaceAll(want, `\-`, "-")) {
				t.Errorf("%s.1 has no %q:\n%.400s", name, want, page)
			}
		}
		if other, err := os.ReadFile(filepath.Join(again, name+".1")); err != nil || string(other) != string(page) {
			t.Errorf("%s.1 differs the second time (%v)", name, err)
		}
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				check(verb)
			}
		}
	}
	check(newRoot())
	synth, err := os.ReadFile(filepath.Join(dir, "onebit-synth.1"))
	if lines := regexp.MustCompile(`(?m)^bonsai-4b  .*\nbonsai-8b  `); err != nil || !lines.Match(synth) {
		t.Errorf("the presets have lost their lines (%v):\n%s", err, synth)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != pages || pages < 12 {
		t.Errorf("%d files for %d verbs (%v)", len(files), pages, err)
	}
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shellBlocks = regexp.MustCompile("(?ms)^```(?:sh|yaml|console)\n(.*?)^```$")
	ofOnebit    = regexp.MustCompile(`(?:^|[\s"(&|;])(?:go run )?(?:[\w./$"]*/)?onebit(?:@\w+)? (.+)$`)
	notWords    = regexp.MustCompile(`^(?:[|>&;#]|[0-9]>)`)
)

// onebitLines are the command lines of onebit in a text of a shell.
func onebitLines(text string) (lines [][]string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if m := ofOnebit.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			lines = append(lines, shellWords(m[1]))
		}
	}
	return lines
}

// shellWords are the words of a command up to what ends it, without quotes.
func shellWords(text string) (words []string) {
	for text = strings.TrimSpace(text); text != "" && !notWords.MatchString(text); text = strings.TrimSpace(text) {
		var word strings.Builder
		for text != "" && !strings.ContainsRune(" \t|>&;)", rune(text[0])) {
			if quote := text[0]; quote == '\'' || quote == '"' {
				inside, rest, closed := strings.Cut(text[1:], string(quote))
				if !closed { // the whole command stands in quotes
					text = ""
					break
				}
				word.WriteString(inside)
				text = rest
				continue
			}
			word.WriteByte(text[0])
			text = text[1:]
		}
		if word.Len() == 0 {
			return words
		}
		words = append(words, word.String())
	}
	return words
}

// Every command line that the README, the documents and the workflows show has
// flags that exist.
func TestShownCommandLines(t *testing.T) {
	var files []string
	for _, pattern := range []string{"README.md", "docs/*.md", ".github/workflows/*.yml"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	gates := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if filepath.Ext(file) == ".md" {
			var blocks strings.Builder
			for _, m := range shellBlocks.FindAllStringSubmatch(text, -1) {
				blocks.WriteString(m[1])
			}
			text = blocks.String()
		}
		for _, words := range onebitLines(text) {
			cmd, rest, err := newRoot().Find(words)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s: onebit %s: %v", filepath.Base(file), strings.Join(words, " "), err)
			}
			if cmd.Name() == "gate" {
				gates++
			}
		}
	}
	if gates < 6 {
		t.Errorf("%d command lines of the gate are shown, want at least 6", gates)
	}
}

func TestShellWords(t *testing.T) {
	got := onebitLines("x\n  run: go run ./cmd/onebit gate --base \"$BASE\" --filter '/a:(b OR c)' \\\n -o d || exit 1\n$(onebit version) # onebit\nstep \"onebit bench --short\" next\n")
	want := []string{"gate|--base|$BASE|--filter|/a:(b OR c)|-o|d", "version", "bench|--short"}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i, words := range got {
		if strings.Join(words, "|") != want[i] {
			t.Errorf("%q, want %q", words, want[i])
		}
	}
}

package main

import (
	"cmp"
	"context"
	"fmt"
	gobuild "go/build"
	"os/exec"
	"strings"

	"github.com/spf13/pflag"

	"onebit/models/train/lm"
)

// corpusFlags say what text is trained on.
type corpusFlags struct{ text, goroot string }

func (f *corpusFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.text, "text", "", "train on the text in `FILE`, and not on Go's documentation")
	flags.StringVar(&f.goroot, "goroot", "", "train on the documentation of the Go installation in `DIR`, and not of this machine's")
}

func (f *corpusFlags) read(ctx context.Context) (*lm.Corpus, error) {
	if f.text != "" {
		return lm.ReadFile(f.text)
	}
	return lm.GoDocumentation(f.root(ctx))
}

// mayBe refuses flags whose text is another than that of a run by its name alone: to read
// Go's documentation takes seconds. A file may have moved.
func (f *corpusFlags) mayBe(name string) error {
	another := fmt.Errorf("the run began with another text: %s. Give that one, or begin anew", name)
	if f.text != "" || !lm.IsDocumentation(name) {
		if (f.text != "") == lm.IsDocumentation(name) {
			return another
		}
		return nil
	}
	own, err := lm.DocumentationName(f.root(context.Background()))
	if err == nil && own != name {
		return another
	}
	return err
}

// root is where the Go installation is.
func (f *corpusFlags) root(ctx context.Context) string {
	root := cmp.Or(f.goroot, gobuild.Default.GOROOT)
	if root == "" {
		// What a binary built with -trimpath doesn't know, the go command does; without one
		// the text is missing, as the error says.
		out, _ := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		root = strings.TrimSpace(string(out))
	}
	return root
}

package lm

import (
	"cmp"
	"context"
	"fmt"
	gobuild "go/build"
	"os/exec"
	"strings"
)

// An Origin says where a corpus comes from: a file of text or, without one, the
// documentation of a Go installation.
type Origin struct {
	File   string
	GoRoot string // "": that of this machine
}

// Read reads the corpus.
func (o Origin) Read(ctx context.Context) (*Corpus, error) {
	if o.File != "" {
		return ReadFile(o.File)
	}
	return GoDocumentation(o.root(ctx))
}

// MayBe refuses an origin whose corpus is not the one of that name, by the name alone:
// Go's documentation takes seconds to read. A file may have moved.
func (o Origin) MayBe(name string) error {
	another := fmt.Errorf("the run began with another text: %s. Give that one, or begin anew", name)
	if o.File != "" || !IsDocumentation(name) {
		if (o.File != "") == IsDocumentation(name) {
			return another
		}
		return nil
	}
	own, err := DocumentationName(o.root(context.Background()))
	if err == nil && own != name {
		return another
	}
	return err
}

// root is where the Go installation is.
func (o Origin) root(ctx context.Context) string {
	root := cmp.Or(o.GoRoot, gobuild.Default.GOROOT)
	if root == "" {
		// A binary built with -trimpath doesn't know it, and the go command does; without one
		// the text is missing, as the error says.
		out, _ := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		root = strings.TrimSpace(string(out))
	}
	return root
}

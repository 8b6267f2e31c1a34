package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCurrent holds the files in the tree to what the generators give.
func TestCurrent(t *testing.T) {
	for _, g := range generators {
		files, err := outputs(g.name, g.generate)
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range files {
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what its generator gives; run go -C kernels/_asm run .", file)
			}
		}
	}
}

// TestEveryGeneratedFileHasAGenerator finds files whose generator is gone or
// was never listed.
func TestEveryGeneratedFileHasAGenerator(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(kernelsDir, "*_amd64.s"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte("// Code generated")) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), "_amd64.s")
		if !slices.ContainsFunc(generators, func(g generator) bool { return g.name == name }) {
			t.Errorf("%s says it was generated, but no generator is called %q", file, name)
		}
	}
}

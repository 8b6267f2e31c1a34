package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/kernels/_asm/asm"
	"onebit/kernels/_asm/attention"
)

// TestCurrent holds the files in the tree to what the generators give.
func TestCurrent(t *testing.T) {
	for _, g := range generators {
		files, err := g.outputs()
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
	var files []string
	err := filepath.WalkDir(kernelsDir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "64.s") {
			files = append(files, path)
		}
		return err
	})
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
		writes := func(g generator) bool {
			base := filepath.Join(kernelsDir, g.dir, g.name)
			return g.amd64 != nil && base+"_amd64.s" == file || g.arm64 != nil && base+"_arm64.s" == file
		}
		if !slices.ContainsFunc(generators, writes) {
			t.Errorf("%s says it was generated, but no generator writes it", file)
		}
	}
}

// What attention fetches ahead, it fetches into level 2, on every CPU: level 1 cost a third of decoding.
func TestAttentionFetchesIntoLevel2(t *testing.T) {
	code, _, err := asm.Compile("cpu", attention.Generate)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(code, []byte("PREFETCHT0")) || !bytes.Contains(code, []byte("PREFETCHT1")) {
		t.Error("attention fetches into level 1, or nothing")
	}
}

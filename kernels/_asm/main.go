package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"onebit/kernels/_asm/asm"
	"onebit/kernels/_asm/attention"
	"onebit/kernels/_asm/delta"
	"onebit/kernels/_asm/dense"
	"onebit/kernels/_asm/float"
	"onebit/kernels/_asm/pack"
	"onebit/kernels/_asm/q1"
	"onebit/kernels/_asm/q8"
	"onebit/kernels/_asm/quantize"
	"onebit/kernels/_asm/twobit"
	"onebit/kernels/_asm/vectors"
)

// A generator writes NAME_amd64.s and NAME_stubs_amd64.go in the folder of a
// package.
type generator struct {
	dir, name string // below kernelsDir
	generate  func(*asm.Program)
}

var generators = []generator{
	{".", "quantize", quantize.Generate},
	{"../models/engine/cpu", "attention", attention.Generate},
	{"../models/engine/cpu", "delta", delta.Generate},
	{"dense", "dense", dense.Generate},
	{"heads", "float", float.Generate},
	{"heads", "q6_k", q8.GenerateQ6_K},
	{"heads", "q8_0", q8.GenerateQ8_0},
	{"q1", "pack", pack.GenerateQ1},
	{"q1", "q1", q1.Generate},
	{"twobit", "pack", pack.GenerateTwoBit},
	{"twobit", "spans", twobit.GenerateSpans},
	{"twobit", "twobit", twobit.Generate},
	{"vectors", "vectors", vectors.Generate},
}

// kernelsDir is package kernels, seen from this directory.
const kernelsDir = ".."

func main() {
	only := os.Args[1:]
	for _, g := range generators {
		if len(only) > 0 && !slices.Contains(only, g.name) {
			continue
		}
		if err := g.write(); err != nil {
			fmt.Fprintln(os.Stderr, "_asm:", err)
			os.Exit(1)
		}
	}
}

func (g generator) write() error {
	files, err := g.outputs()
	if err != nil {
		return err
	}
	for file, text := range files {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// outputs returns the two files of a generator.
func (g generator) outputs() (map[string][]byte, error) {
	pkg := path.Base(g.dir)
	if pkg == "." {
		pkg = "kernels"
	}
	code, stubs, err := asm.Compile(pkg, g.generate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, err)
	}
	base := filepath.Join(kernelsDir, g.dir, g.name)
	return map[string][]byte{base + "_amd64.s": code, base + "_stubs_amd64.go": stubs}, nil
}

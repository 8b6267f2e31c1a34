package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"onebit/kernels/_asm/asm"
	"onebit/kernels/_asm/attention"
	"onebit/kernels/_asm/convert"
	"onebit/kernels/_asm/delta"
	"onebit/kernels/_asm/dense"
	"onebit/kernels/_asm/float"
	"onebit/kernels/_asm/neon"
	"onebit/kernels/_asm/pack"
	"onebit/kernels/_asm/q1"
	"onebit/kernels/_asm/q8"
	"onebit/kernels/_asm/quantize"
	"onebit/kernels/_asm/twobit"
	"onebit/kernels/_asm/vectors"
)

// A generator writes NAME_amd64.s and NAME_stubs_amd64.go in the folder of a package, and
// NAME_arm64.s, whose functions are declared there.
type generator struct {
	dir, name string              // below kernelsDir
	amd64     func(*asm.Program)  // nil: none
	arm64     func(*neon.Program) // nil: none
}

var generators = []generator{
	{"../formats", "simd", convert.Generate, nil},
	{"../models/engine/cpu", "attention", attention.Generate, attention.GenerateNEON},
	{"../models/engine/cpu", "delta", delta.Generate, delta.GenerateNEON},
	{"dense", "dense", dense.Generate, dense.GenerateNEON},
	{"heads", "float", float.Generate, float.GenerateNEON},
	{"heads", "nibbles", q8.GenerateNibbles, q8.GenerateNibblesNEON},
	{"heads", "q6_k", q8.GenerateQ6_K, q8.GenerateQ6_KNEON},
	{"heads", "q8_0", q8.GenerateQ8_0, q8.GenerateQ8_0NEON},
	{"internal/pairs", "pairs", nil, pack.GeneratePairsNEON},
	{"q1", "pack", pack.GenerateQ1, pack.GenerateQ1NEON},
	{"q1", "q1", q1.Generate, q1.GenerateNEON},
	{"quantize", "quantize", quantize.Generate, quantize.GenerateNEON},
	{"twobit", "pack", pack.GenerateTwoBit, nil},
	{"twobit", "spans", twobit.GenerateSpans, twobit.GenerateSpansNEON},
	{"twobit", "twobit", twobit.Generate, twobit.GenerateNEON},
	{"vectors", "vectors", vectors.Generate, vectors.GenerateNEON},
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

// outputs returns the files of a generator.
func (g generator) outputs() (map[string][]byte, error) {
	files := map[string][]byte{}
	dir := filepath.Join(kernelsDir, g.dir)
	base := filepath.Join(dir, g.name)
	if g.amd64 != nil {
		code, stubs, err := asm.Compile(path.Base(g.dir), g.amd64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		files[base+"_amd64.s"], files[base+"_stubs_amd64.go"] = code, stubs
	}
	if g.arm64 != nil {
		code, err := neon.Compile(dir, g.arm64)
		if err != nil {
			return nil, fmt.Errorf("%s for arm64: %w", g.name, err)
		}
		files[base+"_arm64.s"] = code
	}
	return files, nil
}

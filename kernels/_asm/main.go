package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"onebit/kernels/_asm/asm"
	"onebit/kernels/_asm/float"
	"onebit/kernels/_asm/pack"
	"onebit/kernels/_asm/q1"
	"onebit/kernels/_asm/q8"
	"onebit/kernels/_asm/quantize"
	"onebit/kernels/_asm/twobit"
)

// A generator writes NAME_amd64.s and NAME_stubs_amd64.go.
type generator struct {
	name     string
	generate func(*asm.Program)
}

var generators = []generator{
	{"float", float.Generate},
	{"pack", pack.Generate},
	{"q1", q1.Generate},
	{"q6_k", q8.GenerateQ6_K},
	{"q8_0", q8.GenerateQ8_0},
	{"quantize", quantize.Generate},
	{"twobit", twobit.Generate},
}

// kernelsDir is package kernels, seen from this directory.
const kernelsDir = ".."

func main() {
	only := os.Args[1:]
	for _, g := range generators {
		if len(only) > 0 && !slices.Contains(only, g.name) {
			continue
		}
		if err := write(g.name, g.generate); err != nil {
			fmt.Fprintln(os.Stderr, "_asm:", err)
			os.Exit(1)
		}
	}
}

func write(name string, generate func(*asm.Program)) error {
	files, err := outputs(name, generate)
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
func outputs(name string, generate func(*asm.Program)) (map[string][]byte, error) {
	code, stubs, err := asm.Compile(generate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	base := filepath.Join(kernelsDir, name)
	return map[string][]byte{base + "_amd64.s": code, base + "_stubs_amd64.go": stubs}, nil
}

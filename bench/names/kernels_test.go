package names

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// kernelKeys are what the benchmarks of package kernels tell apart beside the
// keys of cases: parts of a product that no case has.
var kernelKeys = []string{
	"mem",       // which memory the weights come from: L2, L3 or DRAM
	"columns",   // of a batch
	"layout",    // that weights are packed into
	"quantizer", // of activations
}

// TestKernelsSpeakOfTheSameKeys reads the names of the benchmarks of package
// kernels, whose tests may not import this package: what the names of cases
// have a key for is called the same there.
func TestKernelsSpeakOfTheSameKeys(t *testing.T) {
	known := append([]string{Format, Model, Variant, Act, Packing, ISA, Rows, Cols, Bytes, Test, Depth, Texts, Text, Drafts, Threads, Cache,
		Input, Block, Op, Tensor, Tokens}, kernelKeys...)
	var files []string
	for _, pattern := range []string{"../../kernels/*_test.go", "../../kernels/quantize/*_test.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no tests %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	run := regexp.MustCompile(`b\.Run\((.*), func`)
	key := regexp.MustCompile(`["/]([^"/=]*)=`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range run.FindAllSubmatch(text, -1) {
			for _, k := range key.FindAllSubmatch(name[1], -1) {
				found++
				if !slices.Contains(known, string(k[1])) {
					t.Errorf("%s: %s: no case has a key %q", file, name[1], k[1])
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("found %d keys of benchmarks: the test reads them no longer", found)
	}
}

package onebit

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
)

// Where formats are chosen, and not known: what a preset or a flag says is no part of a
// format.
var formatChoosers = map[string]string{
	"reports/reportstest":  "what made-up results hold",
	"bench/*":              "what-ifs, and cases of caches",
	"cmd/*":                "defaults and examples of flags",
	"models/architectures": "what presets hold",
	"models/engine/*":      "what keys and values are kept in",
	"models/heads.go":      "what heads are tried in",
	"models/hf":            "what ternary checkpoints are read as",
	"models/inspect":       "which programs read files of which formats",
	"models/train":         "what training makes",
	"models/verify":        "what engines have mistaken for each other",
	"models/train/*":       "what training makes",
	"formats/cellm/*":      "the one format that .cellm has a name for",
	"kernels/q1":           "the family of one format",
}

// formatFiles is how many files a format may stand in.
func formatFiles(name string) int {
	switch name {
	case "ptq1_0": // its digits have kernels of their own
		return 7
	case "q4_k": // its offsets have a shader and a generator
		return 5
	}
	return 4
}

// TestFormatsAreFourFiles: a format is its own file, a line of its family, its ids in
// containers, and at most one more. Nothing else that ships spells it out. Numbers as they
// are, f32, f16 and bf16, are no formats of weights alone.
func TestFormatsAreFourFiles(t *testing.T) {
	where := map[string][]string{}
	eachGoFile(t, func(file string, f *ast.File) {
		if strings.HasSuffix(file, "_test.go") || ast.IsGenerated(f) || chooses(file) {
			return
		}
		for _, name := range append(literals(f), formatIdents(f)...) {
			if !slices.Contains(where[name], file) {
				where[name] = append(where[name], file)
			}
		}
	})
	for _, f := range formats.Types() {
		files := where[f.Name]
		if slices.Contains([]string{"f32", "f16", "bf16"}, f.Name) {
			continue
		}
		t.Logf("%s: %d files", f.Name, len(files))
		if most := formatFiles(f.Name); len(files) == 0 || len(files) > most {
			t.Errorf("%s stands in %d files, want %d at most: %s", f.Name, len(files), most, strings.Join(files, ", "))
		}
	}
}

func chooses(file string) bool {
	for pattern := range formatChoosers {
		if file == pattern || matches(path.Dir(file), []string{pattern}) {
			return true
		}
	}
	return false
}

// formatIdents are the names of the formats that a file means by their variables.
func formatIdents(f *ast.File) (out []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "formats" {
				out = append(out, strings.ToLower(sel.Sel.Name))
			}
		}
		return true
	})
	return out
}

package onebit

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"onebit/models/arch"
	_ "onebit/models/architectures"
)

// namesElsewhere are the names of architectures and of their checkpoints'
// classes that a file other than the architecture's may spell out, and why.
var namesElsewhere = map[string]string{
	"models/hf/config.go: bitnet":                 "a value of quant_method in a config.json",
	"models/modeltest/hf.go: bitnet":              "the same, written",
	"models/modeltest/modeltest.go: llama":        "likewise, and whose pairs of the rotary embedding are adjacent",
	"models/modeltest/modeltest.go: minicpm":      "likewise",
	"models/synth/tokenizer.go: llama":            "SentencePiece's name in files",
	"models/tokenizer/source.go: llama":           "the same, read",
	"reports/figure/glyph.go: llama":              "llama.cpp, another engine in charts",
	"models/synth/tokenizer.go: qwen35":           "the splitter of its files has the same name",
	"models/tokenizer/split.go: qwen35":           "likewise",
	"models/modeltest/modeltest.go: bitnet-25":    "the oracle says by itself which networks are gated by squared ReLU",
	"models/modeltest/modeltest.go: bitnet-b1.58": "likewise",
	"models/train/lm/recipe.go: bitnet-b1.58":     "what the default models are is the recipes' own",
	"models/train/lm/recipe.go: qwen3":            "likewise",
}

// What an architecture is stands in its own file, which registers it: elsewhere
// no code that ships asks for one by its name.
func TestArchitecturesAreOneFile(t *testing.T) {
	var names []string
	for _, a := range arch.Tables() {
		names = append(names, a.Name)
		for _, c := range a.Classes {
			names = append(names, c.Name)
		}
	}
	unused := map[string]bool{}
	for where := range namesElsewhere {
		unused[where] = true
	}
	owners := map[string]string{} // the file that registers a name
	elsewhere := map[string][]string{}
	eachGoFile(t, func(file string, f *ast.File) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		own := f.Name.Name == "architectures" && callsTo(f, "forward", "Register")
		for _, text := range literals(f) {
			if !slices.Contains(names, text) {
				continue
			}
			if own && (owners[text] == "" || owners[text] == file) {
				owners[text] = file
				continue
			}
			elsewhere[text] = append(elsewhere[text], file)
		}
	})
	for _, name := range names {
		if owners[name] == "" {
			t.Errorf("no file registers %q", name)
		}
		for _, file := range elsewhere[name] {
			where := file + ": " + name
			if delete(unused, where); namesElsewhere[where] == "" {
				t.Errorf("%s spells out %q, which is %s's: make it a field of arch.Table", file, name, owners[name])
			}
		}
	}
	for where := range unused {
		t.Errorf("%s is allowed, and isn't there", where)
	}
}

func literals(f *ast.File) (out []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

package onebit

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// engineUsers are packages that ask an engine for what only it has, beside the line of
// cmd/onebit/engine.go that links it, and what for.
var engineUsers = map[string]string{
	"bench/cases: cpu":                "cases of variants, packing and threads",
	"bench/cases: metal":              "cases of shaders",
	"cmd/onebit: cpu":                 "flags of variants, packing, heads and caches",
	"cmd/onebit: metal":               "the list of shaders, and flags of one",
	"models/lockstep: cpu":            "the reference engine",
	"models/forecast: cpu":            "the kernels that a forecast is of",
	"models/engine/enginetest: plain": "the definition that engines are held to",
}

// TestEnginesAreAFolderAndALine: an engine is its folder and the line that links it,
// as models/engine/plain is. Nothing else knows it but those who want what only it has.
func TestEnginesAreAFolderAndALine(t *testing.T) {
	const line = "cmd/onebit/engine.go"
	engines := map[string]bool{} // and whether the line is there
	eachGoFile(t, func(file string, f *ast.File) {
		if dir := path.Dir(file); path.Dir(dir) == "models/engine" && callsTo(f, "engine", "Register") {
			engines[dir] = false
		}
	})
	unused := map[string]bool{}
	for user := range engineUsers {
		unused[user] = true
	}
	for _, l := range importLines(t) {
		dir, ok := ours(l.path)
		if _, known := engines[dir]; !ok || !known || l.test || l.dir == dir {
			continue
		}
		if l.file == line {
			engines[dir] = true
			continue
		}
		user := l.dir + ": " + path.Base(dir)
		if delete(unused, user); engineUsers[user] == "" {
			t.Errorf("%v: make what it asks for an ability (models/engine/abilities.go)", l)
		}
	}
	for dir, linked := range engines {
		if !linked {
			t.Errorf("%s does not link %s", line, dir)
		}
	}
	for user := range unused {
		t.Errorf("%s is allowed, and isn't there", user)
	}
	if len(engines) < 3 {
		t.Errorf("%d engines, want cpu, metal and plain at least", len(engines))
	}
}

// callsTo reports whether a file calls a function of a package.
func callsTo(f *ast.File, pkg, name string) (found bool) {
	imported := slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return path.Base(strings.Trim(i.Path.Value, `"`)) == pkg })
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && imported {
			x, ok := call.X.(*ast.Ident)
			found = found || ok && x.Name == pkg && call.Sel.Name == name
		}
		return !found
	})
	return found
}

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

// TestOperationsAreOneFunctionPerEngine: an operation of streams is its declaration, a function of each engine, and what
// a dry run counts of it. Those that look back are a group's too, whose texts do them one by one.
func TestOperationsAreOneFunctionPerEngine(t *testing.T) {
	where := map[string][]string{} // by operation, the files that declare it
	eachGoFile(t, func(file string, f *ast.File) {
		if file == "models/engine/stream.go" {
			for _, name := range operationsOf(f) {
				where[name] = nil
			}
		}
	})
	eachGoFile(t, func(file string, f *ast.File) {
		if dir := path.Dir(file); strings.HasSuffix(file, "_test.go") || path.Dir(dir) != "models/engine" && dir != "models/engine" && dir != "models" {
			return
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				if files, ok := where[fn.Name.Name]; ok && isOperation(fn.Type) {
					where[fn.Name.Name] = append(files, file)
				}
			}
		}
	})
	if len(where) == 0 {
		t.Fatal("engine.Stream has no operations")
	}
	for name, files := range where {
		var dirs []string
		for _, file := range files {
			if file == "models/engine/group.go" {
				continue
			}
			dirs = append(dirs, path.Dir(file))
		}
		slices.Sort(dirs)
		if want := []string{"models", "models/engine/cpu", "models/engine/metal", "models/engine/plain"}; !slices.Equal(dirs, want) {
			t.Errorf("%s has functions in %v, want one each in %v", name, files, want)
		}
	}
}

// operationsOf returns the methods of the interface Stream whose first argument is an operation's name.
func operationsOf(f *ast.File) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Stream" {
			return true
		}
		for _, m := range spec.Type.(*ast.InterfaceType).Methods.List {
			if fn, ok := m.Type.(*ast.FuncType); ok && isOperation(fn) {
				names = append(names, m.Names[0].Name)
			}
		}
		return false
	})
	return names
}

// isOperation reports whether a function's first argument is a string.
func isOperation(fn *ast.FuncType) bool {
	if len(fn.Params.List) == 0 {
		return false
	}
	first, ok := fn.Params.List[0].Type.(*ast.Ident)
	return ok && first.Name == "string"
}

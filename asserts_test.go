package onebit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestTestsAssert: each test can fail. It calls what fails one, or hands its t to
// something that may. A fuzz target may be there for what panics alone.
func TestTestsAssert(t *testing.T) {
	eachTest(t, func(file string, f *ast.FuncDecl) {
		if strings.HasPrefix(f.Name.Name, "Test") && !canFail(f) {
			t.Errorf("%s: %s asserts nothing", file, f.Name.Name)
		}
	})
}

// TestFuzzTargetsHaveSeeds: go test ./... runs the seeds of every target, and the
// corpus that is kept, and proves nothing about one that has neither.
func TestFuzzTargetsHaveSeeds(t *testing.T) {
	targets := 0
	eachTest(t, func(file string, f *ast.FuncDecl) {
		name := f.Name.Name
		if !strings.HasPrefix(name, "Fuzz") {
			return
		}
		targets++
		kept, err := os.ReadDir(filepath.Join(filepath.FromSlash(path.Dir(file)), "testdata", "fuzz", name))
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		if len(kept) == 0 && !calls(f, "Add") {
			t.Errorf("%s: %s has no seeds", file, name)
		}
	})
	if targets == 0 {
		t.Error("no fuzz targets found")
	}
}

// eachTest visits the tests and fuzz targets of this module.
func eachTest(t *testing.T, do func(file string, f *ast.FuncDecl)) {
	t.Helper()
	eachGoFile(t, func(file string, f *ast.File) {
		if !strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isTest(f) {
				do(file, f)
			}
		}
	})
}

// isTest reports whether go test calls a function with a *testing.T or F.
func isTest(f *ast.FuncDecl) bool {
	name := f.Name.Name
	if f.Recv != nil || name == "TestMain" || !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
		return false
	}
	return len(f.Type.Params.List) == 1 && len(f.Type.Params.List[0].Names) == 1
}

// canFail reports whether a test calls what fails one, or a function to which it
// hands its t: a subtest's and a helper's are found likewise.
func canFail(f *ast.FuncDecl) bool {
	own := f.Type.Params.List[0].Names[0].Name
	if calls(f, "Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow") {
		return true
	}
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || requires(call) {
			return !found
		}
		for _, arg := range call.Args {
			name, ok := arg.(*ast.Ident)
			found = found || ok && name.Name == own
		}
		return !found
	})
	return found
}

// requires reports whether a call is one of internal/require, none of which says
// that a result is wrong.
func requires(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	receiver, ok := f.X.(*ast.Ident)
	return ok && receiver.Name == "require"
}

// calls reports whether a function calls a method of one of the names.
func calls(f *ast.FuncDecl, names ...string) bool {
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok {
			for _, name := range names {
				found = found || call.Sel.Name == name
			}
		}
		return !found
	})
	return found
}

func TestCanFail(t *testing.T) {
	const source = `package p
func TestLogs(t *testing.T) { t.Log(require.Draw(t, 8, all)); t.Run("a", func(t *testing.T) { t.Log("b") }) }
func TestFails(t *testing.T) { t.Run("a", func(t *testing.T) { t.Error("b") }) }
func TestHelped(t *testing.T) { check(t, 1) }`
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, true} {
		if f := file.Decls[i].(*ast.FuncDecl); canFail(f) != want {
			t.Errorf("%s: can fail: %t", f.Name.Name, !want)
		}
	}
}

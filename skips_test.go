package onebit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lacksFeature matches the conditions under which a test asks whether this
// machine has what a variant needs.
var lacksFeature = regexp.MustCompile(`\.Available\(\)|\.Missing\([^)]|cpu\.Detected|\bhas(AVX|SIMD|NEON)`)

// TestSkipsForFeatures: a test that skips because the CPU lacks something does
// so through internal/require, or CI could not ask for what its machine has.
// Benchmarks may skip: nothing rests on them.
func TestSkipsForFeatures(t *testing.T) {
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for _, at := range featureSkips(source) {
			t.Errorf("%s: %s: skip through internal/require", file, at)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// featureSkips returns the conditions about CPU features under which a file
// skips a test with t.Skip.
func featureSkips(file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		if !ok || !skips(branch.Body) {
			return true
		}
		condition := types.ExprString(branch.Cond)
		if init, ok := branch.Init.(*ast.AssignStmt); ok {
			condition = types.ExprString(init.Rhs[0]) + "; " + condition
		}
		if lacksFeature.MatchString(condition) {
			found = append(found, condition)
		}
		return true
	})
	return found
}

// skips reports whether a block calls t.Skip, t.Skipf or t.SkipNow.
func skips(block *ast.BlockStmt) bool {
	found := false
	ast.Inspect(block, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok {
			receiver, _ := call.X.(*ast.Ident)
			found = found || receiver != nil && receiver.Name == "t" && strings.HasPrefix(call.Sel.Name, "Skip")
		}
		return !found
	})
	return found
}

func TestFeatureSkips(t *testing.T) {
	const source = `package p
func f(t *testing.T) {
	if err := v.Available(); err != nil { t.Skip(err) }
	if m := cpu.Detected().Missing(AVX2.Requires); m != 0 { t.Skipf("needs %v", m) }
	if !hasAVX512 { t.SkipNow() }
	if m := cpu.Detected().Missing(x); m != 0 { require.Skip(t, m.String(), "") }
	if err := v.Available(); err != nil { b.Skip(err) }
	if testing.Short() { t.Skip() }
}`
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := featureSkips(file); len(got) != 3 {
		t.Errorf("found %q, want the first three", got)
	}
}

package gate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// Locate says where the function of head's benchmark begins; "" if that is not
// found.
func (t *Tests) Locate(b Benchmark) (file string, line int) {
	top, _, _ := strings.Cut("Benchmark"+b.Name, "/")
	files, _ := filepath.Glob(filepath.Join(t.packages[Head][b.Package].dir, "*_test.go")) // a bad pattern finds nothing
	set := token.NewFileSet()
	for _, path := range files {
		parsed, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // one of another system
		}
		if f, ok := functionNamed(parsed, top); ok {
			return path, set.Position(f.Pos()).Line
		}
	}
	return "", 0
}

func functionNamed(file *ast.File, name string) (*ast.FuncDecl, bool) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
			return f, true
		}
	}
	return nil, false
}

package calibrate

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"

	"onebit/bench/gate/sides"
)

// The sources of a module of benchmarks. It has no go.mod there, since a module
// is not embedded.
//
//go:embed testdata/module
var sources embed.FS

const (
	sourceDir  = "testdata/module"
	modulePath = "example.com/kinds"
	unitsFile  = "units.go"
)

// Units is the work of an operation of each benchmark, unless a variant says
// otherwise.
const Units = 200

// A Variant is how a copy of the module differs from the original.
type Variant struct {
	Units map[string]int // work of an operation of some benchmarks
	Moved uint64         // seed of another order of functions, with functions between them that nobody calls; 0: none
}

var unitsLine = regexp.MustCompile(`(?m)^\tunits(\w+)( *)= 200$`)

// Benchmarks are the names of the module's benchmarks.
func Benchmarks() ([]string, error) {
	data, err := sources.ReadFile(path.Join(sourceDir, unitsFile))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range unitsLine.FindAllSubmatch(data, -1) {
		names = append(names, string(m[1]))
	}
	return names, nil
}

// WriteModule writes a variant of the module to a directory and returns it.
func WriteModule(dir string, v Variant) (*sides.Module, error) {
	files, err := fs.ReadDir(sources, sourceDir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(v.Moved, 0))
	for _, file := range files {
		data, err := sources.ReadFile(path.Join(sourceDir, file.Name()))
		if err != nil {
			return nil, err
		}
		switch {
		case file.Name() == unitsFile:
			data = v.units(data)
		case v.Moved != 0:
			if data, err = shuffled(data, rng); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, file.Name()), data, 0o666); err != nil {
			return nil, err
		}
	}
	if v.Moved != 0 {
		if err := os.WriteFile(filepath.Join(dir, "idle_test.go"), idle(rng), 0o666); err != nil {
			return nil, err
		}
	}
	mod := "module " + modulePath + "\n\ngo 1.26\n"
	return &sides.Module{Dir: dir}, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666)
}

func (v Variant) units(source []byte) []byte {
	return unitsLine.ReplaceAllFunc(source, func(line []byte) []byte {
		units, ok := v.Units[string(unitsLine.FindSubmatch(line)[1])]
		if !ok {
			return line
		}
		return bytes.Replace(line, []byte("200"), []byte(strconv.Itoa(units)), 1)
	})
}

// shuffled is a file with its functions in another order, and a comment.
func shuffled(source []byte, rng *rand.Rand) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var rest []byte
	var functions [][]byte
	from := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		start, end := set.Position(f.Pos()).Offset, set.Position(f.End()).Offset
		if f.Doc != nil {
			start = set.Position(f.Doc.Pos()).Offset
		}
		rest = append(rest, source[from:start]...)
		functions = append(functions, source[start:end])
		from = end
	}
	rest = append(rest, source[from:]...)
	rng.Shuffle(len(functions), func(i, j int) { functions[i], functions[j] = functions[j], functions[i] })
	rest = append(rest, "\n// The order of what follows does not matter.\n\n"...)
	return format.Source(append(rest, bytes.Join(functions, []byte("\n\n"))...))
}

// idle is a test of functions that no benchmark calls. The linker keeps them,
// since a test calls them.
func idle(rng *rand.Rand) []byte {
	var out bytes.Buffer
	out.WriteString("package work\n\nimport \"testing\"\n")
	functions := 1 + rng.IntN(8)
	for f := range functions {
		fmt.Fprintf(&out, "\n//go:noinline\nfunc idle%d(n int) int {\n", f)
		for range 1 + rng.IntN(60) {
			fmt.Fprintf(&out, "\tn = n*%d + n>>%d\n", 3+rng.IntN(90), 1+rng.IntN(20))
		}
		out.WriteString("\treturn n\n}\n")
	}
	out.WriteString("\nfunc TestIdle(t *testing.T) {\n")
	for f := range functions {
		fmt.Fprintf(&out, "\tt.Log(idle%d(%d))\n", f, f)
	}
	out.WriteString("}\n")
	return out.Bytes()
}

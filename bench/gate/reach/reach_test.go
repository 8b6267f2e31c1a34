package reach

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// module writes the two sides of testdata/module.txt.
func module(t *testing.T) (base, head Tree) {
	t.Helper()
	a, err := txtar.ParseFile("testdata/module.txt")
	if err != nil {
		t.Fatal(err)
	}
	var trees [2]Tree
	for i := range trees {
		dir := t.TempDir()
		for _, f := range a.Files {
			name, onlyHead := strings.CutPrefix(f.Name, "head/")
			if onlyHead && i == 0 {
				continue
			}
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		trees[i] = Tree{Go: goIn(dir), Flags: []string{"-trimpath"}}
	}
	return trees[0], trees[1]
}

// goIn runs the go command in a folder.
func goIn(dir string) func(context.Context, ...string) (string, error) {
	return func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, err := cmd.Output()
		return string(out), err
	}
}

// Each benchmark reaches a change of its own kind, except those whose names say
// that they reach none.
func TestCompare(t *testing.T) {
	base, head := module(t)
	r, err := Compare(context.Background(), base, head, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	verdicts := r.Verdicts["example.com/m"]
	if len(verdicts) < 20 {
		t.Errorf("%d benchmarks, want all of the module's", len(verdicts))
	}
	for name, v := range verdicts {
		if v.Same != strings.HasPrefix(name, "Same") {
			t.Errorf("%s: same %v (%s)", name, v.Same, v.Why)
		}
	}
	for _, pkg := range []string{"sneaky", "registry", "self", "above", "order"} {
		all := r.Verdicts["example.com/m/"+pkg]
		if len(all) == 0 {
			t.Errorf("%s has no benchmarks", pkg)
		}
		for name, v := range all {
			if v.Same != (name == "Same") {
				t.Errorf("%s.%s: same %v (%s)", pkg, name, v.Same, v.Why)
			}
		}
	}
	for pkg, why := range map[string]string{
		"example.com/m/start":   "the program begins with example.com/m/start.init, which differs",
		"example.com/m/leaves":  "the program begins with example.com/m/leaves.TestMain, which differs",
		"example.com/m/files":   "may read files/testdata/in, which differs",
		"example.com/m/mains":   "the program begins with example.com/m/mains.prepare, which differs",
		"example.com/m/sources": "may read sources/testdata/input.go, which differs",
	} {
		if v := r.Of(pkg, "Same/sub"); v.Why != why {
			t.Errorf("%s: %+v, want %q", pkg, v, why)
		}
	}
	if v := r.Of("example.com/m/directive", "Same"); !strings.HasPrefix(v.Why, "GODEBUG is ") {
		t.Errorf("another //go:debug: %+v", v)
	}
	for name, why := range map[string]string{
		"Table":     "reaches example.com/m.table, which differs",
		"Interface": "reaches example.com/m.Disc.Area, which differs",
		"Program":   "reaches os.StartProcess, which starts other programs",
		"File":      "may read testfile.txt, which differs",
		"New":       "reaches example.com/m.NewFunction, which differs",
		"NotThere":  "its code is not known",
	} {
		if v := r.Of("example.com/m", name); v.Why != why {
			t.Errorf("%s: %+v, want %q", name, v, why)
		}
	}
	if !r.Located {
		t.Error("nobody asks where the sources are")
	}
	if want := []string{"example.com/m.Bare.Added", "example.com/m.Square.Unused"}; !slices.Equal(r.Unreached, want) {
		t.Errorf("%q are reached by no benchmark, want %q of %q", r.Unreached, want, r.Changed)
	}
}

// A tree is the same as itself, wherever it lies.
func TestSameTree(t *testing.T) {
	base, _ := module(t)
	again, _ := module(t)
	r, err := Compare(context.Background(), base, again, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range r.Verdicts["example.com/m"] {
		if !v.Same && name != "Program" && name != "Fork" {
			t.Errorf("%s: %s", name, v.Why)
		}
	}
	if len(r.Changed) > 0 || r.Located {
		t.Errorf("%q changed, somebody asks where the sources are: %v", r.Changed, r.Located)
	}
}

func TestChangedFiles(t *testing.T) {
	base, head := t.TempDir(), t.TempDir()
	for dir, texts := range map[string]map[string]string{
		base: {"same": "a", "other": "b", "size": "c", "gone": "d", "code.go": "e", ".git": "f", "first": "1", "second": "2"},
		head: {"same": "a", "other": "B", "size": "cc", "new/file": "d", "code.go": "E", "first": "1", "second": "2"},
	} {
		for name, text := range texts {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{"code.go", "gone", "new/file", "other", "size"}
	if os.Symlink("first", filepath.Join(base, "link")) == nil && os.Symlink("second", filepath.Join(head, "link")) == nil {
		want = slices.Insert(want, 2, "link")
	}
	got, err := changedFiles(base, head)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestFunctionNames(t *testing.T) {
	for name, want := range map[string]string{
		"example.com/m%2ev1.Decode":          "example.com/m.v1.Decode",
		"example.com/m.Decode.func1.2":       "example.com/m.Decode",
		"example.com/m.(*T).Read.deferwrap1": "example.com/m.(*T).Read",
		"example.com/m.Serve.gowrap2":        "example.com/m.Serve",
		"example.com/m.funcs·f":              "example.com/m.funcs",
		"example.com/m.func1":                "example.com/m.func1",
	} {
		if got := (&symbol{name: name}).function(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// What is no object of a known Go is refused, and nothing that lies in one is
// believed: no access to what was read may fail.
func FuzzArchive(f *testing.F) {
	real, err := os.ReadFile("testdata/package.a")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(real)
	goroot, err := goIn(".")(f.Context(), "env", "GOROOT")
	if err != nil {
		f.Fatal(err)
	}
	tools, err := readToolchain(strings.TrimSpace(goroot))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		objects, _, _, err := readArchive(b)
		if err != nil {
			return
		}
		p := link(tools, []*archive{{path: "p", objects: objects}})
		c := compare(p, link(tools, nil), 8)
		all := p.flood()
		for n := range p.of {
			all.mark(n)
			c.differs(n, true)
		}
		all.run()
		all.words()
		p.benchmarks()
		p.schedule()
		all.functions(func(int) {})
	})
}

func TestReadArchive(t *testing.T) {
	real, err := os.ReadFile("testdata/package.a")
	if err != nil {
		t.Fatal(err)
	}
	objects, _, _, err := readArchive(real)
	if err != nil || len(objects) != 1 || !slices.ContainsFunc(objects[0].symbols, func(s symbol) bool { return s.name == "p.Double" }) {
		t.Fatalf("%d objects, %v; want one with p.Double", len(objects), err)
	}
	for n := range real {
		if _, _, _, err := readArchive(real[:n]); err == nil {
			t.Fatalf("%d bytes of %d are taken for all", n, len(real))
		}
	}
}

package reach

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Tree is one side: a module's files and how its tests are built.
type Tree struct {
	Go    func(ctx context.Context, args ...string) (output string, err error) // the go command, in the module
	Flags []string                                                             // of go list, as go test -c has them
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath     string
	Name           string
	Export         string // in the build cache
	Standard       bool
	Deps           []string
	DefaultGODEBUG string
}

// A side is a tree with what the go command tells of it.
type side struct {
	listed  map[string]listed // what is linked into its tests, by path
	goos    string            // the toolchain and its target
	goroot  string
	pointer int    // bytes of one
	root    string // of the module
	module  string // its path
}

// read compiles the tests of packages, without linking them.
func (s *side) read(ctx context.Context, t Tree, packages []string) error {
	env, err := t.Go(ctx, "env", "GOVERSION", "GOOS", "GOARCH", "GOEXPERIMENT", "GOROOT", "GOMOD")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.ReplaceAll(env, "\r\n", "\n"), "\n")
	s.goos, s.goroot, s.root = strings.Join(lines[:4], " "), lines[4], filepath.Dir(lines[5])
	s.pointer = 8
	if slices.Contains([]string{"386", "arm", "mips", "mipsle"}, lines[2]) {
		s.pointer = 4
	}
	if s.module, err = t.Go(ctx, "list", "-m", "-f", "{{.Path}}"); err != nil {
		return err
	}
	s.module = strings.Fields(s.module)[0]
	args := append([]string{"list", "-export", "-test", "-deps", "-e", "-json=ImportPath,Name,Export,Standard,Deps,DefaultGODEBUG"}, t.Flags...)
	out, err := t.Go(ctx, append(append(args, "--"), packages...)...)
	if err != nil {
		return err
	}
	s.listed = map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		s.listed[l.ImportPath] = l
	}
}

// owns reports whether a package is the module's.
func (s *side) owns(path string) bool {
	return path == s.module || strings.HasPrefix(path, s.module+"/")
}

// tested are the packages that have tests.
func (s *side) tested() (paths []string) {
	for path, l := range s.listed {
		if tested, ok := strings.CutSuffix(path, ".test"); ok && l.Name == "main" {
			paths = append(paths, tested)
		}
	}
	slices.Sort(paths)
	return paths
}

// An opener reads archives once, however many programs have them.
type opener map[string]*archive

func (open opener) archive(l listed) (*archive, error) {
	path, _, _ := strings.Cut(l.ImportPath, " ")
	if l.Name == "main" {
		path = "main"
	}
	if a := open[l.Export]; a != nil && a.path == path {
		return a, nil
	}
	if l.Export == "" {
		return nil, fmt.Errorf("%s was not built", l.ImportPath)
	}
	b, err := os.ReadFile(l.Export)
	if err != nil {
		return nil, err
	}
	a := &archive{path: path, file: l.Export, std: l.Standard}
	var foreign []byte
	if a.objects, foreign, a.flags, err = readArchive(b); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Export, err)
	}
	if len(foreign) > 0 {
		digest := sha256.Sum256(foreign)
		a.foreign = string(digest[:])
	}
	open[l.Export] = a
	return a, nil
}

// program reads the test binary of a package.
func (open opener) program(t *toolchain, all map[string]listed, path string) (*program, error) {
	main, ok := all[path+".test"]
	if !ok {
		return nil, fmt.Errorf("%s has no tests", path)
	}
	var packages []listed
	for _, dep := range append(slices.Clone(main.Deps), main.ImportPath) {
		if l, ok := all[dep]; ok {
			packages = append(packages, l)
		}
	}
	return open.link(t, packages)
}

// untested reads all packages as they are without tests.
func (open opener) untested(t *toolchain, all map[string]listed) (*program, error) {
	var packages []listed
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if l := all[path]; l.Name != "main" && l.Export != "" && !strings.Contains(path, " ") {
			packages = append(packages, l)
		}
	}
	return open.link(t, packages)
}

func (open opener) link(t *toolchain, packages []listed) (*program, error) {
	var archives []*archive
	for _, l := range packages {
		if l.ImportPath == "unsafe" { // has no code
			continue
		}
		a, err := open.archive(l)
		if err != nil {
			return nil, err
		}
		archives = append(archives, a)
	}
	return link(t, archives), nil
}

package sides

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Module is a Go module in a git repository, as the user has it, or as it was
// in a revision.
type Module struct {
	Dir string // the module's root

	work   string   // where packages are named from: the user's directory in it; "": Dir
	repo   string   // the root of the repository's files
	git    string   // the repository itself
	env    []string // of its go commands
	commit string   // of a revision; "": the files as they are
	user   *Module  // that a revision was taken of
}

// ModuleAt finds the module that dir is in, whether it is in a repository or not.
func ModuleAt(ctx context.Context, dir string) (*Module, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // git tells directories without links
	}
	if err != nil {
		return nil, err
	}
	file, err := command(ctx, dir, "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	if file == "" || file == os.DevNull {
		return nil, fmt.Errorf("%s is in no Go module: there is no go.mod", dir)
	}
	return &Module{Dir: filepath.Dir(file), work: dir}, nil
}

// FindModule finds the module that dir is in, and its repository.
func FindModule(ctx context.Context, dir string) (*Module, error) {
	m, err := ModuleAt(ctx, dir)
	if err != nil {
		return nil, err
	}
	if m.repo, err = command(ctx, m.Dir, "git", "rev-parse", "--show-toplevel"); err != nil {
		return nil, fmt.Errorf("%s is in no git repository, and --base needs one: %w", m.Dir, err)
	}
	m.repo = filepath.FromSlash(m.repo)
	m.git, err = command(ctx, m.Dir, "git", "rev-parse", "--absolute-git-dir")
	return m, err
}

// Checkout puts the files of a revision into a directory of its own, which must
// not exist, and returns the module in it. The repository is only read, and the
// user's checkout stays as it is. Submodules have the revision's commits too.
// Paths that lead out of the repository lead where the user's do.
func (m *Module) Checkout(ctx context.Context, revision, dir string) (*Module, error) {
	commit, err := command(ctx, m.repo, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, m.unknown(ctx, revision)
	}
	if err := populate(ctx, m.repo, m.git, commit, dir); err != nil {
		return nil, fmt.Errorf("checking out %s: %w", revision, err)
	}
	base := &Module{repo: dir, git: m.git, commit: commit, user: m}
	base.Dir, _ = base.moved(m.Dir)
	base.work, _ = base.moved(m.work)
	for _, path := range []string{filepath.Join(base.Dir, "go.mod"), base.work} {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%s has no %s", revision, strings.TrimPrefix(path, dir+string(filepath.Separator)))
		}
	}
	return base, base.resolve(ctx)
}

// unknown says that a revision is not there, and why that may be.
func (m *Module) unknown(ctx context.Context, revision string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	hint := ""
	if shallow, _ := command(ctx, m.repo, "git", "rev-parse", "--is-shallow-repository"); shallow == "true" {
		hint = " (the clone is shallow: git fetch it first)"
	}
	return fmt.Errorf("%q names no commit of %s%s", revision, m.repo, hint)
}

// populate writes the files of a commit to dir, with an index beside it, so that
// nothing is written to the repository.
func populate(ctx context.Context, repo, git, commit, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	env := []string{"GIT_DIR=" + git, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + strings.TrimRight(dir, string(filepath.Separator)) + ".index"}
	if _, err := commandEnv(ctx, dir, env, "git", "-c", "core.splitIndex=false", "-c", "core.fsmonitor=false", "read-tree", "--reset", "-u", commit); err != nil {
		return err
	}
	tree, err := commandEnv(ctx, dir, env, "git", "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(tree, "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(meta); len(fields) == 3 && fields[0] == "160000" {
			if err := submodule(ctx, repo, path, fields[2], filepath.Join(dir, path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// submodule populates a submodule from the user's. One that the user has not
// checked out stays empty, as it is there.
func submodule(ctx context.Context, repo, path, commit, dir string) error {
	user := filepath.Join(repo, path)
	if _, err := os.Lstat(filepath.Join(user, ".git")); err != nil {
		return nil
	}
	git, err := command(ctx, user, "git", "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	if _, err := command(ctx, user, "git", "cat-file", "-e", commit+"^{commit}"); err != nil {
		return fmt.Errorf("commit %s of the submodule %s is not here: git -C %[2]s fetch", commit, path)
	}
	return populate(ctx, user, git, commit, dir)
}

// Describe is the commit, short, and whether there are changes beside it.
func (m *Module) Describe(ctx context.Context) (string, error) {
	if m.commit != "" {
		return command(ctx, m.user.repo, "git", "rev-parse", "--short", m.commit)
	}
	dir := cmp.Or(m.repo, m.Dir)
	commit, err := command(ctx, dir, "git", "rev-parse", "--short", "HEAD")
	if err != nil && m.repo == "" && ctx.Err() == nil {
		return "files that are in no git repository", nil
	}
	if err != nil {
		return "", err
	}
	changes, err := command(ctx, dir, "git", "--no-optional-locks", "status", "--porcelain=v2")
	if changes != "" {
		commit += " with changes that are not committed"
	}
	for line := range strings.Lines(changes) {
		// 1 XY SUB and six more fields, the last of which is the path.
		if f := strings.SplitN(strings.TrimSpace(line), " ", 9); len(f) == 9 && f[0] == "1" && f[2][0] == 'S' {
			commit += ", and the submodule " + f[8] + " as it is here"
		}
	}
	return commit, err
}

// UseGo lets a release of Go, such as 1.26.8, build the module, which go downloads
// if need be.
func (m *Module) UseGo(ctx context.Context, release string) error {
	m.env = append(m.env, "GOTOOLCHAIN=go"+strings.TrimPrefix(release, "go"))
	_, err := m.command(ctx, "go", "env", "GOVERSION")
	return err
}

// moved is where a path of the user's is in the checkout; false if it is no
// part of the repository, and thus where it was.
func (m *Module) moved(path string) (string, bool) {
	if inside, err := filepath.Rel(m.user.repo, path); err == nil && filepath.IsLocal(inside) {
		return filepath.Join(m.repo, inside), true
	}
	return path, false
}

// resolve makes paths that lead out of the checkout lead where the user's do:
// those of a workspace, and replacements.
func (m *Module) resolve(ctx context.Context) error {
	modules := []string{m.user.Dir}
	users, err := m.user.command(ctx, "go", "env", "GOWORK")
	if err != nil {
		return err
	}
	if users != "" && users != "off" {
		file, err := m.workspace(users)
		if err != nil {
			return err
		}
		m.env = append(m.env, "GOWORK="+file)
		if file != "off" {
			if modules, err = m.anchor(ctx, "work", file, filepath.Dir(users)); err != nil {
				return err
			}
		}
	}
	for _, dir := range modules {
		base, inside := m.moved(dir)
		// What is vendored is not looked for elsewhere.
		if _, err := os.Stat(filepath.Join(base, "vendor", "modules.txt")); err == nil || !inside {
			continue
		}
		if _, err := m.anchor(ctx, "mod", filepath.Join(base, "go.mod"), dir); err != nil {
			return err
		}
	}
	return nil
}

// workspace is the checkout's file for the user's go.work, "off" if it has none.
// Of one that is no part of the repository it is a copy.
func (m *Module) workspace(users string) (string, error) {
	if file, inside := m.moved(users); inside {
		if _, err := os.Stat(file); err != nil {
			return "off", nil
		}
		return file, nil
	}
	dir := m.repo + ".workspace"
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	for _, name := range []string{"go.work", "go.work.sum"} {
		text, err := os.ReadFile(strings.TrimSuffix(users, ".work") + strings.TrimPrefix(name, "go"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o666)
		}
		if err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "go.work"), nil
}

// A modFile is what go mod edit and go work edit tell of paths.
type modFile struct {
	Use     []struct{ DiskPath string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// anchor makes the paths of a go.mod or go.work of the checkout lead where they
// lead from the user's directory of that file, and returns the modules that a
// workspace uses, as the user has them.
func (m *Module) anchor(ctx context.Context, kind, file, users string) (used []string, err error) {
	text, err := command(ctx, m.repo, "go", kind, "edit", "-json", file)
	if err != nil {
		return nil, err
	}
	var f modFile
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, fmt.Errorf("go %s edit -json %s: %w", kind, file, err)
	}
	edits := []string{kind, "edit"}
	for _, u := range f.Use {
		path, to, err := m.led(u.DiskPath, file, users)
		if err != nil {
			return nil, err
		}
		if used = append(used, path); to != "" {
			edits = append(edits, "-dropuse="+u.DiskPath, "-use="+to)
		}
	}
	for _, r := range f.Replace {
		if r.New.Version != "" {
			continue
		}
		old := strings.TrimSuffix(r.Old.Path+"@"+r.Old.Version, "@")
		_, to, err := m.led(r.New.Path, file, users)
		if err != nil {
			return nil, fmt.Errorf("the replacement of %s: %w", old, err)
		}
		if to != "" {
			edits = append(edits, "-replace="+old+"="+to)
		}
	}
	if len(edits) > 2 {
		_, err = command(ctx, m.repo, "go", append(edits, file)...)
	}
	return used, err
}

// led is where a path of the checkout's file leads the user, and what it must be
// instead to lead there, or to the checkout's part of it; "" if it is right.
func (m *Module) led(path, file, users string) (user, instead string, err error) {
	user, here := path, path
	if !filepath.IsAbs(path) {
		user, here = filepath.Join(users, path), filepath.Join(filepath.Dir(file), path)
	}
	want, _ := m.moved(user)
	if want == here {
		return user, "", nil
	}
	if _, err := os.Stat(want); err != nil {
		return "", "", fmt.Errorf("%s in %s leads to %s, which is not there", path, filepath.Base(file), want)
	}
	return user, want, nil
}

// packages lists the packages that match the patterns and have benchmarks, by
// import path. A revision need not have what the user names.
func (m *Module) packages(ctx context.Context, patterns []string) (map[string]testPackage, error) {
	args := []string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}{{range .TestGoFiles}}\t{{.}}{{end}}{{range .XTestGoFiles}}\t{{.}}{{end}}"}
	if m.user != nil {
		args = append(args, "-e")
	}
	args = append(args, "--")
	for _, p := range patterns {
		if m.user != nil && filepath.IsAbs(p) {
			p, _ = m.moved(p)
		}
		args = append(args, p)
	}
	out, err := m.command(ctx, "go", args...)
	if err != nil {
		return nil, err
	}
	all := map[string]testPackage{}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(fields) < 3 {
			continue // it has no tests
		}
		p := testPackage{fields[1], map[string]token.Position{}}
		for _, name := range fields[2:] {
			if err := p.find(filepath.Join(p.dir, name)); err != nil {
				return nil, err
			}
		}
		if len(p.benchmarks) > 0 {
			all[fields[0]] = p
		}
	}
	return all, nil
}

// A testPackage is a package whose tests have benchmarks: where it is, and where
// their functions begin, by their names.
type testPackage struct {
	dir        string
	benchmarks map[string]token.Position
}

// find finds the benchmarks of a file. One that cannot be parsed does not build,
// which the compiler says better.
func (p *testPackage) find(path string) error {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("Benchmark")) {
		return err
	}
	set := token.NewFileSet()
	file, _ := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil {
			continue
		}
		rest, ok := strings.CutPrefix(f.Name.Name, "Benchmark")
		if first, _ := utf8.DecodeRuneInString(rest); ok && !unicode.IsLower(first) {
			p.benchmarks[f.Name.Name] = set.Position(f.Pos())
		}
	}
	return nil
}

// command runs a program where the user is in the module.
func (m *Module) command(ctx context.Context, name string, args ...string) (string, error) {
	dir := m.work
	if dir == "" {
		dir = m.Dir
	}
	return commandEnv(ctx, dir, m.env, name, args...)
}

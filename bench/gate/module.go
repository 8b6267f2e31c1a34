package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Module is a Go module in a git repository, as the user has it.
type Module struct {
	Dir    string // the module's root
	repo   string // the repository's
	prefix string // from the one to the other
}

// ModuleAt finds the module that dir is in, whether it is in a repository or not.
func ModuleAt(ctx context.Context, dir string) (*Module, error) {
	file, err := command(ctx, dir, "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	if file == "" || file == os.DevNull {
		return nil, fmt.Errorf("%s is in no Go module: there is no go.mod", dir)
	}
	return &Module{Dir: filepath.Dir(file)}, nil
}

// FindModule finds the module that dir is in, and its repository.
func FindModule(ctx context.Context, dir string) (*Module, error) {
	m, err := ModuleAt(ctx, dir)
	if err != nil {
		return nil, err
	}
	if m.repo, err = command(ctx, m.Dir, "git", "rev-parse", "--show-toplevel"); err != nil {
		return nil, fmt.Errorf("%s is in no git repository, from which --base could be taken: %w", m.Dir, err)
	}
	m.prefix, err = command(ctx, m.Dir, "git", "rev-parse", "--show-prefix")
	return m, err
}

// Checkout puts a revision into a worktree of its own in dir, which must not
// exist, and returns the module in it. The user's checkout stays as it is.
func (m *Module) Checkout(ctx context.Context, revision, dir string) (*Module, error) {
	commit, err := command(ctx, m.repo, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%q names no commit of %s", revision, m.repo)
	}
	if _, err := command(ctx, m.repo, "git", "worktree", "add", "--detach", dir, commit); err != nil {
		return nil, err
	}
	base := &Module{Dir: filepath.Join(dir, filepath.FromSlash(m.prefix)), repo: dir, prefix: m.prefix}
	if _, err := os.Stat(filepath.Join(base.Dir, "go.mod")); err != nil {
		return nil, errors.Join(fmt.Errorf("%s has no go.mod in %q", revision, m.prefix), base.Remove())
	}
	return base, nil
}

// Remove takes a checkout away again.
func (m *Module) Remove() error {
	// The context of a gate that was interrupted has ended.
	ctx := context.Background()
	_, err := command(ctx, m.repo, "git", "worktree", "remove", "--force", m.repo)
	if err != nil {
		return errors.Join(err, os.RemoveAll(m.repo))
	}
	return nil
}

// Describe is the checkout's commit, short, and whether there are changes
// beside it.
func (m *Module) Describe(ctx context.Context) (string, error) {
	commit, err := command(ctx, m.repo, "git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return "", err
	}
	changes, err := command(ctx, m.repo, "git", "status", "--porcelain")
	if changes != "" {
		commit += " with changes that are not committed"
	}
	return commit, err
}

// packages lists the packages that match the patterns and have tests, by
// import path, with their directories.
func (m *Module) packages(ctx context.Context, patterns []string) (map[string]string, error) {
	args := append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}", "--"}, patterns...)
	out, err := command(ctx, m.Dir, "go", args...)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(out) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all[path] = dir
		}
	}
	return all, nil
}

// command runs a program in the module's directory.
func (m *Module) command(ctx context.Context, name string, args ...string) (string, error) {
	return command(ctx, m.Dir, name, args...)
}

// command runs a program and returns what it printed, without the last line's
// end. Its error has the end of what it complained of.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, complaint bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, tail(complaint.String()))
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}

// tail is the last lines of a text, where the reason is.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

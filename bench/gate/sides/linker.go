package sides

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// stripped programs have no symbol table and no DWARF. Go's profiles need neither;
// named ones have the symbols, which others read.
const (
	stripped = "-s -w"
	named    = "-w"
)

// A Linker makes a module's programs, with their functions in an order that a
// seed gives where Go's linker can do that.
type Linker struct {
	fixed, trim bool
	symbols     bool // other programs have to find the names of functions
}

// trimpath lets a module's packages be compiled once, wherever its files lie.
const trimpath = "-trimpath"

// Fixed reports that Go's linker has no -randlayout, so that the interval
// covers processes and not layouts.
func (l *Linker) Fixed() bool { return l.fixed }

// Link runs go with a verb, its flags and the package, such as test -c ./x, and
// writes the program to a file. A program of another platform is an error.
func (l *Linker) Link(ctx context.Context, m *Module, file string, seed int, verb ...string) error {
	pkg := verb[len(verb)-1]
	debug := stripped
	if l.symbols {
		debug = named
	}
	flags, err := m.ldflags(ctx, debug)
	if err != nil {
		return err
	}
	if !l.fixed {
		flags += " -randlayout=" + strconv.Itoa(seed)
	}
	args := append(append([]string{}, verb[:len(verb)-1]...), "-ldflags="+flags, "-o", file)
	if l.trim {
		args = append(args, trimpath)
	}
	// Beside the program, so that a build that is killed leaves nothing elsewhere.
	temp, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(temp, 0o777); err != nil {
		return err
	}
	builder := *m
	builder.env = append(slices.Clone(m.env), "GOTMPDIR="+temp)
	_, err = builder.command(ctx, "go", append(args, pkg)...)
	if err != nil && !l.fixed && strings.Contains(err.Error(), "randlayout") {
		l.fixed = true
		return l.Link(ctx, m, file, seed, verb...)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("does not build: %w", err)
	}
	_, err = inspect(file)
	return err
}

// ldflags are those of GOFLAGS, which -ldflags would replace, and what debug
// information is left out, as go test does for what it runs: a link is a third
// shorter. Those for some packages only are left to be replaced.
func (m *Module) ldflags(ctx context.Context, debug string) (string, error) {
	all, err := m.command(ctx, "go", "env", "GOFLAGS")
	if err != nil {
		return "", err
	}
	for _, flag := range quotedFields(all) {
		if name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "="); name == "ldflags" && strings.HasPrefix(value, "-") {
			return value + " " + debug, nil
		}
	}
	return debug, nil
}

// quotedFields splits what GOFLAGS holds: fields with spaces between them, in
// quotes if they hold some.
func quotedFields(s string) (fields []string) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := " "
		if s[0] == '\'' || s[0] == '"' {
			end, s = s[:1], s[1:]
		}
		field, rest, _ := strings.Cut(s, end)
		fields = append(fields, field)
		s = rest
	}
	return fields
}

// inspect reads how a program was built, and refuses one that this machine does
// not run as its own: emulated results prove nothing.
func inspect(file string) (*buildinfo.BuildInfo, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s is no Go program that says how it was built: %w", file, err)
	}
	built := map[string]string{"GOOS": runtime.GOOS, "GOARCH": runtime.GOARCH}
	for _, s := range info.Settings {
		if built[s.Key] != "" {
			built[s.Key] = s.Value
		}
	}
	if built["GOOS"] != runtime.GOOS || built["GOARCH"] != runtime.GOARCH {
		return nil, fmt.Errorf("%s is built for %s/%s, and this is %s/%s", file, built["GOOS"], built["GOARCH"], runtime.GOOS, runtime.GOARCH)
	}
	return info, nil
}

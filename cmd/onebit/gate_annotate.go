package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"onebit/bench/gate"
)

// mostAnnotations is how many errors GitHub shows of a step.
const mostAnnotations = 10

// A locator knows where head's benchmarks are.
type locator interface {
	Locate(gate.Benchmark) (file string, line int)
}

// annotate says in commands of GitHub's CI what became slower, so that it is
// shown at the function that takes longer, or else at the benchmark.
func annotate(w io.Writer, r *gate.Report, profiles []gate.Profile, where locator, root string) {
	if len(r.Alarms) > 0 {
		return
	}
	slower := slices.DeleteFunc(slices.Clone(r.Findings), func(f gate.Finding) bool { return f.Verdict != gate.Slower })
	slices.SortStableFunc(slower, gate.Severity)
	for _, f := range slower[:min(len(slower), mostAnnotations)] {
		file, line := where.Locate(f.Benchmark)
		text := f.Named()
		if c, at := culprit(profiles, f.Benchmark, filepath.Dir(file), root); c != nil {
			file, line = at, c.Line
			text += fmt.Sprintf(": %s takes %.3g ns more", c.Name, c.Change())
		}
		place := ""
		if inside, ok := within(root, file); ok {
			place = fmt.Sprintf("file=%s,line=%d,", commandValue.Replace(inside), max(line, 1))
		}
		fmt.Fprintf(w, "::error %stitle=onebit gate::%s\n", place, commandText.Replace(text))
	}
}

// culprit is the repository's function that takes most of the time that a
// benchmark takes longer, if a profile shows one clearly, and its file.
func culprit(profiles []gate.Profile, b gate.Benchmark, dir, root string) (*gate.FunctionChange, string) {
	for _, p := range profiles {
		if p.Package != b.Package || p.Benchmark != b.Name {
			continue
		}
		for _, f := range p.Functions {
			file := f.File
			if rel, err := filepath.Rel(b.Package, file); err == nil && !filepath.IsAbs(file) {
				file = filepath.Join(dir, rel) // of a build without paths: PACKAGE/file.go
			}
			if _, ok := within(root, file); ok && f.Clear() && f.Change() > 0 {
				return &f, file
			}
		}
	}
	return nil, ""
}

// within is a file of the repository as its root has it.
func within(root, file string) (inside string, ok bool) {
	rel, err := filepath.Rel(root, file)
	if _, missing := os.Stat(file); err != nil || missing != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// What would end a command's text, or its value, is written by its number.
var (
	commandText  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandValue = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

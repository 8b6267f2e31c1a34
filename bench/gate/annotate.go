package gate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostAnnotations is how many errors GitHub shows of a step.
const mostAnnotations = 10

// A Locator knows where head's benchmarks are.
type Locator interface {
	Locate(Benchmark) (file string, line int)
}

// Annotate names in commands of GitHub's CI the benchmarks that became slower, each at the
// function that takes longer or else at the benchmark. root is the repository's folder.
func Annotate(w io.Writer, r *Report, profiles []Profile, where Locator, root string) {
	if len(r.Alarms) > 0 {
		return
	}
	slower := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Verdict != Slower })
	slices.SortStableFunc(slower, Severity)
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
func culprit(profiles []Profile, b Benchmark, dir, root string) (*FunctionChange, string) {
	for _, p := range profiles {
		if p.Benchmark != b {
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

// Characters that would end a command's text, or its value, are written by their numbers.
var (
	commandText  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandValue = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

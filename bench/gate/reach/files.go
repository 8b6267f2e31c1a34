package reach

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// changedFiles are the files of two module's roots that differ or are on one side
// only, but for source code, which is compared as it was compiled. Hidden folders
// and other modules are left out.
func changedFiles(base, head string) ([]string, error) {
	var changed []string
	for _, roots := range [][2]string{{base, head}, {head, base}} {
		err := filepath.WalkDir(roots[0], func(file string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			inside, err := filepath.Rel(roots[0], file)
			if err != nil || inside == "." {
				return err
			}
			if e.IsDir() {
				if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil || strings.HasPrefix(e.Name(), ".") {
					return filepath.SkipDir
				}
				return nil
			}
			if isSource(e.Name()) {
				return nil
			}
			same, err := sameFile(file, filepath.Join(roots[1], inside))
			if !same {
				changed = append(changed, filepath.ToSlash(inside))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// isSource reports whether the go command compiles files of such a name, or reads
// them to know what to compile.
func isSource(name string) bool {
	switch path.Ext(name) {
	case ".go", ".s", ".S", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".syso", ".swig", ".swigcxx":
		return true
	}
	return name == "go.mod" || name == "go.sum" || name == "go.work"
}

// sameFile compares two files, links by where they lead; one that is not there
// differs.
func sameFile(a, b string) (bool, error) {
	x, err := os.Lstat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Lstat(b)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || x.Mode().Type() != y.Mode().Type() {
		return false, err
	}
	switch {
	case x.Mode().IsRegular():
		if x.Size() != y.Size() {
			return false, nil
		}
		return sameContent(a, b)
	case x.Mode().Type() == fs.ModeSymlink:
		there, err := os.Readlink(a)
		other, err2 := os.Readlink(b)
		return there == other, errors.Join(err, err2)
	}
	return true, nil // sockets and pipes have no content
}

func sameContent(a, b string) (bool, error) {
	f, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer g.Close()
	var p, q [1 << 16]byte
	for {
		n, err := io.ReadFull(f, p[:])
		m, err2 := io.ReadFull(g, q[:])
		if n != m || !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return true, nil
		}
		if err != nil || err2 != nil {
			return false, errors.Join(err, err2)
		}
	}
}

// reads says which file that differs a benchmark of a package may read: one of the
// package's testdata, or one of which the program holds the name, the name of a
// folder that it is in, or a pattern of its ending.
func (c *comparer) reads(pkg string, f *flood) string {
	if len(c.files) == 0 {
		return ""
	}
	own := path.Join(strings.TrimPrefix(strings.TrimPrefix(pkg, c.sides[1].module), "/"), "testdata") + "/"
	words := f.words()
	for _, file := range c.files {
		if strings.HasPrefix(file, own) {
			return "may read " + file + ", which differs"
		}
		for _, element := range append(strings.Split(file, "/"), "*"+path.Ext(file)) {
			if words[element] {
				return "may read " + file + ", which differs"
			}
		}
	}
	return ""
}

// words are the elements of all paths among the strings that what a flood reached
// outside of Go itself refers to.
func (f *flood) words() map[string]bool {
	words := map[string]bool{}
	for n, reached := range f.reached {
		if !reached || f.archive(n).std {
			continue
		}
		f.relocs(n, func(_ int, r reloc) bool {
			to, _ := f.target(n, r)
			if to < 0 || !strings.HasPrefix(f.symbol(to).name, "go:string.") {
				return true
			}
			if text := string(f.data(to)); len(text) < 1<<10 {
				for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
					words[word] = true
				}
			}
			return true
		})
	}
	return words
}

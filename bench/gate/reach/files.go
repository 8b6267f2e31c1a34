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

// changedFiles are the files below two modules' roots that differ or are on one side
// only.
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
			switch {
			case inside == gitFolder && e.IsDir():
				return filepath.SkipDir
			case inside == gitFolder || e.IsDir():
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

// gitFolder is a folder in a repository, and a file in a submodule.
const gitFolder = ".git"

// isCompiled reports whether the go command compiles a file, or reads it to know what
// to compile.
func isCompiled(file string) bool {
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		if dir == "testdata" || strings.HasPrefix(dir, "_") || strings.HasPrefix(dir, ".") && dir != "." {
			return false
		}
	}
	switch path.Ext(file) {
	case ".go", ".s", ".S", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".syso", ".swig", ".swigcxx":
		return true
	}
	name := path.Base(file)
	return name == "go.mod" || name == "go.sum" || name == "go.work"
}

// isProse reports whether a file is for people and their tools, so that no program
// reads it without its name.
func isProse(file string) bool {
	return path.Ext(file) == ".md" || strings.HasPrefix(file, ".") || strings.Contains(file, "/.")
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
// package's testdata, and if the benchmark opens files at all, one that it may know by
// name, or else one below the package's folder. A path that leads upwards, or begins
// where the sources are, may lead to any.
func (c *comparer) reads(pkg string, p *pass, f *flood) string {
	own := strings.TrimPrefix(strings.TrimPrefix(pkg, c.sides[1].module), "/")
	if i := slices.IndexFunc(c.files, func(file string) bool { return isIn(path.Join(own, "testdata"), file) }); i >= 0 {
		return mayRead(c.files[i])
	}
	if !f.opens() {
		return ""
	}
	words := f.words()
	anywhere := p.located || words[".."]
	if anywhere && c.sides[1].below() {
		return "may read files outside of the module"
	}
	if i := slices.IndexFunc(c.files, words.name); i >= 0 {
		return mayRead(c.files[i])
	}
	for _, file := range c.files {
		if (anywhere || isIn(own, file)) && !isCompiled(file) && !isProse(file) {
			return mayRead(file)
		}
	}
	return ""
}

func mayRead(file string) string { return "may read " + file + ", which differs" }

// isIn reports whether a file is below a folder; "" is that of the module.
func isIn(folder, file string) bool { return folder == "" || strings.HasPrefix(file, folder+"/") }

// words are elements of paths.
type words map[string]bool

// name reports whether a file's name is among them, a pattern of its ending or, unless
// it is a source, which changes with the code, the name of a folder that it is in.
func (w words) name(file string) bool {
	if w["*"+path.Ext(file)] {
		return true
	}
	if isCompiled(file) {
		return w[path.Base(file)] || w[path.Ext(file)]
	}
	return slices.ContainsFunc(strings.Split(file, "/"), func(element string) bool { return w[element] })
}

// below reports whether the module may be a part of a repository, whose other files
// are not compared.
func (s *side) below() bool {
	_, err := os.Stat(filepath.Join(s.root, gitFolder))
	return err != nil
}

// opens reports whether what a flood reached outside of Go itself has to do with
// opening files. What Go's own packages do by themselves, as for time zones, does not
// count.
func (f *flood) opens() bool {
	openers := f.openers()
	for n, reached := range f.reached {
		if !reached || f.archive(n).std {
			continue
		}
		for r := range f.relocs(n) {
			if to, _ := f.target(n, r); to >= 0 && r.kind&weak == 0 && r.kind != f.useType && openers[int32(to)] {
				return true
			}
		}
	}
	return false
}

// opening are the functions by which all others of Go open files, or ask about them, and those that may do
// anything.
var opening = map[string]bool{ // whether others that call it open files, too
	"os.openFileNolog": true, "os.openDirNolog": true, "os.rootOpenFileNolog": true, "os.statNolog": true, "os.lstatNolog": true,
	"syscall.Open": false, "syscall.openat": false, "syscall.Syscall": false, "syscall.Syscall6": false, "syscall.RawSyscall": false,
	"syscall.RawSyscall6": false, "syscall.SyscallN": false, "syscall.CreateFile": false, "runtime.cgocall": false,
}

// openers are the symbols of Go's own packages that lead to one that opens files.
func (p *program) openers() map[int32]bool {
	if p.leads != nil {
		return p.leads
	}
	from := map[int32][]int32{}
	for n := range p.of {
		if !p.archive(n).std || p.symbol(n).flags&flagType != 0 {
			continue
		}
		for r := range p.relocs(n) {
			if to, _ := p.target(n, r); to >= 0 && r.kind&weak == 0 && r.kind != p.useType && r.kind != p.useIface && r.kind != p.initOrder {
				from[int32(to)] = append(from[int32(to)], int32(n))
			}
		}
	}
	p.leads = map[int32]bool{}
	var queue []int32
	for name, others := range opening {
		if n, ok := p.named[symbolKey(name, abiInternal)]; ok {
			p.leads[n] = true
			if others {
				queue = append(queue, n)
			}
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, caller := range from[n] {
			if !p.leads[caller] {
				p.leads[caller] = true
				queue = append(queue, caller)
			}
		}
	}
	return p.leads
}

// words are the elements of all paths among the strings that what a flood reached
// outside of Go itself refers to.
func (f *flood) words() words {
	found := words{}
	for n, reached := range f.reached {
		if !reached || f.archive(n).std {
			continue
		}
		for r := range f.relocs(n) {
			to, _ := f.target(n, r)
			if to < 0 || !strings.HasPrefix(f.symbol(to).name, "go:string.") {
				continue
			}
			if text := string(f.data(to)); len(text) < 1<<10 {
				for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
					found[word] = true
				}
			}
		}
	}
	return found
}

package reach

import (
	"fmt"
	"iter"
	"strings"
)

// A program is the code of one test binary: the symbols of all its packages,
// numbered through.
type program struct {
	*toolchain
	objects  []*object
	first    []int            // the number of each object's first symbol
	of       []int32          // the object of each symbol
	refs     [][]int32        // by object: which one a package's index means; -1: none
	named    map[string]int32 // by name and ABI
	archives []*archive
	pkg      []int          // the archive of each object
	leads    map[int32]bool // what openers has found; nil: nobody has asked
}

// An archive is a package as it was built.
type archive struct {
	path    string // of the package
	file    string // in the build cache: its name tells its content
	std     bool   // of Go itself
	objects []*object
	foreign string   // digest of what is no Go
	flags   []string // of the linker of C
}

// linkerFlags are those that any package has for the linker of C, which decide
// what all of them are linked with.
func (p *program) linkerFlags() (flags []string) {
	for _, a := range p.archives {
		flags = append(flags, a.flags...)
	}
	return flags
}

// pointers is how many bytes of variables may hold pointers, which the collector of
// garbage looks through in each cycle, whoever uses them.
func (p *program) pointers() (bytes int64) {
	for n := range p.of {
		if s := p.symbol(n); p.pointing[s.kind] {
			bytes += int64(s.size)
		}
	}
	return bytes
}

// link resolves what the packages' symbols refer to.
func link(t *toolchain, archives []*archive) *program {
	p := &program{toolchain: t, named: map[string]int32{}, archives: archives}
	packages := map[string]int32{}
	n := 0
	for i, a := range archives {
		for _, o := range a.objects {
			if o.flags&fromAssembly == 0 {
				packages[escape(a.path)] = int32(len(p.objects))
			}
			p.objects, p.first, p.pkg = append(p.objects, o), append(p.first, n), append(p.pkg, i)
			n += o.defined()
		}
	}
	p.of = make([]int32, n)
	for i, o := range p.objects {
		refs := make([]int32, len(o.packages))
		for j, path := range o.packages {
			refs[j] = -1
			if at, ok := packages[path]; ok {
				refs[j] = at
			}
		}
		p.refs = append(p.refs, refs)
		for k := range o.defined() {
			at := p.first[i] + k
			p.of[at] = int32(i)
			if k >= o.counts[0] && k < o.counts[0]+o.counts[1]+o.counts[2] {
				continue // goes by its content
			}
			s := o.symbols[k]
			if s.abi == abiStatic {
				continue
			}
			key := symbolKey(s.name, s.abi)
			// Of several definitions the one with content counts.
			if old, ok := p.named[key]; !ok || len(p.data(int(old))) == 0 && len(o.data(k)) > 0 {
				p.named[key] = int32(at)
			}
		}
	}
	return p
}

// abiInternal is the ABI of Go's functions; data has 0.
const abiInternal = 1

func symbolKey(name string, abi uint16) string {
	if abi == abiInternal {
		return name + "\x00"
	}
	return name
}

func (p *program) symbol(n int) *symbol {
	i := p.of[n]
	return &p.objects[i].symbols[n-p.first[i]]
}

func (p *program) data(n int) []byte {
	i := p.of[n]
	return p.objects[i].data(n - p.first[i])
}

func (p *program) relocs(n int) iter.Seq[reloc] {
	i := p.of[n]
	return p.objects[i].relocs(n - p.first[i])
}

// inlined calls f with the functions that were inlined into a function.
func (p *program) inlined(n int, f func(n int)) {
	i := p.of[n]
	of, index, ok := p.objects[i].funcInfo(n - p.first[i])
	if !ok {
		return
	}
	if info, _ := p.target(n, reloc{of: of, index: index}); info >= 0 {
		inlined(p.data(info), func(of, index uint32) {
			if to, _ := p.target(n, reloc{of: of, index: index}); to >= 0 {
				f(to)
			}
		})
	}
}

// archive is the package that a symbol comes from.
func (p *program) archive(n int) *archive { return p.archives[p.pkg[p.of[n]]] }

// target is the symbol that a relocation of symbol n refers to, with the name of
// one that is defined nowhere, such as those that the linker makes; -1 and "" if
// it refers to none.
func (p *program) target(n int, r reloc) (int, string) {
	if r.of == 0 && r.index == 0 {
		return -1, ""
	}
	i := p.of[n]
	o := p.objects[i]
	switch r.of {
	case ofBuiltin:
		if int64(r.index) >= int64(len(p.builtins)) {
			return -1, fmt.Sprintf("builtin %d", r.index)
		}
		return p.byName(p.builtins[r.index], abiInternal)
	case ofSelf, ofHashed64, ofHashed, ofNone:
		local := o.local(r.of, r.index)
		switch {
		case local < 0:
			return -1, fmt.Sprintf("symbol %d of %d", r.index, r.of)
		case local < o.defined():
			if s := o.symbols[local]; r.of == ofNone && s.abi != abiStatic {
				return p.byName(s.name, s.abi)
			}
			return p.first[i] + local, ""
		}
		s := o.symbols[local]
		return p.byName(s.name, s.abi)
	}
	if int64(r.of) < int64(len(p.refs[i])) && p.refs[i][r.of] >= 0 {
		other := p.refs[i][r.of]
		if int64(r.index) < int64(p.objects[other].counts[0]) {
			return p.first[other] + int(r.index), ""
		}
	}
	return -1, fmt.Sprintf("symbol %d of package %d", r.index, r.of)
}

// targetName is the name of what a relocation refers to, or "".
func (p *program) targetName(n int, r reloc) string {
	to, name := p.target(n, r)
	if to >= 0 {
		return p.symbol(to).name
	}
	return name
}

func (p *program) byName(name string, abi uint16) (int, string) {
	if at, ok := p.named[symbolKey(name, abi)]; ok {
		return int(at), ""
	}
	return -1, name
}

// escape writes a package's path as symbols have it: dots in the last element,
// and what may not stand in a name, as %xx.
func escape(path string) string {
	last := strings.LastIndexByte(path, '/')
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c <= ' ' || c == '%' || c == '"' || c >= 0x7f || c == '.' && i > last:
			fmt.Fprintf(&b, "%%%02x", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

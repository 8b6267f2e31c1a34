package reach

import (
	"maps"
	"slices"
	"strings"
)

// A flood is what some functions reach: symbols that their code refers to, and
// methods of types that become interfaces, as far as something calls a method of
// that name and type. It is the linker's own search for what a program needs
// (cmd/link/internal/ld/deadcode.go), begun elsewhere.
type flood struct {
	*program
	reached []bool
	inIface []bool // of types: may be in an interface
	queue   []int32

	called     map[signature]bool // methods that are called through interfaces
	byName     map[string]bool    // the same, whatever their type
	reflects   bool               // a method may be called by a name that only the running program knows
	candidates []method
}

// A signature is what finds a method: the symbols of its name and its type.
type signature struct{ name, typ string }

// A method is one of a type that may be in an interface.
type method struct {
	signature
	funcs [3]int32 // what the type's table refers to
}

func (p *program) flood() *flood {
	n := len(p.of)
	return &flood{
		program: p, reached: make([]bool, n), inIface: make([]bool, n),
		called: map[signature]bool{}, byName: map[string]bool{},
	}
}

// clone is a flood that goes on from where f is.
func (f *flood) clone() *flood {
	g := *f
	g.reached, g.inIface = slices.Clone(f.reached), slices.Clone(f.inIface)
	g.candidates, g.called, g.byName = slices.Clone(f.candidates), maps.Clone(f.called), maps.Clone(f.byName)
	return &g
}

func (f *flood) mark(n int) {
	if n >= 0 && !f.reached[n] {
		f.reached[n] = true
		f.queue = append(f.queue, int32(n))
	}
}

// markNamed marks a function of Go, if there is one of that name.
func (f *flood) markNamed(name string) {
	if at, ok := f.named[symbolKey(name, abiInternal)]; ok {
		f.mark(int(at))
	}
}

// markTest marks a function of a package's tests, be they inside of it or not.
func (f *flood) markTest(path, name string) {
	f.markNamed(escape(path) + "." + name)
	f.markNamed(escape(path+"_test") + "." + name)
}

// convert marks a type as one that may be in an interface, which is visited
// again if it was before.
func (f *flood) convert(n int) {
	if n < 0 || f.inIface[n] {
		return
	}
	f.inIface[n] = true
	if f.reached[n] {
		f.queue = append(f.queue, int32(n))
	}
}

// run goes on until nothing new is reached.
func (f *flood) run() {
	for len(f.queue) > 0 {
		for len(f.queue) > 0 {
			n := f.queue[len(f.queue)-1]
			f.queue = f.queue[:len(f.queue)-1]
			f.visit(n)
		}
		open := f.candidates[:0]
		for _, m := range f.candidates {
			if !f.reflects && !f.called[m.signature] && !f.byName[methodName(m.name)] {
				open = append(open, m)
				continue
			}
			for _, fn := range m.funcs {
				f.mark(int(fn))
			}
		}
		f.candidates = open
	}
}

func (f *flood) visit(n int32) {
	s := f.symbol(int(n))
	f.reflects = f.reflects || s.flags&flagReflectMethod != 0
	isType := s.flags&flagType != 0
	if isType && s.flags2&flagUsedInIface != 0 {
		f.inIface[n] = true
	}
	inIface := isType && f.inIface[n]
	init := strings.Contains(s.name, ".init")
	var last reloc
	var methods []reloc
	for r := range f.relocs(int(n)) {
		before := last
		last = r
		switch kind := r.kind; {
		case kind&weak != 0 && !init, kind == f.useType, kind == f.initOrder:
		case kind == f.methodOff:
			if methods = append(methods, r); len(methods) == 3 {
				if inIface {
					f.candidate(n, methods)
				}
				methods = nil
			} else if len(methods) == 1 {
				methods[0].add = int64(before.offset) // where the name is
			}
		case kind == f.useIface:
			to, _ := f.target(int(n), r)
			f.convert(f.ofItab(to))
		case kind == f.useIfaceMethod:
			if to, _ := f.target(int(n), r); to >= 0 {
				f.called[f.signatureAt(to, int32(r.add))] = true
			}
		case kind == f.useNamedMethod:
			if to, _ := f.target(int(n), r); to >= 0 {
				f.byName[string(f.data(to))] = true
			}
		default:
			to, _ := f.target(int(n), r)
			if inIface && to >= 0 && f.symbol(to).flags&flagType != 0 {
				f.convert(to) // reflection gets from a type to its parts
			}
			f.mark(to)
		}
	}
}

// functions calls visit with each function that was reached, and with those that
// were inlined into it.
func (f *flood) functions(visit func(n int)) {
	for n, reached := range f.reached {
		if reached && f.text[f.symbol(n).kind] && !f.archive(n).std {
			visit(n)
			f.inlined(n, visit)
		}
	}
}

// candidate adds a method of the type n, whose entry has relocations for its
// type and its two functions, after the one for its name.
func (f *flood) candidate(n int32, entry []reloc) {
	m := method{signature: f.signatureAt(int(n), entry[0].offset-4)}
	for i, r := range entry {
		to, _ := f.target(int(n), r)
		m.funcs[i] = int32(to)
		if i == 0 {
			f.convert(to)
		}
	}
	f.candidates = append(f.candidates, m)
}

// signatureAt is the method whose name lies at an offset of a type's data, and
// its type after it.
func (f *flood) signatureAt(n int, offset int32) (s signature) {
	for r := range f.relocs(n) {
		switch {
		case r.offset == offset:
			s.name = f.targetName(n, r)
		case r.offset == offset+4 && r.size > 0:
			s.typ = f.targetName(n, r)
		}
		if s.name != "" && s.typ != "" {
			break
		}
	}
	return s
}

// ofItab is the type of an interface table, or n if it is none.
func (f *flood) ofItab(n int) int {
	if n < 0 || f.symbol(n).flags2&flagItab == 0 {
		return n
	}
	typ, seen := -1, 0
	for r := range f.relocs(n) {
		if to, _ := f.target(n, r); to >= 0 && f.symbol(to).flags&flagType != 0 && seen < 2 {
			typ = to // the interface is first
			seen++
		}
	}
	return typ
}

// methodName is the name in a symbol such as type:.namedata.Read. or
// type:.namedata.read-.
func methodName(symbol string) string {
	name := strings.TrimPrefix(symbol, "type:.namedata.")
	return strings.TrimRight(name, ".-")
}

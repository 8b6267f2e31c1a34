package reach

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Verdict says whether a benchmark runs the same code on both sides.
type Verdict struct {
	Same bool
	Why  string // what it reaches that differs, or that can't be known; "" if it is the same
}

// A Result is what a change reaches.
type Result struct {
	Verdicts  map[string]map[string]Verdict // by the package's path and the benchmark's name without "Benchmark"
	Changed   []string                      // functions that differ, are new or are gone, outside of tests, in their order
	Unreached []string                      // those of them that no benchmark reaches
	Located   bool                          // the module asks where its sources are, which -trimpath hides
}

// Of is the verdict on a benchmark, whose name may go on with that of a
// sub-benchmark. One that is not known is not the same.
func (r *Result) Of(pkg, name string) Verdict {
	top, _, _ := strings.Cut(name, "/")
	if v, ok := r.Verdicts[pkg][top]; ok {
		return v
	}
	return Verdict{Why: "its code is not known"}
}

// Compare compiles the tests of packages on both sides and compares what their
// benchmarks reach. An error says why nothing is known.
func Compare(ctx context.Context, base, head Tree, packages []string) (*Result, error) {
	var c comparer
	for i, tree := range []Tree{base, head} {
		if err := c.sides[i].read(ctx, tree, packages); err != nil {
			return nil, err
		}
	}
	if a, b := c.sides[0].goos, c.sides[1].goos; a != b {
		return nil, fmt.Errorf("base is built by %s, head by %s", a, b)
	}
	var err error
	if c.toolchain, err = readToolchain(c.sides[1].goroot); err != nil {
		return nil, err
	}
	c.open = opener{}
	c.reached = map[string]bool{}
	if c.changed, err = c.functions(); err != nil {
		return nil, err
	}
	if c.files, err = changedFiles(c.sides[0].root, c.sides[1].root); err != nil {
		return nil, err
	}
	r := &Result{Verdicts: map[string]map[string]Verdict{}}
	for _, path := range c.sides[1].tested() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.Verdicts[path], err = c.verdicts(path); err != nil {
			return nil, err
		}
	}
	r.Located = c.located
	r.Changed = slices.Compact(slices.Sorted(maps.Values(c.changed)))
	r.Unreached = slices.DeleteFunc(slices.Clone(r.Changed), func(name string) bool { return c.reached[name] })
	return r, nil
}

// A comparer compares the programs of a module, package by package.
type comparer struct {
	sides     [2]side
	toolchain *toolchain
	open      opener
	files     []string          // that differ, as paths from the module's root
	changed   map[string]string // functions outside of tests that differ, by symbol
	reached   map[string]bool   // those that a benchmark reaches
	located   bool              // the module asks where its sources are
}

// functions compares the module's functions outside of tests.
func (c *comparer) functions() (map[string]string, error) {
	var programs [2]*program
	for i := range c.sides {
		var err error
		if programs[i], err = c.open.untested(c.toolchain, c.sides[i].listed); err != nil {
			return nil, err
		}
	}
	changed := map[string]string{}
	for i, p := range programs {
		pair := compare(p, programs[1-i], c.sides[1].pointer)
		for _, n := range pair.named {
			s := p.symbol(n)
			written := s.flags&flagDupok == 0 || strings.Contains(s.name, "[") // no wrapper of the compiler's
			if p.text[s.kind] && s.abi == abiInternal && written && c.sides[i].owns(p.archive(n).path) && pair.differs(n, false) {
				changed[symbolKey(s.name, s.abi)] = s.function()
			}
		}
	}
	return changed, nil
}

// verdicts compares the benchmarks of a package.
func (c *comparer) verdicts(path string) (map[string]Verdict, error) {
	head, err := c.open.program(c.toolchain, c.sides[1].listed, path)
	if err != nil {
		return nil, err
	}
	verdicts := map[string]Verdict{}
	names := head.benchmarks()
	if len(names) == 0 {
		return verdicts, nil
	}
	base, err := c.open.program(c.toolchain, c.sides[0].listed, path)
	if err != nil {
		for _, name := range names {
			verdicts[name] = Verdict{Why: "base has no such tests"}
		}
		return verdicts, nil
	}
	located := c.sides[0].locates(base) || c.sides[1].locates(head)
	c.located = c.located || located
	if why := c.otherwise(path, base, head); why != "" {
		for _, name := range names {
			verdicts[name] = Verdict{Why: why}
		}
		return verdicts, nil
	}
	pair := [2]*pass{newPass(path, head, base, c.sides[1].pointer), newPass(path, base, head, c.sides[1].pointer)}
	pair[0].located, pair[1].located = located, located
	for _, name := range names {
		verdicts[name] = c.verdict(path, name, pair)
	}
	return verdicts, nil
}

// muchCollected is by how much the variables that the collector of garbage looks
// through may differ: so much takes it some microseconds, and a cycle comes after
// 4 MiB of allocations at the earliest.
const muchCollected = 64 << 10

// otherwise is why two programs differ whatever their code is.
func (c *comparer) otherwise(path string, base, head *program) string {
	a, b := c.sides[0].listed[path+".test"], c.sides[1].listed[path+".test"]
	if a.DefaultGODEBUG != b.DefaultGODEBUG {
		return fmt.Sprintf("GODEBUG is %q in base, %q in head", a.DefaultGODEBUG, b.DefaultGODEBUG)
	}
	if a, b := base.linkerFlags(), head.linkerFlags(); !slices.Equal(a, b) {
		return fmt.Sprintf("flags of the C linker are %q in base, %q in head", a, b)
	}
	if a, b := base.pointers(), head.pointers(); max(a-b, b-a) > muchCollected {
		return fmt.Sprintf("the collector of garbage looks through %d KiB of variables in base, %d KiB in head", a>>10, b>>10)
	}
	if !slices.Equal(common(base.schedule(), head), common(head.schedule(), base)) {
		return "packages are initialized in another order"
	}
	return ""
}

// locators are functions that tell where the source of their caller is.
var locators = []string{"runtime.Caller", "runtime.Callers", "runtime.(*Func).FileLine", "runtime.FuncForPC", "runtime.CallersFrames"}

// locates reports whether the module's part of a program asks where sources are.
func (s *side) locates(p *program) bool {
	for n := range p.of {
		if !s.owns(strings.TrimSuffix(p.archive(n).path, "_test")) {
			continue
		}
		for r := range p.relocs(n) {
			if slices.Contains(locators, p.targetName(n, r)) {
				return true
			}
		}
	}
	return false
}

// common are the names that another program knows too.
func common(names []string, other *program) []string {
	return slices.DeleteFunc(names, func(name string) bool { _, ok := other.named[name]; return !ok })
}

// verdict compares what a benchmark reaches, in both directions.
func (c *comparer) verdict(path, name string, pair [2]*pass) Verdict {
	why := ""
	for _, p := range pair {
		f := p.start.clone()
		f.markTest(path, "Benchmark"+name)
		f.run()
		f.functions(func(n int) {
			s := f.symbol(n)
			if function, ok := c.changed[symbolKey(s.name, s.abi)]; ok {
				c.reached[function] = true
			}
		})
		if why == "" {
			why = cmp.Or(p.why(f), c.reads(path, p, f))
		}
	}
	return Verdict{Same: why == "", Why: why}
}

// A pass is one direction of a comparison: a program, and the flood of its start.
type pass struct {
	*comparison
	start   *flood
	located bool // the module's part asks where its sources are
}

// orderOnly is the size of a package's initialization that has no function.
const orderOnly = 8

func newPass(path string, of, with *program, pointer int) *pass {
	p := &pass{comparison: compare(of, with, pointer), start: of.flood()}
	for n := range of.of {
		if s := of.symbol(n); strings.HasSuffix(s.name, "..inittask") && s.size > orderOnly {
			p.start.mark(n)
		}
	}
	p.start.markTest(path, "TestMain")
	p.start.run()
	return p
}

// unknowable are functions whose effect is outside of the program.
var unknowable = []struct{ name, does string }{
	{"os.StartProcess", "starts other programs"},
	{"syscall.forkExec", "starts other programs"},     // Unix: what ForkExec and StartProcess call
	{"syscall.StartProcess", "starts other programs"}, // Windows
	{"plugin.open", "loads plugins"},
}

// why says what a flood reached that differs, or can't be known; "" if all is the
// same.
func (p *pass) why(f *flood) string {
	if n := p.changed(f); n >= 0 {
		if p.start.reached[n] && p.differs(n, p.start.inIface[n]) {
			return "the program begins with " + p.of.symbol(n).function() + ", which differs"
		}
		return "reaches " + p.of.symbol(n).function() + ", which differs"
	}
	for _, u := range unknowable {
		if n, ok := p.of.named[symbolKey(u.name, abiInternal)]; ok && f.reached[n] {
			return "reaches " + u.name + ", which " + u.does
		}
	}
	return ""
}

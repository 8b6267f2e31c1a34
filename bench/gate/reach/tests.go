package reach

import (
	"regexp"
	"slices"
	"strings"
)

// The main package of a test binary refers to the benchmarks by their function
// values. TestMain may be inlined into it.

const functionValue = "·f"

// benchmarks are the names of the program's benchmarks, without "Benchmark".
func (p *program) benchmarks() (names []string) {
	for n := range p.of {
		if p.archive(n).path != "main" {
			continue
		}
		for r := range p.relocs(n) {
			full := p.targetName(n, r)
			_, name, ok := strings.Cut(strings.TrimSuffix(full[strings.LastIndexByte(full, '/')+1:], functionValue), ".Benchmark")
			if ok && !strings.Contains(name, ".") && strings.HasSuffix(full, functionValue) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// made matches what the compiler appends to a function's name for a closure in
// it, and for its defer and go.
var made = regexp.MustCompile(`^([^.]*\.[^.]+.*?)\.(?:func|deferwrap|gowrap)\d.*$`)

// function is a symbol's name for people: of what is made of a part of a function,
// that function's.
func (s *symbol) function() string {
	name := strings.TrimSuffix(s.name, functionValue)
	slash := strings.LastIndexByte(name, '/') + 1
	if m := made.FindStringSubmatch(name[slash:]); m != nil {
		name = name[:slash] + m[1]
	}
	return strings.ReplaceAll(name, "%2e", ".")
}

// schedule are the initializations of packages in the order in which they run:
// each after those it imports, and else by name (cmd/link/internal/ld/inittask.go).
// Those of Go's own packages, which know no others, are left out.
func (p *program) schedule() (names []string) {
	waits, needed := map[string]int{}, map[string][]string{}
	for n := range p.of {
		s := p.symbol(n)
		if !strings.HasSuffix(s.name, "..inittask") {
			continue
		}
		waits[s.name] += 0
		for r := range p.relocs(n) {
			if r.kind == p.initOrder {
				waits[s.name]++
				on := p.targetName(n, r)
				needed[on] = append(needed[on], s.name)
			}
		}
	}
	var ready []string
	for name, n := range waits {
		if n == 0 {
			ready = append(ready, name)
		}
	}
	for len(ready) > 0 {
		slices.Sort(ready)
		next := ready[0]
		ready = ready[1:]
		if at, ok := p.named[next]; ok && !p.archive(int(at)).std {
			names = append(names, next)
		}
		for _, name := range needed[next] {
			if waits[name]--; waits[name] == 0 {
				ready = append(ready, name)
			}
		}
	}
	return names
}

package gate

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"onebit/bench/gate/reach"
	"onebit/internal/count"
	"onebit/internal/term"
)

// Code is what the code of both sides says before anything is timed. Benchmarks
// are those of the top level, with all of theirs.
type Code struct {
	Same      []Benchmark // they run the same code on both sides
	Reached   []Reached   // the others that both sides have
	Unreached []string    // functions that differ and that no benchmark reaches
	Unknown   string      // why nothing could be told; "" if it could
	Measured  bool        // they are measured all the same
}

// Reached is a benchmark that may run other code than on the other side.
type Reached struct {
	Benchmark
	Why string // what it reaches that differs, or that can't be known
}

// settled are the benchmarks that need no measurement.
func (c *Code) settled() []Benchmark {
	if c == nil || c.Measured {
		return nil
	}
	return c.Same
}

// Sentences are what the code says, for people; nil if it was not compared.
func (c *Code) Sentences() (said []string) {
	if c == nil {
		return nil
	}
	reached, all := len(c.Reached), len(c.Same)+len(c.Reached)
	switch {
	case c.Unknown != "":
		return []string{"The code of benchmarks could not be compared: " + term.Text(c.Unknown) + "."}
	case all == 0:
		return nil
	case all == 1 && reached == 1:
		said = append(said, "This change reaches the one benchmark.")
	case all == 1:
		said = append(said, "This change does not reach the one benchmark: what it runs is the same code.")
	case reached == 0:
		said = append(said, fmt.Sprintf("This change reaches none of %d benchmarks: what they run is the same code.", all))
	default:
		said = append(said, fmt.Sprintf("This change reaches %d of %d benchmarks.", reached, all))
	}
	if n := len(c.Unreached); n > 0 {
		named := term.Text(strings.Join(c.Unreached[:min(n, 3)], ", "))
		if n > 3 {
			named += fmt.Sprintf(" and %s", count.Of(n-3, "other"))
		}
		said = append(said, "No benchmark reaches "+named+", which you changed.")
	}
	return said
}

// compareCode asks which benchmarks run the same code on both sides.
func (t *Tests) compareCode(ctx context.Context) error {
	var shared []string
	for pkg := range t.packages[Head] {
		if _, ok := t.packages[Base][pkg]; ok && (len(t.matching(Base, pkg)) > 0 || len(t.matching(Head, pkg)) > 0) {
			shared = append(shared, pkg)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	slices.Sort(shared)
	found, err := reach.Compare(ctx, t.Base.tree(), t.Head.tree(), shared)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		t.code.Unknown = tail(err.Error())
		return nil
	}
	t.trim = !found.Located
	t.code.Unreached, t.code.Measured = found.Unreached, t.MeasureAll
	for _, pkg := range shared {
		base := t.matching(Base, pkg)
		for _, name := range t.matching(Head, pkg) {
			b := Benchmark{pkg, strings.TrimPrefix(name, "Benchmark")}
			switch v := found.Of(pkg, b.Name); {
			case !slices.Contains(base, name):
			case v.Same:
				t.code.Same = append(t.code.Same, b)
			default:
				t.code.Reached = append(t.code.Reached, Reached{b, v.Why})
			}
		}
	}
	return nil
}

// Code is what Find was told by the code.
func (t *Tests) Code() *Code { return &t.code }

// tree is the module as its tests are linked.
func (m *Module) tree() reach.Tree {
	return reach.Tree{
		Go:    func(ctx context.Context, args ...string) (string, error) { return m.command(ctx, "go", args...) },
		Flags: []string{trimpath},
	}
}

// matching are the names of a package's benchmarks that the pattern takes, in
// order.
func (t *Tests) matching(side Side, pkg string) (names []string) {
	for _, name := range t.packages[side][pkg].benchmarks {
		if t.top.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// settled are the names of a package's benchmarks that need no measurement.
func (t *Tests) settled(pkg string) (names []string) {
	for _, b := range t.code.settled() {
		if b.Package == pkg {
			names = append(names, "Benchmark"+b.Name)
		}
	}
	return names
}

// open are the packages of a side that have something to measure.
func (t *Tests) open(side Side) (open []string) {
	for _, pkg := range slices.Sorted(maps.Keys(t.packages[side])) {
		settled := t.settled(pkg)
		if slices.ContainsFunc(t.matching(side, pkg), func(name string) bool { return !slices.Contains(settled, name) }) {
			open = append(open, pkg)
		}
	}
	return open
}

// topLevel is the part of a pattern that decides which benchmarks of the top level
// run: of each of its alternatives (|) what stands before the first slash, where
// neither is in brackets (testing/match.go).
func topLevel(match string) *regexp.Regexp {
	var top strings.Builder
	class, group, below := 0, 0, false // below: after a slash
	for i := 0; i < len(match); i++ {
		c, from := match[i], i
		switch {
		case c == '\\':
			i = min(i+1, len(match)-1)
		case c == '[':
			class++
		case c == ']':
			class = max(class-1, 0)
		case class > 0:
		case c == '(':
			group++
		case c == ')':
			group--
		case group == 0 && c == '|':
			below = false
		case group == 0 && c == '/':
			below = true
		}
		if !below {
			top.WriteString(match[from : i+1])
		}
	}
	re, err := regexp.Compile(top.String())
	if err != nil {
		return regexp.MustCompile("") // go test says what is wrong with it
	}
	return re
}

package gate

import (
	"fmt"
	"strings"

	"onebit/internal/count"
	"onebit/internal/term"
)

// Code is what the code of both sides says before anything is timed. Benchmarks
// are those of the top level, with all of theirs.
type Code struct {
	Same      []Benchmark `json:"same"`               // they run the same code on both sides
	Reached   []Reached   `json:"reached"`            // the others that both sides have
	Unreached []string    `json:"unreached"`          // functions that differ and that no benchmark reaches
	Unknown   string      `json:"unknown,omitempty"`  // why nothing could be told; "" if it could
	Measured  bool        `json:"measured,omitempty"` // the same ones were measured all the same
}

// Reached is a benchmark that may run other code than on the other side.
type Reached struct {
	Benchmark
	Why string `json:"why,omitempty"` // what it reaches that differs, or that can't be known
}

// document is what JSON has of it, whose lists are never null; nil if it says nothing.
func (c *Code) document() *Code {
	if c == nil || len(c.Same)+len(c.Reached) == 0 && c.Unknown == "" {
		return nil
	}
	d := *c
	d.Same, d.Reached, d.Unreached = append([]Benchmark{}, c.Same...), append([]Reached{}, c.Reached...), append([]string{}, c.Unreached...)
	return &d
}

// Settled are the benchmarks that need no measurement.
func (c *Code) Settled() []Benchmark {
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

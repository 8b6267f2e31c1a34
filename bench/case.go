package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Metric is one value with its unit, such as {"nmse", 3.1e-9}.
type Metric struct {
	Unit  string
	Value float64
}

// A Case is one timed configuration: a name, what an operation costs, and how
// to bring it to life.
type Case struct {
	// Name is the benchmark's name without the prefix "Benchmark", in the Go
	// benchmark format's own form:
	// MatVec/format=q1_0_g128/variant=avx2/rows=6144/cols=2048/cache=cold.
	// It is unique in its suite and does not end in -digits, which readers
	// would take for GOMAXPROCS.
	Name string

	// Group names the cases that live at the same time: they are set up
	// together, interleaved in the same rounds, and closed together before the
	// next group begins. Only cases of one group are compared fairly.
	Group string

	Bytes int64 // weight bytes that one operation reads; 0 if it has none
	Ops   int64 // multiply-adds in one operation; 0 if they don't matter

	// Rates are further amounts per operation, reported per second:
	// {"tok/s", 64} for an operation that produces 64 tokens.
	Rates []Metric

	// Metrics are values known without timing, such as packed-B. Those whose
	// unit is Exact accompany every sample; the others were measured once and
	// accompany the first sample only, so that no reader counts one
	// measurement as many.
	Metrics []Metric

	// Roof names the case of the same group whose bytes per second are the
	// ceiling of this one's: the divisor of %roof.
	Roof string

	// Ceiling says that this case measures the machine and not a kernel: its
	// Bytes are reported as read-B/s, and it is never doubled as the A/A pair.
	Ceiling bool

	// Setup prepares the case. Data that several cases of a group share is the
	// caller's affair, as is freeing it with the last Close.
	Setup func(ctx context.Context) (Instance, error)
}

// An Instance is a case that is set up. Its methods are called from one
// goroutine at a time.
type Instance interface {
	// Verify compares the case's result with the reference and returns the
	// errors that it measured (nmse, max-abs-err). A non-nil error means that
	// the result is wrong: the case is reported so, and never timed.
	Verify(ctx context.Context) ([]Metric, error)

	// Run performs n operations. A case measured with a cold cache rotates
	// over its matrices here.
	Run(n int)

	// Close frees what Setup made.
	Close() error
}

// A Setting is one key and value of the results file's header.
type Setting struct{ Key, Value string }

// A Suite is the cases of a run, and what the header says about its machine.
type Suite struct {
	Settings []Setting
	Cases    []Case

	// Doubts, if not nil, returns what the results should be read with. It is
	// asked at the start and after each group; each distinct text becomes one
	// warning.
	Doubts func() []string
}

// validate reports the first case or setting that the results file could not
// hold or the runner could not time.
func (s Suite) validate() error {
	if len(s.Cases) == 0 {
		return errors.New("bench: the suite has no cases")
	}
	keys := make(map[string]bool, len(s.Settings))
	for _, set := range s.Settings {
		if !validSettingKey(set.Key) {
			return fmt.Errorf("bench: setting %q: a key is lower case without spaces or colons", set.Key)
		}
		if keys[set.Key] {
			return fmt.Errorf("bench: setting %q is given twice", set.Key)
		}
		keys[set.Key] = true
	}
	group := make(map[string]string, len(s.Cases))
	for _, c := range s.Cases {
		if err := c.validate(); err != nil {
			return err
		}
		if _, dup := group[c.Name]; dup {
			return fmt.Errorf("bench: case %s: the name is used twice", c.Name)
		}
		group[c.Name] = c.Group
	}
	for _, c := range s.Cases {
		if g, ok := group[c.Roof]; c.Roof != "" && (!ok || g != c.Group) {
			return fmt.Errorf("bench: case %s: its roof %s is not in group %q", c.Name, c.Roof, c.Group)
		}
	}
	return nil
}

func (c Case) validate() error {
	switch {
	case c.Name == "":
		return errors.New("bench: a case has no name")
	case strings.ContainsFunc(c.Name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return fmt.Errorf("bench: case %q: the name contains white space", c.Name)
	case ParseName(c.Name).Full != c.Name:
		return fmt.Errorf("bench: case %s: a name that ends in -digits reads as GOMAXPROCS", c.Name)
	case c.Setup == nil:
		return fmt.Errorf("bench: case %s: no Setup", c.Name)
	case c.Bytes < 0 || c.Ops < 0:
		return fmt.Errorf("bench: case %s: negative bytes or operations", c.Name)
	}
	if err := finite(slices.Concat(c.Metrics, c.Rates)); err != nil {
		return fmt.Errorf("bench: case %s: %w", c.Name, err)
	}
	return nil
}

func validSettingKey(key string) bool {
	if key == "" || !unicode.IsLower([]rune(key)[0]) {
		return false
	}
	return !strings.ContainsFunc(key, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsUpper(r) || unicode.IsControl(r) || r == ':'
	})
}

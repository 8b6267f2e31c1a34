package reports

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/gate"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/doc"
)

// A Kind is a kind of report: a file of this package that registers it. It recognises results as its own, and builds
// the document that every printer prints.
type Kind struct {
	Name      string
	Recognise func(*Source) bool
	Build     func(context.Context, *Source) (*doc.Document, error)
}

// A Source is the results that one report is about.
type Source struct {
	Paths    []string       // of the files, as they were named
	Machines []*results.Set // each has the results of one machine
	Warnings []string       // about the files
	Top      int            // variants of a setting that a terminal shows; 0 means some, negative all
}

// KindKey is the setting that names the kind of a results file whose samples do not tell it.
const KindKey = "report"

// Kind is the kind that a results file names; "" for one that names none, and for several.
func (s *Source) Kind() string {
	if len(s.Machines) != 1 || len(s.Paths) > 1 {
		return ""
	}
	return s.Machines[0].Setting(KindKey)
}

// Empty reports whether there are no measurements, and nothing else that a kind knows to show.
func (s *Source) Empty() bool {
	first := s.Machines[0]
	return len(first.Samples)+len(first.Failures) == 0 && s.Kind() == "" && !gate.IsResults(first)
}

// IsMachine reports whether results are those of onebit machine.
func IsMachine(res *results.Set) bool {
	for _, s := range res.Samples {
		if !names.IsMachine(s.Name) {
			return false
		}
	}
	return len(res.Samples) > 0
}

var kindRegistry []Kind

// Register adds a kind; the init function of its file calls it.
func Register(k Kind) { kindRegistry = append(kindRegistry, k) }

// Kinds lists the kinds.
func Kinds() []Kind { return slices.Clone(kindRegistry) }

// Build makes the document of results, by the kind that recognises them.
func Build(ctx context.Context, s *Source) (*doc.Document, error) {
	i := slices.IndexFunc(kindRegistry, func(k Kind) bool { return k.Recognise(s) })
	if i < 0 {
		return nil, fmt.Errorf("%s: no measurements; give a results.txt of onebit bench", strings.Join(s.Paths, ", "))
	}
	d, err := kindRegistry[i].Build(ctx, s)
	if err != nil {
		return nil, err
	}
	return d.NameParts(), nil
}

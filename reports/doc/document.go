package doc

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"math"
	"strings"

	"onebit/internal/term"
	"onebit/reports/figure"
)

// A Document is a report before it is printed.
type Document struct {
	Title, Subtitle string
	First           []First   // what a reader with five seconds sees; one for each subject
	Grave           []string  // what may change what the first screen says
	Failures        []Failure // what was wrong, and so not measured
	Doubts          []Doubt   // warnings, each a sentence
	Remarks         []string  // what holds for all of it: the noise floor, what could not be told
	Sections        []*Section
	Words           []Word // that its texts use; a printer explains those that it meets
	Choice          Choice

	Data    any    // what JSON prints
	Records Lines  // what CSV prints
	Samples Lines  // the same of each sample; nil where there are none
	Files   []File // that lie beside the page
}

// Lines hands over lines of values, unrounded, the names of the columns first.
type Lines func(line func(values ...string))

// WriteCSV writes the lines.
func (l Lines) WriteCSV(w io.Writer) error {
	if l == nil {
		return errors.New("this report has no values of that kind")
	}
	out := csv.NewWriter(w)
	l(func(values ...string) { _ = out.Write(values) }) // an error lasts
	out.Flush()
	return out.Error()
}

// A First is what decides: all but the sentence may be lacking.
type First struct {
	Verdict          string // a sentence with a verb
	Number, NumberOf string // one number, and what that is of
	Why              string // why that is so
	Next             Command
	Table            *Table // the ranking
}

// NumberText is the number and what it is of, in a line.
func (f First) NumberText() string {
	if text := strings.TrimSpace(f.Number + " " + f.NumberOf); text != "" {
		return text + "."
	}
	return ""
}

// A Choice is which panels a page shows until a reader chooses others. It shows all where there is no script.
type Choice struct{ Threads, Cache, Shape string }

// A Command is a command line, and what it does in words that follow it.
type Command struct{ Line, Does string }

// A Failure is a case that gave a wrong result.
type Failure struct{ Name, Reason string }

// A Doubt is one warning, or several that differ in their numbers and groups alone.
type Doubt struct {
	Text string   // what they say, in a sentence
	All  []string // the warnings that Text stands for; none if it stands for itself
}

// A Word is a word or a sign that is explained where it first stands.
type Word struct {
	Text, About string
	Sign        bool // whether it stands behind a number, and is explained below tables
}

// A File lies beside the page.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// A Section is a part of a document below a heading.
type Section struct {
	ID, Heading string
	Folded      bool // whether a page shows the heading alone until asked
	Only        Medium
	Parts       []Part
}

// A Medium is where something is shown; several are added up. 0 is everywhere.
type Medium int

// The media.
const (
	Page Medium = 1 << iota
	Markdown
	Terminal
)

// In reports whether a medium is among them.
func (m Medium) In(one Medium) bool { return m == 0 || m&one != 0 }

// A Part is one of *Section, *Table, *Figure, Text, List, Facts, Code and *Timeline.
type Part interface{ part() }

// A Text is a paragraph.
type Text struct {
	Words string
	Muted bool // whether it can be passed over
	Lead  bool // whether it sums up what follows
}

// A List is short sentences.
type List []string

// Facts are names with their values, such as a machine's.
type Facts struct {
	List []Fact
	Wide bool // whether values are sentences
}

// A Fact is a name and a value.
type Fact struct{ Name, Value string }

// A Code is text to be copied, such as a command line.
type Code string

// A Figure is a drawing, and what a reader may choose it by.
type Figure struct {
	*figure.Figure
	Folded bool // whether a page shows the heading alone until asked
}

// A Timeline is rows of spans for a script to draw, such as what threads did over time: of each span start and length in
// ns, kind, which has a colour, and name, and so on.
type Timeline struct {
	About  string    `json:"-"`
	Length int64     `json:"length"`
	Kinds  []string  `json:"kinds"` // none if colours only tell neighbours apart
	Names  []string  `json:"names"`
	Rows   [][]int64 `json:"rows"`
	Plain  bool      `json:"plain"` // whether rows have no numbers
}

func (*Section) part()  {}
func (*Table) part()    {}
func (*Figure) part()   {}
func (Text) part()      {}
func (List) part()      {}
func (Facts) part()     {}
func (Code) part()      {}
func (*Timeline) part() {}

// Add appends the parts that show something.
func (s *Section) Add(parts ...Part) *Section {
	for _, p := range parts {
		if !empty(p) {
			s.Parts = append(s.Parts, p)
		}
	}
	return s
}

// empty reports whether a part shows nothing.
func empty(p Part) bool {
	switch p := p.(type) {
	case nil:
		return true
	case *Table:
		return p == nil || len(p.Rows) == 0
	case *Figure:
		return p == nil || p.Figure == nil
	case Text:
		return p.Words == ""
	case Code:
		return p == ""
	case List:
		return len(p) == 0
	case *Section:
		return p == nil || len(p.Parts) == 0
	case Facts:
		return len(p.List) == 0
	}
	return false
}

// Add appends sections that hold something.
func (d *Document) Add(sections ...*Section) {
	for _, s := range sections {
		if s != nil && len(s.Parts) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
}

// All walks all parts, those of a section behind it.
func (d *Document) All() iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for _, f := range d.First {
			if f.Table != nil && !yield(f.Table) {
				return
			}
		}
		for _, s := range d.Sections {
			if !s.all(yield) {
				return
			}
		}
	}
}

func (s *Section) all(yield func(Part) bool) bool {
	if !yield(s) {
		return false
	}
	for _, p := range s.Parts {
		if sub, ok := p.(*Section); ok {
			if !sub.all(yield) {
				return false
			}
		} else if !yield(p) {
			return false
		}
	}
	return true
}

// Figures are all figures, in their order.
func (d *Document) Figures() []*Figure {
	var all []*Figure
	for p := range d.All() {
		if f, ok := p.(*Figure); ok {
			all = append(all, f)
		}
	}
	return all
}

// NameParts gives every section, table and figure a name of its own: names that come from a results file may be alike.
func (d *Document) NameParts() *Document {
	ids, files := make(term.FileNames), make(term.FileNames)
	for p := range d.All() {
		switch p := p.(type) {
		case *Section:
			if p.ID == "" {
				p.ID = term.FileName(p.Heading)
			}
			p.ID = ids.Unique(p.ID)
		case *Table:
			if p.ID != "" {
				p.ID = ids.Unique(p.ID)
			}
		case *Figure:
			if p.Name != "" {
				p.Name = files.Unique(p.Name)
			}
		}
	}
	return d
}

// Sentence begins with a capital letter, unless a name with digits or underscores stands there, and ends with a stop.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	if first, _, _ := strings.Cut(s, " "); strings.ContainsAny(first, "0123456789_") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Number is nil for what JSON has no number for.
func Number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

package reports

import (
	"context"
	"io"
	"strings"

	"onebit/bench/results"
	"onebit/internal/ctxio"
)

// sheets are those that compare the machines.
func (f *fleet) sheets() []*sheet {
	var all []*sheet
	for _, s := range []*sheet{f.bestSheet(), f.codeSheet(), f.machinesSheet()} {
		if len(s.Rows) > 0 && len(s.Columns) > 1 {
			all = append(all, s)
		}
	}
	return all
}

// writeFleetMarkdown writes what compares the machines, every case side by side, and what each is.
func writeFleetMarkdown(w io.Writer, f *fleet) error {
	var b strings.Builder
	b.WriteString("# " + markdown(f.title()) + "\n\n" + markdown(f.subtitle()) + "\n\n**" + markdown(f.advice()) + "**\n\n")
	for _, text := range f.grave() {
		b.WriteString("**" + markdown(text) + "**\n\n")
	}
	for _, s := range f.sheets() {
		s.writeMarkdown(&b)
	}
	writeMarkdownProblems(&b, f.problemsHeading(), f.failures(), f.doubts())
	f.writeMarkdownCases(&b)
	b.WriteString("## Machines and noise\n\n" + markdown(f.noiseLine()) + "\n")
	for _, m := range f.members {
		writeMarkdownFold(&b, markdown(m.heading()), func() {
			b.WriteString(markdown(m.noiseText()) + "\n\n")
			for _, s := range m.environment() {
				b.WriteString("- " + markdown(s.Name) + ": " + markdown(s.Value) + "\n")
			}
		})
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMarkdownCases writes the matrix of cases and machines.
func (f *fleet) writeMarkdownCases(b *strings.Builder) {
	m := f.pageMatrix()
	for _, part := range m.Parts {
		writeMarkdownFold(b, markdown(part.Label), func() {
			b.WriteString(markdown(part.Caption) + "\n\n")
			writeMarkdownRow(b, append([]string{part.RowTitle}, m.Columns...))
			writeMarkdownRule(b, 1+len(m.Columns), 1+len(m.Columns))
			for _, r := range part.Rows {
				row := []string{strings.TrimSpace(r.Subject + ", " + r.Shape)}
				for _, c := range r.Cells {
					row = append(row, c.text())
				}
				writeMarkdownRow(b, row)
			}
		})
	}
}

// text is a cell in one line.
func (c pageCell) text() string {
	if c.Winner == "" {
		return c.Missing
	}
	text := strings.TrimSpace(c.Winner + " " + c.Time)
	if c.Roof != "" {
		text += ", " + c.Roof
	}
	if c.Ties != "" {
		text += ", tied: " + c.Ties
	}
	return text
}

// writeFleetTable writes the comparison for a terminal.
func writeFleetTable(w io.Writer, f *fleet) error { return f.writeTable(w, 0) }

// WriteFleetTable renders the kind table in lines of a width, where they can be broken; 0 is any.
func WriteFleetTable(ctx context.Context, w io.Writer, res *results.Fleet, width int) error {
	w = ctxio.NewWriter(ctx, w)
	if len(res.Machines) == 1 {
		return WriteTable(w, oneMachine(res), TableOptions{Width: width})
	}
	return newFleet(res).writeTable(w, width)
}

// writeTable writes machines side by side, as the best of each and as shares of each, and what was wrong or
// doubtful, in lines of a width; 0 is any.
func (f *fleet) writeTable(w io.Writer, width int) error {
	var b strings.Builder
	writeWrapped(&b, "", f.advice(), width)
	for _, s := range f.sheets() {
		b.WriteByte('\n')
		writeWrapped(&b, "", s.Heading+":", width)
		writeAligned(&b, s.textColumns(), width)
	}
	b.WriteByte('\n')
	for _, text := range []string{signsText(b.String()), legend(b.String()), f.noiseLine()} {
		if text != "" {
			writeWrapped(&b, "", text, width)
		}
	}
	for _, failure := range f.failures() {
		writeWrapped(&b, "WRONG, not timed: ", failure.Name.Full+": "+strings.ReplaceAll(failure.Reason, "\n", "; "), width)
	}
	for _, d := range f.doubts() {
		writeWrapped(&b, "warning: ", d.Text, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type jsonFleet struct {
	Advice   string        `json:"advice"` // what the first screen says
	Machines []jsonMachine `json:"machines"`
	Work     []jsonWork    `json:"work"`
	Warnings []string      `json:"warnings"` // about the files, and what machines differ in
}

type jsonMachine struct {
	Name     string      `json:"name"`
	Emulated bool        `json:"emulated"` // ranked with none
	Results  jsonResults `json:"results"`
}

// jsonWork is what each machine makes of one kind of work.
type jsonWork struct {
	Base    string      `json:"base"`
	Subject string      `json:"subject"` // a format, or a model and a test
	Shapes  []string    `json:"shapes"`  // that the times are a geometric mean over
	Places  []jsonPlace `json:"machines"`
}

type jsonPlace struct {
	Machine  string               `json:"machine"`
	Status   string               `json:"status"` // timed, or why not
	Threads  string               `json:"threads,omitempty"`
	Cache    string               `json:"cache,omitempty"`
	Best     string               `json:"best,omitempty"` // variant
	Ns       float64              `json:"ns,omitempty"`
	Fastest  bool                 `json:"fastest"` // no machine can be told to be faster
	Variants map[string]jsonShare `json:"variants,omitempty"`
}

// jsonShare is what a variant reaches of its machine, and which side of the roofline bounds it.
type jsonShare struct {
	Percent float64 `json:"percent"`
	Of      string  `json:"of"`
}

// writeFleetJSON writes one document of all machines' own and of what compares them.
func writeFleetJSON(w io.Writer, f *fleet) error {
	doc := jsonFleet{Advice: f.advice(), Work: []jsonWork{}, Warnings: append(append([]string{}, f.warnings...), f.unlike()...)}
	for _, m := range f.members {
		doc.Machines = append(doc.Machines, jsonMachine{m.name, m.emulated(), jsonOf(m.digest)})
	}
	for _, l := range f.lineups {
		doc.Work = append(doc.Work, l.json())
	}
	return writeIndented(w, doc)
}

func (l *lineup) json() jsonWork {
	work := jsonWork{Base: l.base, Subject: l.subject, Shapes: append([]string{}, l.shapes...)}
	level := l.level()
	for _, p := range l.places {
		place := jsonPlace{Machine: p.member.name, Status: p.missing}
		if p.missing == "" {
			place = jsonPlace{
				Machine: p.member.name, Status: "timed", Threads: p.panel.threads, Cache: p.panel.cache, Best: p.contender, Ns: p.ns,
				Variants: make(map[string]jsonShare),
			}
			for _, q := range level {
				place.Fastest = place.Fastest || q == p
			}
			for _, name := range rivals(p.over) {
				if s, ok := p.share(name); ok {
					place.Variants[name] = jsonShare{s.percent, s.of}
				}
			}
		}
		work.Places = append(work.Places, place)
	}
	return work
}

// Package site makes the page of results that others have shared, with their files beside it.
package site

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/fleet"
	"onebit/reports/share"
	"onebit/reports/words"
)

// A site is a fleet of machines that strangers shared. Its page is an index: a CPU has a row, of the best of its files,
// for nothing is averaged over machines.
type site struct {
	*fleet.Fleet
	files map[*results.Set]string // beside the page
	cpus  []*siteCPU
}

// A siteCPU is the files of one kind of CPU, with as many of its CPUs in use.
type siteCPU struct {
	name    string
	kind    string // how many are in use, and the platform
	members []*digest.Member
}

// A File is results on their way to a site.
type File struct {
	Path    string // where they were found
	Results *results.Set
}

// A LeftOut is a file that a site does not take, and why.
type LeftOut struct{ Path, Why string }

// Folder is where a site's files lie beside its page.
const Folder = "files"

// Document makes the page of results that were shared, whole results among them, with their files beside it. It takes those
// that pass share.Check and are no copy of one before, adds the others to those that were left out before, and names
// them on the page.
func Document(files []File, before []LeftOut) (d *doc.Document, out []LeftOut, err error) {
	s := &site{files: make(map[*results.Set]string)}
	found := new(reports.Source)
	taken := make(map[string]string) // the path of a name
	out = before
	for _, f := range files {
		shared, err := share.Condense(f.Results)
		if err == nil {
			err = share.Check(shared)
		}
		if err != nil {
			out = append(out, LeftOut{f.Path, err.Error()})
			continue
		}
		name := share.Name(shared)
		if first, twice := taken[name]; twice {
			out = append(out, LeftOut{f.Path, "it holds the measurements of " + first})
			continue
		}
		taken[name], s.files[shared] = f.Path, Folder+"/"+name
		found.Machines = append(found.Machines, shared)
	}
	if len(found.Machines) == 0 {
		return nil, out, fmt.Errorf("none of %s can stand on a site", count.Of(len(out), "file"))
	}
	s.Fleet = fleet.New(found)
	s.groupByCPU()
	return s.document(out), out, nil
}

func (s *site) groupByCPU() {
	byMachine := make(map[results.Machine]*siteCPU)
	for _, m := range s.Real() {
		kind := m.Machine
		kind.Host, kind.Memory = "", ""
		c := byMachine[kind]
		if c == nil {
			c = &siteCPU{name: m.Machine.CPU, kind: cpusText(m.Machine.CPUs) + ", " + m.Machine.Platform}
			byMachine[kind] = c
			s.cpus = append(s.cpus, c)
		}
		c.members = append(c.members, m)
	}
	slices.SortStableFunc(s.cpus, func(a, b *siteCPU) int { return cmp.Or(words.Compare(a.name, b.name), words.Compare(a.kind, b.kind)) })
}

func cpusText(n string) string {
	if n == "1" {
		return "1 CPU"
	}
	return cmp.Or(n, "?") + " CPUs"
}

// best is the fastest of a CPU's files at some work; nil if none has it.
func (c *siteCPU) best(l *fleet.Work) *fleet.Place {
	var best *fleet.Place
	for _, m := range c.members {
		if p := l.PlaceOf(m); p.Missing == "" && (best == nil || p.Ns < best.Ns) {
			best = p
		}
	}
	return best
}

// products are the works of formats, and decoding that of each model that makes text.
func (s *site) products() []*fleet.Work { return s.worksOf(names.BaseMatVec) }

func (s *site) models() []*fleet.Work { return s.worksOf(names.BaseModel) }

func (s *site) worksOf(base string) []*fleet.Work {
	return slices.DeleteFunc(slices.Clone(s.Works), func(l *fleet.Work) bool { return l.Base != base })
}

// decodes reports whether a work is to decode a model's text.
func decodes(l *fleet.Work) bool {
	i := slices.IndexFunc(l.Places, func(p *fleet.Place) bool { return p.Missing == "" })
	return i >= 0 && l.Base == names.BaseModel && l.Places[i].Over[0].Task.Kind == names.Decode
}

// A siteRow is a CPU with the best of its files at a kind of work.
type siteRow struct {
	cpu *siteCPU
	*fleet.Place
}

// weightRate is how many weights a format's products multiply a second, over the shapes.
func weightRate(p *fleet.Place) (float64, bool) {
	var weights []float64
	for _, s := range p.Over {
		weights = append(weights, s.Task.Ops)
	}
	mean, ok := words.Geomean(weights)
	return mean / p.Ns * 1e9, ok && p.Ns > 0
}

// perBandwidth is what a machine makes of each GB/s that it reads: tokens a second of a model or, of a format's
// products, of a model with a billion weights that did nothing else.
func perBandwidth(p *fleet.Place) (float64, bool) {
	reading, ok := p.Member.Reading()
	if !ok || reading <= 0 {
		return 0, false
	}
	if p.Cases[0].Name.Base == names.BaseMatVec {
		rate, known := weightRate(p)
		return rate / reading, known
	}
	rate, known := p.Cases[0].Center(results.TokenRate)
	return rate / reading * 1e9, known
}

// errorText is how wrong a variant is: of a product below its signal, of a model in nats.
func errorText(p *fleet.Place) string {
	c := p.Cases[0]
	if c.Name.Base == names.BaseMatVec {
		v, ok := p.Typical(results.NMSE)
		return words.If(ok, words.Decibels(v))
	}
	logits := p.Member.LogitsOf(c)
	if logits == nil {
		return ""
	}
	return words.If(digest.ValueOf(logits, results.KLD) != "", "kld "+digest.ValueOf(logits, results.KLD))
}

// firstFormat is the format whose products a CPU does fastest for their weights; nil if it has none.
func (s *site) firstFormat(c *siteCPU) *fleet.Place {
	var best *fleet.Place
	most := 0.0
	for _, l := range s.products() {
		if p := c.best(l); p != nil {
			if rate, ok := weightRate(p); ok && rate > most {
				best, most = p, rate
			}
		}
	}
	return best
}

// firstModel is the model that a CPU is shown by: the one that most files have, of those that it has.
func (s *site) firstModel(c *siteCPU) (*fleet.Work, *fleet.Place) {
	var of *fleet.Work
	var best *fleet.Place
	for _, l := range s.models() {
		if p := c.best(l); p != nil && decodes(l) && (of == nil || len(l.Ranked()) > len(of.Ranked())) {
			of, best = l, p
		}
	}
	return of, best
}

func (s *site) document(out []LeftOut) *doc.Document {
	d := &doc.Document{
		Title:    "onebit · " + count.Of(len(s.cpus), "CPU"),
		Subtitle: fmt.Sprintf("%s of results, measured by those who shared them", count.Of(len(s.Members), "file")),
		First:    []doc.First{{Verdict: s.verdict(), Why: "Look for your CPU by words of its name. A row has the best of a CPU's files, and leads to it."}, {Table: s.indexTable()}},
		Words:    slices.Concat(words.Signs, words.Vocabulary),
		Files:    s.beside(),
	}
	formats := &doc.Section{ID: "formats", Heading: "By format"}
	for _, l := range s.products() {
		formats.Add(s.workTable(l))
	}
	models := &doc.Section{ID: "models", Heading: "By model"}
	for _, l := range s.models() {
		models.Add(s.workTable(l))
	}
	d.Add(formats, models, s.filesSection(), s.emulatedSection(), leftOutSection(out), siteRules)
	return d
}

// verdict says which format is the fastest on most CPUs.
func (s *site) verdict() string {
	var order []string
	wins := make(map[string]int)
	variants := make(map[string]int)
	all := 0
	for _, c := range s.cpus {
		if p := s.firstFormat(c); p != nil {
			all++
			if wins[p.Subject]++; wins[p.Subject] == 1 {
				order = append(order, p.Subject)
			}
			variants[p.Subject+" "+p.Variant]++
		}
	}
	if all == 0 {
		return fmt.Sprintf("%s of models are here, and none of formats", count.Of(len(s.Members), "file"))
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(wins[b], wins[a]) })
	text := fmt.Sprintf("%s multiplies the most weights a second on %d of %s", order[0], wins[order[0]], count.Of(all, "CPU"))
	for _, other := range order[1:min(len(order), 3)] {
		text += fmt.Sprintf(", %s on %d", other, wins[other])
	}
	return text + "."
}

// linked is a cell that leads to the file of its figures.
func (s *site) linked(m *digest.Member, c doc.Cell) doc.Cell {
	c.Link = s.files[m.Results]
	return c
}

// indexTable has a row for each CPU.
func (s *site) indexTable() *doc.Table {
	rate := func(p *fleet.Place) string {
		v, ok := perBandwidth(p)
		return words.If(ok, count.Significant(v))
	}
	format := func(cell func(*fleet.Place) doc.Cell) func(*siteCPU) doc.Cell {
		return func(c *siteCPU) doc.Cell {
			if p := s.firstFormat(c); p != nil {
				return cell(p)
			}
			return doc.Cell{}
		}
	}
	model := func(cell func(*fleet.Work, *fleet.Place) doc.Cell) func(*siteCPU) doc.Cell {
		return func(c *siteCPU) doc.Cell {
			if l, p := s.firstModel(c); p != nil {
				return cell(l, p)
			}
			return doc.Cell{}
		}
	}
	caption := "Per GB/s: tok/s for each GB/s that the same machine read from memory; a format's are those of a billion weights."
	t := words.NewTable("cpus", "By CPU", caption, s.cpus, []doc.Field[*siteCPU]{
		{Label: "CPU", Text: true, Cell: func(c *siteCPU) doc.Cell { return doc.Cell{Text: c.name} }},
		{Label: "best format", Text: true, Cell: format(func(p *fleet.Place) doc.Cell { return s.linked(p.Member, doc.Cell{Text: p.Subject}) })},
		{Label: "per GB/s", About: "tok/s of a billion weights", Cell: format(func(p *fleet.Place) doc.Cell { return doc.Cell{Text: rate(p)} })},
		{Label: "error", Cell: format(func(p *fleet.Place) doc.Cell { return doc.Cell{Text: errorText(p)} })},
		{Label: "by", About: "the variant that is the fastest", Text: true, Cell: format(func(p *fleet.Place) doc.Cell {
			return doc.Cell{Text: p.Variant, Mark: doc.MarkOf(p.Member.Marks[p.Variant])}
		})},
		{Label: "model", Text: true, Cell: model(func(l *fleet.Work, p *fleet.Place) doc.Cell { return s.linked(p.Member, doc.Cell{Text: l.Subject}) })},
		{Label: "tok/s", Cell: model(func(_ *fleet.Work, p *fleet.Place) doc.Cell { return s.speedCell(p) })},
		{Label: "per GB/s", About: "tok/s of this model", Cell: model(func(_ *fleet.Work, p *fleet.Place) doc.Cell { return doc.Cell{Text: rate(p)} })},
		{Label: "error", Cell: model(func(_ *fleet.Work, p *fleet.Place) doc.Cell { return doc.Cell{Text: errorText(p)} })},
		{Label: "by", Text: true, Cell: model(func(_ *fleet.Work, p *fleet.Place) doc.Cell { return doc.Cell{Text: p.Variant} })},
		{Label: "machine", Text: true, Cell: func(c *siteCPU) doc.Cell {
			return doc.Cell{Text: c.kind + words.If(len(c.members) > 1, fmt.Sprintf(", best of %d files", len(c.members)))}
		}},
	})
	t.Sortable = true
	return t
}

// speedCell is a place's speed with its interval.
func (s *site) speedCell(p *fleet.Place) doc.Cell {
	return doc.Cell{Text: p.Speed(), Remark: p.Cases[0].Stats[results.NsPerOp].SpreadText(results.NsPerOp)}
}

// workTable has a row for each CPU that did a kind of work, fastest first.
func (s *site) workTable(l *fleet.Work) *doc.Table {
	var rows []siteRow
	for _, c := range s.cpus {
		if p := c.best(l); p != nil {
			rows = append(rows, siteRow{c, p})
		}
	}
	slices.SortStableFunc(rows, func(a, b siteRow) int { return cmp.Compare(a.Ns, b.Ns) })
	speed := "tok/s"
	caption := "The time is of one pass over the prompt, or of the tokens that are made."
	if l.Base == names.BaseMatVec {
		speed, caption = "time", "Time for "+strings.Join(l.Shapes, ", ")+words.If(len(l.Shapes) > 1, ", a geometric mean")+", with all threads and, where that was measured, a cold cache."
	}
	t := words.NewTable("work-"+l.Subject, l.Title(), caption, rows, []doc.Field[siteRow]{
		{Label: "CPU", Text: true, Cell: func(r siteRow) doc.Cell {
			return s.linked(r.Member, doc.Cell{Text: r.cpu.name, Remark: r.cpu.kind})
		}},
		{Label: names.Variant, Text: true, Cell: func(r siteRow) doc.Cell {
			return doc.Cell{Text: r.Cases[0].ByScheme(), Mark: doc.MarkOf(r.Member.Marks[r.Variant])}
		}},
		{Label: speed, Cell: func(r siteRow) doc.Cell { return s.speedCell(r.Place) }},
		{Label: "tok/s per GB/s", Cell: func(r siteRow) doc.Cell {
			v, ok := perBandwidth(r.Place)
			return doc.Cell{Text: words.If(ok && (l.Base == names.BaseMatVec || decodes(l)), count.Significant(v))}
		}},
		{Label: "of its roofline", Cell: func(r siteRow) doc.Cell {
			share, ok := r.Share(r.Variant)
			return doc.Cell{Text: words.If(ok, share.Text())}
		}},
		{Label: "error", Cell: func(r siteRow) doc.Cell { return doc.Cell{Text: errorText(r.Place)} }},
		{Label: "memory", Cell: func(r siteRow) doc.Cell {
			return doc.Cell{Text: words.If(l.Base == names.BaseModel, digest.ValueOf(r.Cases[0], results.PeakRSS))}
		}},
	})
	t.Sortable, t.Folded = true, true
	return t
}

// filesSection lists every file, with the command that repeats it.
func (s *site) filesSection() *doc.Section {
	setting := func(key string) func(*digest.Member) doc.Cell {
		return func(m *digest.Member) doc.Cell { return doc.Cell{Text: m.Results.Setting(key)} }
	}
	t := words.NewTable("files", "", "A file has the machine, its ceilings, medians with their intervals, errors and warnings. The command repeats it.", s.Members, []doc.Field[*digest.Member]{
		{Label: "machine", Text: true, Cell: func(m *digest.Member) doc.Cell { return s.linked(m, doc.Cell{Text: m.Heading()}) }},
		{Label: "reading", About: "bytes read per second from memory", Cell: func(m *digest.Member) doc.Cell {
			v, ok := m.Reading()
			return doc.Cell{Text: words.If(ok && !m.Emulated(), results.UnitOf(results.ReadRate).Format(v))}
		}},
		{Label: "measured", Text: true, Cell: setting("started")},
		{Label: "commit", Text: true, Cell: setting("commit")},
		{Label: "command", Text: true, Cell: setting("command")},
	})
	t.Sortable, t.Records = true, true
	return (&doc.Section{ID: "all-files", Heading: "Files"}).Add(t)
}

// emulatedSection has the errors that emulated machines found: they have no speed.
func (s *site) emulatedSection() *doc.Section {
	section := &doc.Section{ID: "emulated", Heading: "Emulated machines"}
	emulated := s.Members[len(s.Real()):]
	if len(emulated) == 0 {
		return nil
	}
	t := words.NewTable("emulated-errors", "", "", emulated, []doc.Field[*digest.Member]{
		{Label: "machine", Text: true, Cell: func(m *digest.Member) doc.Cell { return s.linked(m, doc.Cell{Text: m.Name}) }},
		{Label: "emulator", Text: true, Cell: func(m *digest.Member) doc.Cell { return doc.Cell{Text: m.Machine.Emulator} }},
		{Label: "largest error", Cell: func(m *digest.Member) doc.Cell {
			most := math.Inf(-1)
			for _, c := range m.Cases {
				if e, ok := c.Center(results.NMSE); ok {
					most = max(most, e)
				}
			}
			return doc.Cell{Text: words.If(!math.IsInf(most, -1), words.Decibels(most))}
		}},
	})
	return section.Add(doc.Text{Words: "They say how wrong the variants are, and nothing about speed."}, t)
}

// mostLeftOut is how many files that were left out a page names.
const mostLeftOut = 200

func leftOutSection(out []LeftOut) *doc.Section {
	shown := out[:min(len(out), mostLeftOut)]
	caption := words.If(len(shown) < len(out), fmt.Sprintf("The first %d of %d.", len(shown), len(out)))
	t := words.NewTable("left-out", "", caption, shown, []doc.Field[LeftOut]{
		{Label: "file", Text: true, Cell: func(f LeftOut) doc.Cell { return doc.Cell{Text: f.Path} }},
		{Label: "why", Text: true, Cell: func(f LeftOut) doc.Cell { return doc.Cell{Text: f.Why} }},
	})
	return (&doc.Section{ID: "left-out-section", Heading: "Left out", Folded: true}).Add(t)
}

var siteRules = (&doc.Section{ID: "rules", Heading: "How figures come here"}).Add(doc.List{
	"onebit bench measures, onebit share makes a small file of it, and its owner sends it.",
	"A file stands here if it parses, names its CPU, says what the machine reads at most, has nothing faster than that, and is no copy.",
	"Files of emulated machines stand apart. Nobody has checked that a file tells the truth: repeat what matters with its command.",
})

// beside are the files, as a reader can take them.
func (s *site) beside() []doc.File {
	var all []doc.File
	for _, m := range s.Members {
		all = append(all, doc.File{Name: s.files[m.Results], Write: func(w io.Writer) error { return share.Write(w, m.Results) }})
	}
	return all
}

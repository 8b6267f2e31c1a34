package reports

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

// json has all machines' own results, and what compares them.
func (f *fleet) json() jsonFleet {
	out := jsonFleet{Advice: f.advice(), Work: []jsonWork{}, Warnings: append(append([]string{}, f.warnings...), f.unlike()...)}
	for _, m := range f.members {
		out.Machines = append(out.Machines, jsonMachine{m.name, m.emulated(), jsonOf(m.digest)})
	}
	for _, l := range f.works {
		out.Work = append(out.Work, l.json())
	}
	return out
}

func (l *work) json() jsonWork {
	work := jsonWork{Base: l.base, Subject: l.subject, Shapes: append([]string{}, l.shapes...)}
	level := l.level()
	for _, p := range l.places {
		place := jsonPlace{Machine: p.member.name, Status: p.missing}
		if p.missing == "" {
			place = jsonPlace{
				Machine: p.member.name, Status: "timed", Threads: p.panel.threads, Cache: p.panel.cache, Best: p.variant, Ns: p.ns,
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

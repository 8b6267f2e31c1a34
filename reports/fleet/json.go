package fleet

import (
	"onebit/reports/digest"
)

type jsonFleet struct {
	Advice   string               `json:"advice"` // what the first screen says
	Machines []digest.JSONMachine `json:"machines"`
	Work     []jsonWork           `json:"work"`
	Warnings []string             `json:"warnings"` // about the files, and what machines differ in
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
func (f *Fleet) json() jsonFleet {
	out := jsonFleet{Advice: f.advice(), Work: []jsonWork{}, Warnings: append(append([]string{}, f.warnings...), f.unlike()...)}
	for _, m := range f.Members {
		out.Machines = append(out.Machines, digest.JSONMachine{Name: m.Name, Emulated: m.Emulated(), Results: digest.JSONOf(m.Digest)})
	}
	for _, l := range f.Works {
		out.Work = append(out.Work, l.json())
	}
	return out
}

func (l *Work) json() jsonWork {
	work := jsonWork{Base: l.Base, Subject: l.Subject, Shapes: append([]string{}, l.Shapes...)}
	level := l.level()
	for _, p := range l.Places {
		place := jsonPlace{Machine: p.Member.Name, Status: p.Missing}
		if p.Missing == "" {
			place = jsonPlace{
				Machine: p.Member.Name, Status: "timed", Threads: p.panel.Threads, Cache: p.panel.Cache, Best: p.Variant, Ns: p.Ns,
				Variants: make(map[string]jsonShare),
			}
			for _, q := range level {
				place.Fastest = place.Fastest || q == p
			}
			for _, name := range digest.Rivals(p.Over) {
				if s, ok := p.Share(name); ok {
					place.Variants[name] = jsonShare{s.percent, s.of}
				}
			}
		}
		work.Places = append(work.Places, place)
	}
	return work
}

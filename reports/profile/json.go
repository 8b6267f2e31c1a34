package profile

import (
	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/reports/doc"
)

// A profileDocument is what --json prints. Times are in seconds.
type profileDocument struct {
	Model    string            `json:"model"`
	Variant  string            `json:"variant"`
	Act      string            `json:"act"`
	Packing  string            `json:"packing"`
	Arch     string            `json:"arch"`
	Threads  int               `json:"threads"`
	Blocks   int               `json:"blocks"`
	Types    []string          `json:"types"`
	Ceilings profileCeilings   `json:"ceilings"`
	Tests    []profileTestJSON `json:"tests"`
	WhatIfs  []profileWhatIf   `json:"what_ifs"`
	Memory   profileMemory     `json:"memory"`
	Warnings []string          `json:"warnings"`
	Missing  []string          `json:"not_counted,omitempty"`
}

type profileCeilings struct {
	Source   string         `json:"source"`
	Levels   []profileLevel `json:"levels"`
	Int8     float64        `json:"int8_macs_per_second,omitempty"`
	Float32  float64        `json:"float32_macs_per_second,omitempty"`
	Dispatch float64        `json:"dispatch"`
}

type profileLevel struct {
	Name  string  `json:"name"`
	Bytes int     `json:"bytes,omitempty"` // absent: holds anything
	Rate  float64 `json:"bytes_per_second"`
}

type profileMemory struct {
	Phases []profilePhase `json:"phases"`
	Why    string         `json:"not_known,omitempty"`
}

// A profilePhase has bytes at the end of a phase.
type profilePhase struct {
	Phase    string        `json:"phase"`
	Resident int64         `json:"resident"`
	Peak     int64         `json:"peak"`
	Owners   []profilePart `json:"owners"`
}

type profilePart struct {
	Owner    string `json:"owner"`
	Resident int64  `json:"resident"`
	Shared   int64  `json:"shared"`
	Reserved int64  `json:"reserved"`
}

func memoryJSON(m *profiles.Memory) profileMemory {
	out := profileMemory{Phases: []profilePhase{}, Why: m.Why}
	for _, phase := range m.Phases {
		p := profilePhase{Phase: phase.Name, Resident: phase.RSS, Peak: phase.Peak, Owners: []profilePart{}}
		for _, part := range phase.Parts {
			p.Owners = append(p.Owners, profilePart{part.Owner, part.Resident, part.Shared, part.Reserved})
		}
		out.Phases = append(out.Phases, p)
	}
	return out
}

// A profileWhatIf has changes of the time of a token, as a share of it.
type profileWhatIf struct {
	Name     string     `json:"name"`
	Believed jsonFigure `json:"believed"`
	Because  string     `json:"because"`
	Computed *float64   `json:"computed"` // null if it was refuted, too
	Measured jsonFigure `json:"measured"`
	Why      string     `json:"not_measured,omitempty"`
}

type profileTestJSON struct {
	Test       string             `json:"test"`
	Unit       string             `json:"unit"` // token or prompt
	Passes     int                `json:"passes"`
	Planned    int                `json:"planned"`
	Time       jsonFigure         `json:"time"`
	Rate       jsonFigure         `json:"tokens_per_second"`
	Overhead   jsonFigure         `json:"overhead"`
	Operations []profileOperation `json:"operations"`
	Threads    []map[string]any   `json:"threads"`
	// Counted has, by operation and unit, what was counted per token or prompt.
	Counted map[string]map[string]jsonFigure `json:"counted,omitempty"`
}

type profileOperation struct {
	Op         string               `json:"op"`
	Blocks     int                  `json:"blocks"`
	Time       jsonFigure           `json:"time"`
	Share      float64              `json:"share"`
	Bytes      float64              `json:"bytes"`
	Moved      float64              `json:"moved"`
	MACs       float64              `json:"macs"`
	Dispatches float64              `json:"dispatches"`
	Bound      string               `json:"bound,omitempty"`
	AtBound    float64              `json:"at_bound,omitempty"`
	Won        float64              `json:"could_be_won,omitempty"`
	Threads    []map[string]float64 `json:"threads"` // seconds; divide by dispatches for those of a dispatch
}

// A jsonFigure has no interval where there is none.
type jsonFigure struct {
	Center *float64 `json:"center"`
	Lo     *float64 `json:"lo,omitempty"`
	Hi     *float64 `json:"hi,omitempty"`
}

func figureJSON(f noise.Figure) jsonFigure {
	return jsonFigure{doc.Number(f.Center), doc.Number(f.Lo), doc.Number(f.Hi)}
}

func profileJSONOf(p *profiles.Profile, filter profiles.Filter) profileDocument {
	d := profileDocument{
		Model: p.Model, Variant: p.Variant, Act: p.Act, Packing: p.Packing, Arch: p.Arch, Threads: p.Threads, Blocks: p.Blocks,
		Types: p.Types, Memory: memoryJSON(&p.Memory), WhatIfs: []profileWhatIf{}, Tests: []profileTestJSON{}, Warnings: append([]string{}, p.Warnings...), Missing: p.NotCounted,
		Ceilings: profileCeilings{Source: p.Ceilings.Source, Int8: p.Ceilings.Int8, Float32: p.Ceilings.Float32, Dispatch: p.Ceilings.Dispatch.Seconds()},
	}
	for _, l := range p.Ceilings.Levels {
		d.Ceilings.Levels = append(d.Ceilings.Levels, profileLevel{l.Name, l.Bytes, l.Rate})
	}
	for _, x := range p.WhatIfs {
		what := profileWhatIf{x.Name, figureJSON(x.Believed()), x.Because(), doc.Number(x.Computed), figureJSON(x.Measured), x.Why}
		if x.Refuted() {
			what.Computed = nil
		}
		d.WhatIfs = append(d.WhatIfs, what)
	}
	for _, t := range p.Tests {
		d.Tests = append(d.Tests, testJSONOf(p, t, filter))
	}
	return d
}

func testJSONOf(p *profiles.Profile, t *profiles.Test, filter profiles.Filter) profileTestJSON {
	out := profileTestJSON{
		Test: t.String(), Unit: t.Unit(), Passes: len(t.Passes), Planned: p.Planned,
		Time: figureJSON(t.Time()), Rate: figureJSON(t.Rate()), Overhead: figureJSON(t.Overhead()), Operations: []profileOperation{},
	}
	for _, o := range t.Operations(&p.Ceilings, filter) {
		row := profileOperation{
			Op: o.Op, Blocks: o.Blocks, Time: figureJSON(o.Time), Share: o.Share, Bytes: o.PerUnit(o.Bytes), Moved: o.PerUnit(o.Moved),
			MACs: o.PerUnit(o.MACs), Dispatches: o.PerUnit(o.Dispatches), Bound: o.Bound.Name, AtBound: o.Bound.Seconds, Won: o.Won,
		}
		for _, activities := range o.Activities {
			thread := map[string]float64{}
			for a, s := range activities {
				thread[profiles.Activity(a).String()] = s
			}
			row.Threads = append(row.Threads, thread)
		}
		out.Operations = append(out.Operations, row)
	}
	for _, o := range t.Counted(filter) {
		if out.Counted == nil {
			out.Counted = map[string]map[string]jsonFigure{}
		}
		out.Counted[o.Op] = map[string]jsonFigure{}
		for unit, v := range o.Values {
			out.Counted[o.Op][unit] = figureJSON(v)
		}
	}
	for _, activities := range t.Activities(filter) {
		thread := map[string]any{}
		for a, s := range activities {
			thread[profiles.Activity(a).String()] = figureJSON(s)
		}
		out.Threads = append(out.Threads, thread)
	}
	return out
}

package models

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/sysinfo"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/forward"
)

// A Plan says what a model and sessions on it take of memory, before they do. Where its
// engine is no [engine.Planner], the figures of sessions are the default engine's, which
// others are near to.
type Plan struct {
	// Mapped is the bytes of weights that are multiplied where the file is mapped:
	// the system can drop their pages and read them again. Packed is those in
	// memory of their own, once all are packed.
	Mapped, Packed int64

	name    string
	model   Model          // without an engine, for dry runs
	planner engine.Planner // nil: no engine tells
}

// A Footprint is what a model and one session take, in bytes, once its context is
// full.
type Footprint struct {
	Mapped, Packed int64 // as Plan has them
	Cache          int64 // keys and values of Context tokens
	State          int64 // what blocks keep that has no positions, and a copy where it is marked
	Scratch        int64 // activations of a batch, and what attention works in

	Context int
	Format  *formats.Type // of keys and values

	positions int // that Cache is for: whole tiles
}

// TokenBytes is what a token adds.
func (f Footprint) TokenBytes() float64 { return float64(f.Cache) / float64(f.positions) }

// Total is all of it.
func (f Footprint) Total() int64 { return f.Mapped + f.Packed + f.session() }

func (f Footprint) session() int64 { return f.Cache + f.State + f.Scratch }

// String says it for people, in parts.
func (f Footprint) String() string {
	size := func(n int64) string { return sysinfo.Bytes(n).String() }
	var weights []string
	if f.Mapped > 0 {
		weights = append(weights, size(f.Mapped)+" in place")
	}
	if f.Packed > 0 || f.Mapped == 0 {
		weights = append(weights, size(f.Packed)+" packed")
	}
	parts := []string{"weights " + strings.Join(weights, " and ")}
	if f.Cache > 0 {
		parts = append(parts, fmt.Sprintf("keys and values %s in %s", size(f.Cache), f.Format.Name))
	}
	if f.State > 0 {
		parts = append(parts, "state "+size(f.State))
	}
	return strings.Join(append(parts, "scratch "+size(f.Scratch)), ", ")
}

// An Inventory is what a plan asks of a source, which need have no weights.
type Inventory interface {
	Name() string
	Config() (*arch.Table, arch.Config, error)
	Rotation() (*arch.Rotation, error)
	Tensors() []container.TensorInfo
	InPlace() bool
	Fault(tensor string, err error) error
}

// NewPlan plans for a source that would be loaded with these options. It reads no
// weights.
func NewPlan(src Inventory, opt Options) (*Plan, error) {
	table, c, err := src.Config()
	if err != nil {
		return nil, err
	}
	a := forward.Of(table)
	rotation, err := src.Rotation()
	if err != nil {
		return nil, err
	}
	opener, err := opt.opener()
	if err != nil {
		return nil, err
	}
	p := &Plan{name: src.Name(), model: Model{Config: c, Arch: a, rope: forward.NewRope(c, a.AdjacentPairs)}}
	planner, _ := opener.(engine.Planner)
	if p.planner = planner; planner == nil {
		other, _ := engine.Default() // without one nothing is planned
		p.planner, _ = other.(engine.Planner)
	}
	weights, err := p.addWeights(src, opt.Head, planner)
	if err == nil {
		p.model.bind(weights, forward.NewRotations(rotation))
	}
	return p, err
}

// addWeights adds them up, as the planner has them; nil: as they are in the file.
func (p *Plan) addWeights(src Inventory, head *formats.Type, planner engine.Planner) (all []engine.Weight, err error) {
	infos := map[string]container.TensorInfo{}
	for _, info := range src.Tensors() {
		infos[info.Name] = info
	}
	type bytes struct{ mapped, packed int64 }
	c := p.model.Config
	blocks := make([]bytes, c.Layers+1) // and what lies outside
	for _, r := range requests(p.model.Arch, c, head) {
		info, ok := infos[r.Tensor]
		if !ok || info.Type == nil {
			return nil, src.Fault(r.Tensor, errors.New("is missing, or of a type that onebit cannot decode"))
		}
		rows, cols := formats.Dims(info.Shape)
		w := plannedWeight{Tensor: info.Name, Rows: rows, Cols: cols, Type: info.Type}
		if r.Use == engine.Experts {
			w.Experts = c.Experts.Count
			w.Rows /= w.Experts
		}
		all = append(all, w)
		if planner == nil && r.Use != engine.Matrix && r.Use != engine.Experts {
			continue
		}
		mapped, packed := info.Size, int64(0)
		if planner != nil {
			t := formats.Tensor{Name: info.Name, Type: info.Type, Shape: info.Shape}
			if mapped, packed, err = planner.WeightBytes(r.Request, t, src.InPlace()); err != nil {
				return nil, src.Fault(r.Tensor, err)
			}
		}
		blocks[r.block].mapped += mapped
		blocks[r.block].packed += packed
	}
	if inside := blocks[:c.Layers]; planner != nil && planner.HoldsOneBlock() {
		largest := slices.MaxFunc(inside, func(a, b bytes) int { return cmp.Compare(a.mapped+a.packed, b.mapped+b.packed) })
		blocks = []bytes{blocks[c.Layers], largest}
	}
	for _, b := range blocks {
		p.Mapped += b.mapped
		p.Packed += b.packed
	}
	return all, nil
}

// Context is the model's.
func (p *Plan) Context() int { return p.model.Config.Context }

// Footprint returns what a session takes, and the weights.
func (p *Plan) Footprint(opt SessionOptions) (Footprint, error) {
	c := p.model.Config
	opt.setDefaults(c)
	if err := opt.check(c); err != nil {
		return Footprint{}, err
	}
	if p.planner == nil {
		return Footprint{}, errors.New("no engine tells what a session takes of memory")
	}
	b, err := p.planner.StreamBytes(p.model.streamOptions(opt), c.Heads/c.KVHeads)
	return Footprint{
		Mapped: p.Mapped, Packed: p.Packed, Cache: b.Cache, State: b.State, Scratch: b.Scratch + p.buffers(opt.Batch),
		Context: opt.Context, Format: opt.Cache, positions: b.Positions,
	}, err
}

// buffers is what the activations of a batch take, by a session that computes nothing.
func (p *Plan) buffers(batch int) int64 {
	var d dryRun
	s := p.model.newSession(&d)
	s.begin(make([]int, batch))
	s.blocks()
	s.head(0, min(batch, logitColumns))
	return d.bytes()
}

// A Fit is the largest context for a format of keys and values.
type Fit struct {
	Format  *formats.Type
	Context int
}

// Fits returns the largest contexts that memory of so many bytes has room for
// beside the weights, for each format that keys and values can be kept in, the
// most precise first: 0 where there is none.
func (p *Plan) Fits(memory int64, batch int) (fits []Fit) {
	if p.planner == nil {
		return nil
	}
	for _, format := range p.planner.CacheFormats() {
		tooLarge := func(context int) bool {
			f, err := p.Footprint(SessionOptions{Context: context + 1, Batch: batch, Cache: format})
			return err != nil || f.Total() > memory
		}
		if _, err := p.Footprint(SessionOptions{Context: 1, Cache: format}); err == nil {
			fits = append(fits, Fit{format, sort.Search(p.Context(), tooLarge)})
		}
	}
	bytes := func(f Fit) int64 {
		n, _ := p.Footprint(SessionOptions{Context: p.Context(), Cache: f.Format})
		return n.Cache
	}
	slices.SortFunc(fits, func(a, b Fit) int { return cmp.Compare(bytes(b), bytes(a)) })
	return fits
}

// Check returns a *MemoryError if a session takes more than memory, which is for
// the weights too.
func (p *Plan) Check(opt SessionOptions, memory int64) (Footprint, error) {
	f, err := p.Footprint(opt)
	if err == nil && f.Total() > memory {
		err = &MemoryError{File: p.name, Footprint: f, Memory: memory, Fits: p.Fits(memory, opt.Batch)}
	}
	return f, err
}

// A MemoryError says that a session would take more memory than there is.
type MemoryError struct {
	File      string
	Footprint Footprint
	Memory    int64 // that there is
	Fits      []Fit // what there is room for
}

func (e *MemoryError) Error() string {
	msg := fmt.Sprintf("%s: a context of %d tokens takes %s of memory (%v), and there is %s",
		e.File, e.Footprint.Context, sysinfo.Bytes(e.Footprint.Total()), e.Footprint, sysinfo.Bytes(e.Memory))
	var fits []string
	for _, f := range e.Fits {
		if f.Context > 0 {
			fits = append(fits, fmt.Sprintf("%d in %s", f.Context, f.Format.Name))
		}
	}
	if fits == nil {
		return msg + ", too little for a single token"
	}
	return msg + "; what fits is, by the format of keys and values, " + strings.Join(fits, ", ")
}

package cases

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	_ "onebit/kernels/all"
)

// Options say what a suite of kernels covers.
type Options struct {
	Sources     []Source
	Threads     []int            // nil: 1, and sysinfo.Host.Threads
	Caches      []string         // names.Warm, names.Cold; nil: both
	Activations []kernels.Scheme // nil: each format's usual scheme
	Features    cpu.Set          // of the machine: cpu.Detected()
	Seed        uint64
	Host        sysinfo.Host // for cache and memory sizes

	// Again says that another process has verified the same cases against the
	// float64 reference and measured their errors. Here their results are held
	// to the generic path alone, bit for bit, which takes a fraction of the
	// time.
	Again bool
	// MemoryVerb has this program run MeasureMemory; "": memory is not measured.
	MemoryVerb string
	// Folder is where the processes of a run leave each other the matrices that they make, and which kernel
	// reads the fastest; "" if they don't.
	Folder string
	// Model is the file that Sources come from, or "".
	Model     string
	GGUFTypes []string // ModelOptions.Types that it was opened with
}

// A Suite is cases that share threads and memory. Close it after the run.
type Suite struct {
	Settings []results.Setting // of the header, what the cases add to it
	Cases    []bench.Case
	Studies  []bench.Study
	// Usual is the filter of a run that nobody narrowed down.
	Usual string
	// Unavailable are variants that this machine can't run, with the reason,
	// under the names that their cases would have.
	Unavailable []Unavailable

	home home
}

// A home is what the cases of a suite share: an env, or a store.
type home interface {
	warn(text string)
	allDoubts() []string
	gpuEmulator() string
	close() error
}

// An Unavailable is a case that can't run on this machine.
type Unavailable struct {
	Name string
	Err  error
}

// Warn adds what the results should be read with.
func (s *Suite) Warn(texts ...string) {
	for _, t := range texts {
		s.home.warn(t)
	}
}

// Doubts returns what the results should be read with, as far as the run has
// come: what is wrong with the machine, and what could not be measured.
func (s *Suite) Doubts() []string { return s.home.allDoubts() }

// Close stops the suite's threads and frees its memory.
func (s *Suite) Close() error { return s.home.close() }

// Kernels returns the cases of every variant on every source.
func Kernels(opt Options) (*Suite, error) {
	if opt.Threads == nil {
		opt.Threads = slices.Compact([]int{1, opt.Host.Threads()})
	}
	if opt.Caches == nil {
		opt.Caches = []string{names.Warm, names.Cold}
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	env := newEnv(opt.Threads, opt.Host)
	env.gpu = openGPU()
	env.model, env.ggufTypes, env.memoryVerb, env.folder = opt.Model, opt.GGUFTypes, opt.MemoryVerb, folder(opt.Folder)
	s := &Suite{Usual: usualKernels(&opt) + env.gpu.unusual(), home: env}
	s.Warn(threadDoubts(opt.Threads)...)
	if slices.Contains(opt.Caches, names.Cold) {
		env.setCold(opt.Host, opt.mostLayouts(env.gpu))
		s.Settings = []results.Setting{{Key: "cold-bytes", Value: strconv.Itoa(env.coldBytes)}}
	}
	for _, src := range opt.Sources {
		s.addGroup(&group{src: src, env: env, seed: opt.Seed, again: opt.Again}, &opt)
	}
	return s, nil
}

func (opt *Options) check() error {
	if err := checkThreads(opt.Threads); err != nil {
		return err
	}
	for _, c := range opt.Caches {
		if c != names.Warm && c != names.Cold {
			return fmt.Errorf("unknown cache state %q (known: warm, cold)", c)
		}
	}
	if len(opt.Sources) == 0 {
		return errors.New("nothing to measure: no format can hold any of these shapes")
	}
	return nil
}

// mostLayouts is in how many layouts a group rotates at most. The kernels of a
// GPU share none.
func (opt *Options) mostLayouts(g *gpu) (most int) {
	for _, src := range opt.Sources {
		layouts := map[*kernels.Layout]bool{}
		for _, v := range kernels.Variants() {
			if v.Format == src.Format && opt.wants(v) && v.AvailableOn(opt.Features) == nil {
				layouts[v.Layout] = true
			}
		}
		most = max(most, len(layouts)+len(g.kernels(src.Format)))
	}
	return most
}

// usualKernels leaves out the formats of heads and embeddings, which no
// projection has, unless a model has them.
func usualKernels(opt *Options) string {
	if opt.Model != "" {
		return ""
	}
	var others []string
	for _, t := range formats.Types() {
		if f := kernels.FormatOf(t); f.Roles != 0 && !f.For(kernels.Projection) {
			others = append(others, t.Name)
		}
	}
	return "-/format:(" + strings.Join(others, " OR ") + ")"
}

func checkThreads(threads []int) error {
	for _, n := range threads {
		if n < 1 || n > 1024 {
			return fmt.Errorf("%d threads: give a number from 1 to 1024", n)
		}
	}
	return nil
}

func (s *Suite) addGroup(g *group, opt *Options) {
	var ceilings []ceiling
	for _, v := range kernels.Variants() {
		if v.Format != g.src.Format || !opt.wants(v) {
			continue
		}
		for _, c := range opt.configs(v) {
			if err := v.AvailableOn(opt.Features); err != nil {
				s.unavailable(c.name(g.src), err)
				continue
			}
			bytes, err := v.Layout.Bytes(v.Format, g.src.Rows, g.src.Cols)
			if err != nil {
				s.unavailable(c.name(g.src), err)
				continue
			}
			s.Cases = append(s.Cases, matvecCase(g, c, bytes))
			roof := ceiling{g, c, bytes}
			if !slices.ContainsFunc(ceilings, func(c ceiling) bool { return c.name() == roof.name() }) {
				ceilings = append(ceilings, roof)
			}
		}
	}
	s.addGPU(g, opt)
	for _, c := range ceilings {
		s.Cases = append(s.Cases, c.benchCase())
	}
	s.addForeign(func(isa string) string {
		return names.MatVec{Format: g.src.Format.Name, Variant: isa, Rows: g.src.Rows, Cols: g.src.Cols}.String()
	})
}

// addForeign lists the instruction sets of other architectures, whose
// variants are not built into this program.
func (s *Suite) addForeign(name func(variant string) string) {
	for _, isa := range kernels.ISAs() {
		if err := isa.Foreign(); err != nil {
			s.unavailable(name(isa.Name), err)
		}
	}
}

func (s *Suite) unavailable(name string, err error) {
	s.Unavailable = append(s.Unavailable, Unavailable{name, err})
}

// wants reports whether the suite covers v's scheme. The reference is the
// yardstick of every scheme.
func (opt *Options) wants(v *kernels.Variant) bool {
	if opt.Activations == nil {
		return v.Scheme == kernels.FormatOf(v.Format).Scheme || v.Name == "reference"
	}
	return slices.Contains(opt.Activations, v.Scheme)
}

// configs are the points of v. The reference, orders of magnitude from any
// ceiling, is measured at one.
func (opt *Options) configs(v *kernels.Variant) []config {
	var out []config
	for _, threads := range opt.Threads {
		for _, cache := range opt.Caches {
			out = append(out, config{v, threads, cache == names.Cold})
		}
	}
	if v.Name == "reference" {
		return out[:1]
	}
	return out
}

// Select applies a filter in benchproc's syntax to the suite. That it matches
// only what this machine can't run is an *UnavailableError. After an error the
// suite is as it was.
func (s *Suite) Select(expr string) error {
	unavailable := s.filterUnavailable(expr)
	kept, err := bench.Suite{Cases: s.Cases, Studies: s.Studies}.Filter(expr)
	switch {
	case err == nil:
		s.Cases, s.Studies, s.Unavailable = kept.Cases, kept.Studies, unavailable
		return nil
	case len(unavailable) > 0:
		return &UnavailableError{unavailable}
	}
	return err
}

// An UnavailableError is a filter that matches only cases that can't run here.
type UnavailableError struct{ Cases []Unavailable }

// Error says what the first of them is in want of.
func (e *UnavailableError) Error() string { return e.Cases[0].Err.Error() }

func (e *UnavailableError) Unwrap() error { return e.Cases[0].Err }

func (s *Suite) filterUnavailable(expr string) []Unavailable {
	matches, err := results.Matcher(expr)
	if err != nil {
		return nil // a wrong filter is reported for the cases
	}
	return slices.DeleteFunc(slices.Clone(s.Unavailable), func(u Unavailable) bool { return !matches(u.Name) })
}

// Names are those of the cases, the studies and what is unavailable: what a
// filter can choose from.
func (s *Suite) Names() (all []results.Name) {
	for _, l := range List([]*Suite{s}) {
		all = append(all, results.ParseName(l.Name))
	}
	return all
}

// Package compare says what differs between two runs beyond noise, by the statistics of noise.CompareRuns.
package compare

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"onebit/bench/foreign"
	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/bounded"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

func init() {
	reports.Register(reports.Kind{
		Name:      "compare",
		Recognise: func(s *reports.Source) bool { return s.Kind() == "compare" },
		Build: func(ctx context.Context, s *reports.Source) (*doc.Document, error) {
			from := new(compared)
			if err := s.ReadSidecar(from); err != nil {
				return nil, err
			}
			c, err := from.compare(ctx)
			if err != nil {
				return nil, err
			}
			return c.Document(from.All), nil
		},
	})
}

// Sidecar has both files, from which a document of all cases, or not, is made again.
func (c *Comparison) Sidecar(all bool) reports.Sidecar {
	from := *c.from
	from.All = all
	return reports.Sidecar{Kind: "compare", Of: from}
}

// Check reports a file that is not there: it would be read from its path. What is there is checked as it is read.
func (from *compared) Check() error {
	for _, f := range []comparedFile{from.Old, from.New} {
		if f.Text == nil {
			return fmt.Errorf("the text of %q is missing", f.Path)
		}
	}
	return nil
}

// A Comparison is what two results files say of each other: a verdict first, and what it rests on.
// noise.CompareRuns says what counts as a difference. Its JSON form is for programs.
type Comparison struct {
	Verdict string    `json:"verdict"` // in a line
	Old     RunOrigin `json:"old"`
	New     RunOrigin `json:"new"`

	// Models are those that have one name in both files and different weights, in a
	// line each: they are not compared.
	Models []string `json:"models_differ,omitempty"`

	Slower  int  `json:"slower"` // cases, beyond noise
	Faster  int  `json:"faster"`
	OnlyOld int  `json:"only_old"` // cases that only one file has
	OnlyNew int  `json:"only_new"`
	Few     bool `json:"few_cases"`         // too few to see what two runs differ by
	NoTime  int  `json:"no_time,omitempty"` // cases of both that are not compared, for a time is 0 or less

	// Longer is how many times as long as in the old file a sample of the new one takes (median).
	Longer float64 `json:"samples_longer"`

	// OneProcess: what differs between processes is not in the noise of at least one file.
	OneProcess bool `json:"one_process"`

	Families []FamilyChange  `json:"families"` // variants and formats as a whole
	Suite    Shift           `json:"suite"`
	Classes  []Shift         `json:"classes"`
	Ceilings []CeilingChange `json:"ceilings"`
	Settings []SettingChange `json:"settings"` // that differ, but for those that differ between any two runs
	Failed   []string        `json:"failed"`   // cases that are wrong in the new file and were not in the old one
	Exact    []ExactChange   `json:"exact"`    // what is computed and not measured, where it differs at all
	Memory   []CaseChange    `json:"memory"`   // peak resident memory, by layout
	Cases    []CaseChange    `json:"cases"`    // times, in the order of names

	from *compared
}

// A compared is what a comparison is made of.
type compared struct {
	Old, New comparedFile
	Filter   string
	All      bool // the cases that a terminal shows
}

// A comparedFile is a results file, or what another benchmark program wrote, and how it was named.
type comparedFile struct {
	Path, Label string
	Text        []byte // nil until it is read
}

// A RunOrigin says where one side of a comparison comes from.
type RunOrigin struct {
	File    string `json:"file"`
	Label   string `json:"label"` // OLD and NEW, unless the files have labels
	Started string `json:"started,omitempty"`
	Commit  string `json:"commit,omitempty"`

	Emulated bool `json:"emulated,omitempty"` // its times say nothing about speed
	Unsliced bool `json:"unsliced,omitempty"` // it was written before samples had slices

	Warnings []string `json:"warnings,omitempty"` // doubts about the run
}

// A CaseChange is one case in both files, in a unit of which less is better.
type CaseChange struct {
	Name  string  `json:"name"`
	Class string  `json:"class"`
	Unit  string  `json:"unit"`
	Old   float64 `json:"old"`
	New   float64 `json:"new"`
	Ratio float64 `json:"ratio"` // new to old

	// Change is what of Ratio the class has not in common: 1.1 is a tenth more. It strays by Within,
	// a fraction, to either side, with a chance of 5%.
	Change float64 `json:"change"`
	Within float64 `json:"within"`

	// Ceilings are the ratios of the ceilings that may bound the case, and so what the machine
	// alone may have made of it; PerCeiling are Ratio divided by each.
	Ceilings   []float64 `json:"ceilings,omitempty"`
	PerCeiling []float64 `json:"ratio_per_ceiling,omitempty"`

	Noise float64 `json:"noise"` // the least difference that counts, as a fraction, beyond what the machine explains
	P     float64 `json:"p"`
	Q     float64 `json:"q"`    // the least share of false discoveries at which it is one
	Sign  int     `json:"sign"` // +1: takes more, beyond noise; -1: less; 0: may be noise or the machine

	coarse bool // it is far behind others of its work, or of families all cases are
}

// A FamilyChange is cases together, such as those of a variant. Its Name says which, Class is empty, and Old and New
// are 0.
type FamilyChange struct {
	CaseChange
	Cases []string `json:"cases"`

	kind noise.Kind
}

// A Shift is what cases have in common.
type Shift struct {
	Class   string  `json:"class,omitempty"`
	Cases   int     `json:"cases"`
	Ratio   float64 `json:"ratio"` // median of the cases' ratios
	From    float64 `json:"machine_from"`
	To      float64 `json:"machine_to"` // the machine explains ratios between From and To
	Noise   float64 `json:"noise"`
	Unlike  bool    `json:"unlike"` // a run was disturbed, or the machine in other states: no verdict
	Sign    int     `json:"sign"`
	Machine bool    `json:"machine"` // more than noise, and explained by the ceilings
}

// A CeilingChange is what happened to the machine: the median of the ceilings of a class.
type CeilingChange struct {
	What  string  `json:"what"`
	Class string  `json:"class"`
	Speed float64 `json:"speed"` // new rate to old rate
}

// A SettingChange is a line of the header that differs.
type SettingChange struct {
	Key string `json:"key"`
	Old string `json:"old"`
	New string `json:"new"`
}

// An ExactChange is a value that is computed, and that differs.
type ExactChange struct {
	Name string  `json:"name"`
	Unit string  `json:"unit"`
	Old  float64 `json:"old"`
	New  float64 `json:"new"`
}

// ErrNoBenchmarks is the error for files that have no benchmarks, or none that the filter matches.
var ErrNoBenchmarks = errors.New("no benchmarks to compare")

// Options says what [Compare] compares.
type Options struct {
	Filter string // cases to use, in the syntax of golang.org/x/perf/benchproc/syntax; "" means all
}

// Files compares two results files. A file is a path or "label=path", and "-" is standard input.
// That a file holds no measurements, or that no case is in both, is an error, as is a value that is
// none, and so are files of two machines: what differs between those is theirs and the program's together. Compare
// ends with ctx's error when ctx ends.
func Files(ctx context.Context, opt Options, old, new string) (*Comparison, error) {
	return (&compared{Old: namedFile(old, "OLD"), New: namedFile(new, "NEW"), Filter: opt.Filter}).compare(ctx)
}

func (from *compared) compare(ctx context.Context) (*Comparison, error) {
	c := &Comparison{from: from}
	a, err := from.Old.read(ctx, &c.Old)
	if err != nil {
		return nil, err
	}
	b, err := from.New.read(ctx, &c.New)
	if err != nil {
		return nil, err
	}
	c.Models = results.TellApart(a, b)
	if err := filterBoth(a, b, from.Filter); err != nil {
		return nil, err
	}
	if err := c.compare(a, b); err != nil {
		return nil, err
	}
	return c, nil
}

// namedFile takes an argument apart, "label=path" or a path.
func namedFile(arg, label string) comparedFile {
	if before, path, ok := strings.Cut(arg, "="); ok {
		return comparedFile{Path: path, Label: before}
	}
	return comparedFile{Path: arg, Label: label}
}

// read reads the file and keeps its text, or reads the text that was kept.
func (f *comparedFile) read(ctx context.Context, side *RunOrigin) (*results.Set, error) {
	if f.Text != nil {
		return f.parse(ctx, bytes.NewReader(f.Text), side)
	}
	in := os.Stdin
	if f.Path != "-" {
		file, err := bounded.Open(f.Path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	var text bytes.Buffer
	res, err := f.parse(ctx, io.TeeReader(in, &text), side)
	f.Text = text.Bytes()
	return res, err
}

func (f *comparedFile) parse(ctx context.Context, in io.Reader, side *RunOrigin) (*results.Set, error) {
	res, err := readResults(ctx, in, f.Path)
	if err != nil {
		return nil, err
	}
	if len(res.Samples) == 0 {
		return nil, fmt.Errorf("%s: %w; give a results.txt of onebit bench", f.Path, ErrNoBenchmarks)
	}
	*side = RunOrigin{File: f.Path, Label: f.Label, Started: res.Setting("started"), Commit: res.Setting("commit"), Warnings: res.Warnings}
	return res, nil
}

// readResults reads a results file, or what another benchmark program wrote.
func readResults(ctx context.Context, in io.Reader, path string) (*results.Set, error) {
	in = contextReader{ctx, in}
	var seen bytes.Buffer
	res, err := results.ReadContext(ctx, io.TeeReader(in, &seen), path)
	if ctx.Err() != nil || err == nil && len(res.Samples) > 0 {
		return res, err
	}
	other, kind, foreignErr := foreign.Read(io.MultiReader(&seen, in))
	switch {
	case foreignErr == nil:
		return other, nil
	case kind.Name != "":
		return nil, fmt.Errorf("%s: %w", path, foreignErr)
	}
	return res, cmp.Or(ctx.Err(), err)
}

// A contextReader fails once its context is cancelled.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// filterBoth keeps of two runs what matches a filter. A key or value that neither has is an error.
func filterBoth(old, new *results.Set, expr string) error {
	if expr == "" {
		return nil
	}
	var all []results.Name
	for _, r := range []*results.Set{old, new} {
		for _, s := range r.Samples {
			all = append(all, s.Name)
		}
	}
	filter, err := results.ParseFilter(expr)
	if err == nil {
		err = results.CheckFilter(expr, all, ".unit")
	}
	if err != nil {
		return fmt.Errorf("filter %q: %w", expr, err)
	}
	filterResults(old, filter)
	filterResults(new, filter)
	return nil
}

func filterResults(res *results.Set, filter *benchproc.Filter) {
	matches := func(n results.Name, values []results.Metric) bool {
		rec := &benchfmt.Result{Name: benchfmt.Name(n.Full)}
		for _, v := range values {
			rec.Values = append(rec.Values, benchfmt.Value{Value: v.Value, Unit: v.Unit})
		}
		ok, _ := filter.Apply(rec)
		return ok
	}
	res.Samples = slices.DeleteFunc(res.Samples, func(s results.Sample) bool { return !matches(s.Name, s.Values) })
	res.Failures = slices.DeleteFunc(res.Failures, func(f results.Failure) bool {
		return !matches(f.Name, []results.Metric{{Unit: results.NsPerOp}})
	})
}

// compare compares two runs.
func (c *Comparison) compare(old, new *results.Set) error {
	from, to := old.Machine(), new.Machine()
	if what := from.Differences(to); len(what) > 0 {
		return fmt.Errorf("%s and %s are of different machines (%s): onebit report shows both side by side", c.Old.File, c.New.File, words.List(what))
	}
	c.Old.Emulated, c.New.Emulated = from.Emulated(), to.Emulated()
	c.Old.Unsliced, c.New.Unsliced = unsliced(old), unsliced(new)
	c.Longer = longerSamples(old, new)
	c.Settings, c.Failed = changedSettings(old, new), newFailures(old, new)
	times := pairUp(old, new, results.NsPerOp)
	judged := slices.DeleteFunc(slices.Clone(times.both), func(p noise.Compared) bool { return names.IsCeiling(p.New.Name) })
	c.NoTime = len(judged)
	judged = slices.DeleteFunc(judged, func(p noise.Compared) bool { return !comparable(p) })
	c.NoTime -= len(judged)
	if len(judged) == 0 {
		return fmt.Errorf("%s and %s: %w in common that have a time%s", c.Old.File, c.New.File, ErrNoBenchmarks, c.apart())
	}
	c.OnlyOld, c.OnlyNew = times.onlyOld, times.onlyNew
	ceilings := ceilingsOf(times.both)
	c.Ceilings = ceilings.changes()
	unlike, coarse := unlikeCases(old, new), coarseCases(judged)
	for i := range judged {
		p := &judged[i]
		p.Unlike, p.Coarse = unlike(*p), coarse(*p)
		p.Limits, p.Family, p.Subject = ceilings.of(p.New.Name), digest.FamilyOf(p.New.Name), names.SubjectOf(p.New.Name)
	}
	found := noise.CompareRuns(judged, ceilings)
	c.Few, c.OneProcess = found.Few, found.OneProcess
	c.Suite = shiftOf(found.Suite)
	for _, s := range found.Classes {
		c.Classes = append(c.Classes, shiftOf(s))
	}
	c.Cases, c.Families = caseChanges(judged, found), familyChanges(judged, found)
	for _, x := range c.Cases {
		switch x.Sign {
		case 1:
			c.Slower++
		case -1:
			c.Faster++
		}
	}
	c.Memory = memoryChanges(old, new)
	c.Exact = exactChanges(old, new)
	c.Verdict = c.verdict()
	return nil
}

// apart says of models that are not compared why not.
func (c *Comparison) apart() string {
	if len(c.Models) == 0 {
		return ""
	}
	return ": " + strings.Join(c.Models, "; ")
}

func shiftOf(s noise.Shift) Shift {
	return Shift{s.Class, s.Cases, s.Ratio, s.Lo, s.Hi, s.Shows, s.Unlike, s.Sign, s.Machine()}
}

// unsliced reports whether onebit wrote a run before samples of several operations had slices.
func unsliced(r *results.Set) bool {
	several := false
	for _, s := range r.Samples {
		if len(s.Slices) > 0 {
			return false
		}
		several = several || s.Iters > 1
	}
	return several && r.Setting(results.ClassesKey) != ""
}

// longerSamples is how many times as long as in the old run a sample takes in the new one, by the median of the
// cases; 1 if none has a time in both.
func longerSamples(old, new *results.Set) float64 {
	length := func(r *results.Set) map[string][]float64 {
		lengths := make(map[string][]float64)
		for _, s := range r.Samples {
			if ns, ok := s.Value(results.NsPerOp); ok && ns > 0 {
				lengths[s.Name.Full] = append(lengths[s.Name.Full], ns*float64(s.Iters))
			}
		}
		return lengths
	}
	before, ratios := length(old), []float64{}
	for name, now := range length(new) {
		if was := before[name]; was != nil {
			ratios = append(ratios, noise.Median(now)/noise.Median(was))
		}
	}
	if len(ratios) == 0 {
		return 1
	}
	return noise.Median(ratios)
}

// unlikeCases tells of which cases the samples were disturbed in a run, or taken in other states of the
// machine.
func unlikeCases(old, new *results.Set) func(noise.Compared) bool {
	disturbed := make(map[string]bool)
	trips := [2]map[string][]float64{{}, {}}
	for side, r := range []*results.Set{old, new} {
		for _, s := range r.Samples {
			disturbed[s.Name.Full] = disturbed[s.Name.Full] || len(s.Doubts) > 0
			if trip, ok := s.Value(results.RoundTrip); ok && trip > 0 {
				trips[side][s.Name.Full] = append(trips[side][s.Name.Full], trip)
			}
		}
	}
	return func(p noise.Compared) bool {
		before, after := trips[0][p.Old.Name.Full], trips[1][p.New.Name.Full]
		moved := len(before) > 0 && len(after) > 0 && math.Abs(math.Log(noise.Median(after)/noise.Median(before))) > math.Log(otherState)
		return disturbed[p.New.Name.Full] || p.Old.States != nil || p.New.States != nil || moved
	}
}

// otherState is by how much the round trips of two runs differ, at least, where the machine was in other
// states: those of one state are within a tenth.
const otherState = 1.5

// coarseCases tells which cases take ten times as long as others of the same work and condition: bench
// leaves them few operations a sample.
func coarseCases(cases []noise.Compared) func(noise.Compared) bool {
	work := func(p noise.Compared) string {
		n := p.New.Name
		return strings.Join([]string{n.Base, names.SubjectOf(n), n.Get(names.Rows), n.Get(names.Cols), n.Get(names.Test), n.Get(names.Depth), p.Class()}, " ")
	}
	fastest := make(map[string]float64)
	for _, p := range cases {
		if t, ok := fastest[work(p)]; !ok || p.New.Center < t {
			fastest[work(p)] = p.New.Center
		}
	}
	return func(p noise.Compared) bool { return p.New.Center > noise.FarBehind*fastest[work(p)] }
}

func (c *CaseChange) take(f noise.Change) {
	c.Ratio, c.Change, c.Within, c.Noise, c.P, c.Q, c.Sign = f.Ratio, f.Beyond, min(f.Beyond*math.Expm1(f.Reach), math.MaxFloat64), f.Shows, f.P, f.Q, f.Sign
}

func caseChanges(compared []noise.Compared, found *noise.Changes) []CaseChange {
	changes := make([]CaseChange, len(compared))
	for i, p := range compared {
		x := CaseChange{
			Name: p.New.Name.Full, Class: p.Class(), Unit: p.New.Unit, Old: p.Old.Center, New: p.New.Center, Ceilings: p.Limits, coarse: p.Coarse,
		}
		x.take(found.Cases[i])
		for _, limit := range p.Limits {
			x.PerCeiling = append(x.PerCeiling, x.Ratio/limit)
		}
		changes[i] = x
	}
	return changes
}

func familyChanges(compared []noise.Compared, found *noise.Changes) []FamilyChange {
	changes := make([]FamilyChange, len(found.Families))
	for i, f := range found.Families {
		x := FamilyChange{CaseChange: CaseChange{Name: f.Name, Unit: results.NsPerOp, coarse: true}, kind: f.Kind}
		x.take(f.Change)
		for _, n := range f.Cases {
			x.Cases = append(x.Cases, compared[n].New.Name.Full)
			x.coarse = x.coarse && compared[n].Coarse
		}
		changes[i] = x
	}
	return changes
}

// ceilings are the cases that measure the machine.
type ceilings []noise.Compared

func ceilingsOf(both []noise.Compared) ceilings {
	var out ceilings
	for _, p := range both {
		if names.IsCeiling(p.New.Name) && comparable(p) {
			out = append(out, p)
		}
	}
	return out
}

// timeRatio is by how much longer the ceilings took in the new file: the median of the ratios of
// their fastest samples, 0 if there are none.
func (c ceilings) timeRatio() float64 {
	if len(c) == 0 {
		return 0
	}
	ratios := make([]float64, len(c))
	for i, p := range c {
		ratios[i] = p.Ratio()
	}
	return noise.Median(ratios)
}

// of are the ratios of the ceilings that may bound a case. They are those of as many threads, and of
// what else they have in common with the case: where they are kept, whose matrix, of what shape.
func (c ceilings) of(n results.Name) []float64 {
	var ratios []float64
	for _, base := range []string{names.BaseRead, names.BaseDotPeak} {
		kept := c.keep(func(o results.Name) bool { return o.Base == base && o.Get(names.Threads) == n.Get(names.Threads) })
		cache := n.Get(names.Cache)
		if base == names.BaseRead {
			kept = kept.keep(func(o results.Name) bool { return o.Get(names.Cache) == cmp.Or(cache, names.Cold) })
		}
		for _, key := range []string{names.Model, names.Rows, names.Cols} {
			if same := kept.keep(func(o results.Name) bool { return o.Get(key) == n.Get(key) }); len(same) > 0 {
				kept = same
			}
		}
		if r := kept.timeRatio(); r > 0 {
			ratios = append(ratios, r)
		}
	}
	return ratios
}

func (c ceilings) keep(wanted func(results.Name) bool) ceilings {
	var out ceilings
	for _, p := range c {
		if wanted(p.New.Name) {
			out = append(out, p)
		}
	}
	return out
}

// changes sums the ceilings up by what they measure and under what condition.
func (c ceilings) changes() []CeilingChange {
	out := []CeilingChange{}
	for _, p := range c {
		what, class := measuredBy(p.New.Name), conditionsOf(p.New.Name)
		if slices.ContainsFunc(out, func(o CeilingChange) bool { return o.What == what && o.Class == class }) {
			continue
		}
		same := c.keep(func(n results.Name) bool { return measuredBy(n) == what && conditionsOf(n) == class })
		out = append(out, CeilingChange{what, class, 1 / same.timeRatio()})
	}
	return out
}

// measuredBy says what a ceiling measures.
func measuredBy(n results.Name) string {
	switch {
	case n.Base == names.BaseDotPeak:
		return "multiplying in registers"
	case n.Get(names.Cache) == names.Warm:
		return "reading the cache"
	}
	return "reading memory"
}

// changedSettings are the lines of the header that differ, though not between any two runs.
func changedSettings(old, new *results.Set) []SettingChange {
	out := []SettingChange{}
	for _, s := range old.Settings {
		if now := new.Setting(s.Key); now != s.Value && !slices.Contains(results.RunKeys, s.Key) {
			out = append(out, SettingChange{s.Key, s.Value, now})
		}
	}
	for _, s := range new.Settings {
		if old.Setting(s.Key) == "" && !slices.Contains(results.RunKeys, s.Key) {
			out = append(out, SettingChange{s.Key, "", s.Value})
		}
	}
	return out
}

// newFailures are the cases that are wrong in the new file only.
func newFailures(old, new *results.Set) []string {
	before := make(map[string]bool)
	for _, f := range old.Failures {
		before[f.Name.Full] = true
	}
	out := []string{}
	for _, f := range new.Failures {
		if !before[f.Name.Full] {
			out = append(out, f.Name.Full)
		}
	}
	slices.SortFunc(out, words.Compare)
	return slices.Compact(out)
}

// exactChanges compares what is computed: errors, and the bytes of packed weights.
func exactChanges(old, new *results.Set) []ExactChange {
	out := []ExactChange{}
	for _, u := range results.Units {
		if !u.Exact {
			continue
		}
		before := make(map[string]float64)
		for _, e := range noise.Estimates(old, u.Name) {
			before[e.Name.Full] = e.Center
		}
		for _, e := range noise.Estimates(new, u.Name) {
			if o, ok := before[e.Name.Full]; ok && o != e.Center {
				out = append(out, ExactChange{e.Name.Full, u.Name, o, e.Center})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ExactChange) int { return words.Compare(a.Name, b.Name) })
	return out
}

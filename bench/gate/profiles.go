package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"onebit/bench/results"
	"onebit/internal/term"
)

// A Profiler is a Target that can say where its time goes.
type Profiler interface {
	Target

	// Profile starts a process of a side, lets it perform n operations under
	// the CPU profiler, and writes the profile to file as pprof reads it.
	Profile(ctx context.Context, side Side, b Benchmark, n int, file string) error
}

// A Profile says by function what changed in a benchmark that became slower. A
// function's time is its share of the samples times that of an operation, so
// that the changes of all functions' own times sum up to the slowdown.
type Profile struct {
	Benchmark
	Base      float64          `json:"base"` // ns/op, as the gate measured it without the profiler
	Head      float64          `json:"head"`
	Samples   [2]int           `json:"samples"`   // of base and head
	Files     [2]string        `json:"files"`     // of base and head, in the folder of profiles
	Functions []FunctionChange `json:"functions"` // the largest changes of own time first
	Others    FunctionChange   `json:"others"`    // the own time of all that Functions leaves out
}

// A FunctionChange is one function's time in an operation, in ns: its own (flat)
// and with what it calls (cumulative).
type FunctionChange struct {
	Name     string  `json:"name"`
	File     string  `json:"file,omitempty"` // where it begins, as the profile has it; "" if it has not
	Line     int     `json:"line,omitempty"`
	BaseFlat float64 `json:"base_flat"`
	HeadFlat float64 `json:"head_flat"`
	BaseCum  float64 `json:"base_cum,omitempty"`
	HeadCum  float64 `json:"head_cum,omitempty"`
	Error    float64 `json:"error"` // 95% of such changes of own time are as near to the truth, samples being few
}

// Change is how much longer the function itself takes in head.
func (f FunctionChange) Change() float64 { return f.HeadFlat - f.BaseFlat }

// New reports that base has no sample of the function, and Gone that head has none.
func (f FunctionChange) New() bool  { return f.BaseFlat == 0 && f.BaseCum == 0 && f.HeadFlat > 0 }
func (f FunctionChange) Gone() bool { return f.HeadFlat == 0 && f.HeadCum == 0 && f.BaseFlat > 0 }

// Clear reports that the change is more than the number of samples explains.
func (f FunctionChange) Clear() bool { return math.Abs(f.Change()) > f.Error }

// ProfileOptions limit what profiles cost.
type ProfileOptions struct {
	Dir  string        // where they are kept; it is made if need be
	Most int           // benchmarks, the worst first
	Time time.Duration // of a benchmark, for both sides together, as far as it is left
	Left time.Duration // for all of them: where it is short, each has less, and fewer are profiled
}

// shortestProfile still has some fifty samples.
const shortestProfile = 500 * time.Millisecond

// fit shares what is left among so many benchmarks.
func (opt *ProfileOptions) fit(slower int) {
	opt.Most = min(opt.Most, slower, int(opt.Left/shortestProfile))
	opt.Time = min(opt.Time, opt.Left/time.Duration(max(opt.Most, 1)))
}

// ProfilesFolder is the name of their folder beside a file of results.
const ProfilesFolder = "profiles"

// profileRuns is how many processes of each side are profiled.
const profileRuns = 3

// ProfileSlower profiles the benchmarks whose time the report finds to be worse.
// It returns what could be profiled, also with an error.
func ProfileSlower(ctx context.Context, target Profiler, r *Report, opt ProfileOptions) (all []Profile, err error) {
	findings := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return f.Verdict != Slower || f.Unit != results.NsPerOp
	})
	slices.SortStableFunc(findings, Severity)
	asked := min(opt.Most, len(findings))
	if opt.fit(len(findings)); asked <= 0 {
		return nil, nil
	}
	if opt.Most <= 0 {
		return nil, errors.New("no time is left for profiles: a longer --budget has them")
	}
	// A process has a folder of its own, from which a path could lead elsewhere.
	if opt.Dir, err = filepath.Abs(opt.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(opt.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	names := term.FileNames{}
	for _, f := range findings[:opt.Most] {
		p, failure := profileFinding(ctx, target, f, opt, names.Unique(term.FileName(f.Name)))
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("no profile of Benchmark%s: %w", f.Name, failure))
			continue
		}
		all = append(all, *p)
	}
	return all, err
}

// profileFinding runs both sides in turn.
func profileFinding(ctx context.Context, target Profiler, f Finding, opt ProfileOptions, name string) (*Profile, error) {
	p := &Profile{Benchmark: f.Benchmark, Base: f.Typical(Base), Head: f.Typical(Head)}
	each := float64(opt.Time) / (2 * profileRuns)
	n := int(max(1, min(each/max(p.Base, 0.01), MaxOps)))
	var runs [2][]*profile.Profile
	for range profileRuns {
		for _, side := range []Side{Base, Head} {
			run, err := profileOnce(ctx, target, side, f.Benchmark, n, opt.Dir)
			if err != nil {
				return nil, err
			}
			runs[side] = append(runs[side], run)
		}
	}
	var merged [2]*profile.Profile
	for _, side := range []Side{Base, Head} {
		var err error
		if merged[side], err = profile.Merge(runs[side]); err != nil {
			return nil, fmt.Errorf("%s: %w", side, err)
		}
		p.Files[side] = fmt.Sprintf("%s.%s.pprof", name, side)
		if err := writeProfile(filepath.Join(opt.Dir, p.Files[side]), merged[side]); err != nil {
			return nil, err
		}
	}
	return p, p.compare(merged)
}

func profileOnce(ctx context.Context, target Profiler, side Side, b Benchmark, n int, dir string) (p *profile.Profile, err error) {
	file, err := os.CreateTemp(dir, ".onebit-*.pprof")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if err := target.Profile(ctx, side, b, n, file.Name()); err != nil {
		return nil, err
	}
	return profile.Parse(file)
}

func writeProfile(path string, p *profile.Profile) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(p.Write(file), file.Close())
}

// mostFunctions is how many functions a Profile names.
const mostFunctions = 20

// compare fills in the functions.
func (p *Profile) compare(merged [2]*profile.Profile) error {
	var flat, cum [2]map[string]float64 // shares
	for _, side := range []Side{Base, Head} {
		flat[side], cum[side], p.Samples[side] = sharesOf(merged[side])
		if p.Samples[side] == 0 {
			return fmt.Errorf("the profile of %s has no samples", side)
		}
	}
	joinClosures([2][]map[string]float64{{flat[Base], cum[Base]}, {flat[Head], cum[Head]}})
	var all []FunctionChange
	names := maps.Clone(cum[Base])
	maps.Copy(names, cum[Head])
	for name := range names {
		if flat[Base][name]+flat[Head][name] > 0 { // others only call
			all = append(all, FunctionChange{Name: name})
		}
	}
	for i := range all {
		f := &all[i]
		f.BaseFlat, f.HeadFlat = p.Base*flat[Base][f.Name], p.Head*flat[Head][f.Name]
		f.BaseCum, f.HeadCum = p.Base*cum[Base][f.Name], p.Head*cum[Head][f.Name]
		f.Error = p.errorOf(flat[Base][f.Name], flat[Head][f.Name])
	}
	slices.SortFunc(all, func(a, b FunctionChange) int {
		return cmp.Or(
			cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change())),
			cmp.Compare(b.HeadCum-b.BaseCum, a.HeadCum-a.BaseCum), cmp.Compare(a.Name, b.Name))
	})
	p.Functions = all[:min(len(all), mostFunctions)]
	for i := range p.Functions {
		p.Functions[i].place(merged)
	}
	p.Others = FunctionChange{Name: "all others"}
	for _, f := range all[len(p.Functions):] {
		p.Others.BaseFlat += f.BaseFlat
		p.Others.HeadFlat += f.HeadFlat
	}
	p.Others.Error = p.errorOf(p.Others.BaseFlat/p.Base, p.Others.HeadFlat/p.Head)
	return nil
}

// place says where the function begins, in head if head has it.
func (f *FunctionChange) place(merged [2]*profile.Profile) {
	for _, side := range []Side{Base, Head} {
		for _, known := range merged[side].Function {
			if known.Name == f.Name && known.Filename != "" {
				f.File, f.Line = known.Filename, int(known.StartLine)
			}
		}
	}
}

// errorOf is 1.96 standard deviations of the difference of two times whose
// shares were estimated from samples, as if these were independent.
func (p *Profile) errorOf(base, head float64) float64 {
	variance := func(total, share float64, samples int) float64 {
		return total * total * max(0, share*(1-share)) / float64(samples)
	}
	return 1.96 * math.Sqrt(variance(p.Base, base, p.Samples[Base])+variance(p.Head, head, p.Samples[Head]))
}

// sharesOf sums up a CPU profile by function, as shares of all samples. A
// function that calls itself counts once for a sample.
func sharesOf(p *profile.Profile) (flat, cum map[string]float64, samples int) {
	flat, cum = map[string]float64{}, map[string]float64{}
	total := 0.0
	for _, s := range p.Sample {
		value := float64(s.Value[len(s.Value)-1]) // CPU time; the first is the count
		total += value
		samples += int(s.Value[0])
		seen := map[string]bool{}
		for i, name := range functionsOf(s) {
			if i == 0 {
				flat[name] += value
			}
			if !seen[name] {
				seen[name] = true
				cum[name] += value
			}
		}
	}
	for name := range cum {
		flat[name] /= total
		cum[name] /= total
	}
	return flat, cum, samples
}

// functionsOf are the functions of a sample's stack, inlined ones too, from the
// one that ran outwards.
func functionsOf(s *profile.Sample) (names []string) {
	for _, location := range s.Location {
		if len(location.Line) == 0 {
			names = append(names, fmt.Sprintf("%#x", location.Address))
		}
		for _, line := range location.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	// A signal lets a function call this, which takes no time of its own.
	if len(names) > 1 && names[0] == "runtime.asyncPreempt" {
		names = names[1:]
	}
	if len(names) == 0 {
		names = []string{"unknown"}
	}
	return names
}

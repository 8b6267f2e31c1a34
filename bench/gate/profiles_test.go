package gate

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"onebit/bench/results"
)

// told is a target whose profiles are made up: planted takes three times as long
// in head.
type told struct{ *fake }

func (told) Profile(_ context.Context, side Side, _ Benchmark, n int, file string) error {
	if !filepath.IsAbs(file) {
		return fmt.Errorf("%s: a process has a folder of its own", file)
	}
	kind := &profile.ValueType{Type: "samples", Unit: "count"}
	p := &profile.Profile{SampleType: []*profile.ValueType{kind, {Type: "cpu", Unit: "nanoseconds"}}, PeriodType: kind}
	for i, name := range []string{"example.com/spin.steady", "example.com/spin.planted"} {
		f := &profile.Function{ID: uint64(i + 1), Name: name, Filename: "/src/" + side.String() + "/spin_test.go", StartLine: int64(10 * (i + 1))}
		l := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f}}}
		count := int64(200)
		if i == 1 && side == Head {
			count *= 6
		}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{count, count * int64(n)}})
	}
	return writeProfile(file, p)
}

// The function that became slower comes first, and the changes of all sum up to
// the slowdown.
func TestProfileNamesTheSlowerFunction(t *testing.T) {
	target, b := told{newFake(1, 1)}, Benchmark{"example.com/spin", "Spin/size=1/odd_name"}
	report := &Report{Findings: []Finding{
		{Benchmark: b, Unit: results.NsPerOp, Verdict: Slower, Base: []float64{40e3}, Head: []float64{140e3}},
		{Benchmark: b, Unit: results.Allocs, Verdict: Slower, Base: []float64{1}, Head: []float64{2}},
		{Benchmark: Benchmark{b.Package, "Other"}, Unit: results.NsPerOp, Verdict: Same},
	}}
	t.Chdir(t.TempDir())
	const dir = "profiles"
	all, err := ProfileSlower(t.Context(), target, report, ProfileOptions{Dir: dir, Most: 2, Time: 2 * time.Second, Left: time.Minute})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d profiles, %v", len(all), err)
	}
	p := all[0]
	if first := p.Functions[0]; first.Name != "example.com/spin.planted" || !first.Clear() || first.Change() < 50e3 {
		t.Errorf("the first of %+v is not the planted function", p.Functions)
	}
	if p.Functions[0].File != "/src/head/spin_test.go" || p.Functions[0].Line != 20 {
		t.Errorf("planted is at %s:%d, want head's line 20", p.Functions[0].File, p.Functions[0].Line)
	}
	sum := p.Others.Change()
	for _, f := range p.Functions {
		sum += f.Change()
	}
	if math.Abs(sum-100e3) > 1 {
		t.Errorf("the changes sum up to %v ns, want 100000", sum)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 || filepath.Base(files[0]) != "spin-size-1-odd_name.base.pprof" {
		t.Errorf("files %q, %v", files, err)
	}
}

// Profiles take what is left of the budget and no more; the worst come first.
func TestProfilesFit(t *testing.T) {
	for _, tt := range []struct {
		slower int
		left   time.Duration
		most   int
		each   time.Duration
	}{
		{1, time.Minute, 1, 6 * time.Second},
		{5, time.Minute, 3, 6 * time.Second},
		{5, 6 * time.Second, 3, 2 * time.Second},
		{5, 1200 * time.Millisecond, 2, 600 * time.Millisecond},
		{2, 400 * time.Millisecond, 0, 0},
		{2, -time.Second, 0, 0},
	} {
		opt := ProfileOptions{Most: 3, Time: 6 * time.Second, Left: tt.left}
		if opt.fit(tt.slower); max(opt.Most, 0) != tt.most || tt.most > 0 && opt.Time != tt.each {
			t.Errorf("%d slower, %v left: %d of %v, want %d of %v", tt.slower, tt.left, opt.Most, opt.Time, tt.most, tt.each)
		}
	}
	report := &Report{Findings: []Finding{{Unit: results.NsPerOp, Verdict: Slower}}}
	if _, err := ProfileSlower(t.Context(), nil, report, ProfileOptions{Most: 3, Time: time.Second}); err == nil {
		t.Error("profiles without time are no error")
	}
}

// A profile's samples in what the scheduler makes a function call are that
// function's, and a recursive function counts once.
func TestSharesOf(t *testing.T) {
	function := func(name string) *profile.Location {
		return &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}}
	}
	sample := func(value int64, stack ...string) *profile.Sample {
		s := &profile.Sample{Value: []int64{1, value}}
		for _, name := range stack {
			s.Location = append(s.Location, function(name))
		}
		return s
	}
	flat, cum, samples := sharesOf(&profile.Profile{Sample: []*profile.Sample{
		sample(30, "runtime.asyncPreempt", "loop", "main"), sample(10, "loop", "main"), sample(60, "walk", "walk", "main"),
	}})
	if samples != 3 || flat["loop"] != 0.4 || flat["walk"] != 0.6 || cum["walk"] != 0.6 || cum["main"] != 1 || flat["main"] != 0 {
		t.Errorf("%d samples, flat %v, cumulative %v", samples, flat, cum)
	}
}

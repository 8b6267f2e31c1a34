package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/sysinfo"
)

// TestCoarseClock measures with a clock that advances by 15 ms, as time.Now
// may on Windows: samples are made long enough for it, and the canary's loop,
// which is not, says nothing.
func TestCoarseClock(t *testing.T) {
	const step, op = 15 * time.Millisecond, 40 * time.Microsecond
	l := newLab()
	r := l.runner()
	r.Now, r.Step = func() time.Time { return l.clock.Truncate(step) }, step
	r.canary = func() time.Duration { return 0 }
	c := l.newCase("MatVec/variant=fast", "g", script{op: op})
	c.Bytes = 1000
	res, _ := measure(t, r, Suite{Cases: []Case{c}})
	if len(res.Samples) == 0 || len(res.Failures)+len(res.Warnings) > 0 {
		t.Fatalf("%d samples, failures %v, warnings %v", len(res.Samples), res.Failures, res.Warnings)
	}
	for _, s := range res.Samples {
		ns, _ := s.Value(results.NsPerOp)
		if took := time.Duration(ns * float64(s.Iters)); took < minSteps*step {
			t.Errorf("%s: %v is fewer than %d steps of %v", s.Name.Full, took, minSteps, step)
		}
		if off := ns/float64(op) - 1; off < -0.002 || off > 0.002 {
			t.Errorf("%s: %v ns, want %v", s.Name.Full, ns, op)
		}
	}
}

// TestShortSampleIsTakenAgain speeds a case up after its calibration.
func TestShortSampleIsTakenAgain(t *testing.T) {
	l := newLab()
	r := l.runner()
	r.Step = 10 * time.Microsecond
	fast := func(run int) time.Duration {
		if run <= 8 {
			return time.Millisecond
		}
		return 0
	}
	res, _ := measure(t, r, Suite{Cases: []Case{l.newCase("MatVec/variant=fast", "g", script{op: time.Microsecond, jitter: fast})}})
	for _, s := range res.Samples {
		ns, _ := s.Value(results.NsPerOp)
		if took := time.Duration(ns * float64(s.Iters)); took < minSteps*r.Step {
			t.Errorf("%s: a sample of %d operations took %v, want %v or more", s.Name.Full, s.Iters, took, minSteps*r.Step)
		}
	}
}

func TestImpossibleSampleIsAFailure(t *testing.T) {
	l := newLab()
	s := l.smallSuite()
	s.Cases[2].Check = func(speeds []results.Metric) error {
		for _, m := range speeds {
			if m.Unit == results.WeightRate && m.Value > 0 {
				return errors.New("impossible: more than memory can give")
			}
		}
		return nil
	}
	res, file := measure(t, l.runner(), s)
	if len(res.Failures) == 0 || !strings.HasPrefix(res.Failures[0].Reason, "impossible: ") {
		t.Errorf("failures %+v", res.Failures)
	}
	if strings.Contains(file, "Benchmark"+s.Cases[2].Name+"-") || strings.Contains(file, "Benchmark"+s.Cases[2].Name+" ") {
		t.Error("the impossible sample is a row of the file")
	}
}

// A probed case tells how far its cores are from each other.
type probed struct {
	Instance
	trips []float64
}

func (p *probed) Probe() []results.Metric {
	ns := p.trips[0]
	p.trips = p.trips[1:]
	return []results.Metric{{Unit: results.RoundTrip, Value: ns}}
}

func TestProbeIsOnTheLine(t *testing.T) {
	l := newLab()
	s := l.smallSuite()
	setup := s.Cases[0].Setup
	s.Cases[0].Setup = func(ctx context.Context) (Instance, error) {
		inst, err := setup(ctx)
		return &probed{inst, []float64{50, 51, 315, 316, 52, 53}}, err
	}
	_, file := measure(t, l.runner(), s)
	var got []float64
	for _, sm := range readBack(t, file).Samples {
		ns, ok := sm.Value(results.RoundTrip)
		if ok != (sm.Name.Full == s.Cases[0].Name) {
			t.Errorf("%s: a round trip: %v", sm.Name.Full, ok)
		}
		if ok {
			got = append(got, ns)
		}
	}
	if want := []float64{50, 51, 315, 316, 52, 53}; !slices.Equal(got, want) {
		t.Errorf("round trips %v, want %v", got, want)
	}
}

// TestOthersAreNoticed lets the CPUs work for others while the second group is
// measured, and looks for the warning and for the samples that it marks.
func TestOthersAreNoticed(t *testing.T) {
	for _, tc := range []struct {
		name                string
		others, stolen, own float64 // CPUs
		want                []string
	}{
		{"alone", 0.04, 0.01, 2, nil},
		{"busy", 1, 0, 1.5, []string{"group tiny: other processes took "}},
		{"stolen", 0, 0.5, 1, []string{"group tiny: the hypervisor took "}},
		{"both", 0.5, 0.25, 1, []string{"group tiny: other processes took ", "group tiny: the hypervisor took "}},
		{"counted in ticks", -0.5, 0, 2, nil},
	} {
		l := newLab()
		s := l.smallSuite()
		r := l.runner()
		begin := l.clock
		var used sysinfo.CPUTime
		r.cpuTime = func() sysinfo.Value[sysinfo.CPUTime] {
			passed := l.clock.Sub(begin).Seconds()
			begin = l.clock
			spend := func(cpus float64) time.Duration { return time.Duration(cpus * passed * float64(time.Second)) }
			if l.runs[s.Cases[3].Name] > 0 {
				used.Busy += spend(tc.others)
				used.Stolen += spend(tc.stolen)
			}
			used.Busy += spend(tc.own)
			used.Own += spend(tc.own)
			return sysinfo.Value[sysinfo.CPUTime]{V: used}
		}
		res, file := measure(t, r, s)
		back := readBack(t, file)
		if !slices.EqualFunc(back.Warnings, tc.want, strings.HasPrefix) {
			t.Errorf("%s: warnings %q, want %q", tc.name, back.Warnings, tc.want)
		}
		for i, sm := range back.Samples {
			tiny := strings.Contains(sm.Name.Full, "model=tiny")
			if tiny != (sm.Group == "tiny") || len(sm.Doubts) > 0 != (tiny && len(tc.want) > 0) || len(res.Samples[i].Doubts) != len(sm.Doubts) {
				t.Errorf("%s: %s of group %q has doubts %q", tc.name, sm.Name.Full, sm.Group, sm.Doubts)
			}
		}
	}
}

// Studies are watched as samples are: by the system's account, and by the canary.
func TestStudiesAreWatched(t *testing.T) {
	l := newLab()
	studied := func() bool { return l.clock.After(time.Unix(1_700_000_001, 0)) }
	s := Suite{Studies: []Study{l.newStudy("Op/a", "calm", nil, "Op/a"), l.newStudy("Op/b", "loud", nil, "Op/b", "Op/c")}}
	r := l.runner()
	r.canary = func() time.Duration {
		if studied() {
			return 200 * time.Microsecond
		}
		return 100 * time.Microsecond
	}
	var used sysinfo.CPUTime
	begin := l.clock
	r.cpuTime = func() sysinfo.Value[sysinfo.CPUTime] {
		if studied() {
			used.Busy += l.clock.Sub(begin)
		}
		begin = l.clock
		return sysinfo.Value[sysinfo.CPUTime]{V: used}
	}
	res, _ := measure(t, r, s)
	for _, want := range []string{"group loud: other processes took ", "group loud: the canary loop ran 100% slower "} {
		if !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
			t.Errorf("warnings %q, want one that begins with %q", res.Warnings, want)
		}
	}
}

func TestThreadsThatTakeTurnsAreNoticed(t *testing.T) {
	for _, tc := range []struct {
		op   time.Duration // with two threads; one takes 200 µs
		want []string
	}{
		{110 * time.Microsecond, nil},
		{196 * time.Microsecond, []string{"group g: Read with threads=2 is at best 1 times as fast as Read with threads=1: "}},
		{500 * time.Microsecond, []string{"group g: Read with threads=2 is at best 0.4 times as fast as Read with threads=1: "}},
	} {
		l := newLab()
		one := l.newCase("Read/threads=1", "g", script{op: 200 * time.Microsecond})
		two := l.newCase("Read/threads=2", "g", script{op: tc.op})
		one.Ceiling, two.Ceiling, two.Solo = true, true, one.Name
		res, _ := measure(t, l.runner(), Suite{Cases: []Case{two, one}})
		if !slices.EqualFunc(res.Warnings, tc.want, strings.HasPrefix) {
			t.Errorf("%v: warnings %q, want %q", tc.op, res.Warnings, tc.want)
		}
	}
}

// TestCanaryForgivesMoments sings a hundred times, some of them ten times as
// long.
func TestCanaryForgivesMoments(t *testing.T) {
	for delayed, want := range map[int]int{0: 0, 4: 0, 20: 1} {
		l, songs := newLab(), 0
		c := newCanary(func() time.Duration {
			if songs++; songs <= delayed {
				return time.Millisecond
			}
			return 100 * time.Microsecond
		}, l.now, 0)
		for range 100 {
			l.clock = l.clock.Add(canaryRest)
			c.sing("g")
		}
		if got := c.doubts(); len(got) != want {
			t.Errorf("%d of %d songs delayed: %q, want %d doubts", delayed, songs, got, want)
		}
	}
}

package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"onebit/bench/names"
	"onebit/bench/noise"
)

const us = time.Microsecond

// twoThreads is a pass of 100 µs: a product of two tensors by two threads, the
// second of which comes late and ends early, after 10 µs in which nothing is
// observed; and a norm that the caller computes by itself.
func twoThreads() *Pass {
	return &Pass{
		Duration: 100 * us,
		Spans: []Span{
			{Key: Key{0, "attn_qkv"}, Work: Work{Bytes: 4000, MACs: 8000, Calls: 1}, Start: 10 * us, End: 60 * us},
			{Key: Key{0, "attn_norm"}, Work: Work{Moved: 400, Calls: 1}, Start: 60 * us, End: 90 * us},
		},
		Threads: [][]Mark{
			{{12 * us, 1, Dispatching, 0}, {14 * us, 1, Quantizing, 0}, {20 * us, 1, Multiplying, 0}, {40 * us, 1, Multiplying, 1}, {50 * us, 1, Waiting, 0}, {55 * us, 1, Idle, 0}},
			{{22 * us, 1, Quantizing, 0}, {30 * us, 1, Multiplying, 1}, {55 * us, 1, Waiting, 0}},
		},
	}
}

func twoThreadsTest() *Test {
	t := &Test{
		ModelTest: names.ModelTest{Kind: names.Decode, Tokens: 2}, Threads: 2,
		Tensors: map[Key][]string{{0, "attn_qkv"}: {"blk.0.attn_q.weight", "blk.0.attn_k.weight"}},
	}
	for range 6 {
		t.Add(twoThreads(), 98*us)
	}
	return t
}

func TestTimelineHasNoGaps(t *testing.T) {
	p := twoThreads()
	p.Threads = append(p.Threads, nil, []Mark{{54 * us, 1, Waiting, 0}}) // one that never came, and one that came for nothing
	for thread, line := range p.Timeline() {
		var at time.Duration
		for _, s := range line {
			if s.Start != at || s.End <= s.Start {
				t.Fatalf("thread %d: %+v follows what ends at %v", thread, s, at)
			}
			at = s.End
			if s.Span >= 0 && (p.Spans[s.Span].Start > s.Start || p.Spans[s.Span].End < s.End) {
				t.Errorf("thread %d: %+v is not within its span", thread, s)
			}
		}
		if at != p.Duration {
			t.Errorf("thread %d ends at %v of %v", thread, at, p.Duration)
		}
	}
}

func TestCosts(t *testing.T) {
	p := twoThreads()
	costs := p.Costs()
	var keys []Key
	var sum time.Duration
	for _, c := range costs {
		keys = append(keys, c.Key)
		sum += c.Time
	}
	if want := []Key{{0, "attn_qkv"}, {0, "attn_norm"}, Unattributed}; !slices.Equal(keys, want) {
		t.Fatalf("costs of %v, want %v", keys, want)
	}
	if sum != p.Duration {
		t.Errorf("costs add up to %v of %v", sum, p.Duration)
	}
	qkv := costs[0]
	want := [][Activities]time.Duration{
		{Quantize: 6 * us, Multiply: 30 * us, Dispatch: 2 * us, Wait: 5 * us, Serial: 7 * us},
		{Quantize: 8 * us, Multiply: 25 * us, Dispatch: 10 * us, Serial: 7 * us},
	}
	if !slices.Equal(qkv.Threads, want) {
		t.Errorf("threads spend\n%v, want\n%v", qkv.Threads, want)
	}
	if !slices.Equal(qkv.Products[0], []time.Duration{20 * us, 10 * us}) || !slices.Equal(qkv.Products[1], []time.Duration{0, 25 * us}) {
		t.Errorf("products take %v", qkv.Products)
	}
	if qkv.Dispatches != 1 || costs[1].Dispatches != 0 {
		t.Errorf("%d and %d dispatches, want 1 and 0", qkv.Dispatches, costs[1].Dispatches)
	}
	if got := costs[1].Threads; got[0][Serial] != 30*us || got[1][Serial] != 30*us {
		t.Errorf("a norm of the caller is %v", got)
	}
	if got := costs[2]; got.Time != 20*us || got.Threads[1][Serial] != 20*us {
		t.Errorf("between operations: %+v", got)
	}
	p = &Pass{Duration: 5, Spans: []Span{{Key: Key{0, "attn"}, End: 7}}} // by a clock that reads too long
	if got := p.Costs(); len(got) != 2 || got[1].Time != 0 {
		t.Errorf("operations that take longer than their pass leave %+v", got)
	}
}

func TestBound(t *testing.T) {
	c := Ceilings{
		Threads: 2, Levels: []Level{{"L1", 1 << 10, 1e12}, {"memory", 0, 1e10}}, Int8: 1e12, Float32: 1e11, Dispatch: us,
	}
	for _, tt := range []struct {
		w         Work
		footprint int
		want      Bound
	}{
		{Work{Bytes: 1e6}, 1e8, Bound{"memory", 1e-4}},
		{Work{Bytes: 1e6}, 1000, Bound{"L1", 1e-6}}, // all that a token reads stays in the cache
		{Work{Bytes: 1e6, MACs: 1e9}, 1e8, Bound{BoundInt8, 1e-3}},
		{Work{Bytes: 1e6, MACs: 1e9, Float: true}, 1e8, Bound{BoundFloat32, 1e-2}},
		{Work{Bytes: 1000, Dispatches: 3}, 1e8, Bound{BoundDispatch, 3e-6}},
		{Work{Moved: 1e6, Calls: 1000}, 1e8, Bound{"L1", 1e-6}}, // 1000 bytes at a time
		{Work{}, 1e8, Bound{}},
	} {
		got := c.Bound(tt.w, tt.footprint)
		if got.Name != tt.want.Name || math.Abs(got.Seconds-tt.want.Seconds) > 1e-12 {
			t.Errorf("%+v among %d bytes: %+v, want %+v", tt.w, tt.footprint, got, tt.want)
		}
	}
	unknown := Ceilings{Levels: []Level{{"memory", 0, 0}}}
	if got := unknown.Bound(Work{Bytes: 1, Moved: 1, MACs: 1, Dispatches: 1}, 1); got != (Bound{}) {
		t.Errorf("unknown ceilings bound by %+v", got)
	}
}

func TestOperations(t *testing.T) {
	test := twoThreadsTest()
	c := &Ceilings{Threads: 2, Levels: []Level{{"memory", 0, 4e9}}}
	ops := test.Operations(c, Filter{})
	if len(ops) != 3 || ops[0].Op != "attn_qkv" {
		t.Fatalf("operations %+v, want attn_qkv, of which most could be won, first", ops)
	}
	// A token is half of the pass: 25 µs for 2000 bytes, which take 0.5 µs.
	o := ops[0]
	if near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12 }; !near(o.Time.Center, 25e-6) || !near(o.Bound.Seconds, 0.5e-6) ||
		!near(o.Won, 24.5e-6) || !near(o.PerUnit(o.Bytes), 2000) || !near(o.Share, 0.5) || !near(o.PerSecond(o.Bytes)/1e12, 2000/25e-6/1e12) {
		t.Errorf("%+v", o)
	}
	if !o.Time.Bounded() {
		t.Errorf("6 passes have no interval: %+v", o.Time)
	}
	if got := test.Operations(c, Filter{Ops: []string{"attn_norm"}, Blocks: []int{0}}); len(got) != 1 || got[0].Op != "attn_norm" {
		t.Errorf("one operation was chosen, got %+v", got)
	}
	if got := test.Operations(c, Filter{Blocks: []int{7}}); len(got) != 0 {
		t.Errorf("a block that is not there has %+v", got)
	}
	sum := 0.0
	for _, a := range test.Activities(Filter{})[1] {
		sum += a.Center
	}
	if math.Abs(sum-50e-6) > 1e-12 {
		t.Errorf("a thread's activities add up to %v s of the 50 µs of a token", sum)
	}
	if got := test.Overhead().Center; math.Abs(got-(100.0/98-1)) > 1e-9 {
		t.Errorf("observing costs %v", got)
	}
}

// One pass in three is disturbed, each time in another operation: shares of medians
// in a mean added up to less than the whole.
func TestSharesAddUp(t *testing.T) {
	test := &Test{ModelTest: names.ModelTest{Kind: names.Decode, Tokens: 1}, Threads: 1}
	for i := range 9 {
		d := []time.Duration{10 * us, 20 * us, 30 * us}
		d[i%3] *= 5
		pass := &Pass{Threads: [][]Mark{nil}}
		for op, took := range d {
			pass.Spans = append(pass.Spans, Span{Key: Key{0, []string{"attn", "ffn_down", "output"}[op]}, Start: pass.Duration, End: pass.Duration + took})
			pass.Duration += took
		}
		test.Add(pass, pass.Duration)
	}
	sum := 0.0
	for _, o := range test.Operations(&Ceilings{Threads: 1}, Filter{}) {
		sum += o.Share
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("shares add up to %v", sum)
	}
	if some := test.Operations(&Ceilings{Threads: 1}, Filter{Ops: []string{"output"}}); len(some) != 1 || math.Abs(some[0].Share-0.5) > 1e-9 {
		t.Errorf("of an operation alone: %+v", some)
	}
}

// What was measured is believed, and refutes what was computed unless that is
// about the same.
func TestWhatIfIsBelieved(t *testing.T) {
	measured := func(center, lo, hi float64) noise.Figure { return noise.Figure{Center: center, Lo: lo, Hi: hi} }
	none := noise.Figure{Center: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	for _, tt := range []struct {
		name     string
		w        WhatIf
		computed bool // stands
		believed float64
	}{
		{"refuted", WhatIf{Computed: 0, Measured: measured(0.33, 0.30, 0.36)}, false, 0.33},
		{"within", WhatIf{Computed: -0.17, Measured: measured(-0.13, -0.28, -0.02)}, true, -0.13},
		{"near", WhatIf{Computed: 0, Measured: measured(0.01, 0.005, 0.015)}, true, 0.01},
		{"too few passes to refute anything", WhatIf{Computed: 0, Measured: measured(0.33, math.Inf(-1), math.Inf(1))}, true, 0.33},
		{"not measured", WhatIf{Computed: -0.2, Measured: none, Why: "--check=false"}, true, -0.2},
	} {
		if got := tt.w.Believed().Center; got != tt.believed || tt.w.Refuted() == tt.computed {
			t.Errorf("%s: believed %v, refuted %v; want %v, %v", tt.name, got, tt.w.Refuted(), tt.believed, !tt.computed)
		}
	}
	for want, w := range map[string]WhatIf{
		"measured; bounds foretold otherwise, and are refuted": {Computed: 0, Measured: measured(0.33, 0.30, 0.36)},
		"measured; computed from bounds: -17.0%":               {Computed: -0.17, Measured: measured(-0.13, -0.28, -0.02)},
		"measured":                                             {Computed: math.NaN(), Measured: measured(-0.13, -0.28, -0.02)},
		"computed from bounds, not measured: --check=false":    {Computed: -0.2, Measured: none, Why: "--check=false"},
	} {
		if got := w.Because(); got != want {
			t.Errorf("because %q, want %q", got, want)
		}
	}
	if w := (WhatIf{Computed: math.NaN(), Measured: none, Why: "one CPU"}); w.Because() != "one CPU" || !math.IsNaN(w.Believed().Center) || w.Refuted() {
		t.Errorf("of nothing %v is believed", w.Believed())
	}
}

// A dispatch of the product: two passes' halves are one, as there is half a dispatch a token.
func TestTurns(t *testing.T) {
	test := twoThreadsTest()
	ops := test.Operations(&Ceilings{Threads: 2}, Filter{Ops: []string{"attn_qkv"}})
	caller, others, ok := ops[0].Turns()
	for _, c := range []struct {
		name      string
		got, want Turn
	}{
		{"caller", caller, Turn{Begin: 2e-6, Quantize: 6e-6, Work: 30e-6, Tail: 5e-6}},
		{"others", others, Turn{Begin: 10e-6, Quantize: 8e-6, Work: 25e-6}},
	} {
		off := math.Abs(c.got.Begin-c.want.Begin) + math.Abs(c.got.Quantize-c.want.Quantize) + math.Abs(c.got.Work-c.want.Work) + math.Abs(c.got.Tail-c.want.Tail)
		if !ok || off > 1e-12 {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	ops[0].Activities = append(ops[0].Activities, [Activities]float64{}) // one that does nothing
	if _, mean, _ := ops[0].Turns(); math.Abs(mean.Work-12.5e-6) > 1e-12 {
		t.Errorf("the mean of two others works %v s, want half of one's 25 µs", mean.Work)
	}
	for name, filter := range map[string]Filter{"a norm of the caller": {Ops: []string{"attn_norm"}}, "between operations": {Ops: []string{names.Unattributed}}} {
		for _, o := range test.Operations(&Ceilings{Threads: 2}, filter) {
			if caller, others, ok := o.Turns(); ok {
				t.Errorf("%s has turns %+v and %+v", name, caller, others)
			}
		}
	}
}

func TestDoubt(t *testing.T) {
	test := twoThreadsTest()
	if got := test.Doubt(); !strings.Contains(got, "observing makes tg2 2% longer") {
		t.Errorf("100 µs and 98 without observation: doubt %q", got)
	}
	for i := range test.Plain {
		test.Plain[i] = 99 * us
	}
	if got := test.Doubt(); got != "" {
		t.Errorf("100 µs and 99 without observation: doubt %q", got)
	}
}

func TestBeaten(t *testing.T) {
	test := twoThreadsTest()
	c := &Ceilings{Threads: 2, Levels: []Level{{"dram", 0, 4e9}}}
	if got := test.Beaten(c); got != "" {
		t.Errorf("far below its bound: %q", got)
	}
	c.Levels[0].Rate = 4e7 // 4000 bytes in 50 µs are 8e7
	if got := test.Beaten(c); !strings.Contains(got, "attn_qkv of tg2 is at 200% of its bound, dram") {
		t.Errorf("at twice its bound: %q", got)
	}
}

// A time changes by as much as its bound, and not below that.
func TestPredict(t *testing.T) {
	test := twoThreadsTest()
	c := &Ceilings{Threads: 2, Levels: []Level{{"memory", 0, 4e9}}}
	same := func(_ Key, w Work) Work { return w }
	half := func(k Key, w Work) Work {
		if k.Op == "attn_qkv" {
			w.Bytes /= 2
		}
		return w
	}
	faster, slow := *c, *c
	faster.Levels, slow.Levels = []Level{{"memory", 0, 8e9}}, []Level{{"memory", 0, 1e8}}
	four := faster
	four.Threads = 4
	for _, tt := range []struct {
		name   string
		then   *Ceilings
		change func(Key, Work) Work
		want   float64 // µs per token, half of a pass
	}{
		{"nothing", c, same, 50},
		{"half of the weights: 2000 of 4000 bytes", c, half, 50 - 0.5/2},
		{"twice the bandwidth, of the norm's 400 bytes too", &faster, same, 50 - 0.55/2},
		{"less bandwidth", &slow, same, 50 + (40-1+4-0.1)/2},
		{"twice the threads: 50 µs, of which 7 serial, 30 serial, 20 between operations", &four, same, (7 + 43.0/2 + 30 + 20) / 2},
	} {
		if got := test.Predict(c, tt.then, tt.change) * 1e6; math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: %v µs, want %v", tt.name, got, tt.want)
		}
	}
}

// strictTrace reads the trace-event format and nothing else: known fields only,
// the spans of a thread in order and one within another or after it.
func strictTrace(r io.Reader) (spans map[string]time.Duration, err error) {
	var trace struct {
		DisplayTimeUnit string `json:"displayTimeUnit"`
		TraceEvents     []struct {
			Name *string        `json:"name"`
			Cat  string         `json:"cat"`
			Ph   string         `json:"ph"`
			Ts   *float64       `json:"ts"`
			Dur  *float64       `json:"dur"`
			Pid  *int           `json:"pid"`
			Tid  *int           `json:"tid"`
			Args map[string]any `json:"args"`
		} `json:"traceEvents"`
	}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&trace); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("something follows the trace: %v", err)
	}
	if u := trace.DisplayTimeUnit; u != "ns" && u != "ms" {
		return nil, fmt.Errorf("time unit %q", u)
	}
	type thread struct{ pid, tid int }
	open := map[thread][]float64{} // ends of the spans around the next
	last := map[thread]float64{}
	spans = map[string]time.Duration{}
	for i, e := range trace.TraceEvents {
		if e.Name == nil || e.Pid == nil || e.Tid == nil {
			return nil, fmt.Errorf("event %d lacks a name, process or thread", i)
		}
		at := thread{*e.Pid, *e.Tid}
		switch e.Ph {
		case "M":
			if name, ok := e.Args["name"].(string); !ok || name == "" || *e.Name != "process_name" && *e.Name != "thread_name" {
				return nil, fmt.Errorf("event %d names nothing: %+v", i, e)
			}
		case "X":
			if e.Ts == nil || e.Dur == nil || *e.Ts < 0 || *e.Dur < 0 || *e.Ts < last[at] {
				return nil, fmt.Errorf("event %d has no time, or one before the last: %+v", i, e)
			}
			const rounding = 1e-3
			for n := len(open[at]); n > 0 && open[at][n-1] <= *e.Ts+rounding; n-- {
				open[at] = open[at][:n-1]
			}
			if n := len(open[at]); n > 0 && *e.Ts+*e.Dur > open[at][n-1]+rounding {
				return nil, fmt.Errorf("event %d begins in another and ends behind it", i)
			}
			open[at], last[at] = append(open[at], *e.Ts+*e.Dur), *e.Ts
			spans[*e.Name] += time.Duration(*e.Dur * 1e3)
		default:
			return nil, fmt.Errorf("event %d is of phase %q", i, e.Ph)
		}
	}
	return spans, nil
}

func TestTrace(t *testing.T) {
	p := &Profile{Tests: []*Test{twoThreadsTest(), twoThreadsTest(), {}}}
	p.Model = `a "model" <b>`
	var b bytes.Buffer
	if err := p.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	spans, err := strictTrace(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for name, want := range map[string]time.Duration{"attn_qkv": 100 * us, "attn_norm": 60 * us, "multiply": 110 * us, "dispatch": 24 * us} {
		if got := spans[name]; got.Round(us) != want {
			t.Errorf("%s lasts %v in the trace, want %v", name, got, want)
		}
	}
	for _, want := range []string{`"tensor":"blk.0.attn_k.weight"`, `"thread 1"`, `"macs":8000`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if err := p.WriteTrace(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk gives %v", err)
	}
	for _, bad := range []string{
		`{}`, `{"displayTimeUnit":"ns","traceEvents":[{"name":"a","ph":"X","pid":1,"tid":1}]}`,
		`{"displayTimeUnit":"ns","traceEvents":[{"name":"a","ph":"X","ts":0,"dur":5,"pid":1,"tid":1},{"name":"b","ph":"X","ts":3,"dur":5,"pid":1,"tid":1}]}`,
	} {
		if _, err := strictTrace(strings.NewReader(bad)); err == nil {
			t.Errorf("the parser takes %s", bad)
		}
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestPprof(t *testing.T) {
	p := &Profile{Tests: []*Test{twoThreadsTest()}}
	var b bytes.Buffer
	if err := p.WritePprof(&b); err != nil {
		t.Fatal(err)
	}
	got, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	labels := map[string]map[string]int64{}
	for _, s := range got.Sample {
		sum += s.Value[0]
		for label, values := range s.Label {
			if labels[label] == nil {
				labels[label] = map[string]int64{}
			}
			labels[label][values[0]] += s.Value[0]
		}
	}
	// 6 passes of 100 µs on two threads.
	if want := int64(2 * 600 * us); sum != want || got.DurationNanos != want/2 {
		t.Errorf("samples of %d ns in %d, want %d in half of that", sum, got.DurationNanos, want)
	}
	for _, tt := range []struct {
		label, value string
		want         time.Duration
	}{
		{"op", "attn_qkv", 600 * us}, {"block", "0", 960 * us}, {"block", "outside", 240 * us}, {"thread", "1", 600 * us},
		{"tensor", "blk.0.attn_k.weight", 210 * us}, {"activity", "wait", 30 * us}, {"activity", "multiply", 330 * us}, {"test", "tg2", 1200 * us},
	} {
		if got := labels[tt.label][tt.value]; got != int64(tt.want) {
			t.Errorf("%s=%s has %d ns, want %d", tt.label, tt.value, got, tt.want)
		}
	}
	var stack []string
	for _, l := range got.Sample[len(got.Sample)-1].Location {
		stack = append(stack, l.Line[0].Function.Name)
	}
	if want := []string{"serial", "unattributed", "tg2"}; !slices.Equal(stack, want) {
		t.Errorf("stack %q, want %q", stack, want)
	}
	if err := p.WritePprof(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk gives %v", err)
	}
}

func TestFlame(t *testing.T) {
	p := &Profile{Tests: []*Test{twoThreadsTest()}}
	root := p.Flame()
	if root.Time != 1200*us || len(root.Children) != 1 || root.Children[0].Children[0].Name != "attn_qkv" {
		t.Fatalf("%+v", root)
	}
	var check func(f *Frame)
	check = func(f *Frame) {
		var sum time.Duration
		for i, c := range f.Children {
			sum += c.Time
			if i > 0 && c.Time > f.Children[i-1].Time {
				t.Errorf("%s is behind a shorter one", c.Name)
			}
			check(c)
		}
		if len(f.Children) > 0 && sum != f.Time {
			t.Errorf("%s has %v, its parts %v", f.Name, f.Time, sum)
		}
	}
	check(root)
}

func TestReconcile(t *testing.T) {
	p := Phase{RSS: 100, Parts: []Part{{Owner: OwnerFile, Resident: 60}, {Owner: OwnerHeap, Resident: 30}}}
	p.Reconcile()
	if got := p.Part(OwnerUnattributed).Resident; got != 10 {
		t.Errorf("%d bytes have no owner, want 10", got)
	}
	if got := p.Part(OwnerCache); got != (Part{Owner: OwnerCache}) {
		t.Errorf("%+v is nobody's", got)
	}
}

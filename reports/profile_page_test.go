package reports

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"onebit/bench/names"
	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/reports/render"
)

// profileFixture is a profile with samples of its own: a model of a hostile
// name, whose second thread comes late.
func profileFixture() (*profiles.Profile, *results.Set) {
	const us = time.Microsecond
	pass := &profiles.Pass{
		Duration: 100 * us,
		Spans: []profiles.Span{
			{Key: profiles.Key{Block: 0, Op: "ffn_down"}, Work: profiles.Work{Bytes: 4000, MACs: 32000, Calls: 1}, Start: 10 * us, End: 60 * us},
			{Key: profiles.Key{Block: profiles.Outside, Op: "output"}, Work: profiles.Work{Bytes: 400, MACs: 800, Calls: 1}, Start: 60 * us, End: 90 * us},
		},
		Threads: [][]profiles.Mark{
			{{At: 12 * us, Dispatch: 1, State: profiles.Dispatching}, {At: 14 * us, Dispatch: 1, State: profiles.Multiplying}, {At: 55 * us, Dispatch: 1, State: profiles.Idle}},
			{{At: 40 * us, Dispatch: 1, State: profiles.Multiplying}, {At: 50 * us, Dispatch: 1, State: profiles.Waiting}},
		},
	}
	test := &profiles.Test{ModelTest: names.ModelTest{Kind: names.Decode, Tokens: 1}, Threads: 2, Tensors: map[profiles.Key][]string{{Block: 0, Op: "ffn_down"}: {"blk.0.ffn_down.weight"}}}
	test.Counts.Add(map[profiles.Key]profiles.Count{{Block: 0, Op: "ffn_down"}: {results.Cycles: 2000, results.Instructions: 5000, results.PageFaults: 0}}, []profiles.Key{{Block: 0, Op: "ffn_down"}})
	c := names.ModelCase{Model: "m<b>1", Variant: "avx2", Act: "q8_128", Packing: names.Packed, Test: test.ModelTest, Threads: 2}
	res := &results.Set{Settings: []results.Setting{{Key: "cpu", Value: "a CPU"}, {Key: "command", Value: "onebit profile"}}}
	for range 6 {
		test.Add(pass, 98*us)
		for _, cost := range test.Passes[0] {
			res.Samples = append(res.Samples, results.Sample{
				Name: results.ParseName(c.Operation(profiles.BlockName(cost.Block), cost.Op)), Iters: 1,
				Values: []results.Metric{{Unit: results.NsPerOp, Value: float64(cost.Time)}},
			})
		}
	}
	p := &profiles.Profile{
		ModelCase: c, Arch: "qwen3", Blocks: 1, Tests: []*profiles.Test{test}, Planned: 6, Warnings: []string{"a <i>doubt</i>"}, NotCounted: []string{"dTLB <why>"},
		Ceilings: profiles.Ceilings{Threads: 2, Levels: []profiles.Level{{Name: "l2", Bytes: 1 << 20, Rate: 1e11}, {Name: names.DRAM, Rate: 1e10}}, Int8: 1e12, Float32: 1e11, Dispatch: us, Source: "a test"},
		WhatIfs: []profiles.WhatIf{
			{Name: "cache in q8_0", Computed: -0.01, Measured: noise.Figure{Center: 0.02, Lo: 0.01, Hi: 0.03}},
			{Name: "one thread more", Computed: math.NaN(), Measured: noise.Figure{Center: math.NaN()}, Why: "2 CPUs"},
		},
		Memory: profiles.Memory{
			Phases: []profiles.Phase{{Name: "open", End: 5 * us, RSS: 100 << 20, Parts: []profiles.Part{{Owner: profiles.OwnerFile, Resident: 90 << 20, Reserved: 95 << 20}}}},
			Looks:  []profiles.Look{{At: us, Anon: 1 << 20, File: 1 << 20}, {At: 5 * us, Anon: 10 << 20, File: 90 << 20}},
		},
	}
	p.Memory.Phases[0].Reconcile()
	return p, res
}

func TestProfilePage(t *testing.T) {
	p, res := profileFixture()
	var page, again bytes.Buffer
	if err := errors.Join(printDoc(&page, ProfileDocument(p, res, profiles.Filter{}), "html", render.Options{}), printDoc(&again, ProfileDocument(p, res, profiles.Filter{}), "html", render.Options{})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page.Bytes(), again.Bytes()) {
		t.Error("the same profile gives two pages")
	}
	text := page.String()
	for _, want := range []string{
		"Profile of m&lt;b&gt;1", "10.2\u00a0k\u00a0tok/s", "could be won", "a &lt;i&gt;doubt", "+2.0 %", "computed from bounds: -1.0%", "2 CPUs", "unattributed", "mapped file",
		"What was counted", ">2.50", "0 for every operation: page-faults/op", "not counted: dTLB &lt;why&gt;",
		`"multiply"`, `"ffn_down in block 0"`, "Roofline of operations", "Resident memory over time", "a test", "The threads beside the first have nothing to do for 90",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, bad := range []string{"<b>1", "NaN<", "NaN ", "<i>doubt", "%!"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	empty := &profiles.Profile{Tests: []*profiles.Test{{Threads: 1}}}
	if err := printDoc(io.Discard, ProfileDocument(empty, &results.Set{}, profiles.Filter{}), "html", render.Options{}); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

// Of a long pass the page draws the beginning.
func TestTimelineIsBounded(t *testing.T) {
	p, _ := profileFixture()
	test := p.Tests[0]
	pass := &profiles.Pass{Duration: time.Second, Threads: make([][]profiles.Mark, 2)}
	for i := range 100_000 {
		pass.Spans = append(pass.Spans, profiles.Span{Key: profiles.Key{Op: "rope"}, Start: time.Duration(i * 10000), End: time.Duration(i*10000 + 5000)})
	}
	test.Shown = pass
	line, about := newTimeline(test)
	for thread, flat := range line.Rows {
		if n := len(flat) / 4; n != mostSegments/2 {
			t.Errorf("thread %d has %d segments, want %d", thread, n, mostSegments/2)
		}
	}
	if line.Length >= int64(time.Second) || !strings.Contains(about, "its first 50ms of 1s") {
		t.Errorf("%d ns: %s", line.Length, about)
	}
}

func TestFlame(t *testing.T) {
	p, _ := profileFixture()
	line := newFlame(p.Flame())
	names := strings.Join(line.Names, "\n")
	if len(line.Rows) != 4 || !strings.HasPrefix(names, "m<b>1\ntg1\n") || line.Rows[0][1] != line.Length || line.Length != int64(1200*time.Microsecond) {
		t.Errorf("%d rows, the first %v of %d: %q", len(line.Rows), line.Rows[0], line.Length, names)
	}
	var longest int64
	for i := 0; i < len(line.Rows[2]); i += 4 { // of operations
		if line.Names[line.Rows[2][i+3]] == "ffn_down" {
			longest = line.Rows[2][i+1]
		}
	}
	if longest != int64(600*time.Microsecond) {
		t.Errorf("ffn_down has %d ns", longest)
	}
	if none := newFlame((&profiles.Profile{}).Flame()); len(none.Rows) != 1 {
		t.Errorf("of nothing: %d rows", len(none.Rows))
	}
}

func TestWriteProfile(t *testing.T) {
	p, res := profileFixture()
	dir := filepath.Join(t.TempDir(), "out")
	if err := render.Folder(t.Context(), dir, ProfileDocument(p, res, profiles.Filter{}), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, pageName)); err != nil || info.Size() == 0 {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, pageName), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := render.Folder(t.Context(), dir, ProfileDocument(p, res, profiles.Filter{}), WriteOptions{}); err == nil || !strings.Contains(err.Error(), "is not a report of onebit") {
		t.Errorf("error %v", err)
	}
}

package metal_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	gpu "onebit/metal"
	"onebit/metal/softmetal/frameworks"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/engine/metal"
	"onebit/models/source"
)

// A watcher keeps what it observes.
type watcher struct{ ops []engine.Op }

func (w *watcher) Observe(op engine.Op) { w.ops = append(w.ops, op) }

// A timer wants times alone.
type timer struct{ watcher }

func (*timer) TimesOnly() {}

// names are the operations, and what they compute.
func (w *watcher) names() (out []string) {
	for _, op := range w.ops {
		name := fmt.Sprintf("%s/%d/%d/%d", op.Name, op.Block, op.Tokens, op.MACs)
		for _, r := range op.Results {
			name += " " + r.Name
		}
		out = append(out, name)
	}
	return out
}

// observed returns the logits after three tokens of a model whose commands are cut where
// there are so many multiply-adds, command buffers that it took, and the GPU's time.
func observed(t *testing.T, d *gpu.Device, work int, o engine.Observer) ([]float32, int, time.Duration) {
	t.Helper()
	m, err := models.Load(t.Context(), source.FromGGUF(file(t, "tiny")), models.Options{Engine: watchedOptions{metal.Options{Device: d, Work: work}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Engine().Close()
	s, err := m.NewSession(models.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Observe(o)
	x, err := s.Prefill(t.Context(), []int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	stream := m.Engine().(*watched).stream
	return slices.Clone(x), stream.(interface{ Encoded() metal.Counts }).Encoded().CommandBuffers, stream.(engine.DeviceTimer).DeviceTime()
}

// Operations are timed while they queue, wherever the GPU notes its clock, and where
// commands are cut: the same as are shown one by one, with as much of the GPU's time as
// there is. A GPU without a clock shows them one by one.
func TestTimes(t *testing.T) {
	d, lib := faulty(t)
	defer lib.Sampling(frameworks.AtStages)
	var one watcher
	want, _, _ := observed(t, d, 0, &one)
	for _, c := range []struct {
		point, work int
		several     bool // command buffers
	}{
		{frameworks.AtStages, 0, false}, {frameworks.AtStages, 1, true}, {frameworks.AtDispatches, 0, false}, {frameworks.Nowhere, 0, true},
	} {
		lib.Sampling(c.point)
		var w timer
		got, buffers, all := observed(t, d, c.work, &w)
		if !slices.Equal(got, want) {
			t.Errorf("at %d: other logits", c.point)
		}
		names := w.names()
		if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(one.names()))) {
			t.Errorf("at %d: %q, want %q", c.point, names, one.names())
		}
		if buffers > 1 != c.several {
			t.Errorf("at %d, cut at %d: %d command buffers", c.point, c.work, buffers)
		}
		var sum time.Duration
		for _, op := range w.ops {
			if op.MACs > 0 && op.Duration <= 0 || op.Start.IsZero() {
				t.Errorf("at %d: %s of block %d takes %v from %v on", c.point, op.Name, op.Block, op.Duration, op.Start)
			}
			if op.Name != "token_embd" { // which the processor does
				sum += op.Duration
			}
		}
		if sum > all || c.point != frameworks.Nowhere && sum < all*9/10 {
			t.Errorf("at %d: operations take %v of %v", c.point, sum, all)
		}
	}
}

// Stamps without memory for them are an error of the stream, and nothing is left
// alive; a stream that is no longer observed has no error.
func TestTimesWithoutMemory(t *testing.T) {
	d, lib := faulty(t)
	x, err := open(t, metal.Options{Device: d}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close(t)
	var w timer
	x.stream.Observe(&w)
	if _, err := x.step(1, 2); err != nil || len(w.ops) == 0 {
		t.Fatalf("%d operations, error %v", len(w.ops), err)
	}
	seen := len(w.ops)
	x.stream.Observe(nil)
	if _, err := x.step(3); err != nil || len(w.ops) != seen {
		t.Errorf("%d operations after the last, error %v", len(w.ops)-seen, err)
	}
	for after := range 8 {
		lib.FailAllocations(after, 1)
		x.stream.Observe(&w)
		_, err := x.step(4)
		lib.FailAllocations(0, 0)
		if err != nil && !errors.Is(err, gpu.ErrOutOfMemory) {
			t.Errorf("allocation %d: %v", after, err)
		}
		if err := x.stream.Truncate(2); err != nil {
			t.Errorf("allocation %d: back: %v", after, err)
		}
	}
}

package lm

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"onebit/internal/sysinfo"
)

// What is planned is what a run takes: what is live behind a step with a checkpoint
// being written, no less than half of it.
func TestFootprint(t *testing.T) {
	for _, change := range []func(*Recipe){
		func(r *Recipe) {},
		func(r *Recipe) { r.Form, r.Embedding, r.Optimizer = "float", "float", "lion" },
		func(r *Recipe) { r.Architecture, r.Form, r.Layers, r.Context, r.Pass = "qwen3", "1bit", 2, 256, 2 },
	} {
		r := smallRecipe()
		change(&r)
		plan, err := r.Footprint()
		if err != nil {
			t.Fatal(err)
		}
		before := live()
		trainer := begin(t, r, 1)
		advance(t, trainer, 1)
		copied := trainer.tensors()
		taken := float64(live() - before)
		const text = 256 << 10 // and its vocabulary, which are a file's
		if most := plan.Total() + text; taken > most || taken < most/2 {
			t.Errorf("%s: %.0f bytes are taken, %.0f planned (%+v)", r.Architecture, taken, most, plan)
		}
		runtime.KeepAlive(trainer)
		runtime.KeepAlive(copied)
	}
}

// live is the bytes of the heap that are in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A run beyond memory is refused with what would fit, before anything is made of it.
func TestBeyondMemory(t *testing.T) {
	for _, change := range []func(*Recipe){
		func(r *Recipe) { r.Layers, r.Hidden, r.FFN = 1<<20, 1<<20, 1<<20 },
		func(r *Recipe) { r.Heads, r.HeadDim = 1<<20, 1<<20 },
		func(r *Recipe) { r.Context = 1 << 29 },
	} {
		r := smallRecipe()
		change(&r)
		var refused *MemoryError
		if _, err := New(r, smallCorpus(), nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "give it fewer layers") {
			t.Errorf("error %v, want a MemoryError", err)
		}
	}
	plan, err := smallRecipe().Footprint()
	if err != nil {
		t.Fatal(err)
	}
	of := func(n float64) sysinfo.Value[sysinfo.Bytes] { return sysinfo.Value[sysinfo.Bytes]{V: sysinfo.Bytes(n)} }
	if err := plan.fits(of(plan.Total())); err != nil {
		t.Errorf("in just enough memory: %v", err)
	}
	if err := plan.fits(of(plan.Total() - 1)); err == nil {
		t.Error("a byte less is enough")
	}
	if err := plan.fits(sysinfo.Value[sysinfo.Bytes]{Err: errors.New("not told")}); err != nil {
		t.Errorf("where the system does not say: %v", err)
	}
}

package models_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/models"
	"onebit/models/engine/cpu"
	"onebit/models/modeltest"
	"onebit/models/source"
)

var streamed = models.Options{Engine: cpu.Options{Packing: cpu.Stream, Threads: 1}}

// Sessions of a checkpoint that is streamed share the block that they are in, and none
// takes it from another.
func TestStreamedSessionsShare(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	x := newFixture(t, preset("tiny-bitnet"))
	ids := text(20, preset("tiny-bitnet").Config.Vocab)
	want := lastLogits(t, x.open(t, models.Options{}))
	m := openPath(t, x.hf(t, modeltest.HF{Linear: "autobitlinear"}), streamed)
	var all sync.WaitGroup
	for range 4 {
		s := session(t, m, models.SessionOptions{Batch: 2})
		all.Go(func() {
			got, err := s.Prefill(t.Context(), ids)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("the logits differ, %v", err)
			}
		})
	}
	all.Wait()
}

// A block that cannot be made again is an error that names the tensor, not a result.
func TestStreamedBlockIsMissing(t *testing.T) {
	x := newFixture(t, preset("tiny-bitnet"))
	dir := x.hf(t, modeltest.HF{Linear: "autobitlinear"})
	m := openPath(t, dir, streamed)
	s := session(t, m, models.SessionOptions{})
	file := filepath.Join(dir, "model.safetensors")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const header = 1 << 14
	if _, err := f.WriteAt(slices.Repeat([]byte{0xff}, int(info.Size())-header), header); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decode(7); err == nil || !strings.Contains(err.Error(), ": tensor \"model.layers.") {
		t.Errorf("error %v", err)
	}
}

// A checkpoint that is streamed has one block's matrices in memory, which is what was
// planned.
func TestHFStreamMemory(t *testing.T) {
	x := newFixture(t, preset("tiny-bitnet"))
	src, err := source.Open(x.hf(t, modeltest.HF{Linear: "autobitlinear"}), streamed.GGUF)
	if err != nil {
		t.Fatal(err)
	}
	counted := &countedSource{Source: src, sizes: map[string]int64{}, live: map[string]bool{}}
	block := int64(0)
	for _, info := range x.projections() {
		counted.sizes[info.Name] = info.Size
		if strings.HasPrefix(info.Name, "blk.0.") {
			block += info.Size
		}
	}
	m, err := models.Load(t.Context(), counted, streamed)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := session(t, m, models.SessionOptions{})
	must(s.Prefill(t.Context(), text(8, m.Config.Vocab)))
	must(s.Decode(1))
	if bytes := counted.bytes(); counted.most != block || bytes != 0 {
		t.Errorf("%d bytes at most and %d at last, want a block's %d and none", counted.most, bytes, block)
	}
	all, one := must(models.NewPlan(src, models.Options{})), must(models.NewPlan(src, streamed))
	head := 2 * int64(m.Head.Rows*m.Head.Cols)
	if got := one.Mapped + one.Packed; got != head+block || all.Mapped+all.Packed < head+2*block {
		t.Errorf("planned %d bytes, want the head's %d and a block's %d", got, head, block)
	}
}

// A countedSource counts the bytes of tensors that are in memory.
type countedSource struct {
	source.Source
	sizes map[string]int64 // of those that count
	live  map[string]bool
	most  int64
}

func (c *countedSource) bytes() (n int64) {
	for name := range c.live {
		n += c.sizes[name]
	}
	return n
}

func (c *countedSource) Tensor(name string) (formats.Tensor, error) {
	c.live[name] = true
	c.most = max(c.most, c.bytes())
	return c.Source.Tensor(name)
}

func (c *countedSource) Release(name string) error {
	delete(c.live, name)
	return c.Source.Release(name)
}

package models_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/modeltest"
)

// loadEnv tells a test, in a process of its own, which model to load.
const loadEnv = "ONEBIT_TEST_LOAD"

// needsPeak skips what this system or a short run of tests leaves out, and two of
// three tests, which take seconds.
func needsPeak(t *testing.T) {
	t.Helper()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("needs seconds, and Linux to reset the peak of resident memory")
	}
	require.Unraced(t, "what the detector shadows is resident too, and how much that is depends on when threads run")
	require.Turns(t, "TestHFLoadMemory", "TestStreamMemory", "TestConvertedHeadMemory")
}

// Loading a checkpoint takes the memory of the packed model and less than one
// block's floats, whatever the number of blocks.
func TestHFLoadMemory(t *testing.T) {
	if dir := os.Getenv(loadEnv); dir != "" {
		fmt.Println("grown by", must(grown(dir, models.Options{}, func(*models.Model) error { return nil })))
		return
	}
	needsPeak(t)
	p := preset("tiny-bitnet")
	c := &p.Config
	c.Layers, c.Hidden, c.FFN, c.Heads, c.KVHeads, c.HeadDim = 3, 1024, 2816, 16, 4, 64
	x := newFixture(t, p)
	packed, weights := 0, 0
	for _, info := range x.tensors {
		packed += int(info.Size)
	}
	for _, info := range x.projections() {
		weights += info.Shape[0] * info.Shape[1]
	}
	blockFloats := 4 * weights / c.Layers
	peak := grownElsewhere(t, x.hf(t, modeltest.HF{}))
	t.Logf("grown by %d KiB: packed %d, one block's floats %d, all %d", peak>>10, packed>>10, blockFloats>>10, 4*weights>>10)
	if peak < packed || peak > packed+blockFloats {
		t.Errorf("resident memory grew by %d bytes, want %d to %d more", peak, packed, blockFloats)
	}
}

// A model that is streamed takes the memory of what lies outside its blocks,
// less an embedding that is no head, and of one block.
func TestStreamMemory(t *testing.T) {
	if path := os.Getenv(loadEnv); path != "" {
		fmt.Println("grown by", must(grown(path, models.Options{Engine: cpu.Options{Packing: cpu.Stream, Threads: 1}}, prefillAndDecode)))
		return
	}
	needsPeak(t)
	p := tinyUntied()
	c := &p.Config
	c.Layers, c.Hidden, c.FFN, c.Heads, c.KVHeads, c.Vocab = 12, 2048, 5632, 16, 4, 1<<16
	x := newFixture(t, p)
	head, block, all := 0, 0, 0
	for _, info := range x.tensors {
		all += int(info.Size)
		switch {
		case info.Name == "output.weight":
			head = int(info.Size)
		case strings.HasPrefix(info.Name, "blk.0."):
			block += int(info.Size)
		}
	}
	const others = 14 << 20 // keys and values in huge pages, logits, the heap, the header, the code that runs
	peak := grownElsewhere(t, x.path(t))
	t.Logf("grown by %d KiB: head %d, a block %d, all %d", peak>>10, head>>10, block>>10, all>>10)
	if most := head + block + others; peak < head || peak > most || all < 2*most {
		t.Errorf("resident memory grew by %d bytes, want %d to %d of %d", peak, head, most, all)
	}
}

// A head that is converted takes its own memory, whatever the packing: what it
// was converted from goes as it is read, but for the rows of a text's tokens if
// that is the embedding.
func TestConvertedHeadMemory(t *testing.T) {
	if path := os.Getenv(loadEnv); path != "" {
		for _, opt := range require.Draw(t, 3, []models.Options{
			{Head: formats.Q8_0, Engine: cpu.Options{Packing: cpu.PackNever, Threads: 2}},
			{Head: formats.Q8_0, Engine: cpu.Options{Packing: cpu.PackBehind, Threads: 2}},
			{Head: formats.Q6_K, Engine: cpu.Options{Packing: cpu.Stream, Threads: 2}},
			{Head: formats.Q1_0_g128, Engine: cpu.Options{Packing: cpu.PackFirst, Threads: 2}},
			{Head: formats.Q1_0_g128, Engine: cpu.Options{Packing: cpu.PackBehind, Threads: 2}},
		}) {
			testConvertedHeadMemory(t, path, opt)
		}
		return
	}
	needsPeak(t)
	for _, p := range require.Draw(t, 2, []*arch.Preset{preset("tiny-bitnet"), tinyUntied()}) {
		p.Config.Hidden, p.Config.Vocab = 1024, 1<<15
		x := newFixture(t, p)
		if !p.Config.TiedHead {
			x.requantize(t, "output.weight", formats.F16)
		}
		t.Logf("%s\n%s", p.Name, elsewhere(t, x.path(t)))
	}
}

func testConvertedHeadMemory(t *testing.T, path string, opt models.Options) {
	var head, before int
	peak := must(grown(path, opt, func(m *models.Model) error {
		head, before = m.Head.Bytes(), 2*m.Head.Rows*m.Head.Cols
		return prefillAndDecode(m)
	}))
	const others = 28 << 20 // as when streaming, and a slab of the old head
	t.Logf("%s, packing %d: grown by %d KiB, head %d, from %d", opt.Head.Name, opt.Engine.(cpu.Options).Packing, peak>>10, head>>10, before>>10)
	if most := head + others; int(peak) < head || int(peak) > most || before < others {
		t.Errorf("resident memory grew by %d bytes, want %d to %d", peak, head, most)
	}
}

// prefillAndDecode uses a model, and waits until it is packed.
func prefillAndDecode(m *models.Model) error {
	s, err := m.NewSession(models.SessionOptions{Context: 16})
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Prefill(context.Background(), text(8, m.Config.Vocab))
	for range 3 {
		if err == nil {
			_, err = s.Decode(1)
		}
	}
	return errors.Join(err, m.Packed())
}

// grownElsewhere runs the test in a process of its own for what it prints.
func grownElsewhere(t *testing.T, model string) (bytes int) {
	t.Helper()
	_, line, _ := strings.Cut(elsewhere(t, model), "grown by ")
	if _, err := fmt.Sscan(line, &bytes); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return bytes
}

// elsewhere runs the test in a process of its own, in which it must not fail.
func elsewhere(t *testing.T, model string) (output string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), loadEnv+"="+model)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// grown returns by how much loading and using a model makes the process's
// resident memory grow at most.
func grown(path string, opt models.Options, use func(*models.Model) error) (int64, error) {
	runtime.GC()
	if err := sysinfo.ResetPeak(); err != nil {
		return 0, err
	}
	before := sysinfo.ReadMemory().RSS
	m, err := models.Open(context.Background(), path, opt)
	if err != nil {
		return 0, err
	}
	if err := use(m); err != nil {
		return 0, errors.Join(err, m.Close())
	}
	after := sysinfo.ReadMemory().Peak
	return int64(after.V - before.V), errors.Join(before.Err, after.Err, m.Close())
}

package models_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/modeltest"
)

// loadEnv tells this test, in a process of its own, which checkpoint to load.
const loadEnv = "ONEBIT_TEST_LOAD"

// Loading a checkpoint takes the memory of the packed model and less than one
// block's floats, whatever the number of blocks.
func TestHFLoadMemory(t *testing.T) {
	if dir := os.Getenv(loadEnv); dir != "" {
		fmt.Println("grown by", must(grown(dir)))
		return
	}
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("needs seconds, and Linux to reset the peak of resident memory")
	}
	p := preset("tiny-bitnet")
	c := &p.Config
	c.Layers, c.Hidden, c.FFN, c.Heads, c.KVHeads, c.HeadDim = 4, 1024, 2816, 16, 4, 64
	x := newFixture(t, p)
	packed, weights := 0, 0
	for _, info := range x.tensors {
		packed += int(info.Size)
	}
	for _, info := range x.projections() {
		weights += info.Shape[0] * info.Shape[1]
	}
	blockFloats := 4 * weights / c.Layers
	cmd := exec.Command(os.Args[0], "-test.run=^TestHFLoadMemory$")
	cmd.Env = append(os.Environ(), loadEnv+"="+x.hf(t, modeltest.HF{}))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var peak int
	_, line, _ := strings.Cut(string(out), "grown by ")
	if _, err := fmt.Sscan(line, &peak); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	t.Logf("grown by %d KiB: packed %d, one block's floats %d, all %d", peak>>10, packed>>10, blockFloats>>10, 4*weights>>10)
	if peak < packed || peak > packed+blockFloats {
		t.Errorf("resident memory grew by %d bytes, want %d to %d more", peak, packed, blockFloats)
	}
}

// grown returns by how much loading makes the process's resident memory grow
// at most.
func grown(dir string) (int64, error) {
	runtime.GC()
	if err := sysinfo.ResetPeak(); err != nil {
		return 0, err
	}
	before := sysinfo.ReadMemory().RSS
	m, err := models.Open(dir, models.Options{})
	if err != nil {
		return 0, err
	}
	after := sysinfo.ReadMemory().Peak
	return int64(after.V - before.V), errors.Join(before.Err, after.Err, m.Close())
}

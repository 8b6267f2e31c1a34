package metal_test

import (
	"errors"
	"runtime"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	gpu "onebit/metal"
	"onebit/metal/metaltest"
	"onebit/models/engine/enginetest"
	"onebit/models/engine/metal"
)

// device opens the Mac's GPU, or the one that is played on Linux. When the test
// ends, nothing may be alive there, or have been done wrong.
func device(t *testing.T) *gpu.Device {
	t.Helper()
	d, err := gpu.Open()
	if runtime.GOOS == "linux" {
		d, err = gpu.OpenFrameworks(metaltest.Played(t))
	}
	if errors.Is(err, gpu.ErrNoDevice) {
		require.Skip(t, "metal", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Products have activations in int8, keys and values are in fp16, whose 11 bits
// make 2⁻²⁴ of a square at most and 2⁻²⁵ as a rule: twice the CPU engine's for sums
// in float32. The rest is rounded a few times to 24 bits.
func TestEngine(t *testing.T) {
	enginetest.Run(t, enginetest.Subject{
		Engine: metal.Options{Device: device(t)},
		Cache:  formats.F16, Products: 5e-3, Attention: 1e-6, Floats: 1e-12,
	})
}

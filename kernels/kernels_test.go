package kernels_test

import (
	"testing"

	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// TestConformance holds every variant to the suite. The reference and scalar
// are its oracles.
func TestConformance(t *testing.T) {
	for _, v := range kernels.Variants() {
		if v.Name == "reference" {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			kerneltest.Run(t, v)
		})
	}
}

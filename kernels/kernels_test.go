package kernels_test

import (
	"testing"

	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// TestConformance holds every variant to the suite, where tests are short a drawn
// quarter of them. The reference and scalar are its oracles.
func TestConformance(t *testing.T) {
	variants := kernels.Variants()
	if testing.Short() {
		variants = require.Draw(t, 4, variants)
	}
	for _, v := range variants {
		if v.Name == "reference" {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			kerneltest.Run(t, v)
		})
	}
}

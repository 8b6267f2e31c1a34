package kerneltest_test

import (
	"testing"

	"onebit/kernels/kerneltest"
)

func TestLookup(t *testing.T) { kerneltest.Run(t, lookup) }

package cases

import (
	"context"
	"errors"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// A check that is interrupted says nothing about the kernel.
func TestKernelCheckInterrupted(t *testing.T) {
	v, err := kernels.Lookup("q1_0_g128", "scalar", kernels.Q8Per128)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = NewKernelProfiling(ctx, KernelOptions{Variant: v, Shape: formats.Shape{Rows: 32, Cols: 128}, Rounds: 1, Host: sysinfo.Host{}})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("error %v, want one that says only that the check was interrupted", err)
	}
}

package models

import (
	"fmt"
	"testing"
)

// TestMemoryAddsUp: parts of another moment, which exceed the peak, are not shown.
func TestMemoryAddsUp(t *testing.T) {
	const line = "BenchmarkModel/model=m/variant=%s/test=tg8/threads=2 1 50 ns/op 8 tok/s 3072 peak-RSS-B %d anon-B 1024 file-B\n"
	_, m := onlyModel(t, fmt.Sprintf(line, "whole", 2048)+fmt.Sprintf(line, "torn", 2560))
	for _, r := range m.runs {
		want := map[string]string{"whole": "3.00 KiB: 2.00 KiB anonymous, 1.00 KiB file", "torn": "3.00 KiB"}[r.variant]
		if got := memoryText(r.peak()); got != want {
			t.Errorf("%s: %q, want %q", r.variant, got, want)
		}
	}
}

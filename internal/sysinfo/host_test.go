package sysinfo

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	h := Probe()
	key := regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	seen := map[string]bool{}
	for _, p := range h.Pairs() {
		t.Logf("%s: %s", p.Key, p.Value)
		if !key.MatchString(p.Key) || seen[p.Key] {
			t.Errorf("key %q is odd or twice there", p.Key)
		}
		seen[p.Key] = true
		if strings.TrimSpace(p.Value) != p.Value || p.Value == "" || strings.ContainsAny(p.Value, "\n\x00") {
			t.Errorf("%s: %q is no line of text", p.Key, p.Value)
		}
	}
	if h.UsableCPUs != runtime.NumCPU() {
		t.Errorf("%d usable CPUs, want %d", h.UsableCPUs, runtime.NumCPU())
	}
	if h.OnlineCPUs.OK() && h.OnlineCPUs.V < h.UsableCPUs {
		t.Errorf("%d CPUs online, but %d usable", h.OnlineCPUs.V, h.UsableCPUs)
	}
	if h.L1d.OK() && h.L2.OK() && h.L1d.V >= h.L2.V {
		t.Errorf("L1d of %v is not smaller than L2 of %v", h.L1d, h.L2)
	}
	if h.MemAvailable.OK() && h.MemAvailable.V > h.MemTotal.V {
		t.Errorf("%v of %v memory available", h.MemAvailable, h.MemTotal)
	}
}

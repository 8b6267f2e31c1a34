package counters

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/results"
)

// powercap makes a folder like the kernel's: its files by path.
func powercap(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func zoneFiles(folder, name, now string) map[string]string {
	return map[string]string{folder + "/name": name, folder + "/energy_uj": now, folder + "/max_energy_range_uj": "1000000000"}
}

func merge(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// TestEnergy: packages and memory add up, their parts and the whole board
// don't count again, and a counter may wrap.
func TestEnergy(t *testing.T) {
	root := powercap(t, merge(
		zoneFiles("intel-rapl:0", "package-0", "999000000"),
		zoneFiles("intel-rapl:0:0", "core", "5"),
		zoneFiles("intel-rapl:0:1", "dram", "100"),
		zoneFiles("intel-rapl:1", "package-1", "0"),
		zoneFiles("intel-rapl:2", "psys", "0"),
	))
	set := func(folder, now string) {
		if err := os.WriteFile(filepath.Join(root, folder, "energy_uj"), []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, missing := openEnergy(root)
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	m := &Meter{sources: found}
	got := count(t, m, 4, func() {
		set("intel-rapl:0", "1000000") // 2 J, over the end of the range
		set("intel-rapl:0:0", "90000000")
		set("intel-rapl:0:1", "500100") // 0.5 J
		set("intel-rapl:1", "1500000")  // 1.5 J
		set("intel-rapl:2", "70000000")
	})
	if got[results.Energy] != 1 {
		t.Errorf("%v J for each of 4 operations, want 1", got[results.Energy])
	}
	set("intel-rapl:1", "rubbish")
	if err := m.Start(); err == nil || !strings.Contains(err.Error(), "energy_uj") {
		t.Errorf("a counter that is no number: %v", err)
	}
}

func TestNoEnergy(t *testing.T) {
	_, missing := openEnergy(filepath.Join(t.TempDir(), "none"))
	if len(missing) != 1 || !strings.Contains(missing[0].String(), "J/op: there is no counter of energy in ") {
		t.Errorf("without powercap: %v", missing)
	}
	_, missing = openEnergy(powercap(t, map[string]string{"intel-rapl:0/name": "package-0"}))
	if len(missing) != 1 || !strings.Contains(missing[0].String(), "max_energy_range_uj") {
		t.Errorf("without a counter: %v", missing)
	}
	_, missing = openEnergy(powercap(t, zoneFiles("intel-rapl:0", "psys", "1")))
	if len(missing) != 1 || !strings.Contains(missing[0].String(), "has no package") {
		t.Errorf("without a package: %v", missing)
	}
}

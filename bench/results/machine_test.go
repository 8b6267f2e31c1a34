package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const oneMachine = "goos: linux\ngoarch: amd64\ncpu: Some CPU\ncpus-usable: 2\nmem-total: 23.54 GiB\ncpu-features: avx2,fma\nemulated: false\ngo-version: go1.26.1\n"

// writeFiles writes results files and returns them in their order.
func writeFiles(t *testing.T, texts ...string) []File {
	t.Helper()
	dir := t.TempDir()
	var files []File
	for i, text := range texts {
		path := filepath.Join(dir, string(rune('a'+i))+".txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, File{Path: path})
	}
	return files
}

func readFleet(t *testing.T, files ...File) *Fleet {
	t.Helper()
	f, err := ReadFleet(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestMachinesAreToldApart changes one line of a header at a time.
func TestMachinesAreToldApart(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(oneMachine, old, new, 1) }
	for _, tc := range []struct {
		name, header, differs string
		machines              int
	}{
		{"the same", oneMachine, "", 1},
		{"another Go", replace("go1.26.1", "go1.26.8"), "", 1},
		{"a little less memory", replace("23.54", "23.51"), "", 1},
		{"another CPU", replace("Some", "Other"), "CPU", 2},
		{"fewer CPUs", replace("usable: 2", "usable: 1"), "CPUs", 2},
		{"more memory", replace("23.54", "47.1"), "memory", 2},
		{"another platform", replace("amd64", "arm64"), "platform", 2},
		{"fewer features", replace("avx2,fma", "fma"), "CPU features", 2},
		{"emulated", replace("emulated: false", "emulated: true\nemulator: qemu"), "emulator", 2},
		{"another host", "host: n2\n" + oneMachine, "", 2}, // the other file has no label to differ from
		{"no header", "", "", 2},
		{"features that could not be found out", replace("avx2,fma", "unavailable: no permission"), "", 1},
		{"all that go test says", "goos: linux\ngoarch: amd64\ncpu: Some CPU\n", "", 1},
		{"another system on the same CPU", "goos: windows\ngoarch: amd64\ncpu: Some CPU\n", "platform", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := writeFiles(t, oneMachine+"BenchmarkX 1 5 ns/op\n", tc.header+"BenchmarkX 1 6 ns/op\n")
			fleet := readFleet(t, files...)
			if len(fleet.Machines) != tc.machines {
				t.Fatalf("%d machines, want %d", len(fleet.Machines), tc.machines)
			}
			if tc.machines == 1 {
				if s := fleet.Machines[0].Samples; len(s) != 2 || s[0].Process == s[1].Process {
					t.Errorf("two files of a machine are no two processes: %+v", s)
				}
				return
			}
			a, b := fleet.Machines[0].Machine(), fleet.Machines[1].Machine()
			if got := strings.Join(a.Differences(b), ", "); got != tc.differs {
				t.Errorf("differences %q, want %q", got, tc.differs)
			}
		})
	}
}

func TestMachineOfNothing(t *testing.T) {
	r := readBack(t, "BenchmarkX 1 5 ns/op\n")
	if m := r.Machine(); m.Known() || m.Emulated() {
		t.Errorf("a file without a header has the machine %+v", m)
	}
	if m := readBack(t, "emulated: true\n").Machine(); !m.Emulated() || m.Emulator != "an emulator" {
		t.Errorf("an emulator without a name: %+v", m)
	}
}

// TestFleetLabels has labels before headers, and none of them in the way of another's.
func TestFleetLabels(t *testing.T) {
	files := writeFiles(t, oneMachine+"BenchmarkX 1 5 ns/op\n", oneMachine+"BenchmarkX 1 6 ns/op\n", "host: c\n"+oneMachine+"BenchmarkX 1 7 ns/op\n", oneMachine+"BenchmarkX 1 8 ns/op\n")
	for i, label := range []string{"a", "b\x1b[2J", "d", "a"} {
		files[i].Label = label
	}
	fleet := readFleet(t, files...)
	var hosts []string
	for _, m := range fleet.Machines {
		hosts = append(hosts, m.Machine().Host)
	}
	if len(hosts) != 3 || hosts[0] != "a" || hosts[2] != "d" || strings.Contains(hosts[1], "\x1b") {
		t.Errorf("hosts %q", hosts)
	}
	if n := len(fleet.Machines[0].Samples); n != 2 {
		t.Errorf("the machine with two files has %d samples", n)
	}
}

// TestFleetLeavesOut names files that would count twice, and those that hold nothing.
func TestFleetLeavesOut(t *testing.T) {
	text := oneMachine + "BenchmarkX 1 5 ns/op\nBenchmarkX 1 6 ns/op\n"
	files := writeFiles(t, text, text, oneMachine, "")
	files[1].Label = "other" // which makes it no other machine
	fleet := readFleet(t, files...)
	if len(fleet.Machines) != 1 || len(fleet.Machines[0].Samples) != 2 {
		t.Errorf("%d machines, the first with %d samples", len(fleet.Machines), len(fleet.Machines[0].Samples))
	}
	want := []string{
		files[1].Path + " holds the samples of " + files[0].Path + " again: they count once",
		files[2].Path + " holds no measurements: it was left out",
		files[3].Path + " holds no measurements: it was left out",
	}
	if !slices.Equal(fleet.Warnings, want) {
		t.Errorf("warnings %q", fleet.Warnings)
	}
	if fleet := readFleet(t, files[2], files[3]); len(fleet.Machines) != 1 || len(fleet.Machines[0].Settings) == 0 {
		t.Error("nothing is left of files without measurements")
	}
	if _, err := ReadFleet(t.Context(), File{Path: files[0].Path + ".none"}); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestLacks(t *testing.T) {
	r := readBack(t, "isa-unavailable: neon avx512\n")
	for variant, want := range map[string]bool{"neon": true, "avx512-lookup": true, "avx512vnni": false, "avx2": false, "": false} {
		if got := r.Lacks(variant); got != want {
			t.Errorf("Lacks(%q) is %v", variant, got)
		}
	}
}

// TestFleetTakesForOne has a file that may be of either of two machines, and so is of none of them.
func TestFleetTakesForOne(t *testing.T) {
	const little = "cpu: Some CPU\nBenchmarkX 1 7 ns/op\n"
	other := strings.Replace(oneMachine, "usable: 2", "usable: 1", 1)
	files := writeFiles(t, little, oneMachine+"BenchmarkX 1 5 ns/op\n", other+"BenchmarkX 1 6 ns/op\n")
	fleet := readFleet(t, files[:2]...)
	if want := files[0].Path + " says less of its machine than other files: it was taken for theirs, Some CPU"; len(fleet.Machines) != 1 || !slices.Equal(fleet.Warnings, []string{want}) {
		t.Errorf("%d machines, warnings %q", len(fleet.Machines), fleet.Warnings)
	}
	if fleet := readFleet(t, files...); len(fleet.Machines) != 3 || fleet.Warnings != nil {
		t.Errorf("%d machines, warnings %q", len(fleet.Machines), fleet.Warnings)
	}
}

//go:build linux

package scripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"onebit/internal/require"
)

var machines = flag.Bool("machines", false, "run tests on described machines (TestMachines)")

// onMachines are the packages whose tests look at the machine.
var onMachines = []string{"bench", "bench/cases", "kernels", "cmd/onebit"}

// A machine is one described to tests (sysinfo.Describe), or what runs beside them.
type machine struct {
	name     string
	env      []string
	prefix   []string // of the command
	features bool     // lacks CPU features, for which a test may be skipped
	busy     bool     // a loop runs on each CPU
}

func describedMachines(t *testing.T) []machine {
	t.Helper()
	describe := func(text string) machine {
		return machine{name: text, env: []string{"ONEBIT_TEST_MACHINE=" + text}}
	}
	return []machine{
		describe("l1d=32K"), describe("l1d=48K"), describe("l1d=64K"), describe("l3=none"), describe("cpus=64,nodes=2"), describe("nothing"),
		{name: "one CPU", prefix: []string{"taskset", "-c", firstCPU(t)}},
		{name: "AVX2", env: []string{"GODEBUG=cpu.all=off,cpu.avx=on,cpu.avx2=on,cpu.fma=on"}, features: true},
		{name: "no features", env: []string{"GODEBUG=cpu.all=off"}, features: true},
		{name: "busy", busy: true},
	}
}

// firstCPU is one that this process may use.
func firstCPU(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^Cpus_allowed_list:\s*(\d+)`).FindSubmatch(status)
	if m == nil {
		t.Fatal("/proc/self/status has no list of CPUs")
	}
	return string(m[1])
}

// TestMachines: each test of these packages comes out on every described machine,
// and beside other work, as on this one. A test may be skipped where the description
// lacks the CPU features that it names, and nowhere else. The same part is drawn on
// each; all machines are taken under ONEBIT_ALL, else every eighth.
func TestMachines(t *testing.T) {
	if !*machines {
		t.Skip("takes minutes; bash .ci/run machines, or -machines")
	}
	bin := t.TempDir()
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", bin+"/")
	for _, p := range onMachines {
		build.Args = append(build.Args, "../"+p)
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("ONEBIT_SEED", fmt.Sprint(require.Seed(t)))
	here := runOn(t, bin, machine{})
	for name, o := range here {
		if o.status == "fail" {
			t.Errorf("%s: fails on this machine: %s", name, o.log)
		}
	}
	for _, m := range require.Draw(t, 8, describedMachines(t)) {
		t.Run(m.name, func(t *testing.T) {
			if m.busy {
				defer beBusy()()
			}
			for _, difference := range here.differences(runOn(t, bin, m), m.features) {
				t.Error(difference)
			}
		})
	}
}

// beBusy runs a loop on each CPU until it is told to end.
func beBusy() (end func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for !over.Load() {
			}
		})
	}
	return func() { over.Store(true); wg.Wait() }
}

// An outcome is how a test ended, as go test -json has it: pass, fail or skip, and
// what it logged.
type outcome struct{ status, log string }

// outcomes are those of tests by package and name.
type outcomes map[string]outcome

// runOn runs the tests of all packages on a machine, side by side.
func runOn(t *testing.T, bin string, m machine) outcomes {
	t.Helper()
	all := outcomes{}
	var lock sync.Mutex
	var wg sync.WaitGroup
	for _, p := range onMachines {
		wg.Go(func() {
			command := slices.Concat([]string{"tool", "test2json", "-p", p}, m.prefix,
				[]string{filepath.Join(bin, filepath.Base(p)+".test"), "-test.v=test2json", "-test.short", "-test.timeout=10m"})
			cmd := exec.Command("go", command...)
			cmd.Dir = filepath.Join("..", p)
			cmd.Env = append(os.Environ(), m.env...)
			out, err := cmd.Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Error(err)
			}
			lock.Lock()
			defer lock.Unlock()
			if err := all.read(bytes.NewReader(out)); err != nil {
				t.Errorf("%s: %v\n%s", p, err, out)
			}
		})
	}
	wg.Wait()
	return all
}

// read adds the outcomes of a package, what test2json prints.
func (all outcomes) read(events io.Reader) error {
	for decoder := json.NewDecoder(events); ; {
		var event struct{ Action, Package, Test, Output string }
		if err := decoder.Decode(&event); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		name := event.Package + " " + event.Test
		o := all[name]
		switch event.Action {
		case "pass", "fail", "skip":
			o.status = event.Action
		case "output":
			o.log += event.Output
		}
		all[name] = o
	}
}

// lacksFeatures matches what require.Skip logs of CPU features.
var lacksFeatures = regexp.MustCompile(`\.go:\d+: (avx|fma|f16c)\w*(,\w+)*: `)

// differences lists the tests that came out otherwise there than here. Where features
// are lacking, a skip that names them is none, nor are the subtests that it leaves out.
func (here outcomes) differences(there outcomes, features bool) (out []string) {
	excused := func(name string) bool {
		for ; features && name != ""; name = parent(name) {
			if o := there[name]; o.status == "skip" && lacksFeatures.MatchString(o.log) {
				return true
			}
		}
		return false
	}
	for name, a := range here {
		if b := there[name]; a.status != b.status && !excused(name) {
			out = append(out, fmt.Sprintf("%s: %s here, %s there: %s", name, a.status, orNone(b.status), b.log))
		}
	}
	for name, b := range there {
		if here[name].status == "" && !excused(name) {
			out = append(out, fmt.Sprintf("%s: none here, %s there: %s", name, b.status, b.log))
		}
	}
	slices.Sort(out)
	return out
}

// parent is the test of a subtest; "" if it is none.
func parent(name string) string {
	i := strings.LastIndex(name, "/")
	if i < strings.Index(name, " ") { // a slash of the package's
		return ""
	}
	return name[:i]
}

func orNone(status string) string {
	if status == "" {
		return "none"
	}
	return status
}

func TestDifferences(t *testing.T) {
	// A line is a test, its outcome and what it logs.
	read := func(lines ...string) outcomes {
		var events strings.Builder
		for _, line := range lines {
			field := strings.SplitN(line, " ", 3)
			for _, event := range []string{`"run"`, fmt.Sprintf(`"output", "Output": %q`, field[2]), fmt.Sprintf("%q", field[1])} {
				fmt.Fprintf(&events, `{"Package": "bench/cases", "Test": %q, "Action": %s}`+"\n", field[0], event)
			}
		}
		all := outcomes{}
		if err := all.read(strings.NewReader(events.String())); err != nil {
			t.Fatal(err)
		}
		return all
	}
	here := read("A pass 1", "B pass 2", "B/1 pass 3", "B/1/x pass 4")
	const features = "b_test.go:1: avx512f,avx512bw: not here"
	for _, tc := range []struct {
		there          outcomes
		want, tolerant []string // where the machine has the features, and where it lacks some
	}{
		{read("A pass 5", "B pass 2", "B/1 pass 3", "B/1/x pass 4"), nil, nil},
		{read("A fail 3, want 4", "B pass 2", "B/1 skip "+features),
			[]string{"A: pass here, fail there: 3, want 4", "B/1/x: pass here, none there: ", "B/1: pass here, skip there: " + features},
			[]string{"A: pass here, fail there: 3, want 4"}},
		{read("A pass 5", "B skip too few CPUs", "C pass 6"),
			[]string{"B/1/x: pass here, none there: ", "B/1: pass here, none there: ", "B: pass here, skip there: too few CPUs", "C: none here, pass there: 6"},
			[]string{"B/1/x: pass here, none there: ", "B/1: pass here, none there: ", "B: pass here, skip there: too few CPUs", "C: none here, pass there: 6"}},
	} {
		for lacking, want := range map[bool][]string{false: tc.want, true: tc.tolerant} {
			got := here.differences(tc.there, lacking)
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], "bench/cases ")
			}
			if !slices.Equal(got, want) {
				t.Errorf("features are lacking: %t: %q, want %q", lacking, got, want)
			}
		}
	}
}

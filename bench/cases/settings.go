package cases

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/clock"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// Settings returns the header of a results file: the keys of go test, what
// is known of the machine, and what the caller adds.
func Settings(host sysinfo.Host, started time.Time, more ...results.Setting) []results.Setting {
	out := []results.Setting{
		{Key: "goos", Value: runtime.GOOS},
		{Key: "goarch", Value: runtime.GOARCH},
		{Key: "pkg", Value: "onebit/bench/cases"},
	}
	for _, p := range host.Pairs() {
		out = append(out, results.Setting{Key: p.Key, Value: p.Value})
	}
	out = append(out,
		results.Setting{Key: "cpu-features", Value: cpu.Detected().String()},
		results.Setting{Key: results.UnavailableKey, Value: strings.Join(unavailable(cpu.Detected()), " ")},
		results.Setting{Key: "gomaxprocs", Value: strconv.Itoa(runtime.GOMAXPROCS(0))},
		results.Setting{Key: results.ClassesKey, Value: strings.Join([]string{names.Threads, names.Cache, names.Test}, " ")},
		results.Setting{Key: "clock-step-ns", Value: strconv.FormatInt(clock.Step().Nanoseconds(), 10)},
		results.Setting{Key: "emulated", Value: strconv.FormatBool(host.Emulated())},
		results.Setting{Key: "started", Value: started.UTC().Format(time.RFC3339)},
	)
	return append(out, more...)
}

// unavailable are the instruction sets of variants that a CPU lacks.
func unavailable(features cpu.Set) []string {
	var lacking []string
	for _, isa := range kernels.ISAs() {
		if isa.Foreign() != nil || !features.Has(isa.Requires) {
			lacking = append(lacking, isa.Name)
		}
	}
	if metalMissing() != nil {
		lacking = append(lacking, names.Metal)
	}
	return lacking
}

// threadDoubts are numbers of threads that name more than run: see kernels.NewPool.
func threadDoubts(threads []int) []string {
	var out []string
	for _, n := range threads {
		if most := runtime.GOMAXPROCS(0); n > most {
			out = append(out, fmt.Sprintf("threads=%d ran on %d, all that this process may run at once", n, most))
		}
	}
	return out
}

// hostDoubts are what the machine makes doubtful about any timing on it.
func hostDoubts(host sysinfo.Host) []string {
	var out []string
	if host.Emulated() {
		out = append(out, "an emulator runs this program: timings say nothing about a real CPU")
	}
	if h := host.Hypervisor; h.OK() && h.V != "" && h.V != "none" {
		out = append(out, "this is a virtual machine: neighbours may share its cores, caches and memory")
	}
	if g := host.Governor; g.OK() && g.V != "" && g.V != "performance" {
		out = append(out, fmt.Sprintf("the CPU frequency governor is %q: the clock may change during the run", g.V))
	}
	return out
}

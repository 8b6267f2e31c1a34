package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/render"
)

// machineFile is the results of a machine with some CPUs, scale times as fast as
// another, in three processes.
func machineFile(t *testing.T, cpus int, scale float64) *results.Set {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "cpu: CPU%v\ncpus-usable: %d\nunavailable: DotPeak/type=bf16/isa=avx512bf16: this machine lacks avx512bf16; Latency/pages=huge: none\n", scale, cpus)
	at := 0.0
	line := func(name string, values string, args ...any) {
		at += 0.25
		fmt.Fprintf(&b, "Benchmark%s-2 1 %s 3.5e+09 Hz 0.01 stolen 0.5 others %v at-s\n", name, fmt.Sprintf(values, args...), at)
	}
	for process := 1; process <= 3; process++ {
		fmt.Fprintf(&b, "# process %d\n# group all\n", process)
		wobble := scale * (1 + 0.01*float64(process))
		for threads := 1; threads <= 2; threads++ {
			for _, size := range []int{8192, 1 << 20, 256 << 20} {
				line(names.Bandwidth{Access: "read", Bytes: size, Pages: "huge", Threads: threads}.String(), "100 ns/op %v read-B/s", 1e11*wobble*8192/float64(size))
			}
			line(names.Bandwidth{Access: "read", Level: "dram", Bytes: 1 << 29, Pages: "huge", Threads: threads}.String(), "100 ns/op %v read-B/s 60 roundtrip-ns", 3e10*wobble)
			line(names.Bandwidth{Access: "copy", Level: "l1d", Bytes: 32768 * int(scale), Pages: "small", Threads: threads}.String(), "100 ns/op %v copy-B/s", 2e11*wobble)
			line(names.DotPeak{Type: "int8", ISA: "avx2", Threads: threads}.String(), "100 ns/op %v mac/s", 1.12e11*wobble*float64(threads))
			line(names.DotPeak{Type: "f32", ISA: "fma", Threads: threads}.String(), "100 ns/op %v mac/s", 5.6e10*wobble*float64(threads))
			line(names.Frequency(threads), "100 ns/op")
			line(names.Dispatch(threads), "%v ns/op", 50/wobble)
			line(names.Gather(threads), "%v ns/op %v estimated-ns", 1e3/wobble, 400*threads)
		}
		for _, size := range []int{8192, 1 << 20} {
			line(names.Latency{Bytes: size, Pages: "small"}.String(), "%v ns/op", float64(size)/8192/wobble)
		}
		line(names.BaseTimer, "20 ns/op")
		for from := range cpus {
			for to := from + 1; to < cpus; to++ {
				line(names.RoundTrip(from, to), "%v ns/op", 40*float64(to-from)/wobble)
			}
		}
	}
	res, err := results.Read(strings.NewReader(b.String()), "machine.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !IsMachine(res) {
		t.Fatal("the results are no machine's")
	}
	return res
}

func TestMachineTable(t *testing.T) {
	var b bytes.Buffer
	printMade(t, &b, "table", render.Options{}, machineFile(t, 2, 1))
	text := b.String()
	for _, want := range []string{
		"CPU1 makes at most 30.6 tok/s with a model of 1 GB of weights", "30.6 GB/s ±4 % read from memory with ", "multiplies and adds 228 G/s int8 with 2 threads (avx2)",
		"memory  read    huge", "L1d     copy    small", "8 KiB", "a cycle", "32.6 a cycle", // 114.2e9/3.5e9
		"until 2 threads have begun and ended", "the same, as onebit estimates it", "800 ns",
		"reading the time", "round trip between CPU 0 and 1", "3.50 GHz",
		"unavailable: DotPeak/type=bf16/isa=avx512bf16: this machine lacks avx512bf16", "unavailable: Latency/pages=huge: none",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	for _, hidden := range []string{"at-s", "stolen", "Round trips"} {
		if strings.Contains(text, hidden) {
			t.Errorf("the table has %q", hidden)
		}
	}
}

func TestMachinePage(t *testing.T) {
	res := machineFile(t, 4, 1)
	var b, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&b, &again} {
		printMade(t, w, "html", render.Options{}, res)
	}
	if b.String() != again.String() {
		t.Error("the page of the same results differs")
	}
	page := b.String()
	for _, want := range []string{
		`aria-label="Reading, over sizes.`, `aria-label="Latency, over sizes.`, `id="peaks"`, `aria-label="The clock and the CPUs, over the run.`, `class="time best"`,
		`id="round-trips"`, "color-mix(in srgb,var(--s1) 40%", ">118<", `name="generator" content="onebit"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestMachinesSideBySide(t *testing.T) {
	machines := []*results.Set{machineFile(t, 2, 1), machineFile(t, 2, 2)}
	for i, host := range []string{"here", "there"} {
		machines[i].Settings = append(machines[i].Settings, results.Setting{Key: "host", Value: host})
	}
	var b bytes.Buffer
	printMade(t, &b, "table", render.Options{}, machines...)
	for _, want := range []string{"1 thread, here", "2 threads, there", "61.2 GB/s", "30.6 GB/s", "there: unavailable: Latency"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &b)
		}
	}
	// Levels are compared though the caches differ in size.
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "L1d     copy") && strings.Count(line, "B/s") != 4 {
			t.Errorf("the level's row has not a value for each machine and thread: %s", line)
		}
	}
	printMade(t, &b, "html", render.Options{}, machines...)
}

func TestPartsOfAMachine(t *testing.T) {
	for _, text := range []string{
		"BenchmarkTimer 1 20 ns/op\n",
		"BenchmarkRoundTrip/from=0/to=1 1 20 ns/op\n",
		"BenchmarkRoundTrip/from=x/to=1 1 20 ns/op\n",
		"BenchmarkBandwidth/access=read/level=l9/bytes=x/pages=huge/threads=-3 1 0 ns/op 0 read-B/s 0 Hz 1e300 at-s\n",
		"BenchmarkLatency/bytes=8192/pages=<b> 1 20 ns/op\nBenchmarkLatency/bytes=16384/pages=<b> 1 20 ns/op\n",
		"BenchmarkDotPeak/type=int8/isa=<script>/threads=1 1 1 ns/op 1e300 mac/s 1e-300 Hz\n",
	} {
		res, err := results.Read(strings.NewReader(text), "part.txt")
		if err != nil || !IsMachine(res) {
			t.Fatalf("%s: %v", text, err)
		}
		var b bytes.Buffer
		printMade(t, &b, "html", render.Options{}, res)
		if strings.Contains(b.String(), "<b>") || strings.Count(b.String(), "<script>") != 1 {
			t.Errorf("%s: the page holds a name's markup", text)
		}
		printMade(t, &b, "table", render.Options{Width: 40}, res)
	}
	if IsMachine(&results.Set{}) {
		t.Error("an empty file is a machine's")
	}
}

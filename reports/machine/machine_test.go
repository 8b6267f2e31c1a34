package machine

import (
	"bytes"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/reports"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

func TestMachineTable(t *testing.T) {
	var b bytes.Buffer
	reportstest.PrintMade(t, &b, "table", render.Options{}, reportstest.MachineFile(t, 2, 1))
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
	res := reportstest.MachineFile(t, 4, 1)
	var b, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&b, &again} {
		reportstest.PrintMade(t, w, "html", render.Options{}, res)
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
	machines := []*results.Set{reportstest.MachineFile(t, 2, 1), reportstest.MachineFile(t, 2, 2)}
	for i, host := range []string{"here", "there"} {
		machines[i].Settings = append(machines[i].Settings, results.Setting{Key: "host", Value: host})
	}
	var b bytes.Buffer
	reportstest.PrintMade(t, &b, "table", render.Options{}, machines...)
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
	reportstest.PrintMade(t, &b, "html", render.Options{}, machines...)
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
		if err != nil || !reports.IsMachine(res) {
			t.Fatalf("%s: %v", text, err)
		}
		var b bytes.Buffer
		reportstest.PrintMade(t, &b, "html", render.Options{}, res)
		if strings.Contains(b.String(), "<b>") || strings.Count(b.String(), "<script>") != 1 {
			t.Errorf("%s: the page holds a name's markup", text)
		}
		reportstest.PrintMade(t, &b, "table", render.Options{Width: 40}, res)
	}
	if reports.IsMachine(&results.Set{}) {
		t.Error("an empty file is a machine's")
	}
}

// Package reportstest has what tests of reports share: results made up, results recorded, and reports printed.
package reportstest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
)

// RankedFormats is three formats on two shapes: b is twice as fast as a, c is as fast as a. The variant
// that is the fastest of a on one shape did not run on the other.
func RankedFormats() string {
	var b strings.Builder
	at := func(format, variant string, rows, ns int) {
		b.WriteString(Repeat(6, fmt.Sprintf("BenchmarkMatVec/format=%s/variant=%s/rows=%d/cols=64/threads=2/cache=cold 1 %d ns/op 75 %%roof %d packed-B 1e-4 nmse",
			format, variant, rows, ns, rows*16)))
	}
	at("a", "x", 64, 1000)
	at("a", "y", 64, 500)
	at("a", "x", 256, 4000)
	at("b", "x", 64, 500)
	at("b", "x", 256, 2000)
	at("b", "x", 512, 9000) // no other format ran it
	at("c", "x", 64, 1000)
	at("c", "x", 256, 4000)
	b.WriteString(Repeat(6, "BenchmarkMatVec/format=c/variant=x/rows=64/cols=64/threads=2/cache=warm 1 1 ns/op"))
	return "cpu: Some CPU\nstarted: 2026-11-22T01:02:03Z\ncommit: 0123456789\n" + b.String()
}

// A Run is what the fixture generator simulates: results as a run of the default suite leaves
// them, random but the same for the same seed.
type Run struct {
	rng      *rand.Rand
	Formats  []fixtureFormat
	shapes   [][2]int
	variants []fixtureVariant
	threads  []int
	samples  int
}

type fixtureFormat struct {
	name  string
	bytes float64 // per weight
}

type fixtureVariant struct {
	name, act string
	rate      float64 // multiply-adds per second on one thread, without the memory's limit
	actNMSE   float64
	padding   float64 // packed bytes over the format's
}

func NewRun(seed uint64) *Run {
	return &Run{
		rng: rand.New(rand.NewPCG(seed, 1)),
		Formats: []fixtureFormat{
			{"q1_0_g128", 18.0 / 128}, {"i2_s", 0.25}, {"ternary_u32", 0.25}, {"tq2_0", 66.0 / 256},
		},
		shapes: [][2]int{{2048, 2048}, {1024, 2048}, {6144, 2048}, {640, 2560}},
		variants: []fixtureVariant{
			{"reference", "f32", 0.35e9, 0, 1},
			{"scalar", "f32", 0.9e9, 0, 1},
			{"scalar", "q8_128", 1.1e9, 4.2e-5, 1},
			{"unrolled", "q8_128", 2.6e9, 4.2e-5, 1},
			{"avx2", "q8_128", 31e9, 4.2e-5, 1},
			{"avx2", "q8_row", 34e9, 9.7e-5, 1},
			{"avxvnni", "q8_128", 47e9, 4.2e-5, 1},
			{"avx512vnni", "q8_128", 68e9, 4.2e-5, 1.03},
			{"avx512vnni-native", "q8_32", 66e9, 1.9e-5, 1.0625},
		},
		threads: []int{1, 2},
		samples: 10,
	}
}

const fixtureHeader = `goos: linux
goarch: amd64
pkg: onebit/bench/cases
cpu: Intel(R) Xeon(R) Processor
cpu-features: avx2,fma,avxvnni,avx512vnni
cores: 2 of 2
l3: 32 MiB
governor: unavailable: no cpufreq
go: go1.26.8
commit: 4f2a1c9
emulated: false
command: onebit bench kernels --count 10

Unit ns/op better=lower
Unit weight-B/s better=higher
Unit %roof better=higher
Unit nmse better=lower assume=exact
Unit packed-B better=lower assume=exact
`

// Results writes the run as a results file.
func (m *Run) Results() []byte {
	var b bytes.Buffer
	b.WriteString(fixtureHeader)
	var lines []string
	for _, f := range m.Formats {
		for _, shape := range m.shapes {
			for _, threads := range m.threads {
				for _, cache := range []string{"warm", "cold"} {
					lines = append(lines, m.group(f, shape, threads, cache)...)
				}
			}
		}
	}
	m.rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for _, line := range lines {
		b.WriteString(line)
	}
	b.WriteString("--- FAIL: BenchmarkMatVec/format=i2_s/variant=avx512vnni/act=q8_row/rows=640/cols=2560/threads=2/cache=warm-2\n" +
		"    row 17 is -3.25, the generic integer path gives -3.5\n" +
		"# warning: the frequency of the CPU is not known: no cpufreq\n" +
		"# warning: a canary loop ran 7% slower in round 4: something else was running\n")
	return b.Bytes()
}

// bandwidth is the reading rate for a footprint under a condition.
func (m *Run) bandwidth(threads int, cache string, bytes float64) float64 {
	if cache == "cold" {
		return 11e9 * math.Pow(float64(threads), 0.6)
	}
	return 38e9 * float64(threads) * math.Pow(bytes/1e6, -0.08)
}

func (m *Run) group(f fixtureFormat, shape [2]int, threads int, cache string) []string {
	weights := float64(shape[0] * shape[1])
	bytes := weights * f.bytes
	roof := m.bandwidth(threads, cache, bytes)
	var lines []string
	for range m.samples {
		rate := roof * (1 + 0.01*m.rng.NormFloat64())
		lines = append(lines, fmt.Sprintf("BenchmarkRead/format=%s/rows=%d/cols=%d/threads=%d/cache=%s-2 100 %.0f ns/op %.4g read-B/s\n",
			f.name, shape[0], shape[1], threads, cache, bytes/rate*1e9, rate))
	}
	for i, v := range m.variants {
		name := fmt.Sprintf("format=%s/variant=%s/act=%s/rows=%d/cols=%d/threads=%d/cache=%s",
			f.name, v.name, v.act, shape[0], shape[1], threads, cache)
		packed := math.Ceil(bytes * v.padding)
		compute := weights / (v.rate * math.Pow(float64(threads), 0.93))
		typical := (compute + 0.35*packed/roof + math.Max(0, 0.65*packed/roof-compute/2)) * 1e9
		lines = append(lines, m.timings("MatVec/"+name, typical, packed, weights, roof, v, i)...)
		if v.name == "scalar" && v.act == "f32" {
			for _, arm := range []string{"a", "b"} {
				lines = append(lines, m.timings("AA/MatVec/"+name+"/arm="+arm, typical, packed, weights, roof, v, i)...)
			}
		}
	}
	return lines
}

func (m *Run) timings(name string, typical, packed, weights, roof float64, v fixtureVariant, i int) []string {
	var lines []string
	for sample := range m.samples {
		ns := typical * (1 + 0.012*m.rng.ExpFloat64())
		if m.rng.IntN(40) == 0 {
			ns *= 1.1 + 0.4*m.rng.Float64() // disturbed
		}
		line := fmt.Sprintf("Benchmark%s-2 %d %.0f ns/op %.4g weight-B/s %.4g mac/s %.3g %%roof %.0f packed-B 0 B/op 0 allocs/op %.3g nmse %.3g act-nmse %.2g kernel-nmse %.3g max-abs-err",
			name, 1+int(2e7/ns), ns, packed/ns*1e9, weights/ns*1e9, packed/ns*1e9/roof*100, packed, v.actNMSE+1e-15*float64(1+i%3), v.actNMSE, 1e-15*float64(1+i%3), math.Sqrt(v.actNMSE)*3+1e-7)
		if sample == 0 {
			line += fmt.Sprintf(" %.0f peak-RSS-B %.0f pack-ns", 9e6+packed*v.padding*2.1+weights/8, weights*0.7*(1+m.rng.Float64()))
		}
		lines = append(lines, line+"\n")
	}
	return lines
}

// Set reads a results file from text, and fails the test if that is impossible.
func Set(t testing.TB, text []byte) *results.Set {
	t.Helper()
	res, err := results.Read(bytes.NewReader(text), "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Small is a fixture for goldens: few cases, quickly read by a person.
func Small() *Run {
	m := NewRun(3)
	m.Formats = m.Formats[:2]
	m.shapes = m.shapes[:1]
	m.variants = slices.Concat(m.variants[1:2], m.variants[4:6], m.variants[7:8])
	m.threads = []int{2}
	m.samples = 6
	return m
}

// ManySamples are those of 80 cases in each of some shapes.
func ManySamples(shapes, rounds int) []byte {
	var text bytes.Buffer
	text.WriteString("classes: threads cache\n\n")
	for round := range rounds {
		if round%5 == 0 {
			fmt.Fprintf(&text, "# process %d\n", round/5+1)
		}
		for shape := range shapes {
			for i := range 80 {
				threads, cache := i/2%2+1, []string{"warm", "cold"}[i%2]
				ns := float64(100*(shape+1)*(i+5)/threads) * (1 + float64(round*7919%100)/1000)
				fmt.Fprintf(&text, "BenchmarkMatVec/format=f%d/variant=v%d/act=q8_32/rows=%d/cols=64/threads=%d/cache=%s 1 %g ns/op %g mac/s %d packed-B 1e-5 nmse 1e-5 act-nmse\n",
					i/40, i/4%10, 64*(shape+1), threads, cache, ns, 64*64*float64(shape+1)/ns*1e9, 1024*(shape+1))
			}
		}
	}
	return text.Bytes()
}

// Repeat is a line so many times.
func Repeat(n int, line string) string { return strings.Repeat(line+"\n", n) }

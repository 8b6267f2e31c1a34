package results

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"golang.org/x/perf/benchunit"

	"onebit/internal/count"
)

// The units of a results file. Readers of the Go benchmark format may tidy
// them (ns/op becomes sec/op); Read gives them back under these names.
const (
	NsPerOp     = "ns/op"
	TimeLow     = "lo-ns"
	TimeHigh    = "hi-ns"
	GPUTime     = "gpu-ns/op"
	WeightRate  = "weight-B/s"
	ReadRate    = "read-B/s"
	OpRate      = "mac/s"
	PctRoof     = "%roof"
	PctPeak     = "%peak"
	TokenRate   = "tok/s"
	PassTokens  = "tok/pass"
	Accepted    = "accepted"
	PackedBytes = "packed-B"
	PeakRSS     = "peak-RSS-B"
	AnonBytes   = "anon-B"
	FileBytes   = "file-B"
	PlanBytes   = "plan-B"
	PlanWeights = "plan-weights-B"
	PlanKV      = "plan-kv-B"
	PlanState   = "plan-state-B"
	PlanScratch = "plan-scratch-B"
	GPUBytes    = "gpu-B"
	PackTime    = "pack-ns"
	NMSE        = "nmse"
	KernelNMSE  = "kernel-nmse"
	ActNMSE     = "act-nmse"
	MaxAbsErr   = "max-abs-err"
	Cosine      = "cosine"
	KLD         = "kld"
	Top1        = "top1"
	Top5        = "top5"
	KLDLow      = "kld-lo"
	KLDHigh     = "kld-hi"
	Top1Low     = "top1-lo"
	Top1High    = "top1-hi"
	Top5Low     = "top5-lo"
	Top5High    = "top5-hi"
	Perplexity  = "ppl"
	RefPpl      = "ref-ppl"
	RoundTrip   = "roundtrip-ns"
	Estimated   = "estimated-ns"
	WriteRate   = "write-B/s"
	CopyRate    = "copy-B/s"
	ClockRate   = "Hz"
	StolenShare = "stolen"
	OtherShare  = "others"
	SinceStart  = "at-s"
	AllocBytes  = "B/op"
	Allocs      = "allocs/op"

	// What a Meter counts; see package counters.
	Cycles          = "cycles/op"
	Instructions    = "instructions/op"
	BranchMisses    = "branch-misses/op"
	CacheMisses     = "cache-misses/op"
	TLBMisses       = "dTLB-misses/op"
	StalledFrontend = "stalled-frontend/op"
	StalledBackend  = "stalled-backend/op"
	PageFaults      = "page-faults/op"
	MajorFaults     = "major-faults/op"
	Switches        = "context-switches/op"
	Migrations      = "migrations/op"
	Energy          = "J/op"
	TokenEnergy     = "J/tok"
	PctCounted      = "%counted"

	// Of a kernel's product, for 128 weights.
	CyclesPerWeights       = "cycles/128w"
	InstructionsPerWeights = "instructions/128w"
)

// A Unit says how to read, compare and print the values of one unit.
type Unit struct {
	Name   string
	Better int    // +1: higher is better, -1: lower is better
	Exact  bool   // the value is computed, not measured: no statistics needed
	About  string // for people
	Format func(v float64) string
}

// Units lists every unit that onebit writes, in the order of a line's values.
var Units = []Unit{
	{NsPerOp, -1, false, "time of one operation", formatNs},
	{TimeLow, -1, true, "lower end of the interval of ns/op, where a line stands for all samples of a case", formatNs},
	{TimeHigh, -1, true, "upper end of that interval", formatNs},
	{GPUTime, -1, false, "time that the GPU worked on one operation, by its own clock", formatNs},
	{WeightRate, +1, false, "weight bytes read per second", formatRate},
	{ReadRate, +1, false, "bytes read per second", formatRate},
	{OpRate, +1, false, "multiply-adds per second", formatSI("/s")},
	{PctRoof, +1, false, "share of what reading alone reached in the same round", formatPercent},
	{PctPeak, +1, false, "share of what multiplying alone reached in the same round", formatPercent},
	{TokenRate, +1, false, "tokens per second", formatSI(" tok/s")},
	{PassTokens, +1, false, "tokens that a pass through the model gave, with drafts", formatSI("")},
	{Accepted, +1, false, "share of the drafted tokens that were right", formatShare},
	{PackedBytes, -1, true, "bytes of the packed weights", formatBytes},
	{PeakRSS, -1, false, "peak resident memory", formatBytes},
	{AnonBytes, -1, false, "its part that is no file's, at the moment of the peak", formatBytes},
	{FileBytes, -1, false, "its part that is mapped files, at the moment of the peak", formatBytes},
	{PlanBytes, -1, true, "memory that the model and its text were planned to take, before they did", formatBytes},
	{PlanWeights, -1, true, "part of the plan for weights, in place and packed", formatBytes},
	{PlanKV, -1, true, "part of the plan for keys and values", formatBytes},
	{PlanState, -1, true, "part of the plan for states without positions, and their copy", formatBytes},
	{PlanScratch, -1, true, "part of the plan for activations, and what attention works in", formatBytes},
	{GPUBytes, -1, false, "memory of the GPU's buffers, as its driver counts it", formatBytes},
	{PackTime, -1, false, "time to pack the weights", formatNs},
	{NMSE, -1, true, "normalized mean squared error against the float64 reference", formatError},
	{KernelNMSE, -1, true, "part of nmse that the kernel adds", formatError},
	{ActNMSE, -1, true, "part of nmse that rounding the activation adds", formatError},
	{MaxAbsErr, -1, true, "largest absolute error against the float64 reference", formatError},
	{Cosine, +1, true, "cosine of the angle to the float64 reference", formatCosine},
	{KLD, -1, true, "Kullback-Leibler divergence from the reference engine, in nats, the mean over positions", formatError},
	{KLDLow, -1, true, "lower end of the 95% interval of kld over positions", formatError},
	{KLDHigh, -1, true, "upper end of the 95% interval of kld over positions", formatError},
	{Top1, +1, true, "share of positions with the reference's most likely token", formatShare},
	{Top1Low, +1, true, "lower end of the 95% interval of top1 over positions", formatShare},
	{Top1High, +1, true, "upper end of the 95% interval of top1 over positions", formatShare},
	{Top5, +1, true, "share of the reference's five most likely tokens", formatShare},
	{Top5Low, +1, true, "lower end of the 95% interval of top5 over positions", formatShare},
	{Top5High, +1, true, "upper end of the 95% interval of top5 over positions", formatShare},
	{Perplexity, -1, true, "perplexity", formatSI("")},
	{RefPpl, -1, true, "perplexity of the reference engine", formatSI("")},
	{Estimated, -1, true, "time that onebit takes an operation for where it cannot measure it", formatNs},
	{RoundTrip, -1, false, "time of a cache line's round trip between two cores", formatNs},
	{WriteRate, +1, false, "bytes written per second", formatRate},
	{CopyRate, +1, false, "bytes read and written per second", formatRate},
	{ClockRate, +1, false, "frequency of the clock, right after the sample", formatSI("Hz")},
	{StolenShare, -1, false, "CPU time that the hypervisor gave to others, per CPU", formatShare},
	{OtherShare, -1, false, "CPU time of other processes, per CPU", formatShare},
	{SinceStart, -1, false, "time of the sample, in seconds after the run's start", formatSI(" s")},
	{AllocBytes, -1, false, "bytes allocated per operation", formatBytes},
	{Allocs, -1, false, "allocations per operation", formatSI("")},
	{Cycles, -1, false, "processor cycles in user mode", formatSI("")},
	{Instructions, -1, false, "instructions in user mode", formatSI("")},
	{BranchMisses, -1, false, "branches predicted wrongly", formatSI("")},
	{CacheMisses, -1, false, "misses of the last cache", formatSI("")},
	{TLBMisses, -1, false, "loads that missed the data TLB", formatSI("")},
	{StalledFrontend, -1, false, "cycles without instructions to start", formatSI("")},
	{StalledBackend, -1, false, "cycles in which instructions waited", formatSI("")},
	{PageFaults, -1, false, "page faults of the process", formatSI("")},
	{MajorFaults, -1, false, "page faults that read from disk", formatSI("")},
	{Switches, -1, false, "context switches of the process", formatSI("")},
	{Migrations, -1, false, "moves of threads to another CPU", formatSI("")},
	{Energy, -1, false, "energy of the processor's packages, whoever used it", formatSI(" J")},
	{TokenEnergy, -1, false, "the same for each token", formatSI(" J")},
	{PctCounted, +1, false, "share of the time in which every counter counted; counts are scaled by it", formatPercent},
	{CyclesPerWeights, -1, false, "cycles of the clock for 128 weights", formatSI("")},
	{InstructionsPerWeights, -1, true, "instructions executed for 128 weights, counted one by one", formatSI("")},
}

// UnitOf returns what is known of a unit; for a unit that Units doesn't list,
// a Unit with Better 0 and a plain format.
func UnitOf(name string) Unit {
	for _, u := range Units {
		if u.Name == name {
			return u
		}
	}
	return Unit{Name: name, About: name, Format: formatSI(" " + name)}
}

// Bounds returns the units in which the ends of a unit's interval are written,
// for units whose interval is computed with the value; "" for others.
func Bounds(unit string) (lo, hi string) {
	switch unit {
	case NsPerOp:
		return TimeLow, TimeHigh
	case KLD:
		return KLDLow, KLDHigh
	case Top1:
		return Top1Low, Top1High
	case Top5:
		return Top5Low, Top5High
	}
	return "", ""
}

func (u Unit) known() bool { return u.Better != 0 }

// untidy undoes benchunit.Tidy: it finds the listed unit that v was written
// in.
func untidy(v Metric) Metric {
	if UnitOf(v.Unit).known() {
		return v
	}
	for _, u := range Units {
		if factor, tidied := benchunit.Tidy(1, u.Name); tidied == v.Unit {
			return Metric{u.Name, v.Value / factor}
		}
	}
	return v
}

func formatNs(v float64) string {
	if math.Abs(v) < 1 {
		return fmt.Sprintf("%.3g ns", v)
	}
	d := time.Duration(v)
	for _, step := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d >= step.size {
			return count.Significant(v/float64(step.size)) + " " + step.name
		}
	}
	return count.Significant(v) + " ns"
}

func formatRate(v float64) string {
	return formatSI("B/s")(v)
}

// formatSI prints with a decimal prefix: 12.3 G.
func formatSI(suffix string) func(float64) string {
	return func(v float64) string {
		for _, step := range []struct {
			size   float64
			prefix string
		}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
			if math.Abs(v) >= step.size {
				return count.Significant(v/step.size) + " " + step.prefix + suffix
			}
		}
		return count.Significant(v) + suffix
	}
}

func formatBytes(v float64) string {
	for _, step := range []struct {
		size float64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if math.Abs(v) >= step.size {
			return count.Significant(v/step.size) + " " + step.name
		}
	}
	return count.Significant(v) + " B"
}

func formatPercent(v float64) string {
	if math.Abs(v) >= count.Unread {
		return count.Significant(v) + " %"
	}
	return fmt.Sprintf("%.1f %%", v)
}

func formatShare(v float64) string { return formatPercent(100 * v) }

func formatCosine(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }

func formatError(v float64) string { return fmt.Sprintf("%.2g", v) }

package profile

import (
	"fmt"
	"math"
	"slices"

	"onebit/bench/hotspot"
	"onebit/bench/noise"
)

// WeightsOf is how many weights the figures of a kernel are for: as many as a block
// of q1_0_g128 has.
const WeightsOf = 128

// A Kernel is what was found of a variant's product with one vector, by one thread.
type Kernel struct {
	Format, Variant, Act string
	Summary, Layout, CPU string
	Rows, Cols           int // of the matrix that was asked for

	Runs      []*KernelRun // those of the product alone first, by level, the nearest first
	Sampler   string       // how samples were taken
	Functions []*KernelFunction

	// Steps is nil where instructions could not be counted, and StepsWhy says why.
	Steps    *KernelSteps
	StepsWhy string

	Disassembler    string // "" where there is none, and DisassemblyWhy says why
	DisassemblyWhy  string
	Bounds          *hotspot.Analysis // of an iteration of the hot loop; nil: BoundsWhy says why
	BoundsWhy       string
	Warnings        []string
	Rounds, Planned int
}

// A KernelRun is a product that was timed.
type KernelRun struct {
	Name  string // of its samples
	Level string // of the caches or memory that weights come from; "": a whole product as bench measures it, activations quantized
	Cache string // of such a product: warm or cold

	Rows, Cols int
	Bytes      int // of a packed matrix

	Times   []float64 // of a product, ns
	Cycles  []float64 // for 128 weights
	Samples int       // that were taken of it; 0: none
}

// Weights is how many blocks of 128 weights the matrix has.
func (r *KernelRun) Weights() float64 { return float64(r.Rows) * float64(r.Cols) / WeightsOf }

// KernelSteps are what a small product executes.
type KernelSteps struct {
	Rows, Cols int // of the larger of the two products that were stepped through

	// Total is the instructions for 128 weights: those that more rows add, of the
	// functions that were disassembled or, if there are none, of all. Once is
	// those for 128 activations that any number of rows takes: quantizing,
	// arranging, tables, handing out.
	Total, Once float64
}

// A KernelFunction is a function that the product spent time or instructions in.
type KernelFunction struct {
	hotspot.Function
	Lines []KernelLine
	// Samples are those of each of the kernel's Runs.
	Samples []int
	Count   float64       // instructions for 128 weights; NaN if that is not known
	Loop    *hotspot.Loop // the hot one; nil if there is none
}

// A KernelLine is an instruction, with its samples in each of the kernel's Runs.
type KernelLine struct {
	hotspot.Instruction
	Samples []int
	Count   float64 // how often it is executed for 128 weights; NaN if that is not known
}

// Hot is the function with most samples; nil if nothing was disassembled.
func (k *Kernel) Hot() *KernelFunction {
	if len(k.Functions) == 0 || len(k.Functions[0].Lines) == 0 {
		return nil
	}
	return k.Functions[0]
}

// LoopLines are those of the hot loop; nil if there is none.
func (f *KernelFunction) LoopLines() []KernelLine {
	if f == nil || f.Loop == nil {
		return nil
	}
	return f.Lines[f.Loop.First : f.Loop.Last+1]
}

// Iterations is how often the hot loop is gone through for 128 weights; NaN where
// that is not known.
func (k *Kernel) Iterations() float64 {
	lines := k.Hot().LoopLines()
	if k.Steps == nil || lines == nil {
		return math.NaN()
	}
	return lines[len(lines)-1].Count
}

// LoopMix is what the hot loop executes for 128 weights, or, where that is not
// known, in one iteration.
func (k *Kernel) LoopMix() (mix hotspot.Mix, perWeights bool) {
	for _, l := range k.Hot().LoopLines() {
		n := 1.0
		if k.Steps != nil {
			n = l.Count
		}
		mix.Add(l.Instruction, n)
	}
	return mix, k.Steps != nil
}

// Mix is what all functions that were disassembled execute for 128 weights; false
// where that is not known.
func (k *Kernel) Mix() (mix hotspot.Mix, ok bool) {
	if k.Steps == nil || k.Hot() == nil {
		return mix, false
	}
	for _, f := range k.Functions {
		for _, l := range f.Lines {
			mix.Add(l.Instruction, l.Count)
		}
	}
	return mix, true
}

// A KernelBound is the least time of 128 weights in the hot loop.
type KernelBound struct {
	Name   string
	Cycles float64
	About  string
}

// BoundsOf are what llvm-mca says bounds the hot loop, for 128 weights; nil where
// either it or the number of iterations is not known.
func (k *Kernel) BoundsOf() []KernelBound {
	n := k.Iterations()
	if k.Bounds == nil || math.IsNaN(n) {
		return nil
	}
	b := k.Bounds
	return []KernelBound{
		{"loads", n * b.Loads, "the loop's loads and prefetches alone"},
		{"ports", n * b.Ports, "the units that its instructions need, and how many may begin in a cycle"},
		{"dependencies", n * b.Simulated, "simulated, with what waits for results; nothing misses a cache"},
	}
}

// memoryBound is how many times the cycles of the nearest level's weights those of
// a farther one take where memory holds the product up.
const memoryBound = 1.15

// alone are the runs of a product by itself, the nearest weights first.
func (k *Kernel) alone() []*KernelRun {
	return slices.DeleteFunc(slices.Clone(k.Runs), func(r *KernelRun) bool { return r.Level == "" || len(r.Cycles) == 0 })
}

// Nearest is the run whose weights come from the nearest level; nil if nothing was measured.
func (k *Kernel) Nearest() *KernelRun {
	for _, r := range k.alone() {
		return r
	}
	return nil
}

// Verdict says what holds the product up, after its name; "" if nothing was measured.
func (k *Kernel) Verdict() string {
	near := k.Nearest()
	if near == nil {
		return ""
	}
	cycles := near.Measured().Center
	b, ok := k.tightest()
	switch {
	case !ok:
		return fmt.Sprintf("takes %.2f cycles for 128 weights from %s", cycles, near.Level)
	case cycles < b.Cycles:
		return fmt.Sprintf("is faster than %s allow on the CPU that llvm-mca knows", b.Name)
	case 2*b.Cycles < cycles:
		return fmt.Sprintf("is far from every bound: %s, the nearest, explain %.0f%% of its cycles", b.Name, 100*b.Cycles/cycles)
	}
	return fmt.Sprintf("is bound by %s, which explain %.0f%% of its cycles", b.Name, 100*b.Cycles/cycles)
}

// Farther says what weights that lie farther away take, a sentence a level.
func (k *Kernel) Farther() (sentences []string) {
	near := k.Nearest()
	for _, r := range k.alone() {
		if r == near {
			continue
		}
		cycles, far := near.Measured().Center, r.Measured().Center
		text := fmt.Sprintf("From %s it takes %.2f", r.Level, far)
		if far > memoryBound*cycles {
			text += fmt.Sprintf(", and waits for memory %.0f%% of the time", 100*(1-cycles/far))
		}
		sentences = append(sentences, text+".")
	}
	return sentences
}

// tightest is the bound that more than the others explains, of those that need
// something: loads, ports, and at last what waits for results.
func (k *Kernel) tightest() (tightest KernelBound, ok bool) {
	for _, b := range k.BoundsOf() {
		// A simulation that adds nothing to ports says that ports are it.
		if b.Cycles > 1.02*tightest.Cycles {
			tightest, ok = b, true
		}
	}
	return tightest, ok
}

// Measured is how many cycles 128 weights took in a run.
func (r *KernelRun) Measured() noise.Figure { return noise.FigureOf(r.Cycles) }

// Rate is the bytes of weights per second.
func (r *KernelRun) Rate() noise.Figure {
	return noise.FigureOf(r.Times).Map(func(ns float64) float64 { return float64(r.Bytes) / ns * 1e9 })
}

// About says what the run is, for people.
func (r *KernelRun) About() string {
	if r.Level == "" {
		return "as bench measures it, " + r.Cache
	}
	return "alone, from " + r.Level
}

// Fastest is the fewest cycles that were measured for 128 weights.
func (k *Kernel) Fastest() float64 {
	fewest := math.Inf(1)
	for _, r := range k.Runs {
		fewest = min(fewest, r.Measured().Center)
	}
	return fewest
}

package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"onebit/bench/hotspot"
	"onebit/bench/noise"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
)

func printKernel(w io.Writer, k *profile.Kernel) error {
	fmt.Fprintf(w, "%s/%s/%s on %s: %s\n", k.Format, k.Variant, k.Act, k.CPU, k.Summary)
	if verdict := k.Verdict(); verdict != "" {
		fmt.Fprintln(w, verdict)
	}
	fmt.Fprintln(w)
	for _, print := range []func(io.Writer, *profile.Kernel) error{printKernelRuns, printFunctions, printMix, printBounds, printHotLoop} {
		if err := print(w, k); err != nil {
			return err
		}
	}
	for _, text := range k.Warnings {
		fmt.Fprintf(w, "warning: %s\n", text)
	}
	return nil
}

func printKernelRuns(w io.Writer, k *profile.Kernel) error {
	table := cli.NewTable(w, "PRODUCT", "SHAPE", "BYTES", "TIME", "95%", "READ RATE", "CYCLES/128W", "95%")
	for _, r := range k.Runs {
		time, cycles := noise.FigureOf(r.Times), r.Measured()
		table.Row(r.About(), fmt.Sprintf("%dx%d", r.Rows, r.Cols), formatAs(results.PackedBytes, float64(r.Bytes)), formatAs(results.NsPerOp, time.Center), spread(time),
			formatAs(results.WeightRate, r.Rate().Center), cli.Fixed(2, cycles.Center), spread(cycles))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "medians of %s; cycles are the time at the clock that was measured before and after, by additions that wait for each other\n", roundsText(k.Rounds, k.Planned))
	return err
}

// printFunctions shows where samples were taken.
func printFunctions(w io.Writer, k *profile.Kernel) error {
	if len(k.Functions) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	header := []any{"FUNCTION"}
	for _, r := range k.Runs {
		if r.Samples > 0 {
			header = append(header, strings.ToUpper(r.Level))
		}
	}
	table := cli.NewTable(w, append(header, "INSTRUCTIONS/128W")...)
	for _, f := range k.Functions {
		row := []any{f.Name}
		for i, r := range k.Runs {
			if r.Samples > 0 {
				row = append(row, fmt.Sprintf("%.1f%%", 100*float64(f.Samples[i])/float64(r.Samples)))
			}
		}
		table.Row(append(row, countText(f.Count, !math.IsNaN(f.Count)))...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	total := 0
	for _, r := range k.Runs {
		total += r.Samples
	}
	_, err := fmt.Fprintf(w, "%d samples by %s\n", total, k.Sampler)
	return err
}

func countText(n float64, known bool) string {
	if !known {
		return "-"
	}
	return strconv.FormatFloat(n, 'g', 4, 64)
}

// printMix shows what is executed for 128 weights.
func printMix(w io.Writer, k *profile.Kernel) error {
	loop, perWeights := k.LoopMix()
	all, known := k.Mix()
	if !known && loop.Total() == 0 {
		return printReason(w, "instructions", k.DisassemblyWhy)
	}
	fmt.Fprintln(w)
	unit := "128 WEIGHTS"
	if !perWeights {
		unit = "ITERATION"
	}
	table := cli.NewTable(w, "INSTRUCTIONS PER "+unit, "HOT LOOP", "ALL")
	for _, kind := range hotspot.Kinds {
		if loop.Kinds[kind] != 0 || all.Kinds[kind] != 0 {
			table.Row(kind, countText(loop.Kinds[kind], true), countText(all.Kinds[kind], known))
		}
	}
	table.Row("all", countText(loop.Total(), true), countText(all.Total(), known))
	table.Row("of which on vectors", countText(loop.Vectors, true), countText(all.Vectors, known))
	table.Row("of which read memory", countText(loop.Reads, true), countText(all.Reads, known))
	if err := table.Flush(); err != nil {
		return err
	}
	if k.Steps == nil {
		return printReason(w, "instructions for 128 weights", k.StepsWhy)
	}
	_, err := fmt.Fprintf(w, "counted one by one in products of %dx%d and of half the rows; besides, %s for 128 activations, once\n", k.Steps.Rows, k.Steps.Cols, cli.Fixed(0, k.Steps.Once))
	return err
}

func printReason(w io.Writer, what, why string) error {
	if why == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: unavailable: %s\n", what, why)
	return err
}

// printBounds shows what llvm-mca says beside what was measured.
func printBounds(w io.Writer, k *profile.Kernel) error {
	fmt.Fprintln(w)
	bounds := k.BoundsOf()
	if bounds == nil {
		why := k.BoundsWhy
		if why == "" {
			why = "how often the loop is gone through is not known"
		}
		return printReason(w, "bounds", why)
	}
	table := cli.NewTable(w, "CYCLES/128W", "OF THE HOT LOOP", "WHAT IT IS")
	for _, b := range bounds {
		table.Row("bound by "+b.Name, cli.Fixed(2, b.Cycles), b.About)
	}
	for _, r := range k.Runs {
		if r.Level != "" {
			table.Row("measured, "+r.Level, cli.Fixed(2, r.Measured().Center), "of the whole function")
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "bounds by %s; something waits for a unit in %.0f%% of the cycles, for a result in %.0f%%\n", k.Bounds.Source(), 100*k.Bounds.OnPorts, 100*k.Bounds.OnResults)
	if k.Bounds.StandIn && k.Fastest() < bounds[1].Cycles {
		fmt.Fprintln(w, "this machine's CPU has more units than the one that stands in: it beats the bound by ports")
	}
	return err
}

// printHotLoop shows the hot loop with its samples.
func printHotLoop(w io.Writer, k *profile.Kernel) error {
	hot := k.Hot()
	fmt.Fprintln(w)
	if hot == nil {
		return printReason(w, "disassembly", k.DisassemblyWhy)
	}
	lines := hot.LoopLines()
	if lines == nil {
		_, err := fmt.Fprintf(w, "%s has no loop with samples; -o writes all of it\n", hot.Name)
		return err
	}
	fmt.Fprintf(w, "hot loop of %s, by %s; shares of its samples\n", hot.Name, k.Disassembler)
	var header []any
	for _, r := range k.Runs {
		if r.Samples > 0 {
			header = append(header, strings.ToUpper(r.Level))
		}
	}
	table := cli.NewTable(w, append(header, "TIMES/128W", "ADDRESS", "INSTRUCTION")...)
	for _, l := range lines {
		var row []any
		for i, r := range k.Runs {
			if r.Samples > 0 {
				row = append(row, shareText(l.Samples[i], hot.Samples[i]))
			}
		}
		table.Row(append(row, countText(l.Count, !math.IsNaN(l.Count)), fmt.Sprintf("%x", l.Addr), l.Instruction)...)
	}
	return table.Flush()
}

func shareText(n, of int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

// A kernelJSON is what --kernel --json prints.
type kernelJSON struct {
	Kernel       string               `json:"kernel"`
	CPU          string               `json:"cpu"`
	Runs         []kernelRunJSON      `json:"runs"`
	Functions    []kernelFunctionJSON `json:"functions"`
	Loop         map[string]float64   `json:"hot_loop_instructions,omitempty"`
	PerWeights   bool                 `json:"per_128_weights"` // else they are those of an iteration
	All          map[string]float64   `json:"instructions_per_128_weights,omitempty"`
	Once         *float64             `json:"instructions_per_128_activations,omitempty"`
	StepsWhy     string               `json:"not_counted,omitempty"`
	Bounds       map[string]float64   `json:"bounds_cycles_per_128_weights,omitempty"`
	BoundsSource string               `json:"bounds_by,omitempty"`
	BoundsWhy    string               `json:"no_bounds,omitempty"`
	Code         []kernelLineJSON     `json:"hot_function"`
	CodeWhy      string               `json:"not_disassembled,omitempty"`
	Warnings     []string             `json:"warnings"`
}

type kernelRunJSON struct {
	Product string     `json:"product"`
	Name    string     `json:"name"`
	Bytes   int        `json:"bytes"`
	Time    jsonFigure `json:"ns"`
	Cycles  jsonFigure `json:"cycles_per_128_weights"`
	Samples int        `json:"samples"`
}

type kernelFunctionJSON struct {
	Name    string `json:"name"`
	Samples []int  `json:"samples"` // by run
}

type kernelLineJSON struct {
	Address     uint64   `json:"address"`
	Instruction string   `json:"instruction"`
	Samples     []int    `json:"samples"` // by run
	Count       *float64 `json:"per_128_weights,omitempty"`
	Loop        bool     `json:"in_hot_loop,omitempty"`
}

func kernelDocument(k *profile.Kernel) kernelJSON {
	d := kernelJSON{
		Kernel: k.Format + "/" + k.Variant + "/" + k.Act, CPU: k.CPU, StepsWhy: k.StepsWhy, BoundsWhy: k.BoundsWhy, CodeWhy: k.DisassemblyWhy,
		Runs: []kernelRunJSON{}, Functions: []kernelFunctionJSON{}, Code: []kernelLineJSON{}, Warnings: append([]string{}, k.Warnings...),
	}
	for _, r := range k.Runs {
		d.Runs = append(d.Runs, kernelRunJSON{r.About(), r.Name, r.Bytes, figureJSON(noise.FigureOf(r.Times)), figureJSON(r.Measured()), r.Samples})
	}
	for _, f := range k.Functions {
		d.Functions = append(d.Functions, kernelFunctionJSON{f.Name, f.Samples})
	}
	var loop hotspot.Mix
	if loop, d.PerWeights = k.LoopMix(); loop.Total() > 0 {
		d.Loop = mixJSON(loop)
	}
	if all, ok := k.Mix(); ok {
		d.All, d.Once = mixJSON(all), finite(k.Steps.Once)
	}
	if bounds := k.BoundsOf(); bounds != nil {
		d.Bounds, d.BoundsSource = map[string]float64{}, k.Bounds.Source()
		for _, b := range bounds {
			d.Bounds[b.Name] = b.Cycles
		}
	}
	if hot := k.Hot(); hot != nil {
		for i, l := range hot.Lines {
			in := hot.Loop != nil && i >= hot.Loop.First && i <= hot.Loop.Last
			d.Code = append(d.Code, kernelLineJSON{l.Addr, l.Instruction.String(), l.Samples, finite(l.Count), in})
		}
	}
	return d
}

func mixJSON(m hotspot.Mix) map[string]float64 {
	out := map[string]float64{"all": m.Total(), "reads": m.Reads, "vectors": m.Vectors}
	for _, kind := range hotspot.Kinds {
		out[kind.String()] = m.Kinds[kind]
	}
	return out
}

package profile

import (
	"onebit/bench/hotspot"
	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/reports/doc"
)

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

func kernelJSONOf(k *profiles.Kernel) kernelJSON {
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
		d.All, d.Once = mixJSON(all), doc.Number(k.Steps.Once)
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
			d.Code = append(d.Code, kernelLineJSON{l.Addr, l.Instruction.String(), l.Samples, doc.Number(l.Count), in})
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

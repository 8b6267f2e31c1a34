package reports

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"onebit/bench/hotspot"
	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/internal/term"
)

var (
	//go:embed assets/kernel.html.tmpl
	kernelSource string
	//go:embed assets/kernel.css
	kernelStyle string
)

var kernelTemplate = sync.OnceValue(func() *template.Template { return newPageTemplate(kernelSource) })

// WriteKernel writes the page of a kernel's profile, index.html, into dir. res are
// the samples of the same run.
func WriteKernel(dir string, k *profiles.Kernel, res *results.Set, opt WriteOptions) error {
	return writeFiles(dir, opt, func(w io.Writer) error { return WriteKernelHTML(w, k, res) })
}

// WriteKernelHTML writes a kernel's profile as one page that needs nothing beside
// it.
func WriteKernelHTML(w io.Writer, k *profiles.Kernel, res *results.Set) error {
	return renderPage(w, kernelTemplate(), newKernelPage(k, res))
}

type kernelPage struct {
	shell
	Advice, Problems       []string
	Sheets                 []*sheet
	Code                   []kernelCode
	CodeAbout              string
	CodeColumns            []kernelCodeColumn
	Sampler, Steps, Bounds string
	Environment            []fact
	Command                string
}

type kernelCodeColumn struct{ Label, Class string }

// A kernelCode is a function's disassembly.
type kernelCode struct {
	Heading string
	Open    bool
	Lines   []kernelCodeLine
}

type kernelCodeLine struct {
	Shares                     []kernelShare
	Count, Kind, Text, Address string
	Loop                       bool
}

// A kernelShare is a share of samples, and a bar as long.
type kernelShare struct {
	Text  string
	Style template.CSS
}

func newKernelPage(k *profiles.Kernel, res *results.Set) *kernelPage {
	d := newDigest(res)
	name := term.Text(k.Format + "/" + k.Variant + "/" + k.Act)
	p := &kernelPage{
		shell:  newShell("Profile of "+name, k.Summary+" · "+d.subtitle()),
		Advice: kernelAdvice(k), Problems: mapped(kernelProblems(k), term.Text), Command: d.res.Setting("command"),
	}
	p.Style += template.CSS(kernelStyle)
	for _, s := range d.res.Settings {
		p.Environment = append(p.Environment, fact{s.Key, s.Value})
	}
	p.Sheets = append(p.Sheets, kernelRunSheet(k))
	if bounds := k.BoundsOf(); bounds != nil {
		p.Sheets = append(p.Sheets, kernelBoundSheet(k, bounds))
		p.Bounds = fmt.Sprintf("Bounds are those of %s: something waits for a unit in %s of the cycles, for a result in %s.", k.Bounds.Source(), percent(k.Bounds.OnPorts), percent(k.Bounds.OnResults))
	}
	if loop, perWeights := k.LoopMix(); loop.Total() > 0 {
		p.Sheets = append(p.Sheets, kernelMixSheet(k, loop, perWeights))
	}
	if k.Steps != nil {
		p.Steps = fmt.Sprintf("Instructions were counted one by one in products of %d × %d and of half the rows: the difference is what rows take. %s instructions for 128 activations are executed once besides.",
			k.Steps.Rows, k.Steps.Cols, count2(k.Steps.Once))
	}
	if len(k.Functions) > 0 {
		p.Sampler = fmt.Sprintf("Samples are by %s.", k.Sampler)
		p.Sheets = append(p.Sheets, kernelFunctionSheet(k))
	}
	p.addCode(k)
	return p
}

func count2(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }

// kernelAdvice says what a reader came for.
func kernelAdvice(k *profiles.Kernel) []string {
	var advice []string
	if verdict := k.Verdict(); verdict != "" {
		advice = append(advice, verdict+".")
	}
	if hot := k.Hot(); hot != nil && hot.Loop != nil && k.Steps != nil {
		mix, _ := k.LoopMix()
		advice = append(advice, fmt.Sprintf("They execute %s instructions, %s of them in the hot loop, of which %s read memory.", count2(k.Steps.Total), count2(mix.Total()), count2(mix.Reads)))
	}
	if bounds := k.BoundsOf(); bounds != nil {
		var texts []string
		for _, b := range bounds {
			texts = append(texts, fmt.Sprintf("%s cycles by its %s", count2(b.Cycles), b.Name))
		}
		text := fmt.Sprintf("The hot loop takes at least %s, says %s", strings.Join(texts, ", "), k.Bounds.Source())
		if k.Bounds.StandIn && k.Fastest() < bounds[1].Cycles {
			text += "; it beats that"
		}
		advice = append(advice, text+".")
	}
	return advice
}

// kernelProblems are warnings, and what is unavailable, with the reason.
func kernelProblems(k *profiles.Kernel) []string {
	all := append([]string{}, k.Warnings...)
	for _, missing := range []struct{ what, why string }{{"instructions for 128 weights", k.StepsWhy}, {"disassembly", k.DisassemblyWhy}, {"bounds", k.BoundsWhy}} {
		if missing.why != "" {
			all = append(all, missing.what+": "+missing.why)
		}
	}
	return all
}

func kernelRunSheet(k *profiles.Kernel) *sheet {
	type run = *profiles.KernelRun
	figure := func(f noise.Figure, format func(float64) string) sheetCell {
		return sheetCell{Text: format(f.Center), Remark: figureSpread(f)}
	}
	return newSheet("runs", "Measured", fmt.Sprintf("One thread; medians of %d rounds with 95 %% intervals.", k.Rounds), k.Runs, []field[run]{
		{label: "product", text: true, cell: func(r run) sheetCell { return sheetCell{Text: r.About()} }},
		{label: "cycles", about: "for 128 weights", cell: func(r run) sheetCell { return figure(r.Measured(), count2) }},
		{label: "time", about: "of a product", cell: func(r run) sheetCell { return figure(noise.FigureOf(r.Times), formatTime) }},
		{label: "reads", about: "weights per second", cell: func(r run) sheetCell {
			return sheetCell{Text: results.UnitOf(results.WeightRate).Format(r.Rate().Center)}
		}},
		{label: "shape", cell: func(r run) sheetCell { return sheetCell{Text: fmt.Sprintf("%d × %d", r.Rows, r.Cols)} }},
		{label: "weights", about: "packed", cell: func(r run) sheetCell {
			return sheetCell{Text: results.UnitOf(results.PackedBytes).Format(float64(r.Bytes))}
		}},
	})
}

// kernelBoundSheet has the bounds, and what was measured.
func kernelBoundSheet(k *profiles.Kernel, bounds []profiles.KernelBound) *sheet {
	all := append([]profiles.KernelBound{}, bounds...)
	for i := range all {
		all[i].Name = "bound by " + all[i].Name
	}
	for _, r := range k.Runs {
		if r.Level != "" {
			all = append(all, profiles.KernelBound{Name: "measured, " + r.Level, Cycles: r.Measured().Center, About: "all of the product"})
		}
	}
	type bound = profiles.KernelBound
	return newSheet("bounds", "Bounds", "Cycles for 128 weights in the hot loop, beside those that were measured. "+k.Bounds.Source()+".", all, []field[bound]{
		{label: "of", text: true, cell: func(b bound) sheetCell { return sheetCell{Text: b.Name} }},
		{label: "cycles", cell: func(b bound) sheetCell { return sheetCell{Text: count2(b.Cycles)} }},
		{label: "what it is", text: true, cell: func(b bound) sheetCell { return sheetCell{Text: b.About} }},
	})
}

func kernelMixSheet(k *profiles.Kernel, loop hotspot.Mix, perWeights bool) *sheet {
	all, known := k.Mix()
	caption := "Instructions for 128 weights, by what they do."
	if !perWeights {
		caption = "Instructions of an iteration of the hot loop, by what they do."
	}
	type row struct {
		name      string
		loop, all float64
	}
	var rows []row
	for _, kind := range hotspot.Kinds {
		if loop.Kinds[kind] != 0 || all.Kinds[kind] != 0 {
			rows = append(rows, row{kind.String(), loop.Kinds[kind], all.Kinds[kind]})
		}
	}
	rows = append(rows, row{"all", loop.Total(), all.Total()}, row{"of which on vectors", loop.Vectors, all.Vectors}, row{"of which read memory", loop.Reads, all.Reads})
	return newSheet("mix", "Instructions", caption, rows, []field[row]{
		{label: "kind", text: true, cell: func(r row) sheetCell { return sheetCell{Text: r.name} }},
		{label: "hot loop", cell: func(r row) sheetCell { return sheetCell{Text: count2(r.loop)} }},
		{label: "all", about: "functions that are shown below", cell: func(r row) sheetCell {
			if !known {
				return sheetCell{}
			}
			return sheetCell{Text: count2(r.all)}
		}},
	})
}

func kernelFunctionSheet(k *profiles.Kernel) *sheet {
	type function = *profiles.KernelFunction
	fields := []field[function]{{label: "function", text: true, cell: func(f function) sheetCell { return sheetCell{Text: shortFunction(f.Name)} }}}
	for i, r := range k.Runs {
		if r.Samples > 0 {
			fields = append(fields, field[function]{label: r.Level, about: fmt.Sprintf("share of %d samples", r.Samples), cell: func(f function) sheetCell {
				return sheetCell{Text: percent(float64(f.Samples[i]) / float64(r.Samples))}
			}})
		}
	}
	if k.Steps != nil {
		fields = append(fields, field[function]{label: "instructions", about: "for 128 weights", cell: func(f function) sheetCell { return sheetCell{Text: count2(f.Count)} }})
	}
	return newSheet("functions", "Functions", "Shares of the samples by where the weights come from. Functions with less than 1 % are left out.", k.Functions, fields)
}

// shortFunction leaves out the path of the package.
func shortFunction(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".abi0")
}

// addCode adds the functions' disassembly, the hot one open.
func (p *kernelPage) addCode(k *profiles.Kernel) {
	for _, r := range k.Runs {
		if r.Samples > 0 {
			p.CodeColumns = append(p.CodeColumns, kernelCodeColumn{r.Level, "number"})
		}
	}
	p.CodeColumns = append(p.CodeColumns, []kernelCodeColumn{{"executed", "number"}, {"kind", "kind"}, {"instruction", "instruction"}, {"address", "address"}}...)
	p.CodeAbout = "By " + k.Disassembler + ". Shares are of the function's samples, with weights from there; executed is how often for 128 weights. The hot loop has a bar beside it. A processor in flight is found at the instruction that waits or at the one behind it."
	for i, f := range k.Functions {
		if len(f.Lines) == 0 {
			continue
		}
		code := kernelCode{Heading: shortFunction(f.Name), Open: i == 0}
		for n, l := range f.Lines {
			line := kernelCodeLine{Kind: l.Kind().String(), Text: l.Instruction.String(), Address: fmt.Sprintf("%x", l.Addr)}
			line.Loop = f.Loop != nil && n >= f.Loop.First && n <= f.Loop.Last
			if !math.IsNaN(l.Count) {
				line.Count = strconv.FormatFloat(l.Count, 'g', 3, 64)
			}
			for j, r := range k.Runs {
				if r.Samples > 0 {
					line.Shares = append(line.Shares, newKernelShare(l.Samples[j], f.Samples[j]))
				}
			}
			code.Lines = append(code.Lines, line)
		}
		p.Code = append(p.Code, code)
	}
}

func newKernelShare(n, of int) kernelShare {
	if n == 0 {
		return kernelShare{}
	}
	share := 100 * float64(n) / float64(of)
	return kernelShare{fmt.Sprintf("%.1f %%", share), template.CSS(fmt.Sprintf("--share: %.0f%%", min(100, 3*share)))}
}

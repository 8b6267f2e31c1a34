package profile

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"onebit/bench/hotspot"
	"onebit/bench/noise"
	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

func init() {
	reports.Register(reports.Kind{
		Name:      "kernel",
		Recognise: func(s *reports.Source) bool { return s.Kind() == "kernel" },
		Build: func(_ context.Context, s *reports.Source) (*doc.Document, error) {
			k := new(profiles.Kernel)
			if err := s.ReadSidecar(k); err != nil {
				return nil, err
			}
			k.Warnings = s.WithWarnings(k.Warnings)
			return KernelDocument(k, s.Machines[0]), nil
		},
	})
}

// KernelDocument says what bounds a kernel. res are the samples of the same run.
func KernelDocument(k *profiles.Kernel, res *results.Set) *doc.Document {
	d := digest.Of(res)
	name := term.Text(k.Format + "/" + k.Variant + "/" + k.Act)
	x := &doc.Document{Title: "Profile of " + name, Subtitle: k.Summary + " · " + d.Subtitle(""), First: []doc.First{kernelFirst(k)}}
	digest.AddRecords(x, []*digest.Member{{Digest: d, Machine: res.Machine()}})
	x.Data = kernelJSONOf(k)
	for _, text := range kernelProblems(k) {
		x.Doubts = append(x.Doubts, doc.Doubt{Text: term.Text(text)})
	}
	if k.Rounds < k.Planned {
		x.Grave = []string{fewerRounds(k.Rounds, k.Planned)}
	}
	x.Add((&doc.Section{ID: "measured", Heading: "Measured"}).Add(kernelRunSheet(k)))
	if loop, perWeights := k.LoopMix(); loop.Total() > 0 {
		x.Add((&doc.Section{ID: "instructions", Heading: "Instructions"}).Add(kernelMixSheet(k, loop, perWeights)))
	}
	if len(k.Functions) > 0 {
		x.Add((&doc.Section{ID: "sampled", Heading: "Functions"}).Add(kernelFunctionSheet(k)))
	}
	x.Add(kernelLoop(k), kernelCode(k), kernelHow(k, d))
	return x.NameParts()
}

// kernelFirst says what bounds the kernel, and shows what was measured beside the bounds.
func kernelFirst(k *profiles.Kernel) doc.First {
	name := term.Text(k.Format + "/" + k.Variant)
	first := doc.First{Verdict: name + " was measured.", Table: kernelBoundSheet(k), Why: words.Sentences(kernelAdvice(k)...)}
	if text := k.Verdict(); text != "" {
		first.Verdict = name + " " + text + "."
	}
	if k.Format != "" {
		first.Next = doc.Command{Line: "onebit bench --filter /format:" + term.Text(k.Format), Does: "ranks the variants of the format"}
	}
	if near := k.Nearest(); near != nil {
		m := near.Measured()
		first.Number, first.NumberOf = count2(m.Center)+" cycles", strings.TrimSpace(figureSpread(m)+" for 128 weights from "+near.Level)
	}
	return first
}

// kernelHow says how it was measured, and where.
func kernelHow(k *profiles.Kernel, d *digest.Digest) *doc.Section {
	s := &doc.Section{ID: "how", Heading: "How it was measured", Only: doc.Page | doc.Markdown}
	text := "One thread. Cycles are the time of a product at the frequency of the clock, which is measured before and after each by additions that wait for each other. " +
		"A product alone is of activations that are quantized once for many; the others are as onebit bench measures them."
	if len(k.Functions) > 0 {
		text += fmt.Sprintf(" Samples are by %s.", k.Sampler)
	}
	if k.Steps != nil {
		text += fmt.Sprintf(" Instructions were counted one by one in products of %d × %d and of half the rows: the difference is what rows take. %s instructions for 128 activations are executed once besides.",
			k.Steps.Rows, k.Steps.Cols, count2(k.Steps.Once))
	}
	if k.BoundsOf() != nil {
		text += fmt.Sprintf(" Bounds are those of %s: something waits for a unit in %s of the cycles, for a result in %s.", k.Bounds.Source(), words.Percent(k.Bounds.OnPorts), words.Percent(k.Bounds.OnResults))
	}
	return s.Add(doc.Text{Words: text}, doc.Facts{List: d.Environment()}, doc.Code(d.Results.Setting("command")))
}

func count2(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }

// kernelAdvice says what a reader came for.
func kernelAdvice(k *profiles.Kernel) []string {
	advice := k.Farther()
	if hot := k.Hot(); hot != nil && hot.Loop != nil && k.Steps != nil {
		mix, _ := k.LoopMix()
		advice = append(advice, fmt.Sprintf("128 weights take %s instructions, %s of them in the hot loop, of which %s read memory.", count2(k.Steps.Total), count2(mix.Total()), count2(mix.Reads)))
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

func kernelRunSheet(k *profiles.Kernel) *doc.Table {
	type run = *profiles.KernelRun
	figure := func(f noise.Figure, format func(float64) string) doc.Cell {
		return doc.Cell{Text: format(f.Center), Remark: figureSpread(f)}
	}
	return words.NewTable("runs", "", fmt.Sprintf("One thread; medians of %d rounds with 95 %% intervals.", k.Rounds), k.Runs, []doc.Field[run]{
		{Label: "product", Text: true, Cell: func(r run) doc.Cell { return doc.Cell{Text: r.About()} }},
		{Label: "cycles", About: "for 128 weights", Cell: func(r run) doc.Cell { return figure(r.Measured(), count2) }},
		{Label: "time", About: "of a product", Cell: func(r run) doc.Cell { return figure(noise.FigureOf(r.Times), words.Time) }},
		{Label: "reads", About: "weights per second", Cell: func(r run) doc.Cell {
			return doc.Cell{Text: results.UnitOf(results.WeightRate).Format(r.Rate().Center)}
		}},
		{Label: "shape", Cell: func(r run) doc.Cell { return doc.Cell{Text: fmt.Sprintf("%d × %d", r.Rows, r.Cols)} }},
		{Label: "weights", About: "packed", Cell: func(r run) doc.Cell {
			return doc.Cell{Text: results.UnitOf(results.PackedBytes).Format(float64(r.Bytes))}
		}},
	})
}

// kernelBoundSheet has the bounds, and beside them what was measured.
func kernelBoundSheet(k *profiles.Kernel) *doc.Table {
	type bound = profiles.KernelBound
	var all []bound
	lengths := make(map[string]doc.Length)
	var about []string
	for _, b := range k.BoundsOf() {
		about = append(about, b.Name+": "+b.About)
		b.Name = "bound by " + b.Name
		lengths[b.Name] = doc.Length{Value: b.Cycles, Low: b.Cycles, High: b.Cycles}
		all = append(all, b)
	}
	for _, r := range k.Runs {
		if r.Level == "" {
			continue
		}
		m := r.Measured()
		b := bound{Name: measuredIn(r), Cycles: m.Center}
		lengths[b.Name] = figureLength(m)
		all = append(all, b)
	}
	scale := doc.NewScale(all, func(b bound) doc.Length { return lengths[b.Name] }, true)
	caption := "Cycles for 128 weights; the line is the interval."
	if k.BoundsOf() != nil {
		caption += " Bounds are of the hot loop, by " + k.Bounds.Source() + "."
	}
	return words.NewTable("bounds", "Measured, beside the bounds", caption, all, []doc.Field[bound]{
		{Label: "of", About: strings.Join(about, "; "), Text: true, Cell: func(b bound) doc.Cell { return doc.Cell{Text: b.Name} }},
		{Label: "cycles/128w", Cell: func(b bound) doc.Cell { return doc.Cell{Text: count2(b.Cycles)} }},
		{Label: "cycles", Text: true, Drop: 2, Cell: func(b bound) doc.Cell {
			cell := scale.Cell(lengths[b.Name])
			if cell.Bar != nil {
				cell.Bar.Tone = ""
				if near := k.Nearest(); near != nil && b.Name == measuredIn(near) {
					cell.Bar.Tone = doc.Leading
				}
			}
			return cell
		}},
	})
}

// measuredIn names a run among the bounds.
func measuredIn(r *profiles.KernelRun) string { return "measured, " + r.Level }

func kernelMixSheet(k *profiles.Kernel, loop hotspot.Mix, perWeights bool) *doc.Table {
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
	return words.NewTable("mix", "", caption, rows, []doc.Field[row]{
		{Label: "kind", Text: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.name} }},
		{Label: "hot loop", Cell: func(r row) doc.Cell { return doc.Cell{Text: count2(r.loop)} }},
		{Label: "all", About: "functions that are shown below", Cell: func(r row) doc.Cell {
			if !known {
				return doc.Cell{}
			}
			return doc.Cell{Text: count2(r.all)}
		}},
	})
}

func kernelFunctionSheet(k *profiles.Kernel) *doc.Table {
	type function = *profiles.KernelFunction
	fields := []doc.Field[function]{{Label: "function", Text: true, Cell: func(f function) doc.Cell { return doc.Cell{Text: shortFunction(f.Name)} }}}
	for i, r := range k.Runs {
		if r.Samples > 0 {
			fields = append(fields, doc.Field[function]{Label: r.Level, About: fmt.Sprintf("share of %d samples", r.Samples), Cell: func(f function) doc.Cell {
				return doc.Cell{Text: words.Percent(float64(f.Samples[i]) / float64(r.Samples))}
			}})
		}
	}
	if k.Steps != nil {
		fields = append(fields, doc.Field[function]{Label: "instructions", About: "for 128 weights", Cell: func(f function) doc.Cell { return doc.Cell{Text: count2(f.Count)} }})
	}
	return words.NewTable("functions", "", "Shares of the samples by where the weights come from. Functions with less than 1 % are left out.", k.Functions, fields)
}

// shortFunction leaves out the path of the package.
func shortFunction(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".abi0")
}

// A kernelLine is an instruction of a function.
type kernelLine struct {
	*profiles.KernelLine
	function *profiles.KernelFunction
	number   int
}

func (l kernelLine) inLoop() bool {
	loop := l.function.Loop
	return loop != nil && l.number >= loop.First && l.number <= loop.Last
}

// kernelListing has lines with the shares of their function's samples.
func kernelListing(k *profiles.Kernel, id, heading string, f *profiles.KernelFunction, keep func(kernelLine) bool) *doc.Table {
	var lines []kernelLine
	for n := range f.Lines {
		if l := (kernelLine{&f.Lines[n], f, n}); keep(l) {
			lines = append(lines, l)
		}
	}
	var fields []doc.Field[kernelLine]
	for i, r := range k.Runs {
		if r.Samples > 0 {
			fields = append(fields, doc.Field[kernelLine]{Label: r.Level, Cell: func(l kernelLine) doc.Cell {
				if l.Samples[i] == 0 {
					return doc.Cell{Strong: l.inLoop()}
				}
				share := float64(l.Samples[i]) / float64(f.Samples[i])
				return doc.Cell{Text: fmt.Sprintf("%.1f %%", 100*share), Shade: min(1, 3*share), Strong: l.inLoop()}
			}})
		}
	}
	t := doc.NewTable(id, heading, "", lines, append(fields, []doc.Field[kernelLine]{
		{Label: "executed", Cell: func(l kernelLine) doc.Cell {
			if math.IsNaN(l.Count) {
				return doc.Cell{}
			}
			return doc.Cell{Text: strconv.FormatFloat(l.Count, 'g', 3, 64)}
		}},
		{Label: "kind", Text: true, Drop: 2, Cell: func(l kernelLine) doc.Cell { return doc.Cell{Text: l.Kind().String()} }},
		{Label: "instruction", Text: true, Cell: func(l kernelLine) doc.Cell { return doc.Cell{Text: l.Instruction.String()} }},
		{Label: "address", Text: true, Drop: 1, Cell: func(l kernelLine) doc.Cell { return doc.Cell{Text: fmt.Sprintf("%x", l.Addr)} }},
	}...))
	t.Listing = true
	return t
}

// kernelLoop is the hot loop, for a terminal; nil without one.
func kernelLoop(k *profiles.Kernel) *doc.Section {
	hot := k.Hot()
	if hot == nil || hot.Loop == nil {
		return nil
	}
	return (&doc.Section{ID: "hot-loop", Only: doc.Terminal}).Add(
		kernelListing(k, "", fmt.Sprintf("Hot loop of %s, by %s; shares of its samples", hot.Name, k.Disassembler), hot, kernelLine.inLoop))
}

// kernelCode is the functions' disassembly, the hot one open.
func kernelCode(k *profiles.Kernel) *doc.Section {
	s := &doc.Section{ID: "code", Heading: "Disassembly", Only: doc.Page}
	for i, f := range k.Functions {
		if len(f.Lines) == 0 {
			continue
		}
		if len(s.Parts) == 0 {
			s.Add(doc.Text{Words: "By " + k.Disassembler + ". Shares are of the function's samples, with weights from there; executed is how often for 128 weights. The hot loop has a bar beside it. A processor in flight is found at the instruction that waits or at the one behind it.", Muted: true})
		}
		t := kernelListing(k, "", shortFunction(f.Name), f, func(kernelLine) bool { return true })
		t.Folded = i > 0
		s.Add(t)
	}
	return s
}

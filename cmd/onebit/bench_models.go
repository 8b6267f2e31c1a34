package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/cases"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/gopher"
)

// defaultPresets are models whose weights are trained and what people come for;
// shortPresets are enough for a look.
var (
	defaultPresets = []string{gopher.Ternary, gopher.OneBit, "bonsai-1.7b", "bitnet-2b-4t"}
	shortPresets   = []string{gopher.Ternary, "bonsai-1.7b"}
)

// checkModels refuses flags that make no sense, and fills in what was left
// out.
func (f *benchFlags) checkModels() error {
	if f.model != "" && len(f.presets) > 0 {
		return cli.Usagef("--model and --preset exclude each other")
	}
	for _, n := range append([]int{f.prompt, f.tokens, f.lockstep}, f.depths...) {
		if n < 0 || n > cases.MaxTokens {
			return cli.Usagef("%d tokens: give a number from 0 to %d", n, cases.MaxTokens)
		}
	}
	for _, n := range f.parallel {
		if n < 1 || n > cases.MaxTexts {
			return cli.Usagef("--parallel %d: give numbers of texts from 1 to %d", n, cases.MaxTexts)
		}
	}
	if f.drafts < 0 || f.drafts > models.MostDraft {
		return cli.Usagef("--speculate=%d: give a number of tokens from 1 to %d", f.drafts, models.MostDraft)
	}
	if f.otherFlags != "" && len(f.others) == 0 {
		return cli.Usagef("--engine-args are for the programs of --engine")
	}
	for _, name := range f.presets {
		if _, err := arch.LookupPreset(name); err != nil && !gopher.Has(name) {
			return cli.Usagef("--preset: %w", err)
		}
	}
	var err error
	if f.headTypes, err = parseHeads(f.heads); err != nil {
		return err
	}
	if f.engines, err = parseEngines(f.others); err != nil {
		return err
	}
	f.cacheType, err = parseCache(f.cache)
	return err
}

// parseEngines takes NAME=PATH apart. A path alone has the program's name.
func parseEngines(all []string) (engines []cases.OtherEngine, err error) {
	for _, text := range all {
		name, path, named := strings.Cut(text, "=")
		if !named {
			name, path = names.LlamaBench, text
		}
		switch {
		case path == "" || !results.ValidKey(name) || results.CheckName("Model/variant="+name) != nil:
			return nil, cli.Usagef("--engine %q: give the path of a llama-bench, or NAME=PATH with a name of lower-case letters, digits, dots and hyphens", text)
		case slices.ContainsFunc(engines, func(e cases.OtherEngine) bool { return e.Name == name }):
			return nil, cli.Usagef("--engine: two programs are called %s: give NAME=PATH", name)
		}
		engines = append(engines, cases.OtherEngine{Name: name, Path: path})
	}
	return engines, nil
}

// modelsSuite returns the cases of models, and what closes their files.
func (f *benchFlags) modelsSuite(cmd *cobra.Command, host sysinfo.Host) (suite *cases.Suite, closeFiles func(), err error) {
	files, closeFiles, err := f.modelFiles(cmd)
	if err != nil {
		return nil, closeFiles, err
	}
	count := func(flag string, n, short int) int {
		if f.short && !cmd.Flags().Changed(flag) {
			return short
		}
		return n
	}
	opt := cases.ModelsOptions{
		Files: withHeads(files, f.headTypes), Prompt: count("n-prompt", f.prompt, 32), Tokens: count("tokens", f.tokens, 16), Depths: f.depths, Parallel: f.parallel, Drafts: f.drafts,
		Lockstep: count("lockstep", f.lockstep, 16),
		Choice:   f.choice(), Activations: f.activations, Threads: f.modelThreads(host), Features: cpu.Detected(), Host: host, Types: f.types, Cache: f.cacheType,
		Again: f.again(), MemoryVerb: f.once(memoryVerb), RunCommand: childCommand("run"), Others: f.engines,
		OtherFlags: strings.Fields(f.otherFlags), Tokenizer: f.tokenizer,
	}
	if f.cache != "" {
		opt.RunCommand = append(opt.RunCommand, "--cache", f.cache)
	}
	if f.tokenizer != "" {
		opt.RunCommand = append(opt.RunCommand, "--tokenizer", f.tokenizer)
	}
	for _, t := range f.types {
		if slices.Contains(i2sPackings(), t) {
			opt.RunCommand = append(opt.RunCommand, "--i2s", t)
		}
	}
	suite, err = cases.Models(cmd.Context(), opt)
	var tooLong *cases.ContextError
	if errors.As(err, &tooLong) {
		err = cli.Usagef("%w", err)
	}
	return suite, closeFiles, err
}

// modelThreads are those of the flag. Without it a run is shorter by half with all
// threads alone, which is how people run models; a filter chooses among one and all.
func (f *benchFlags) modelThreads(host sysinfo.Host) []int {
	if f.threads == nil && f.filter == "" {
		return []int{host.Threads()}
	}
	return f.threads
}

// choice is which variants to measure.
func (f *benchFlags) choice() cases.Choice {
	switch {
	case f.filter != "":
		return cases.AllVariants
	case f.allVariants:
		return cases.SIMDVariants
	}
	return cases.BestVariants
}

// ownHead keeps a file's output head.
const ownHead = "own"

// parseHeads returns the formats of --head, nil for the file's own.
func parseHeads(names []string) (heads []*formats.Type, err error) {
	for _, name := range names {
		var head *formats.Type
		if name != ownHead {
			if head, err = headType(name); err != nil {
				return nil, err
			}
		}
		if slices.Contains(heads, head) {
			return nil, cli.Usagef("--head: %s twice", name)
		}
		heads = append(heads, head)
	}
	return heads, nil
}

// withHeads has each file once with each head.
func withHeads(files []cases.ModelFile, heads []*formats.Type) (out []cases.ModelFile) {
	for _, file := range files {
		for _, head := range heads {
			with := file
			if with.Head = head; head != nil {
				with.Name += "+" + head.Name
			}
			out = append(out, with)
		}
	}
	return out
}

// modelFiles returns the file of --model, or makes those of the presets.
func (f *benchFlags) modelFiles(cmd *cobra.Command) (files []cases.ModelFile, closeFiles func(), err error) {
	if f.model != "" {
		return []cases.ModelFile{cases.NamedModel(f.model)}, nil, nil
	}
	if f.process != nil {
		return f.handed, nil, nil
	}
	presets := f.presets
	switch {
	case presets != nil:
	case f.short:
		presets = shortPresets
	default:
		presets = defaultPresets
	}
	if f.presets == nil && !f.fitsInside() {
		presets = slices.DeleteFunc(slices.Clone(presets), gopher.Has)
	}
	var closers []func() error
	closeFiles = func() {
		for _, c := range closers {
			c()
		}
	}
	for _, name := range presets {
		file, closeFile, err := cases.TemporaryModel(cmd.Context(), name, f.seed, progressOf(cmd))
		if err != nil {
			return nil, closeFiles, err
		}
		closers = append(closers, closeFile)
		files = append(files, file)
	}
	f.handed = files
	return files, closeFiles, nil
}

// insideContext is that of the models inside the program.
const insideContext = 512

// fitsInside reports whether the tests' tokens do in those models.
func (f *benchFlags) fitsInside() bool {
	depth := 0
	if len(f.depths) > 0 {
		depth = slices.Max(f.depths)
	}
	longest := f.tokens // text of those together, each longer by one
	if len(f.parallel) > 0 {
		longest += slices.Max(f.parallel) - 1
	}
	return max(f.prompt, longest, f.lockstep)+depth <= insideContext
}

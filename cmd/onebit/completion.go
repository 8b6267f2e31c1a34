package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/bench/names"
	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/gopher"
	"onebit/models/train/lm"
	"onebit/reports/render"
)

// flagValues complete the value of a flag, whatever verb has it.
var flagValues = map[string]cobra.CompletionFunc{
	"act":        oneOf(activationNames),
	"cache":      oneOf(cacheNames),
	"chat":       oneOf(chatTemplates),
	"engine":     oneOf(engineNames),
	"filter":     completeFilter,
	"gguf-types": oneOf(i2sPackings),
	"head":       oneOf(headNames),
	"model":      modelFiles,
	"preset":     oneOf(benchedModels),
	"tokenizer":  modelFiles,
	"type":       oneOf(writableFormats),
	"variant":    oneOf(variantNames),
}

// verbValues complete flags of which each verb has another, and verbArgs the
// arguments.
var (
	verbValues = map[string]map[string]cobra.CompletionFunc{
		"report": {"format": oneOf(kindNames)},
	}
	verbArgs = map[string]cobra.CompletionFunc{
		"compare":    resultsFiles,
		"convert":    modelFiles,
		"inspect":    modelFiles,
		"man":        cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"perplexity": firstOnly(modelFiles),
		"report":     resultsFiles,
		"run":        firstOnly(modelFiles),
		"synth":      firstOnly(oneOf(presetNames)),
		"train":      firstOnly(oneOf(recipeNames)),
	}
)

// checkShells has completion refuse a shell that it does not know, which cobra's explains
// and calls a success.
func checkShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		var shells []string
		for _, shell := range cmd.Commands() {
			shells = append(shells, shell.Name())
			shell.Example = "  onebit completion " + shell.Name() + " > FILE"
		}
		cmd.Example = "  onebit completion bash > FILE"
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(*cobra.Command, []string) error {
			return cli.Usagef("give one of %s", strings.Join(shells, ", "))
		}
	}
}

// addCompletions says how a verb's flags and arguments complete, and those of
// the verbs below it.
func addCompletions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		values := verbValues[cmd.Name()][flag.Name]
		if values == nil {
			values = flagValues[flag.Name]
		}
		if values != nil {
			cmd.RegisterFlagCompletionFunc(flag.Name, values)
		}
	})
	if args := verbArgs[cmd.Name()]; args != nil {
		cmd.ValidArgsFunction = args
	} else if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, verb := range cmd.Commands() {
		addCompletions(verb)
	}
}

// oneOf completes one of some texts, or the last of a list of them with commas.
func oneOf(texts func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (out []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		for _, text := range texts() {
			out = append(out, before+text)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// modelFiles completes GGUF files and, as shells do beside them, directories.
func modelFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"gguf"}, cobra.ShellCompDirectiveFilterFileExt
}

func resultsFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"txt"}, cobra.ShellCompDirectiveFilterFileExt
}

// firstOnly completes the first argument.
func firstOnly(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// completeFilter completes the last term of a filter: its key, or its value
// where what there can be is known without opening anything.
func completeFilter(_ *cobra.Command, _ []string, typed string) (out []string, _ cobra.ShellCompDirective) {
	at := strings.LastIndexAny(typed, " (") + 1
	if strings.HasSuffix(typed[:at], ":(") {
		at = strings.LastIndex(typed[:at-2], " ") + 1
	}
	before, term := typed[:at], strings.TrimPrefix(typed[at:], "-")
	before += typed[at : len(typed)-len(term)]
	key, value, hasValue := strings.Cut(term, ":")
	if !hasValue {
		for _, k := range filterKeys {
			out = append(out, before+"/"+k+":")
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	values, known := filterValues[strings.TrimPrefix(key, "/")]
	if !known {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	open := ""
	if strings.HasPrefix(value, "(") {
		open = "("
	}
	for _, v := range values() {
		out = append(out, before+key+":"+open+v)
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

var filterKeys = []string{
	names.Format, names.Variant, names.Act, names.Rows, names.Cols, names.Threads, names.Cache,
	names.Model, names.Packing, names.Test, names.Depth,
}

var filterValues = map[string]func() []string{
	names.Format:  formatNames,
	names.Variant: variantNames,
	names.Act:     activationNames,
	names.Cache:   func() []string { return []string{names.Warm, names.Cold} },
	names.Packing: func() []string { return names.Packings },
}

func variantNames() (all []string) {
	for _, v := range kernels.Variants() {
		if !slices.Contains(all, v.Name) {
			all = append(all, v.Name)
		}
	}
	return all
}

// each is a text of each of a list.
func each[T any](all []T, text func(T) string) (out []string) {
	for _, v := range all {
		out = append(out, text(v))
	}
	return out
}

func typeName(t *formats.Type) string { return t.Name }

func formatNames() []string { return each(formats.Types(), typeName) }

func activationNames() []string {
	return each(kernels.Schemes(), func(s kernels.Scheme) string { return string(s) })
}

func engineNames() []string {
	return each(engine.Kinds(), func(k engine.Kind) string { return k.Name })
}

func cacheNames() []string { return each(cpu.CacheFormats(), typeName) }

// headNames are the formats that --head takes, and bench's word for the file's.
func headNames() []string {
	heads := slices.DeleteFunc(slices.Clone(formats.Types()), func(t *formats.Type) bool { return cpu.CheckHead(t) != nil })
	return append([]string{ownHead}, each(heads, typeName)...)
}

func presetNames() []string {
	return each(arch.Presets(), func(p *arch.Preset) string { return p.Name })
}

// benchedModels are the presets and those inside the program.
func benchedModels() []string { return append(gopher.Names(), presetNames()...) }

func recipeNames() []string { return each(lm.Recipes(), func(r lm.Recipe) string { return r.Base }) }

func chatTemplates() []string {
	return each(arch.Chats(), func(c *arch.Chat) string { return c.Name })
}

func kindNames() []string {
	return each(render.Printers(), func(k render.Printer) string { return k.Name })
}

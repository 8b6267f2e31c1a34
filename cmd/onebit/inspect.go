package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
	"onebit/models/arch"
	"onebit/models/inspect"
)

func newInspect() *cobra.Command {
	var (
		model    modelFlags
		tensors  string
		asJSON   bool
		validate bool
		context  int
		memory   memorySize
	)
	cmd := &cobra.Command{
		Use:     "inspect MODEL",
		Short:   "Show a model's metadata, tensors, formats and bits per weight",
		Example: "  onebit inspect model.gguf\n  onebit inspect model.gguf --json",
		Long: "Show the contents of a GGUF file, a .cellm file or a Hugging Face directory: metadata,\n" +
			"tensors with their formats and sizes, totals per format, and whether the tensors\n" +
			"are those of its architecture. The latter two are shown under GGUF's names, and a\n" +
			"directory in the formats in which it is read, so that ternary weights are ternary.\n\n" +
			"The end gives the memory that the model takes with --ctx tokens, and the\n" +
			"largest context that fits, for each format of keys and values.",
		Args: cli.ExactArgs("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := regexp.Compile(tensors)
			if err != nil {
				return cli.Usagef("--tensors: %w", err)
			}
			src, err := model.open(args[0])
			if err != nil {
				return err
			}
			defer src.Close()
			if validate {
				if err := inspect.Validate(src); err != nil {
					return err
				}
			}
			r, err := inspect.Describe(src, filter)
			if m, c := r.Model, context; m != nil && c > m.Config.Context || c < 0 {
				return cli.Usagef("--ctx %d: give a number of tokens, at most the model's", c)
			}
			if r.Model != nil && len(r.Model.Mismatches) == 0 {
				// Nor can a model be run that nothing here computes.
				r.Memory, _ = inspect.PlanMemory(src, context, int64(memory.available().V))
			}
			if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "onebit: warning: metadata without the tokenizer:", term.Text(err.Error()))
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), r)
			}
			return printInspection(cmd.OutOrStdout(), r)
		},
	}
	model.register(cmd)
	model.registerTokenizer(cmd)
	memory.register(cmd.Flags())
	cmd.Flags().IntVar(&context, "ctx", 0, "tokens of context to plan memory for (default: 4096, at most the model's)")
	cmd.Flags().StringVar(&tensors, "tensors", "", "list only tensors whose name matches this regular expression")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&validate, "validate", false, "read every weight: meaningless codes and numbers that are not finite are errors")
	return cmd
}

func printInspection(w io.Writer, r inspect.Model) error {
	for _, part := range []func(io.Writer, inspect.Model) error{printHead, printMetadata, printTensors, printTotals, printInventory, printMemory} {
		if err := part(w, r); err != nil {
			return err
		}
	}
	return nil
}

func printHead(w io.Writer, r inspect.Model) error {
	t := cli.NewTable(w)
	t.Row("file", fmt.Sprintf("%s, %s bytes, %s", term.Quote(r.File), count.Grouped(r.Bytes), r.Kind))
	for i, part := range r.Parts {
		t.Row(fmt.Sprintf("part %d", i+1), fmt.Sprintf("%s, %s bytes, %d tensors", term.Quote(part.File), count.Grouped(part.Bytes), part.Tensors))
	}
	if m := r.Model; m != nil {
		c := m.Config
		t.Row("architecture", fmt.Sprintf("%s (%s)", m.Architecture, m.Summary))
		t.Row("dimensions", fmt.Sprintf("%d blocks, hidden %d, feed-forward %d, %d heads of %d (%d key and value heads)",
			c.Layers, c.Hidden, c.FFN, c.Heads, c.HeadDim, c.KVHeads))
		t.Row("vocabulary", fmt.Sprintf("%s tokens, %s", count.Grouped(c.Vocab), headText(c)))
		t.Row("context", fmt.Sprintf("%s tokens", count.Grouped(c.Context)))
	}
	if r.Readers != "" {
		t.Row("generation", term.Text(r.Readers))
	}
	for _, note := range r.Notes {
		t.Row("note", note)
	}
	return t.Flush()
}

func headText(c arch.Config) string {
	if c.TiedHead {
		return "head tied to the embedding"
	}
	return "head of its own"
}

func printMetadata(w io.Writer, r inspect.Model) error {
	fmt.Fprintln(w)
	t := cli.NewTable(w, "KEY", "KIND", "VALUE")
	for _, k := range r.Metadata {
		t.Row(term.Quote(k.Key), k.Kind, k.Text)
	}
	return t.Flush()
}

func printTensors(w io.Writer, r inspect.Model) error {
	fmt.Fprintln(w)
	t := cli.NewTable(w, "TENSOR", "FORMAT", "SHAPE", "BYTES", "BITS/WEIGHT", "OFFSET")
	for _, i := range r.Tensors {
		offset := fmt.Sprint(i.Offset)
		if i.Part > 0 {
			offset = fmt.Sprintf("%d in part %d", i.Offset, i.Part)
		}
		t.Row(term.Quote(i.Name), formatText(i.Format, i.Supported), shapeText(i.Shape),
			count.Grouped(i.Bytes), fmt.Sprintf("%.4g", i.BitsPerWeight), offset)
	}
	return t.Flush()
}

func printTotals(w io.Writer, r inspect.Model) error {
	fmt.Fprintln(w)
	t := cli.NewTable(w, "FORMAT", "TENSORS", "WEIGHTS", "BYTES", "BITS/WEIGHT")
	for _, f := range append(slices.Clone(r.Formats), r.Total) {
		name := f.Format
		if name != r.Total.Format {
			name = formatText(name, f.Supported)
		}
		t.Row(name, f.Tensors, count.Grouped(f.Weights), count.Grouped(f.Bytes), fmt.Sprintf("%.4g", f.BitsPerWeight))
	}
	return t.Flush()
}

func formatText(format string, supported bool) string {
	if supported {
		return format
	}
	return format + " (unsupported)"
}

// printInventory says how the tensors compare with the architecture's.
func printInventory(w io.Writer, r inspect.Model) error {
	var text string
	switch m := r.Model; {
	case m == nil:
		text = "inventory not checked: " + term.Text(r.ModelError)
	case len(m.Mismatches) == 0:
		text = fmt.Sprintf("inventory complete: the %d tensors of %s", m.Tensors, m.Architecture)
	default:
		lines := []string{fmt.Sprintf("inventory differs from the %d tensors of %s:", m.Tensors, m.Architecture)}
		for _, bad := range m.Mismatches {
			lines = append(lines, fmt.Sprintf("  %s: %s", term.Quote(bad.Tensor), term.Text(bad.Msg)))
		}
		text = strings.Join(lines, "\n")
	}
	_, err := fmt.Fprintf(w, "\n%s\n", text)
	return err
}

func shapeText(shape []int) string {
	var sides []string
	for _, n := range shape {
		sides = append(sides, strconv.Itoa(n))
	}
	return strings.Join(sides, "×")
}

func printMemory(w io.Writer, r inspect.Model) error {
	m := r.Memory
	if m == nil {
		return nil
	}
	size := func(n int64) string { return sysinfo.Bytes(n).String() }
	available := "not known"
	if m.Available > 0 {
		available = size(m.Available)
	}
	fmt.Fprintf(w, "\nmemory: weights %s in place and %s packed, state %s, scratch %s; available %s\n",
		size(m.Mapped), size(m.Packed), size(m.State), size(m.Scratch), available)
	t := cli.NewTable(w, "KEYS AND VALUES", "BYTES A TOKEN", fmt.Sprintf("AT %d TOKENS", m.Context), "WITH THE REST", "LARGEST CONTEXT")
	for _, c := range m.Caches {
		t.Row(c.Format, fmt.Sprintf("%g", c.PerToken), size(c.Bytes), size(c.Total), c.Largest)
	}
	return t.Flush()
}

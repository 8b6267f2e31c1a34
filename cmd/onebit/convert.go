package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/internal/count"
	"onebit/internal/deviation"
	"onebit/internal/term"
	"onebit/models/convert"
	"onebit/models/source"
	"onebit/reports/doc"
)

type convertFlags struct {
	modelFlags
	typ, tensors string
	split        partSize
	force, json  bool
}

func newConvert() *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:     "convert IN OUT [--type FORMAT]",
		Short:   "Re-quantize a model, or bring it to another container",
		Example: "  onebit convert Llama3-8B-1.58-100B-tokens model.gguf\n  onebit convert model.gguf smaller.gguf --type tq1_0",
		Long: "Write the model IN to the GGUF file OUT with its weights in another format, and\n" +
			"report each tensor's error: NMSE, which is Σ(new-old)²/Σold², and the largest\n" +
			"difference.\n\n" +
			"IN is a GGUF file, a .cellm file or a Hugging Face directory, whose tokenizer\n" +
			"comes along. --type may be left out for the latter two: the projections of a\n" +
			"directory that says they are ternary become i2_s, and other weights stay what\n" +
			"they are.\n\n" +
			"An OUT that ends in .cellm is written as such: for qwen3, with weights in\n" +
			"q1_0_g128, copied to the bit, or f16. Its norms are rounded to f16, and it has no\n" +
			"tokenizer: --tokenizer names the model to take it from on the way back.\n\n" +
			"Matrices are converted except embeddings and heads; --tensors chooses others.\n" +
			"Vectors (norms) and tensors that have the format already are copied to the bit.\n" +
			"Weights that are not ternary are ternarized on the way to a ternary format, which\n" +
			"is experimental: a model that was not trained for it will talk nonsense.\n\n" +
			"--split-max-size makes several files of a model, NAME-00001-of-00003.gguf and so\n" +
			"on for an OUT of NAME.gguf, as llama.cpp's gguf-split does: with that many bytes of\n" +
			"tensors at most. A model of several files becomes one without it. For neither is\n" +
			"there need of --type.\n\n" +
			"Formats: " + strings.Join(writableFormats(), ", "),
		Args: cli.ExactArgs("IN", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	f.register(cmd)
	f.registerTokenizer(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.typ, "type", "", "format to convert to")
	flags.StringVar(&f.tensors, "tensors", "", "convert the matrices whose name matches this regular expression")
	flags.Var(&f.split, "split-max-size", "write several files, each with tensors of this `SIZE` at most, such as 2GB")
	flags.BoolVar(&f.force, "force", false, forceUsage)
	flags.BoolVar(&f.json, "json", false, "print JSON instead of a table")
	return cmd
}

// options are what the flags ask for.
func (f *convertFlags) options(output string) (opt convert.Options, err error) {
	opt.MaxPart = int64(f.split)
	if f.typ != "" {
		if opt.To, err = writableFormat(f.typ); err != nil {
			return opt, err
		}
	}
	if f.tensors != "" {
		filter, err := regexp.Compile(f.tensors)
		if err != nil {
			return opt, cli.Usagef("--tensors: %w", err)
		}
		opt.Matrix = filter.MatchString
	}
	opt.Cellm = strings.EqualFold(filepath.Ext(output), ".cellm")
	return opt, nil
}

func (f *convertFlags) run(cmd *cobra.Command, input, output string) error {
	opt, err := f.options(output)
	if err != nil {
		return err
	}
	in, err := f.open(input)
	if err != nil {
		return err
	}
	defer in.Close()
	if opt.Cellm && f.split > 0 {
		return cli.Usagef("--split-max-size is for GGUF files, not .cellm")
	}
	c, err := convert.New(in, opt)
	if errors.Is(err, convert.ErrNothing) {
		_, err = writableFormat("")
	}
	if err != nil {
		return err
	}
	var notes []string
	if c.Moves() {
		notes = source.Notes(in)
	}
	paths := c.Paths(output)
	bar := cli.NewProgress(cmd.ErrOrStderr(), "convert", c.Bytes())
	err = cli.WriteFiles(cmd.Context(), paths, f.force, func(i int, w io.Writer) error {
		if err := c.Write(i, io.MultiWriter(w, bar)); err != nil || i+1 < len(paths) {
			return err
		}
		// OUT may be IN, which Windows does not replace while it is mapped.
		return in.Close()
	})
	bar.Close()
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note: "+note)
	}
	warnConverted(cmd.ErrOrStderr(), c)
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), newConversionDocument(c, paths))
	}
	if len(paths) > 1 {
		fmt.Fprintf(cmd.OutOrStdout(), "%d files, %s to %s\n", len(paths), paths[0], paths[len(paths)-1])
	}
	return printConversion(cmd.OutOrStdout(), c, isDirectory(input))
}

// A partSize is the value of --split-max-size. K, M and G are those of gguf-split.
type partSize int64

func (p *partSize) Set(text string) error {
	if strings.HasSuffix(text, "K") || strings.HasSuffix(text, "M") || strings.HasSuffix(text, "G") {
		text += "B"
	}
	return (*memorySize)(p).Set(text)
}

func (p *partSize) String() string { return (*memorySize)(p).String() }
func (p *partSize) Type() string   { return "SIZE" }

// writableFormats names the formats that convert can write.
func writableFormats() []string { return each(convert.Formats(), typeName) }

func writableFormat(name string) (*formats.Type, error) {
	known := writableFormats()
	switch {
	case name == "":
		return nil, cli.Usagef("--type FORMAT is missing (known: %s)", strings.Join(known, ", "))
	case !slices.Contains(known, name):
		return nil, cli.Usagef("cannot write format %q (known: %s)", name, strings.Join(known, ", "))
	}
	return formats.Lookup(name)
}

// A conversionDocument is what convert prints with --json.
type conversionDocument struct {
	Files     []string            `json:"files"`
	Converted []convertedDocument `json:"converted"`
	Copied    map[string]int      `json:"copied"` // tensors by format
}

type convertedDocument struct {
	Name        string   `json:"name"`
	From        string   `json:"from"`
	To          string   `json:"to"`
	BytesBefore int64    `json:"bytes_before"`
	Bytes       int64    `json:"bytes"`
	NMSE        *float64 `json:"nmse"` // null: weights were not finite, as next
	MaxAbsError *float64 `json:"max_abs_err"`
	How         string   `json:"how"`
}

func newConversionDocument(c *convert.Conversion, files []string) conversionDocument {
	d := conversionDocument{Files: files, Converted: []convertedDocument{}, Copied: c.Copied}
	for _, t := range c.Tensors {
		d.Converted = append(d.Converted, convertedDocument{t.Name, t.TypeName, t.To.Name, t.Size, t.Bytes, doc.Number(t.NMSE()), doc.Number(t.MaxAbs), t.How()})
	}
	return d
}

func warnConverted(w io.Writer, c *convert.Conversion) {
	ternarized, kept := 0, 0
	var finer []string
	for _, r := range c.Tensors {
		if r.Ternarized {
			ternarized++
		}
		if r.Finer != nil {
			kept, finer = kept+1, r.Finer
		}
	}
	if ternarized > 0 {
		fmt.Fprintf(w, "onebit: warning: %d tensors were ternarized after training, which is experimental and lossy\n", ternarized)
	}
	if kept > 0 {
		fmt.Fprintf(w, "onebit: warning: %d of them have weights of -s, 0 and +s already, with more scales s than %s has: --type %s keeps them\n", kept, c.To.Name, strings.Join(finer, " or "))
	}
	if c.To != nil && gguf.Packings(c.To)[0] != c.To {
		fmt.Fprintf(w, "onebit: warning: no file states the packing %s; read it with --gguf-types %s\n", c.To.Name, c.To.Name)
	}
}

func printConversion(w io.Writer, c *convert.Conversion, ofDirectory bool) error {
	if len(c.Tensors) > 0 {
		if err := printConverted(w, c.Tensors); err != nil {
			return err
		}
	}
	copied := 0
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(c.Copied)) {
		copied += c.Copied[name]
		counts = append(counts, fmt.Sprintf("%d %s", c.Copied[name], name))
	}
	text := fmt.Sprintf("%d tensors copied as they are", copied)
	if ofDirectory {
		text = fmt.Sprintf("%d tensors written as they are read: %s", copied, strings.Join(counts, ", "))
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

func printConverted(w io.Writer, tensors []convert.Tensor) error {
	t := cli.NewTable(w, "TENSOR", "FROM", "TO", "BYTES", "NOW", "NMSE", "MAX-ABS-ERR", "HOW")
	var was, is int64
	var total deviation.Sum
	for _, r := range tensors {
		t.Row(term.Quote(r.Name), r.TypeName, r.To.Name, count.Grouped(r.Size), count.Grouped(r.Bytes),
			fmt.Sprintf("%.3g", r.NMSE()), fmt.Sprintf("%.3g", r.MaxAbs), r.How())
		was, is = was+r.Size, is+r.Bytes
		total.Add(r.Sum)
	}
	t.Row(fmt.Sprintf("%d converted", len(tensors)), "", "", count.Grouped(was), count.Grouped(is),
		fmt.Sprintf("%.3g", total.NMSE()), fmt.Sprintf("%.3g", total.MaxAbs), "")
	return t.Flush()
}

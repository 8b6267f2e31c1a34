package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/formats/container"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/models/arch"
	"onebit/models/source"
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
		Long: "Show what a GGUF file, a .cellm file or a Hugging Face directory holds: metadata,\n" +
			"tensors with their formats and sizes, totals per format, and whether the tensors\n" +
			"are those of its architecture. The latter two are shown under GGUF's names, and a\n" +
			"directory in the formats in which it is read: what is to be ternary, ternary.\n\n" +
			"The end says what memory the model takes with --ctx tokens, and the\n" +
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
				if err := validateTensors(src); err != nil {
					return err
				}
			}
			r, err := inspect(src, filter)
			if m, c := r.Model, context; m != nil && c > m.Config.Context || c < 0 {
				return cli.Usagef("--ctx %d: give a number of tokens, at most the model's", c)
			}
			if r.Model != nil && len(r.Model.Mismatches) == 0 {
				// Nor can a model be run that nothing here computes.
				r.Memory, _ = inspectMemory(src, context, &memory)
			}
			if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "onebit: warning: metadata without the tokenizer:", term.Text(err.Error()))
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), r)
			}
			return r.print(cmd.OutOrStdout())
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

// validateTensors reads every tensor that onebit can decode.
func validateTensors(src source.Source) error {
	for _, info := range src.Tensors() {
		if info.Type == nil {
			continue
		}
		t, err := src.Tensor(info.Name)
		if err != nil {
			return err
		}
		if err := t.Matrix().Validate(); err != nil {
			return src.Fault(info.Name, err)
		}
		if err := src.Release(info.Name); err != nil {
			return err
		}
	}
	return nil
}

// An inspection is what inspect prints, in the form of its JSON.
type inspection struct {
	File       string           `json:"file"`
	Bytes      int64            `json:"bytes"`
	Kind       string           `json:"kind"`
	Parts      []partInspection `json:"parts,omitempty"`        // of a GGUF file in several
	Version    uint32           `json:"gguf_version,omitempty"` // 0 for others
	Alignment  int64            `json:"alignment,omitempty"`
	DataOffset int64            `json:"data_offset,omitempty"`
	Readers    string           `json:"readers,omitempty"` // of a GGUF file in Prism's formats
	Notes      []string         `json:"notes,omitempty"`   // what of the file is left alone
	Model      *modelInspection `json:"model,omitempty"`
	ModelError string           `json:"model_error,omitempty"` // why there is no Model
	Metadata   []keyInspection  `json:"metadata"`
	Tensors    []tensorInfo     `json:"tensors"`
	Formats    []formatTotal    `json:"formats"`
	Total      formatTotal      `json:"total"`

	Memory *memoryInspection `json:"memory,omitempty"` // that running it takes
}

type partInspection struct {
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	Tensors int    `json:"tensors"`
}

type modelInspection struct {
	Architecture string      `json:"architecture"`
	Summary      string      `json:"summary"`
	Config       arch.Config `json:"config"`
	Tensors      int         `json:"tensors"`    // that the architecture wants
	Mismatches   []mismatch  `json:"mismatches"` // between the file and the architecture
}

type mismatch struct {
	Tensor string `json:"tensor"`
	Msg    string `json:"message"`
}

type keyInspection struct {
	Key   string `json:"key"`
	Kind  string `json:"kind"`
	Len   int    `json:"len,omitempty"` // elements of an array
	Value any    `json:"value,omitempty"`
	text  string
}

type tensorInfo struct {
	Name          string  `json:"name"`
	Format        string  `json:"format"`
	Supported     bool    `json:"supported"`      // onebit can decode the format
	Shape         []int   `json:"shape"`          // outermost first
	Offset        int64   `json:"offset"`         // in its part
	Part          int     `json:"part,omitempty"` // its number, from 1 on, of several
	Bytes         int64   `json:"bytes"`
	BitsPerWeight float64 `json:"bits_per_weight"`
}

type formatTotal struct {
	Format        string  `json:"format"`
	Supported     bool    `json:"supported"`
	Tensors       int     `json:"tensors"`
	Weights       int64   `json:"weights"`
	Bytes         int64   `json:"bytes"`
	BitsPerWeight float64 `json:"bits_per_weight"`
}

func (t *formatTotal) add(weights, bytes int64) {
	t.Tensors++
	t.Weights += weights
	t.Bytes += bytes
	t.BitsPerWeight = 8 * float64(t.Bytes) / float64(t.Weights)
}

// inspect describes a model, listing the tensors that the filter matches.
// Totals are of all tensors. With an error it is what is known without the
// tokenizer.
func inspect(src source.Source, filter *regexp.Regexp) (inspection, error) {
	r := inspection{
		File: src.Name(), Bytes: src.Size(), Kind: src.Kind(),
		Metadata: []keyInspection{}, Tensors: []tensorInfo{}, Formats: []formatTotal{},
		Total: formatTotal{Format: "total", Supported: true},
	}
	if f, ok := src.(interface {
		Version() uint32
		Alignment() int64
		DataOffset() int64
		Parts() []*container.File
	}); ok { // a GGUF file
		r.Version, r.Alignment, r.DataOffset = f.Version(), f.Alignment(), f.DataOffset()
		for _, part := range f.Parts() {
			r.Parts = append(r.Parts, partInspection{part.Name(), part.Size(), len(part.Tensors())})
		}
	}
	if m, err := inspectModel(src); err != nil {
		r.ModelError = err.Error()
	} else {
		r.Model = m
	}
	meta, err := src.Metadata()
	for _, kv := range meta {
		r.Metadata = append(r.Metadata, inspectKey(kv))
	}
	for _, info := range src.Tensors() {
		r.addTensor(info, filter)
	}
	if strings.HasPrefix(r.Kind, "GGUF") {
		r.describe(src)
	}
	r.Notes = source.Notes(src)
	slices.SortStableFunc(r.Formats, func(a, b formatTotal) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return r, err
}

// describe says what generation a GGUF file is of.
func (r *inspection) describe(src source.Source) {
	rotation, err := src.Rotation()
	if err != nil {
		r.Readers = "rotated, and not as it should be: " + err.Error()
	} else {
		r.Readers = r.readers(rotation)
	}
}

func inspectModel(src source.Source) (*modelInspection, error) {
	a, c, err := src.Config()
	if err != nil {
		return nil, err
	}
	m := &modelInspection{
		Architecture: a.Name, Summary: a.Summary, Config: c,
		Tensors: len(a.Tensors(c)), Mismatches: []mismatch{},
	}
	for _, bad := range a.CheckInventory(c, src.Tensors()) {
		m.Mismatches = append(m.Mismatches, mismatch{bad.Tensor, bad.Msg})
	}
	return m, nil
}

func inspectKey(kv container.KV) keyInspection {
	k := keyInspection{Key: kv.Key, Kind: kv.Value.Kind().String(), text: kv.Value.String()}
	switch kv.Value.Kind() {
	case container.Array:
		k.Kind = "array of " + kv.Value.Elem().String()
		k.Len = kv.Value.Len()
	case container.String:
		k.Value, _ = kv.Value.Text()
	case container.Bool:
		k.Value, _ = kv.Value.Bool()
	case container.Float32, container.Float64:
		k.Value = jsonNumber(kv.Value)
	default:
		if n, err := kv.Value.Uint(); err == nil {
			k.Value = n
		} else {
			k.Value, _ = kv.Value.Int()
		}
	}
	return k
}

// jsonNumber is a float with the digits of its own width, or a string where
// JSON has no number.
func jsonNumber(v container.Value) any {
	x, _ := v.Float()
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x):
		return v.String()
	case v.Kind() == container.Float32:
		return float32(x)
	}
	return x
}

func (r *inspection) addTensor(info container.TensorInfo, filter *regexp.Regexp) {
	weights := int64(1)
	for _, n := range info.Shape {
		weights *= int64(n)
	}
	i := slices.IndexFunc(r.Formats, func(t formatTotal) bool { return t.Format == info.TypeName })
	if i < 0 {
		i = len(r.Formats)
		r.Formats = append(r.Formats, formatTotal{Format: info.TypeName, Supported: info.Type != nil})
	}
	r.Formats[i].add(weights, info.Size)
	r.Total.add(weights, info.Size)
	r.Total.Supported = r.Total.Supported && info.Type != nil
	if filter.MatchString(info.Name) {
		part := 0
		if r.Parts != nil {
			part = info.Part + 1
		}
		r.Tensors = append(r.Tensors, tensorInfo{
			Name: info.Name, Format: info.TypeName, Supported: info.Type != nil,
			Shape: info.Shape, Offset: info.Offset, Part: part, Bytes: info.Size,
			BitsPerWeight: 8 * float64(info.Size) / float64(weights),
		})
	}
}

func (r inspection) print(w io.Writer) error {
	for _, part := range []func(io.Writer) error{r.printHead, r.printMetadata, r.printTensors, r.printTotals, r.printInventory, r.printMemory} {
		if err := part(w); err != nil {
			return err
		}
	}
	return nil
}

func (r inspection) printHead(w io.Writer) error {
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

func (r inspection) printMetadata(w io.Writer) error {
	fmt.Fprintln(w)
	t := cli.NewTable(w, "KEY", "KIND", "VALUE")
	for _, k := range r.Metadata {
		t.Row(term.Quote(k.Key), k.Kind, k.text)
	}
	return t.Flush()
}

func (r inspection) printTensors(w io.Writer) error {
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

func (r inspection) printTotals(w io.Writer) error {
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
func (r inspection) printInventory(w io.Writer) error {
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

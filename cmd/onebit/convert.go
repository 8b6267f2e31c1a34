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
	"syscall"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/formats/cellm"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/count"
	"onebit/internal/deviation"
	"onebit/internal/mmap"
	"onebit/internal/term"
	"onebit/models/source"
	"onebit/reports/doc"
)

func newConvert() *cobra.Command {
	var (
		model   modelFlags
		typ     string
		tensors string
		split   partSize
		force   bool
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:     "convert IN OUT [--type FORMAT]",
		Short:   "Re-quantize a model, or bring it to another container",
		Example: "  onebit convert Llama3-8B-1.58-100B-tokens model.gguf\n  onebit convert model.gguf smaller.gguf --type tq1_0",
		Long: "Write the model IN to the GGUF file OUT with its weights in another format, and\n" +
			"report what that did to each tensor: NMSE, which is Σ(new-old)²/Σold², and the\n" +
			"largest error.\n\n" +
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
		RunE: func(cmd *cobra.Command, args []string) error {
			c := conversion{matrix: isProjection, most: int64(split)}
			var err error
			if typ != "" {
				if c.to, err = writableFormat(typ); err != nil {
					return err
				}
			}
			if tensors != "" {
				filter, err := regexp.Compile(tensors)
				if err != nil {
					return cli.Usagef("--tensors: %w", err)
				}
				c.matrix = filter.MatchString
			}
			if c.in, err = model.open(args[0]); err != nil {
				return err
			}
			defer c.in.Close()
			c.cellm = strings.EqualFold(filepath.Ext(args[1]), ".cellm")
			if c.cellm && split > 0 {
				return cli.Usagef("--split-max-size is for GGUF files, not .cellm")
			}
			if c.to == nil && !c.moves() && !c.shares() {
				_, err := writableFormat("")
				return err
			}
			return c.run(cmd, args[1], force, asJSON)
		},
	}
	model.register(cmd)
	model.registerTokenizer(cmd)
	cmd.Flags().StringVar(&typ, "type", "", "format to convert to")
	cmd.Flags().StringVar(&tensors, "tensors", "", "convert the matrices whose name matches this regular expression")
	cmd.Flags().Var(&split, "split-max-size", "write several files, each with tensors of this `SIZE` at most, such as 2GB")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of a table")
	return cmd
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

// isProjection tells by its name a matrix that is neither an embedding nor a
// head nor taps, in a model of any architecture.
func isProjection(name string) bool {
	return !strings.HasSuffix(name, "_embd.weight") && name != "output.weight" && !strings.HasSuffix(name, "_conv1d.weight")
}

// writableFormats are those that convert can write. ternary_u32 has no GGUF
// type: it is a layout for memory.
func writableFormats() []string {
	var out []string
	for _, t := range formats.Types() {
		if gguf.Packings(t) != nil {
			out = append(out, t.Name)
		}
	}
	return out
}

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

// A conversion is one run of convert.
type conversion struct {
	in     source.Source
	to     *formats.Type          // of matrices; nil: as they are read
	matrix func(name string) bool // which matrices to convert
	cellm  bool                   // the output is a .cellm file, not GGUF
	most   int64                  // bytes of tensors in a file; 0: all are in one
	report []convertedTensor
	copied []string // the formats of the others
}

// A convertedTensor is a line of the report.
type convertedTensor struct {
	container.TensorInfo // as it was
	to                   *formats.Type
	bytes                int64
	deviation.Sum        // of the weights as they are from those that were
	ternarized, recoded  bool
	finer                []string // formats that would have kept what was ternarized
}

// how says what was done with a tensor.
func (r *convertedTensor) how() string {
	switch {
	case r.recoded:
		return "recoded, lossless"
	case r.ternarized:
		return "ternarized, lossy"
	}
	return "quantized"
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

func (c *conversion) document(files []string) conversionDocument {
	d := conversionDocument{Files: files, Converted: []convertedDocument{}, Copied: c.copiedFormats()}
	for _, r := range c.report {
		d.Converted = append(d.Converted, convertedDocument{r.Name, r.TypeName, r.to.Name, r.Size, r.bytes, doc.Number(r.NMSE()), doc.Number(r.MaxAbs), r.how()})
	}
	return d
}

// copiedFormats counts the tensors that were not converted by their format.
func (c *conversion) copiedFormats() map[string]int {
	formats := map[string]int{}
	for _, name := range c.copied {
		formats[name]++
	}
	return formats
}

// moves reports whether the model changes its container.
func (c *conversion) moves() bool { return c.cellm || !strings.HasPrefix(c.in.Kind(), "GGUF") }

// shares reports whether the model is in other numbers of files than it was.
func (c *conversion) shares() bool {
	return c.most > 0 || slices.ContainsFunc(c.in.Tensors(), func(t container.TensorInfo) bool { return t.Part > 0 })
}

// target returns the format that a tensor is converted to, nil for one that is
// copied. The original .cellm has norms in f16, and readers of GGUF want them in
// f32.
func (c *conversion) target(t container.TensorInfo) *formats.Type {
	switch {
	case len(t.Shape) > 1:
		if c.to != nil && c.matrix(t.Name) && t.TypeName != c.to.Name {
			return c.to
		}
	case c.cellm && (t.Type == formats.F32 || t.Type == formats.BF16):
		return formats.F16
	case !c.cellm && c.moves() && t.Type == formats.F16:
		return formats.F32
	}
	return nil
}

func (c *conversion) selected(t container.TensorInfo) bool { return c.target(t) != nil }

func (c *conversion) run(cmd *cobra.Command, output string, force, asJSON bool) error {
	if !c.moves() && !c.shares() && !slices.ContainsFunc(c.in.Tensors(), c.selected) {
		return fmt.Errorf("%s: nothing to convert: no chosen matrix has a format other than %s", c.in.Name(), c.to.Name)
	}
	if err := c.checkModel(); err != nil {
		return err
	}
	infos, size, err := c.plan()
	if err != nil {
		return err
	}
	meta, err := c.in.Metadata()
	if err != nil && !c.cellm { // which has no room for a tokenizer
		return err
	}
	parts, paths, err := c.parts(output, meta, infos)
	if err != nil {
		return err
	}
	var notes []string
	if c.moves() {
		notes = source.Notes(c.in)
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "convert", size)
	err = cli.WriteFiles(cmd.Context(), paths, force, func(i int, w io.Writer) error {
		if err := c.write(io.MultiWriter(w, bar), parts[i].Meta, parts[i].Tensors); err != nil || i+1 < len(parts) {
			return err
		}
		// OUT may be IN, which Windows does not replace while it is mapped.
		return c.in.Close()
	})
	bar.Close()
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note: "+note)
	}
	c.warn(cmd.ErrOrStderr())
	if asJSON {
		return cli.PrintJSON(cmd.OutOrStdout(), c.document(paths))
	}
	if len(paths) > 1 {
		fmt.Fprintf(cmd.OutOrStdout(), "%d files, %s to %s\n", len(paths), paths[0], paths[len(paths)-1])
	}
	return c.print(cmd.OutOrStdout())
}

// parts returns the files of the output, and where they go.
func (c *conversion) parts(output string, meta []container.KV, infos []container.TensorInfo) ([]gguf.Part, []string, error) {
	// The file type names one format for the whole file, in numbers that mean
	// different formats to different programs.
	if c.moves() || c.to != nil {
		meta = slices.DeleteFunc(slices.Clone(meta), func(kv container.KV) bool { return kv.Key == "general.file_type" })
	}
	if c.most == 0 {
		return []gguf.Part{{Meta: meta, Tensors: infos}}, []string{output}, nil
	}
	parts, err := gguf.Parts(meta, infos, c.most)
	if err != nil {
		return nil, nil, err
	}
	base := strings.TrimSuffix(output, ".gguf")
	var paths []string
	for _, p := range parts {
		paths = append(paths, base+p.Suffix)
	}
	return parts, paths, nil
}

// checkModel sees to it that what comes of another container is a whole model.
func (c *conversion) checkModel() error {
	if !c.moves() {
		return nil
	}
	arch, config, err := c.in.Config()
	if err != nil {
		return err
	}
	if c.cellm {
		if err := source.HoldsCellm(arch); err != nil {
			return fmt.Errorf("%s: %w", c.in.Name(), err)
		}
	}
	for _, bad := range arch.CheckInventory(config, c.in.Tensors()) {
		return c.in.Fault(bad.Tensor, fmt.Errorf("%s, in a model of architecture %s", bad.Msg, arch.Name))
	}
	return nil
}

// plan returns the tensors of the output and their bytes. What cannot be
// converted is told here, before anything is written.
func (c *conversion) plan() ([]container.TensorInfo, int64, error) {
	var out []container.TensorInfo
	var size int64
	for _, t := range c.in.Tensors() {
		info := container.TensorInfo{Name: t.Name, Type: t.Type, TypeName: t.TypeName, Shape: t.Shape}
		bytes := t.Size
		if to := c.target(t); to != nil {
			if t.Type == nil {
				_, err := c.in.Tensor(t.Name) // which says why
				return nil, 0, err
			}
			n, err := to.Bytes(formats.Dims(t.Shape))
			if err != nil {
				return nil, 0, c.in.Fault(t.Name, err)
			}
			info.Type, info.TypeName = to, to.Name
			bytes = int64(n)
		} else if t.Type == formats.Ternary_u32 && !c.cellm {
			return nil, 0, c.in.Fault(t.Name, fmt.Errorf("GGUF holds no ternary rows of %d columns, which fill no blocks of i2_s; choose another --type, such as q2_0", t.Shape[1]))
		}
		if c.cellm {
			if err := cellm.Holds(info); err != nil {
				return nil, 0, c.in.Fault(t.Name, err)
			}
		}
		out = append(out, info)
		size += bytes
	}
	return out, size, nil
}

// writer writes the header.
func (c *conversion) writer(w io.Writer, meta []container.KV, infos []container.TensorInfo) (*container.Writer, error) {
	if c.cellm {
		arch, config, err := c.in.Config()
		if err != nil {
			return nil, err
		}
		return source.NewCellm(w, arch, config, meta, infos)
	}
	return gguf.NewWriter(w, meta, infos)
}

func (c *conversion) write(w io.Writer, meta []container.KV, infos []container.TensorInfo) error {
	out, err := c.writer(w, meta, infos)
	if err != nil {
		return err
	}
	was := map[string]container.TensorInfo{}
	for _, t := range c.in.Tensors() {
		was[t.Name] = t
	}
	for _, info := range infos {
		t := was[info.Name]
		if err := c.writeTensor(out, t); err != nil {
			return err
		}
		// Read once and never again: without this all of the file stays resident.
		if err := c.in.Release(t.Name); err != nil {
			return err
		}
	}
	if _, err := out.Next(); !errors.Is(err, io.EOF) {
		return err
	}
	return out.Close()
}

func (c *conversion) writeTensor(out *container.Writer, t container.TensorInfo) error {
	info, err := out.Next()
	if err != nil {
		return err
	}
	to := c.target(t)
	if to == nil {
		data, err := c.in.Raw(t.Name)
		if err != nil {
			return err
		}
		c.copied = append(c.copied, t.TypeName)
		_, err = out.Write(data)
		if errors.Is(err, syscall.EFAULT) { // what the system says of a mapped file that was cut short
			err = c.in.Fault(t.Name, mmap.ErrGone)
		}
		return err
	}
	tensor, err := c.in.Tensor(t.Name)
	if err != nil {
		return err
	}
	r, err := requantize(out, to, &tensor)
	if err != nil {
		var format *formats.Error
		if errors.As(err, &format) {
			err = c.in.Fault(t.Name, err)
		}
		return err
	}
	r.TensorInfo, r.to, r.bytes = t, to, info.Size
	c.report = append(c.report, r)
	return nil
}

// chunkWeights bounds what is held of a tensor as floats at a time, where the
// format lets rows be written one by one: about what a core's cache holds.
const chunkWeights = 1 << 18

// requantize writes t in another format. Formats that look at the whole tensor
// get it whole: those with one scale, and ternary ones, because absmean is
// taken over all weights.
func requantize(w io.Writer, to *formats.Type, t *formats.Tensor) (r convertedTensor, err error) {
	rows, cols := t.Dims()
	if r.recoded, err = recode(w, to, t); r.recoded || err != nil {
		return r, err
	}
	step := max(1, chunkWeights/cols)
	if to.TernaryGroup(rows, cols) > 0 {
		step = rows
	}
	step = min(step, rows)
	x, y := make([]float32, step*cols), make([]float32, step*cols)
	for from := 0; from < rows; from += step {
		n := min(step, rows-from)
		x, y := x[:n*cols], y[:n*cols]
		if err := t.Matrix().DequantizeRows(x, from, from+n); err != nil {
			return r, err
		}
		part, ternarized, err := encode(to, x, y, n, cols)
		if err != nil {
			return r, err
		}
		if ternarized {
			r.ternarized, r.finer = true, finer(to, x, n, cols)
		}
		if err := part.Dequantize(y); err != nil {
			return r, err
		}
		r.Add(deviation.Of(y, x))
		if _, err := w.Write(part.Data); err != nil {
			return r, err
		}
	}
	return r, nil
}

// recode writes t in a format that has its very codes and scales, if to is one.
func recode(w io.Writer, to *formats.Type, t *formats.Tensor) (bool, error) {
	recoded, err := to.NewMatrix(t.Dims())
	if err != nil {
		return false, err
	}
	if ok, err := formats.Recode(recoded, t.Matrix()); !ok || err != nil {
		return false, err
	}
	_, err = w.Write(recoded.Data)
	return true, err
}

// encode quantizes x, ternarizing it into scratch first if the format is
// ternary and x is not.
func encode(to *formats.Type, x, scratch []float32, rows, cols int) (m formats.Matrix, ternarized bool, err error) {
	if m, err = to.NewMatrix(rows, cols); err != nil {
		return m, false, err
	}
	if group := to.TernaryGroup(rows, cols); group > 0 && !isTernary(x, group) {
		if _, err := formats.Ternarize(scratch, x); err != nil {
			return m, false, err
		}
		x, ternarized = scratch, true
	}
	return m, ternarized, m.Quantize(x)
}

// finer returns the formats that hold x, which is ternary already, with more scales
// than the format that it was ternarized to has; none of a matrix that is not. TriLM's
// have one for each part that was trained on a GPU of its own (arXiv:2407.12327;
// ggml-org/llama.cpp pull request 8151).
func finer(to *formats.Type, x []float32, rows, cols int) (out []string) {
	for _, run := range []int{cols, 256, 128, 64} {
		if run >= to.TernaryGroup(rows, cols) || cols%run != 0 || !isTernary(x, run) {
			continue
		}
		for _, t := range formats.Types() {
			if n := t.TernaryGroup(rows, cols); n > 0 && n <= run && gguf.Packings(t) != nil {
				out = append(out, t.Name)
			}
		}
		return out
	}
	return nil
}

// isTernary reports whether each group of weights is made of -s, 0 and +s for
// some s, so that a ternary format holds it as it is.
func isTernary(w []float32, group int) bool {
	for g := range slices.Chunk(w, group) {
		var t formats.Ternarizer
		if t.Add(g); !t.Ternary() {
			return false
		}
	}
	return true
}

func (c *conversion) warn(w io.Writer) {
	ternarized, kept := 0, 0
	var finer []string
	for _, r := range c.report {
		if r.ternarized {
			ternarized++
		}
		if r.finer != nil {
			kept, finer = kept+1, r.finer
		}
	}
	if ternarized > 0 {
		fmt.Fprintf(w, "onebit: warning: %d tensors were ternarized after training, which is experimental and lossy\n", ternarized)
	}
	if kept > 0 {
		fmt.Fprintf(w, "onebit: warning: %d of them have weights of -s, 0 and +s already, with more scales s than %s has: --type %s keeps them\n", kept, c.to.Name, strings.Join(finer, " or "))
	}
	if c.to != nil && gguf.Packings(c.to)[0] != c.to {
		fmt.Fprintf(w, "onebit: warning: no file states the packing %s; read it with --gguf-types %s\n", c.to.Name, c.to.Name)
	}
}

func (c *conversion) print(w io.Writer) error {
	if len(c.report) > 0 {
		if err := c.printReport(w); err != nil {
			return err
		}
	}
	if !isDirectory(c.in.Name()) {
		_, err := fmt.Fprintf(w, "%d tensors copied as they are\n", len(c.copied))
		return err
	}
	formats := c.copiedFormats()
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		counts = append(counts, fmt.Sprintf("%d %s", formats[name], name))
	}
	_, err := fmt.Fprintf(w, "%d tensors written as they are read: %s\n", len(c.copied), strings.Join(counts, ", "))
	return err
}

func (c *conversion) printReport(w io.Writer) error {
	t := cli.NewTable(w, "TENSOR", "FROM", "TO", "BYTES", "NOW", "NMSE", "MAX-ABS-ERR", "HOW")
	var was, is int64
	var total deviation.Sum
	for _, r := range c.report {
		t.Row(term.Quote(r.Name), r.TypeName, r.to.Name, count.Grouped(r.Size), count.Grouped(r.bytes),
			fmt.Sprintf("%.3g", r.NMSE()), fmt.Sprintf("%.3g", r.MaxAbs), r.how())
		was, is = was+r.Size, is+r.bytes
		total.Add(r.Sum)
	}
	t.Row(fmt.Sprintf("%d converted", len(c.report)), "", "", count.Grouped(was), count.Grouped(is),
		fmt.Sprintf("%.3g", total.NMSE()), fmt.Sprintf("%.3g", total.MaxAbs), "")
	return t.Flush()
}

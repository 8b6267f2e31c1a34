package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"onebit/formats/container"
	"onebit/internal/term"
)

// A Rotation is what a file says of the basis that its weights are stored in: a
// layer multiplies H(s ⊙ x) in place of x, H the normalized Walsh-Hadamard
// transform of blocks and s signs that depend on the width of x; and the rows of
// the embedding are s ⊙ H(row). Weights of any format may be rotated, and none
// may run without. Source: PrismML-Eng/llama.cpp, which writes the keys
// prism.hadamard.* into the files of Bonsai 2.
type Rotation struct {
	Block int
	Signs map[int][]float32 // by width; nil: all are 1
	// Weights are the layers, Rows the tables of rows, by GGUF's names.
	Weights, Rows map[string]bool
	// Grouped says that the output projection of gated delta nets takes the
	// values of heads that share a key head side by side.
	Grouped bool
}

// rotationPrefix is that of the keys, without the architecture's.
const rotationPrefix = "prism.hadamard."

// The keys of a rotation.
const (
	rotationVersion   = rotationPrefix + "version"
	rotationBlock     = rotationPrefix + "block_size"
	rotationTransform = rotationPrefix + "transform"
	rotationAxis      = rotationPrefix + "axis"
	rotationSignMode  = rotationPrefix + "sign_mode"
	rotationWidths    = rotationPrefix + "sign_widths"
	rotationSigns     = rotationPrefix + "sign_values"
	rotationWeights   = rotationPrefix + "weight_names"
	rotationInverse   = rotationPrefix + "inverse_weight_names"
	rotationGrouped   = rotationPrefix + "gdn_v_grouped"
	rotationTied      = rotationPrefix + "tied_output"
)

// maxRotationBlock bounds the block: widths are at most maxCount.
const maxRotationBlock = maxCount

// Rotated reports whether metadata says anything of a rotation.
func Rotated(meta []container.KV) bool {
	return slices.ContainsFunc(meta, func(kv container.KV) bool { return strings.HasPrefix(kv.Key, rotationPrefix) })
}

// ReadRotation reads what a file says of the rotation of a model of the
// configuration, nil if that is nothing. What is wrong is a
// *container.FormatError that names the key.
func (t *Table) ReadRotation(c Config, f *container.File, keys *container.Keys) (*Rotation, error) {
	if !Rotated(keys.Metadata()) {
		return nil, nil
	}
	r := rotationReader{reader: reader{file: f, keys: keys}}
	out := r.read()
	if r.err == nil {
		r.check(out, t, c)
	}
	if r.err != nil {
		return nil, r.err
	}
	return out, nil
}

type rotationReader struct{ reader }

func (r *rotationReader) read() *Rotation {
	for _, kv := range r.keys.Metadata() {
		if strings.HasPrefix(kv.Key, rotationPrefix) && !slices.Contains(rotationKeys, kv.Key) {
			r.fail(kv.Key, "is a key that onebit does not know, and the weights may need it")
		}
	}
	version := r.count(rotationVersion)
	r.mustBe(rotationTransform, "normalized-sylvester-walsh-hadamard")
	r.mustBe(rotationAxis, "input-last-dimension")
	out := &Rotation{
		Block: r.count(rotationBlock), Signs: r.signs(),
		Weights: r.names(rotationWeights), Rows: r.names(rotationInverse), Grouped: r.flag(rotationGrouped),
	}
	switch tied := r.flag(rotationTied); {
	case r.err != nil:
	case version != 1 && version != 2:
		r.fail(rotationVersion, "%d is unknown (known: 1, 2)", version)
	case out.Block < 1 || out.Block > maxRotationBlock || out.Block&(out.Block-1) != 0:
		r.fail(rotationBlock, "%d is not a power of two up to %d", out.Block, maxRotationBlock)
	case version == 1 && r.keys.Has(rotationTied):
		r.fail(rotationTied, "stands in a file of version 1, which has no such key")
	case tied:
		r.tie(out)
	default:
		r.checkHead(out)
	}
	return out
}

var rotationKeys = []string{
	rotationVersion, rotationBlock, rotationTransform, rotationAxis, rotationSignMode, rotationWidths,
	rotationSigns, rotationWeights, rotationInverse, rotationGrouped, rotationTied,
}

// tie makes the rotated embedding the head too.
func (r *rotationReader) tie(out *Rotation) {
	if _, ok := r.file.Info(HeadTensor); ok {
		r.fail(rotationTied, "is true, and the file has %s", HeadTensor)
	}
	if !out.Rows[EmbeddingTensor] {
		r.fail(rotationTied, "is true, and %s does not list %s", rotationInverse, EmbeddingTensor)
	}
	out.Weights[EmbeddingTensor] = true
}

// checkHead refuses a rotated embedding that would be a head that is not.
func (r *rotationReader) checkHead(out *Rotation) {
	if _, ok := r.file.Info(HeadTensor); !ok && out.Rows[EmbeddingTensor] {
		r.fail(rotationInverse, "lists %s, which without %s is the head too, and %s is not true", EmbeddingTensor, HeadTensor, rotationTied)
	}
	if out.Weights[EmbeddingTensor] {
		r.fail(rotationWeights, "lists %s, whose rows are looked up", EmbeddingTensor)
	}
}

func (r *rotationReader) mustBe(key, want string) {
	if got := r.text(key); r.err == nil && got != want {
		r.fail(key, "%s is unknown (known: %s)", term.QuoteAlways(got), want)
	}
}

func (r *rotationReader) text(key string) string {
	s, err := r.keys.String(key)
	if err != nil {
		r.keep(err)
	}
	return s
}

func (r *rotationReader) flag(key string) bool {
	if !r.keys.Has(key) {
		return false
	}
	b, err := r.keys.Bool(key)
	if err != nil {
		r.keep(err)
	}
	return b
}

// names returns a list's names, none of a key that is missing.
func (r *rotationReader) names(key string) map[string]bool {
	out := map[string]bool{}
	if !r.keys.Has(key) {
		return out
	}
	names, err := r.keys.Strings(key)
	if err != nil {
		r.keep(err)
	}
	for _, name := range names {
		if out[name] {
			r.fail(key, "lists %s twice", term.Quote(name))
		}
		if _, ok := r.file.Info(name); !ok {
			r.fail(key, "lists %s, which the file does not have", term.Quote(name))
		}
		out[name] = true
	}
	return out
}

// signs returns the vectors by width.
func (r *rotationReader) signs() map[int][]float32 {
	switch mode := r.text(rotationSignMode); {
	case r.err != nil || mode == "identity":
		return nil
	case mode != "explicit":
		r.fail(rotationSignMode, "%s is unknown (known: explicit, identity)", term.QuoteAlways(mode))
		return nil
	}
	widths, err := r.keys.Ints(rotationWidths)
	if err != nil {
		r.keep(err)
	}
	values, err := r.keys.Ints(rotationSigns)
	if err != nil {
		r.keep(err)
	}
	out := map[int][]float32{}
	for _, w := range widths {
		switch {
		case w < 1 || w > maxCount:
			r.fail(rotationWidths, "%d is not between 1 and %d", w, maxCount)
		case out[int(w)] != nil:
			r.fail(rotationWidths, "lists %d twice", w)
		case int(w) > len(values):
			r.fail(rotationSigns, "ends within the %d signs of a width", w)
		}
		if r.err != nil {
			return nil
		}
		out[int(w)], values = r.vector(values[:w]), values[w:]
	}
	if len(values) > 0 {
		r.fail(rotationSigns, "has %d signs more than the widths of %s add up to", len(values), rotationWidths)
	}
	return out
}

func (r *rotationReader) vector(values []int64) []float32 {
	out := make([]float32, len(values))
	for i, x := range values {
		if x != 1 && x != -1 {
			r.fail(rotationSigns, "has %d, which is neither 1 nor -1", x)
		}
		out[i] = float32(x)
	}
	return out
}

// check refuses a rotation of anything but layers and the embedding, whose
// inputs must have whole blocks and signs.
func (r *rotationReader) check(out *Rotation, t *Table, c Config) {
	specs := map[string]TensorSpec{}
	for _, s := range t.Tensors(c) {
		specs[s.Name] = s
	}
	head := specs[EmbeddingTensor]
	for name := range out.Rows {
		if s := specs[name]; s.Name == "" || s.Role != Embedding {
			r.fail(rotationInverse, "lists %s, which is no table of rows", term.Quote(name))
		}
		r.checkWidth(out, head)
	}
	for _, name := range slices.Sorted(maps.Keys(out.Weights)) {
		s := specs[name]
		if s.Name == "" || s.Role != Projection && s.Role != Head && s.Name != head.Name {
			r.fail(rotationWeights, "lists %s, which is no layer that can be rotated", term.Quote(name))
			return
		}
		r.checkWidth(out, s)
	}
}

func (r *rotationReader) checkWidth(out *Rotation, s TensorSpec) {
	_, width := s.Dims()
	switch {
	case width%out.Block != 0:
		r.fail(rotationBlock, "%d does not divide the %d inputs of %s", out.Block, width, s.Name)
	case out.Signs != nil && out.Signs[width] == nil:
		r.fail(rotationWidths, "lacks the %d inputs of %s", width, s.Name)
	}
}

// RotationMetadata returns the keys of a file whose weights are rotated in
// blocks, all layers and the embedding, by these signs.
func (p *Preset) RotationMetadata(signs map[int][]float32) []container.KV {
	var widths, values []int32
	var weights []string
	for _, s := range p.Tensors() {
		_, width := s.Dims()
		if s.Role != Projection && s.Role != Head {
			continue
		}
		weights = append(weights, s.Name)
		if slices.Contains(widths, int32(width)) {
			continue
		}
		widths = append(widths, int32(width))
		for _, x := range signs[width] {
			values = append(values, int32(x))
		}
	}
	out := []container.KV{
		{Key: rotationVersion, Value: count(1)},
		{Key: rotationBlock, Value: count(p.Rotation)},
		{Key: rotationTransform, Value: container.Of("normalized-sylvester-walsh-hadamard")},
		{Key: rotationAxis, Value: container.Of("input-last-dimension")},
		{Key: rotationSignMode, Value: container.Of("explicit")},
		{Key: rotationWidths, Value: container.ArrayOf(widths)},
		{Key: rotationSigns, Value: container.ArrayOf(values)},
		{Key: rotationWeights, Value: container.ArrayOf(weights)},
		{Key: rotationInverse, Value: container.ArrayOf([]string{EmbeddingTensor})},
		{Key: rotationGrouped, Value: container.Of(true)},
	}
	if p.Config.TiedHead {
		out[0].Value = count(2)
		out = append(out, container.KV{Key: rotationTied, Value: container.Of(true)})
	}
	return out
}

// String says how a file is rotated.
func (r *Rotation) String() string {
	return fmt.Sprintf("%d layers in blocks of %d", len(r.Weights), r.Block)
}

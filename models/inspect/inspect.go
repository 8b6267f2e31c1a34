// Package inspect describes a model at rest: its container, metadata, tensors and formats,
// how they compare with its architecture's, who else reads its file, and the memory that
// running it takes. No weight is read but by Validate.
package inspect

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"onebit/formats/container"
	"onebit/models/arch"
	"onebit/models/source"
)

// Validate reads every tensor that onebit can decode.
func Validate(src source.Source) error {
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

// A Model is a model at rest, in the form of onebit inspect's JSON.
type Model struct {
	File       string        `json:"file"`
	Bytes      int64         `json:"bytes"`
	Kind       string        `json:"kind"`
	Parts      []Part        `json:"parts,omitempty"`        // of a GGUF file in several
	Version    uint32        `json:"gguf_version,omitempty"` // 0 for others
	Alignment  int64         `json:"alignment,omitempty"`
	DataOffset int64         `json:"data_offset,omitempty"`
	Readers    string        `json:"readers,omitempty"` // of a GGUF file in Prism's formats
	Notes      []string      `json:"notes,omitempty"`   // on parts of the file that are left alone
	Model      *Architecture `json:"model,omitempty"`
	ModelError string        `json:"model_error,omitempty"` // why there is no Model
	Metadata   []Key         `json:"metadata"`
	Tensors    []Tensor      `json:"tensors"`
	Formats    []Total       `json:"formats"`
	Total      Total         `json:"total"`

	Memory *Memory `json:"memory,omitempty"` // that running it takes; see PlanMemory
}

// A Part is a file of a model in several.
type Part struct {
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	Tensors int    `json:"tensors"`
}

// An Architecture is a model's, with its configuration and how the file's tensors compare.
type Architecture struct {
	Architecture string      `json:"architecture"`
	Summary      string      `json:"summary"`
	Config       arch.Config `json:"config"`
	Tensors      int         `json:"tensors"`    // that the architecture wants
	Mismatches   []Mismatch  `json:"mismatches"` // between the file and the architecture
}

// A Mismatch is a difference between a file and its architecture.
type Mismatch struct {
	Tensor string `json:"tensor"`
	Msg    string `json:"message"`
}

// A Key is an entry of the metadata.
type Key struct {
	Key   string `json:"key"`
	Kind  string `json:"kind"`
	Len   int    `json:"len,omitempty"` // elements of an array
	Value any    `json:"value,omitempty"`
	Text  string `json:"-"` // the value for people
}

// A Tensor is one of the file, by its name in GGUF.
type Tensor struct {
	Name          string  `json:"name"`
	Format        string  `json:"format"`
	Supported     bool    `json:"supported"`      // onebit can decode the format
	Shape         []int   `json:"shape"`          // outermost first
	Offset        int64   `json:"offset"`         // in its part
	Part          int     `json:"part,omitempty"` // its number, from 1 on, of several
	Bytes         int64   `json:"bytes"`
	BitsPerWeight float64 `json:"bits_per_weight"`
}

// A Total is of the tensors in a format.
type Total struct {
	Format        string  `json:"format"`
	Supported     bool    `json:"supported"`
	Tensors       int     `json:"tensors"`
	Weights       int64   `json:"weights"`
	Bytes         int64   `json:"bytes"`
	BitsPerWeight float64 `json:"bits_per_weight"`
}

func (t *Total) add(weights, bytes int64) {
	t.Tensors++
	t.Weights += weights
	t.Bytes += bytes
	t.BitsPerWeight = 8 * float64(t.Bytes) / float64(t.Weights)
}

// Describe describes a model, listing the tensors that the filter matches.
// Totals are of all tensors. With an error it is what is known without the
// tokenizer.
func Describe(src source.Source, filter *regexp.Regexp) (Model, error) {
	r := Model{
		File: src.Name(), Bytes: src.Size(), Kind: src.Kind(),
		Metadata: []Key{}, Tensors: []Tensor{}, Formats: []Total{},
		Total: Total{Format: "total", Supported: true},
	}
	if f, ok := src.(interface {
		Version() uint32
		Alignment() int64
		DataOffset() int64
		Parts() []*container.File
	}); ok { // a GGUF file
		r.Version, r.Alignment, r.DataOffset = f.Version(), f.Alignment(), f.DataOffset()
		for _, part := range f.Parts() {
			r.Parts = append(r.Parts, Part{part.Name(), part.Size(), len(part.Tensors())})
		}
	}
	if m, err := architecture(src); err != nil {
		r.ModelError = err.Error()
	} else {
		r.Model = m
	}
	meta, err := src.Metadata()
	for _, kv := range meta {
		r.Metadata = append(r.Metadata, keyOf(kv))
	}
	for _, info := range src.Tensors() {
		r.addTensor(info, filter)
	}
	if strings.HasPrefix(r.Kind, "GGUF") {
		r.describe(src)
	}
	r.Notes = source.Notes(src)
	slices.SortStableFunc(r.Formats, func(a, b Total) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return r, err
}

// describe says what generation a GGUF file is of.
func (r *Model) describe(src source.Source) {
	rotation, err := src.Rotation()
	if err != nil {
		r.Readers = "rotated, and not as it should be: " + err.Error()
	} else {
		r.Readers = r.readers(rotation)
	}
}

func architecture(src source.Source) (*Architecture, error) {
	a, c, err := src.Config()
	if err != nil {
		return nil, err
	}
	m := &Architecture{
		Architecture: a.Name, Summary: a.Summary, Config: c,
		Tensors: len(a.Tensors(c)), Mismatches: []Mismatch{},
	}
	for _, bad := range a.CheckInventory(c, src.Tensors()) {
		m.Mismatches = append(m.Mismatches, Mismatch{bad.Tensor, bad.Msg})
	}
	return m, nil
}

func keyOf(kv container.KV) Key {
	k := Key{Key: kv.Key, Kind: kv.Value.Kind().String(), Text: kv.Value.String()}
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

func (r *Model) addTensor(info container.TensorInfo, filter *regexp.Regexp) {
	weights := int64(1)
	for _, n := range info.Shape {
		weights *= int64(n)
	}
	i := slices.IndexFunc(r.Formats, func(t Total) bool { return t.Format == info.TypeName })
	if i < 0 {
		i = len(r.Formats)
		r.Formats = append(r.Formats, Total{Format: info.TypeName, Supported: info.Type != nil})
	}
	r.Formats[i].add(weights, info.Size)
	r.Total.add(weights, info.Size)
	r.Total.Supported = r.Total.Supported && info.Type != nil
	if filter.MatchString(info.Name) {
		part := 0
		if r.Parts != nil {
			part = info.Part + 1
		}
		r.Tensors = append(r.Tensors, Tensor{
			Name: info.Name, Format: info.TypeName, Supported: info.Type != nil,
			Shape: info.Shape, Offset: info.Offset, Part: part, Bytes: info.Size,
			BitsPerWeight: 8 * float64(info.Size) / float64(weights),
		})
	}
}

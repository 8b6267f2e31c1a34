package lm

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
	"onebit/models/train"
)

// fileTypes are what general.file_type says of the projections' format: I2_S in
// bitnet.cpp, mostly Q1_0 in llama.cpp, mostly Q8_0 and all F32 in both.
var fileTypes = map[*formats.Type]uint32{formats.I2_S: 40, formats.Q1_0_g128: 40, formats.Q8_0: 7, nil: 0}

// sampling is how the recipes' models were tried: by the likeliest token alone they say
// the same again and again.
var sampling = []container.KV{
	{Key: arch.KeySamplingTemperature, Value: container.Of(float32(0.8))},
	{Key: arch.KeySamplingTopK, Value: container.Of(int32(40))},
	{Key: arch.KeySamplingTopP, Value: container.Of(float32(0.95))},
	{Key: arch.KeySamplingPenalty, Value: container.Of(float32(1.1))},
	{Key: arch.KeySamplingWindow, Value: container.Of(int32(64))},
}

// credit is what a model of Go's documentation says of its text.
var credit = []container.KV{
	{Key: "general.dataset.count", Value: container.Of(uint32(1))},
	{Key: "general.dataset.0.name", Value: container.Of("Go documentation")},
	{Key: "general.dataset.0.description", Value: container.Of("Copyright 2009 The Go Authors, BSD-3-Clause, https://go.dev/LICENSE")},
	{Key: "general.dataset.0.repo_url", Value: container.Of("https://go.googlesource.com/go")},
}

// About is the metadata of a model trained on a corpus of that name, beside what it is
// made of: how to draw its tokens, and whose text it is of.
func About(corpus string) []container.KV {
	if IsDocumentation(corpus) {
		return append(slices.Clone(sampling), credit...)
	}
	return sampling
}

// Export writes the model as a GGUF file in the formats of its forms: to the bit
// the weights that the last passes multiplied by. more is further metadata, such as the tokenizer's.
func (m *Model) Export(w io.Writer, name, description string, more []container.KV) error {
	meta := []container.KV{
		{Key: arch.KeyArchitecture, Value: container.Of(m.Table.Name)},
		{Key: "general.name", Value: container.Of(name)},
		{Key: "general.description", Value: container.Of(description)},
		{Key: "general.file_type", Value: container.Of(fileTypes[m.shape.Form.Type])},
		{Key: "general.quantization_version", Value: container.Of(uint32(2))},
	}
	meta = append(append(meta, m.Table.Metadata(m.Config)...), more...)
	tensors, err := m.pack()
	if err != nil {
		return err
	}
	return writeTensors(w, meta, tensors)
}

// pack returns the tensors in the architecture's order.
func (m *Model) pack() ([]formats.Tensor, error) {
	linears := map[string]*train.BitLinear{}
	params := map[string]*train.Param{}
	for _, l := range m.layers {
		linears[l.Weight.Name] = l
	}
	for _, p := range m.params {
		params[p.Name] = p
	}
	var out []formats.Tensor
	for _, spec := range m.Table.Tensors(m.Config) {
		t := floatTensor(spec.Name, spec.Shape, params[spec.Name].W)
		if l := linears[spec.Name]; l != nil && l.Options().Form.Type != nil {
			packed, err := l.Pack(l.Options().Form.Type)
			if err != nil {
				return nil, err
			}
			t = *packed
		}
		out = append(out, t)
	}
	return out, nil
}

// floatTensor is one in float32.
func floatTensor(name string, shape []int, values []float32) formats.Tensor {
	data := make([]byte, 4*len(values))
	for i, x := range values {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(x))
	}
	return formats.Tensor{Name: name, Type: formats.F32, Shape: shape, Data: data}
}

// writeTensors writes a GGUF file.
func writeTensors(w io.Writer, meta []container.KV, tensors []formats.Tensor) error {
	infos := make([]container.TensorInfo, len(tensors))
	for i, t := range tensors {
		infos[i] = container.TensorInfo{Name: t.Name, Type: t.Type, Shape: t.Shape}
	}
	out, err := gguf.NewWriter(w, meta, infos)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		if err := out.WriteTensor(t.Name, t.Data); err != nil {
			return fmt.Errorf("tensor %s: %w", t.Name, err)
		}
	}
	return out.Close()
}

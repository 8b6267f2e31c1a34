// Package synth writes models of real architectures and sizes with random
// weights, as GGUF files: what a benchmark needs where the real file is not at
// hand. A file has the tensor names, shapes, formats and metadata keys of the
// published one, and a made-up vocabulary of the same size. It follows from
// the preset and the seed to the byte, on every machine.
//
// Weights have the statistics that keep a forward pass finite, but no meaning:
// such a model runs as fast as the real one and says nothing.
package synth

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
	_ "onebit/models/architectures" // whose presets it writes
)

// Bytes returns the size of the preset's tensors.
func Bytes(p *arch.Preset) (total int64, err error) {
	for _, t := range p.Tensors() {
		n, err := t.Bytes()
		if err != nil {
			return 0, err
		}
		total += int64(n)
	}
	return total, nil
}

// Write writes the preset's model. Memory is bounded by the metadata and a
// chunk of one tensor, whatever the size of the model.
func Write(w io.Writer, p *arch.Preset, seed uint64) error {
	specs := p.Tensors()
	infos := make([]container.TensorInfo, len(specs))
	for i, t := range specs {
		infos[i] = container.TensorInfo{Name: t.Name, Type: t.Type, Shape: t.Shape}
	}
	meta, err := metadata(p, seed)
	if err != nil {
		return err
	}
	out, err := gguf.NewWriter(w, meta, infos)
	if err != nil {
		return err
	}
	for _, t := range specs {
		if _, err := out.Next(); err != nil {
			return err
		}
		if err := writeWeights(out, seed, t); err != nil {
			return err
		}
	}
	if _, err := out.Next(); !errors.Is(err, io.EOF) {
		return err
	}
	return out.Close()
}

const (
	keyDescription = "general.description"
	description    = "random weights and a made-up vocabulary"
)

// Made reports whether metadata is that of a model which Write made, or which
// was converted from one: its predictions mean nothing.
func Made(meta []container.KV) bool {
	return slices.ContainsFunc(meta, func(kv container.KV) bool {
		text, err := kv.Value.Text()
		return kv.Key == keyDescription && err == nil && strings.HasPrefix(text, description)
	})
}

// metadata returns the keys of the published file, and a description that
// says what this one is.
func metadata(p *arch.Preset, seed uint64) ([]container.KV, error) {
	tokenizer := tokenizers[p.Tokenizer]
	if tokenizer == nil {
		return nil, fmt.Errorf("preset %s: no tokenizer %q can be synthesized", p.Name, p.Tokenizer)
	}
	meta := []container.KV{
		{Key: arch.KeyArchitecture, Value: container.Of(p.Config.Arch)},
		{Key: "general.name", Value: container.Of(p.ModelName)},
		{Key: keyDescription, Value: container.Of(fmt.Sprintf("%s, preset %s, seed %d", description, p.Name, seed))},
		{Key: "general.file_type", Value: container.Of(uint32(fileType))},
		{Key: "general.quantization_version", Value: container.Of(uint32(2))},
	}
	meta = append(meta, p.Table.Metadata(p.Config)...)
	if p.Rotation > 0 {
		meta = append(meta, p.RotationMetadata(rotationSigns(p, seed))...)
	}
	return append(meta, tokenizer(p.Config.Vocab)...), nil
}

// fileType is what files of both families say: I2_S in bitnet.cpp, mostly
// Q1_0 in llama.cpp.
const fileType = 40

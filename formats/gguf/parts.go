package gguf

import (
	"math"

	"onebit/formats/container"
)

// A Part is one of the files of a model that is written as several.
type Part struct {
	Suffix  string // of its name, behind what all parts share: "-00002-of-00003.gguf"
	Meta    []container.KV
	Tensors []container.TensorInfo
}

// Parts shares the tensors among files, in their order, so that none has more than
// most bytes of them, with what aligns them. The metadata is the first's, and each
// says which it is: NewWriter writes them, and Open reads them as one, by the path of
// any, if their names end in their suffixes. What fits in one file is one, as it
// would be without. A tensor of more bytes than a file may have is an error. Source:
// ggml-org/llama.cpp tools/gguf-split/gguf-split.cpp, --split-max-size.
func Parts(meta []container.KV, tensors []container.TensorInfo, most int64) ([]Part, error) {
	alignment, err := checkMeta(meta)
	if err != nil {
		return nil, err
	}
	var parts []Part
	room := int64(0)
	for _, t := range tensors {
		whole, err := complete(t, alignment)
		if err != nil {
			return nil, err
		}
		size := container.Align(whole.Size, alignment)
		if size > most {
			return nil, writeError(t.Name, "has %d bytes, and a part is to have at most %d; let parts be larger", size, most)
		}
		if size > room {
			parts, room = append(parts, Part{}), most
		}
		last := &parts[len(parts)-1]
		last.Tensors, room = append(last.Tensors, t), room-size
	}
	switch n := len(parts); {
	case n < 2:
		return []Part{{Suffix: ".gguf", Meta: meta, Tensors: tensors}}, nil
	case n > math.MaxUint16:
		return nil, writeError(tensors[0].Name, "and the others would be in %d parts, more than %d; let parts be larger", n, math.MaxUint16)
	}
	parts[0].Meta = withoutSplit(meta)
	all := split{count: int64(len(parts)), tensors: int64(len(tensors))}
	for i := range parts {
		p := &parts[i]
		p.Suffix = all.suffix(int64(i))
		p.Meta = append(p.Meta,
			container.KV{Key: splitNoKey, Value: container.Of(uint16(i))},
			container.KV{Key: splitCountKey, Value: container.Of(uint16(len(parts)))},
			container.KV{Key: splitTensorsKey, Value: container.Of(int32(len(tensors)))})
	}
	return parts, nil
}

package gguf

import (
	"encoding/binary"
	"fmt"
	"io"

	"onebit/formats"
	"onebit/formats/container"
)

// maxTensorName is what ggml reads: GGML_MAX_NAME in ggml-org/ggml
// include/ggml.h, less the final zero.
const maxTensorName = 63

// NewWriter checks everything and writes the header. Tensors are aligned to
// general.alignment if meta has that key (a Uint32), to 32 bytes if not. A
// tensor whose type no reader could tell from another one of the same id, or
// that has no id (ternary_u32), is an error before anything is written.
//
// Files in i2_s_arm and i2_s_x4 look like i2_s to every reader: they are read
// back correctly only with the same name in Options.Types.
func NewWriter(w io.Writer, meta []container.KV, tensors []container.TensorInfo) (*container.Writer, error) {
	alignment, err := checkMeta(meta)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	var whole []container.TensorInfo
	var end int64
	for _, t := range tensors {
		if names[t.Name] {
			return nil, writeError(t.Name, "is there twice")
		}
		names[t.Name] = true
		if t, err = complete(t, alignment); err != nil {
			return nil, err
		}
		t.Offset = end
		end += container.Align(t.Size, alignment)
		whole = append(whole, t)
	}
	head := header(meta, whole)
	for i := range whole {
		whole[i].Offset += container.Align(int64(len(head)), alignment)
	}
	return container.NewWriter(w, "gguf", head, whole, alignment)
}

func writeError(tensor, msg string, args ...any) error {
	return container.WriteError("gguf", tensor, msg, args...)
}

func checkMeta(meta []container.KV) (alignment int64, err error) {
	alignment = defaultAlignment
	keys := map[string]bool{}
	for _, kv := range meta {
		switch {
		case kv.Value.IsZero():
			panic("gguf: metadata without a value")
		case kv.Key == "" || len(kv.Key) > maxName:
			return 0, fmt.Errorf("gguf: write metadata: a key has length %d, want 1 to %d", len(kv.Key), maxName)
		case keys[kv.Key]:
			return 0, fmt.Errorf("gguf: write metadata: key %q is there twice", kv.Key)
		case kv.Key == alignmentKey:
			n, err := kv.Value.Uint()
			if err != nil || kv.Value.Kind() != container.Uint32 || n == 0 || n&(n-1) != 0 {
				return 0, fmt.Errorf("gguf: write metadata: %s is %v, want a power of two of kind uint32", alignmentKey, kv.Value)
			}
			alignment = int64(n)
		}
		keys[kv.Key] = true
	}
	return alignment, nil
}

// complete checks a tensor and fills in its size.
func complete(t container.TensorInfo, alignment int64) (container.TensorInfo, error) {
	if t.Type != nil {
		t.TypeName = t.Type.Name
	}
	l := layoutNamed(t.TypeName)
	switch {
	case t.Name == "" || len(t.Name) > maxTensorName:
		return t, writeError(t.Name, "the name has length %d, want 1 to %d", len(t.Name), maxTensorName)
	case l == nil:
		return t, writeError(t.Name, "GGUF has no id for type %q", t.TypeName)
	}
	rows, cols, err := checkShape(t.Shape)
	if err != nil {
		return t, writeError(t.Name, "%v", err)
	}
	n, err := l.bytes(rows, cols)
	if err != nil {
		return t, writeError(t.Name, "%v", err)
	}
	t.Type, t.Size = l.typ, int64(n)
	if l.chosen {
		return t, nil
	}
	room := extent{bytes: container.Align(t.Size, alignment), align: alignment, target: "next tensor"}
	if _, _, err := (choices{}).resolve(l.id, rows, cols, room); err != nil {
		return t, writeError(t.Name, "as %s with shape %v it cannot be read back: %v", l.name, t.Shape, err)
	}
	return t, nil
}

func checkShape(shape []int) (rows, cols int, err error) {
	if len(shape) == 0 || len(shape) > maxDims {
		return 0, 0, fmt.Errorf("it has %d dimensions, want 1 to %d", len(shape), maxDims)
	}
	elements := 1
	for _, n := range shape {
		if n <= 0 || n > maxElements/elements {
			return 0, 0, fmt.Errorf("shape %v is empty or absurd", shape)
		}
		elements *= n
	}
	rows, cols = formats.Dims(shape)
	return rows, cols, nil
}

// header returns the bytes before the padding. The tensors' offsets are relative
// to the data.
func header(meta []container.KV, tensors []container.TensorInfo) []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), Magic...)
	b = le.AppendUint32(b, 3)
	b = le.AppendUint64(b, uint64(len(tensors)))
	b = le.AppendUint64(b, uint64(len(meta)))
	for _, kv := range meta {
		b = appendText(b, kv.Key)
		b = le.AppendUint32(b, uint32(kv.Value.Kind()))
		b = kv.Value.Append(b)
	}
	for _, t := range tensors {
		b = appendText(b, t.Name)
		b = le.AppendUint32(b, uint32(len(t.Shape)))
		for i := len(t.Shape) - 1; i >= 0; i-- {
			b = le.AppendUint64(b, uint64(t.Shape[i]))
		}
		b = le.AppendUint32(b, layoutNamed(t.TypeName).id)
		b = le.AppendUint64(b, uint64(t.Offset))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

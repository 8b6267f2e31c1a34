package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A Tensor is what Write writes: elements of a dtype, row by row.
type Tensor struct {
	Name  string
	DType string
	Shape []int // outermost first
	Data  []byte
}

// Write writes a file of tensors in that order. The name of a tensor that
// cannot be written is in the error.
func Write(w io.Writer, tensors []Tensor) error {
	header := map[string]any{}
	end := 0
	for _, t := range tensors {
		begin := end
		end += len(t.Data)
		if _, twice := header[t.Name]; twice || t.Name == "" || t.Name == metadataKey {
			return fmt.Errorf("safetensors: write tensor %q: its name is there twice, or cannot be one", t.Name)
		}
		header[t.Name] = map[string]any{"dtype": t.DType, "shape": append([]int{}, t.Shape...), "data_offsets": []int{begin, end}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("safetensors: write the header: %w", err)
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	// What could not be read back is found before anything is written.
	for _, t := range tensors {
		d, ok := dtypes[t.DType]
		elements := 1
		for _, n := range t.Shape {
			elements *= n
		}
		if !ok || len(t.Data) != (elements*d.bits+7)/8 {
			return fmt.Errorf("safetensors: write tensor %q: %d bytes are not shape %v of %s", t.Name, len(t.Data), t.Shape, t.DType)
		}
	}
	if _, err := w.Write(file); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}

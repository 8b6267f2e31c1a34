package cellm

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
)

// format is the package's name in errors.
const format = "cellm"

// NewWriter checks the tensors and writes a file's header. A tensor needs Name,
// Shape and Type, which must be one that the container has a name for.
func NewWriter(w io.Writer, h Header, tensors []container.TensorInfo) (*container.Writer, error) {
	tensors = slices.Clone(tensors)
	names := map[string]bool{}
	for i := range tensors {
		t := &tensors[i]
		if t.Name == "" || names[t.Name] {
			return nil, container.WriteError(format, t.Name, "the name is empty, or there twice")
		}
		names[t.Name] = true
		if err := complete(t); err != nil {
			return nil, container.WriteError(format, t.Name, "%v", err)
		}
	}
	head, err := place(h, tensors)
	if err != nil {
		return nil, err
	}
	return container.NewWriter(w, format, head, tensors, alignment)
}

// complete sets a tensor's size and the name of its type.
func complete(t *container.TensorInfo) error {
	if err := Holds(*t); err != nil {
		return err
	}
	size, err := t.Type.Bytes(formats.Dims(t.Shape))
	t.TypeName, t.Size = t.Type.Name, int64(size)
	return err
}

// Holds returns an error if the container has no name for a tensor's type.
func Holds(t container.TensorInfo) error {
	name := t.TypeName
	if t.Type != nil {
		name = t.Type.Name
	}
	if d := dtypes[name]; t.Type == nil || d.typ != t.Type {
		return fmt.Errorf("is %s, which .cellm has no name for; it holds f16 and q1_0_g128", name)
	}
	return nil
}

// place chooses the offsets and returns the header. Its length depends on them,
// and they on it: they grow until both fit.
func place(h Header, tensors []container.TensorInfo) ([]byte, error) {
	start := int64(0)
	for {
		end := start
		for i := range tensors {
			tensors[i].Offset = end
			end += container.Align(tensors[i].Size, alignment)
		}
		head, err := encode(h, tensors)
		if err != nil {
			return nil, err
		}
		want := container.Align(int64(len(head)), alignment)
		if want <= start || len(tensors) == 0 {
			// Spaces are JSON too: they keep the start where the offsets are.
			return pad(head, start), nil
		}
		start = want
	}
}

func encode(h Header, tensors []container.TensorInfo) ([]byte, error) {
	entries := make([]entry, len(tensors))
	for i, t := range tensors {
		offset, size := uint64(t.Offset), uint64(t.Size)
		shape := make([]uint64, len(t.Shape))
		for k, n := range t.Shape {
			shape[k] = uint64(n)
		}
		entries[i] = entry{t.Name, &offset, &size, &shape, &t.TypeName}
	}
	text, err := json.Marshal(struct {
		Header
		Tensors []entry `json:"tensors"`
	}{h, entries})
	if err != nil {
		return nil, fmt.Errorf("cellm: write the header: %w", err)
	}
	if len(text) > maxHeader {
		return nil, fmt.Errorf("cellm: write the header: %d bytes are more than %d", len(text), maxHeader)
	}
	head := append([]byte(Magic), version)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(text)))
	return append(head, text...), nil
}

// pad fills a header with spaces if it is shorter than what the tensors leave it.
func pad(head []byte, start int64) []byte {
	for int64(len(head)) <= start-alignment {
		head = append(head, ' ')
	}
	binary.LittleEndian.PutUint32(head[len(Magic)+1:], uint32(len(head)-headerStart))
	return head
}

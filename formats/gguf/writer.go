package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/mmap"
)

// maxTensorName is what ggml reads: GGML_MAX_NAME in ggml-org/ggml
// include/ggml.h, less the final zero.
const maxTensorName = 63

// ErrTooLong is what Write returns for bytes beyond the end of a tensor.
var ErrTooLong = errors.New("gguf: write beyond the end of the tensor")

// A Writer writes a version 3 file from front to back and keeps no data, so
// that a model larger than memory can be written. After NewWriter, for each
// tensor in order call Next and write its bytes; then call Close.
type Writer struct {
	w         *bufio.Writer
	tensors   []container.TensorInfo
	alignment int64
	pos       int64 // bytes written
	next      int   // the tensor that Next goes to
	left      int64 // bytes that the present tensor still wants
}

// NewWriter checks everything and writes the header. Tensors are aligned to
// general.alignment if meta has that key (a Uint32), to 32 bytes if not. A
// tensor whose type no reader could tell from another one of the same id, or
// that has no id (ternary_u32), is an error before anything is written.
//
// Files in i2_s_arm and i2_s_x4 look like i2_s to every reader: they are read
// back correctly only with the same name in Options.Types.
func NewWriter(w io.Writer, meta []container.KV, tensors []container.TensorInfo) (*Writer, error) {
	alignment, err := checkMeta(meta)
	if err != nil {
		return nil, err
	}
	// The page cache keeps what came in aligned pieces of that size in huge
	// pages on file systems that have them (ext4 and others with large folios,
	// on Linux), and a model that is mapped from there starts and runs faster
	// than from pages of 4 KiB.
	wr := &Writer{w: bufio.NewWriterSize(w, mmap.HugePage), alignment: alignment}
	names := map[string]bool{}
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
		end += align(t.Size, alignment)
		wr.tensors = append(wr.tensors, t)
	}
	if err := wr.header(meta); err != nil {
		return nil, err
	}
	return wr, nil
}

func writeError(tensor, format string, args ...any) error {
	return fmt.Errorf("gguf: write tensor %q: %s", tensor, fmt.Sprintf(format, args...))
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
	room := extent{bytes: align(t.Size, alignment), align: alignment, target: "next tensor"}
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

func (w *Writer) header(meta []container.KV) error {
	le := binary.LittleEndian
	b := append([]byte(nil), Magic...)
	b = le.AppendUint32(b, 3)
	b = le.AppendUint64(b, uint64(len(w.tensors)))
	b = le.AppendUint64(b, uint64(len(meta)))
	for _, kv := range meta {
		b = appendText(b, kv.Key)
		b = le.AppendUint32(b, uint32(kv.Value.Kind()))
		b = kv.Value.Append(b)
	}
	for _, t := range w.tensors {
		b = appendText(b, t.Name)
		b = le.AppendUint32(b, uint32(len(t.Shape)))
		for i := len(t.Shape) - 1; i >= 0; i-- {
			b = le.AppendUint64(b, uint64(t.Shape[i]))
		}
		b = le.AppendUint32(b, layoutNamed(t.TypeName).id)
		b = le.AppendUint64(b, uint64(t.Offset))
	}
	start := align(int64(len(b)), w.alignment)
	for i := range w.tensors {
		w.tensors[i].Offset += start
	}
	if _, err := w.write(b); err != nil {
		return err
	}
	return w.pad()
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// write hands the buffer no more than it has room for: it would write a large
// piece through, and what follows would not be aligned.
func (w *Writer) write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		if w.w.Available() == 0 {
			if err = w.w.Flush(); err != nil {
				break
			}
		}
		var some int
		some, err = w.w.Write(b[:min(len(b), w.w.Available())])
		b, n = b[some:], n+some
	}
	w.pos += int64(n)
	return n, err
}

// pad aligns what follows. A file without tensors has no data to align.
func (w *Writer) pad() error {
	if len(w.tensors) == 0 {
		return nil
	}
	for n := align(w.pos, w.alignment) - w.pos; n > 0; {
		chunk := zeros[:min(n, int64(len(zeros)))]
		if _, err := w.write(chunk); err != nil {
			return err
		}
		n -= int64(len(chunk))
	}
	return nil
}

var zeros [4096]byte

// Next finishes the present tensor, which must be complete, and goes to the
// next one, whose bytes Write then takes. After the last one it returns io.EOF.
func (w *Writer) Next() (container.TensorInfo, error) {
	if err := w.finish(); err != nil {
		return container.TensorInfo{}, err
	}
	if w.next == len(w.tensors) {
		return container.TensorInfo{}, io.EOF
	}
	t := w.tensors[w.next]
	w.next++
	w.left = t.Size
	return t, nil
}

func (w *Writer) finish() error {
	if w.left > 0 {
		t := w.tensors[w.next-1]
		return writeError(t.Name, "%d of its %d bytes were not written", w.left, t.Size)
	}
	return w.pad()
}

// Write writes bytes of the present tensor. Those beyond its end are not
// written, and the error is ErrTooLong.
func (w *Writer) Write(p []byte) (int, error) {
	var tooLong error
	if int64(len(p)) > w.left {
		p, tooLong = p[:w.left], ErrTooLong
	}
	n, err := w.write(p)
	w.left -= int64(n)
	if err != nil {
		return n, err
	}
	return n, tooLong
}

// WriteTensor goes to the next tensor, which must have that name, and writes
// all of its bytes.
func (w *Writer) WriteTensor(name string, data []byte) error {
	t, err := w.Next()
	switch {
	case err == io.EOF:
		return writeError(name, "all tensors are written")
	case err != nil:
		return err
	case t.Name != name:
		return writeError(name, "the next one is %q", t.Name)
	case t.Size != int64(len(data)):
		return writeError(name, "%d bytes given, want %d", len(data), t.Size)
	}
	_, err = w.Write(data)
	return err
}

// Close checks that all tensors are complete and flushes the file. It does not
// close the underlying writer.
func (w *Writer) Close() error {
	if err := w.finish(); err != nil {
		return err
	}
	if w.next < len(w.tensors) {
		return writeError(w.tensors[w.next].Name, "it was not written, nor what follows")
	}
	return w.w.Flush()
}

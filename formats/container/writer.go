package container

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"onebit/internal/mmap"
)

// ErrTooLong is what Write returns for bytes beyond the end of a tensor.
var ErrTooLong = errors.New("write beyond the end of the tensor")

// A Writer writes a file from front to back and keeps no data, so that a model
// larger than memory can be written. For each tensor in order call Next and
// write its bytes; then call Close.
type Writer struct {
	w         *bufio.Writer
	format    string
	tensors   []TensorInfo
	alignment int64
	pos       int64 // bytes written
	next      int   // the tensor that Next goes to
	left      int64 // bytes that the present tensor still wants
}

// NewWriter writes a header and, if there are tensors, zeros up to the
// alignment, a power of two, which each tensor begins at. A tensor's Size has
// been set by the container's package, whose name is for errors.
func NewWriter(w io.Writer, format string, header []byte, tensors []TensorInfo, alignment int64) (*Writer, error) {
	// The page cache keeps what came in aligned pieces of that size in huge
	// pages on file systems that have them (ext4 and others with large folios,
	// on Linux), and a model that is mapped from there starts and runs faster
	// than from pages of 4 KiB.
	wr := &Writer{w: bufio.NewWriterSize(w, mmap.HugePage), format: format, tensors: tensors, alignment: alignment}
	if _, err := wr.write(header); err != nil {
		return nil, err
	}
	return wr, wr.pad()
}

// WriteError is what is wrong with a tensor that is to be written.
func WriteError(format, tensor, msg string, args ...any) error {
	return fmt.Errorf("%s: write tensor %q: %s", format, tensor, fmt.Sprintf(msg, args...))
}

func (w *Writer) errorf(tensor, msg string, args ...any) error {
	return WriteError(w.format, tensor, msg, args...)
}

// Align returns the next multiple of to, a power of two, from n on.
func Align(n, to int64) int64 { return (n + to - 1) &^ (to - 1) }

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
	for n := Align(w.pos, w.alignment) - w.pos; n > 0; {
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
func (w *Writer) Next() (TensorInfo, error) {
	if err := w.finish(); err != nil {
		return TensorInfo{}, err
	}
	if w.next == len(w.tensors) {
		return TensorInfo{}, io.EOF
	}
	t := w.tensors[w.next]
	w.next++
	w.left = t.Size
	return t, nil
}

func (w *Writer) finish() error {
	if w.left > 0 {
		t := w.tensors[w.next-1]
		return w.errorf(t.Name, "%d of its %d bytes were not written", w.left, t.Size)
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
		return w.errorf(name, "all tensors are written")
	case err != nil:
		return err
	case t.Name != name:
		return w.errorf(name, "the next one is %q", t.Name)
	case t.Size != int64(len(data)):
		return w.errorf(name, "%d bytes given, want %d", len(data), t.Size)
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
		return w.errorf(w.tensors[w.next].Name, "it was not written, nor what follows")
	}
	return w.w.Flush()
}

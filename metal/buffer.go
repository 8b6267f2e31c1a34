package metal

import (
	"errors"
	"fmt"
	"unsafe"
)

// A Buffer is memory that the processor and the GPU share.
type Buffer struct {
	device *Device
	buffer id
	start  int // of bytes in the buffer, which begins a page
	bytes  []byte
	copied bool
}

const (
	sharedStorage = 0 // MTLResourceStorageModeShared, hazards tracked
	// offsetUnit is what an argument's offset in its buffer is a multiple of.
	offsetUnit = 4
)

var errEmpty = errors.New("metal: a buffer has at least one byte")

// NewBuffer allocates n bytes, which are zero. The error wraps [ErrTooLarge] or
// [ErrOutOfMemory].
func (d *Device) NewBuffer(n int) (*Buffer, error) {
	if err := d.checkLength(n); err != nil {
		return nil, err
	}
	var obj id
	d.objc.pool(func() {
		obj = d.objc.send(d.device, "newBufferWithLength:options:", uintptr(n), sharedStorage)
	})
	if obj == 0 {
		return nil, fmt.Errorf("metal: a buffer of %d bytes: %w; %d are allocated, %d of all fit well",
			n, ErrOutOfMemory, d.Allocated(), d.limits.WorkingSet)
	}
	return d.buffer(obj, n), nil
}

// Wrap makes a buffer of memory outside Go's heap, in place if its address is a
// multiple of 4: of a mapped file, or a part of one. The pages that data lies in
// must be mapped, and stay so until the buffer is closed and commands that use
// it are done. Elsewhere, or if the system refuses, the buffer is a copy.
func (d *Device) Wrap(data []byte) (*Buffer, error) {
	if err := d.checkLength(len(data)); err != nil {
		return nil, err
	}
	if b := d.inPlace(data); b != nil {
		return b, nil
	}
	b, err := d.NewBuffer(len(data))
	if err != nil {
		return nil, err
	}
	copy(b.bytes, data)
	b.copied = true
	return b, nil
}

// inPlace returns a buffer of the pages that data lies in, or nil.
func (d *Device) inPlace(data []byte) *Buffer {
	address := addressOf(data)
	first, end := d.pages(data)
	length := end - first
	if address%offsetUnit != 0 || length > uintptr(d.limits.Buffer) {
		return nil
	}
	b := &Buffer{device: d, start: int(address - first), bytes: data}
	d.objc.pool(func() {
		b.buffer = d.objc.send(d.device, "newBufferWithBytesNoCopy:length:options:deallocator:", first, length, sharedStorage, 0)
	})
	if b.buffer == 0 {
		return nil
	}
	return b
}

func (d *Device) checkLength(n int) error {
	if n <= 0 {
		return errEmpty
	}
	if n > d.limits.Buffer {
		return fmt.Errorf("metal: a buffer of %d bytes %w of %d", n, ErrTooLarge, d.limits.Buffer)
	}
	return nil
}

func (d *Device) buffer(obj id, n int) *Buffer {
	contents := d.objc.sendPointer(obj, d.objc.sel("contents"))
	return &Buffer{device: d, buffer: obj, bytes: unsafe.Slice((*byte)(contents), n)}
}

// Bytes returns the memory, nil once the buffer is closed. Between Commit and
// Wait of commands that use it, it is the GPU's.
func (b *Buffer) Bytes() []byte { return b.bytes }

// Copied reports whether Wrap made a copy.
func (b *Buffer) Copied() bool { return b.copied }

// Close lets go of the memory.
func (b *Buffer) Close() error {
	b.bytes = nil
	b.device.objc.release(&b.buffer)
	return nil
}

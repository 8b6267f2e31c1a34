package metal

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"
)

// Commands are kernels to be run one after another, each of which sees what
// those before it wrote; or, of [Device.NewConcurrent], what those wrote that are
// before a [Commands.Barrier]. They belong to one goroutine.
//
// A call that makes no sense is not sent to the GPU: its error is that of
// Commit, which then commits nothing.
type Commands struct {
	device   *Device
	buffer   id      // MTLCommandBuffer
	encoder  id      // nil once it has ended
	order    uintptr // MTLDispatchType of encoders
	pipeline *Pipeline
	stamps   *Stamps // of the span that has begun and ends within the encoder; nil: none
	span     int
	err      error

	committed, closed bool
}

var (
	errCommitted = errors.New("metal: commands were committed already")
	errNotSent   = errors.New("metal: commands were not committed")
)

// maxCommands is how many of a queue Metal lets be begun and not done.
const maxCommands = 64

// NewCommands starts commands. If 64 of the device are not done, it waits for
// the GPU, unless none of them was committed: then it would wait for ever, and
// the error wraps [ErrTooMany]. Else it wraps [ErrOutOfMemory].
func (d *Device) NewCommands() (*Commands, error) {
	return d.newCommands(dispatchSerial)
}

// Values of MTLDispatchType.
const (
	dispatchSerial     = 0
	dispatchConcurrent = 1
)

// NewConcurrent is NewCommands of kernels that may run at the same time, but for what a
// barrier is between.
func (d *Device) NewConcurrent() (*Commands, error) {
	return d.newCommands(dispatchConcurrent)
}

func (d *Device) newCommands(order uintptr) (*Commands, error) {
	if d.encoding.Add(1) > maxCommands {
		d.encoding.Add(-1)
		return nil, fmt.Errorf("metal: %w: %d", ErrTooMany, maxCommands)
	}
	c := &Commands{device: d, order: order}
	o := d.objc
	o.pool(func() {
		if c.buffer = o.retain(o.send(d.queue, "commandBuffer")); c.buffer != 0 {
			c.encoder = o.retain(o.send(c.buffer, "computeCommandEncoderWithDispatchType:", order))
		}
	})
	if c.encoder == 0 {
		c.Close()
		return nil, fmt.Errorf("metal: commands: %w", ErrOutOfMemory)
	}
	return c, nil
}

// Use makes p the kernel of the dispatches that follow.
func (c *Commands) Use(p *Pipeline) {
	if !c.encoding(p.state != 0, "kernel %s was closed", p.name) {
		return
	}
	c.pipeline = p
	c.device.objc.send(c.encoder, "setComputePipelineState:", p.state)
}

// maxIndex is the last index of an argument.
const maxIndex = 30

// takes reports whether a call may be sent that sets an argument.
func (c *Commands) takes(index int) bool {
	return c.encoding(index >= 0 && index <= maxIndex, "argument %d; the last is %d", index, maxIndex)
}

// SetBuffer makes the argument at index of the kernels that follow a buffer,
// from so many bytes on.
func (c *Commands) SetBuffer(index int, b *Buffer, offset int) {
	if !c.takes(index) || !c.encoding(b.buffer != 0, "argument %d: the buffer was closed", index) ||
		!c.encoding(offset >= 0 && offset < len(b.bytes), "argument %d: byte %d of a buffer of %d", index, offset, len(b.bytes)) {
		return
	}
	c.device.objc.send(c.encoder, "setBuffer:offset:atIndex:", b.buffer, uintptr(b.start+offset), uintptr(index))
}

// maxBytes is the largest argument that Metal copies.
const maxBytes = 4096

// SetBytes makes the argument at index of the kernels that follow a copy of
// data, 1 to 4096 bytes.
func (c *Commands) SetBytes(index int, data []byte) {
	if !c.takes(index) || !c.encoding(len(data) > 0 && len(data) <= maxBytes, "argument %d has %d bytes; want 1 to %d", index, len(data), maxBytes) {
		return
	}
	c.device.objc.send(c.encoder, "setBytes:length:atIndex:", uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(index))
}

// SetThreadgroupMemory gives the threadgroup argument at index so many bytes, a
// multiple of 16.
func (c *Commands) SetThreadgroupMemory(index, bytes int) {
	limit := c.device.limits.ThreadgroupMemory
	if !c.takes(index) || !c.encoding(bytes > 0 && bytes <= limit && bytes%16 == 0,
		"threadgroup argument %d has %d bytes; want a multiple of 16 up to %d", index, bytes, limit) {
		return
	}
	c.device.objc.send(c.encoder, "setThreadgroupMemoryLength:atIndex:", uintptr(bytes), uintptr(index))
}

// Dispatch runs the kernel with so many threadgroups of so many threads. In no
// dimension is either 0, or are there 2³² threads in all.
func (c *Commands) Dispatch(groups, threads Size) {
	counts := func(g, t uint) bool { return g > 0 && t > 0 && g <= math.MaxUint32/t }
	c.dispatch("dispatchThreadgroups:threadsPerThreadgroup:", groups, threads, counts)
}

// DispatchThreads runs the kernel with so many threads in all, in threadgroups of
// so many; those at the far edges are smaller where it does not divide.
func (c *Commands) DispatchThreads(grid, threads Size) {
	counts := func(g, t uint) bool { return g > 0 && t > 0 && g <= math.MaxUint32 }
	c.dispatch("dispatchThreads:threadsPerThreadgroup:", grid, threads, counts)
}

// dispatch sends the message if counts is true of all dimensions, and the kernel
// takes so many threads.
func (c *Commands) dispatch(message string, grid, threads Size, counts func(g, t uint) bool) {
	if !c.encoding(c.pipeline != nil, "a dispatch without a kernel") {
		return
	}
	most, p := c.device.limits.Threadgroup, c.pipeline
	there := counts(grid.Width, threads.Width) && counts(grid.Height, threads.Height) && counts(grid.Depth, threads.Depth)
	fits := threads.Width <= most.Width && threads.Height <= most.Height && threads.Depth <= most.Depth &&
		threads.Width*threads.Height*threads.Depth <= p.threads
	if !c.encoding(there, "kernel %s: a dispatch of %v by %v threads", p.name, grid, threads) ||
		!c.encoding(fits, "kernel %s: threadgroups of %v threads; it takes %d, in each dimension up to %v", p.name, threads, p.threads, most) {
		return
	}
	c.device.objc.sendDispatch(c.encoder, c.device.objc.sel(message), grid, threads)
}

const scopeBuffers = 1 // MTLBarrierScopeBuffers

// Barrier lets the kernels that follow see what those before it wrote.
func (c *Commands) Barrier() {
	if c.encoding(true, "") {
		c.device.objc.send(c.encoder, "memoryBarrierWithScope:", scopeBuffers)
	}
}

// encoding reports whether a call may be sent: none before it failed, and ok.
func (c *Commands) encoding(ok bool, format string, args ...any) bool {
	switch {
	case c.err != nil:
	case c.encoder == 0:
		c.err = errCommitted
	case !ok:
		c.err = fmt.Errorf("metal: "+format, args...)
	}
	return c.err == nil
}

// Commit hands the commands to the GPU, which does them after those that were
// committed before. It returns the first error of the calls before it.
func (c *Commands) Commit() error {
	if !c.encoding(true, "") {
		return c.err
	}
	c.endSpan()
	c.endEncoding()
	c.device.objc.pool(func() { c.device.objc.send(c.buffer, "commit") })
	c.committed = true
	c.device.encoding.Add(-1)
	return nil
}

func (c *Commands) endEncoding() {
	if c.encoder != 0 {
		c.device.objc.pool(func() { c.device.objc.send(c.encoder, "endEncoding") })
		c.device.objc.release(&c.encoder)
	}
}

const statusCompleted = 4 // MTLCommandBufferStatusCompleted

// Wait waits for the GPU to have done the commands. An error of the GPU is a
// [*CommandError].
func (c *Commands) Wait() error {
	if c.err != nil {
		return c.err
	}
	if c.buffer == 0 || c.encoder != 0 {
		return errNotSent
	}
	o := c.device.objc
	o.pool(func() {
		o.send(c.buffer, "waitUntilCompleted")
		if o.send(c.buffer, "status") == statusCompleted {
			return
		}
		problem := o.send(c.buffer, "error")
		c.err = &CommandError{Code: int(o.send(problem, "code")), Message: o.message(problem)}
	})
	return c.err
}

// GPUTime returns how long the GPU took, once Wait has returned without an
// error.
func (c *Commands) GPUTime() time.Duration {
	if c.buffer == 0 {
		return 0
	}
	o := c.device.objc
	start, end := o.sendFloat(c.buffer, o.sel("GPUStartTime")), o.sendFloat(c.buffer, o.sel("GPUEndTime"))
	return time.Duration((end - start) * float64(time.Second))
}

// Close lets go of the commands. Those that were not committed are never run.
func (c *Commands) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.endEncoding()
	c.device.objc.release(&c.buffer)
	if !c.committed {
		c.device.encoding.Add(-1)
	}
	return nil
}

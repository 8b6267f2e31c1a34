package metal

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Stamps are times of the GPU's clock, whose unit is its own: when the kernels of spans
// of commands began, and when they were done. See [Commands.Span].
type Stamps struct {
	device     *Device
	samples    id // MTLCounterSampleBuffer
	spans      int
	atDispatch bool // between kernels of an encoder; else where one begins and ends
}

// ErrNoStamps is of GPUs that do not tell when kernels begin and end.
var ErrNoStamps = errors.New("this GPU does not tell when kernels begin and end")

// Where counters are sampled: MTLCounterSamplingPoint. Apple's own GPUs do so at the
// ends of an encoder, and those of other Macs between kernels.
const (
	stageBoundary    = 0
	dispatchBoundary = 2
)

const (
	maxSamples = 4096 // of 8 bytes, in the 32 KiB that a sample buffer has at most
	modeShared = 0    // MTLStorageModeShared
)

// MaxSpans is how many spans stamps have at most.
const MaxSpans = maxSamples / 2

// NewStamps makes room for the times of so many spans, up to [MaxSpans]. The error wraps
// [ErrNoStamps] where the GPU has none.
func (d *Device) NewStamps(spans int) (*Stamps, error) {
	if spans <= 0 || spans > MaxSpans {
		return nil, fmt.Errorf("metal: stamps of %d spans; want 1 to %d", spans, MaxSpans)
	}
	s := &Stamps{device: d, spans: spans}
	switch {
	case d.objc.sendBool(d.device, "supportsCounterSampling:", stageBoundary):
	case d.objc.sendBool(d.device, "supportsCounterSampling:", dispatchBoundary):
		s.atDispatch = true
	default:
		return nil, fmt.Errorf("metal: %w", ErrNoStamps)
	}
	var err error
	d.objc.pool(func() { s.samples, err = d.newSamples(2 * spans) })
	if err != nil {
		return nil, fmt.Errorf("metal: stamps: %w", err)
	}
	return s, nil
}

// newSamples is called within a pool.
func (d *Device) newSamples(n int) (id, error) {
	o := d.objc
	set := d.timestamps()
	if set == 0 {
		return 0, ErrNoStamps
	}
	descriptor := o.send(o.getClass("MTLCounterSampleBufferDescriptor"), "new")
	defer o.release(&descriptor)
	o.send(descriptor, "setCounterSet:", set)
	o.send(descriptor, "setSampleCount:", uintptr(n))
	o.send(descriptor, "setStorageMode:", modeShared)
	var problem id
	samples := o.send(d.device, "newCounterSampleBufferWithDescriptor:error:", descriptor, uintptr(unsafe.Pointer(&problem)))
	if samples == 0 {
		return 0, fmt.Errorf("%w: %s", ErrOutOfMemory, o.message(problem))
	}
	return samples, nil
}

// timestamps returns the set of counters that is the clock: MTLCommonCounterSetTimestamp.
func (d *Device) timestamps() id {
	o := d.objc
	sets := o.send(d.device, "counterSets")
	if sets == 0 {
		return 0
	}
	for i := range o.send(sets, "count") {
		if set := o.send(sets, "objectAtIndex:", i); o.text(o.send(set, "name")) == "timestamp" {
			return set
		}
	}
	return 0
}

// Ticks returns how long each span took, once Wait has returned of the commands that have
// them; 0 of a span that there was none of, or that was not timed.
func (s *Stamps) Ticks() []uint64 {
	o := s.device.objc
	ticks := make([]uint64, s.spans)
	o.pool(func() {
		// An NSRange is two words.
		data := o.call(o.msgSend, s.samples, o.sel("resolveCounterRange:"), 0, uintptr(2*s.spans))
		if data == 0 || o.send(data, "length") < uintptr(16*s.spans) {
			return
		}
		times := unsafe.Slice((*uint64)(o.sendPointer(data, o.sel("bytes"))), 2*s.spans)
		for i := range ticks {
			begin, end := times[2*i], times[2*i+1]
			if end != math.MaxUint64 && end > begin { // MTLCounterErrorValue
				ticks[i] = end - begin
			}
		}
	})
	return ticks
}

// Close lets go of the stamps. Commands may still be using them.
func (s *Stamps) Close() error {
	s.device.objc.release(&s.samples)
	return nil
}

// Span makes the kernels that follow, up to the next Span or Commit, span i of s. They see
// all that was written before, and take a kernel and arguments of their own: none is set.
func (c *Commands) Span(s *Stamps, i int) {
	if !c.encoding(s.samples != 0, "stamps were closed") ||
		!c.encoding(i >= 0 && i < s.spans, "span %d of stamps for %d", i, s.spans) {
		return
	}
	c.pipeline = nil
	if s.atDispatch {
		c.endSpan()
		c.Barrier()
		c.sample(s, 2*i)
		c.stamps, c.span = s, i
		return
	}
	o := c.device.objc
	o.pool(func() {
		o.send(c.encoder, "endEncoding")
		o.release(&c.encoder)
		descriptor := o.send(o.getClass("MTLComputePassDescriptor"), "computePassDescriptor")
		o.send(descriptor, "setDispatchType:", c.order)
		ends := o.send(o.send(descriptor, "sampleBufferAttachments"), "objectAtIndexedSubscript:", 0)
		o.send(ends, "setSampleBuffer:", s.samples)
		o.send(ends, "setStartOfEncoderSampleIndex:", uintptr(2*i))
		o.send(ends, "setEndOfEncoderSampleIndex:", uintptr(2*i+1))
		c.encoder = o.retain(o.send(c.buffer, "computeCommandEncoderWithDescriptor:", descriptor))
	})
	if c.encoder == 0 {
		c.err = fmt.Errorf("metal: commands: %w", ErrOutOfMemory)
	}
}

// endSpan notes when a span is done that ends within an encoder.
func (c *Commands) endSpan() {
	if c.stamps != nil {
		c.sample(c.stamps, 2*c.span+1)
		c.stamps = nil
	}
}

// sample notes the time when all kernels before are done.
func (c *Commands) sample(s *Stamps, i int) {
	c.device.objc.send(c.encoder, "sampleCountersInBuffer:atSampleIndex:withBarrier:", s.samples, uintptr(i), 1)
}

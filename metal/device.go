package metal

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A Device is a GPU, with one queue for its commands. Its methods may be called
// from several goroutines.
type Device struct {
	objc   *objc
	device id
	queue  id
	name   string
	limits Limits
	// emulated: the frameworks are played.
	emulated bool
	// encoding counts commands that are neither committed nor closed.
	encoding atomic.Int32
	close    sync.Once
}

// Limits are what a device can do at most.
type Limits struct {
	Buffer            int  // bytes of a buffer
	WorkingSet        int  // bytes of all buffers that stay fast together; it is a recommendation
	ThreadgroupMemory int  // bytes
	Threadgroup       Size // threads of a threadgroup in each dimension; a Pipeline has its own limit of all
}

// A Family is a generation of GPUs: MTLGPUFamily. Each has what those before it
// have.
type Family int

const (
	Apple5 Family = 1005 + iota
	Apple6
	Apple7 // M1; the first with reductions over simdgroups and matrices of them
	Apple8
	Apple9
	Metal3 Family = 5001
)

func newDevice(o *objc) (*Device, error) {
	d := &Device{objc: o}
	o.pool(func() {
		if d.device = o.createDevice(); d.device == 0 {
			return
		}
		d.queue = o.send(d.device, "newCommandQueue")
		d.name = o.text(o.send(d.device, "name"))
		d.limits = Limits{
			Buffer:            int(o.send(d.device, "maxBufferLength")),
			WorkingSet:        int(o.send(d.device, "recommendedMaxWorkingSetSize")),
			ThreadgroupMemory: int(o.send(d.device, "maxThreadgroupMemoryLength")),
			Threadgroup:       o.sendSize(d.device, o.sel("maxThreadsPerThreadgroup")),
		}
	})
	switch {
	case d.device == 0:
		return nil, fmt.Errorf("metal: %w", ErrNoDevice)
	case d.queue == 0:
		o.release(&d.device)
		return nil, fmt.Errorf("metal: %s gives no command queue: %w", d.name, ErrOutOfMemory)
	}
	return d, nil
}

// Name is what the system calls the GPU, "Apple M2 Pro".
func (d *Device) Name() string { return d.name }

// Emulated reports whether the device is played in software: what it computes
// counts, how long it takes does not.
func (d *Device) Emulated() bool { return d.emulated }

// Limits returns what the device can do at most.
func (d *Device) Limits() Limits { return d.limits }

// Supports reports whether the device has what a family has.
func (d *Device) Supports(f Family) bool {
	return d.objc.sendBool(d.device, "supportsFamily:", uintptr(f))
}

// Allocated returns the bytes of all buffers and pipelines of this process.
func (d *Device) Allocated() int { return int(d.objc.send(d.device, "currentAllocatedSize")) }

// Close lets go of the device, after everything that was made with it.
func (d *Device) Close() error {
	d.close.Do(func() {
		d.objc.release(&d.queue)
		d.objc.release(&d.device)
	})
	return nil
}

// Package frameworks plays libobjc and Metal.framework on Linux: a shared
// library in C++, for the host code of package metal to open in their place.
// Shaders run in software, on package softmetal.
//
// It checks what the validation layers of a Mac check, and lists it as
// [Library.Violations]: messages to objects that were released, or released too
// often; objects that are autoreleased without a pool; the states of encoders
// and command buffers; indices, offsets and sizes against limits. A buffer that
// commands use cannot be touched from commit until someone has waited: the
// access faults. [Library.Live] is what leaks.
package frameworks

import (
	"strings"

	"onebit/metal/dl"
)

// A Library is both frameworks at once, for package metal to be called with.
// There is one in a process, however often it is loaded.
type Library struct {
	*dl.Libraries
	violations      func() string
	live            func() string
	noDevice        func(bool)
	family          func(int)
	sampling        func(int)
	maxBuffer       func(uint64)
	simdWidth       func(int32)
	maxThreads      func(uint64)
	watchdog        func(uint64)
	failAllocations func(after, n int32)
	failCommands    func(after, n, code int32)
}

// Violations returns what was done wrong since the last call.
func (l *Library) Violations() []string { return lines(l.violations()) }

// Live returns the objects that were made and not released.
func (l *Library) Live() []string { return lines(l.live()) }

// NoDevice says whether the machine has no GPU.
func (l *Library) NoDevice(none bool) { l.noDevice(none) }

// Values of MTLGPUFamily.
const (
	Apple5 = 1005
	Apple7 = 1007
)

// Family makes the device one of Apple's GPUs up to this one, Apple7 at first. Before
// Apple7, commands fail whose threads exchange values in a simdgroup.
func (l *Library) Family(newest int) { l.family(newest) }

// Values of MTLCounterSamplingPoint, and none of them.
const (
	AtStages     = 0
	AtDispatches = 2
	Nowhere      = -1
)

// Sampling says where the GPU notes its clock: AtStages at first, as Apple's own do.
func (l *Library) Sampling(point int) { l.sampling(point) }

// MaxBuffer makes buffers of so many bytes the largest that a device has which is
// opened from now on; 0 is the 1 GiB that it has at first.
func (l *Library) MaxBuffer(bytes int) { l.maxBuffer(uint64(bytes)) }

// SIMDWidth makes simdgroups of so many threads, a power of two up to 64, of kernels
// that are made from now on; 0 is the 32 that they have at first.
func (l *Library) SIMDWidth(threads int) { l.simdWidth(int32(threads)) }

// MaxThreads makes kernels that are made from now on take so many registers that no
// more threads fit into a threadgroup; 0 is the 1024 that do at first.
func (l *Library) MaxThreads(threads int) { l.maxThreads(uint64(threads)) }

// Watchdog makes command buffers end with a timeout after so many accesses to memory
// of their threads; 0: never.
func (l *Library) Watchdog(accesses int) { l.watchdog(uint64(accesses)) }

// FailAllocations makes n allocations fail, after some that don't: of queues,
// buffers, command buffers, encoders, libraries and pipelines. FailAllocations(0, 0)
// ends it.
func (l *Library) FailAllocations(after, n int) { l.failAllocations(int32(after), int32(n)) }

// FailCommands makes n command buffers, after some that don't, end with an error
// of this code, of MTLCommandBufferError, before they have done anything.
func (l *Library) FailCommands(after, n, code int) {
	l.failCommands(int32(after), int32(n), int32(code))
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

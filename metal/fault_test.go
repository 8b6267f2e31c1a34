package metal

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"onebit/metal/softmetal/frameworks"
)

func TestNoDevice(t *testing.T) {
	lib := played(t)
	lib.NoDevice(true)
	defer lib.NoDevice(false)
	if _, err := OpenFrameworks(lib); !errors.Is(err, ErrNoDevice) {
		t.Errorf("no device: %v", err)
	}
}

func TestAllocationFails(t *testing.T) {
	d, lib := openPlayed(t)
	pipeline := func() error {
		l, err := d.Compile(shader)
		if err != nil {
			return err
		}
		defer l.Close()
		lib.FailAllocations(0, 1)
		_, err = l.Pipeline("vector_add", Constants{0: float32(1)})
		return err
	}
	for _, test := range []struct {
		name     string
		after    int
		want     error
		allocate func() error
	}{
		{"buffer", 0, ErrOutOfMemory, func() error { _, err := d.NewBuffer(4096); return err }},
		{"copy", 0, ErrOutOfMemory, func() error { _, err := d.Wrap(mapped(t, 400)[1:]); return err }},
		{"copy of what is refused", 0, ErrOutOfMemory, func() error {
			lib.FailAllocations(0, 2)
			_, err := d.Wrap(mapped(t, 400))
			return err
		}},
		{"parts", 0, ErrOutOfMemory, func() error {
			lib.FailAllocations(0, 3)
			data := mapped(t, 400)
			_, err := d.Map([][]byte{data[:100], data[100:]})
			return err
		}},
		{"commands", 0, ErrOutOfMemory, func() error { _, err := d.NewCommands(); return err }},
		{"encoder", 1, ErrOutOfMemory, func() error { _, err := d.NewCommands(); return err }},
		{"queue", 0, ErrOutOfMemory, func() error { _, err := OpenFrameworks(lib); return err }},
		{"library", 0, nil, func() error { _, err := d.Compile(shader); return err }},
		{"pipeline", 1, nil, pipeline},
	} {
		lib.FailAllocations(test.after, 1)
		err := test.allocate()
		lib.FailAllocations(0, 0)
		if err == nil || test.want != nil && !errors.Is(err, test.want) ||
			test.want == nil && !strings.Contains(err.Error(), "a fault that the test asked for") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestCommandErrors(t *testing.T) {
	d, lib := openPlayed(t)
	add := newAdder(t, d, 10, 1)
	for code, cause := range map[int]error{1: nil, 2: ErrTimeout, 4: ErrDeviceLost, 8: ErrOutOfMemory, 11: ErrDeviceLost} {
		lib.FailCommands(0, 1, code)
		failing := add.commands(t)
		add.encode(failing, add.a, add.b, add.sum)
		if err := failing.Commit(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the error stays
			err := failing.Wait()
			var ce *CommandError
			if !errors.As(err, &ce) || ce.Code != code || errors.Unwrap(ce) != cause {
				t.Errorf("code %d: %v, want %v", code, err, cause)
			}
		}
	}
	if floats(add.sum)[9] != 0 {
		t.Error("commands that failed wrote")
	}
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum)
	run(t, c)
	if got := floats(add.sum)[9]; got != 9009 {
		t.Errorf("after errors the sum is %g", got)
	}
}

// The commands that fail are those that were asked to, and others are done.
func TestCommandsFailLater(t *testing.T) {
	d, lib := openPlayed(t)
	add := newAdder(t, d, 10, 1)
	lib.FailCommands(1, 1, 8)
	for i, want := range []error{nil, ErrOutOfMemory, nil} {
		c := add.commands(t)
		add.encode(c, add.a, add.b, add.sum)
		if err := c.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); !errors.Is(err, want) {
			t.Errorf("commands %d: %v, want %v", i, err, want)
		}
	}
}

// A fault of a shader is an error of its commands, not of the process.
func TestShaderFault(t *testing.T) {
	d, _ := openPlayed(t)
	add := newAdder(t, d, 8, 1)
	add.n = 9
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum)
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	var ce *CommandError
	if err := c.Wait(); !errors.As(err, &ce) || !strings.Contains(ce.Message, "vector_add") {
		t.Errorf("a read behind the end: %v", err)
	}
}

// Mistakes that this package, or a shader's caller, could make: each must be
// found by who plays the frameworks.
func TestPlantedMistakes(t *testing.T) {
	d, lib := openPlayed(t)
	o := d.objc
	add := newAdder(t, d, 8, 1)
	// encoder hands do the encoder of commands, past all checks of this package.
	encoder := func(do func(c *Commands)) func() {
		return func() {
			c := add.commands(t)
			do(c)
			c.Close()
		}
	}
	dispatch := func(c *Commands, groups, threads Size) {
		o.sendDispatch(c.encoder, o.sel("dispatchThreadgroups:threadsPerThreadgroup:"), groups, threads)
	}
	one := Size{1, 1, 1}
	kernel := func(source string) *Pipeline {
		_, p := compiled(t, d, "#include <metal_stdlib>\nusing namespace metal;\nkernel void f(device float4 *x [[buffer(0)]]"+source, "f", nil)
		return p
	}
	quads := kernel(") { x[0] *= 2.0f; }")
	stamps, err := d.NewStamps(1)
	if err != nil {
		t.Fatal(err)
	}
	defer stamps.Close()
	rooms := kernel(", threadgroup float *a [[threadgroup(0)]], threadgroup float *b [[threadgroup(1)]]) { a[0] = b[0] = x[0].x; }")
	for _, mistake := range []struct {
		name, want string
		do         func()
	}{
		{"a buffer is released twice", "-[MTLBuffer release]: used after it was released", func() {
			b, _ := d.NewBuffer(16)
			obj := b.buffer
			b.Close()
			o.release(&obj)
		}},
		{"what a pool releases is released", "released once too often", func() {
			o.pool(func() {
				s := o.string("the pool's")
				o.release(&s)
			})
		}},
		{"a released buffer is asked", "-[MTLBuffer length]: used after it was released", func() {
			b, _ := d.NewBuffer(16)
			obj := b.buffer
			b.Close()
			o.send(obj, "length")
		}},
		{"a released buffer is an argument", "setBuffer:offset:atIndex:: MTLBuffer was released", encoder(func(c *Commands) {
			b, _ := d.NewBuffer(16)
			obj := b.buffer
			b.Close()
			o.send(c.encoder, "setBuffer:offset:atIndex:", obj, 0, 0)
		})},
		{"another object is an argument", "setBuffer:offset:atIndex:: MTLCommandQueue; want MTLBuffer", encoder(func(c *Commands) {
			o.send(c.encoder, "setBuffer:offset:atIndex:", d.queue, 0, 0)
		})},
		{"an index is too large", "setBuffer:offset:atIndex: index 31; the last is 30", encoder(func(c *Commands) {
			o.send(c.encoder, "setBuffer:offset:atIndex:", add.a.buffer, 0, 31)
		})},
		{"an offset is odd", "setBuffer:offset:atIndex: offset 2 of 32 bytes", encoder(func(c *Commands) { c.SetBuffer(0, add.a, 2) })},
		{"a barrier is missing", "buffer 0 is in use by a dispatch before, with no barrier between", func() {
			c, _ := d.NewConcurrent()
			add.encode(c, add.a, add.b, add.sum)
			add.encode(c, add.sum, add.b, add.a)
			c.Close()
		}},
		{"an offset that the kernel's type does not divide", "buffer 0 begins at byte 4; what the kernel reads there is aligned to 16", encoder(func(c *Commands) {
			c.Use(quads)
			c.SetBuffer(0, add.a, 4)
			c.Dispatch(one, one)
		})},
		{"more threadgroup memory than there is", "32784 bytes of threadgroup memory; there are 32768", encoder(func(c *Commands) {
			c.Use(rooms)
			c.SetBuffer(0, add.a, 0)
			c.SetThreadgroupMemory(0, 32768)
			c.SetThreadgroupMemory(1, 16)
			c.Dispatch(one, one)
		})},
		{"memory that only the GPU has", "", func() {
			o.pool(func() {
				b := o.send(d.device, "newBufferWithLength:options:", 16, 2<<4)
				if p := o.sendPointer(b, o.sel("contents")); p != nil {
					t.Errorf("private memory has contents: %p", p)
				}
				o.release(&b)
			})
		}},
		{"options of memory that nobody knows", "newBufferWithLength:options: options 256 are not played", func() {
			o.pool(func() {
				b := o.send(d.device, "newBufferWithLength:options:", 16, 1<<8)
				o.release(&b)
			})
		}},
		{"pages of another system", "not whole pages, or too many", func() {
			data := mapped(t, 2*page)
			o.pool(func() {
				o.send(d.device, "newBufferWithBytesNoCopy:length:options:deallocator:", addressOf(data)+4096, 4096, 0, 0)
			})
		}},
		{"a dispatch has no pipeline", "without a pipeline", encoder(func(c *Commands) { dispatch(c, one, one) })},
		{"an argument is not set", "buffer 1 is not set", encoder(func(c *Commands) {
			c.Use(add.pipeline)
			c.SetBuffer(0, add.a, 0)
			c.SetBuffer(2, add.sum, 0)
			c.SetBytes(3, make([]byte, 4))
			c.Dispatch(one, one)
		})},
		{"a threadgroup is too large", "threadgroups of 1025x1x1; the kernel takes 1024", encoder(func(c *Commands) {
			c.Use(add.pipeline)
			dispatch(c, one, Size{1025, 1, 1})
		})},
		{"too many bytes", "setBytes:length:atIndex: 4097 bytes", encoder(func(c *Commands) {
			o.send(c.encoder, "setBytes:length:atIndex:", uintptr(unsafe.Pointer(&make([]byte, 4097)[0])), 4097, 0)
		})},
		{"an encoder is used after its end", "encoding has ended", encoder(func(c *Commands) {
			o.pool(func() { o.send(c.encoder, "endEncoding") })
			c.Use(add.pipeline)
			o.release(&c.encoder)
		})},
		{"an encoder does not end", "released without endEncoding", encoder(func(c *Commands) { o.release(&c.encoder) })},
		{"a commit before the encoder's end", "commit]: an encoder has not ended", encoder(func(c *Commands) { o.send(c.buffer, "commit") })},
		{"two encoders at once", "the encoder before it has not ended", encoder(func(c *Commands) {
			o.pool(func() {
				second := o.send(c.buffer, "computeCommandEncoder")
				o.send(second, "endEncoding")
			})
		})},
		{"two commits", "commit]: committed already", encoder(func(c *Commands) {
			run(t, c)
			o.send(c.buffer, "commit")
		})},
		{"a wait without a commit", "not committed, it would wait for ever", encoder(func(c *Commands) { o.send(c.buffer, "waitUntilCompleted") })},
		{"times are read too early", "GPUEndTime]: read before completion", encoder(func(c *Commands) { c.GPUTime() })},
		{"a sample between dispatches, which an Apple GPU does not take", "this GPU does not sample between dispatches", encoder(func(c *Commands) { c.sample(stamps, 0) })},
		{"a sample that there is no room for", "sample 2 of 2", func() {
			lib.Sampling(frameworks.AtDispatches)
			defer lib.Sampling(frameworks.AtStages)
			encoder(func(c *Commands) { c.sample(stamps, 2) })()
		}},
		{"an encoder's ends are sampled where others are", "this GPU does not sample at the ends of an encoder", func() {
			lib.Sampling(frameworks.AtDispatches)
			defer lib.Sampling(frameworks.AtStages)
			encoder(func(c *Commands) { c.Span(stamps, 0) })()
		}},
		{"samples are read before they are taken", "resolveCounterRange:: before the commands are done", encoder(func(c *Commands) {
			c.Span(stamps, 0)
			if err := c.Commit(); err != nil {
				t.Fatal(err)
			}
			stamps.Ticks()
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
		})},
		{"no pool", "-[NSString autorelease]: without a pool, it leaks", func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s := o.string("left over")
			o.release(&s)
		}},
		{"65 command buffers are open", "commandBuffer: 64 command buffers are open and none is committed", func() {
			o.pool(func() {
				for range 65 {
					o.send(d.queue, "commandBuffer")
				}
			})
		}},
		{"another pool is popped", "objc_autoreleasePoolPop: not this thread's innermost pool", func() {
			o.pool(func() { o.call(o.pop, 77) })
		}},
		{"threadgroup memory of odd size", "setThreadgroupMemoryLength:atIndex: 4 bytes", encoder(func(c *Commands) {
			o.send(c.encoder, "setThreadgroupMemoryLength:atIndex:", 4, 0)
		})},
		{"a buffer without a pool", "newBufferWithLength:options:: called without a pool", func() {
			b := o.send(d.device, "newBufferWithLength:options:", 16, 0)
			o.release(&b)
		}},
		{"more threads than kernels count", "4294967296x1x1 threadgroups of 1x1x1", encoder(func(c *Commands) {
			c.Use(add.pipeline)
			dispatch(c, Size{1 << 32, 1, 1}, one)
		})},
		{"a grid of no threads", "dispatchThreads:threadsPerThreadgroup: 8x0x1 threads", encoder(func(c *Commands) {
			c.Use(add.pipeline)
			o.sendDispatch(c.encoder, o.sel("dispatchThreads:threadsPerThreadgroup:"), Size{8, 0, 1}, one)
		})},
		{"a number is no object", "length: sent to what is no object", func() { o.send(uintptr(12345), "length") }},
		{"a message that nobody knows", "-[MTLBuffer lenght]: unrecognized selector", func() { o.send(add.a.buffer, "lenght") }},
	} {
		mistake.do()
		if got := strings.Join(lib.Violations(), "\n"); !strings.Contains(got, mistake.want) {
			t.Errorf("%s: found %q, want %q", mistake.name, got, mistake.want)
		}
	}
}

// What commands use is out of the host's reach until it has waited, and what is
// released for ever.
func TestMissingWait(t *testing.T) {
	d, _ := openPlayed(t)
	add := newAdder(t, d, 8, 1)
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum)
	memory := floats(add.sum)
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	if !faults(func() { memory[0]++ }) {
		t.Error("the sum was read before it was there")
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if faults(func() { memory[0]++ }) {
		t.Error("the sum is not there after the wait")
	}
	add.sum.Close()
	c.Close() // which held the buffer
	if !faults(func() { memory[0]++ }) {
		t.Error("a released buffer was written")
	}
}

// faults reports whether f touches memory that is not there.
func faults(f func()) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	f()
	return false
}

// What is not closed is listed.
func TestLive(t *testing.T) {
	d, lib := openPlayed(t)
	before := len(lib.Live())
	b, err := d.NewBuffer(16)
	if err != nil {
		t.Fatal(err)
	}
	if live := lib.Live(); len(live) != before+1 || !strings.Contains(strings.Join(live, "\n"), "MTLBuffer, references: 1") {
		t.Errorf("alive: %q", live)
	}
	b.Close()
}

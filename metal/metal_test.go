package metal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"onebit/internal/require"
	"onebit/metal/dl"
	"onebit/metal/metaltest"
	"onebit/metal/softmetal/frameworks"
)

const shader = `#include <metal_stdlib>
using namespace metal;

constant float scale [[function_constant(0)]];

kernel void vector_add(
	device const float *a [[buffer(0)]],
	device const float *b [[buffer(1)]],
	device float *sum [[buffer(2)]],
	constant uint &n [[buffer(3)]],
	uint i [[thread_position_in_grid]])
{
	if (i < n)
		sum[i] = scale * (a[i] + b[i]);
}
`

// open opens the Mac's GPU, or the one that is played on Linux.
func open(t *testing.T) *Device {
	t.Helper()
	if runtime.GOOS == "linux" {
		d, _ := openPlayed(t)
		return d
	}
	d, err := Open()
	if errors.Is(err, ErrNoDevice) {
		require.Skip(t, "metal", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// openPlayed opens the GPU that is played. When the test ends, nothing may be
// alive or have been done wrong that the test has not taken note of.
func openPlayed(t *testing.T) (*Device, *frameworks.Library) {
	t.Helper()
	lib := played(t)
	d, err := OpenFrameworks(lib)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, lib
}

func played(t *testing.T) *frameworks.Library {
	t.Helper()
	if runtime.GOOS != "linux" {
		require.Skip(t, "linux", "the frameworks are played on Linux")
	}
	return metaltest.Played(t)
}

// An adder is what vector_add needs.
type adder struct {
	device    *Device
	library   *Library
	pipeline  *Pipeline
	a, b, sum *Buffer
	n         int
}

// compiled returns a kernel of a source, and its library.
func compiled(t *testing.T, d *Device, source, function string, constants Constants) (*Library, *Pipeline) {
	t.Helper()
	lib, err := d.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lib.Close() })
	p, err := lib.Pipeline(function, constants)
	if err != nil {
		t.Fatal(err)
	}
	return lib, p
}

func newAdder(t *testing.T, d *Device, n int, scale float32) *adder {
	t.Helper()
	lib, p := compiled(t, d, shader, "vector_add", Constants{0: scale})
	add := &adder{device: d, library: lib, pipeline: p, n: n}
	add.a, add.b, add.sum = newFloats(t, d, n), newFloats(t, d, n), newFloats(t, d, n)
	for i := range n {
		floats(add.a)[i], floats(add.b)[i] = float32(i), float32(1000*i)
	}
	return add
}

func newFloats(t *testing.T, d *Device, n int) *Buffer {
	t.Helper()
	b, err := d.NewBuffer(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func floats(b *Buffer) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&b.Bytes()[0])), len(b.Bytes())/4)
}

func (a *adder) commands(t *testing.T) *Commands {
	t.Helper()
	c, err := a.device.NewCommands()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// encode adds the dispatch of sum = scale·(x + y).
func (a *adder) encode(c *Commands, x, y, sum *Buffer) {
	c.Use(a.pipeline)
	c.SetBuffer(0, x, 0)
	c.SetBuffer(1, y, 0)
	c.SetBuffer(2, sum, 0)
	c.SetBytes(3, binary.LittleEndian.AppendUint32(nil, uint32(a.n)))
	c.Dispatch(Size{uint(a.n+63) / 64, 1, 1}, Size{64, 1, 1})
}

func run(t *testing.T, c *Commands) {
	t.Helper()
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestDevice(t *testing.T) {
	d := open(t)
	l := d.Limits()
	if d.Name() == "" || l.Buffer < 1<<28 || l.WorkingSet < 1<<28 || l.ThreadgroupMemory < 16<<10 ||
		l.Threadgroup.Width < 512 || l.Threadgroup.Height < 512 || l.Threadgroup.Depth < 1 {
		t.Errorf("%q has limits %+v", d.Name(), l)
	}
	if d.Supports(Metal3 + 900) {
		t.Error("it supports a family that does not exist")
	}
	if runtime.GOARCH == "arm64" && !d.Supports(Apple5) {
		t.Error("it is no GPU of Apple")
	}
}

func TestFamilies(t *testing.T) {
	d, lib := openPlayed(t)
	lib.Family(frameworks.Apple5)
	defer lib.Family(frameworks.Apple7)
	if !d.Supports(Apple5) || d.Supports(Apple6) || !d.Supports(Metal3) {
		t.Error("a device of Apple5 is something else")
	}
	lib.Family(frameworks.Apple7)
	if !d.Supports(Apple6) || !d.Supports(Apple7) || d.Supports(Apple8) {
		t.Error("a device of Apple7 is something else")
	}
}

// A queue takes 64 command buffers that are not done, and then waits for one.
func TestManyCommands(t *testing.T) {
	add := newAdder(t, open(t), 8, 1)
	var last *Commands
	for range 100 {
		last = add.commands(t)
		add.encode(last, add.a, add.b, add.sum)
		if err := last.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := last.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := floats(add.sum)[7]; got != 7007 {
		t.Errorf("the sum is %g", got)
	}
}

// Who begins commands and never commits would wait for ever, and gets an error.
func TestTooManyCommands(t *testing.T) {
	add := newAdder(t, open(t), 8, 1)
	var begun []*Commands
	for range maxCommands {
		begun = append(begun, add.commands(t))
	}
	if _, err := add.device.NewCommands(); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more than %d: %v", maxCommands, err)
	}
	begun[0].Close()
	begun[0].Close() // which counts once
	add.encode(begun[1], add.a, add.b, add.sum)
	run(t, begun[1])
	begun[1].Close()
	for range 2 {
		add.commands(t)
	}
	if _, err := add.device.NewCommands(); !errors.Is(err, ErrTooMany) {
		t.Errorf("after two were done, and two more were begun: %v", err)
	}
}

func TestAdd(t *testing.T) {
	const n = 1000 // not a multiple of the threads of a threadgroup
	add := newAdder(t, open(t), n, 0.5)
	if add.pipeline.SIMDWidth() != 32 || add.pipeline.MaxThreads() < 64 {
		t.Errorf("%d lanes, up to %d threads", add.pipeline.SIMDWidth(), add.pipeline.MaxThreads())
	}
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum)
	run(t, c)
	for i, got := range floats(add.sum) {
		if want := 0.5 * 1001 * float32(i); got != want {
			t.Fatalf("sum %d is %g, want %g", i, got, want)
		}
	}
	if c.GPUTime() < 0 {
		t.Errorf("the GPU took %v", c.GPUTime())
	}
}

// A dispatch sees what the one before it wrote, and commands what those before
// them wrote, waited for or not.
func TestOrder(t *testing.T) {
	add := newAdder(t, open(t), 100, 1)
	first, second := add.commands(t), add.commands(t)
	add.encode(first, add.a, add.b, add.sum)  // a + b
	add.encode(first, add.sum, add.b, add.a)  // a + 2b
	add.encode(second, add.a, add.sum, add.b) // 2a + 3b
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	run(t, second)
	for i, got := range floats(add.b) {
		if want := 3002 * float32(i); got != want {
			t.Fatalf("sum %d is %g, want %g", i, got, want)
		}
	}
}

// Kernels of concurrent commands see what those wrote that a barrier is between.
func TestConcurrentCommands(t *testing.T) {
	add := newAdder(t, open(t), 100, 1)
	c, err := add.device.NewConcurrent()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other := newFloats(t, add.device, 100)
	add.encode(c, add.a, add.b, add.sum) // a + b
	add.encode(c, add.a, add.a, other)   // 2a
	c.Barrier()
	add.encode(c, add.sum, other, add.b) // 3a + b
	run(t, c)
	for i, got := range floats(add.b) {
		if want := 1003 * float32(i); got != want {
			t.Fatalf("sum %d is %g, want %g", i, got, want)
		}
	}
}

// The last threadgroup of a grid is smaller where the grid's size asks for it.
func TestDispatchThreads(t *testing.T) {
	add := newAdder(t, open(t), 100, 1)
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum) // all
	add.n = 1 << 20
	c.SetBytes(3, binary.LittleEndian.AppendUint32(nil, uint32(add.n)))
	c.SetBuffer(0, add.b, 0)
	c.DispatchThreads(Size{70, 1, 1}, Size{32, 1, 1}) // the first 70 once more
	run(t, c)
	for i, got := range floats(add.sum) {
		want := 1001 * float32(i)
		if i < 70 {
			want = 2000 * float32(i)
		}
		if got != want {
			t.Fatalf("sum %d is %g, want %g", i, got, want)
		}
	}
}

// Commands hold the buffers and the kernel that they use.
func TestCloseBeforeCommit(t *testing.T) {
	add := newAdder(t, open(t), 10, 1)
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum)
	add.a.Close()
	add.library.Close()
	run(t, c)
	if got := floats(add.sum)[9]; got != 9009 {
		t.Errorf("the sum is %g", got)
	}
}

// Arguments stay set for the kernels that follow, whether they take them or not.
func TestArgumentsStay(t *testing.T) {
	d := open(t)
	add := newAdder(t, d, 10, 1)
	_, twice := compiled(t, d, "#include <metal_stdlib>\nusing namespace metal;\nkernel void twice(device float *x [[buffer(2)]], uint i [[thread_position_in_grid]]) { x[i] *= 2.0f; }\n", "twice", nil)
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum)
	c.Use(twice)
	c.Dispatch(Size{10, 1, 1}, Size{1, 1, 1})
	run(t, c)
	if got := floats(add.sum)[9]; got != 18018 {
		t.Errorf("the sum is %g", got)
	}
}

// Goroutines share a device, its library and buffers that none of them writes.
func TestConcurrent(t *testing.T) {
	const goroutines, rounds = 4, 8
	add := newAdder(t, open(t), 100, 1)
	work := func(c *Commands, sum *Buffer) error {
		p, err := add.library.Pipeline("vector_add", Constants{0: float32(3)})
		if err != nil {
			return err
		}
		mine := *add
		mine.pipeline = p
		mine.encode(c, add.a, add.b, sum)
		if err := c.Commit(); err != nil {
			return err
		}
		if err := c.Wait(); err != nil {
			return err
		}
		if got := floats(sum)[99]; got != 3*1001*99 {
			return fmt.Errorf("the sum is %g", got)
		}
		return nil
	}
	errs := make(chan error)
	for range goroutines {
		go func() {
			var err error
			for range rounds {
				var c *Commands
				var sum *Buffer
				if c, err = add.device.NewCommands(); err != nil {
					break
				}
				if sum, err = add.device.NewBuffer(400); err == nil {
					err = work(c, sum)
					sum.Close()
				}
				c.Close()
			}
			errs <- err
		}()
	}
	for range goroutines {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// A closed kernel is not sent.
func TestClosedPipeline(t *testing.T) {
	add := newAdder(t, open(t), 1, 1)
	add.library.Close()
	c := add.commands(t)
	c.Use(add.pipeline)
	if err := c.Commit(); err == nil || err.Error() != "metal: kernel vector_add[0:1] was closed" {
		t.Error(err)
	}
}

func TestOffset(t *testing.T) {
	add := newAdder(t, open(t), 10, 1)
	add.n = 4
	c := add.commands(t)
	c.Use(add.pipeline)
	c.SetBuffer(0, add.a, 4*5)
	c.SetBuffer(1, add.b, 0)
	c.SetBuffer(2, add.sum, 4*6)
	c.SetBytes(3, []byte{4, 0, 0, 0})
	c.Dispatch(Size{1, 1, 1}, Size{32, 1, 1})
	run(t, c)
	want := []float32{0, 0, 0, 0, 0, 0, 5, 1006, 2007, 3008}
	if got := floats(add.sum); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPipelines(t *testing.T) {
	add := newAdder(t, open(t), 1, 1)
	same, err := add.library.Pipeline("vector_add", Constants{0: float32(1)})
	if err != nil || same != add.pipeline {
		t.Errorf("a pipeline was made twice; %v", err)
	}
	other, err := add.library.Pipeline("vector_add", Constants{0: float32(2)})
	if err != nil || other == add.pipeline {
		t.Errorf("another constant gave the same pipeline; %v", err)
	}
	for _, test := range []struct {
		name      string
		constants Constants
	}{
		{"vector_sub", Constants{0: float32(1)}},
		{"vector_add", nil},
		{"vector_add", Constants{0: "1"}},
	} {
		if p, err := add.library.Pipeline(test.name, test.constants); err == nil {
			t.Errorf("%s with constants %v is %v, want an error", test.name, test.constants, p)
		}
	}
}

func TestCompileError(t *testing.T) {
	d := open(t)
	source := "#include <metal_stdlib>\n\nkernel void f(device int *x [[buffer(0)]]) {\n\t*x = banana;\n}\n"
	lib, err := d.Compile(source)
	var ce *CompileError
	if !errors.As(err, &ce) {
		t.Fatalf("%v, %v; want a CompileError", lib, err)
	}
	if ce.Line != 4 || ce.Text != "\t*x = banana;" {
		t.Errorf("line %d, %q of message %q", ce.Line, ce.Text, ce.Message)
	}
}

func TestCompileErrorText(t *testing.T) {
	for message, want := range map[string]string{
		"program_source:2:7: warning: unused\nprogram_source:3:1: error: no\n": "metal: the shader does not compile: line 3, \"c\": program_source:2:7: warning: unused\nprogram_source:3:1: error: no\n",
		"program_source:9:1: error: behind the end":                            "metal: the shader does not compile: program_source:9:1: error: behind the end",
		"the compiler is gone":                                                 "metal: the shader does not compile: the compiler is gone",
	} {
		if got := newCompileError(message, "a\nb\n\tc\n").Error(); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}

func TestConstantTypes(t *testing.T) {
	const source = `#include <metal_stdlib>
using namespace metal;
constant bool flip [[function_constant(0)]];
constant int less [[function_constant(1)]];
constant uint more [[function_constant(2)]];
constant float scale [[function_constant(3)]];
kernel void f(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
	x[i] = (flip ? -1.0f : 1.0f) * scale * (x[i] + float(less) + float(more));
}
`
	d := open(t)
	_, p := compiled(t, d, source, "f", Constants{0: true, 1: int32(-3), 2: uint32(7), 3: float32(0.5)})
	x := newFloats(t, d, 1)
	floats(x)[0] = 2
	c, err := d.NewCommands()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Use(p)
	c.SetBuffer(0, x, 0)
	c.Dispatch(Size{1, 1, 1}, Size{1, 1, 1})
	run(t, c)
	if got := floats(x)[0]; got != -3 {
		t.Errorf("%g, want -3", got)
	}
}

// Floats are not reordered, nor replaced: what a rounding lost is told by it.
func TestSafeMath(t *testing.T) {
	d := open(t)
	_, p := compiled(t, d, `#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)
kernel void lost(device float *x [[buffer(0)]]) {
	const float sum = x[0] + x[1];
	x[2] = x[1] - (sum - x[0]);
}
`, "lost", nil)
	x := newFloats(t, d, 3)
	copy(floats(x), []float32{1, 0x1p-30})
	c, err := d.NewCommands()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Use(p)
	c.SetBuffer(0, x, 0)
	c.Dispatch(Size{1, 1, 1}, Size{1, 1, 1})
	run(t, c)
	if got := floats(x)[2]; got != 0x1p-30 {
		t.Errorf("%g was lost, want 2⁻³⁰", got)
	}
}

// A command buffer that takes too long ends with a timeout; a shorter one after it is
// done.
func TestWatchdog(t *testing.T) {
	d, lib := openPlayed(t)
	defer lib.Watchdog(0)
	add := newAdder(t, d, 100, 1)
	for _, test := range []struct {
		accesses int
		want     error
	}{{300, ErrTimeout}, {3000, nil}} {
		lib.Watchdog(test.accesses)
		c := add.commands(t)
		add.encode(c, add.a, add.b, add.sum)
		if err := c.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); !errors.Is(err, test.want) {
			t.Errorf("of %d accesses: %v, want %v", test.accesses, err, test.want)
		}
	}
}

// A kernel tells how many threads its registers leave room for, and how wide its
// simdgroups are.
func TestPipelineLimits(t *testing.T) {
	d, lib := openPlayed(t)
	lib.MaxThreads(48)
	lib.SIMDWidth(16)
	defer lib.SIMDWidth(0)
	defer lib.MaxThreads(0)
	add := newAdder(t, d, 8, 1)
	if add.pipeline.MaxThreads() != 48 || add.pipeline.SIMDWidth() != 16 {
		t.Errorf("%d threads, simdgroups of %d; want 48 and 16", add.pipeline.MaxThreads(), add.pipeline.SIMDWidth())
	}
	c := add.commands(t)
	add.encode(c, add.a, add.b, add.sum)
	const want = "metal: kernel vector_add[0:1]: threadgroups of {64 1 1} threads; it takes 48"
	if err := c.Commit(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A kernel whose threads meet in threadgroup memory gets as much as it was given.
func TestThreadgroupMemory(t *testing.T) {
	const source = `#include <metal_stdlib>
using namespace metal;
kernel void reverse(device float *x [[buffer(0)]], threadgroup float *room [[threadgroup(0)]],
	uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
	room[i] = x[i];
	threadgroup_barrier(mem_flags::mem_threadgroup);
	x[i] = room[n - 1 - i];
}
`
	d := open(t)
	_, p := compiled(t, d, source, "reverse", nil)
	x := newFloats(t, d, 64)
	for i := range floats(x) {
		floats(x)[i] = float32(i)
	}
	c, err := d.NewCommands()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Use(p)
	c.SetBuffer(0, x, 0)
	c.SetThreadgroupMemory(0, 64*4)
	c.Dispatch(Size{1, 1, 1}, Size{64, 1, 1})
	run(t, c)
	for i, got := range floats(x) {
		if want := float32(63 - i); got != want {
			t.Fatalf("value %d is %g, want %g", i, got, want)
		}
	}
}

func TestCommandMisuse(t *testing.T) {
	add := newAdder(t, open(t), 8, 1)
	closed := newFloats(t, add.device, 1)
	closed.Close()
	one := Size{1, 1, 1}
	for name, do := range map[string]func(*Commands){
		"metal: a dispatch without a kernel":           func(c *Commands) { c.Dispatch(one, one) },
		"metal: argument 1: the buffer was closed":     func(c *Commands) { c.SetBuffer(1, closed, 0) },
		"metal: argument 31; the last is 30":           func(c *Commands) { c.SetBuffer(31, add.a, 0) },
		"metal: argument -1; the last is 30":           func(c *Commands) { c.SetBytes(-1, []byte{1}) },
		"metal: argument 1: byte 32 of a buffer of 32": func(c *Commands) { c.SetBuffer(1, add.a, 32) },
		"metal: argument 1: byte -4 of a buffer of 32": func(c *Commands) { c.SetBuffer(1, add.a, -4) },
		"metal: argument 2 has 0 bytes; want 1 to 4096": func(c *Commands) {
			c.SetBytes(2, nil)
			c.Dispatch(one, one) // the first error stays
		},
		"metal: argument 2 has 4097 bytes; want 1 to 4096": func(c *Commands) { c.SetBytes(2, make([]byte, 4097)) },
		"metal: kernel vector_add[0:1]: a dispatch of {0 1 1} by {1 1 1} threads": func(c *Commands) {
			c.Use(add.pipeline)
			c.Dispatch(Size{0, 1, 1}, one)
		},
	} {
		c := add.commands(t)
		do(c)
		for _, err := range []error{c.Commit(), c.Wait()} {
			if err == nil || err.Error() != name {
				t.Errorf("%v; want %s", err, name)
			}
		}
	}
	limit := add.device.Limits()
	for name, do := range map[string]func(*Commands){
		"threads":                    func(c *Commands) { c.Use(add.pipeline); c.Dispatch(one, Size{limit.Threadgroup.Width, 2, 1}) },
		"width":                      func(c *Commands) { c.Use(add.pipeline); c.Dispatch(one, Size{limit.Threadgroup.Width + 1, 1, 1}) },
		"overflow":                   func(c *Commands) { c.Use(add.pipeline); c.Dispatch(one, Size{1 << 32, 1 << 32, 1}) },
		"too many threads of a grid": func(c *Commands) { c.Use(add.pipeline); c.DispatchThreads(Size{1 << 32, 1, 1}, Size{32, 1, 1}) },
		"too many threads":           func(c *Commands) { c.Use(add.pipeline); c.Dispatch(Size{1 << 27, 1, 1}, Size{32, 1, 1}) },
		"threadgroup memory":         func(c *Commands) { c.SetThreadgroupMemory(0, limit.ThreadgroupMemory+16) },
		"threadgroup bytes":          func(c *Commands) { c.SetThreadgroupMemory(0, 4) },
	} {
		c := add.commands(t)
		do(c)
		if err := c.Commit(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Commands that were waited for, were not committed, or are closed say so.
func TestCommandStates(t *testing.T) {
	add := newAdder(t, open(t), 8, 1)
	c := add.commands(t)
	if err := c.Wait(); err != errNotSent {
		t.Errorf("waiting before committing: %v", err)
	}
	add.encode(c, add.a, add.b, add.sum)
	run(t, c)
	if err := c.Commit(); err != errCommitted {
		t.Errorf("committing twice: %v", err)
	}
	c.Close()
	c.Close()
	if c.GPUTime() != 0 {
		t.Error("closed commands took time")
	}
	abandoned := add.commands(t)
	add.encode(abandoned, add.a, add.b, add.sum)
	abandoned.Close() // with its encoder open
}

func TestBufferSizes(t *testing.T) {
	d := open(t)
	for _, n := range []int{0, -1, math.MinInt} {
		if _, err := d.NewBuffer(n); err != errEmpty {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := d.Wrap(nil); err != errEmpty {
		t.Errorf("no bytes: %v", err)
	}
	if _, err := d.NewBuffer(d.Limits().Buffer + 1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a buffer larger than the largest: %v", err)
	}
	before := d.Allocated()
	b := newFloats(t, d, 1<<20)
	if len(b.Bytes()) != 4<<20 || d.Allocated() < before+4<<20 {
		t.Errorf("%d bytes; %d allocated, before that %d", len(b.Bytes()), d.Allocated(), before)
	}
	b.Bytes()[4<<20-1] = 1
	b.Close()
	b.Close()
	if b.Bytes() != nil {
		t.Error("a closed buffer has bytes")
	}
}

// A program that plays the frameworks provides them where the system has none.
func TestProvide(t *testing.T) {
	lib := played(t)
	Provide(func() (Frameworks, error) { return lib, nil })
	defer Provide(nil)
	d, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !d.Emulated() {
		t.Error("a device that is played is not emulated")
	}
	broken := errors.New("no compiler")
	Provide(func() (Frameworks, error) { return nil, broken })
	if _, err := Open(); !errors.Is(err, ErrNoDevice) || !errors.Is(err, broken) {
		t.Errorf("frameworks that do not load: %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	if runtime.GOOS != "darwin" {
		if _, err := Open(); !errors.Is(err, ErrNoDevice) {
			t.Errorf("Open on %s: %v", runtime.GOOS, err)
		}
	}
	if runtime.GOOS == "linux" {
		other, err := dl.Open("libc.so.6")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFrameworks(other); err == nil || !strings.Contains(err.Error(), "objc_msgSend") {
			t.Errorf("a library without Objective-C: %v", err)
		}
	}
}

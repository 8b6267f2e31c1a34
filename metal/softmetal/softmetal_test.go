package softmetal

import (
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/require"
)

// compile compiles a source whose kernels see metal's names.
func compile(t *testing.T, source string, constants map[int]any) *Library {
	t.Helper()
	needCompiler(t)
	l, err := Compile("#include <metal_stdlib>\nusing namespace metal;\n"+source, constants)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func needCompiler(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("shaders run on Linux only")
	}
	if _, err := exec.LookPath("g++"); err != nil {
		require.Skip(t, "g++", err.Error())
	}
}

func TestDispatch(t *testing.T) {
	l := compile(t, `
constant uint times [[function_constant(0)]];
constant float table[2] = {10, 20};

struct Size { uint n; };

kernel void scale(device const float *x [[buffer(0)]],
                  device float *y       [[buffer(1)]],
                  constant Size &size   [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
	if (i >= size.n) return;
	y[i] = x[i] * float(times) + table[i % 2];
}
`, map[int]any{0: uint32(3)})
	x, y := []float32{1, 2, 3, 4, 5}, make([]float32, 5)
	err := l.Dispatch("scale", [3]int{8, 1, 1}, [3]int{4, 1, 1}, Buffer(0, x), Buffer(1, y), Value(2, uint32(5)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		if want := x[i]*3 + []float32{10, 20}[i%2]; y[i] != want {
			t.Errorf("y[%d] = %v, want %v", i, y[i], want)
		}
	}
}

// Each fault is found, and its message names kernel, thread and memory.
func TestFaults(t *testing.T) {
	l := compile(t, `
kernel void beyond(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
	y[i] = x[i + 1];
}
kernel void before(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
	y[int(i) - 1] = x[i];
}
kernel void stride(device const float4 *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
	y[i] = x[i].x;
}
kernel void misaligned(device const uchar *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
	y[i] = *(device const float *)(x + i);
}
kernel void no_barrier(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup float tile[2 * 32];
	tile[i] = float(i);
	y[i] = tile[63 - i];
}
kernel void barrier(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup float tile[64];
	tile[i] = float(i);
	threadgroup_barrier(mem_flags::mem_threadgroup);
	y[i] = tile[63 - i];
}
kernel void barrier_of_nothing(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup float tile[64];
	tile[i] = float(i);
	threadgroup_barrier(mem_flags::mem_none);
	y[i] = tile[63 - i];
}
kernel void simd_barrier(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup float tile[64];
	tile[i] = float(i);
	simdgroup_barrier(mem_flags::mem_threadgroup);
	y[i] = tile[i ^ 1];
}
kernel void simd_barrier_across(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup float tile[64];
	tile[i] = float(i);
	simdgroup_barrier(mem_flags::mem_threadgroup);
	y[i] = tile[i ^ 32];
}
kernel void overwrites(device float *y [[buffer(1)]], threadgroup float *sum [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]]) {
	if (i == 0) sum[0] = 1;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	y[i] = sum[0];
	if (i == 0) sum[0] = 2;
}
kernel void unwritten(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup float tile[64];
	if (i < 32) tile[i] = 1;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	y[i] = tile[i];
}
kernel void outside_tile(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup float tile[60];
	tile[i] = 1;
	y[i] = tile[i];
}
kernel void diverges(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	if (i < 40) threadgroup_barrier(mem_flags::mem_threadgroup);
	y[i] = 1;
}
kernel void simd_diverges(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	if (i != 5) y[i] = simd_sum(1.0f);
}
kernel void one_row(device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
	y[i / 2] = float(i);
}
kernel void next_group(device float *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
	x[i] = 1;
	threadgroup_barrier(mem_flags::mem_device);
	y[i] = x[i ^ 1] + x[i > 40 ? 0 : i];
}
kernel void device_barrier(device float *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
	x[i] = 1;
	threadgroup_barrier(mem_flags::mem_device);
	y[i] = x[i ^ 1];
}
kernel void counts(device atomic_uint *n [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup atomic_uint m;
	if (i == 0) atomic_store_explicit(&m, 0, memory_order_relaxed);
	threadgroup_barrier(mem_flags::mem_threadgroup);
	atomic_fetch_add_explicit(&m, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
	threadgroup_barrier(mem_flags::mem_threadgroup);
	y[i] = float(atomic_load_explicit(&m, memory_order_relaxed));
}
kernel void own_bytes(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup uint tile[16];
	threadgroup uchar *bytes = (threadgroup uchar *)tile;
	bytes[i] = uchar(i);
	y[i] = bytes[i];
}
kernel void byte_of_a_word(device float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
	threadgroup uint tile[64];
	threadgroup uchar *bytes = (threadgroup uchar *)tile;
	tile[i] = i;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	bytes[4 * (i ^ 1) + 2] = bytes[4 * i + 1];
	y[i] = tile[i];
}
`, nil)
	for kernel, want := range map[string]string{
		"beyond":              "kernel beyond, thread (63,0,0) of threadgroup (0,0,0) reads 4 bytes at offset 256 of buffer 0 (x), which has 256 bytes",
		"before":              "kernel before, thread (0,0,0) of threadgroup (0,0,0) writes 4 bytes at offset -4 of buffer 1 (y), which has 256 bytes",
		"stride":              "kernel stride, thread (16,0,0) of threadgroup (0,0,0) reads 4 bytes at offset 256 of buffer 0 (x), which has 256 bytes",
		"misaligned":          "kernel misaligned, thread (1,0,0) of threadgroup (0,0,0) reads 4 bytes, aligned to 4, at offset 1 of buffer 0 (x), which has 256 bytes",
		"no_barrier":          "kernel no_barrier, thread (0,0,0) of threadgroup (0,0,0) reads offset 252 of threadgroup memory tile, which no thread of it has written",
		"barrier":             "",
		"barrier_of_nothing":  "kernel barrier_of_nothing, thread (0,0,0) of threadgroup (0,0,0) reads offset 252 of threadgroup memory tile, which thread (63,0,0) writes with no barrier between",
		"simd_barrier":        "",
		"simd_barrier_across": "kernel simd_barrier_across, thread (0,0,0) of threadgroup (0,0,0) reads offset 128 of threadgroup memory tile, which thread (32,0,0) writes with no barrier between",
		"overwrites":          "kernel overwrites, thread (1,0,0) of threadgroup (0,0,0) reads offset 0 of threadgroup memory sum, which thread (0,0,0) writes with no barrier between",
		"unwritten":           "kernel unwritten, thread (32,0,0) of threadgroup (0,0,0) reads offset 128 of threadgroup memory tile, which no thread of it has written",
		"outside_tile":        "kernel outside_tile, thread (60,0,0) of threadgroup (0,0,0) writes 4 bytes at offset 240 of threadgroup memory tile, which has 240 bytes",
		"diverges":            "kernel diverges, threadgroup (0,0,0): thread (32,0,0) waits at the threadgroup_barrier of line 63, and thread (40,0,0) has returned",
		"simd_diverges":       "kernel simd_diverges, threadgroup (0,0,0): thread (0,0,0) waits at the simdgroup operation of line 67, and thread (5,0,0) has returned",
		"one_row":             "kernel one_row, thread (1,0,0) of threadgroup (0,0,0) writes offset 0 of buffer 1 (y), which thread (0,0,0) of threadgroup (0,0,0) writes with no barrier between",
		"next_group":          "kernel next_group, thread (9,0,0) of threadgroup (1,0,0) reads offset 0 of buffer 0 (x), which thread (0,0,0) of threadgroup (0,0,0) writes with no barrier between",
		"device_barrier":      "",
		"counts":              "",
		"own_bytes":           "",
		"byte_of_a_word":      "kernel byte_of_a_word, thread (1,0,0) of threadgroup (0,0,0) writes offset 2 of threadgroup memory tile, which thread (0,0,0) reads with no barrier between",
	} {
		t.Run(kernel, func(t *testing.T) {
			args := []Arg{Buffer(1, make([]float32, 64))}
			switch kernel {
			case "beyond", "before", "stride", "misaligned", "next_group", "device_barrier", "counts":
				args = append(args, Buffer(0, make([]float32, 64)))
			case "overwrites":
				args = append(args, Threadgroup(0, 4))
			}
			message, threads := "", 64
			if kernel == "next_group" {
				threads = 32
			}
			if err := l.Dispatch(kernel, [3]int{64, 1, 1}, [3]int{threads, 1, 1}, args...); err != nil {
				message = strings.TrimPrefix(err.Error(), "softmetal: ")
			}
			if message != want {
				t.Errorf("error %q\n want %q", message, want)
			}
		})
	}
}

// What the translator does not understand, and what the compiler refuses, is an
// error that names the source's line.
func TestRefusedSources(t *testing.T) {
	needCompiler(t)
	for source, want := range map[string]string{
		"kernel void f(device float *x) {}":                                   "line 3: kernel f: a parameter without an attribute such as [[buffer(0)]]",
		"kernel void f(float x [[buffer(0)]]) {}":                             "line 3: kernel f: parameter x is neither a pointer nor a reference",
		"kernel void f(uint i [[vertex_id]]) {}":                              "line 3: kernel f: attribute vertex_id of parameter i is not understood",
		"[[host_name(1)]] kernel void f() {}":                                 "line 3: attribute host_name is not understood here",
		"template <typename T> kernel void f() {}":                            "line 3: a template of a kernel is not supported: use function constants",
		"kernel void f() { threadgroup float a[2], b[2]; }":                   "line 3: a variable of threadgroup memory has a declaration of its own, and no initial value",
		"constant uint n [[function_constant(0)]];\nconstant uint m = n + 1;": "line 4: a constant made from function constant n is not supported",
		"constant uint n [[function_constant(0)]] = 1;":                       "line 3: a function constant is written: constant TYPE NAME [[function_constant(NUMBER)]];",
		"kernel void f(device float *x [[buffer(0)]]":                         "line 3: the source ends too early",
		"kernel void f(": "line 3: the source ends too early",
		"/* no end":      "line 3: a comment without its end",
		"kernel void f(device float *x [[buffer(0)]]) { *x = y; }":                               "shader.metal:3:53: error",
		"kernel void f(constant float *x [[buffer(0)]]) { *x = 1; }":                             "shader.metal:3:53: error",
		"kernel void f(device uint4 *x [[buffer(0)]]) { x->xy = 1; }":                            "has no member named",
		"kernel void f(uint2 at [[thread_position_in_grid]],\nuint n [[threads_per_grid]]) {}":   "line 4: kernel f: parameter n has 1 components, and at 2: Metal wants as many of all",
		"kernel void f(int i [[thread_position_in_grid]]) {}":                                    "line 3: kernel f: parameter i is a int; want uint or ushort, of 1 to 3 components",
		"kernel void f(uint2 i [[thread_index_in_threadgroup]]) {}":                              "line 3: kernel f: parameter i is a uint2; want uint or ushort",
		"kernel void f(device float *x [[buffer(31)]]) {}":                                       "line 3: kernel f: buffer(31): the last index is 30",
		"kernel void f(device float *x [[buffer(1)]], device float *y [[buffer(1)]]) {}":         "line 3: kernel f: two parameters are buffer(1)",
		"kernel void f(device float *x [[buffer(0)]]) { *x = __builtin_sqrtf(*x); }":             "line 3: __builtin_sqrtf is a compiler's name, not one of Metal's",
		"kernel void f(device float *x [[buffer(0)]]) { *x = fast::exp(*x); }":                   "shader.metal:3:53: error",
		"struct Pair { float a, b; };\nstatic Pair of(float x) { return Pair{.a = x, .b = x}; }": "designated initializers",
		"static float f(float x) { return x; }\n#pragma METAL fp contract(off)":                  "line 4: fp contract(off) stands behind the first function",
		"static void f(device float *x) {}\n\nkernel void g(uint i [[thread_position]]) {}\n":    "line 5: kernel g: attribute thread_position of parameter i is not understood",
	} {
		_, err := Compile("#include <metal_stdlib>\nusing namespace metal;\n"+source, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nerror %v\n want %q", source, err, want)
		}
	}
}

// A product and a sum are one operation, unless the source turns that off.
func TestContraction(t *testing.T) {
	if missing := cpu.Detected().Missing(cpu.FMA); runtime.GOARCH == "amd64" && missing != 0 {
		require.Skip(t, missing.String(), "this CPU has no fused multiply-add")
	}
	needCompiler(t)
	x := float32(1 + 1.0/(1<<12))
	for pragma, want := range map[string]float32{
		"": float32(float64(x)*float64(x) - 1), "#pragma METAL fp contract(off)\n": x*x - 1,
		"# pragma METAL  fp contract(off) // each rounds\n": x*x - 1,
	} {
		l := compile(t, pragma+"kernel void f(device float *x [[buffer(0)]]) { x[0] = x[0] * x[0] - x[1]; }", nil)
		v := []float32{x, 1}
		if err := l.Dispatch("f", [3]int{1, 1, 1}, [3]int{1, 1, 1}, Buffer(0, v)); err != nil {
			t.Fatal(err)
		}
		if v[0] != want {
			t.Errorf("with %q: %g, want %g", pragma, v[0], want)
		}
	}
}

// Subnormal numbers are zero, as results and as operands.
func TestFlushed(t *testing.T) {
	l := compile(t, "kernel void f(device float *x [[buffer(0)]]) { x[0] *= x[1]; x[2] *= x[3]; }", nil)
	v := []float32{0x1p-100, 0x1p-30, 0x1p-130, 0x1p100}
	if err := l.Dispatch("f", [3]int{1, 1, 1}, [3]int{1, 1, 1}, Buffer(0, v)); err != nil {
		t.Fatal(err)
	}
	if v[0] != 0 || v[2] != 0 {
		t.Errorf("%g and %g, want zeros", v[0], v[2])
	}
}

// Faults of the caller are errors before any thread runs.
func TestRefusedDispatches(t *testing.T) {
	const source = `
#include <metal_stdlib>
using namespace metal;
constant uint n [[function_constant(3)]];
struct Two { float a, b; };
[[max_total_threads_per_threadgroup(64)]]
kernel void f(device float *x [[buffer(0)]], constant Two &two [[buffer(1)]], threadgroup float *t [[threadgroup(0)]]) {
	x[0] = two.a + float(n);
}
kernel void big(device float *x [[buffer(0)]]) {
	threadgroup float a[8192];
	threadgroup float b[1];
	a[0] = b[0] = *x;
}
`
	needCompiler(t)
	x, two, t0 := Buffer(0, make([]float32, 1)), Value(1, [2]float32{}), Threadgroup(0, 16)
	one := [3]int{1, 1, 1}
	for _, test := range []struct {
		kernel            string
		constants         map[int]any
		grid, threadgroup [3]int
		args              []Arg
		want              string
	}{
		{"f", map[int]any{3: uint32(1)}, one, one, []Arg{x, two, t0}, ""},
		{"g", map[int]any{3: uint32(1)}, one, one, []Arg{x, two, t0}, "softmetal: the source has no kernel g"},
		{"f", nil, one, one, []Arg{x, two, t0}, "softmetal: function constant n has no value"},
		{"f", map[int]any{3: int32(1)}, one, one, []Arg{x, two, t0}, "softmetal: function constant n is uint, not int"},
		{"f", map[int]any{3: uint32(1), 4: true}, one, one, []Arg{x, two, t0}, "softmetal: the source has no function constant 4"},
		{"f", map[int]any{3: uint32(1)}, one, one, []Arg{x, t0}, "softmetal: kernel f: buffer 1 (two) is not set"},
		{"f", map[int]any{3: uint32(1)}, one, one, []Arg{x, two}, "softmetal: kernel f: threadgroup memory 0 (t) is not set"},
		{"f", map[int]any{3: uint32(1)}, one, one, []Arg{x, Value(1, float32(0)), t0}, "softmetal: kernel f: buffer 1 (two) has 4 bytes, and one element 8"},
		{"f", map[int]any{3: uint32(1)}, one, one, []Arg{x, two, t0, Value(7, float32(0))}, "softmetal: kernel f has no buffer 7"},
		{"f", map[int]any{3: uint32(1)}, one, one, []Arg{x, two, Threadgroup(0, 32769)}, "softmetal: kernel f: more than 32768 bytes of threadgroup memory"},
		{"f", map[int]any{3: uint32(1)}, one, [3]int{65, 1, 1}, []Arg{x, two, t0}, "softmetal: kernel f: more than 64 threads in a threadgroup"},
		{"f", map[int]any{3: uint32(1)}, [3]int{1, 0, 1}, one, []Arg{x, two, t0}, "softmetal: kernel f: a grid or threadgroup of size 0"},
		{"big", map[int]any{3: uint32(1)}, one, one, []Arg{x}, "softmetal: kernel big, thread (0,0,0) of threadgroup (0,0,0) declares variable b: more than 32768 bytes of threadgroup memory"},
	} {
		l, err := Compile(source, test.constants)
		if err != nil {
			t.Fatal(err)
		}
		message := ""
		if err := l.Dispatch(test.kernel, test.grid, test.threadgroup, test.args...); err != nil {
			message = err.Error()
		}
		if message != test.want {
			t.Errorf("error %q\n want %q", message, test.want)
		}
	}
	if _, err := Compile(source, map[int]any{3: 1}); err == nil || err.Error() != "softmetal: function constant 3: values are bool, uint32, int32 or float32, not int" {
		t.Errorf("error %v for an int", err)
	}
}

// Dispatches of several goroutines do not disturb each other.
func TestConcurrent(t *testing.T) {
	l := compile(t, `
constant float by [[function_constant(0)]];
kernel void multiply(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
	const float sum = simd_sum(x[i]);
	x[i] = sum * by;
}
`, map[int]any{0: float32(2)})
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			x := make([]float32, 64)
			for i := range x {
				x[i] = float32(n)
			}
			if err := l.Dispatch("multiply", [3]int{64, 1, 1}, [3]int{64, 1, 1}, Buffer(0, x)); err != nil {
				t.Error(err)
			}
			if x[63] != float32(64*n) {
				t.Errorf("%v, want %d", x[63], 64*n)
			}
		})
	}
	group.Wait()
}

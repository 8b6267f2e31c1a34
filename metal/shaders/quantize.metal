// Quantization of activations to int8, to the bits of package kernels' schemes.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

constant uint scheme [[function_constant(0)]];
constant uint q8_row = 0; // one scale a column, never below 1e-5/127
constant uint q8_32 = 2;  // the scale is rounded to fp16; 1 is q8_128

struct Columns {
	uint cols;
	uint stride; // of a quantized column, a multiple of 256
	uint groups; // scales of a column
	uint group;  // columns with one scale
};

// Adding and subtracting 1.5·2²³ leaves the integer nearest, ties to even. A NaN
// or an infinity comes with mul 0 and gives 0.
static char round_to_char(float x, float mul) {
	const float y = x * mul;
	if (!(y >= -127)) return y < 0 ? char(-127) : char(0);
	return char(rint(min(y, 127.0f)));
}

// Grid: groups × columns threadgroups. The last group's writes the zeros behind
// the column. Threadgroups have a power of two threads, 256 at most.
kernel void quantize(device const float *x  [[buffer(0)]],
                     device char *q         [[buffer(1)]],
                     device float *scales   [[buffer(2)]],
                     constant Columns &c    [[buffer(3)]],
                     uint2 at      [[threadgroup_position_in_grid]],
                     uint thread_index [[thread_index_in_threadgroup]],
                     uint2 threads [[threads_per_threadgroup]]) {
	threadgroup uint largest[256];
	const uint from = at.x * c.group, to = min(from + c.group, c.cols), n = threads.x;
	x += ulong(at.y) * c.cols;
	q += ulong(at.y) * c.stride;

	// |x| compared as bits: a NaN is larger than infinity.
	uint most = 0;
	for (uint k = from + thread_index; k < to; k += n) most = max(most, as_type<uint>(x[k]) & 0x7fffffff);
	largest[thread_index] = most;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint half_n = n / 2; half_n > 0; half_n /= 2) {
		if (thread_index < half_n) largest[thread_index] = max(largest[thread_index], largest[thread_index + half_n]);
		threadgroup_barrier(mem_flags::mem_threadgroup);
	}
	most = largest[0];

	float mul = 0, scale = as_type<float>(0x7fc00000u);
	if (most < 0x7f800000) {
		float m = as_type<float>(most);
		if (scheme == q8_row) m = max(m, 1e-5f);
		scale = m / 127;
		if (scheme == q8_row) mul = 127 / m;
		else if (scale < as_type<float>(0x00800000u)) scale = 0; // 1/scale would overflow
		else mul = 1 / scale;
		if (scheme == q8_32) scale = float(half(scale));
	}
	if (thread_index == 0) scales[at.y * c.groups + at.x] = scale;
	for (uint k = from + thread_index; k < to; k += n) q[k] = round_to_char(x[k], mul);
	if (at.x + 1 == c.groups)
		for (uint k = c.cols + thread_index; k < c.stride; k += n) q[k] = 0;
}

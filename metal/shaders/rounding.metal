// Rounding of activations, keys and values to int8, to the bits of package
// kernels' schemes. It stands before the sources that round.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

constexpr constant uint q8_row = 0;   // one scale a column, never below 1e-5/127
constexpr constant uint q8_32 = 2;    // the scale is rounded to fp16; 1 is q8_128
constexpr constant uint finite = 0x7f800000; // the bits of what is, are below

// A Rounding takes values to integers, and integers back to values.
struct Rounding {
	float mul, scale;
};

// rounding_of returns that of a group whose largest magnitude has these bits. As
// bits, a NaN is larger than infinity. With either, integers are 0 and the scale
// NaN.
static Rounding rounding_of(uint most, uint scheme) {
	if (most >= finite) return Rounding{0, as_type<float>(0x7fc00000u)};
	float m = as_type<float>(most);
	if (scheme == q8_row) {
		m = max(m, 1e-5f);
		return Rounding{127 / m, m / 127};
	}
	const float scale = m / 127;
	if (scale < as_type<float>(0x00800000u)) return Rounding{0, 0}; // 1/scale would overflow
	return Rounding{1 / scale, scheme == q8_32 ? float(half(scale)) : scale};
}

// round_to_char rounds x·mul to the nearest integer, ties to even, in ±127. What is
// not finite comes with mul 0 and gives 0.
static char round_to_char(float x, float mul) {
	const float y = x * mul;
	if (!(y >= -127)) return y < 0 ? char(-127) : char(0);
	return char(rint(min(y, 127.0f)));
}

// A Span is the four scales of q8_32 of 128 columns as integers times a power of two:
// package kernels' Span, for codes of one and two bits.
struct Span {
	int shares[4];
	float unit;
};

// span_of returns that of so many scales, of which the first four count.
static Span span_of(device const float *scales, uint count) {
	constexpr uint one = 1 << 23;
	Span s = {};
	uint most = 0;
	for (uint i = 0; i < min(count, 4u); i++) most = max(most, as_type<uint>(scales[i]));
	if (most == 0) return s;
	const uint exponent = (most & finite) - 14 * one;
	s.unit = as_type<float>(most >= finite ? 0x7fc00000u : exponent);
	if (most >= finite) return s;
	for (uint i = 0; i < min(count, 4u); i++) s.shares[i] = int(rint(scales[i] * as_type<float>(254 * one - exponent)));
	return s;
}

constexpr constant uint most_rounding = 256; // threads that look for the largest

// largest_bits returns those of the largest magnitude among x[from…to). All threads
// of a threadgroup, a power of two, 256 at most, call it, once.
static uint largest_bits(device const float *x, uint from, uint to, threadgroup uint *largest, uint i, uint threads) {
	uint most = 0;
	for (uint k = from + i; k < to; k += threads) most = max(most, as_type<uint>(x[k]) & 0x7fffffff);
	largest[i] = most;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint n = threads / 2; n > 0; n /= 2) {
		if (i < n) largest[i] = max(largest[i], largest[i + n]);
		threadgroup_barrier(mem_flags::mem_threadgroup);
	}
	return largest[0];
}


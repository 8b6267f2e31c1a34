// Products of codes of eight and six bits, y = W·x, by fused multiply-adds of
// floats that are integers: no sum of a group reaches 2²⁴, so each is exact, and
// terms are added in the order of package kernels. Results are equal to it to the
// bit.
//
// An integer becomes a float without a conversion, of which a GPU does one in four
// cycles: a byte, or a byte times 256, below the leading bit of 2²³, less 2²³.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

constant uint code_bits   [[function_constant(0)]]; // 8: q8_0; 6: q6_k
constant uint act_columns [[function_constant(1)]]; // with one scale: 32, or more with q8_0; 0: all
constant uint row_threads [[function_constant(2)]]; // that share a row: a power of two from 4 to 32

struct Shape { // of matvec.metal
	uint rows, cols;
	uint row_bytes; // of a row of codes, a multiple of 16
	uint stride;    // of a column of activations, a multiple of 256
	uint groups;    // scales of a column of activations
};

constexpr constant uint thread_rows = 4; // of a thread
constexpr constant float leading = 8388608; // 2²³
constexpr constant uint leading_bits = 0x4b000000;

// dot4 adds four products. x has the activations, of which the second and the
// fourth are divided by 256.
static float dot4(float sum, uint codes, float4 x, float bias) {
	const uint high = codes >> 16;
	sum = fma(as_type<float>((codes & 0xff) | leading_bits) - (leading + bias), x[0], sum);
	sum = fma(as_type<float>((codes & 0xff00) | leading_bits) - (leading + 256 * bias), x[1], sum);
	sum = fma(as_type<float>((high & 0xff) | leading_bits) - (leading + bias), x[2], sum);
	return fma(as_type<float>((high & 0xff00) | leading_bits) - (leading + 256 * bias), x[3], sum);
}

// A unit is 128 columns, of four groups of 32: four blocks of q8_0, or half a block
// of q6_k, whose parts are as in the file: 8 uint4 of low bits, 4 of high bits, one
// of scales.
constexpr constant uint six_block = 13; // uint4

// codes_of returns 16 codes from 0 on, of half a group.
static uint4 codes_of(device const uint4 *row, uint unit, uint group, uint part) {
	if (code_bits == 8) return row[unit * 8 + group * 2 + part] ^ 0x80808080u;
	row += unit / 2 * six_block;
	const uint4 low = row[unit % 2 * 4 + group % 2 * 2 + part] >> (group / 2 * 4);
	const uint4 high = row[8 + unit % 2 * 2 + part] >> (group * 2);
	return (low & 0x0f0f0f0fu) | (high & 0x03030303u) << 4u;
}

// six_scale returns the int8 scale of half a group.
static float six_scale(device const uint4 *row, uint unit, uint group, uint part) {
	const uint at = unit % 2 * 8 + group * 2 + part;
	return float(as_type<char4>(row[unit / 2 * six_block + 12][at / 4])[at % 4]);
}

constexpr constant uint bytes_room = 2048; // 4 simdgroups · 4 rows · 32 threads · 4 groups

// Codes are those of Codes.Split. row_threads share a row, a unit each; of a
// simdgroup, 32/row_threads rows are side by side, and four times as many its own.
// Grid: threadgroups of whole simdgroups, 4 at most, of 128/row_threads rows each ×
// columns of activations.
kernel void matvec_bytes(device const uchar *codes        [[buffer(0)]],
                         device const half *weight_scales [[buffer(1)]],
                         device const uint *q             [[buffer(2)]],
                         device const float *scales       [[buffer(3)]],
                         device float *y                  [[buffer(4)]],
                         constant Shape &s                [[buffer(5)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint i      [[thread_index_in_threadgroup]],
                         uint2 size  [[threads_per_threadgroup]]) {
	threadgroup float all_rooms[bytes_room];
	threadgroup float *room = all_rooms + i / 32 * 512;
	const uint lane = i % 32, side = 32 / row_threads, simd_rows = side * thread_rows;
	const uint groups = s.cols / 32, units = (groups + 3) / 4, blocks = code_bits == 8 ? groups : s.cols / 256;
	const uint first = (group.x * (size.x / 32) + i / 32) * simd_rows;
	const float bias = code_bits == 8 ? 128 : 32;
	q += ulong(group.y) * s.stride / 4;
	scales += group.y * s.groups;
	device const uint4 *rows[thread_rows];
	device const half *row_scales[thread_rows];
	for (uint r = 0; r < thread_rows; r++) {
		const ulong row = min(first + r * side + lane / row_threads, s.rows - 1);
		rows[r] = (device const uint4 *)(codes + row * s.row_bytes);
		row_scales[r] = weight_scales + row * blocks;
	}
	float total = 0; // of row lane
	for (uint from = 0; from < units; from += row_threads) {
		const uint unit = min(from + lane % row_threads, units - 1); // of which some take the last in vain
		for (uint g = 0; g < 4; g++) {
			const uint at = min(unit * 4 + g, groups - 1); // in vain too, behind the last group
			float sum[thread_rows] = {0, 0, 0, 0};
			for (uint part = 0; part < 2; part++) {
				float4 x[4];
				for (uint k = 0; k < 4; k++) {
					x[k] = float4(as_type<char4>(q[at * 8 + part * 4 + k]));
					x[k][1] /= 256;
					x[k][3] /= 256;
				}
				for (uint r = 0; r < thread_rows; r++) {
					const uint4 c = codes_of(rows[r], at / 4, at % 4, part);
					float half_sum = 0;
					for (uint k = 0; k < 4; k++) half_sum = dot4(half_sum, c[k], x[k], bias);
					sum[r] = code_bits == 8 ? sum[r] + half_sum : fma(half_sum, six_scale(rows[r], at / 4, at % 4, part), sum[r]);
				}
			}
			const float act = scales[act_columns == 0 ? 0 : at * 32 / act_columns];
			for (uint r = 0; r < thread_rows; r++) {
				const float scale = float(row_scales[r][code_bits == 8 ? at : at / 8]) * act;
				room[(r * 32 + lane) * 4 + g] = scale * sum[r];
			}
		}
		simdgroup_barrier(mem_flags::mem_threadgroup);
		if (lane < simd_rows)
			for (uint k = 0; k < min(row_threads * 4, groups - from * 4); k++) total += room[lane * row_threads * 4 + k];
		simdgroup_barrier(mem_flags::mem_threadgroup);
	}
	if (lane < simd_rows && first + lane < s.rows) y[ulong(group.y) * s.rows + first + lane] = total;
}

// Products of codes of eight, six and four bits, Y = X·Wᵀ, by fused multiply-adds of
// floats that are integers: no sum of a group reaches 2²⁴, so each is exact, and
// terms are added in the order of package kernels. Results are equal to it to the
// bit.
//
// An integer becomes a float without a conversion, of which a GPU does one in four
// cycles: a byte, or a byte times 256, below the leading bit of 2²³, less 2²³. Weights are
// read, and become floats, once for several columns of activations.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

constant uint code_bits    [[function_constant(0)]]; // 8: q8_0; 6: q6_k; 4: q4_0
constant uint act_columns  [[function_constant(1)]]; // with one scale: 32, or more but for q6_k; 0: all
constant uint row_threads  [[function_constant(2)]]; // that share a row: a power of two from 4 to 32
constant uint tile_columns [[function_constant(3)]]; // of activations at one reading of weights, 4 at most
constant uint thread_rows  [[function_constant(4)]]; // of a thread: 4 at most, and 8 times tile_columns

struct Shape { // of matvec.metal, with the columns behind
	uint rows, cols;
	uint row_bytes; // of a row of codes, a multiple of 16
	uint stride;    // of a column of activations, a multiple of 256
	uint groups;    // scales of a column of activations
	uint not_used[2];
	uint columns;   // of activations
};

constexpr constant uint most_rows = 4, most_columns = 4;
constexpr constant float leading = 8388608; // 2²³
constexpr constant uint leading_bits = 0x4b000000;

// four_of returns four codes, each a byte with a bias, as floats; the second and the
// fourth times 256.
static float4 four_of(uint codes, float bias) {
	const uint high = codes >> 16;
	return float4(as_type<float>((codes & 0xff) | leading_bits) - (leading + bias),
		as_type<float>((codes & 0xff00) | leading_bits) - (leading + 256 * bias),
		as_type<float>((high & 0xff) | leading_bits) - (leading + bias),
		as_type<float>((high & 0xff00) | leading_bits) - (leading + 256 * bias));
}

// dot4 adds four products. What the second and the fourth of w are too large by, those
// of x, the activations, are too small by.
static float dot4(float sum, float4 w, float4 x) {
	return fma(w[3], x[3], fma(w[2], x[2], fma(w[1], x[1], fma(w[0], x[0], sum))));
}

// A unit is 128 columns, of four groups of 32: four blocks of q8_0 or q4_0, or half a
// block of q6_k, whose parts are as in the file: 8 uint4 of low bits, 4 of high bits, one
// of scales.
constexpr constant uint six_block = 13; // uint4

// codes_of returns 16 codes from 0 on, of half a group.
static uint4 codes_of(device const uint4 *row, uint unit, uint group, uint part) {
	if (code_bits == 8) return row[unit * 8 + group * 2 + part] ^ 0x80808080u;
	if (code_bits == 4) return (row[unit * 4 + group] >> (part * 4)) & 0x0f0f0f0fu;
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

constexpr constant uint bytes_room = 4096; // 4 simdgroups · 8 rows times columns · 32 threads · 4 groups

// Codes are those of Codes.Split. row_threads share a row, a unit each; of a
// simdgroup, 32/row_threads rows are side by side, and thread_rows times as many its own.
// Of a tile that has fewer columns of activations, the last is multiplied again.
//
// Grid: threadgroups of whole simdgroups, 4 at most, of 32/row_threads·thread_rows rows
// each × tiles of tile_columns columns of activations.
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
	const uint room_size = thread_rows * tile_columns * 32 * 4;
	threadgroup float *room = all_rooms + i / 32 * room_size;
	const uint lane = i % 32, side = 32 / row_threads, simd_rows = side * thread_rows;
	const uint groups = s.cols / 32, units = (groups + 3) / 4, blocks = code_bits == 6 ? s.cols / 256 : groups;
	const uint first = (group.x * (size.x / 32) + i / 32) * simd_rows, column = group.y * tile_columns;
	const float bias = code_bits == 8 ? 128 : code_bits == 6 ? 32 : 8;
	device const uint4 *rows[most_rows];
	device const half *row_scales[most_rows];
	for (uint r = 0; r < thread_rows; r++) {
		const ulong row = min(first + r * side + lane / row_threads, s.rows - 1);
		rows[r] = (device const uint4 *)(codes + row * s.row_bytes);
		row_scales[r] = weight_scales + row * blocks;
	}
	device const uint *qs[most_columns];
	device const float *q_scales[most_columns];
	for (uint n = 0; n < tile_columns; n++) {
		const uint at = min(column + n, s.columns - 1);
		qs[n] = q + ulong(at) * s.stride / 4;
		q_scales[n] = scales + at * s.groups;
	}
	float total[2] = {0, 0}; // of the rows of a column, and of the next one's: lane, and 32 behind it
	for (uint from = 0; from < units; from += row_threads) {
		const uint unit = min(from + lane % row_threads, units - 1); // of which some take the last in vain
		for (uint g = 0; g < 4; g++) {
			const uint at = min(unit * 4 + g, groups - 1); // in vain too, behind the last group
			float sum[most_columns][most_rows] = {};
			for (uint part = 0; part < 2; part++) {
				float4 w[most_rows][4];
				for (uint r = 0; r < thread_rows; r++) {
					const uint4 c = codes_of(rows[r], at / 4, at % 4, part);
					for (uint k = 0; k < 4; k++) w[r][k] = four_of(c[k], bias);
				}
				for (uint n = 0; n < tile_columns; n++) {
					float4 x[4];
					for (uint k = 0; k < 4; k++) {
						x[k] = four_of(qs[n][at * 8 + part * 4 + k] ^ 0x80808080u, 128);
						x[k][1] /= 65536;
						x[k][3] /= 65536;
					}
					for (uint r = 0; r < thread_rows; r++) {
						float half_sum = 0;
						for (uint k = 0; k < 4; k++) half_sum = dot4(half_sum, w[r][k], x[k]);
						sum[n][r] = code_bits == 6 ? fma(half_sum, six_scale(rows[r], at / 4, at % 4, part), sum[n][r]) : sum[n][r] + half_sum;
					}
				}
			}
			for (uint n = 0; n < tile_columns; n++) {
				const float act = q_scales[n][act_columns == 0 ? 0 : at * 32 / act_columns];
				for (uint r = 0; r < thread_rows; r++) {
					const float scale = float(row_scales[r][code_bits == 6 ? at / 8 : at]) * act;
					room[((n * thread_rows + r) * 32 + lane) * 4 + g] = scale * sum[n][r];
				}
			}
		}
		simdgroup_barrier(mem_flags::mem_threadgroup);
		for (uint p = 0; p < 2; p++) {
			const uint sums = lane + 32 * p; // a row of a column: row_threads threads in a row have its terms
			if (sums >= simd_rows * tile_columns) continue;
			for (uint k = 0; k < min(row_threads * 4, groups - from * 4); k++) total[p] += room[sums * row_threads * 4 + k];
		}
		simdgroup_barrier(mem_flags::mem_threadgroup);
	}
	for (uint p = 0; p < 2; p++) {
		const uint n = (lane + 32 * p) / simd_rows, row = first + (lane + 32 * p) % simd_rows;
		if (n < tile_columns && column + n < s.columns && row < s.rows) y[ulong(column + n) * s.rows + row] = total[p];
	}
}

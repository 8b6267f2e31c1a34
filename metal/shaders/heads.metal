// Products of weights that are floats, y = W·x, W of rows × cols, and rows of
// them. bfloat16 is taken from its bits: Metal has the type only since 3.1. Weights of
// q4_k, which have offsets, are decoded where they are multiplied.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

constant uint weight_type [[function_constant(0)]];
constant uint type_f32 = 0, type_f16 = 1, type_q4_k = 3; // 2 is bf16
constant uint tile_columns [[function_constant(1)]]; // of activations for one reading of weights, 4 at most

struct Shape { // of matvec.metal, with the columns behind
	uint rows, cols; // cols a multiple of 4
	uint not_used[5];
	uint columns; // of activations
};

constexpr constant float leading = 8388608; // 2²³: an integer below it becomes a float as in bytes.metal
constexpr constant uint leading_bits = 0x4b000000;
constexpr constant uint q4_block = 9; // uint4: two fp16 scales and 12 bytes of 6-bit numbers; codes
constexpr constant uint q4_quads = 64; // of a block

// q4_numbers returns the step and the offset of a group of 32 weights of q4_k: each is a
// scale times bits 0 to 5 of a byte, or four bits of the last word's and two of another.
static float2 q4_numbers(device const uint4 *block, uint group) {
	const uint4 head = block[0];
	const uint byte = 8 * (group % 4);
	uint step = head[1] >> byte, offset = head[2] >> byte;
	if (group < 4) {
		step &= 63;
		offset &= 63;
	} else {
		const uint low = head[3] >> byte;
		step = (low & 15) | (step >> 2 & 48);
		offset = (low >> 4 & 15) | (offset >> 2 & 48);
	}
	const half2 scales = as_type<half2>(head[0]);
	return float2(float(scales.x) * float(step), float(scales.y) * float(offset));
}

// q4_codes returns four codes of a group, and those of the next in the high bits, if the
// group is even.
static uint q4_codes(device const uint4 *block, uint group, uint quad) {
	return ((device const uint *)block)[4 + group / 2 * 8 + quad];
}

// q4_four returns four weights, a step times a code less an offset each: the product is
// exact. The codes are the low bits of bytes.
static float4 q4_four(uint codes, float2 numbers) {
	const uint high = codes >> 16;
	const float step = numbers.x, small = numbers.x / 256, less = -numbers.y;
	return float4(fma(as_type<float>((codes & 0xf) | leading_bits) - leading, step, less),
		fma(as_type<float>((codes & 0xf00) | leading_bits) - leading, small, less),
		fma(as_type<float>((high & 0xf) | leading_bits) - leading, step, less),
		fma(as_type<float>((high & 0xf00) | leading_bits) - leading, small, less));
}

// four_of returns four weights; at counts fours.
static float4 four_of(device const uchar *weights, ulong at) {
	if (weight_type == type_f32) return ((device const float4 *)weights)[at];
	if (weight_type == type_f16) return float4(((device const half4 *)weights)[at]);
	if (weight_type == type_q4_k) {
		device const uint4 *block = (device const uint4 *)weights + at / q4_quads * q4_block;
		const uint group = uint(at) % q4_quads / 8;
		return q4_four(q4_codes(block, group, uint(at) % 8) >> (group % 2 * 4), q4_numbers(block, group));
	}
	const uint2 bits = ((device const uint2 *)weights)[at];
	return float4(as_type<float>(bits.x << 16), as_type<float>(bits.x & 0xffff0000u),
		as_type<float>(bits.y << 16), as_type<float>(bits.y & 0xffff0000u));
}

// embed_dense writes rows ids of a table: y[i] = row ids[i]. The host checks ids.
// Grid: cols/4 × ids.
kernel void embed_dense(device const uchar *weights [[buffer(0)]],
                        device const uint *ids     [[buffer(1)]],
                        device float4 *y           [[buffer(2)]],
                        constant Shape &d          [[buffer(3)]],
                        uint2 at [[thread_position_in_grid]]) {
	const uint quads = d.cols / 4;
	if (at.x < quads) y[ulong(at.y) * quads + at.x] = four_of(weights, ulong(ids[at.y]) * quads + at.x);
}

constexpr constant uint row_threads = 8; // that share a row
constexpr constant uint thread_rows = 4; // each has a part of
constexpr constant uint most_columns = 4;
constexpr constant uint most_sums = 1024; // of a threadgroup

struct Sums {
	float4 of[most_columns][thread_rows];
};

// add adds the products of four columns of a thread's rows with those of x.
static void add(thread Sums &sum, thread const float4 *w, device const float4 *x, uint column, uint k, constant Shape &d) {
	for (uint n = 0; n < tile_columns; n++) {
		const float4 v = x[ulong(min(column + n, d.columns - 1)) * (d.cols / 4) + k];
		for (uint r = 0; r < thread_rows; r++) sum.of[n][r] += w[r] * v;
	}
}

// Eight threads share a row: column k belongs to sum k mod 32, of which each
// thread has four in a row. So the order of package kernels, which folds 32 sums
// in halves, costs nothing, and results are equal to it to the bit. Of q4_k, each finds the
// numbers of one of the eight groups of a block for all. Threads of a
// simdgroup read four runs of 128 bytes of x, and of rows as many. Of a tile that has
// fewer columns of x, the last is multiplied again.
//
// Grid: threads/2 rows each threadgroup, of a multiple of 32 threads, 256 at
// most; × tiles of tile_columns columns of x.
kernel void matvec_dense(device const uchar *weights [[buffer(0)]],
                         device const float4 *x     [[buffer(1)]],
                         device float *y            [[buffer(2)]],
                         constant Shape &d          [[buffer(3)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint i      [[thread_index_in_threadgroup]],
                         uint2 size  [[threads_per_threadgroup]]) {
	threadgroup float4 sums[most_sums];
	const uint lane = i % row_threads, quads = d.cols / 4, apart = size.x / row_threads;
	const uint first = group.x * apart * thread_rows + i / row_threads; // then apart, 2·apart … behind it
	const uint column = group.y * tile_columns;
	Sums sum;
	for (uint n = 0; n < tile_columns; n++)
		for (uint r = 0; r < thread_rows; r++) sum.of[n][r] = float4(0);
	if (weight_type == type_q4_k) {
		threadgroup float2 *numbers = (threadgroup float2 *)sums + (i - lane) * thread_rows; // of the groups of a block of each row
		for (uint b = 0; b < quads / q4_quads; b++) {
			device const uint4 *blocks[thread_rows];
			for (uint r = 0; r < thread_rows; r++) {
				blocks[r] = (device const uint4 *)weights + (ulong(min(first + r * apart, d.rows - 1)) * (quads / q4_quads) + b) * q4_block;
				numbers[r * row_threads + lane] = q4_numbers(blocks[r], lane);
			}
			simdgroup_barrier(mem_flags::mem_threadgroup);
			for (uint g = 0; g < row_threads; g++) {
				float4 w[thread_rows];
				for (uint r = 0; r < thread_rows; r++) {
					const float2 of_group = numbers[r * row_threads + g];
					w[r] = q4_four(q4_codes(blocks[r], g, lane) >> (g % 2 * 4), of_group);
				}
				add(sum, w, x, column, b * q4_quads + g * row_threads + lane, d);
			}
			simdgroup_barrier(mem_flags::mem_threadgroup); // before the next block's numbers
		}
		threadgroup_barrier(mem_flags::mem_threadgroup); // before sums, which lie where numbers do
	} else {
		for (uint k = lane; k < quads; k += row_threads) {
			float4 w[thread_rows];
			for (uint r = 0; r < thread_rows; r++) w[r] = four_of(weights, ulong(min(first + r * apart, d.rows - 1)) * quads + k);
			add(sum, w, x, column, k, d);
		}
	}
	const uint row = first + lane * apart; // of those threads that add one up
	for (uint n = 0; n < tile_columns; n++) {
		for (uint r = 0; r < thread_rows; r++) sums[r * size.x + i] = sum.of[n][r];
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (lane < thread_rows && row < d.rows && column + n < d.columns) {
			threadgroup const float4 *parts = sums + lane * size.x + i - lane;
			const float4 a = (parts[0] + parts[4]) + (parts[2] + parts[6]), b = (parts[1] + parts[5]) + (parts[3] + parts[7]);
			const float4 total = a + b;
			y[ulong(column + n) * d.rows + row] = (total.x + total.z) + (total.y + total.w);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup); // before the next column's sums
	}
}

struct Chosen { // of matvec.metal
	uint used, share, experts;
};

// The experts' matrices lie one behind the other; see matvec_experts. A thread has a row,
// with the 32 sums of package kernels. Grid: rows of an expert × used · columns.
kernel void dense_experts(device const uchar *weights [[buffer(0)]],
                          device const float *chosen  [[buffer(1)]],
                          device const float4 *x      [[buffer(2)]],
                          device float *y             [[buffer(3)]],
                          constant Shape &d           [[buffer(4)]],
                          constant Chosen &c          [[buffer(5)]],
                          uint2 at [[thread_position_in_grid]]) {
	if (at.x >= d.rows) return;
	const uint expert = min(uint(chosen[at.y / c.used * 2 * c.used + at.y % c.used]), c.experts - 1), quads = d.cols / 4;
	const ulong row = (ulong(expert) * d.rows + at.x) * quads;
	x += ulong(at.y / c.share) * quads;
	float4 sum[row_threads] = {};
	for (uint k = 0; k < quads; k++) sum[k % row_threads] += four_of(weights, row + k) * x[k];
	const float4 a = (sum[0] + sum[4]) + (sum[2] + sum[6]), b = (sum[1] + sum[5]) + (sum[3] + sum[7]);
	const float4 total = a + b;
	y[ulong(at.y) * d.rows + at.x] = (total.x + total.z) + (total.y + total.w);
}

// Products of weights that are floats, y = W·x, W of rows × cols, and rows of
// them. bfloat16 is taken from its bits: Metal has the type only since 3.1.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

constant uint weight_type [[function_constant(0)]];
constant uint type_f32 = 0, type_f16 = 1; // 2 is bf16
constant uint tile_columns [[function_constant(1)]]; // of activations for one reading of weights, 4 at most

struct Shape { // of matvec.metal, with the columns behind
	uint rows, cols; // cols a multiple of 4
	uint not_used[5];
	uint columns; // of activations
};

// four_of returns four weights; at counts fours.
static float4 four_of(device const uchar *weights, ulong at) {
	if (weight_type == type_f32) return ((device const float4 *)weights)[at];
	if (weight_type == type_f16) return float4(((device const half4 *)weights)[at]);
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

// Eight threads share a row: column k belongs to sum k mod 32, of which each
// thread has four in a row. So the order of package kernels, which folds 32 sums
// in halves, costs nothing, and results are equal to it to the bit. Threads of a
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
	float4 sum[most_columns][thread_rows];
	for (uint n = 0; n < tile_columns; n++)
		for (uint r = 0; r < thread_rows; r++) sum[n][r] = float4(0);
	for (uint k = lane; k < quads; k += row_threads) {
		float4 w[thread_rows];
		for (uint r = 0; r < thread_rows; r++) w[r] = four_of(weights, ulong(min(first + r * apart, d.rows - 1)) * quads + k);
		for (uint n = 0; n < tile_columns; n++) {
			const float4 v = x[ulong(min(column + n, d.columns - 1)) * quads + k];
			for (uint r = 0; r < thread_rows; r++) sum[n][r] += w[r] * v;
		}
	}
	const uint row = first + lane * apart; // of those threads that add one up
	for (uint n = 0; n < tile_columns; n++) {
		for (uint r = 0; r < thread_rows; r++) sums[r * size.x + i] = sum[n][r];
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

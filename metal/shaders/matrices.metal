// Products for prompts, Y = X·Wᵀ, by matrices of simdgroups: codes of weights are
// expanded to fp16 in threadgroup memory, once for 32 rows and 32 columns of
// activations, and multiplied 8 × 8 by 8 × 8.
//
// Codes and activations are integers, whose products and sums of a term are below 2²⁴:
// exact in float, whatever the order. Terms are added in the order of package
// kernels: results are equal to it to the bit.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

constant uint code_bits     [[function_constant(0)]]; // 1 or 2: in tiles, as matvec_tiles has them; 8: as Codes.Split has them
constant uint block_columns [[function_constant(1)]]; // with one scale; 0: the tensor has one
constant uint act_columns   [[function_constant(2)]]; // with one scale; 0: all

struct Shape { // of matvec.metal, with the columns behind
	uint rows, cols;
	uint row_bytes; // of a row of codes of eight bits
	uint stride;    // of a column of activations, a multiple of 256
	uint groups;    // scales of a column of activations
	uint not_used;
	float scale;    // of the tensor
	uint columns;   // of activations
};

constexpr constant uint side = 32; // rows, and columns of activations, of a threadgroup
constexpr constant uint depth = 32; // columns of weights at a time
constexpr constant uint quarter = 16; // rows, and columns of activations, of a simdgroup
constexpr constant uint place_bytes = 1024; // side · depth
constexpr constant uint sums_room = 1024; // side · side
constexpr constant uint no_group = 1 << 30;

// term_columns returns how many columns a term has, which neither scale changes in.
static uint term_columns() {
	const uint w = block_columns == 0 ? no_group : block_columns, a = act_columns == 0 ? no_group : act_columns;
	return min(w, a);
}

// put writes eight int8. Below the leading bit of 1024, a byte is a half without a
// conversion, of which a GPU does one in four cycles.
static void put(threadgroup half *to, device const uint *from) {
	for (uint w = 0; w < 2; w++) {
		const uint bytes = from[w] ^ 0x80808080u;
		const half2 even = as_type<half2>((bytes & 0xff00ffu) | 0x64006400u) - half(1152);
		const half2 odd = as_type<half2>((bytes >> 8 & 0xff00ffu) | 0x64006400u) - half(1152);
		to[4 * w] = even.x;
		to[4 * w + 1] = odd.x;
		to[4 * w + 2] = even.y;
		to[4 * w + 3] = odd.y;
	}
}

// expand writes eight codes of a row, from a multiple of eight on.
static void expand(threadgroup half *to, device const uchar *codes, constant Shape &s, uint tile, uint row, uint k) {
	if (code_bits == 8) {
		return put(to, (device const uint *)(codes + ulong(min(tile * side + row, s.rows - 1)) * s.row_bytes + k));
	}
	const uint chunks = (s.cols + 127) / 128, bytes = 16 * side; // of a bit of a chunk
	device const uchar *at = codes + (ulong(tile) * chunks + k / 128) * code_bits * bytes + row * 16 + k % 128 / 8;
	const uint low = at[0], high = code_bits == 2 ? at[bytes] : 0;
	for (uint j = 0; j < 8; j++) {
		const half bit = (low & 1u << j) != 0 ? 1 : code_bits == 1 ? -1 : 0;
		to[j] = code_bits == 1 ? bit : bit + ((high & 1u << j) != 0 ? half(1) : half(-1));
	}
}

// weight_scale returns that of a row's term which ends before a column.
static float weight_scale(device const half *scales, constant Shape &s, uint tile, uint row, uint end) {
	if (block_columns == 0) return s.scale;
	const uint blocks = s.cols / block_columns, block = (end - 1) / block_columns;
	if (code_bits == 8) return float(scales[ulong(min(tile * side + row, s.rows - 1)) * blocks + block]);
	return float(scales[(ulong(tile) * blocks + block) * side + row]);
}

// Grid: tiles of 32 rows × tiles of 32 columns of activations, threadgroups of 128: each
// simdgroup has a quarter.
kernel void matmul_simd(device const uchar *codes        [[buffer(0)]],
                        device const half *weight_scales [[buffer(1)]],
                        device const char *q             [[buffer(2)]],
                        device const float *scales       [[buffer(3)]],
                        device float *y                  [[buffer(4)]],
                        constant Shape &s                [[buffer(5)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint i      [[thread_index_in_threadgroup]],
                        uint simd   [[simdgroup_index_in_threadgroup]],
                        uint lane   [[thread_index_in_simdgroup]]) {
	threadgroup half weights[place_bytes];
	threadgroup half acts[place_bytes];
	threadgroup float all_sums[sums_room];
	threadgroup float *sums = all_sums + simd * quarter * quarter;
	const uint first_row = simd / 2 * quarter, first_column = simd % 2 * quarter; // of the simdgroup
	const uint part = i % 4 * 8, column = group.y * side, term = term_columns();
	q += ulong(min(column + i / 4, s.columns - 1)) * s.stride + part;
	float total[8] = {};
	simdgroup_float8x8 sum[2][2];
	for (uint r = 0; r < 2; r++)
		for (uint c = 0; c < 2; c++) sum[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
	for (uint from = 0; from < s.cols; from += depth) {
		expand(weights + i / 4 * depth + part, codes, s, group.x, i / 4, from + part);
		put(acts + i / 4 * depth + part, (device const uint *)(q + from));
		threadgroup_barrier(mem_flags::mem_threadgroup);
		for (uint k = 0; k < depth; k += 8) {
			simdgroup_half8x8 w[2], x[2];
			for (uint r = 0; r < 2; r++) {
				simdgroup_load(w[r], weights + (first_row + 8 * r) * depth + k, depth);
				simdgroup_load(x[r], acts + (first_column + 8 * r) * depth + k, depth, ulong2(0), true);
			}
			for (uint r = 0; r < 2; r++)
				for (uint c = 0; c < 2; c++) simdgroup_multiply_accumulate(sum[r][c], w[r], x[c], sum[r][c]);
		}
		const uint end = min(from + depth, s.cols);
		if (end == s.cols || end % term == 0) {
			for (uint r = 0; r < 2; r++)
				for (uint c = 0; c < 2; c++) {
					simdgroup_store(sum[r][c], sums + 8 * r * quarter + 8 * c, quarter);
					sum[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
				}
			simdgroup_barrier(mem_flags::mem_threadgroup);
			const float weight = weight_scale(weight_scales, s, group.x, first_row + lane % quarter, end);
			for (uint n = 0; n < 8; n++) {
				const uint at = lane / quarter * 8 + n;
				const float scale = weight * scales[min(column + first_column + at, s.columns - 1) * s.groups + (act_columns == 0 ? 0 : (end - 1) / act_columns)];
				total[n] += scale * sums[lane % quarter * quarter + at];
			}
		}
		threadgroup_barrier(mem_flags::mem_threadgroup); // before the next codes, and sums
	}
	const uint row = group.x * side + first_row + lane % quarter;
	for (uint n = 0; n < 8; n++) {
		const uint at = column + first_column + lane / quarter * 8 + n;
		if (row < s.rows && at < s.columns) y[ulong(at) * s.rows + row] = total[n];
	}
}

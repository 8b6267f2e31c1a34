// The rotation of inputs whose weights are stored rotated.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in models/engine/cpu

struct Rotation {
	uint width;   // of a column
	uint block;   // a power of two that divides it, 4096 at most
	float by;     // 1/√block
	uint inverse; // 1: signs come last, and the order of x stays
	uint rows;    // x is a matrix of so many rows of runs, whose transpose is rotated; 0: it is not
	uint run;     // values
};

constexpr constant uint most_block = 4096;

// y = H(s ⊙ P(x)), or back s ⊙ H(x), where H is the normalised Walsh-Hadamard
// transform of blocks, H[r][c] = (-1)^popcount(r&c)/√block, and P the transposition.
// Sums and differences are of values 1, 2, 4 … apart, and the factor comes last, so
// that bits are those of models/engine/cpu. y may be x where P is not. Grid:
// width/block × columns threadgroups.
kernel void rotate_hadamard(device const float *x     [[buffer(0)]],
                            device const float *signs [[buffer(1)]],
                            device float *y           [[buffer(2)]],
                            constant Rotation &r      [[buffer(3)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint i      [[thread_index_in_threadgroup]],
                            uint2 size  [[threads_per_threadgroup]]) {
	threadgroup float values[most_block];
	const uint first = group.x * r.block, threads = size.x;
	x += ulong(group.y) * r.width;
	y += ulong(group.y) * r.width + first;
	for (uint k = i; k < r.block; k += threads) {
		uint from = first + k;
		if (r.rows != 0 && r.inverse == 0) {
			const uint run = from / r.run, cols = r.width / r.run / r.rows;
			from = (run % r.rows * cols + run / r.rows) * r.run + from % r.run;
		}
		values[k] = r.inverse != 0 ? x[from] : x[from] * signs[first + k];
	}
	for (uint apart = 1; apart < r.block; apart *= 2) {
		threadgroup_barrier(mem_flags::mem_threadgroup);
		for (uint pair = i; pair < r.block / 2; pair += threads) {
			const uint at = pair / apart * 2 * apart + pair % apart;
			const float a = values[at], b = values[at + apart];
			values[at] = a + b;
			values[at + apart] = a - b;
		}
	}
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint k = i; k < r.block; k += threads) {
		const float v = values[k] * r.by;
		y[k] = r.inverse != 0 ? v * signs[first + k] : v;
	}
}

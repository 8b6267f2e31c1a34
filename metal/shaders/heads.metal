// Products of weights in fp16: y = W·x, W of rows × cols.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

struct Dense {
	uint rows, cols; // cols a multiple of 4
};

constexpr constant uint simd_rows = 4; // of a simdgroup

// Grid: threadgroups of whole simdgroups, each simd_rows rows; × columns of x.
// Lanes go over columns, four at a time.
kernel void matvec_f16_simd(device const half4 *weights [[buffer(0)]],
                            device const float4 *x      [[buffer(1)]],
                            device float *y             [[buffer(2)]],
                            constant Dense &d           [[buffer(3)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint simd  [[simdgroup_index_in_threadgroup]],
                            uint simds [[simdgroups_per_threadgroup]],
                            uint lane  [[thread_index_in_simdgroup]]) {
	const uint first = (group.x * simds + simd) * simd_rows, quads = d.cols / 4;
	if (first >= d.rows) return; // the whole simdgroup
	const uint rows = min(simd_rows, d.rows - first);
	x += ulong(group.y) * quads;
	float sum[simd_rows] = {0, 0, 0, 0};
	for (uint k = lane; k < quads; k += 32) {
		const float4 v = x[k];
		for (uint r = 0; r < rows; r++) sum[r] += dot(float4(weights[ulong(first + r) * quads + k]), v);
	}
	for (uint r = 0; r < rows; r++) {
		const float total = simd_sum(sum[r]);
		if (lane == 0) y[group.y * d.rows + first + r] = total;
	}
}

// What a feed-forward network of experts does beside their products: matvec_experts
// and dense_experts multiply those that are chosen here.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

struct Routing {
	uint experts, used; // those of a column, and how many of them it takes
	uint sigmoid;       // weights are σ(z) and not shares of the softmax
	uint normalized;    // weights are shares of the sum of those that are chosen
	float scale;        // of the weights
};

constexpr constant uint route_threads = 256; // of a threadgroup at most
constexpr constant uint not_finite = 0x7f800000; // bits of an infinity, and above of what is no number

static float weight_of(constant Routing &r, float z, float top) {
	return r.sigmoid != 0 ? 1 / (1 + precise::exp(-z)) : precise::exp(z - top);
}

// chosen has the numbers of the experts with the largest logits, of equals the first,
// and behind them their weights. If a logit is not finite, the weights are no numbers.
// Grid: a threadgroup for each column, of a power of two threads, 256 at most.
kernel void route(device const float *logits [[buffer(0)]],
                  device float *chosen       [[buffer(1)]],
                  constant Routing &r        [[buffer(2)]],
                  uint column  [[threadgroup_position_in_grid]],
                  uint i       [[thread_index_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
	threadgroup float sums[route_threads];
	threadgroup uint numbers[route_threads]; // of those that are chosen
	threadgroup uint wrong[route_threads];
	logits += column * r.experts;
	chosen += column * 2 * r.used;
	uint bad = 0;
	for (uint e = i; e < r.experts; e += threads) bad |= (as_type<uint>(logits[e]) & 0x7fffffff) >= not_finite ? 1 : 0;
	wrong[i] = bad;
	for (uint k = i; k < r.used; k += threads) numbers[k] = k;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint t = 0; t < threads; t++) bad |= wrong[t];
	for (uint e = i; e < r.experts && bad == 0; e += threads) {
		const float z = logits[e];
		uint rank = 0;
		for (uint o = 0; o < r.experts; o++) rank += logits[o] > z || (logits[o] == z && o < e) ? 1 : 0;
		if (rank < r.used) numbers[rank] = e;
	}
	threadgroup_barrier(mem_flags::mem_threadgroup);
	const float top = logits[numbers[0]];
	float sum = 0;
	if (r.normalized != 0)
		for (uint k = i; k < r.used; k += threads) sum += weight_of(r, logits[numbers[k]], top);
	else
		for (uint e = i; e < r.experts; e += threads) sum += weight_of(r, logits[e], top);
	sums[i] = sum;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	float all = 0;
	for (uint t = 0; t < threads; t++) all += sums[t];
	if (r.sigmoid != 0 && r.normalized == 0) all = 1;
	for (uint k = i; k < r.used; k += threads) {
		chosen[k] = float(numbers[k]);
		chosen[r.used + k] = bad != 0 ? as_type<float>(0x7fc00000u) : weight_of(r, logits[numbers[k]], top) / all * r.scale;
	}
}

struct Combination {
	uint width, used;
};

// y = Σ weight·x over the results of a column's experts, which lie side by side. Grid:
// width × columns.
kernel void combine(device float *y            [[buffer(0)]],
                    device const float *x      [[buffer(1)]],
                    device const float *chosen [[buffer(2)]],
                    constant Combination &c    [[buffer(3)]],
                    uint2 at [[thread_position_in_grid]]) {
	if (at.x >= c.width) return;
	float sum = 0;
	for (uint k = 0; k < c.used; k++)
		sum += chosen[(2 * at.y + 1) * c.used + k] * x[(ulong(at.y) * c.used + k) * c.width + at.x];
	y[ulong(at.y) * c.width + at.x] = sum;
}

// What is no number stays so. Grid: n.
kernel void clamp_values(device float *x        [[buffer(0)]],
                         constant float2 &range [[buffer(1)]],
                         constant uint &n       [[buffer(2)]],
                         uint i [[thread_position_in_grid]]) {
	if (i >= n) return;
	if (x[i] < range.x) x[i] = range.x;
	if (x[i] > range.y) x[i] = range.y;
}

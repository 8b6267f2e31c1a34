// Attention over a cache of keys and values.
//
//	cache[position][key head][dim]
//
// In q8_0, codes are there, and the scales of every 32 in a buffer of their own.
struct Attention {
	uint heads, key_heads; // of queries, a multiple of those of keys
	uint dim;              // of a head
	uint position;         // of the batch's first column
	float scale;           // of the products, 1/√dim
};

constant uint cache_type [[function_constant(0)]];
constant uint cache_f32 = 0, cache_f16 = 1; // 2 is q8_0

// The batch's keys, or values, take their places in the cache, as float or half.
// Grid: key heads · dim × columns.
kernel void append(device const float *x [[buffer(0)]],
                   device uchar *cache   [[buffer(1)]],
                   constant Attention &a [[buffer(2)]],
                   uint2 at [[thread_position_in_grid]]) {
	const uint width = a.key_heads * a.dim;
	if (at.x >= width) return;
	const float v = x[ulong(at.y) * width + at.x];
	const ulong to = ulong(a.position + at.y) * width + at.x;
	if (cache_type == cache_f32) ((device float *)cache)[to] = v;
	else ((device half *)cache)[to] = half(v);
}

// The same in q8_0, to the bits of package kernels' scheme q8_32. Grid: key
// heads · dim / 32 × columns.
kernel void append_q8_0(device const float *x [[buffer(0)]],
                        device char *cache    [[buffer(1)]],
                        device half *scales   [[buffer(2)]],
                        constant Attention &a [[buffer(3)]],
                        uint2 at [[thread_position_in_grid]]) {
	const uint blocks = a.key_heads * a.dim / 32;
	if (at.x >= blocks) return;
	x += (ulong(at.y) * blocks + at.x) * 32;
	const ulong to = ulong(a.position + at.y) * blocks + at.x;
	uint most = 0;
	for (uint k = 0; k < 32; k++) most = max(most, as_type<uint>(x[k]) & 0x7fffffff);
	const Rounding r = rounding_of(most, q8_32);
	scales[to] = half(r.scale);
	for (uint k = 0; k < 32; k++) cache[to * 32 + k] = round_to_char(x[k], r.mul);
}

static float cached(device const uchar *cache, device const half *scales, ulong at) {
	if (cache_type == cache_f32) return ((device const float *)cache)[at];
	if (cache_type == cache_f16) return float(((device const half *)cache)[at]);
	return float(((device const char *)cache)[at]) * float(scales[at / 32]);
}

constexpr constant uint most_threads = 256;
constexpr constant uint slots = 4; // a thread sums so many values of a head

// fold_max and fold_sum reduce x over a threadgroup, of a power of two threads.
// All threads have read the result before they return.
static float fold_max(float x, threadgroup float *room, uint i, uint threads) {
	room[i] = x;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint n = threads / 2; n > 0; n /= 2) {
		if (i < n) room[i] = max(room[i], room[i + n]);
		threadgroup_barrier(mem_flags::mem_threadgroup);
	}
	const float result = room[0];
	threadgroup_barrier(mem_flags::mem_threadgroup);
	return result;
}

static float fold_sum(float x, threadgroup float *room, uint i, uint threads) {
	room[i] = x;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint n = threads / 2; n > 0; n /= 2) {
		if (i < n) room[i] += room[i + n];
		threadgroup_barrier(mem_flags::mem_threadgroup);
	}
	const float result = room[0];
	threadgroup_barrier(mem_flags::mem_threadgroup);
	return result;
}

// y = softmax(q·Kᵀ·scale)·V over all positions up to the column's own. Positions
// are taken a tile at a time, one a thread; what is summed so far is scaled down
// where a tile has a larger score (Milakov and Gimelshein, arXiv:1805.02867).
// Grid: heads × columns threadgroups, of a power of two threads, 256 at most and
// at least a quarter of dim. Scales are those of a cache in q8_0; others need
// buffers there all the same.
kernel void attend(device const float *q           [[buffer(0)]],
                   device const uchar *keys         [[buffer(1)]],
                   device const uchar *values       [[buffer(2)]],
                   device float *y                 [[buffer(3)]],
                   constant Attention &a           [[buffer(4)]],
                   device const half *key_scales   [[buffer(5)]],
                   device const half *value_scales [[buffer(6)]],
                   uint2 group   [[threadgroup_position_in_grid]],
                   uint i        [[thread_index_in_threadgroup]],
                   uint2 size    [[threads_per_threadgroup]]) {
	threadgroup float weights[most_threads];
	threadgroup float room[most_threads];
	const uint threads = size.x, n = a.position + group.y + 1;
	const uint width = a.key_heads * a.dim, head = group.x / (a.heads / a.key_heads) * a.dim;
	const ulong column = (ulong(group.y) * a.heads + group.x) * a.dim;
	float top = -INFINITY, sum = 0;
	float out[slots] = {0, 0, 0, 0};
	for (uint from = 0; from < n; from += threads) {
		const uint tile = min(threads, n - from);
		float score = -INFINITY;
		if (i < tile) {
			const ulong key = ulong(from + i) * width + head;
			score = 0;
			for (uint k = 0; k < a.dim; k++) score += q[column + k] * cached(keys, key_scales, key + k);
			score *= a.scale;
		}
		const float new_top = max(top, fold_max(score, room, i, threads));
		weights[i] = i < tile ? precise::exp(score - new_top) : 0;
		const float shrink = precise::exp(top - new_top); // 0 at first
		sum = sum * shrink + fold_sum(weights[i], room, i, threads);
		top = new_top;
		for (uint s = 0; s < slots; s++) {
			const uint k = s * threads + i;
			if (k >= a.dim) break;
			float part = 0;
			for (uint p = 0; p < tile; p++) part += weights[p] * cached(values, value_scales, ulong(from + p) * width + head + k);
			out[s] = out[s] * shrink + part;
		}
		// The barriers of the next tile's fold_max come before its weights.
	}
	for (uint s = 0; s < slots; s++) {
		const uint k = s * threads + i;
		if (k < a.dim) y[column + k] = out[s] / sum;
	}
}

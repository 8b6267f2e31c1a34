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
	uint window;           // positions that a column sees at most, its own the last; 0: all
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

// four_of returns four values of a row from one on, or so many and zeros.
static float4 four_of(device const uchar *cache, device const half *scales, ulong at, uint count) {
	if (count < 4 || at % 4 != 0) {
		float4 v = float4(0);
		for (uint k = 0; k < count; k++) v[k] = cached(cache, scales, at + k);
		return v;
	}
	if (cache_type == cache_f32) return *(device const float4 *)(cache + 4 * at);
	if (cache_type == cache_f16) return float4(*(device const half4 *)(cache + 2 * at));
	return float4(*(device const char4 *)(cache + at)) * float(scales[at / 32]);
}

static float4 query_of(device const float *q, uint count) {
	return float4(q[0], count > 1 ? q[1] : 0, count > 2 ? q[2] : 0, count > 3 ? q[3] : 0);
}

// A State is of a query head and column, for one thread: what it has seen.
struct State {
	float top, sum;   // the largest score, and the weights' sum, scaled by it
	float out[slots]; // values of the head threads apart
};

constexpr constant uint sharing = 8; // threads that multiply a key

// A Head is where a query head and column finds what it takes.
struct Head {
	device const float *q;
	device const uchar *keys, *values;
	device const half *key_scales, *value_scales;
	uint dim, width, at; // of a head; of a row of the cache; where in it the head is
	float scale;
};

// attend_range looks at positions [from, end). Positions are taken a tile at a time,
// as many as there are threads; what is summed so far is scaled down where a tile has
// a larger score (Milakov and Gimelshein, arXiv:1805.02867). Threads in a row read
// what stands in a row: eight share a key, of which each takes four values of 32, and
// each has its own of a position's values.
static void attend_range(thread State &s, thread const Head &h, uint from, uint end,
		threadgroup float *weights, threadgroup float *room, uint i, uint threads) {
	s.top = -INFINITY;
	s.sum = 0;
	for (uint slot = 0; slot < slots; slot++) s.out[slot] = 0;
	const uint share = min(sharing, threads), keys = threads / share; // of a turn
	for (; from < end; from += threads) {
		const uint tile = min(threads, end - from);
		for (uint turn = 0; turn < share; turn++) {
			const uint p = turn * keys + i / share;
			float part = 0;
			if (p < tile) {
				const ulong key = ulong(from + p) * h.width + h.at;
				for (uint k = i % share * 4; k < h.dim; k += share * 4) {
					const uint count = min(4u, h.dim - k);
					part += dot(query_of(h.q + k, count), four_of(h.keys, h.key_scales, key + k, count));
				}
			}
			room[i] = part;
			simdgroup_barrier(mem_flags::mem_threadgroup);
			if (i % share == 0 && p < tile) {
				float score = 0;
				for (uint k = 0; k < share; k++) score += room[i + k];
				weights[p] = score * h.scale;
			}
			simdgroup_barrier(mem_flags::mem_threadgroup);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		const float score = i < tile ? weights[i] : -INFINITY;
		const float new_top = max(s.top, fold_max(score, room, i, threads));
		weights[i] = i < tile ? precise::exp(score - new_top) : 0;
		const float shrink = precise::exp(s.top - new_top); // 0 at first
		s.sum = s.sum * shrink + fold_sum(weights[i], room, i, threads);
		s.top = new_top;
		for (uint slot = 0; slot < slots; slot++) {
			const uint k = slot * threads + i;
			if (k >= h.dim) break;
			float part = 0;
			for (uint p = 0; p < tile; p++) part += weights[p] * cached(h.values, h.value_scales, ulong(from + p) * h.width + h.at + k);
			s.out[slot] = s.out[slot] * shrink + part;
		}
		threadgroup_barrier(mem_flags::mem_threadgroup); // before the next tile's weights
	}
}

// first_of returns the first position that is seen of n.
static uint first_of(constant Attention &a, uint n) { return a.window != 0 && n > a.window ? n - a.window : 0; }

// y = softmax(q·Kᵀ·scale)·V over the positions up to the column's own. Grid: heads ×
// columns threadgroups, of a power of two threads, 256 at most and at least a quarter
// of dim. Scales are those of a cache in q8_0; others need buffers there all the same.
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
	const ulong column = (ulong(group.y) * a.heads + group.x) * a.dim;
	const Head h = {q + column, keys, values, key_scales, value_scales, a.dim, a.key_heads * a.dim, group.x / (a.heads / a.key_heads) * a.dim, a.scale};
	const uint n = a.position + group.y + 1;
	State s;
	attend_range(s, h, first_of(a, n), n, weights, room, i, size.x);
	for (uint slot = 0; slot < slots; slot++) {
		const uint k = slot * size.x + i;
		if (k < a.dim) y[column + k] = s.out[slot] / s.sum;
	}
}

// A long text has more positions than heads and columns give threadgroups for: then
// attend_parts looks at a part of them in each, and attend_merge adds the parts up.

struct Parts {
	uint count, span; // positions of a part
};

// Grid: heads × columns × parts threadgroups, as attend's.
//
//	outs  [column][head][part][dim]: values' sum, scaled by the largest score
//	sums  [column][head][part]: the largest score, and the weights' sum
kernel void attend_parts(device const float *q           [[buffer(0)]],
                         device const uchar *keys         [[buffer(1)]],
                         device const uchar *values       [[buffer(2)]],
                         device float *outs              [[buffer(3)]],
                         constant Attention &a           [[buffer(4)]],
                         device const half *key_scales   [[buffer(5)]],
                         device const half *value_scales [[buffer(6)]],
                         device float2 *sums             [[buffer(7)]],
                         constant Parts &parts           [[buffer(8)]],
                         uint3 group   [[threadgroup_position_in_grid]],
                         uint i        [[thread_index_in_threadgroup]],
                         uint3 size    [[threads_per_threadgroup]]) {
	threadgroup float weights[most_threads];
	threadgroup float room[most_threads];
	const ulong head = ulong(group.y) * a.heads + group.x, part = head * parts.count + group.z;
	const Head h = {q + head * a.dim, keys, values, key_scales, value_scales, a.dim, a.key_heads * a.dim, group.x / (a.heads / a.key_heads) * a.dim, a.scale};
	const uint n = a.position + group.y + 1, from = group.z * parts.span;
	State s;
	attend_range(s, h, max(from, first_of(a, n)), min(from + parts.span, n), weights, room, i, size.x);
	for (uint slot = 0; slot < slots; slot++) {
		const uint k = slot * size.x + i;
		if (k < a.dim) outs[part * a.dim + k] = s.out[slot];
	}
	if (i == 0) sums[part] = float2(s.top, s.sum);
}

// Grid: dim × heads · columns.
kernel void attend_merge(device const float *outs  [[buffer(0)]],
                         device const float2 *sums [[buffer(1)]],
                         device float *y           [[buffer(2)]],
                         constant Attention &a     [[buffer(3)]],
                         constant Parts &parts     [[buffer(4)]],
                         uint2 at [[thread_position_in_grid]]) {
	if (at.x >= a.dim) return;
	const ulong first = ulong(at.y) * parts.count;
	float top = -INFINITY;
	for (uint p = 0; p < parts.count; p++) top = max(top, sums[first + p].x);
	float out = 0, sum = 0;
	for (uint p = 0; p < parts.count; p++) {
		const float shrink = precise::exp(sums[first + p].x - top); // 0 of a part without positions
		out += outs[(first + p) * a.dim + at.x] * shrink;
		sum += sums[first + p].y * shrink;
	}
	y[ulong(at.y) * a.dim + at.x] = out / sum;
}

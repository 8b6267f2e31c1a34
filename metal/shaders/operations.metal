// What a transformer block does between products.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in package kernels

// A Pair is a sum in two floats, of some 48 bits: Metal has no double.
struct Pair {
	float high, low;
};

// two_sum is a + b without an error (Knuth, The Art of Computer Programming,
// volume 2, 4.2.2, theorem B). It needs a compiler that does not reorder.
static Pair two_sum(float a, float b) {
	const float sum = a + b, part = sum - a;
	return Pair{sum, (a - (sum - part)) + (b - part)};
}

static Pair add_pairs(Pair a, Pair b) {
	const Pair s = two_sum(a.high, b.high);
	return two_sum(s.high, s.low + a.low + b.low);
}

// square is x·x without an error.
static Pair square(float x) {
	const float y = x * x;
	return Pair{y, fma(x, x, -y)};
}

struct Norm {
	uint width; // values of a run, as many as the gain has
	float epsilon;
};

// squares returns Σx² of a run, for all threads of a threadgroup, a power of two,
// 256 at most, which call it once.
static Pair squares(device const float *x, uint width, threadgroup Pair *sums, uint i, uint threads) {
	Pair sum = {0, 0};
	for (uint k = i; k < width; k += threads) sum = add_pairs(sum, square(x[k]));
	sums[i] = sum;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint n = threads / 2; n > 0; n /= 2) {
		if (i < n) sums[i] = add_pairs(sums[i], sums[i + n]);
		threadgroup_barrier(mem_flags::mem_threadgroup);
	}
	return sums[0];
}

// y = x / √(mean(x²) + ε) · gain, for every run. Grid: a threadgroup each, of a
// power of two threads, 256 at most. y may be x.
kernel void rms_norm(device const float *x    [[buffer(0)]],
                     device const float *gain [[buffer(1)]],
                     device float *y          [[buffer(2)]],
                     constant Norm &norm      [[buffer(3)]],
                     uint run      [[threadgroup_position_in_grid]],
                     uint i        [[thread_index_in_threadgroup]],
                     uint threads  [[threads_per_threadgroup]]) {
	threadgroup Pair sums[256];
	x += ulong(run) * norm.width;
	y += ulong(run) * norm.width;
	const Pair sum = squares(x, norm.width, sums, i, threads);
	const float mean = sum.high / float(norm.width) + sum.low / float(norm.width);
	const float scale = 1 / sqrt(mean + norm.epsilon);
	for (uint k = i; k < norm.width; k += threads) y[k] = x[k] * scale * gain[k];
}

struct Length {
	uint width; // values of a run
	float epsilon, scale;
};

// x = x / √(Σx² + ε) · scale, for every run. Grid: a threadgroup each, of a power of
// two threads, 256 at most.
kernel void normalize(device float *x           [[buffer(0)]],
                      constant Length &length   [[buffer(1)]],
                      uint run     [[threadgroup_position_in_grid]],
                      uint i       [[thread_index_in_threadgroup]],
                      uint threads [[threads_per_threadgroup]]) {
	threadgroup Pair sums[256];
	x += ulong(run) * length.width;
	const Pair sum = squares(x, length.width, sums, i, threads);
	const float by = length.scale / sqrt(sum.high + (sum.low + length.epsilon));
	for (uint k = i; k < length.width; k += threads) x[k] *= by;
}

struct Heads {
	uint count, dim; // heads of a column, values of a head
	uint pairs;      // that are turned, dim/2 at most; values behind them stay
	uint step, apart; // from a pair's first value to the next one's, and to its second
};

// Every head of every column is turned by the angles of its column: pair i is
// (x[i·step], x[i·step+apart]), with steps of 1 and pairs apart, or of 2 where the
// two are side by side. turns has a cosine and a sine for each column and pair,
// magnitude included; the host makes them, in double. Grid: pairs × heads ×
// columns.
kernel void rotate(device float *x            [[buffer(0)]],
                   device const float2 *turns [[buffer(1)]],
                   constant Heads &heads      [[buffer(2)]],
                   uint3 at [[thread_position_in_grid]]) {
	const uint pairs = heads.pairs;
	if (at.x >= pairs || at.y >= heads.count) return;
	x += (ulong(at.z) * heads.count + at.y) * heads.dim + at.x * heads.step;
	const float2 turn = turns[at.z * pairs + at.x];
	const float a = x[0], b = x[heads.apart];
	x[0] = a * turn.x - b * turn.y;
	x[heads.apart] = b * turn.x + a * turn.y;
}

// gate = silu(gate)·up. Grid: n values.
kernel void gate_silu(device float *gate     [[buffer(0)]],
                      device const float *up [[buffer(1)]],
                      constant uint &n       [[buffer(2)]],
                      uint i [[thread_position_in_grid]]) {
	if (i < n) gate[i] = gate[i] / (1 + precise::exp(-gate[i])) * up[i];
}

// gate = max(gate, 0)²·up. Grid: n values.
kernel void gate_relu2(device float *gate     [[buffer(0)]],
                       device const float *up [[buffer(1)]],
                       constant uint &n       [[buffer(2)]],
                       uint i [[thread_position_in_grid]]) {
	if (i >= n) return;
	const float g = gate[i] < 0 ? 0 : gate[i]; // a NaN stays
	gate[i] = g * g * up[i];
}

// gate = σ(gate)·up. Grid: n values.
kernel void gate_sigmoid(device float *gate     [[buffer(0)]],
                         device const float *up [[buffer(1)]],
                         constant uint &n       [[buffer(2)]],
                         uint i [[thread_position_in_grid]]) {
	if (i < n) gate[i] = 1 / (1 + precise::exp(-gate[i])) * up[i];
}

// x += y. Grid: n values.
kernel void add(device float *x       [[buffer(0)]],
                device const float *y [[buffer(1)]],
                constant uint &n      [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
	if (i < n) x[i] += y[i];
}

// x *= by. Grid: n values.
kernel void scale(device float *x    [[buffer(0)]],
                  constant float &by [[buffer(1)]],
                  constant uint &n   [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
	if (i < n) x[i] *= by;
}

// to[i] = from[first + i]: columns of a batch, for operations on those alone. Grid:
// n values.
kernel void take(device float *to         [[buffer(0)]],
                 device const float *from [[buffer(1)]],
                 constant uint &n         [[buffer(2)]],
                 constant uint &first     [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
	if (i < n) to[i] = from[first + i];
}

struct Parts {
	uint from, run, stride; // values
	uint n;                 // of the result, all columns
};

// select_parts takes of every stride values those in [from, from + run). A column is
// a whole number of strides. Grid: n values.
kernel void select_parts(device float *to         [[buffer(0)]],
                         device const float *from [[buffer(1)]],
                         constant Parts &p        [[buffer(2)]],
                         uint i [[thread_position_in_grid]]) {
	if (i < p.n) to[i] = from[ulong(i / p.run) * p.stride + p.from + i % p.run];
}

// The likeliest tokens of a vocabulary, likeliest first, of equals the one with
// the lowest id: the order of package models' sampler. A NaN comes before all
// numbers, so that whoever reads the first logit learns of it.
#include <metal_stdlib>
using namespace metal;

struct Top {
	uint values; // in all
	uint slice;  // of a threadgroup
	uint keep;   // the best so many of a slice
};

// A rank is larger for what comes first: in the upper half a logit as an integer
// in the order of floats, in the lower the id's complement. No token has 0.
static ulong rank_of(float logit, uint id) {
	uint bits = as_type<uint>(logit);
	if ((bits & 0x7fffffff) > 0x7f800000) bits = 0x7ffffffe; // NaNs are alike, and below the first limit
	else if (bits == 0x80000000) bits = 0;                   // and zeros
	bits = (bits & 0x80000000) != 0 ? ~bits : bits | 0x80000000;
	return ulong(bits) << 32 | ulong(~id);
}

static float logit_of(ulong rank) {
	const uint bits = uint(rank >> 32);
	return as_type<float>((bits & 0x80000000) != 0 ? bits & 0x7fffffff : ~bits);
}

constexpr constant uint most_threads = 256;

// A Source is what ranks are taken from: logits, or ranks themselves.
struct Logits {
	device const float *at;
	ulong rank(uint i) const { return rank_of(at[i], i); }
};
struct Ranks {
	device const ulong *at;
	ulong rank(uint i) const { return at[i]; }
};

// best_below returns the best of a thread's values of a slice that is below a
// rank, or 0.
template <typename Source> static ulong best_below(Source source, ulong limit, uint from, uint to, uint step) {
	ulong best = 0;
	for (uint k = from; k < to; k += step) {
		const ulong rank = source.rank(k);
		if (rank < limit && rank > best) best = rank;
	}
	return best;
}

// next_best returns the best that any thread has.
static ulong next_best(ulong mine, threadgroup ulong *room, uint i, uint threads) {
	room[i] = mine;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	for (uint n = threads / 2; n > 0; n /= 2) {
		if (i < n && room[i + n] > room[i]) room[i] = room[i + n];
		threadgroup_barrier(mem_flags::mem_threadgroup);
	}
	const ulong best = room[0];
	threadgroup_barrier(mem_flags::mem_threadgroup);
	return best;
}

// top_slices finds the ranks of the best of every slice, 0 where it has fewer.
// Grid: slices threadgroups, of a power of two threads, 256 at most.
kernel void top_slices(device const float *logits [[buffer(0)]],
                       device ulong *ranks        [[buffer(1)]],
                       constant Top &t            [[buffer(2)]],
                       uint group   [[threadgroup_position_in_grid]],
                       uint i       [[thread_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]]) {
	threadgroup ulong room[most_threads];
	const uint from = group * t.slice, to = min(from + t.slice, t.values);
	const Logits source = {logits};
	ulong best = ~ulong(0), mine = best_below(source, best, from + i, to, threads);
	for (uint k = 0; k < t.keep; k++) {
		best = next_best(mine, room, i, threads);
		if (i == 0) ranks[group * t.keep + k] = best;
		if (mine == best && best != 0) mine = best_below(source, best, from + i, to, threads);
	}
}

// top takes the best of all slices' ranks apart into logits and ids. If there are
// fewer than keep, the last ones' logits are NaN, and their ids 2³²-1. Grid: one
// threadgroup, of a power of two threads, 256 at most.
kernel void top(device const ulong *ranks [[buffer(0)]],
                device float *logits      [[buffer(1)]],
                device uint *ids          [[buffer(2)]],
                constant Top &t           [[buffer(3)]],
                uint i       [[thread_index_in_threadgroup]],
                uint threads [[threads_per_threadgroup]]) {
	threadgroup ulong room[most_threads];
	const Ranks source = {ranks};
	ulong best = ~ulong(0), mine = best_below(source, best, i, t.values, threads);
	for (uint k = 0; k < t.keep; k++) {
		best = next_best(mine, room, i, threads);
		if (i == 0) {
			logits[k] = logit_of(best);
			ids[k] = ~uint(best);
		}
		if (mine == best && best != 0) mine = best_below(source, best, i, t.values, threads);
	}
}

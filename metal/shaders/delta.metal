// What gated delta nets do instead of attention. A thread takes one channel, or
// one column of a head's matrix, through the whole batch: none reads what
// another writes.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off) // every operation rounds, as in models/engine/cpu

struct Convolution {
	uint channels, taps, columns; // columns of the batch
};

// Every channel becomes the sum of its last taps values before and with it, each
// times a tap, activated by SiLU.
//
//	taps    channels × taps, the latest last
//	window  channels × (taps-1): the values before the batch, the oldest first;
//	        a buffer has to be there even if that is none
//
// Grid: channels.
kernel void convolve(device float *x          [[buffer(0)]],
                     device const float *taps [[buffer(1)]],
                     device float *window     [[buffer(2)]],
                     constant Convolution &c  [[buffer(3)]],
                     uint i [[thread_position_in_grid]]) {
	if (i >= c.channels) return;
	const uint past = c.taps - 1;
	taps += i * c.taps;
	window += i * past;
	for (uint t = 0; t < c.columns; t++) {
		device float *at = x + ulong(t) * c.channels + i;
		const float now = *at;
		float sum = now * taps[past];
		for (uint k = 0; k < past; k++) {
			sum += window[k] * taps[k];
			window[k] = k + 1 < past ? window[k + 1] : now;
		}
		*at = sum / (1 + precise::exp(-sum));
	}
}

struct Gates {
	uint heads, columns; // value heads; of the batch
};

// decay ← exp(rate · ln(1 + exp(decay + bias)));  beta ← σ(beta): what delta_rule
// takes. rate and bias have a value for each value head. Grid: heads × columns.
kernel void delta_gates(device float *decay      [[buffer(0)]],
                        device float *beta       [[buffer(1)]],
                        device const float *rate [[buffer(2)]],
                        device const float *bias [[buffer(3)]],
                        constant Gates &g        [[buffer(4)]],
                        uint2 at [[thread_position_in_grid]]) {
	if (at.x >= g.heads || at.y >= g.columns) return;
	const uint i = at.y * g.heads + at.x;
	const float z = decay[i] + bias[at.x];
	const float grown = max(z, 0.0f) + precise::log(1 + precise::exp(-abs(z))); // whose exp does not overflow
	decay[i] = precise::exp(rate[at.x] * grown);
	beta[i] = 1 / (1 + precise::exp(-beta[i]));
}

struct Delta {
	uint key_heads, value_heads; // the second a multiple of the first
	uint key_dim, value_dim;
	uint columns; // of the batch
	uint tiled;   // 1: value head h goes with key head h mod key_heads, else h / (value_heads/key_heads)
};

// S ← decay·S;  S ← S + β·k ⊗ (v - Sᵀk);  y = Sᵀq, for every value head and
// column of the batch (Yang et al., arXiv:2412.06464, equation 10).
//
//	matrices  value heads × key_dim × value_dim
//	decay, beta  a value for each column and value head
//
// Grid: value_dim × value heads.
kernel void delta_rule(device float *matrices    [[buffer(0)]],
                       device const float *q     [[buffer(1)]],
                       device const float *k     [[buffer(2)]],
                       device const float *v     [[buffer(3)]],
                       device const float *decay [[buffer(4)]],
                       device const float *beta  [[buffer(5)]],
                       device float *y           [[buffer(6)]],
                       constant Delta &d         [[buffer(7)]],
                       uint2 at [[thread_position_in_grid]]) {
	if (at.x >= d.value_dim) return;
	const uint head = at.y, key = (d.tiled != 0 ? head % d.key_heads : head / (d.value_heads / d.key_heads)) * d.key_dim;
	device float *s = matrices + ulong(head) * d.key_dim * d.value_dim + at.x; // rows are value_dim apart
	for (uint t = 0; t < d.columns; t++) {
		const uint keys = t * d.key_heads * d.key_dim + key, value = (t * d.value_heads + head) * d.value_dim + at.x;
		const float shrink = decay[t * d.value_heads + head];
		float predicted = 0;
		for (uint i = 0; i < d.key_dim; i++) {
			const float kept = s[i * d.value_dim] * shrink;
			s[i * d.value_dim] = kept;
			predicted += kept * k[keys + i];
		}
		const float by = (v[value] - predicted) * beta[t * d.value_heads + head];
		float out = 0;
		for (uint i = 0; i < d.key_dim; i++) {
			const float now = s[i * d.value_dim] + k[keys + i] * by;
			s[i * d.value_dim] = now;
			out += now * q[keys + i];
		}
		y[value] = out;
	}
}

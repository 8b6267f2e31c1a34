// Quantization of activations to int8.

constant uint scheme [[function_constant(0)]];

struct Columns {
	uint cols;
	uint stride; // of a quantized column, a multiple of 256
	uint groups; // scales of a column
	uint group;  // columns with one scale
};

// Grid: groups × columns threadgroups. The last group's writes the zeros behind
// the column. Threadgroups have a power of two threads, 256 at most.
kernel void quantize(device const float *x  [[buffer(0)]],
                     device char *q         [[buffer(1)]],
                     device float *scales   [[buffer(2)]],
                     constant Columns &c    [[buffer(3)]],
                     uint2 at      [[threadgroup_position_in_grid]],
                     uint i        [[thread_index_in_threadgroup]],
                     uint2 threads [[threads_per_threadgroup]]) {
	threadgroup uint largest[most_rounding];
	const uint from = at.x * c.group, to = min(from + c.group, c.cols);
	x += ulong(at.y) * c.cols;
	q += ulong(at.y) * c.stride;
	const Rounding r = rounding_of(largest_bits(x, from, to, largest, i, threads.x), scheme);
	if (i == 0) scales[at.y * c.groups + at.x] = r.scale;
	for (uint k = from + i; k < to; k += threads.x) q[k] = round_to_char(x[k], r.mul);
	if (at.x + 1 == c.groups)
		for (uint k = c.cols + i; k < c.stride; k += threads.x) q[k] = 0;
}

// Products of packed weights: y = W·x, W of rows × cols. Weights are never
// expanded: a code is taken from its byte or word where it is multiplied.
//
//	embed         rows as floats
//	matvec_naive  one thread a row, float activations: the kernel of cellm
//	matvec_rows   one thread a row, int8 activations, on the file's bytes, with
//	              no simdgroup functions: for devices before Apple7
//	matvec_simd   lanes over columns, four rows a simdgroup, int8 activations,
//	              codes and scales apart so that codes load as aligned uint4
// How a format lays out its codes, the same in package shaders' Codes. A code
// of one bit is -1 or 1, one of two bits is -1, 0, 1 or 2, one of four is itself
// less 8, one of eight is an int8, and one of six is q6_k's: its six bits less 32, times
// the int8 scale of its 16 columns. With two or four bits, each byte of a run of span
// bytes has columns span apart, from its low bits up or, if high_first, from its high
// bits down.
constant uint code_bits     [[function_constant(0)]];
constant uint block_columns [[function_constant(1)]]; // with one scale; 0: the tensor has one
constant uint block_bytes   [[function_constant(2)]];
constant uint codes_at      [[function_constant(3)]]; // byte of a block
constant uint scale_at      [[function_constant(4)]]; // byte of a block
constant uint span          [[function_constant(5)]];
constant bool high_first    [[function_constant(6)]];

struct Shape {
	uint rows, cols;
	uint row_bytes;   // of a row of weights
	uint stride;      // of a column of activations, a multiple of 256
	uint groups;      // scales of a column of activations
	uint act_columns; // with one scale
	float scale;      // of the tensor
};

// q6_code returns the code of column k of a block of q6_k: low bits in 128 bytes,
// two for each byte, high bits in 64, four for each, 16 scales behind.
static int q6_code(device const uchar *block, uint k) {
	const uint part = k / 128, quarter = k / 32 % 4, at = k % 32;
	const uint low = block[64 * part + 32 * (quarter % 2) + at] >> (4 * (quarter / 2)) & 15;
	const uint high = block[128 + 32 * part + at] >> (2 * quarter) & 3;
	return int(as_type<char>(block[192 + k / 16])) * (int(low | high << 4) - 32);
}

// code_of returns the code of column k of a row in the file's layout.
static int code_of(device const uchar *row, uint k) {
	if (block_columns != 0) {
		row += k / block_columns * block_bytes + codes_at;
		k %= block_columns;
	}
	if (code_bits == 8) return as_type<char>(row[k]);
	if (code_bits == 6) return q6_code(row, k);
	if (code_bits == 1) return int(row[k / 8] >> (k % 8) & 1) * 2 - 1;
	if (code_bits == 4) return int(row[k / (2 * span) * span + k % span] >> (k / span % 2 * 4) & 15) - 8;
	const uint place = k / span % 4, shift = high_first ? 6 - 2 * place : 2 * place;
	return int(row[k / (4 * span) * span + k % span] >> shift & 3) - 1;
}

static float scale_of(device const uchar *row, uint k, float tensor) {
	if (block_columns == 0) return tensor;
	return float(*(device const half *)(row + k / block_columns * block_bytes + scale_at));
}

// embed writes rows ids of a table: y[i] = row ids[i]. The host checks ids. Grid:
// columns × ids.
kernel void embed(device const uchar *weights [[buffer(0)]],
                  device const uint *ids      [[buffer(1)]],
                  device float *y             [[buffer(2)]],
                  constant Shape &s           [[buffer(3)]],
                  uint2 at [[thread_position_in_grid]]) {
	if (at.x >= s.cols) return;
	device const uchar *row = weights + ulong(ids[at.y]) * s.row_bytes;
	y[ulong(at.y) * s.cols + at.x] = scale_of(row, at.x, s.scale) * float(code_of(row, at.x));
}

// Grid: rows.
kernel void matvec_naive(device const uchar *weights [[buffer(0)]],
                         device const float *x       [[buffer(1)]],
                         device float *y             [[buffer(2)]],
                         constant Shape &s           [[buffer(3)]],
                         uint r [[thread_position_in_grid]]) {
	if (r >= s.rows) return;
	device const uchar *row = weights + ulong(r) * s.row_bytes;
	float sum = 0;
	for (uint k = 0; k < s.cols; k++) sum += scale_of(row, k, s.scale) * float(code_of(row, k)) * x[k];
	y[r] = sum;
}

// row_product multiplies a row with a column. The sum of every group, under q8_32 of
// every span, is exact, and the terms are added in order: results are equal to package
// kernels' to the bit.
static float row_product(device const uchar *row, device const char *q, device const float *scales, constant Shape &s) {
	const bool spans = code_bits < 4 && s.act_columns == 32;
	const uint act_columns = spans ? 128 : s.act_columns;
	const uint group = block_columns == 0 ? act_columns : min(block_columns, act_columns);
	float total = 0;
	for (uint from = 0; from < s.cols; from += group) {
		const uint first = from / 128 * 4; // scale of a span
		Span span = {};
		if (spans) span = span_of(scales + first, s.groups - first);
		int sum = 0;
		for (uint k = from; k < min(from + group, s.cols); k++) {
			const int product = code_of(row, k) * int(q[k]);
			sum += spans ? span.shares[k / 32 % 4] * product : product;
		}
		const float scale = scale_of(row, from, s.scale) * (spans ? span.unit : scales[from / act_columns]);
		const float term = scale * float(sum);
		total += term;
	}
	return total;
}

// Grid: rows × columns of activations.
kernel void matvec_rows(device const uchar *weights [[buffer(0)]],
                        device const char *q        [[buffer(1)]],
                        device const float *scales  [[buffer(2)]],
                        device float *y             [[buffer(3)]],
                        constant Shape &s           [[buffer(4)]],
                        uint2 at [[thread_position_in_grid]]) {
	if (at.x >= s.rows) return;
	y[at.y * s.rows + at.x] = row_product(weights + ulong(at.x) * s.row_bytes, q + ulong(at.y) * s.stride, scales + at.y * s.groups, s);
}

struct Chosen {
	uint used;    // experts of a column of the batch
	uint share;   // that take the same column of activations: 1, or all that are used
	uint experts; // there are
};

// The experts' matrices lie one behind the other, in the file's layout: chosen has the
// numbers of those that a column takes, and behind them as many weights. Grid: rows of an
// expert × used · columns.
kernel void matvec_experts(device const uchar *weights [[buffer(0)]],
                           device const float *chosen  [[buffer(1)]],
                           device const char *q        [[buffer(2)]],
                           device const float *scales  [[buffer(3)]],
                           device float *y             [[buffer(4)]],
                           constant Shape &s           [[buffer(5)]],
                           constant Chosen &c          [[buffer(6)]],
                           uint2 at [[thread_position_in_grid]]) {
	if (at.x >= s.rows) return;
	const uint expert = min(uint(chosen[at.y / c.used * 2 * c.used + at.y % c.used]), c.experts - 1), column = at.y / c.share;
	device const uchar *row = weights + (ulong(expert) * s.rows + at.x) * s.row_bytes;
	y[ulong(at.y) * s.rows + at.x] = row_product(row, q + ulong(column) * s.stride, scales + column * s.groups, s);
}

constexpr constant uint simd_rows = 4; // of a simdgroup

// A chunk is a uint4 of codes, of pieces that are columns in a row: four of 32 with
// one bit, four of 16 with two, one of 16 with eight. No scale of activations changes within a piece, and
// no scale of weights within a chunk.

// piece_column returns the first column of a piece.
static uint piece_column(uint chunk, uint piece) {
	if (code_bits == 8) return 16 * chunk;
	if (code_bits == 1) return 128 * chunk + 32 * piece;
	if (span == 1) return 64 * chunk + 16 * piece;
	const uint at = 16 * chunk; // byte of the row
	return at / span * 4 * span + at % span + span * piece;
}

// piece_sum returns Σ code·x over a piece, whose activations are x and, for one
// bit, more.
static int piece_sum(uint4 codes, uint piece, uint4 x, uint4 more) {
	int sum = 0;
	const uint shift = high_first ? 6 - 2 * piece : 2 * piece;
	for (uint i = 0; i < 4; i++) {
		const char4 v = as_type<char4>(x[i]);
		if (code_bits == 8) {
			const char4 c = as_type<char4>(codes[i]);
			for (uint j = 0; j < 4; j++) sum += int(c[j]) * int(v[j]);
			continue;
		}
		if (code_bits == 1) {
			const char4 u = as_type<char4>(more[i]);
			for (uint j = 0; j < 4; j++) {
				const uint bits = codes[piece] >> (4 * i + j);
				sum += (bits & 1) != 0 ? int(v[j]) : -int(v[j]);
				sum += (bits & 0x10000) != 0 ? int(u[j]) : -int(u[j]);
			}
			continue;
		}
		const uint word = span == 1 ? codes[piece] >> (8 * i) : codes[i] >> shift;
		for (uint j = 0; j < 4; j++) sum += (int(word >> (span == 1 ? 2 * j : 8 * j) & 3) - 1) * int(v[j]);
	}
	return sum;
}

// Grid: threadgroups of whole simdgroups, each simd_rows rows; × columns of
// activations. row_bytes is that of the codes, a multiple of 16. Where weights
// and activations have one scale a row, sums stay integers to the end: results
// are then equal to package kernels' to the bit. Elsewhere the terms are added
// in another order.
kernel void matvec_simd(device const uint4 *codes         [[buffer(0)]],
                        device const half *weight_scales  [[buffer(1)]],
                        device const char *q              [[buffer(2)]],
                        device const float *scales        [[buffer(3)]],
                        device float *y                   [[buffer(4)]],
                        constant Shape &s                 [[buffer(5)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint simd  [[simdgroup_index_in_threadgroup]],
                        uint simds [[simdgroups_per_threadgroup]],
                        uint lane  [[thread_index_in_simdgroup]]) {
	const uint first = (group.x * simds + simd) * simd_rows, chunks = s.row_bytes / 16;
	if (first >= s.rows) return; // the whole simdgroup
	const uint rows = min(simd_rows, s.rows - first);
	const uint chunk_columns = 128 / code_bits, pieces = code_bits == 8 ? 1 : 4;
	const uint blocks = block_columns == 0 ? 0 : (s.cols + block_columns - 1) / block_columns;
	const bool one_scale = block_columns == 0 && s.groups == 1;
	q += ulong(group.y) * s.stride;
	scales += group.y * s.groups;
	int whole[simd_rows] = {0, 0, 0, 0};
	float total[simd_rows] = {0, 0, 0, 0};
	for (uint chunk = lane; chunk < chunks; chunk += 32) {
		uint4 w[simd_rows];
		float scale[simd_rows];
		for (uint r = 0; r < rows; r++) {
			w[r] = codes[ulong(first + r) * chunks + chunk];
			scale[r] = block_columns == 0 ? s.scale : float(weight_scales[ulong(first + r) * blocks + chunk * chunk_columns / block_columns]);
		}
		for (uint piece = 0; piece < pieces; piece++) {
			const uint column = piece_column(chunk, piece);
			if (column >= s.cols) break;
			device const uint4 *x = (device const uint4 *)(q + column);
			const uint4 v = x[0], more = code_bits == 1 ? x[1] : uint4(0);
			const float act = one_scale ? 0 : scales[column / s.act_columns];
			for (uint r = 0; r < rows; r++) {
				const int sum = piece_sum(w[r], piece, v, more);
				if (one_scale) whole[r] += sum;
				else total[r] += scale[r] * act * float(sum);
			}
		}
	}
	for (uint r = 0; r < rows; r++) {
		const float sum = one_scale ? s.scale * scales[0] * float(simd_sum(whole[r])) : simd_sum(total[r]);
		if (lane == 0) y[group.y * s.rows + first + r] = sum;
	}
}

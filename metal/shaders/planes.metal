// Products of codes of one and two bits, y = W·x, by counting bits: activations are
// taken apart into the eight bits of their int8, and of 32 columns a bit of the
// weights meets a bit of the activations in an AND and a population count.
//
//	Σ b·q = Σp 2ᵖ·popcount(b & bit p of q), where bit 7 counts less than nothing
//
// A code of one bit is 2b-1, one of two bits low + 2·high - 1. What is not counted
// that way, the sum of q, is one for all rows. All sums are exact, and terms are
// added in the order of package kernels: results are equal to it to the bit.
//
//	quantize_planes  activations as planes of bits
//	matvec_tiles     weights packed into tiles of 32 rows, a thread each
//	matvec_lanes     weights as the file has them, threads over columns
//
// Weights are read once for several columns of activations. Of a tile that has
// fewer, the last is multiplied again, so that loops have constant bounds. Threads exchange what they have through threadgroup memory, no
// simdgroup function is called: one kernel is for all GPUs of Apple. A simdgroup
// has 32 threads on all of them.

// How the weights lie, as Codes in package shaders.
constant uint code_bits     [[function_constant(0)]]; // 1 or 2
constant uint block_columns [[function_constant(1)]]; // with one scale; 0: the tensor has one
constant uint block_bytes   [[function_constant(2)]];
constant uint codes_at      [[function_constant(3)]];
constant uint scale_at      [[function_constant(4)]];
constant uint span          [[function_constant(5)]];
constant bool high_first    [[function_constant(6)]];
// How the product is cut.
constant uint act_columns  [[function_constant(7)]];  // with one scale: 32, 128; 0: all
constant bool in_file      [[function_constant(8)]];  // weights are as the file has them
constant uint tile_columns [[function_constant(9)]];  // of activations for one reading of weights, 8 at most
constant uint thread_rows  [[function_constant(10)]]; // of a thread, 4 at most
constant uint row_threads  [[function_constant(11)]]; // of matvec_lanes that share a row

// A chunk is 128 columns: of weights a uint4 for each bit of a code, of
// activations one for each of eight bits.

// Activations.

struct Columns {
	uint cols;
	uint stride; // of a quantized column, a multiple of 256
	uint groups; // scales of a column
};

// column_of returns which column stands at bit i of word w of a column's planes.
// Packed weights have columns in their order. In a file, the 16-bit words of a
// block may begin between two aligned 32-bit words: then the first and the last
// share the last register. And of codes of two bits two registers are merged, whose
// codes take turns.
static uint column_of(uint w, uint i) {
	if (!in_file) return 32 * w + i;
	const uint first = w / 4 * 128; // column of the chunk
	const uint block = block_columns == 0 || block_columns > 128 ? 128 : block_columns;
	const uint shorts = block * code_bits / 16; // of a block in a chunk
	const uint bits = code_bits == 1 ? 32 * (w % 4) + i : 32 * (2 * (w % 4) + i % 2) + i / 2 * 2; // of the chunk's registers
	const uint within = bits / 16 / shorts * shorts;
	uint at = bits / 16 % shorts; // 16-bit word of the block
	if (block_columns != 0) {
		const uint column = first + within * 16 / code_bits;
		const uint byte = column / block_columns * block_bytes + codes_at + column % block_columns * code_bits / 8;
		if (byte % 4 != 0) at = at < shorts - 2 ? at + 1 : at == shorts - 2 ? 0 : at;
	}
	const uint word = within + at; // of the chunk
	if (code_bits == 1) return first + 16 * word + bits % 16;
	const uint byte = 2 * word + bits / 8 % 2, place = bits / 2 % 4;
	return first + byte / span * 4 * span + byte % span + span * (high_first ? 3 - place : place);
}

constexpr constant uint no_group = 1 << 30; // columns of a row without scales

// Grid: groups × columns threadgroups, of a power of two threads, 256 at most.
//
//	planes  for each column 8 × stride/32 words, the lowest bits first
//	sums    for each column and word that of its activations
//
// The last group's threadgroup writes the zeros behind the column.
kernel void quantize_planes(device const float *x [[buffer(0)]],
                            device uint *planes   [[buffer(1)]],
                            device int *sums      [[buffer(2)]],
                            device float *scales  [[buffer(3)]],
                            constant Columns &c   [[buffer(4)]],
                            constant uint &scheme [[buffer(5)]],
                            uint2 at      [[threadgroup_position_in_grid]],
                            uint i        [[thread_index_in_threadgroup]],
                            uint2 threads [[threads_per_threadgroup]]) {
	threadgroup uint largest[most_rounding];
	const uint group = act_columns == 0 ? c.stride : act_columns, words = c.stride / 32;
	const uint from = at.x * group, to = min(from + group, c.cols);
	x += ulong(at.y) * c.cols;
	planes += ulong(at.y) * words * 8;
	sums += ulong(at.y) * words;
	const Rounding r = rounding_of(largest_bits(x, from, to, largest, i, threads.x), scheme);
	if (i == 0) scales[at.y * c.groups + at.x] = r.scale;
	const uint first = from / 32, last = at.x + 1 == c.groups ? words : (from + group) / 32;
	for (uint job = i; job < (last - first) * 8; job += threads.x) { // a plane of a word
		const uint word = first + job / 8, plane = job % 8;
		uint bits = 0;
		int sum = 0;
		for (uint k = 0; k < 32; k++) {
			const uint column = column_of(word, k);
			const int q = column < c.cols ? int(round_to_char(x[column], r.mul)) : 0;
			bits |= (uint(q) >> plane & 1) << k;
			sum += q;
		}
		planes[plane * words + word] = bits;
		if (plane == 0) sums[word] = sum;
	}
}

// Products.

struct Shape { // of matvec.metal, with the columns behind
	uint rows, cols;
	uint row_bytes;    // of a row in the file
	uint stride;       // of a column of activations, a multiple of 256
	uint groups;       // scales of a column of activations
	uint not_used;
	float scale;       // of the tensor
	uint columns;      // of activations
};

constexpr constant uint most_rows = 4, most_columns = 8;

// Weights are a chunk of a row: a bit of 32 columns a word.
struct Weights {
	uint4 low, high;
};

// Pieces of a chunk are what has a scale of weights or of activations apart, four
// of 32 columns at most.
struct Pieces {
	int of[4];
};

// term_columns returns how many columns a term has, which neither scale changes in.
static uint term_columns() {
	const uint w = block_columns == 0 ? no_group : block_columns, a = act_columns == 0 ? no_group : act_columns;
	return min(w, a);
}
static uint pieces_of_chunk() { return term_columns() >= 128 ? 1 : 128 / term_columns(); }
// chunks_of_unit: a unit is the chunks of one term.
static uint chunks_of_unit() { return term_columns() == 256 ? 2 : 1; }

// spans says whether activations are q8_32's: of the pieces of a chunk, those with
// one scale of weights are one term then, by their shares.
static bool spans() { return act_columns == 32; }
static uint terms_of_chunk() { return !spans() ? pieces_of_chunk() : block_columns == 64 ? 2 : 1; }

static bool one_scale() { return term_columns() == no_group; }

// count returns how many bits a piece of a chunk has.
static int count(uint4 bits, uint piece) {
	const uint pieces = pieces_of_chunk();
	if (pieces == 4) return int(popcount(bits[piece]));
	if (pieces == 2) return int(popcount(bits[2 * piece]) + popcount(bits[2 * piece + 1]));
	return int(popcount(bits[0]) + popcount(bits[1]) + popcount(bits[2]) + popcount(bits[3]));
}

static int piece_of(int4 sums, uint piece) {
	const uint pieces = pieces_of_chunk();
	if (pieces == 4) return sums[piece];
	if (pieces == 2) return sums[2 * piece] + sums[2 * piece + 1];
	return sums[0] + sums[1] + sums[2] + sums[3];
}

// multiply adds to the sums of a thread's rows their products with a chunk of one
// column's activations, whose planes are so many uint4 apart.
static void multiply(thread Pieces *sums, thread const Weights *weights, device const uint4 *planes, uint apart, int4 all) {
	Pieces s[most_rows];
	const uint pieces = pieces_of_chunk();
	for (uint r = 0; r < thread_rows; r++)
		for (uint i = 0; i < pieces; i++) s[r].of[i] = 0;
	for (uint p = 8; p-- > 0;) {
		const uint4 plane = planes[p * apart];
		for (uint r = 0; r < thread_rows; r++) {
			for (uint i = 0; i < pieces; i++) {
				int n = count(weights[r].low & plane, i);
				if (code_bits == 2) n += 2 * count(weights[r].high & plane, i);
				s[r].of[i] = 2 * s[r].of[i] + (p == 7 ? -n : n);
			}
		}
	}
	for (uint r = 0; r < thread_rows; r++)
		for (uint i = 0; i < pieces; i++) sums[r].of[i] += (code_bits == 1 ? 2 * s[r].of[i] : s[r].of[i]) - piece_of(all, i);
}

// Bits of a sum or of a term, for threads to exchange.
static int term_bits(float weight, float activation, int sum) {
	const float scale = weight * activation;
	return as_type<int>(scale * float(sum));
}

static float add_term(float total, int bits) { return total + as_type<float>(bits); }

// shared returns the sum of a term of a chunk, whose pieces have 32 columns.
static int shared(Span span, Pieces sums, uint term) {
	const uint groups = 4 / terms_of_chunk();
	int sum = 0;
	for (uint i = groups * term; i < groups * (term + 1); i++) sum += span.shares[i] * sums.of[i];
	return sum;
}

constexpr constant uint tile_rows = 32;
constexpr constant uint most_parts = 8; // simdgroups that share a tile's rows
constexpr constant uint part_room = 4 * 32; // terms that one has at once
constexpr constant uint tiles_room = 2048; // 2 · most_parts · part_room

// Weights are packed in tiles of 32 rows, a thread each:
//
//	codes          [tile][chunk][bit][row] uint4
//	weight_scales  [tile][block][row]
//
// so that a simdgroup reads 512 bytes in a row, and all its threads the same
// activations. A thread takes the same row of thread_rows tiles. The simdgroups of
// a threadgroup, thread_rows at least and 8 at most, take a unit in turn; the terms
// of all are added in order, by a thread a row, while the others are at the next:
// so the room is two rooms. thread_rows × pieces is 4 at most.
//
// Grid: threadgroups of thread_rows tiles × tile_columns columns.
kernel void matvec_tiles(device const uint4 *codes        [[buffer(0)]],
                         device const half *weight_scales [[buffer(1)]],
                         device const uint4 *planes       [[buffer(2)]],
                         device const int4 *sums          [[buffer(3)]],
                         device const float *scales       [[buffer(4)]],
                         device float *y                  [[buffer(5)]],
                         constant Shape &s                [[buffer(6)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint i      [[thread_index_in_threadgroup]],
                         uint2 size  [[threads_per_threadgroup]]) {
	threadgroup int room[tiles_room];
	const uint lane = i % 32, part = i / 32, parts = size.x / 32;
	const uint chunks = (s.cols + 127) / 128, unit_chunks = chunks_of_unit(), units = chunks / unit_chunks;
	const uint blocks = block_columns == 0 ? 0 : s.cols / block_columns, terms = terms_of_chunk();
	const uint first = group.x * thread_rows, last = (s.rows + tile_rows - 1) / tile_rows - 1; // tiles
	const uint column = group.y * tile_columns, apart = s.stride / 128;
	int whole[most_columns][most_rows] = {};
	float total[most_columns] = {}; // of row i
	uint turn = 0;
	for (uint from = 0; from < units; from += parts) {
		const uint unit = min(from + part, units - 1); // of which some take the last in vain
		Pieces sum[most_columns][most_rows] = {};
		for (uint chunk = unit * unit_chunks; chunk < (unit + 1) * unit_chunks; chunk++) {
			Weights w[most_rows];
			for (uint r = 0; r < thread_rows; r++) {
				device const uint4 *at = codes + ((ulong(min(first + r, last)) * chunks + chunk) * code_bits) * tile_rows + lane;
				w[r].low = at[0];
				w[r].high = code_bits == 2 ? at[tile_rows] : uint4(0);
			}
			for (uint n = 0; n < tile_columns; n++) {
				const ulong at = ulong(min(column + n, s.columns - 1)) * apart;
				multiply(sum[n], w, planes + at * 8 + chunk, apart, sums[at + chunk]);
			}
		}
		for (uint n = 0; n < tile_columns; n++) {
			device const float *acts = scales + min(column + n, s.columns - 1) * s.groups;
			if (one_scale()) {
				if (from + part < units)
					for (uint r = 0; r < thread_rows; r++) whole[n][r] += sum[n][r].of[0];
				continue;
			}
			Span span = {};
			if (spans()) span = span_of(acts + 4 * unit, s.groups - 4 * unit);
			for (uint term = 0; term < terms; term++) {
				const uint k = 128 * unit * unit_chunks + 128 / terms * term;
				const float act = spans() ? span.unit : acts[act_columns == 0 ? 0 : min(k / act_columns, s.groups - 1)];
				for (uint r = 0; r < thread_rows; r++) {
					const int of_term = spans() ? shared(span, sum[n][r], term) : sum[n][r].of[term];
					const float weight = block_columns == 0 ? s.scale : float(weight_scales[(ulong(min(first + r, last)) * blocks + min(k / block_columns, blocks - 1)) * tile_rows + lane]);
					room[(turn * most_parts + part) * part_room + (term * thread_rows + r) * 32 + lane] = term_bits(weight, act, of_term);
				}
			}
			threadgroup_barrier(mem_flags::mem_threadgroup);
			if (part < thread_rows) {
				for (uint p = 0; p < min(parts, units - from); p++)
					for (uint term = 0; term < terms; term++)
						total[n] = add_term(total[n], room[(turn * most_parts + p) * part_room + (term * thread_rows + part) * 32 + lane]);
			}
			turn = 1 - turn;
		}
	}
	const uint row = first * tile_rows + i;
	for (uint n = 0; n < tile_columns; n++) {
		if (one_scale()) {
			for (uint r = 0; r < thread_rows; r++) room[part * part_room + r * 32 + lane] = whole[n][r];
			threadgroup_barrier(mem_flags::mem_threadgroup);
			int sum = 0;
			if (part < thread_rows)
				for (uint p = 0; p < parts; p++) sum += room[p * part_room + i];
			threadgroup_barrier(mem_flags::mem_threadgroup);
			total[n] = add_term(0, term_bits(s.scale, scales[min(column + n, s.columns - 1)], sum));
		}
		if (part < thread_rows && row < s.rows && column + n < s.columns) y[ulong(column + n) * s.rows + row] = total[n];
	}
}

// words_of returns 16 bytes, which begin at an even place. If that is no multiple
// of four, the first two and the last two of count 16-bit words, as many as the
// block has, come last, for which column_of makes up.
static uint word_of(device const uchar *bytes, ulong at, uint k, uint words) {
	const ulong aligned = (at + 2) / 4 * 4;
	if (k + 1 < words) return *(device const uint *)(bytes + aligned + 4 * k);
	const ulong end = at + 4 * words;
	const ushort low = *(device const ushort *)(bytes + (aligned == at ? end - 4 : at)), high = *(device const ushort *)(bytes + end - 2);
	return uint(low) | uint(high) << 16;
}

// merge takes the codes of two words apart: low bits, or high bits, of the first
// in even places, of the second in odd ones.
static uint merge_low(uint a, uint b) { return (a & 0x55555555) | (b & 0x55555555) << 1; }
static uint merge_high(uint a, uint b) { return (a >> 1 & 0x55555555) | (b & 0xaaaaaaaa); }

// chunk_of returns the chunk of a row in the file's layout.
static Weights chunk_of(device const uchar *row, uint chunk) {
	uint words[8]; // four, of one bit
	if (block_columns == 0) {
		device const uint4 *at = (device const uint4 *)row + chunk * code_bits;
		for (uint b = 0; b < code_bits; b++)
			for (uint k = 0; k < 4; k++) words[4 * b + k] = at[b][k];
	} else {
		const uint block = min(block_columns, 128u), count = block * code_bits / 32; // words of a block
		for (uint k = 0; k < 4 * code_bits; k++) {
			const uint column = 128 * chunk + k / count * block;
			const uint at = column / block_columns * block_bytes + codes_at + column % block_columns * code_bits / 8;
			words[k] = word_of(row, at, k % count, count);
		}
	}
	Weights w;
	for (uint k = 0; k < 4; k++) {
		w.low[k] = code_bits == 1 ? words[k] : merge_low(words[2 * k], words[2 * k + 1]);
		w.high[k] = code_bits == 1 ? 0 : merge_high(words[2 * k], words[2 * k + 1]);
	}
	return w;
}

constexpr constant uint lanes_room = 2048; // 4 simdgroups · 4 rows · 32 threads · 4 pieces

// Weights are as the file has them: rows of a multiple of 4 bytes and of 128
// columns, and of 16 bytes where the tensor has one scale. No scale of activations
// is for fewer than 128 columns, and row_threads, a power of two, thread_rows at
// least and 32 at most, share a row, a unit each. Of a simdgroup, whose threads read
// what stands in a row in the file, 32/row_threads rows are side by side, and
// thread_rows times as many its own.
//
// Grid: threadgroups of whole simdgroups, 4 at most, of 32/row_threads·thread_rows
// rows each × tile_columns columns.
kernel void matvec_lanes(device const uchar *weights [[buffer(0)]],
                         device const uint4 *planes  [[buffer(2)]],
                         device const int4 *sums     [[buffer(3)]],
                         device const float *scales  [[buffer(4)]],
                         device float *y             [[buffer(5)]],
                         constant Shape &s           [[buffer(6)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint i      [[thread_index_in_threadgroup]],
                         uint2 size  [[threads_per_threadgroup]]) {
	threadgroup int all_rooms[lanes_room];
	threadgroup int *room = all_rooms + i / 32 * 512;
	const uint lane = i % 32, side = 32 / row_threads, simd_rows = side * thread_rows;
	const uint chunks = s.cols / 128, unit_chunks = chunks_of_unit(), units = chunks / unit_chunks;
	const uint pieces = pieces_of_chunk(), apart = s.stride / 128;
	const uint first = (group.x * (size.x / 32) + i / 32) * simd_rows, column = group.y * tile_columns;
	device const uchar *rows[most_rows];
	for (uint r = 0; r < thread_rows; r++)
		rows[r] = weights + ulong(min(first + r * side + lane / row_threads, s.rows - 1)) * s.row_bytes;
	int whole[most_columns][most_rows] = {};
	float total[most_columns] = {}; // of row lane
	for (uint from = 0; from < units; from += row_threads) {
		const uint unit = min(from + lane % row_threads, units - 1); // of which some take the last in vain
		Pieces sum[most_columns][most_rows] = {};
		for (uint chunk = unit * unit_chunks; chunk < (unit + 1) * unit_chunks; chunk++) {
			Weights w[most_rows];
			for (uint r = 0; r < thread_rows; r++) w[r] = chunk_of(rows[r], chunk);
			for (uint n = 0; n < tile_columns; n++) {
				const ulong at = ulong(min(column + n, s.columns - 1)) * apart;
				multiply(sum[n], w, planes + at * 8 + chunk, apart, sums[at + chunk]);
			}
		}
		for (uint n = 0; n < tile_columns; n++) {
			device const float *acts = scales + min(column + n, s.columns - 1) * s.groups;
			if (one_scale()) {
				if (from + lane % row_threads < units)
					for (uint r = 0; r < thread_rows; r++) whole[n][r] += sum[n][r].of[0];
				continue;
			}
			for (uint piece = 0; piece < pieces; piece++) {
				const uint k = 128 * unit * unit_chunks + 128 / pieces * piece;
				const float act = acts[act_columns == 0 ? 0 : k / act_columns];
				for (uint r = 0; r < thread_rows; r++) {
					const float weight = block_columns == 0 ? s.scale : float(*(device const half *)(rows[r] + k / block_columns * block_bytes + scale_at));
					room[(r * 32 + lane) * pieces + piece] = term_bits(weight, act, sum[n][r].of[piece]);
				}
			}
			simdgroup_barrier(mem_flags::mem_threadgroup);
			if (lane < simd_rows)
				for (uint k = 0; k < min(row_threads, units - from) * pieces; k++)
					total[n] = add_term(total[n], room[lane * row_threads * pieces + k]);
			simdgroup_barrier(mem_flags::mem_threadgroup);
		}
	}
	for (uint n = 0; n < tile_columns; n++) {
		if (one_scale()) {
			for (uint r = 0; r < thread_rows; r++) room[r * 32 + lane] = whole[n][r];
			simdgroup_barrier(mem_flags::mem_threadgroup);
			int sum = 0;
			if (lane < simd_rows)
				for (uint k = 0; k < row_threads; k++) sum += room[lane * row_threads + k];
			simdgroup_barrier(mem_flags::mem_threadgroup);
			total[n] = add_term(0, term_bits(s.scale, scales[min(column + n, s.columns - 1)], sum));
		}
		if (lane < simd_rows && first + lane < s.rows && column + n < s.columns) y[ulong(column + n) * s.rows + first + lane] = total[n];
	}
}

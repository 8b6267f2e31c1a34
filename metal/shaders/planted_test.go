package shaders

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// Each mistake is planted in a shader by itself, and each is found: by
// softmetal, which names kernel, thread and memory, or in the result.
func TestPlantedMistakes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a GPU does not look for mistakes")
	}
	const inResult = ""
	for _, m := range []struct {
		name, source, old, new string
		found                  string
		check                  func(t *testing.T, source string) error
	}{
		{"a row too far", "matvec", "codes[ulong(first + r) * chunks + chunk]", "codes[ulong(first + r + 1) * chunks + chunk]",
			"kernel matvec_simd, thread (0,0,0) of threadgroup (1,0,0) reads 16 bytes at offset 288 of buffer 0 (codes), which has 288 bytes", simdOfWords},
		{"rows behind the last", "matvec", "min(simd_rows, s.rows - first)", "simd_rows",
			"of buffer 0 (codes), which has 288 bytes", simdOfWords},
		{"activations at a wrong stride", "matvec", "q += ulong(group.y) * s.stride", "q += ulong(group.y) * s.cols",
			"kernel matvec_simd, thread (0,0,0) of threadgroup (0,1,0) reads 16 bytes, aligned to 16, at offset 70 of buffer 2 (q), which has 512 bytes", simdOfWords},
		{"bytes of a word reversed", "matvec", "span == 1 ? 2 * j : 8 * j", "span == 1 ? 2 * j : 24 - 8 * j", inResult, simdOfI2S},
		{"codes of a byte reversed", "matvec", "const uint shift = high_first ? 6 - 2 * piece : 2 * piece", "const uint shift = 2 * piece", inResult, simdOfI2S},
		{"lanes that overlap", "matvec", "chunk += 32", "chunk += 31", inResult, simdOfI2S},
		{"a sum of one lane", "matvec", "simd_sum(whole[r])", "whole[r]", inResult, simdOfI2S},
		{"lanes that leave early", "matvec", "int whole[simd_rows]", "if (lane >= chunks) return;\n\tint whole[simd_rows]",
			", and thread (2,0,0) has returned", simdOfWords},
		{"a missing barrier", "quantize", "largest[i] = most;\n\tthreadgroup_barrier(mem_flags::mem_threadgroup);", "largest[i] = most;",
			"kernel quantize, thread (0,0,0) of threadgroup (0,0,0) reads offset 128 of threadgroup memory largest, which no thread of it has written", quantized},
		{"a barrier for other memory", "quantize", "mem_threadgroup);\n\t}", "mem_device);\n\t}",
			"of threadgroup memory largest, which thread", quantized},
		{"a barrier that diverges", "quantize", "threadgroup_barrier(mem_flags::mem_threadgroup);\n\t}", "if (i < n) threadgroup_barrier(mem_flags::mem_threadgroup);\n\t}",
			"reads offset 0 of threadgroup memory largest, which thread (0,0,0) writes with no barrier between", quantized},
		{"no zeros behind a column", "quantize", "k < c.stride", "k < c.cols", inResult, quantized},
		{"a barrier missing at the end of a loop", "operations", "sums[i + n]);\n\t\tthreadgroup_barrier(mem_flags::mem_threadgroup);", "sums[i + n]);",
			"of threadgroup memory sums, which thread", normalized},
		{"a pair too far", "operations", "x[heads.apart] = b", "x[heads.apart + 1] = b",
			"kernel rotate, thread (1,0,0) of threadgroup (0,0,0) reads offset 16 of buffer 0 (x), which thread (0,0,0) of threadgroup (0,0,0) writes with no barrier between", rotated},
		{"a column that does not see itself", "attention", "attend_range(s, h, first_of(a, n), n, weights", "attend_range(s, h, first_of(a, n), n - 1, weights", inResult, attended},
		{"a wrong key head", "attention", "group.x / (a.heads / a.key_heads)", "group.x % a.key_heads", inResult, attended},
		{"a sum that is not scaled down", "attention", "s.sum = s.sum * shrink +", "s.sum = s.sum +", inResult, attended},
		{"a result overwritten while others read it", "attention", "const float result = room[0];\n\tthreadgroup_barrier(mem_flags::mem_threadgroup);", "const float result = room[0];",
			"of threadgroup memory room, which thread", attended},
		{"a part that is not scaled down", "attention", "outs[(first + p) * a.dim + at.x] * shrink", "outs[(first + p) * a.dim + at.x]", inResult, attended},
		{"a score before all have their part", "attention", "room[i] = part;\n\t\t\tsimdgroup_barrier(mem_flags::mem_threadgroup);", "room[i] = part;",
			"of threadgroup memory room, which", attended},
		{"a scale of the wrong block", "attention", "scales[at / 32]", "scales[at / 64]", inResult, attendedQ8},
		{"rounded by the scale as it is kept", "attention", "cache[to * 32 + k] = round_to_char(x[k], r.mul)", "cache[to * 32 + k] = round_to_char(x[k], 1 / r.scale)", inResult, attendedQ8},
		{"a tile too far", "planes", "codes + ((ulong(min(first + r, last))", "codes + ((ulong(first + r)",
			"of buffer 0 (codes), which has 24576 bytes", tilesOfTQ2},
		{"a unit twice", "planes", "if (from + part < units)", "if (from + part <= units)", inResult, tilesOfI2S},
		{"a room for both turns", "planes", "turn = 1 - turn;", "", "of threadgroup memory room, which thread", tilesOfTQ2},
		{"terms in another order", "planes", "room[(turn * most_parts + p)", "room[(turn * most_parts + min(parts, units - from) - 1 - p)", inResult, tilesOfTQ2},
		{"a sign that counts up", "planes", "p == 7 ? -n : n", "n", inResult, tilesOfTQ2},
		{"a high bit that counts once", "planes", "n += 2 * count(", "n += count(", inResult, tilesOfTQ2},
		{"a column that is multiplied not", "planes", "min(column + n, s.columns - 1)) * apart", "column) * apart", inResult, tilesOfTQ2},
		{"words of a block in their order", "planes", "if (byte % 4 != 0) at =", "if (byte % 4 == 1) at =", inResult, lanesOfTQ2},
		{"a word that is not aligned", "planes", "const ulong aligned = (at + 2) / 4 * 4", "const ulong aligned = at",
			"reads 4 bytes, aligned to 4, at offset 66 of buffer 0 (weights)", lanesOfTQ2},
		{"lanes that overwrite what others read", "planes", "room[lane * row_threads * pieces + k]);\n\t\t\tsimdgroup_barrier(mem_flags::mem_threadgroup);", "room[lane * row_threads * pieces + k]);",
			"of threadgroup memory all_rooms, which thread", lanesOfTQ2},
		{"sums in another order", "heads", "(parts[0] + parts[4]) + (parts[2] + parts[6])", "(parts[0] + parts[2]) + (parts[4] + parts[6])", inResult, denseOfF16},
		{"a row's sums before all are", "heads", "sum.of[n][r];\n\t\tthreadgroup_barrier(mem_flags::mem_threadgroup);", "sum.of[n][r];", "of threadgroup memory sums, which no thread of it has written", denseOfF16},
		{"a column behind the last", "heads", "ulong(min(column + n, d.columns - 1)) * (d.cols", "ulong(column + n) * (d.cols", "of buffer 1 (x), which has", denseOfF16},
		{"a row behind the last", "heads", "w[r] = four_of(weights, ulong(min(first + r * apart, d.rows - 1))", "w[r] = four_of(weights, ulong(first + r * apart)", "of buffer 0 (weights), which has", denseOfF16},
		{"the last of equals", "top", "ulong(~id)", "ulong(id)", inResult, topped},
		{"negative logits in their bits", "top", "? ~bits : bits | 0x80000000;", "? bits : bits | 0x80000000;", inResult, topped},
		{"a zero below a zero", "top", "else if (bits == 0x80000000) bits = 0;", "", inResult, topped},
		{"the best over and over", "top", "if (mine == best && best != 0) mine = best_below(source, best, from", "if (mine == best && best == 0) mine = best_below(source, best, from", inResult, topped},
		{"a byte that is not times 256", "bytes", "(high & 0xff00) | leading_bits) - (leading + 256 * bias)", "(high & 0xff00) | leading_bits) - (leading + bias)", inResult, bytesOfQ8},
		{"a group behind the last", "bytes", "groups - from * 4", "(units - from) * 4", inResult, bytesOfQ8},
		{"a column of activations behind the last", "bytes", "min(column + n, s.columns - 1)", "column + n", "of buffer 2 (q), which has", bytesOfQ8},
		{"a column's sums where a row's are", "bytes", "(n * thread_rows + r) * 32", "(r * tile_columns + n) * 32", inResult, bytesOfQ8},
		{"a high nibble of the next column", "bytes", "part * 4)) & 0x0f", "(1 - part) * 4)) & 0x0f", inResult, bytesOfQ4},
		{"an offset of another group", "heads", "offset = head[2] >> byte", "offset = head[2] >> (8 * (group / 2))", inResult, denseOfQ4K},
		{"numbers of a group before they are there", "heads", "q4_numbers(blocks[r], lane);\n\t\t\t}\n\t\t\tsimdgroup_barrier(mem_flags::mem_threadgroup);", "q4_numbers(blocks[r], lane);\n\t\t\t}", "of threadgroup memory sums, which", denseOfQ4K},
		{"numbers of the next block while others multiply", "heads", "simdgroup_barrier(mem_flags::mem_threadgroup); // before the next block's numbers", "", "of threadgroup memory sums, which", denseOfQ4K},
		{"a step without its high bits", "heads", "(low & 15) | (step >> 2 & 48)", "low & 15", inResult, denseOfQ4K},
		{"sums where others have numbers", "heads", "threadgroup_barrier(mem_flags::mem_threadgroup); // before sums", "// before sums", "of threadgroup memory sums, which", denseOfQ4K},
		{"the last of equal experts", "experts", "o < e) ? 1 : 0", "o > e) ? 1 : 0", inResult, expertsRouted},
		{"numbers of experts before all are there", "experts", "if (rank < r.used) numbers[rank] = e;\n\t}\n\tthreadgroup_barrier(mem_flags::mem_threadgroup);", "if (rank < r.used) numbers[rank] = e;\n\t}", "of threadgroup memory numbers, which", expertsRouted},
		{"weights of the experts' numbers", "experts", "chosen[(2 * at.y + 1) * c.used + k]", "chosen[2 * at.y * c.used + k]", inResult, expertsCombined},
		{"activations of another expert", "matvec", "column = at.y / c.share", "column = at.y / c.used", inResult, expertsOfTQ2},
		{"rows of the expert before", "matvec", "(ulong(expert) * s.rows + at.x)", "(ulong(expert) * (s.rows - 1) + at.x)", inResult, expertsOfTQ2},
		{"a window that is one short", "attention", "n > a.window ? n - a.window : 0", "n > a.window ? n - a.window + 1 : 0", inResult, attendedInWindow},
		{"scales of the other half", "bytes", "unit % 2 * 8 + group * 2 + part", "group * 2 + part", inResult, bytesOfQ6},
		{"high bits of another group", "bytes", ">> (group * 2)", ">> (group % 2 * 2)", inResult, bytesOfQ6},
		{"signs of another block", "hadamard", "x[from] * signs[first + k]", "x[from] * signs[k]", inResult, hadamarded},
		{"an order that is not taken", "hadamard", "run % r.rows * cols + run / r.rows", "run % cols * r.rows + run / cols", inResult, hadamarded},
		{"differences the other way", "hadamard", "= a - b", "= b - a", inResult, hadamarded},
		{"a step before the last ends", "hadamard", "\t\tthreadgroup_barrier(mem_flags::mem_threadgroup);", "", "of threadgroup memory values, which", hadamarded},
		{"one value too many", "operations", "if (i < n) x[i] += y[i]", "if (i <= n) x[i] += y[i]",
			"kernel add, thread (5,0,0) of threadgroup (0,0,0) reads 4 bytes at offset 20 of buffer", added},
	} {
		t.Run(m.name, func(t *testing.T) {
			if err := m.check(t, sources[m.source]); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := m.check(t, plant(t, m.source, m.old, m.new)); err == nil || !strings.Contains(err.Error(), m.found) {
				t.Errorf("found %v, want %q", err, m.found)
			}
		})
	}
}

// plant returns a source with a mistake in place of what is right.
func plant(t *testing.T, source, right, wrong string) string {
	t.Helper()
	planted := strings.Replace(sources[source], right, wrong, 1)
	if planted == sources[source] {
		t.Fatal("the shader has no place for it")
	}
	return planted
}

func simdOfWords(t *testing.T, source string) error {
	return simdProduct(t, source, formats.Ternary_u32, 9, 70)
}
func simdOfI2S(t *testing.T, source string) error {
	return simdProduct(t, source, formats.I2_S, 2, 4352)
}

func simdProduct(t *testing.T, source string, format *formats.Type, rows, cols int) error {
	rng := rand.New(rand.NewPCG(1, 2))
	p := newProduct(t, kerneltest.Tensor(t, format, rows, cols, rng), kernels.Q8Row, normal(rng, 2*cols), 2)
	got, err := p.simd(compile(t, source, p.codes.Constants()), 2)
	if err != nil {
		return err
	}
	return kerneltest.Same(got, p.want)
}

func quantized(t *testing.T, source string) error {
	l := compile(t, source, map[int]any{0: uint32(1)})
	return checkQuantize(l, kernels.Q8Per128, normal(rand.New(rand.NewPCG(1, 3)), 2*130), 130)
}

func normalized(t *testing.T, source string) error {
	return normalize(compile(t, source, nil), normal(rand.New(rand.NewPCG(1, 4)), 130), normal(rand.New(rand.NewPCG(1, 5)), 130), 1e-6)
}

func rotated(t *testing.T, source string) error {
	return rotate(compile(t, source, nil), []float32{1, 2, 3, 4, 5, 6}, [][2]float32{{1, 0}, {1, 0}, {1, 0}}, 1, 6, 3, false)
}

func attended(t *testing.T, source string) error {
	return attentionShape{Heads: 4, KeyHeads: 2, Dim: 6, Position: 40}.check(compile(t, source, cacheConstants(t, formats.F16)), formats.F16)
}

func added(t *testing.T, source string) error {
	x := []float32{1, 2, 3, 4, 5}
	if err := vectors(compile(t, source, nil), "add", x, x[:5:5]); err != nil {
		return err
	}
	if x[4] != 10 {
		return errors.New("5 + 5 is not 10")
	}
	return nil
}

func tilesOfTQ2(t *testing.T, source string) error { return tilesOf(t, source, formats.TQ2_0) }
func tilesOfI2S(t *testing.T, source string) error { return tilesOf(t, source, formats.I2_S) }

// tilesOf has an odd tile, units that do not fill the last turn, and a column that
// fills no tile of them.
func tilesOf(t *testing.T, source string, format *formats.Type) error {
	const rows, cols, n = 70, 1024, 3
	rng := rand.New(rand.NewPCG(5, 2))
	p := newProduct(t, kerneltest.Tensor(t, format, rows, cols, rng), kernels.Q8Row, normal(rng, n*cols), n)
	got, err := p.tiles(t, source, Cut{Columns: 2, Rows: 2, Threads: 32}, 3)
	if err != nil {
		return err
	}
	return kerneltest.Same(got, p.want)
}

func lanesOfTQ2(t *testing.T, source string) error {
	const rows, cols = 9, 1536
	rng := rand.New(rand.NewPCG(5, 3))
	p := newProduct(t, kerneltest.Tensor(t, formats.TQ2_0, rows, cols, rng), kernels.Q8Row, normal(rng, cols), 1)
	got, err := p.lanes(t, source, Cut{InFile: true, Columns: 1, Rows: 4, Threads: 4}, 2)
	if err != nil {
		return err
	}
	return kerneltest.Same(got, p.want)
}

func denseOfF16(t *testing.T, source string) error {
	return denseProduct(t, source, formats.F16, 9, 132, 3, 2)
}

func topped(t *testing.T, source string) error {
	l, rng := compile(t, source, nil), rand.New(rand.NewPCG(5, 4))
	return errors.Join(checkTop(l, tied(rng, 300), 200, 64), checkTop(l, normal(rng, 300), 200, 5))
}

func attendedQ8(t *testing.T, source string) error {
	return attentionShape{Heads: 4, KeyHeads: 2, Dim: 32, Position: 40}.check(compile(t, source, cacheConstants(t, formats.Q8_0)), formats.Q8_0)
}

func hadamarded(t *testing.T, source string) error {
	return rotation{Width: 192, Block: 64, Rows: 4, Run: 16}.check(compile(t, source, nil))
}

func bytesOfQ8(t *testing.T, source string) error {
	return bytesProduct(t, source, formats.Q8_0, kernels.Q8Per32, 160, ByteCut{4, 2, 4})
}
func bytesOfQ4(t *testing.T, source string) error {
	return bytesProduct(t, source, formats.Q4_0, kernels.Q8Per32, 160, ByteCut{4, 1, 4})
}
func expertsRouted(t *testing.T, source string) error   { return routed(t, compile(t, source, nil)) }
func expertsCombined(t *testing.T, source string) error { return combined(compile(t, source, nil)) }
func expertsOfTQ2(t *testing.T, source string) error {
	return errors.Join(expertProduct(t, source, formats.TQ2_0, 9, 256, true), expertProduct(t, source, formats.TQ2_0, 9, 256, false))
}
func attendedInWindow(t *testing.T, source string) error {
	return attentionShape{Heads: 4, KeyHeads: 2, Dim: 6, Position: 40, Window: 7}.check(compile(t, source, cacheConstants(t, formats.F16)), formats.F16)
}
func denseOfQ4K(t *testing.T, source string) error {
	return denseProduct(t, source, formats.Q4_K, 9, 512, 3, 2)
}
func bytesOfQ6(t *testing.T, source string) error {
	return bytesProduct(t, source, formats.Q6_K, kernels.Q8Per32, 512, ByteCut{4, 1, 4})
}

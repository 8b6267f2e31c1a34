// Package attention generates the products of attention: many queries with
// the keys of a tile, and the weights of many queries with its values.
package attention

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	group     = 8   // positions whose keys lie together
	chunk     = 16  // terms of a score that are added up apart
	rowStride = 512 // bytes from a query's scores to the next one's
	fetchRows = 4   // more than so many are computed for longer than memory takes
)

// Generate writes all functions of attention_amd64.s.
func Generate(p *asm.Program) {
	declareConstants(p)
	p.Declare("attention", append(append(softenConstants, asm.ExpConstants...), asm.One)...)
	wide := target{p, "AVX512", 16, p.ZMM}
	wide.scores(12, 2, wide.floats())
	wide.scores(4, 2, wide.floats())
	wide.scores(2, 2, wide.floats())
	wide.scores(1, 2, wide.floats())
	wide.weighted(12, 2, wide.floats())
	wide.weighted(12, 1, wide.floats())
	wide.weighted(4, 4, wide.floats())
	wide.weighted(4, 1, wide.floats())
	wide.weighted(2, 4, wide.floats())
	wide.weighted(1, 4, wide.floats())
	for _, rows := range []int{4, 2, 1} {
		wide.weighted(rows, 4, wide.halves())
	}
	wide.blend()
	wide.exp()
	wide.soften()
	wide.roundCodes()
	for _, rows := range []int{12, 4, 2, 1} {
		wide.addValues(rows, wide.plainPair)
	}
	vnni := target{p, "AVX512VNNI", 16, p.ZMM}
	for _, rows := range []int{6, 2, 1} {
		vnni.scoresQ8(rows, 2, vnni.biased())
	}
	for _, rows := range []int{12, 4, 2, 1} {
		vnni.addValues(rows, vnni.fusedPair)
	}
	narrow := target{p, "AVX2", 8, p.YMM}
	narrow.scores(6, 2, narrow.floats())
	narrow.scores(2, 4, narrow.floats())
	narrow.scores(1, 4, narrow.floats())
	narrow.weighted(6, 2, narrow.floats())
	narrow.weighted(2, 4, narrow.floats())
	narrow.weighted(2, 2, narrow.floats())
	narrow.weighted(1, 2, narrow.floats())
	narrow.scores(4, 2, narrow.halves())
	narrow.scores(2, 4, narrow.halves())
	narrow.scores(1, 4, narrow.halves())
	for _, rows := range []int{4, 2, 1} {
		narrow.weighted(rows, 2, narrow.halves())
	}
	narrow.blend()
	for _, rows := range []int{2, 1} {
		narrow.scoresQ8(rows, 2, narrow.signed())
	}
	narrow.soften()
	narrow.roundCodes()
	for _, rows := range []int{6, 2, 1} {
		narrow.addValues(rows, narrow.plainPair)
	}
	narrow.greatest()
	narrow.unpackQ4()
	narrow.unpackPairs()
}

// target is what the instruction sets differ in.
type target struct {
	*asm.Program
	isa      string
	lanes    int
	register func() reg.VecVirtual
}

// numbers are what keys and values are kept in.
type numbers struct {
	name, at string // of a kernel, and of the function that reads one in its specification
	bytes    int
	load     func(m operand.Mem, out reg.VecVirtual)
}

func (t target) floats() numbers {
	return numbers{"", "float32At", 4, func(m operand.Mem, out reg.VecVirtual) { t.VMOVUPS(m, out) }}
}

func (t target) halves() numbers {
	return numbers{"F16x", "fp16At", 2, func(m operand.Mem, out reg.VecVirtual) { t.VCVTPH2PS(m, out) }}
}

// tile returns registers for rows × vectors.
func (t target) tile(rows, vectors int) [][]reg.VecVirtual {
	out := make([][]reg.VecVirtual, rows)
	for r := range out {
		for range vectors {
			out[r] = append(out[r], t.register())
		}
	}
	return out
}

// each calls f for every register of a tile, with the displacement of its
// numbers from its row.
func (t target) each(tile [][]reg.VecVirtual, f func(row, disp int, v reg.VecVirtual)) {
	for r := range tile {
		for i, v := range tile[r] {
			f(r, 4*t.lanes*i, v)
		}
	}
}

// A fetcher fetches what is ahead, where there are so few rows that memory takes the
// time.
type fetcher struct {
	ahead, step reg.Register
}

// fetcher loads one from the arguments; nil: there are too many rows.
func (t target) fetcher(rows int) *fetcher {
	if rows > fetchRows {
		return nil
	}
	return &fetcher{t.Load(t.Param("ahead"), t.GP64()), t.Load(t.Param("step"), t.GP64())}
}

// fetch fetches so many bytes ahead, into level 2: docs/measurements/attention.md.
func (t target) fetch(f *fetcher, bytes int) {
	if f == nil {
		return
	}
	for _, m := range asm.Lines(asm.At(f.ahead, 0), bytes) {
		t.PREFETCHT1(m)
	}
}

// fetchPart fetches so many bytes ahead and goes on behind them.
func (t target) fetchPart(f *fetcher, bytes int) {
	t.fetch(f, bytes)
	if f != nil {
		t.ADDQ(operand.U32(bytes), f.ahead)
	}
}

// step goes on to what is next.
func (t target) step(f *fetcher) {
	if f != nil {
		t.ADDQ(f.step, f.ahead)
	}
}

// multiply adds the products of a row's number, at x, with vectors.
func (t target) multiply(acc, vectors []reg.VecVirtual, x operand.Mem) {
	b := t.register()
	t.VBROADCASTSS(x, b)
	for i, v := range vectors {
		t.VFMADD231PS(v, b, acc[i])
	}
}

// groups are the addresses of the groups of so many positions' keys, of which
// the first is loaded.
func (t target) groups(bytes reg.GPVirtual, positions int) asm.Rows {
	keys := t.Rows(t.Stride(bytes), (positions/group+3)/4)
	t.Load(t.Param("keys"), keys.Fourth[0])
	return keys
}

// gather loads what vector v of the positions has at disp from its groups: a group's
// numbers from each, of four bytes if there are two.
func (t target) gather(keys asm.Rows, v, disp int, n numbers) reg.VecVirtual {
	out := t.register()
	if t.lanes == group {
		n.load(keys.At(v, disp), out)
		return out
	}
	t.VBROADCASTF64X4(keys.At(2*v+1, disp), out)
	t.VINSERTF64X4(operand.U8(0), keys.At(2*v, disp), out, out)
	return out
}

// nextGroups goes on to the next positions, from the second group on.
func (t target) nextGroups(keys asm.Rows, positions int) {
	for range positions/group - 1 {
		t.ADDQ(keys.One, keys.Fourth[0])
	}
}

func (t target) scores(rows, vectors int, n numbers) {
	positions := vectors * t.lanes
	name := fmt.Sprintf("scores%s%dx%d%s", n.name, rows, positions, t.isa)
	t.Func(name, "func(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)",
		fmt.Sprintf("%s multiplies %d queries, a multiple of 16 wide, with the keys of", name, rows),
		fmt.Sprintf("%d · tiles positions. While it works it fetches what is ahead, step bytes for every 16 terms.", positions),
		"",
		fmt.Sprintf("\tfor r := range %d {", rows),
		fmt.Sprintf("\t\tfor t := range %d * tiles {", positions),
		"\t\t\tdst[128*r+t] = 0",
		"\t\t\tfor from := 0; from < width; from += 16 {",
		"\t\t\t\tvar sum float32",
		"\t\t\t\tfor k := from; k < from+16; k++ {",
		fmt.Sprintf("\t\t\t\t\tsum = fma(q[width*r+k], %s(keys, %d*(t/8*8*width+8*k+t%%8)), sum)", n.at, n.bytes),
		"\t\t\t\t}",
		"\t\t\t\tdst[128*r+t] += sum",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	terms := 2 // that are written out
	if rows <= fetchRows {
		terms = 4
	}
	dst := t.Load(t.Param("dst"), t.GP64())
	ahead := t.fetcher(rows)
	if ahead != nil {
		t.SUBQ(operand.U32(positions*chunk*n.bytes), ahead.step) // by which fetchPart has gone on
	}
	width, groupBytes := t.Load(t.Param("width"), t.GP64()), t.GP64()
	t.IMUL3Q(operand.U32(group*n.bytes), width, groupBytes)
	t.SHLQ(operand.U8(2), width)
	keys := t.groups(groupBytes, positions)
	queries := t.Rows(t.Stride(width), (rows+3)/4)

	t.Label("tile")
	left := t.GP64()
	t.Load(t.Param("q"), queries.Fourth[0])
	t.StartRows(queries)
	t.StartRows(keys)
	acc := t.tile(rows, vectors)
	zero := t.register()
	t.VXORPS(zero.AsX(), zero.AsX(), zero.AsX())
	t.each(acc, func(row, disp int, _ reg.VecVirtual) { t.VMOVUPS(zero, asm.At(dst, rowStride*row+disp)) })
	t.MOVQ(width, left)

	t.Label("chunk")
	for r := range acc {
		for _, v := range acc[r] {
			t.Clear(v)
		}
	}
	t.Label("terms")
	t.fetchPart(ahead, positions*terms*n.bytes)
	for k := range terms {
		var key []reg.VecVirtual
		for v := range vectors {
			key = append(key, t.gather(keys, v, group*n.bytes*k, n))
		}
		for r := range rows {
			t.multiply(acc[r], key, queries.At(r, 4*k))
		}
	}
	t.Advance(keys, operand.U32(group*terms*n.bytes))
	t.Advance(queries, operand.U32(4*terms))
	t.SUBQ(operand.U32(4*terms), left)
	t.TESTQ(operand.U32(4*chunk-1), left)
	t.JNZ(operand.LabelRef("terms"))
	t.each(acc, func(row, disp int, v reg.VecVirtual) {
		t.VADDPS(asm.At(dst, rowStride*row+disp), v, v)
		t.VMOVUPS(v, asm.At(dst, rowStride*row+disp))
	})
	t.step(ahead)
	t.TESTQ(left, left)
	t.JNZ(operand.LabelRef("chunk"))

	t.nextGroups(keys, positions)
	t.ADDQ(operand.U32(4*positions), dst)
	tiles := t.Argument("tiles")
	t.DECQ(tiles)
	t.JNZ(operand.LabelRef("tile"))
	t.VZEROUPPER()
	t.RET()
}

func (t target) weighted(rows, vectors int, n numbers) {
	columns := vectors * t.lanes
	name := fmt.Sprintf("weighted%s%dx%d%s", n.name, rows, columns, t.isa)
	t.Func(name, "func(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)",
		fmt.Sprintf("%s adds to the first %d · tiles columns of %d rows the values of", name, columns, rows),
		"positions, each times its weight. While it works it fetches what is ahead.",
		"",
		fmt.Sprintf("\tfor r := range %d {", rows),
		"\t\tfor t := range positions {",
		fmt.Sprintf("\t\t\tfor d := range %d * tiles {", columns),
		fmt.Sprintf("\t\t\t\tdst[width*r+d] = fma(weights[128*r+t], %s(values, %d*(width*t+d)), dst[width*r+d])", n.at, n.bytes),
		"\t\t\t}",
		"\t\t}",
		"\t}")
	values := t.Load(t.Param("values"), t.GP64())
	ahead := t.fetcher(rows)
	width, rowBytes := t.Load(t.Param("width"), t.GP64()), t.GP64()
	t.IMUL3Q(operand.U32(n.bytes), width, rowBytes)
	t.SHLQ(operand.U8(2), width)
	out := t.Rows(t.Stride(width), (rows+3)/4)
	t.Load(t.Param("dst"), out.Fourth[0])
	t.StartRows(out)

	t.Label("tile")
	weights, value, left := t.GP64(), t.GP64(), t.GP64()
	t.Load(t.Param("weights"), weights)
	t.Load(t.Param("positions"), left)
	t.MOVQ(values, value)
	acc := t.tile(rows, vectors)
	t.each(acc, func(row, disp int, v reg.VecVirtual) { t.VMOVUPS(out.At(row, disp), v) })

	t.Label("position")
	t.fetch(ahead, columns*n.bytes)
	t.step(ahead)
	var v []reg.VecVirtual
	for i := range vectors {
		v = append(v, t.register())
		n.load(asm.At(value, n.bytes*t.lanes*i), v[i])
	}
	for r := range rows {
		t.multiply(acc[r], v, asm.At(weights, rowStride*r))
	}
	t.ADDQ(operand.U8(4), weights)
	t.ADDQ(rowBytes, value)
	t.DECQ(left)
	t.JNZ(operand.LabelRef("position"))

	t.each(acc, func(row, disp int, v reg.VecVirtual) { t.VMOVUPS(v, out.At(row, disp)) })
	t.Advance(out, operand.U32(4*columns))
	t.ADDQ(operand.U32(n.bytes*columns), values)
	tiles := t.Argument("tiles")
	t.DECQ(tiles)
	t.JNZ(operand.LabelRef("tile"))
	t.VZEROUPPER()
	t.RET()
}

func (t target) blend() {
	name := "blend" + t.isa
	t.Func(name, "func(dst, x *float32, n int, by float32)",
		fmt.Sprintf("%s does n numbers, a multiple of %d.", name, t.lanes),
		"",
		"\tfor i := range n {",
		"\t\tdst[i] = fma(dst[i], by, x[i])",
		"\t}")
	dst, x, n := t.Load(t.Param("dst"), t.GP64()), t.Load(t.Param("x"), t.GP64()), t.Load(t.Param("n"), t.GP64())
	by := t.register()
	t.VBROADCASTSS(t.Argument("by"), by)
	t.Label("next")
	v := t.register()
	t.VMOVUPS(asm.At(dst, 0), v)
	t.VFMADD213PS(asm.At(x, 0), by, v)
	t.VMOVUPS(v, asm.At(dst, 0))
	t.ADDQ(operand.U32(4*t.lanes), dst)
	t.ADDQ(operand.U32(4*t.lanes), x)
	t.SUBQ(operand.U32(t.lanes), n)
	t.JNZ(operand.LabelRef("next"))
	t.VZEROUPPER()
	t.RET()
}

// exp is written for ZMM registers: sums are in the eight lanes of one.
func (t target) exp() {
	t.Func("exp"+t.isa, "func(sum *float64, x *float32, n int, top, scale float32)",
		"exp"+t.isa+" does n numbers, a multiple of 16.",
		"",
		"\tfor i := range n {",
		"\t\tx[i] = math32.Exp((x[i] - top) * scale)",
		"\t\tsum[i%8] += float64(x[i])",
		"\t}")
	sum, x := t.Load(t.Param("sum"), t.GP64()), t.Load(t.Param("x"), t.GP64())
	n := t.Load(t.Param("n"), t.GP64())
	top, scale, lanes := t.register(), t.register(), t.register()
	t.VBROADCASTSS(t.Argument("top"), top)
	t.VBROADCASTSS(t.Argument("scale"), scale)
	t.VMOVUPD(asm.At(sum, 0), lanes)
	t.Label("next")
	v, part, wide := t.register(), t.YMM(), t.register()
	t.VMOVUPS(asm.At(x, 0), v)
	t.VSUBPS(top, v, v)
	t.VMULPS(scale, v, v)
	t.Exp("attention", v)
	t.VMOVUPS(v, asm.At(x, 0))
	t.VCVTPS2PD(v.AsY(), wide)
	t.VADDPD(wide, lanes, lanes)
	t.VEXTRACTF32X8(operand.U8(1), v, part)
	t.VCVTPS2PD(part, wide)
	t.VADDPD(wide, lanes, lanes)
	t.ADDQ(operand.U32(4*t.lanes), x)
	t.SUBQ(operand.U32(t.lanes), n)
	t.JNZ(operand.LabelRef("next"))
	t.VMOVUPD(lanes, asm.At(sum, 0))
	t.VZEROUPPER()
	t.RET()
}

//go:build !purego && (amd64 || arm64)

package cpu

import "unsafe"

// attentionSIMD is the assembly of attention for an instruction set. Kernels of
// more rows come first, the last are of one row.
type attentionSIMD struct {
	scoreTiles   []scoreTile
	weightTiles  []weightTile
	blendLanes   int
	blendNumbers func(dst, x *float32, n int, by float32)
	// Of few rows with keys and values in fp16; nil: they are decoded first.
	halfScoreTiles  []scoreTile
	halfWeightTiles []weightTile
	int8SIMD
}

// int8SIMD is that of attention over int8.
type int8SIMD struct {
	q8Tiles       []q8Tile
	valueTiles    []valueTile
	softenTiles   func(scores, tops, sums *float32, rows int, scale float32)
	roundCodes    func(dst *int16, weights, scales, factors *float32, rows, blocks, stride int)
	greatestScale func(halves *byte) uint64
	unpackKeys    func(dst, src *byte, blocks int)
	unpackValues  func(dst, src *byte, width, quads int)
}

// A scoreTile multiplies so many queries with the keys of so many positions at
// a time.
type scoreTile struct {
	rows, positions int
	run             func(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)
}

// A q8Tile is a scoreTile of queries in int8 and keys in q8_0.
type q8Tile struct {
	rows, positions int
	run             func(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)
}

// A valueTile adds up the values of so many rows, so many columns at a time.
type valueTile struct {
	rows, columns int
	run           func(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)
}

// A weightTile does so many columns of so many rows at a time.
type weightTile struct {
	rows, columns int
	run           func(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)
}

func (a *attentionSIMD) scores(dst, q, keys []float32, width, positions int, ahead []byte) {
	if width%16 != 0 || width == 0 || positions == 0 {
		scoresScalar(dst, q, keys, width, positions)
		return
	}
	scoresBy(a.scoreTiles, dst, q, bytesOf(keys), 4*len(keys), 4, width, positions, ahead)
}

// scoresF16 is scores with keys in fp16, of a width that is a multiple of 16.
func (a *attentionSIMD) scoresF16(dst, q []float32, keys []byte, width, positions int, ahead []byte) {
	scoresBy(a.halfScoreTiles, dst, q, &keys[0], len(keys), 2, width, positions, ahead)
}

// scoresBy goes through queries by tiles, with keys of so many bytes, each number
// of them some.
func scoresBy(kernels []scoreTile, dst, q []float32, keys *byte, size, number, width, positions int, ahead []byte) {
	for len(q) > 0 {
		tile := kernels[0]
		for i := 1; tile.rows*width > len(q); i++ {
			tile = kernels[i]
		}
		tiles := (positions + tile.positions - 1) / tile.positions
		_ = dst[(tile.rows-1)*cacheTile+tiles*tile.positions-1]
		if tiles*tile.positions*width*number > size {
			panic("cpu: fewer keys than a kernel reads")
		}
		from, step := paced(ahead, keys, tiles*width/16)
		tile.run(&dst[0], &q[0], keys, width, tiles, from, step)
		if q, ahead = q[tile.rows*width:], nil; len(q) > 0 {
			dst = dst[tile.rows*cacheTile:]
		}
	}
}

func (a *attentionSIMD) weighted(dst, weights, values []float32, width, positions int, ahead []byte) {
	if positions == 0 {
		return
	}
	values = values[:positions*width]
	for len(dst) > 0 {
		rows, done := weighBy(a.weightTiles, dst, weights, bytesOf(values), 4, width, positions, ahead)
		if done < width {
			weightedScalar(dst[:rows*width], weights, values, width, positions, done)
		}
		ahead = nil
		if dst = dst[rows*width:]; len(dst) > 0 {
			weights = weights[rows*cacheTile:]
		}
	}
}

// weightedF16 is weighted with values in fp16, of a width that is a multiple of 16.
func (a *attentionSIMD) weightedF16(dst, weights []float32, values []byte, width, positions int, ahead []byte) {
	values = values[:2*positions*width]
	for len(dst) > 0 {
		rows, _ := weighBy(a.halfWeightTiles, dst, weights, &values[0], 2, width, positions, ahead)
		ahead = nil
		if dst = dst[rows*width:]; len(dst) > 0 {
			weights = weights[rows*cacheTile:]
		}
	}
}

// weighBy does the first rows, as many as a tile has, and returns how many, and
// how many columns of them it has done. A number of values has so many bytes.
func weighBy(tiles []weightTile, dst, weights []float32, values *byte, number, width, positions int, ahead []byte) (rows, done int) {
	for _, tile := range tiles {
		if rows == 0 && tile.rows*width <= len(dst) {
			rows = tile.rows
		}
		if n := (width - done) / tile.columns; tile.rows == rows && n > 0 {
			from, step := paced(ahead, values, n*positions)
			_ = weights[(rows-1)*cacheTile+positions-1]
			tile.run(&dst[done], &weights[0], (*byte)(unsafe.Add(unsafe.Pointer(values), done*number)), positions, width, n, from, step)
			done, ahead = done+n*tile.columns, nil
		}
	}
	return rows, done
}

// paced returns where a kernel begins to fetch what is ahead, and how far it goes on
// in each of so many steps: without anything, it stays where it does no harm.
func paced(ahead []byte, read *byte, steps int) (from *byte, step int) {
	if len(ahead) == 0 || steps == 0 {
		return read, 0
	}
	return &ahead[0], (len(ahead) + steps - 1) / steps
}

func (a *attentionSIMD) blend(dst, x []float32, by float32) {
	n := len(dst) / a.blendLanes * a.blendLanes
	if n > 0 {
		x = x[:len(dst)]
		a.blendNumbers(&dst[0], &x[0], n, by)
	}
	blendScalar(dst[n:], x[n:], by)
}

func (a *attentionSIMD) scoresQ8(dst []float32, q, keys []byte, blocks, positions int, ahead []byte) {
	row := blocks * queryBytes
	for len(q) > 0 {
		tile := a.q8Tiles[0]
		for i := 1; tile.rows*row > len(q); i++ {
			tile = a.q8Tiles[i]
		}
		tiles := (positions + tile.positions - 1) / tile.positions
		_ = dst[(tile.rows-1)*cacheTile+tiles*tile.positions-1]
		_ = keys[tiles*tile.positions*blocks*q8Bytes-1]
		from, step := paced(ahead, &keys[0], tiles*blocks)
		tile.run(&dst[0], &q[0], &keys[0], blocks, tiles, from, step)
		if q, ahead = q[tile.rows*row:], nil; len(q) > 0 {
			dst = dst[tile.rows*cacheTile:]
		}
	}
}

func (a *int8SIMD) soften(scores, tops, sums []float32, scale float32) {
	rows := len(tops)
	if rows == 0 {
		return
	}
	_, _ = scores[rows*cacheTile-1], sums[rows-1]
	a.softenTiles(&scores[0], &tops[0], &sums[0], rows, scale)
}

func (a *int8SIMD) weigh(w *weighing) {
	eights := roundUp(w.positions, keyGroup) / keyGroup
	if eights == 0 {
		return
	}
	_, _ = w.values[eights*keyGroup*w.blocks*q8Len-1], w.scales[w.blocks*cacheTile-1]
	ahead := w.ahead
	for r, rows := 0, 0; r < len(w.parts); r, ahead = r+rows, nil {
		tile := a.valueTiles[0]
		for i := 1; tile.rows > len(w.parts)-r; i++ {
			tile = a.valueTiles[i]
		}
		rows = tile.rows
		weights, answers := w.weights[r*cacheTile:][:rows*cacheTile], w.answers[r*w.blocks*q8Len:][:rows*w.blocks*q8Len]
		factors, units, codes := w.factors[r*w.stride:], w.units[r*w.stride:], w.codes[:rows*w.blocks*cacheTile]
		_, _ = factors[(rows-1)*w.stride+w.blocks-1], units[(rows-1)*w.stride+w.blocks-1]
		a.roundCodes(&codes[0], &weights[0], &w.scales[0], &factors[0], rows, w.blocks, w.stride)
		from, step := paced(ahead, &w.values[0], w.blocks*q8Len/tile.columns*eights)
		tile.run(&answers[0], &codes[0], &w.values[0], &w.by[r], &w.parts[r], &units[0], eights, w.blocks, w.stride, from, step)
	}
}

func (a *int8SIMD) greatest(halves []byte) uint16 {
	return uint16(a.greatestScale(&halves[:2*cacheTile][0]))
}

func (a *int8SIMD) unpackQ4(dst, src []byte, blocks int) {
	_, _ = dst[blocks*keyGroup*q8Bytes-1], src[blocks*keyGroup*q4Bytes-1]
	a.unpackKeys(&dst[0], &src[0], blocks)
}

func (a *int8SIMD) unpackPairs(dst, src []byte, width int) {
	quads := len(src) / (2 * width)
	_ = dst[quads*4*width-1]
	a.unpackValues(&dst[0], &src[0], width, quads)
}

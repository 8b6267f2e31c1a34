package lm

import (
	"math"

	"onebit/internal/aligned"
	"onebit/kernels/dense"
	"onebit/kernels/vectors"
	"onebit/models/train"
)

// An attention is causal and of grouped queries: query head h of token t gives
//
//	Σ_{u≤t} softmax_u(q_h(t)·k_j(u)/√d)·v_j(u)    with j = ⌊h·kvHeads/heads⌋
//
// Rows are whole windows: q has heads · width columns, k and v kvHeads · width.
// Products are made in tiles of rows, without those that lie above the diagonal.
type attention struct {
	build          *train.Builder
	loops          *vectors.Variant
	heads, kvHeads int
	width          int // of a head
	length         int // of a window

	q, k, v       []float32 // the caller's
	p, dp         []float32 // [window][head][row][column]: softmax, and its gradient
	y, gq, gk, gv []float32
}

// attentionTile is how many rows a product has.
const attentionTile = 128

// a head of a window.
type place struct{ window, head int }

// places returns every head of every window.
func (a *attention) places(heads int) []place {
	var out []place
	for w := range len(a.q) / (a.length * a.heads * a.width) {
		for h := range heads {
			out = append(out, place{w, h})
		}
	}
	return out
}

// rows is the length × width matrix of a head in x, whose rows have so many heads.
func (a *attention) rows(x []float32, at place, heads int) dense.Matrix {
	row := heads * a.width
	from := at.window*a.length*row + at.head*a.width
	return dense.Strided(x[from:(at.window+1)*a.length*row], a.length, a.width, row)
}

// square is the length × length matrix of a query head in p or dp.
func (a *attention) square(x []float32, at place) dense.Matrix {
	n := a.length * a.length
	return dense.Of(x[(at.window*a.heads+at.head)*n:][:n], a.length, a.length)
}

// keyHead is the place of the keys and values of a query head.
func (a *attention) keyHead(at place) place {
	return place{at.window, at.head * a.kvHeads / a.heads}
}

// tiles calls do for rows [from, end) of the square.
func (a *attention) tiles(do func(from, end int)) {
	for from := 0; from < a.length; from += attentionTile {
		do(from, min(from+attentionTile, a.length))
	}
}

func (a *attention) forward(q, k, v []float32) []float32 {
	a.q, a.k, a.v = q, k, v
	queries := a.places(a.heads)
	a.p = aligned.Grow(a.p, len(queries)*a.length*a.length, nil)
	a.y = aligned.Grow(a.y, len(q), nil)
	a.products(queries, func(at place, from, end int) dense.Product {
		keys := a.rows(k, a.keyHead(at), a.kvHeads).Block(0, 0, end, a.width)
		return dense.Product{
			C: a.square(a.p, at).Block(from, 0, end-from, end),
			A: a.rows(q, at, a.heads).Block(from, 0, end-from, a.width),
			B: keys.T(),
		}
	})
	a.eachRow(queries, func(at, row, end int) {
		p := a.p[at : at+row+1]
		a.loops.Scale(p, a.scale(), p)
		a.loops.Softmax(p, p)
		clear(a.p[at+row+1 : at+end])
	})
	a.products(queries, func(at place, from, end int) dense.Product {
		return dense.Product{
			C: a.rows(a.y, at, a.heads).Block(from, 0, end-from, a.width),
			A: a.square(a.p, at).Block(from, 0, end-from, end),
			B: a.rows(v, a.keyHead(at), a.kvHeads).Block(0, 0, end, a.width),
		}
	})
	return a.y
}

func (a *attention) scale() float32 { return float32(1 / math.Sqrt(float64(a.width))) }

// backward returns the gradients for q, k and v. Of a row with softmax p and
// gradient dp = g·Vᵀ, that of the scores is p·(dp - Σ p·dp).
func (a *attention) backward(grad []float32) (gq, gk, gv []float32) {
	queries := a.places(a.heads)
	a.dp = aligned.Grow(a.dp, len(a.p), nil)
	a.gq = aligned.Grow(a.gq, len(a.q), nil)
	a.gk = aligned.Grow(a.gk, len(a.k), nil)
	a.gv = aligned.Grow(a.gv, len(a.v), nil)
	a.products(queries, func(at place, from, end int) dense.Product {
		return dense.Product{
			C: a.square(a.dp, at).Block(from, 0, end-from, end),
			A: a.rows(grad, at, a.heads).Block(from, 0, end-from, a.width),
			B: a.rows(a.v, a.keyHead(at), a.kvHeads).Block(0, 0, end, a.width).T(),
		}
	})
	a.keyProducts(a.gv, a.p, grad)
	a.eachRow(queries, func(at, row, end int) {
		dp := a.dp[at : at+row+1]
		a.loops.SoftmaxGradient(dp, dp, a.p[at:at+row+1])
		a.loops.Scale(dp, a.scale(), dp)
		clear(a.dp[at+row+1 : at+end])
	})
	a.products(queries, func(at place, from, end int) dense.Product {
		return dense.Product{
			C: a.rows(a.gq, at, a.heads).Block(from, 0, end-from, a.width),
			A: a.square(a.dp, at).Block(from, 0, end-from, end),
			B: a.rows(a.k, a.keyHead(at), a.kvHeads).Block(0, 0, end, a.width),
		}
	})
	a.keyProducts(a.gk, a.dp, a.q)
	return a.gq, a.gk, a.gv
}

// products computes one for each tile of rows of each query head.
func (a *attention) products(queries []place, product func(at place, from, end int) dense.Product) {
	var all []dense.Product
	for _, at := range queries {
		a.tiles(func(from, end int) { all = append(all, product(at, from, end)) })
	}
	a.build.Products.Do(all...)
}

// keyProducts sets dst, as wide as the keys, to squareᵀ·x, summed over the query
// heads that share a head of keys, from the first to the last.
func (a *attention) keyProducts(dst, square, x []float32) {
	group := a.heads / a.kvHeads
	for member := range group {
		var all []dense.Product
		for _, at := range a.places(a.kvHeads) {
			query := place{at.window, at.head*group + member}
			a.tiles(func(from, end int) {
				left := a.length - from
				all = append(all, dense.Product{
					C:   a.rows(dst, at, a.kvHeads).Block(from, 0, end-from, a.width),
					A:   a.square(square, query).Block(from, from, left, end-from).T(),
					B:   a.rows(x, query, a.heads).Block(from, 0, left, a.width),
					Add: member > 0,
				})
			})
		}
		a.build.Products.Do(all...)
	}
}

// eachRow calls do for every row of the squares, which begins at at; end is where the
// row's tile does.
func (a *attention) eachRow(queries []place, do func(at, row, end int)) {
	tiles := (a.length + attentionTile - 1) / attentionTile
	a.build.Pool.ForEach(len(queries)*tiles, func(i int) {
		first := i % tiles * attentionTile
		end := min(first+attentionTile, a.length)
		for row := first; row < end; row++ {
			do((i/tiles*a.length+row)*a.length, row, end)
		}
	})
}

package lm

import (
	"onebit/internal/aligned"
	"onebit/kernels/vectors"
	"onebit/models/train"
)

// A block is a transformer block of layers by the names of the architecture's
// table:
//
//	x += attn_output(sub(attention(rope(norm(q)), rope(norm(k)), v)))   of attn_norm(x)
//	x += ffn_down(sub(act(ffn_gate)·ffn_up))                            of ffn_norm(x)
//
// The norms attn_q_norm, attn_k_norm, attn_sub_norm and ffn_sub_norm are there if the table
// has them.
type block struct {
	linears   map[string]*train.BitLinear
	norms     map[string]*train.Norm
	qRope     *rope
	kRope     *rope
	attention *attention
	gate      *gate
	heads, kv int
	build     *train.Builder
	time      *Stopwatch
	loops     *vectors.Variant

	middle, last []float32 // the residual stream behind each half
	gx, gMiddle  []float32
}

func (b *block) linear(name string, x []float32) []float32 {
	defer b.time.start(Products)()
	return b.linears[name].Forward(x)
}

// siblings multiplies one input by several layers.
func (b *block) siblings(x []float32, names ...string) [][]float32 {
	defer b.time.start(Products)()
	layers := make([]*train.BitLinear, len(names))
	for i, name := range names {
		layers[i] = b.linears[name]
	}
	return train.ForwardSiblings(x, layers...)
}

func (b *block) linearBack(name string, grad []float32) []float32 {
	defer b.time.start(Products)()
	return b.linears[name].Backward(grad)
}

// norm is the identity if the block has none of that name.
func (b *block) norm(name string, x []float32) []float32 {
	n := b.norms[name]
	if n == nil {
		return x
	}
	defer b.time.start(Norms)()
	return n.Forward(x)
}

func (b *block) normBack(name string, grad []float32) []float32 {
	n := b.norms[name]
	if n == nil {
		return grad
	}
	defer b.time.start(Norms)()
	return n.Backward(grad)
}

// forward returns the residual stream behind the block.
func (b *block) forward(x []float32) []float32 {
	h := b.norm("attn_norm", x)
	qkv := b.siblings(h, "attn_q", "attn_k", "attn_v")
	q, k := b.norm("attn_q_norm", qkv[0]), b.norm("attn_k_norm", qkv[1])
	h = b.linear("attn_output", b.norm("attn_sub_norm", b.attend(q, k, qkv[2])))
	b.middle = b.sum(b.middle, x, h)

	h = b.norm("ffn_norm", b.middle)
	ff := b.siblings(h, "ffn_gate", "ffn_up")
	h = b.linear("ffn_down", b.norm("ffn_sub_norm", b.gated(ff[0], ff[1])))
	b.last = b.sum(b.last, b.middle, h)
	return b.last
}

// backward returns the gradient for x.
func (b *block) backward(grad []float32) []float32 {
	g, up := b.gatedBack(b.normBack("ffn_sub_norm", b.linearBack("ffn_down", grad)))
	h := b.linearBack("ffn_gate", g)
	b.add(h, b.linearBack("ffn_up", up))
	b.gMiddle = b.sum(b.gMiddle, grad, b.normBack("ffn_norm", h))

	q, k, v := b.attendBack(b.normBack("attn_sub_norm", b.linearBack("attn_output", b.gMiddle)))
	h = b.linearBack("attn_q", b.normBack("attn_q_norm", q))
	b.add(h, b.linearBack("attn_k", b.normBack("attn_k_norm", k)))
	b.add(h, b.linearBack("attn_v", v))
	b.gx = b.sum(b.gx, b.gMiddle, b.normBack("attn_norm", h))
	return b.gx
}

func (b *block) attend(q, k, v []float32) []float32 {
	defer b.time.start(Attention)()
	return b.attention.forward(b.qRope.forward(q, b.heads), b.kRope.forward(k, b.kv), v)
}

func (b *block) attendBack(grad []float32) (q, k, v []float32) {
	defer b.time.start(Attention)()
	q, k, v = b.attention.backward(grad)
	return b.qRope.backward(q, b.heads), b.kRope.backward(k, b.kv), v
}

func (b *block) gated(g, up []float32) []float32 {
	defer b.time.start(Other)()
	return b.gate.forward(g, up)
}

func (b *block) gatedBack(grad []float32) (g, up []float32) {
	defer b.time.start(Other)()
	return b.gate.backward(grad)
}

// sum returns x + y in dst, grown to their length.
func (b *block) sum(dst, x, y []float32) []float32 {
	defer b.time.start(Other)()
	dst = aligned.Grow(dst, len(x), nil)
	each(b.build, len(x), func(from, to int) {
		copy(dst[from:to], x[from:to])
		b.loops.Add(dst[from:to], y[from:to])
	})
	return dst
}

// add adds y to x.
func (b *block) add(x, y []float32) { b.sum(x, x, y) }

// each calls do for pieces of [0, n) on the builder's threads.
func each(b *train.Builder, n int, do func(from, to int)) {
	const span = 16 << 10
	b.Pool.ForEach((n+span-1)/span, func(i int) { do(i*span, min((i+1)*span, n)) })
}

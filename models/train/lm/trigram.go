package lm

import "math"

// A Trigram is a model of three tokens: what a neural one has to beat. It is
// smoothed by interpolated modified Kneser-Ney (Chen and Goodman, "An Empirical
// Study of Smoothing Techniques for Language Modeling", Computer Speech and
// Language 13(4), 1999, section 3):
//
//	p(w|uv) = (c(uvw) - D)/c(uv·) + γ(uv)·p(w|v)
//
// where D is a discount for counts of 1, of 2 and of 3 or more, and γ what the
// discounts leave. Below the trigrams, c counts the distinct tokens that come
// before; below the unigrams is 1/vocabulary.
type Trigram struct {
	vocab  int
	orders [3]ngrams // of 1, 2 and 3 tokens
}

// ngrams are those of one order. A key is the tokens, 21 bits each, the last one
// lowest; a context's key is that of the tokens before the last.
type ngrams struct {
	counts    map[uint64]uint32
	contexts  map[uint64]*history
	discounts [4]float64 // by count; beyond 3 that of 3
}

type history struct {
	total   float64
	byCount [4]float64 // how many n-grams have a count of 1, 2, 3 or more
}

const tokenBits = 21

// NewTrigram counts the tokens of a text. Tokens are below vocab, and that is at most 2²¹.
func NewTrigram(tokens []int32, vocab int) *Trigram {
	t := &Trigram{vocab: vocab}
	for i := range t.orders {
		t.orders[i] = ngrams{counts: map[uint64]uint32{}, contexts: map[uint64]*history{}}
	}
	for i := 2; i < len(tokens); i++ {
		t.count(2, key(tokens[i-2:i+1]))
	}
	for i := range t.orders {
		t.orders[i].smooth()
	}
	return t
}

// count adds an n-gram of an order. The first time, what it ends in has one more
// token that comes before.
func (t *Trigram) count(order int, k uint64) {
	o := &t.orders[order]
	o.counts[k]++
	if order > 0 && o.counts[k] == 1 {
		t.count(order-1, k&(1<<(tokenBits*order)-1))
	}
}

func key(tokens []int32) (k uint64) {
	for _, id := range tokens {
		k = k<<tokenBits | uint64(id)
	}
	return k
}

// smooth sums the contexts and sets the discounts, which the paper estimates from
// how many n-grams come once to four times: Y = n₁/(n₁+2n₂), Dᵢ = i-(i+1)·Y·nᵢ₊₁/nᵢ.
func (o *ngrams) smooth() {
	var n [5]float64
	for k, c := range o.counts {
		x := o.contexts[k>>tokenBits]
		if x == nil {
			x = &history{}
			o.contexts[k>>tokenBits] = x
		}
		x.total += float64(c)
		x.byCount[min(c, 3)]++
		if c <= 4 {
			n[c]++
		}
	}
	y := n[1] / (n[1] + 2*n[2])
	for i := 1; i <= 3; i++ {
		d := float64(i) - float64(i+1)*y*n[i+1]/n[i]
		if !(d > 0 && d < float64(i)) { // a text too small to estimate it from
			d = 0.5 * float64(i)
		}
		o.discounts[i] = d
	}
}

// Probability returns p(w|uv).
func (t *Trigram) Probability(u, v, w int32) float64 {
	p := 1 / float64(t.vocab)
	k := key([]int32{u, v, w})
	for i := range t.orders {
		o := &t.orders[i]
		own := k & (1<<(tokenBits*(i+1)) - 1)
		x := o.contexts[own>>tokenBits]
		if x == nil {
			break // longer contexts have not been seen either
		}
		c := o.counts[own]
		left := 0.0
		for j := 1; j <= 3; j++ {
			left += o.discounts[j] * x.byCount[j]
		}
		p = (float64(c) - o.discounts[min(c, 3)] + left*p) / x.total
	}
	return p
}

// Nats returns -Σ ln p of all tokens but the first. That one stands before the second,
// too.
func (t *Trigram) Nats(tokens []int32) (sum float64) {
	for i := 1; i < len(tokens); i++ {
		sum -= math.Log(t.Probability(tokens[max(i-2, 0)], tokens[i-1], tokens[i]))
	}
	return sum
}

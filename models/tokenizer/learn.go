package tokenizer

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"maps"
	"slices"

	"onebit/formats/container"
	"onebit/internal/term"
)

// A Learned is a byte-level BPE vocabulary that [Learn] found: the 256 bytes in
// the order of their values, then what each merge makes, then [EndOfText], a
// control token.
type Learned struct {
	Pre    string // the pre-tokenizer, one that FromGGUF knows
	Merges []string
	Tokens []string
}

// EndOfText ends a text in a learned vocabulary.
const EndOfText = "<|endoftext|>"

// Learn finds a vocabulary of that many tokens: again and again it merges the
// neighbours that come most often within the words of the texts, of equals those
// with the lower tokens (Sennrich, Haddow and Birch, arXiv:1508.07909, algorithm
// 1). Neighbours that make a token which is there already stay apart. The result
// depends on nothing else. Texts without so many pairs that come twice are an
// error.
func Learn(texts iter.Seq[string], pre string, tokens int) (*Learned, error) {
	const least = len(byteText) + 1
	if tokens < least || tokens > maxNumbers {
		return nil, fmt.Errorf("a vocabulary of %d tokens is not between %d, the bytes and %s, and %d", tokens, least, EndOfText, maxNumbers)
	}
	p, err := preTokenizerNamed(pre)
	if err != nil {
		return nil, fmt.Errorf("pre-tokenizer %s is unknown", term.QuoteAlways(pre))
	}
	l := newLearner()
	l.count(texts, p)
	out := &Learned{Pre: p.name}
	for len(l.tokens) < tokens-1 {
		best, ok := l.most()
		if !ok {
			return nil, fmt.Errorf("the text is too small for %d tokens: after %d no two neighbours come twice", tokens, len(l.tokens)+1)
		}
		if l.known[l.joined(best)] {
			continue
		}
		out.Merges = append(out.Merges, l.tokens[best.left]+" "+l.tokens[best.right])
		l.merge(best)
	}
	out.Tokens = append(l.tokens, EndOfText)
	return out, nil
}

// Metadata returns the keys of a GGUF file with the vocabulary. A text begins
// with no token of its own.
func (l *Learned) Metadata() []container.KV {
	types := make([]int32, len(l.Tokens))
	for i := range types {
		types[i] = int32(normal)
	}
	end := len(l.Tokens) - 1
	types[end] = int32(control)
	return []container.KV{
		{Key: keyModel, Value: container.Of(modelGPT2)},
		{Key: keyPre, Value: container.Of(l.Pre)},
		{Key: keyTokens, Value: container.ArrayOf(l.Tokens)},
		{Key: keyTypes, Value: container.ArrayOf(types)},
		{Key: keyMerges, Value: container.ArrayOf(l.Merges)},
		{Key: keyBOS, Value: container.Of(uint32(end))},
		{Key: keyEOS, Value: container.Of(uint32(end))},
		{Key: keyPadding, Value: container.Of(uint32(end))},
		{Key: keyAddBOS, Value: container.Of(false)},
	}
}

// A learner has the words of a text as the tokens so far, and where each pair of
// neighbours comes.
type learner struct {
	tokens []string
	known  map[string]bool // the tokens
	words  []countedWord
	pairs  map[pair]*occurrences
	queue  pairQueue // has every pair with its count; also with counts that have changed
}

type countedWord struct {
	ids   []int32
	times int
}

type pair struct{ left, right int32 }

type occurrences struct {
	times int
	words map[int32]struct{} // that have, or had, the pair
}

func newLearner() *learner {
	l := &learner{tokens: slices.Clone(byteText[:]), known: map[string]bool{}, pairs: map[pair]*occurrences{}}
	for _, token := range l.tokens {
		l.known[token] = true
	}
	return l
}

func (l *learner) joined(p pair) string { return l.tokens[p.left] + l.tokens[p.right] }

func (l *learner) count(texts iter.Seq[string], p *preTokenizer) {
	times := map[string]int{}
	for text := range texts {
		for len(text) > 0 {
			n := p.next(text)
			times[text[:n]]++
			text = text[n:]
		}
	}
	for i, text := range slices.Sorted(maps.Keys(times)) {
		w := countedWord{times: times[text]}
		for j := range len(text) {
			w.ids = append(w.ids, int32(text[j]))
		}
		l.words = append(l.words, w)
		l.add(int32(i), w.times)
	}
	for p := range l.pairs {
		l.push(p)
	}
}

// add counts the pairs of a word so many times more, which may be negative.
func (l *learner) add(word int32, times int) {
	ids := l.words[word].ids
	for i := 1; i < len(ids); i++ {
		p := pair{ids[i-1], ids[i]}
		o := l.pairs[p]
		if o == nil {
			o = &occurrences{words: map[int32]struct{}{}}
			l.pairs[p] = o
		}
		o.times += times
		o.words[word] = struct{}{}
	}
}

func (l *learner) push(p pair) { heap.Push(&l.queue, queued{p, l.pairs[p].times}) }

// most takes the pair that comes most often out of the queue, if one comes twice.
func (l *learner) most() (pair, bool) {
	for len(l.queue) > 0 && l.queue[0].times > 1 {
		top := heap.Pop(&l.queue).(queued)
		switch now := l.pairs[top.pair].times; {
		case now == top.times:
			return top.pair, true
		case now < top.times:
			l.push(top.pair)
		} // else it was queued again when its count rose
	}
	return pair{}, false
}

// merge makes a token of a pair.
func (l *learner) merge(p pair) {
	made := int32(len(l.tokens))
	l.tokens = append(l.tokens, l.joined(p))
	l.known[l.tokens[made]] = true
	for _, word := range slices.Sorted(maps.Keys(l.pairs[p].words)) {
		w := &l.words[word]
		l.add(word, -w.times)
		w.ids = joinPairs(w.ids, p, made)
		l.add(word, w.times)
		for i := 1; i < len(w.ids); i++ {
			if q := (pair{w.ids[i-1], w.ids[i]}); q.left == made || q.right == made {
				l.push(q)
			}
		}
	}
}

// joinPairs replaces each pair in ids, from the left, in place.
func joinPairs(ids []int32, p pair, made int32) []int32 {
	out := ids[:0]
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == p.left && ids[i+1] == p.right {
			out = append(out, made)
			i++
		} else {
			out = append(out, ids[i])
		}
	}
	return out
}

// A pairQueue is a heap with the pair on top that came most often when queued.
type pairQueue []queued

type queued struct {
	pair
	times int
}

func (q pairQueue) Len() int      { return len(q) }
func (q pairQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q pairQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.left, b.left), cmp.Compare(a.right, b.right)) < 0
}
func (q *pairQueue) Push(x any) { *q = append(*q, x.(queued)) }
func (q *pairQueue) Pop() any {
	last := len(*q) - 1
	top := (*q)[last]
	*q = (*q)[:last]
	return top
}

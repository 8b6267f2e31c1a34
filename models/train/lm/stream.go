package lm

import (
	"fmt"
	"math/rand/v2"

	"onebit/models/tokenizer"
)

// encode returns the tokens of documents, each behind the token that ends a text,
// which stands for a beginning too.
func encode(t *tokenizer.Tokenizer, documents []Document) []int32 {
	var out []int32
	for _, d := range documents {
		out = append(out, int32(t.EOS()))
		for _, id := range t.Encode(d.Text, tokenizer.Options{}) {
			out = append(out, int32(id))
		}
	}
	return out
}

// A stream hands out windows of the tokens that are trained on: all of them once
// in each epoch, in an order of its own, cut at places of its own. Window i follows
// from the seed and i alone.
type stream struct {
	tokens []int32
	length int
	seed   uint64

	epoch  int // that order and offset are of
	order  []int
	offset int
}

// newStream refuses a text without two windows.
func newStream(tokens []int32, length int, seed uint64) (*stream, error) {
	s := &stream{tokens: tokens, length: length, seed: seed, epoch: -1}
	if s.windows() < 2 {
		return nil, fmt.Errorf("the text is too small: %d tokens to train on, and windows of %d need %d at least", len(tokens), length, 3*length+1)
	}
	return s, nil
}

// windows is how many there are in an epoch, wherever its first one begins.
func (s *stream) windows() int { return (len(s.tokens)-1)/s.length - 1 }

// window returns the tokens of window i and, as the last, the one behind it.
func (s *stream) window(i int) []int32 {
	if epoch := i / s.windows(); epoch != s.epoch {
		rng := rand.New(rand.NewPCG(s.seed, uint64(epoch)))
		s.epoch, s.offset, s.order = epoch, rng.IntN(s.length), rng.Perm(s.windows())
	}
	start := s.offset + s.order[i%s.windows()]*s.length
	return s.tokens[start : start+s.length+1]
}

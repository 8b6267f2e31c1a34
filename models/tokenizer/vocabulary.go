package tokenizer

import (
	"fmt"
	"hash/maphash"
)

// A kind is what a token is for, with GGUF's and SentencePiece's number.
// Source: ggml-org/llama.cpp gguf-py/gguf/constants.py, TokenType; google/
// sentencepiece src/sentencepiece_model.proto, SentencePiece.Type.
type kind uint8

const (
	undefined kind = iota // taken for normal
	normal
	unknown     // what SentencePiece gives for text it cannot encode
	control     // has a meaning and no text
	userDefined // stands for its text wherever that occurs
	unused      // fills the vocabulary up
	byteKind    // SentencePiece's <0x00> to <0xFF>
)

// maxTokens is far above any real vocabulary. It keeps ids in an int32, and
// with them what is computed of ids.
const maxTokens = 1<<slotBits - 1

// slotBits are the bits of a slot that hold 1 + an id.
const slotBits = 24

// A vocabulary finds tokens by text. The table is open addressing with linear
// probing; a slot holds the upper 8 bits of the text's hash and 1 + the
// token's id, so that few comparisons of texts are in vain and the table of a
// large vocabulary is 1 MiB. The hash is seeded, so that no file can be made to
// collide.
type vocabulary struct {
	tokens []string
	kinds  []kind
	seed   maphash.Seed
	slots  []uint32
}

func newVocabulary(tokens []string, kinds []kind) (vocabulary, error) {
	v := vocabulary{tokens: tokens, kinds: kinds, seed: maphash.MakeSeed()}
	switch {
	case len(tokens) == 0:
		return v, keyErrorf(keyTokens, "is empty")
	case len(tokens) > maxTokens:
		return v, keyErrorf(keyTokens, "has %d tokens, more than %d", len(tokens), maxTokens)
	}
	v.slots = make([]uint32, tableSize(len(tokens)))
	for i, text := range tokens {
		if text == "" {
			return v, keyErrorf(keyTokens, "token %d is empty", i)
		}
		h := maphash.String(v.seed, text)
		at, id := v.probe(h, text)
		if id >= 0 {
			return v, keyErrorf(keyTokens, "tokens %d and %d are both %s", id, i, quote(text))
		}
		v.slots[at] = tag(h) | uint32(i+1)
	}
	return v, nil
}

// tableSize is a power of two of which n is at most three quarters: larger
// tables cost more in memory that has to be touched than they save in probes.
func tableSize(n int) int {
	size := 2
	for size < n+n/3+1 {
		size *= 2
	}
	return size
}

// probe returns the id of a text with its hash, or -1 and the slot to put it.
func (v *vocabulary) probe(h uint64, text string) (slot int, id int32) {
	mask := len(v.slots) - 1
	for at := int(h & uint64(mask)); ; at = (at + 1) & mask {
		s := v.slots[at]
		if s == 0 {
			return at, -1
		}
		if s&^maxTokens == tag(h) {
			if id := int32(s&maxTokens) - 1; v.tokens[id] == text {
				return at, id
			}
		}
	}
}

// tag is what a slot holds of a hash.
func tag(h uint64) uint32 { return uint32(h>>32) &^ maxTokens }

// find returns the id of the token with that text, or -1.
func (v *vocabulary) find(text string) int32 {
	_, id := v.probe(maphash.String(v.seed, text), text)
	return id
}

// findNormal is find for what words are made of: no control tokens and their
// like, even if the text happens to be spelt so.
func (v *vocabulary) findNormal(text string) int32 {
	id := v.find(text)
	if id >= 0 && !v.kinds[id].normal() {
		return -1
	}
	return id
}

func (k kind) normal() bool { return k == normal || k == undefined }

// hasText reports whether tokens of the kind stand for text.
func (k kind) hasText() bool { return k.normal() || k == userDefined || k == byteKind }

// quote shortens what a hostile file may have made long.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

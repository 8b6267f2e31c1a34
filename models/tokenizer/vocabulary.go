package tokenizer

import (
	"hash/maphash"
	"math"
	"unsafe"

	"onebit/internal/term"
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

// A vocabulary has its tokens' texts one after the other, and finds tokens by
// text.
type vocabulary struct {
	all   []byte
	ends  []uint32 // of the tokens, in all
	kinds []kind
	seed  maphash.Seed
	table table // ids by texts' hashes
}

// usualText is how many bytes the tokens of most vocabularies have, rounded up.
// More make the texts move as they grow.
const usualText = 8

func newVocabulary(tokens list, kinds []kind) (vocabulary, error) {
	v := vocabulary{kinds: kinds}
	switch {
	case tokens.n == 0:
		return v, keyErrorf(keyTokens, "is empty")
	case tokens.n > maxNumbers:
		return v, keyErrorf(keyTokens, "has %d tokens, more than %d", tokens.n, maxNumbers)
	}
	v.all, v.ends = touched[byte](usualText * tokens.n)[:0], touched[uint32](tokens.n)[:0]
	for text := range tokens.all {
		switch {
		case text == "":
			return v, keyErrorf(keyTokens, "token %d is empty", len(v.ends))
		case len(text) > math.MaxUint32-len(v.all):
			return v, keyErrorf(keyTokens, "has more than 4 GiB of text")
		}
		v.all = append(v.all, text...)
		v.ends = append(v.ends, uint32(len(v.all)))
	}
	v.table = newTable(tokens.n)
	for {
		v.seed = maphash.MakeSeed()
		again, err := v.enter()
		if err != nil || !again {
			return v, err
		}
		clear(v.table)
	}
}

// enter fills the table. It asks for another seed if two hashes are the same to
// it.
func (v *vocabulary) enter() (again bool, err error) {
	var hashes [fetched]uint64
	for first := 0; first < len(v.ends); first += fetched {
		n := min(fetched, len(v.ends)-first)
		for i := range n {
			hashes[i] = maphash.String(v.seed, v.text(int32(first+i)))
		}
		v.table.fetch(hashes[:n])
		for i, h := range hashes[:n] {
			id := int32(first + i)
			at, old := v.table.probe(h)
			switch {
			case old < 0:
				v.table.put(at, h, id)
			case v.text(old) == v.text(id):
				return false, keyErrorf(keyTokens, "tokens %d and %d are both %s", old, id, term.QuoteAlways(v.text(id)))
			default:
				return true, nil
			}
		}
	}
	return false, nil
}

// text returns a token's.
func (v *vocabulary) text(id int32) string {
	start := uint32(0)
	if id > 0 {
		start = v.ends[id-1]
	}
	b := v.all[start:v.ends[id]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// find returns the id of the token with that text, or -1.
func (v *vocabulary) find(text string) int32 {
	id := v.likely(text)
	if id >= 0 && v.text(id) != text {
		return -1
	}
	return id
}

// likely is find by the hash alone: texts are far apart in memory. What it finds
// for a text that is no token, if anything, is anything; see table.
func (v *vocabulary) likely(text string) int32 {
	_, id := v.table.probe(maphash.String(v.seed, text))
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

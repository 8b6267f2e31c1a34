package tokenizer

import (
	"math"
	"slices"

	"onebit/models/arch"
)

// A Tokenizer turns text into tokens and back. It does not change and may be
// used by any number of goroutines.
type Tokenizer struct {
	vocab    vocabulary
	model    model
	specials *specials
	bos, eos int32
	padding  int32
	ends     []int
	addBOS   bool
	addEOS   bool
	prefixed bool // SentencePiece puts a space before text
	template string
	text     arch.Text
}

// A model is what tokenizer.ggml.model names.
type model interface {
	// encode appends the tokens of a text that is not empty and has no special
	// tokens in it.
	encode(dst []int, text string) []int
	// appendText appends what a token that stands for text stands for.
	appendText(dst []byte, id int32) []byte
}

// Options say how Encode treats a text.
type Options struct {
	AddSpecial   bool // the beginning-of-sequence token before, the end-of-sequence token behind, if the model wants them
	ParseSpecial bool // control tokens spelt out in the text, as <|im_end|>, are taken as such
}

// Encode returns the tokens of a text, which may be any bytes. User-defined
// tokens are found in any text, as <think> is in Qwen3's.
func (t *Tokenizer) Encode(text string, opt Options) []int {
	return t.encode([]Part{{text, opt.ParseSpecial}}, opt.AddSpecial)
}

// EncodeParts returns the tokens of the parts' texts put together, with what
// Options.AddSpecial adds. Words may reach from one part into the next.
func (t *Tokenizer) EncodeParts(parts []Part) []int { return t.encode(parts, true) }

func (t *Tokenizer) encode(parts []Part, addSpecial bool) []int {
	text, spans := join(parts)
	if len(text) > math.MaxInt32 {
		panic("tokenizer: text of 2 GiB or more")
	}
	// English has about 4 bytes for a token; other text grows the slice.
	ids := make([]int, 0, len(text)/4+8)
	if addSpecial && t.addBOS {
		ids = append(ids, int(t.bos))
	}
	for at := 0; at < len(text); {
		m, found := t.match(text, at, spans)
		if !found {
			ids = t.model.encode(ids, text[at:])
			break
		}
		if m.start > at {
			ids = t.model.encode(ids, text[at:m.start])
		}
		ids = append(ids, int(m.id))
		at = m.end
	}
	if addSpecial && t.addEOS {
		ids = append(ids, int(t.eos))
	}
	return ids
}

// AppendToken appends the bytes that a token stands for, which need not be
// whole characters; see Decoder. Control tokens stand for nothing. The token
// must be one of the vocabulary.
func (t *Tokenizer) AppendToken(dst []byte, id int) []byte {
	t.check(id)
	if !t.vocab.kinds[id].hasText() {
		return dst
	}
	return t.model.appendText(dst, int32(id))
}

func (t *Tokenizer) check(id int) {
	if id < 0 || id >= t.Vocab() {
		panic("tokenizer: token out of range")
	}
}

// Decode returns the text of tokens that were a whole text: what Encode makes
// of a text comes back as that text, but for control tokens.
func (t *Tokenizer) Decode(ids []int) string {
	var text []byte
	start := true // no ordinary token since the beginning or a special one
	for _, id := range ids {
		n := len(text)
		text = t.AppendToken(text, id)
		k := t.vocab.kinds[id]
		ordinary := k.hasText() && k != userDefined
		if t.prefixed && start && ordinary && len(text) > n && text[n] == ' ' {
			text = slices.Delete(text, n, n+1)
		}
		start = !ordinary
	}
	return string(text)
}

// Vocab returns the number of tokens: they are 0 to Vocab()-1.
func (t *Tokenizer) Vocab() int { return len(t.vocab.kinds) }

// Token returns a token as it is written in the vocabulary. The token must be
// one of the vocabulary.
func (t *Tokenizer) Token(id int) string {
	t.check(id)
	return t.vocab.text(int32(id))
}

// Find returns the token that is written so in the vocabulary, or -1.
func (t *Tokenizer) Find(token string) int { return int(t.vocab.find(token)) }

// BOS returns the token that begins a sequence, or -1.
func (t *Tokenizer) BOS() int { return int(t.bos) }

// EOS returns the token that ends a sequence, or -1.
func (t *Tokenizer) EOS() int { return int(t.eos) }

// Padding returns the token that fills up a sequence, or -1.
func (t *Tokenizer) Padding() int { return int(t.padding) }

// AddBOS reports whether the model wants every sequence to begin with BOS.
func (t *Tokenizer) AddBOS() bool { return t.addBOS }

// IsEnd reports whether generation ends with a token: the end of the sequence
// or of a turn.
func (t *Tokenizer) IsEnd(id int) bool { return slices.Contains(t.ends, id) }

// IsControl reports whether a token stands for no text.
func (t *Tokenizer) IsControl(id int) bool {
	t.check(id)
	return !t.vocab.kinds[id].hasText()
}

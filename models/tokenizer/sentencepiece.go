package tokenizer

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"onebit/internal/term"
)

// spaceMark is how SentencePiece writes the space: U+2581.
const spaceMark = "▁"

// sentencePiece is the model of tokenizer.ggml.model llama: neighbours are
// joined wherever the result is a token, the best score first. Source: google/
// sentencepiece src/bpe_model.cc.
type sentencePiece struct {
	*vocabulary
	scores []float32
	bytes  [256]int32
	prefix bool // a space is put before text
	// wordwise: no token has a space mark behind another character, so that
	// text can be cut before its space marks.
	wordwise bool
}

func newSentencePiece(v *vocabulary, scores []float32, prefix bool) (*sentencePiece, error) {
	m := &sentencePiece{vocabulary: v, scores: scores, prefix: prefix, wordwise: true}
	for id, s := range scores {
		if s != s {
			return nil, keyErrorf(keyScores, "the score of token %d (%s) is NaN", id, term.QuoteAlways(v.text(int32(id))))
		}
	}
	for b := range m.bytes {
		text := fmt.Sprintf("<0x%02X>", b)
		id := v.find(text)
		if id < 0 || v.kinds[id] != byteKind {
			return nil, keyErrorf(keyTokens, "has no token %s of type byte, so that not every text can be encoded", text)
		}
		m.bytes[b] = id
	}
	if v.findNormal(spaceMark) < 0 {
		return nil, keyErrorf(keyTokens, "has no token %q, which stands for the space", spaceMark)
	}
	for id := range v.kinds {
		text := v.text(int32(id))
		if v.kinds[id].normal() && strings.Contains(strings.TrimLeft(text, spaceMark), spaceMark) {
			m.wordwise = false
		}
		if v.kinds[id] == byteKind && m.byteOf(int32(id)) < 0 {
			return nil, keyErrorf(keyTokens, "token %d (%s) is of type byte, want <0x00> to <0xFF>", id, term.QuoteAlways(text))
		}
	}
	return m, nil
}

// byteOf returns the byte of a byte token, or -1.
func (m *sentencePiece) byteOf(id int32) int {
	text := m.text(id)
	if len(text) != len("<0x00>") {
		return -1
	}
	high, low := strings.IndexByte(hexDigits, text[3]), strings.IndexByte(hexDigits, text[4])
	if b := high<<4 | low; high >= 0 && low >= 0 && m.bytes[b] == id {
		return b
	}
	return -1
}

const hexDigits = "0123456789ABCDEF"

// encode puts a space before the text, whether it is the whole one or stands
// behind a special token, as llama.cpp does.
func (m *sentencePiece) encode(dst []int, text string) []int {
	text = strings.ReplaceAll(text, " ", spaceMark)
	if m.prefix {
		text = spaceMark + text
	}
	var w word
	for len(text) > 0 {
		n := len(text)
		if m.wordwise {
			n = nextMarked(text)
		}
		dst = m.encodeWord(dst, &w, text[:n])
		text = text[n:]
	}
	return dst
}

// nextMarked returns the length of the space marks that text begins with and
// of what follows up to the next one.
func nextMarked(text string) int {
	marks := len(text) - len(strings.TrimLeft(text, spaceMark))
	if n := strings.Index(text[marks:], spaceMark); n >= 0 {
		return marks + n
	}
	return len(text)
}

func (m *sentencePiece) encodeWord(dst []int, w *word, text string) []int {
	w.reset()
	for i := 0; i < len(text); {
		_, n := utf8.DecodeRuneInString(text[i:]) // 1 for a byte that is not UTF-8
		w.add(i+n, m.findNormal(text[i:i+n]))
		i += n
	}
	w.merge(func(left, right int32) (int32, uint32) {
		id := m.findNormal(text[w.start(left):w.symbols[right].end])
		if id < 0 {
			return -1, 0
		}
		return id, descending(m.scores[id])
	})
	for s := int32(0); s >= 0; s = w.symbols[s].next {
		if id := w.symbols[s].id; id >= 0 {
			dst = append(dst, int(id))
			continue
		}
		for i := w.start(s); i < w.symbols[s].end; i++ {
			dst = append(dst, int(m.bytes[text[i]]))
		}
	}
	return dst
}

// descending maps scores to numbers that order them from the highest down.
func descending(score float32) uint32 {
	// The sum makes -0 a 0, which it equals.
	bits := math.Float32bits(score + 0)
	if bits>>31 == 0 {
		return ^bits &^ (1 << 31)
	}
	return bits
}

func (m *sentencePiece) appendText(dst []byte, id int32) []byte {
	text := m.text(id)
	switch m.kinds[id] {
	case byteKind:
		return append(dst, byte(m.byteOf(id)))
	case userDefined:
		return append(dst, text...)
	}
	for {
		before, after, found := strings.Cut(text, spaceMark)
		dst = append(dst, before...)
		if !found {
			return dst
		}
		dst = append(dst, ' ')
		text = after
	}
}

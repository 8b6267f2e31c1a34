package tokenizer

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"
)

// The alphabet of byte-level BPE: every byte is written as a character that
// can be seen. Bytes that are such characters of Latin-1 stand for themselves,
// the others, in order, for those from U+0100 on. Source: openai/gpt-2
// src/encoder.py, bytes_to_unicode.
const alphabetSize = 256 + 68

// byteText is each byte's character in UTF-8, textByte each character's byte,
// or -1.
var byteText, textByte = newAlphabet()

func newAlphabet() (text [256]string, bytes [alphabetSize]int16) {
	for r := range bytes {
		bytes[r] = -1
	}
	next := rune(256)
	for b := range rune(256) {
		r := b
		if visible := '!' <= b && b <= '~' || '¡' <= b && b <= '¬' || '®' <= b; !visible {
			r = next
			next++
		}
		text[b], bytes[r] = string(r), int16(b)
	}
	return text, bytes
}

// maxMerges, like maxTokens, is far above any real vocabulary.
const maxMerges = 1 << 26

// A merge joins two tokens; its rank is its place in the file.
type merge struct{ left, right, joined int32 }

// bytePairs is the model of tokenizer.ggml.model gpt2. It finds merges by
// their two tokens, in a table like a vocabulary's whose slots hold 1 + rank.
type bytePairs struct {
	*vocabulary
	pre    *preTokenizer
	bytes  [256]int32 // a byte's token
	merges []merge
	slots  []int32
	shift  int
	factor uint64 // odd and random, so that no file can be made to collide
}

func newBytePairs(v *vocabulary, pre *preTokenizer, merges []string) (*bytePairs, error) {
	if len(merges) > maxMerges {
		return nil, keyErrorf(keyMerges, "has %d merges, more than %d", len(merges), maxMerges)
	}
	m := &bytePairs{vocabulary: v, pre: pre, factor: rand.Uint64() | 1}
	for b := range m.bytes {
		if m.bytes[b] = v.findNormal(byteText[b]); m.bytes[b] < 0 {
			return nil, keyErrorf(keyTokens, "has no token %s for byte 0x%02x", quote(byteText[b]), b)
		}
	}
	m.merges = make([]merge, len(merges))
	m.slots = make([]int32, tableSize(len(merges)))
	m.shift = 64
	for n := len(m.slots); n > 1; n /= 2 {
		m.shift--
	}
	return m, m.addMerges(merges)
}

// addMerges finds the tokens of the merges, all processors at once, as that is
// half of the time that a tokenizer takes to load; then it fills the table.
func (m *bytePairs) addMerges(lines []string) error {
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		from, to := len(lines)*i/workers, len(lines)*(i+1)/workers
		wg.Go(func() { errs[i] = m.resolve(lines[:to], from) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for rank, e := range m.merges {
		// A pair that comes again keeps its first rank.
		if at, old := m.slot(e.left, e.right); old < 0 {
			m.slots[at] = int32(rank) + 1
		}
	}
	return nil
}

// resolve finds the tokens of the merges from a rank on.
func (m *bytePairs) resolve(lines []string, from int) error {
	joined := int32(-1)
	for rank := from; rank < len(lines); rank++ {
		line := lines[rank]
		at := strings.IndexByte(line, ' ')
		if at <= 0 || at == len(line)-1 {
			return keyErrorf(keyMerges, "merge %d is %s, not two tokens with a space between them", rank, quote(line))
		}
		left, right := line[:at], line[at+1:]
		if joined = m.findJoined(left, right, joined); joined < 0 {
			return keyErrorf(keyMerges, "merge %d (%s) makes %s, which is no normal token", rank, quote(line), quote(left+right))
		}
		e := merge{m.findNormal(left), m.findNormal(right), joined}
		if e.left < 0 || e.right < 0 {
			return keyErrorf(keyMerges, "merge %d (%s) is of something that is no normal token", rank, quote(line))
		}
		m.merges[rank] = e
	}
	return nil
}

// findJoined looks first at the token made last and the next one: files list
// merges in the order in which training made the tokens, so that this spares
// most of the searches.
func (m *bytePairs) findJoined(left, right string, last int32) int32 {
	for id := last; id <= last+1; id++ {
		if id < 0 || int(id) >= len(m.tokens) {
			continue
		}
		t := m.tokens[id]
		if len(t) == len(left)+len(right) && t[:len(left)] == left && t[len(left):] == right && m.kinds[id].normal() {
			return id
		}
	}
	return m.findNormal(left + right)
}

// slot returns the rank of a pair, or -1 and the slot to put it.
func (m *bytePairs) slot(left, right int32) (slot int, rank int32) {
	mask := len(m.slots) - 1
	h := (uint64(uint32(left))<<32 | uint64(uint32(right))) * m.factor
	for at := int(h >> m.shift); ; at = (at + 1) & mask {
		rank := m.slots[at] - 1
		if rank < 0 {
			return at, -1
		}
		if e := &m.merges[rank]; e.left == left && e.right == right {
			return at, rank
		}
	}
}

// encode makes each word of the text tokens.
func (m *bytePairs) encode(dst []int32, text string) []int32 {
	var w word
	join := func(left, right int32) (int32, uint32) {
		_, rank := m.slot(w.symbols[left].id, w.symbols[right].id)
		if rank < 0 {
			return -1, 0
		}
		return m.merges[rank].joined, uint32(rank)
	}
	var spelt string
	if m.pre.ignoreMerges {
		spelt = spell(text)
	}
	for len(text) > 0 {
		part := text[:m.pre.next(text)]
		text = text[len(part):]
		if m.pre.ignoreMerges {
			n := spelling(part)
			id := m.findNormal(spelt[:n])
			spelt = spelt[n:]
			if id >= 0 {
				dst = append(dst, id)
				continue
			}
		}
		w.reset()
		for i := range len(part) {
			w.add(i+1, m.bytes[part[i]])
		}
		w.merge(join)
		for s := int32(0); s >= 0; s = w.symbols[s].next {
			dst = append(dst, w.symbols[s].id)
		}
	}
	return dst
}

// spell writes text in the alphabet.
func spell(text string) string {
	var b strings.Builder
	b.Grow(spelling(text))
	for i := range len(text) {
		b.WriteString(byteText[text[i]])
	}
	return b.String()
}

// spelling is the length of what spell makes.
func spelling(text string) int {
	n := 0
	for i := range len(text) {
		n += len(byteText[text[i]])
	}
	return n
}

// appendText turns a token's characters back into bytes. One that the alphabet
// lacks stands for itself, as do all of a user-defined token.
func (m *bytePairs) appendText(dst []byte, id int32) []byte {
	if m.kinds[id] == userDefined {
		return append(dst, m.tokens[id]...)
	}
	for i, r := range m.tokens[id] {
		if r < alphabetSize && textByte[r] >= 0 {
			dst = append(dst, byte(textByte[r]))
		} else {
			_, n := utf8.DecodeRuneInString(m.tokens[id][i:])
			dst = append(dst, m.tokens[id][i:i+n]...)
		}
	}
	return dst
}

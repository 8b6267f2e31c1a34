package tokenizer

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"onebit/internal/mmap"
	"onebit/internal/term"
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

// A merge joins two tokens; its rank is its place in the file.
type merge struct{ left, right, joined int32 }

// bytePairs is the model of tokenizer.ggml.model gpt2.
type bytePairs struct {
	*vocabulary
	pre    *preTokenizer
	bytes  [256]int32 // a byte's token
	merges []merge    // by rank
	ranks  table      // by hashes of the two tokens
	factor uint64     // random and odd: the hashes' seed
}

func newBytePairs(v *vocabulary, pre *preTokenizer, merges list) (*bytePairs, error) {
	if merges.n > maxNumbers {
		return nil, keyErrorf(keyMerges, "has %d merges, more than %d", merges.n, maxNumbers)
	}
	m := &bytePairs{vocabulary: v, pre: pre}
	for b := range m.bytes {
		if m.bytes[b] = v.findNormal(byteText[b]); m.bytes[b] < 0 {
			return nil, keyErrorf(keyTokens, "has no token %s for byte 0x%02x", term.QuoteAlways(byteText[b]), b)
		}
	}
	if err := m.resolve(merges); err != nil {
		return nil, err
	}
	m.ranks = newTable(merges.n)
	for {
		m.factor = rand.Uint64() | 1
		if again := m.enter(); !again {
			return m, nil
		}
		clear(m.ranks)
	}
}

// enter fills the table. It asks for another factor if two hashes are the same
// to it.
func (m *bytePairs) enter() (again bool) {
	var hashes [fetched]uint64
	for first := 0; first < len(m.merges); first += fetched {
		some := m.merges[first:min(first+fetched, len(m.merges))]
		for i, e := range some {
			hashes[i] = m.hash(e.left, e.right)
		}
		m.ranks.fetch(hashes[:len(some)])
		for i, e := range some {
			at, old := m.ranks.probe(hashes[i])
			switch {
			case old < 0:
				m.ranks.put(at, hashes[i], int32(first+i))
			case m.merges[old].left != e.left || m.merges[old].right != e.right:
				return true
			} // else the pair comes again, and keeps its first rank
		}
	}
	return false
}

// hash mixes both halves of a product, since the tokens of many pairs are near
// each other.
func (m *bytePairs) hash(left, right int32) uint64 {
	high, low := bits.Mul64(uint64(uint32(left))<<32|uint64(uint32(right)), m.factor)
	return high ^ low
}

// rank returns that of a pair, or -1.
func (m *bytePairs) rank(left, right int32) int32 {
	_, rank := m.ranks.probe(m.hash(left, right))
	if rank >= 0 && (m.merges[rank].left != left || m.merges[rank].right != right) {
		return -1
	}
	return rank
}

// resolve finds the tokens of the merges, all processors at once, as that is
// half of the time that a tokenizer takes to load.
func (m *bytePairs) resolve(merges list) error {
	m.merges = touched[merge](merges.n)
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			errs[i] = mmap.Guard(func() error { return m.resolveRanks(merges, merges.n*i/workers, merges.n*(i+1)/workers) })
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// resolveRanks is resolve for the merges from a rank up to another.
func (m *bytePairs) resolveRanks(merges list, from, to int) (err error) {
	rank, last := 0, int32(-1)
	for line := range merges.all {
		switch {
		case rank == to:
			return nil
		case rank >= from:
			if m.merges[rank], err = m.merge(rank, line, last); err != nil {
				return err
			}
			last = m.merges[rank].joined
		}
		rank++
	}
	return nil
}

// merge finds the tokens of one merge; last is what the one before made.
func (m *bytePairs) merge(rank int, line string, last int32) (merge, error) {
	at := strings.IndexByte(line, ' ')
	if at <= 0 || at == len(line)-1 {
		return merge{}, keyErrorf(keyMerges, "merge %d is %s, not two tokens with a space between them", rank, term.QuoteAlways(line))
	}
	left, right := line[:at], line[at+1:]
	e := merge{m.likely(left), m.likely(right), m.joined(left, right, last)}
	if e.joined < 0 || !m.kinds[e.joined].normal() {
		return merge{}, keyErrorf(keyMerges, "merge %d (%s) makes %s, which is no normal token", rank, term.QuoteAlways(line), term.QuoteAlways(left+right))
	}
	if e.left < 0 || e.right < 0 || !m.kinds[e.left].normal() || !m.kinds[e.right].normal() {
		return merge{}, keyErrorf(keyMerges, "merge %d (%s) is of something that is no normal token", rank, term.QuoteAlways(line))
	}
	return e, nil
}

// joined looks first at the token made last and the next one: files list merges
// in the order in which training made the tokens, so that this spares most of
// the searches.
func (m *bytePairs) joined(left, right string, last int32) int32 {
	for id := last; id <= last+1; id++ {
		if id < 0 || int(id) >= len(m.kinds) {
			continue
		}
		t := m.text(id)
		if len(t) == len(left)+len(right) && t[:len(left)] == left && t[len(left):] == right {
			return id
		}
	}
	return m.find(left + right)
}

// encode makes each word of the text tokens.
func (m *bytePairs) encode(dst []int, text string) []int {
	var w word
	join := func(left, right int32) (int32, uint32) {
		rank := m.rank(w.symbols[left].id, w.symbols[right].id)
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
				dst = append(dst, int(id))
				continue
			}
		}
		w.reset()
		for i := range len(part) {
			w.add(i+1, m.bytes[part[i]])
		}
		w.merge(join)
		for s := int32(0); s >= 0; s = w.symbols[s].next {
			dst = append(dst, int(w.symbols[s].id))
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
	text := m.text(id)
	if m.kinds[id] == userDefined {
		return append(dst, text...)
	}
	for i, r := range text {
		if r < alphabetSize && textByte[r] >= 0 {
			dst = append(dst, byte(textByte[r]))
		} else {
			_, n := utf8.DecodeRuneInString(text[i:])
			dst = append(dst, text[i:i+n]...)
		}
	}
	return dst
}

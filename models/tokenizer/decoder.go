package tokenizer

import "unicode/utf8"

// A Decoder turns tokens into text as they come. A token may hold a part of a
// character: it is kept until the rest has come, so that no text that Next
// returns ends within one. Bytes that can be no part of a character come
// through unchanged. It continues a text; unlike Tokenizer.Decode it keeps the
// space that SentencePiece puts before one.
type Decoder struct {
	tokenizer *Tokenizer
	pending   []byte
}

// NewDecoder returns a Decoder for one stream of tokens.
func (t *Tokenizer) NewDecoder() *Decoder { return &Decoder{tokenizer: t} }

// Next returns the text that a token completes, which may be none.
func (d *Decoder) Next(id int) string {
	d.pending = d.tokenizer.AppendToken(d.pending, id)
	n := len(d.pending) - unfinished(d.pending)
	text := string(d.pending[:n])
	d.pending = append(d.pending[:0], d.pending[n:]...)
	return text
}

// Flush returns what is held back: the bytes of a character whose rest never
// came. The Decoder can be used again.
func (d *Decoder) Flush() string {
	text := string(d.pending)
	d.pending = d.pending[:0]
	return text
}

// unfinished returns how many bytes at the end may begin a character that
// more bytes would complete.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"onebit/internal/term"
)

// A preTokenizer cuts text into the words within which byte pairs merge. It
// goes by the patterns in the package comment, but by hand: a backtracking
// engine takes a hundred times as long, and a test holds them equal.
type preTokenizer struct {
	name         string
	aliases      []string
	regex        string                   // how tokenizer.json spells the pattern
	next         func(text string) int    // bytes of the first word of a text that is not empty
	ignoreMerges bool                     // a word that is a token is taken as it is
	addBOS       bool                     // where the file does not say
	knows        func(v *vocabulary) bool // tells its models' vocabulary; nil: none
}

// preTokenizers are all that are known. Source of the names and of what they
// imply: ggml-org/llama.cpp src/llama-vocab.cpp, llama_vocab::impl::load.
var preTokenizers = []*preTokenizer{
	{name: "gpt-2", aliases: []string{"gpt2", "mpt", "olmo"}, regex: gpt2Regex, next: nextGPT2},
	{name: "llama-bpe", aliases: []string{"llama3", "llama-v3", "falcon3", "falcon_e"}, regex: casedRegex(`\p{N}{1,3}`), next: nextLlama3, ignoreMerges: true, addBOS: true, knows: isLlama3},
	{name: "qwen2", regex: casedRegex(`\p{N}`), next: nextQwen2},
	{name: "qwen35", regex: markedRegex, next: nextQwen35},
}

// isLlama3 tells Llama 3's vocabulary by its size or its special tokens.
func isLlama3(v *vocabulary) bool {
	return len(v.kinds) == 128256 || v.find("<|begin_of_text|>") >= 0 && v.find("<|eot_id|>") >= 0
}

const gpt2Regex = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// casedRegex is from tokenizer.json of meta-llama/Meta-Llama-3-8B and Qwen/
// Qwen2-7B. Unlike the patterns in the package comment it takes 'ſ, with the
// long s, for a contraction; ggml-org/llama.cpp does not.
func casedRegex(digits string) string {
	return `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|` + digits + `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
}

// markedRegex is from tokenizer.json of Qwen/Qwen3.5-27B: qwen2's, with marks
// among the letters of a word.
const markedRegex = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

func preTokenizerNamed(name string) (*preTokenizer, error) {
	var known []string
	for _, p := range preTokenizers {
		if p.name == name || slices.Contains(p.aliases, name) {
			return p, nil
		}
		known = append(known, p.name)
	}
	if name == "" {
		return nil, keyErrorf(keyPre, "is missing, and without the pre-tokenizer text would be cut wrongly; known ones are %s", strings.Join(known, ", "))
	}
	return nil, keyErrorf(keyPre, "is %s, and known pre-tokenizers are %s", term.QuoteAlways(name), strings.Join(known, ", "))
}

// A class is what the patterns tell apart. Every character has one.
type class uint8

const (
	other   class = iota // neither of the following: also a byte that is not UTF-8
	mark                 // \p{M}, which most patterns take for the same
	letter               // \p{L}
	number               // \p{N}
	space                // \s but the two below
	newline              // \r and \n
	none                 // behind the end of the text
)

func (c class) white() bool { return c == space || c == newline }

var asciiClass = func() (t [utf8.RuneSelf]class) {
	for c := range t {
		t[c] = classOf(rune(c))
	}
	return t
}()

func classOf(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsMark(r):
		return mark
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// A reading is what a pattern takes marks for: other or letter.
type reading class

// first returns the class and the length of a text's first character.
func (marks reading) first(text string) (class, int) {
	if text == "" {
		return none, 0
	}
	if c := text[0]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, n := utf8.DecodeRuneInString(text)
	if c := classOf(r); c != mark {
		return c, n
	}
	return class(marks), n
}

// run returns where the characters of a class from byte i on end, at most so
// many of them.
func (marks reading) run(text string, i int, want class, most int) int {
	for ; most > 0; most-- {
		c, n := marks.first(text[i:])
		if c != want {
			break
		}
		i += n
	}
	return i
}

const unlimited = int(^uint(0) >> 1)

func nextQwen2(text string) int  { return reading(other).nextCased(text, 1) }
func nextQwen35(text string) int { return reading(letter).nextCased(text, 1) }
func nextLlama3(text string) int { return reading(other).nextCased(text, 3) }

// nextCased is the pattern that llama-bpe, qwen2 and qwen35 share but for the
// number of digits in a word, and marks.
func (marks reading) nextCased(text string, digits int) int {
	if n := contraction(text, true); n > 0 {
		return n
	}
	c, n := marks.first(text)
	after, m := marks.first(text[n:])
	switch {
	case c == letter:
		return marks.run(text, n, letter, unlimited)
	case c == number:
		return marks.run(text, n, number, digits-1)
	case c != newline && after == letter:
		return marks.run(text, n+m, letter, unlimited)
	case c == other:
		return marks.run(text, marks.run(text, n, other, unlimited), newline, unlimited)
	case text[0] == ' ' && after == other:
		return marks.run(text, marks.run(text, n+m, other, unlimited), newline, unlimited)
	}
	end, lastNewline := blank(text)
	if lastNewline > 0 {
		return lastNewline
	}
	return end
}

// nextGPT2 is GPT-2's own pattern: no newlines behind punctuation, numbers of
// any length, and only a space goes with what follows it.
func nextGPT2(text string) int {
	if n := contraction(text, false); n > 0 {
		return n
	}
	const marks = reading(other)
	c, n := marks.first(text)
	if text[0] == ' ' {
		if after, m := marks.first(text[n:]); after != none && !after.white() {
			return marks.run(text, n+m, after, unlimited)
		}
	}
	if !c.white() {
		return marks.run(text, n, c, unlimited)
	}
	end, _ := blank(text)
	return end
}

// blank measures the white space that a text begins with: up to where it goes
// as a word, which leaves its last character to what follows, if there are
// more; and up to behind its last newline, 0 if there is none.
func blank(text string) (end, lastNewline int) {
	i, last, count := 0, 0, 0
	for {
		c, n := reading(other).first(text[i:])
		if !c.white() {
			if c != none && count > 1 {
				i = last
			}
			return i, lastNewline
		}
		last, count = i, count+1
		i += n
		if c == newline {
			lastNewline = i
		}
	}
}

// contraction returns the length of the English one that text begins with, or
// 0; in any case if fold is set. No two of them begin alike.
func contraction(text string, fold bool) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	lower := func(i int) byte {
		if i >= len(text) {
			return 0
		}
		if c := text[i]; !fold || c < 'A' || c > 'Z' {
			return c
		}
		return text[i] | 0x20
	}
	switch a, b := lower(1), lower(2); {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return 2
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 3
	}
	return 0
}

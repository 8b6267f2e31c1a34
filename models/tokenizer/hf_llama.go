package tokenizer

import (
	"errors"
	"fmt"
	"strings"

	"onebit/internal/term"
)

// A tokenizer.json of BPE with byte_fallback is a SentencePiece model as
// huggingface/transformers converts one (src/transformers/convert_slow_tokenizer.py,
// LlamaConverter): characters are joined by merges, and what is no token becomes
// bytes. Spaces become ▁ in the normalizer,
//
//	Prepend ▁, Replace " " by ▁        as the model was trained
//	Replace " " by ▁                   without a space put before text
//
// or in a pre-tokenizer, Metaspace. Its prepend_scheme always is the former, never the
// latter. first, which puts no space behind a special token, is read as always, which
// is what SentencePiece does.
//
// Merges take the place of scores: a token's are all its splits in two tokens, and stand
// together, in the order of the tokens' scores.

type normalizerJSON struct {
	Type        string
	Normalizers []normalizerJSON
	Prepend     string
	Pattern     struct{ String string }
	Content     string
}

// readLlama reads the rest of a file whose vocabulary was read.
func (f *tokenizerJSON) readLlama(src *hfSource) error {
	prefix, err := f.spaces()
	if err != nil {
		return err
	}
	src.model, src.flags[keyAddPrefix] = modelLlama, prefix
	for text, id := range f.Model.Vocab {
		switch {
		case text == f.Model.Unknown:
			src.kinds[id] = unknown
		case isByteText(text):
			src.kinds[id] = byteKind
		}
	}
	return f.score(src)
}

// spaces reports whether a space is put before text; they have to become ▁.
func (f *tokenizerJSON) spaces() (prefix bool, err error) {
	var steps []normalizerJSON
	if n := f.Normalizer; n != nil {
		if steps = n.Normalizers; n.Type != "Sequence" {
			steps = []normalizerJSON{*n}
		}
	}
	replaced := false
	for _, s := range steps {
		switch {
		case s.Type == "Prepend" && s.Prepend == spaceMark:
			prefix = true
		case s.Type == "Replace" && s.Pattern.String == " " && s.Content == spaceMark:
			replaced = true
		default:
			return false, fmt.Errorf("normalizer has a step %s that is not known of SentencePiece", term.QuoteAlways(s.Type))
		}
	}
	p := f.PreTokenizer
	switch {
	case p == nil && replaced:
		return prefix, nil
	case p == nil:
		return false, errors.New("normalizer does not replace spaces by ▁, and there is no pre_tokenizer")
	case len(steps) > 0 || p.Type != "Metaspace" || p.Replacement != spaceMark:
		return false, keyErrorf(keyPre, "is not Metaspace with ▁ for spaces, the only one known with byte_fallback")
	case p.PrependScheme != "":
		return p.PrependScheme != "never", nil
	}
	return p.AddPrefix == nil || *p.AddPrefix, nil
}

// isByteText reports whether a token is SentencePiece's for a byte.
func isByteText(text string) bool {
	return len(text) == len("<0x00>") && strings.HasPrefix(text, "<0x") && text[5] == '>' &&
		strings.IndexByte(hexDigits, text[3]) >= 0 && strings.IndexByte(hexDigits, text[4]) >= 0
}

// score makes scores of the merges. It is an error if they are not a SentencePiece
// model's.
func (f *tokenizerJSON) score(src *hfSource) error {
	for id := range src.scores {
		src.scores[id] = -float32(len(f.Model.Merges) + 1)
	}
	splits := make([]int, len(src.tokens)) // that are merges, by id
	last := int64(-1)
	for rank, m := range f.Model.Merges {
		left, right, _ := strings.Cut(string(m), " ")
		_, ok1 := f.Model.Vocab[left]
		_, ok2 := f.Model.Vocab[right]
		id, ok := f.Model.Vocab[left+right]
		switch {
		case !ok || !ok1 || !ok2:
			return keyErrorf(keyMerges, "merge %d (%s) is of something or makes something that is no token", rank, term.QuoteAlways(string(m)))
		case id != last && splits[id] > 0:
			return keyErrorf(keyMerges, "merge %d (%s) stands apart from others of its token, as none of SentencePiece does", rank, term.QuoteAlways(string(m)))
		case id != last:
			src.scores[id], last = -float32(rank), id
		}
		splits[id]++
	}
	for id, text := range src.tokens {
		if !src.kinds[id].normal() {
			continue
		}
		if len(text) > longestPiece {
			return keyErrorf(keyTokens, "token %d (%s) has more than %d bytes", id, term.QuoteAlways(text), longestPiece)
		}
		if want := f.splits(text); splits[id] != want {
			return keyErrorf(keyMerges, "%d merges make token %s, which is two tokens in %d ways; SentencePiece has all", splits[id], term.QuoteAlways(text), want)
		}
	}
	return nil
}

// longestPiece is far above SentencePiece's max_sentencepiece_length of 16 characters.
const longestPiece = 1 << 12

// splits returns in how many ways a text is two tokens.
func (f *tokenizerJSON) splits(text string) (n int) {
	for at := range text {
		if _, ok := f.Model.Vocab[text[:at]]; ok {
			if _, ok := f.Model.Vocab[text[at:]]; ok && at > 0 {
				n++
			}
		}
	}
	return n
}

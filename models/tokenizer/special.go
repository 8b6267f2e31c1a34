package tokenizer

import "slices"

// specials are the tokens that are found in text before it is cut into words,
// by their first byte, longest first.
type specials [256][]int32

func newSpecials(v *vocabulary) *specials {
	s := new(specials)
	for id, k := range v.kinds {
		if k == control || k == unknown || k == userDefined {
			c := v.text(int32(id))[0]
			s[c] = append(s[c], int32(id))
		}
	}
	for _, ids := range s {
		slices.SortFunc(ids, func(a, b int32) int { return len(v.text(b)) - len(v.text(a)) })
	}
	return s
}

// A Part is a stretch of a prompt. Control tokens are recognized in it only if
// it is Special, so that text from outside cannot contain any.
type Part struct {
	Text    string
	Special bool
}

// A match is a token found in a text.
type match struct {
	id         int32
	start, end int
}

// match finds the first token at byte from or later, at each byte the longest.
// User-defined ones are found anywhere; the others only inside of the spans,
// which are in order and do not touch.
func (t *Tokenizer) match(text string, from int, spans []span) (match, bool) {
	for i := from; i < len(text); i++ {
		ids := t.specials[text[i]]
		if ids == nil {
			continue
		}
		for len(spans) > 0 && spans[0].end <= i {
			spans = spans[1:]
		}
		for _, id := range ids {
			s := t.vocab.text(id)
			if len(text)-i < len(s) || text[i:i+len(s)] != s {
				continue
			}
			if t.vocab.kinds[id] == userDefined || len(spans) > 0 && spans[0].start <= i && i+len(s) <= spans[0].end {
				return match{id, i, i + len(s)}, true
			}
		}
	}
	return match{}, false
}

// A span is a range of bytes.
type span struct{ start, end int }

// join makes one text of the parts, with the spans that are special.
func join(parts []Part) (text string, spans []span) {
	if len(parts) == 1 { // the usual case, without a copy
		text = parts[0].Text
		if parts[0].Special {
			spans = []span{{0, len(text)}}
		}
		return text, spans
	}
	var b []byte
	for _, p := range parts {
		start := len(b)
		b = append(b, p.Text...)
		switch last := len(spans) - 1; {
		case !p.Special:
		case last >= 0 && spans[last].end == start:
			spans[last].end = len(b)
		default:
			spans = append(spans, span{start, len(b)})
		}
	}
	return string(b), spans
}

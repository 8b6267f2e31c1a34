package tokenizer

import (
	"encoding/json"
	"strings"

	"onebit/internal/term"
)

// A frame is the tokens that a tokenizer.json puts around a text; -1: none.
type frame struct{ before, behind int64 }

// A postProcessorJSON makes a frame. Source: huggingface/tokenizers
// tokenizers/src/processors.
type postProcessorJSON struct {
	Type       string
	Processors []postProcessorJSON // of a Sequence
	// Single is what TemplateProcessing makes of one text: pieces that are the text or
	// a token.
	Single []struct {
		SpecialToken *struct{ ID string }
		Sequence     *struct{ ID string }
	}
	SpecialTokens map[string]struct{ IDs []int64 } `json:"special_tokens"`
	CLS, SEP      *postTokenJSON                   // of BertProcessing and RobertaProcessing
}

// A postTokenJSON is a token's text and its id.
type postTokenJSON struct{ id int64 }

func (t *postTokenJSON) UnmarshalJSON(data []byte) error {
	var pair [2]any
	t.id = -1
	err := json.Unmarshal(data, &pair)
	if id, ok := pair[1].(float64); ok {
		t.id = int64(id)
	}
	return err
}

const keyPost = "post_processor"

// frame returns what the processor puts around a text, nil for none. ByteLevel changes
// offsets alone.
func (p *postProcessorJSON) frame() (*frame, error) {
	if p == nil {
		return nil, nil
	}
	switch p.Type {
	case "ByteLevel":
		return &frame{-1, -1}, nil
	case "BertProcessing", "RobertaProcessing":
		if p.CLS == nil || p.SEP == nil {
			return nil, keyErrorf(keyPost, "%s lacks its tokens", term.QuoteAlways(p.Type))
		}
		return &frame{p.CLS.id, p.SEP.id}, nil
	case "TemplateProcessing":
		return p.template()
	case "Sequence":
		all := &frame{-1, -1}
		for i := range p.Processors {
			f, err := p.Processors[i].frame()
			if err != nil {
				return nil, err
			}
			if f.before >= 0 && all.before >= 0 || f.behind >= 0 && all.behind >= 0 {
				return nil, keyErrorf(keyPost, "puts several tokens before or behind a text, and one is supported")
			}
			all.before, all.behind = max(all.before, f.before), max(all.behind, f.behind)
		}
		return all, nil
	}
	return nil, keyErrorf(keyPost, "is %s, which is not known", term.QuoteAlways(p.Type))
}

func (p *postProcessorJSON) template() (*frame, error) {
	f, seen := &frame{-1, -1}, false
	for _, piece := range p.Single {
		if piece.SpecialToken == nil {
			seen = seen || piece.Sequence != nil
			continue
		}
		ids := p.SpecialTokens[piece.SpecialToken.ID].IDs
		at := &f.before
		if seen {
			at = &f.behind
		}
		if len(ids) != 1 || *at >= 0 {
			return nil, keyErrorf(keyPost, "puts several tokens before or behind a text, and one is supported")
		}
		*at = ids[0]
	}
	return f, nil
}

// setFrame decides whether tokens are put before and behind a text. What
// tokenizer_config.json says of it counts, else the post-processor does, as in
// transformers (tokenization_utils_tokenizers.py) and in ggml-org/llama.cpp
// gguf-py/gguf/vocab.py. A tokenizer.json without one puts none, but for LLaMA's classes,
// which make their own.
func (src *hfSource) setFrame(addBOS, addEOS *bool, class string) error {
	f := src.frame
	if f == nil && src.fast && class != "" && !strings.Contains(class, "Llama") {
		f = &frame{-1, -1}
	}
	if err := src.setSide(keyAddBOS, keyBOS, addBOS, f, func(f *frame) int64 { return f.before }); err != nil {
		return err
	}
	return src.setSide(keyAddEOS, keyEOS, addEOS, f, func(f *frame) int64 { return f.behind })
}

// setSide is setFrame of one side, whose token the frame has.
func (src *hfSource) setSide(flag, key string, said *bool, f *frame, side func(*frame) int64) error {
	if said != nil {
		src.flags[flag] = *said
		return nil
	}
	if f == nil {
		return nil
	}
	id := side(f)
	if id >= int64(len(src.tokens)) {
		return keyErrorf(keyPost, "has id %d, and there are tokens 0 to %d", id, len(src.tokens)-1)
	}
	if src.flags[flag] = id >= 0; id >= 0 {
		src.ids[key] = id
	}
	return nil
}

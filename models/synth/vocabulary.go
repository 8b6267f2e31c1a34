package synth

import (
	"fmt"
	"iter"
	"strings"
)

// A vocabulary is made up, but has the structure and the size of the real
// one: every byte has a token, so any text can be tokenized; special tokens
// have the real names and ids; words are built by merges as a trained
// vocabulary's are.
type vocabulary struct {
	tokens []string
	types  []int32
	scores []float32 // SentencePiece only
	merges []string  // byte-level BPE only
}

// Token types: ggml-org/llama.cpp gguf-py/gguf/constants.py, TokenType.
const (
	tokenNormal      = 1
	tokenUnknown     = 2
	tokenControl     = 3
	tokenUserDefined = 4
	tokenUnused      = 5
	tokenByte        = 6
)

func (v *vocabulary) add(token string, kind int32) {
	v.tokens = append(v.tokens, token)
	v.types = append(v.types, kind)
}

// pad fills up to size tokens, as llama.cpp's converter fills ids that have
// an embedding but no token.
func (v *vocabulary) pad(size int) {
	for i := len(v.tokens); i < size; i++ {
		v.add(fmt.Sprintf("[PAD%d]", i), tokenUnused)
	}
}

// letters are what made-up words consist of: frequent ones, so that prompts
// in English use merges, and few, so that words come out as long as a trained
// vocabulary's and the file as large.
const letters = "etaoin"

// words yields made-up words, shortest first. With every word it has yielded
// all its prefixes and suffixes of two letters or more, so that any split of
// a word is a possible merge. space is the mark of a word's start.
func words(space string) iter.Seq[string] {
	return func(yield func(string) bool) {
		shorter := strings.Split(letters, "")
		for {
			for _, w := range shorter {
				if !yield(space + w) {
					return
				}
			}
			var longer []string
			for _, w := range shorter {
				for _, l := range letters {
					longer = append(longer, w+string(l))
					if !yield(w + string(l)) {
						return
					}
				}
			}
			shorter = longer
		}
	}
}

// byteTokens are the 256 tokens of byte-level BPE in the order of their ids:
// first the bytes that are printable in Latin-1, as themselves, then the
// others as runes from U+0100 (openai/gpt-2, src/encoder.py).
func byteTokens() []string {
	var printable, others []string
	for b := range rune(256) {
		if '!' <= b && b <= '~' || '¡' <= b && b <= '¬' || '®' <= b {
			printable = append(printable, string(b))
		} else {
			others = append(others, string(256+rune(len(others))))
		}
	}
	return append(printable, others...)
}

// bpeSpace is how byte-level BPE writes the space.
const bpeSpace = "Ġ"

// bytePairs makes a byte-level BPE vocabulary of base tokens, one merge for
// each word and extra merges beyond that: other splits of the same words, as
// in Llama 3's.
func bytePairs(base, extra int) *vocabulary {
	v := &vocabulary{}
	for _, t := range byteTokens() {
		v.add(t, tokenNormal)
	}
	for w := range words(bpeSpace) {
		if len(v.tokens) >= base {
			break
		}
		v.add(w, tokenNormal)
		runes := []rune(w)
		middle := len(runes) / 2
		v.merge(runes, middle)
		for at := 1; at < len(runes) && extra > 0; at++ {
			if at != middle {
				v.merge(runes, at)
				extra--
			}
		}
	}
	return v
}

func (v *vocabulary) merge(word []rune, at int) {
	v.merges = append(v.merges, string(word[:at])+" "+string(word[at:]))
}

// qwen2Special are the tokens from id 151643 on. QwenLM/Qwen3,
// tokenizer_config.json.
var qwen2Special = []struct {
	name string
	kind int32
}{
	{"<|endoftext|>", tokenControl},
	{"<|im_start|>", tokenControl},
	{"<|im_end|>", tokenControl},
	{"<|object_ref_start|>", tokenControl},
	{"<|object_ref_end|>", tokenControl},
	{"<|box_start|>", tokenControl},
	{"<|box_end|>", tokenControl},
	{"<|quad_start|>", tokenControl},
	{"<|quad_end|>", tokenControl},
	{"<|vision_start|>", tokenControl},
	{"<|vision_end|>", tokenControl},
	{"<|vision_pad|>", tokenControl},
	{"<|image_pad|>", tokenControl},
	{"<|video_pad|>", tokenControl},
	{"<tool_call>", tokenUserDefined},
	{"</tool_call>", tokenUserDefined},
	{"<|fim_prefix|>", tokenUserDefined},
	{"<|fim_middle|>", tokenUserDefined},
	{"<|fim_suffix|>", tokenUserDefined},
	{"<|fim_pad|>", tokenUserDefined},
	{"<|repo_name|>", tokenUserDefined},
	{"<|file_sep|>", tokenUserDefined},
	{"<tool_response>", tokenUserDefined},
	{"</tool_response>", tokenUserDefined},
	{"<think>", tokenUserDefined},
	{"</think>", tokenUserDefined},
}

// qwen2Base is the number of Qwen2's ordinary tokens.
const qwen2Base = 151643

func qwen2(size int) *vocabulary {
	v := bytePairs(min(qwen2Base, size-len(qwen2Special)), 0)
	for _, s := range qwen2Special {
		v.add(s.name, s.kind)
	}
	v.pad(size)
	return v
}

// qwen35Special are the tokens from id 248044 on that have a part in a
// conversation; the others there have names of their own in these files.
var qwen35Special = map[int]struct {
	name string
	kind int32
}{
	0:  {"<|endoftext|>", tokenControl},
	1:  {"<|im_start|>", tokenControl},
	2:  {"<|im_end|>", tokenControl},
	14: {"<tool_call>", tokenUserDefined},
	15: {"</tool_call>", tokenUserDefined},
	24: {"<think>", tokenUserDefined},
	25: {"</think>", tokenUserDefined},
}

// The numbers of Qwen3.5's ordinary and special tokens.
const (
	qwen35Base     = 248044
	qwen35Specials = 33
)

func qwen35(size int) *vocabulary {
	v := bytePairs(min(qwen35Base, size-qwen35Specials), 0)
	for i := range qwen35Specials {
		s := qwen35Special[i]
		if s.name == "" {
			s.name, s.kind = fmt.Sprintf("<|special_%d|>", i), tokenControl
		}
		v.add(s.name, s.kind)
	}
	v.pad(size)
	return v
}

// Llama 3 has 256 special tokens behind its ordinary ones: those named here at
// their offsets, the rest reserved. meta-llama/llama3, llama/tokenizer.py.
const (
	llama3Special     = 256
	llama3Words       = 128000 - 256
	llama3Merges      = 280147
	llama3BeginOfText = 0
	llama3EndOfText   = 1
)

var llama3Named = map[int]string{
	llama3BeginOfText: "<|begin_of_text|>",
	llama3EndOfText:   "<|end_of_text|>",
	6:                 "<|start_header_id|>",
	7:                 "<|end_header_id|>",
	9:                 "<|eot_id|>",
}

func llama3(size int) *vocabulary {
	base := size - llama3Special
	v := bytePairs(base, (base-256)*(llama3Merges-llama3Words)/llama3Words)
	reserved := 0
	for i := range llama3Special {
		name := llama3Named[i]
		if name == "" {
			name = fmt.Sprintf("<|reserved_special_token_%d|>", reserved)
			reserved++
		}
		v.add(name, tokenControl)
	}
	return v
}

// neoxBase is the number of GPT-NeoX's ordinary tokens, behind two special ones.
// EleutherAI/gpt-neox-20b, tokenizer.json.
const neoxBase = 50252

func neox(size int) *vocabulary {
	words := bytePairs(min(neoxBase, size-2), 0)
	v := &vocabulary{merges: words.merges}
	v.add("<|endoftext|>", tokenControl)
	v.add("<|padding|>", tokenControl)
	for _, w := range words.tokens {
		v.add(w, tokenNormal)
	}
	v.pad(size)
	return v
}

// Ids of SentencePiece's special tokens, and how it writes the space.
const (
	spmUnknown = 0
	spmBOS     = 1
	spmEOS     = 2
	spmBase    = 32000
	spmSpace   = "▁"
)

// sentencePiece makes a vocabulary in the order of Llama's: special tokens,
// bytes, words by falling score, single characters; then what was added
// behind the base. A word's score is minus its rank.
func sentencePiece(size int) *vocabulary {
	v := &vocabulary{}
	v.add("<unk>", tokenUnknown)
	v.add("<s>", tokenControl)
	v.add("</s>", tokenControl)
	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), tokenByte)
	}
	first := len(v.tokens)
	characters := []string{spmSpace}
	for c := '!'; c <= '~'; c++ {
		characters = append(characters, string(c))
	}
	base := min(spmBase, size)
	for w := range words(spmSpace) {
		if len(v.tokens)+len(characters) >= base {
			break
		}
		v.add(w, tokenNormal)
	}
	for _, c := range characters {
		v.add(c, tokenNormal)
	}
	if size > spmBase {
		v.add("<pad>", tokenControl)
	}
	v.pad(size)
	v.scores = make([]float32, len(v.tokens))
	for i := first; i < base; i++ {
		v.scores[i] = -float32(i - first)
	}
	return v
}

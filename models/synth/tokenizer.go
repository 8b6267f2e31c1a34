package synth

import "onebit/formats/container"

// tokenizers returns the tokenizer.* metadata of a vocabulary of a size, with
// the keys that the published files of each family have.
var tokenizers = map[string]func(size int) []container.KV{
	"qwen2":         qwen2Metadata,
	"qwen35":        qwen35Metadata,
	"llama-bpe":     llama3Metadata,
	"gpt-neox":      neoxMetadata,
	"sentencepiece": llamaMetadata,
}

const (
	keyModel     = "tokenizer.ggml.model"
	keyPre       = "tokenizer.ggml.pre"
	keyTokens    = "tokenizer.ggml.tokens"
	keyScores    = "tokenizer.ggml.scores"
	keyTokenType = "tokenizer.ggml.token_type"
	keyMerges    = "tokenizer.ggml.merges"
	keyBOS       = "tokenizer.ggml.bos_token_id"
	keyEOS       = "tokenizer.ggml.eos_token_id"
	keyUnknown   = "tokenizer.ggml.unknown_token_id"
	keyPadding   = "tokenizer.ggml.padding_token_id"
	keyAddBOS    = "tokenizer.ggml.add_bos_token"
	keyAddEOS    = "tokenizer.ggml.add_eos_token"
	keyTemplate  = "tokenizer.chat_template"
)

// Chat templates, cut down to what a conversation without tools needs.
const (
	chatMLTemplate = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
		"{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
	// thinkingTemplate has what tells Qwen3.5's from others: how tools are
	// called, which is left out here.
	thinkingTemplate = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
		"{#- <tool_call> <function=...> #}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"
	bitnetTemplate = "{% for message in messages %}{{ message['role'] | capitalize + ': ' + message['content'] + '<|eot_id|>' }}{% endfor %}" +
		"{% if add_generation_prompt %}{{ 'Assistant: ' }}{% endif %}"
)

func id(n int) container.Value { return container.Of(uint32(n)) }

// qwen2Metadata: end of text is token 151643 and also pads, the end of a turn
// is token 151645.
func qwen2Metadata(size int) []container.KV {
	v := qwen2(size)
	endOfText := min(qwen2Base, size-len(qwen2Special))
	return []container.KV{
		{Key: keyModel, Value: container.Of("gpt2")},
		{Key: keyPre, Value: container.Of("qwen2")},
		{Key: keyTokens, Value: container.ArrayOf(v.tokens)},
		{Key: keyTokenType, Value: container.ArrayOf(v.types)},
		{Key: keyMerges, Value: container.ArrayOf(v.merges)},
		{Key: keyEOS, Value: id(endOfText + 2)},
		{Key: keyPadding, Value: id(endOfText)},
		{Key: keyBOS, Value: id(endOfText)},
		{Key: keyAddBOS, Value: container.Of(false)},
		{Key: keyTemplate, Value: container.Of(chatMLTemplate)},
	}
}

// qwen35Metadata: the end of a turn is token 248046, and the end of text pads.
// There is no first token.
func qwen35Metadata(size int) []container.KV {
	v := qwen35(size)
	endOfText := min(qwen35Base, size-qwen35Specials)
	return []container.KV{
		{Key: keyModel, Value: container.Of("gpt2")},
		{Key: keyPre, Value: container.Of("qwen35")},
		{Key: keyTokens, Value: container.ArrayOf(v.tokens)},
		{Key: keyTokenType, Value: container.ArrayOf(v.types)},
		{Key: keyMerges, Value: container.ArrayOf(v.merges)},
		{Key: keyEOS, Value: id(endOfText + 2)},
		{Key: keyPadding, Value: id(endOfText)},
		{Key: keyAddBOS, Value: container.Of(false)},
		{Key: keyTemplate, Value: container.Of(thinkingTemplate)},
	}
}

// llama3Metadata leaves out tokenizer.ggml.pre, as the official file of
// bitnet-b1.58-2B-4T does, and has its scores, which byte-level BPE ignores.
func llama3Metadata(size int) []container.KV {
	v := llama3(size)
	special := size - llama3Special
	return []container.KV{
		{Key: keyModel, Value: container.Of("gpt2")},
		{Key: keyTokens, Value: container.ArrayOf(v.tokens)},
		{Key: keyScores, Value: container.ArrayOf(make([]float32, len(v.tokens)))},
		{Key: keyTokenType, Value: container.ArrayOf(v.types)},
		{Key: keyMerges, Value: container.ArrayOf(v.merges)},
		{Key: keyAddBOS, Value: container.Of(true)},
		{Key: keyBOS, Value: id(special + llama3BeginOfText)},
		{Key: keyEOS, Value: id(special + llama3EndOfText)},
		{Key: keyPadding, Value: id(special + llama3EndOfText)},
		{Key: keyTemplate, Value: container.Of(bitnetTemplate)},
	}
}

// neoxMetadata names the pattern as llama.cpp does for OLMo, whose vocabulary is
// GPT-NeoX's too. The end of text is token 0, and begins and pads too.
func neoxMetadata(size int) []container.KV {
	v := neox(size)
	return []container.KV{
		{Key: keyModel, Value: container.Of("gpt2")},
		{Key: keyPre, Value: container.Of("olmo")},
		{Key: keyTokens, Value: container.ArrayOf(v.tokens)},
		{Key: keyTokenType, Value: container.ArrayOf(v.types)},
		{Key: keyMerges, Value: container.ArrayOf(v.merges)},
		{Key: keyBOS, Value: id(0)},
		{Key: keyEOS, Value: id(0)},
		{Key: keyPadding, Value: id(0)},
		{Key: keyAddBOS, Value: container.Of(false)},
	}
}

func llamaMetadata(size int) []container.KV {
	v := sentencePiece(size)
	kvs := []container.KV{
		{Key: keyModel, Value: container.Of("llama")},
		{Key: keyTokens, Value: container.ArrayOf(v.tokens)},
		{Key: keyScores, Value: container.ArrayOf(v.scores)},
		{Key: keyTokenType, Value: container.ArrayOf(v.types)},
		{Key: keyBOS, Value: id(spmBOS)},
		{Key: keyEOS, Value: id(spmEOS)},
		{Key: keyUnknown, Value: id(spmUnknown)},
		{Key: keyAddBOS, Value: container.Of(true)},
		{Key: keyAddEOS, Value: container.Of(false)},
	}
	if size > spmBase {
		kvs = append(kvs, container.KV{Key: keyPadding, Value: id(spmBase)})
	}
	return kvs
}

// Package tokenizer turns text into the tokens of a model and back: byte-level
// BPE and SentencePiece as GGUF files describe them, and the layout of
// conversations.
//
//	text ── special tokens ──┬─ words (pre-tokenizer) ── bytes ──┬─ merges ── tokens
//	       taken out first   └─ SentencePiece: ▁ for spaces ─────┘
//
// [FromGGUF] reads a model file's metadata, [FromHF] a Hugging Face directory. What
// files leave out their architecture knows, which callers say ([arch.Text]).
//
// Any bytes can be encoded, and come back from the tokens: both kinds fall back
// to a token for each byte, where ggml-org/llama.cpp gives byte-level BPE U+FFFD
// for bytes that are not UTF-8. In SentencePiece, llama.cpp takes a byte that begins
// a character for as long a one as it says, whatever follows, and all of that
// becomes byte tokens; here only what is not UTF-8 does, and a letter behind it stays
// one. Only ▁ (U+2581) is a space to SentencePiece. Text
// is not normalized: Qwen's tokenizer.json asks for NFC, which llama.cpp does not
// apply either. llama.cpp takes </s> for a control token in any vocabulary; here
// it is one where the file says so, which Qwen's does not. It also takes the tokens
// of filling in the middle (<|fim_prefix|>, <|repo_name|>, <|file_sep|> and others)
// for control tokens, and ends a text at three of them; here those that a file calls
// user-defined, as Qwen's does, are found in any text, stand for their own text and
// end nothing.
//
// # Byte-level BPE
//
// tokenizer.ggml.model gpt2. Text is cut into words by a pattern, each byte of a
// word is a token, and of all neighbours that a merge joins, the one of least
// rank is joined first, of equals the leftmost. Source: openai/gpt-2
// src/encoder.py; of the order among equals huggingface/tokenizers
// tokenizers/src/models/bpe/word.rs. llama-bpe takes a word that is a token as
// it is, without merges (ignore_merges in tokenizer.json of Llama 3).
//
// The patterns, where \s is Unicode's White_Space and the first alternative that
// fits is taken; sources are openai/gpt-2 src/encoder.py and ggml-org/llama.cpp
// src/llama-vocab.cpp, llm_tokenizer_bpe, where the names are from too:
//
//	gpt-2      's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
//	qwen2      '[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]
//	           |[^\r\n\p{L}\p{N}]?\p{L}+
//	           |\p{N}
//	           | ?[^\s\p{L}\p{N}]+[\r\n]*
//	           |\s*[\r\n]+|\s+(?!\S)|\s+
//
//	llama-bpe  the same with \p{N}{1,3}
//
//	qwen35     qwen2's with [\p{L}\p{M}]+ for \p{L}+, and \p{M} not in the words of neither letters nor numbers
//
// mpt and olmo, which models with GPT-NeoX's vocabulary name, such as TriLM, have
// gpt-2's pattern too.
//
// Without tokenizer.ggml.pre the splitter is unknown, and every wrong
// choice works badly without a sign; so that is an error, as is an unknown name.
// The exception is BitNet b1.58 2B4T, whose official file has none and whose
// vocabulary is Llama 3's.
//
// # SentencePiece
//
// tokenizer.ggml.model llama. Spaces become ▁, and text gets one in front;
// neighbours are joined when the result is a token, the highest score first;
// what is no token then becomes bytes, <0x00> to <0xFF>. Source: google/
// sentencepiece src/bpe_model.cc.
//
// A Hugging Face directory has it in tokenizer.model or, as LLaMA's without one, in a
// tokenizer.json with byte_fallback, whose merges give the scores: all splits of each
// token, its own together. Of two places where the same token could be made, the left
// one is taken, as SentencePiece does; huggingface/tokenizers goes by the order of the
// two splits. Unigram models are refused.
//
// # Special tokens
//
// tokenizer.ggml.token_type tells them. User-defined ones are found in any text;
// control tokens only where that is asked for, so that a user's text cannot end
// its own turn. In both cases the leftmost wins, then the longest. Generation
// ends at eos and eot of the file and at <|eot_id|>, <|im_end|>, <|endoftext|>
// and <|end_of_text|>, because files name only one: BitNet's gives
// <|end_of_text|>, while its turns end with <|eot_id|>.
//
// # Conversations
//
// [Prompt] lays messages out as a model was taught to see them. The layouts are
// those of architectures ([arch.Chat]); [Tokenizer.Chat] finds out which one a
// model's file means. BOS comes before if the model wants it.
package tokenizer

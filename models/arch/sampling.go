package arch

// The keys by which a file suggests how its tokens are drawn. Source: ggml-org/llama.cpp
// src/llama-model.cpp, llama_model_meta_key_str.
const (
	KeySamplingTemperature = "general.sampling.temp"
	KeySamplingTopK        = "general.sampling.top_k"
	KeySamplingTopP        = "general.sampling.top_p"
	KeySamplingMinP        = "general.sampling.min_p"
	KeySamplingPenalty     = "general.sampling.penalty_repeat"
	KeySamplingWindow      = "general.sampling.penalty_last_n" // tokens; -1: all
)

package modeltest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/formats/safetensors"
	"onebit/models"
	"onebit/models/arch"
)

// HF says how WriteHF writes a checkpoint.
type HF struct {
	// Linear packs ternary projections for a linear class: "autobitlinear" or
	// "bitlinear". Empty: they are written as float32.
	Linear string
	// Files is the number of safetensors files; 0 is one without an index.
	Files int
	// InnerLN gives the inner norms 1bitLLM's names.
	InnerLN bool
}

// WriteHF writes f, a GGUF file, as a Hugging Face checkpoint of the same
// weights to the files of dir, with its tokenizer if that is byte-level BPE.
// Floats keep their type; matrices in other formats become float32.
func WriteHF(dir string, f *gguf.File, how HF) error {
	table, c, err := models.ConfigFromGGUF(f)
	if err != nil {
		return err
	}
	var tensors []safetensors.Tensor
	for _, info := range f.Tensors() {
		t, err := f.Tensor(info.Name)
		if err != nil {
			return err
		}
		dim := 0
		if table.AdjacentPairs && (strings.HasSuffix(t.Name, ".attn_q.weight") || strings.HasSuffix(t.Name, ".attn_k.weight")) {
			dim = c.HeadDim
		}
		more, err := how.tensors(&t, dim)
		if err != nil {
			return err
		}
		tensors = append(tensors, more...)
	}
	if err := how.writeTensors(dir, tensors); err != nil {
		return err
	}
	if err := writeJSON(dir, "config.json", how.config(table, c)); err != nil {
		return err
	}
	return writeTokenizer(dir, f)
}

func writeJSON(dir, name string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o600)
}

func (how HF) writeTensors(dir string, tensors []safetensors.Tensor) error {
	index := map[string]string{}
	files := max(1, how.Files)
	for i := range files {
		name := "model.safetensors"
		if how.Files > 0 {
			name = fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, files)
		}
		part := tensors[i*len(tensors)/files : (i+1)*len(tensors)/files]
		for _, t := range part {
			index[t.Name] = name
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, part); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if how.Files == 0 {
		return nil
	}
	return writeJSON(dir, "model.safetensors.index.json", map[string]any{"weight_map": index})
}

// apart brings the rows of heads from the order in which pairs lie side by side to
// the one in which they are half a head apart.
func apart(w []float32, dim, cols int) []float32 {
	out := make([]float32, len(w))
	for row := range len(w) / cols {
		head, i := row/dim, row%dim
		to := head*dim + i/2
		if i%2 == 1 {
			to += dim / 2
		}
		copy(out[to*cols:][:cols], w[row*cols:])
	}
	return out
}

// tensors returns a tensor under its name, and its scale if it is packed. dim is
// that of heads whose rows GGUF has in another order, or 0.
func (how HF) tensors(t *formats.Tensor, dim int) ([]safetensors.Tensor, error) {
	name := how.name(t.Name)
	switch t.Type {
	case formats.F32, formats.F16, formats.BF16:
		return []safetensors.Tensor{{Name: name, DType: strings.ToUpper(t.Type.Name), Shape: t.Shape, Data: t.Data}}, nil
	}
	w, err := t.Floats()
	if err != nil {
		return nil, err
	}
	rows, cols := t.Dims()
	if dim > 0 {
		w = apart(w, dim, cols)
	}
	if how.Linear == "" {
		data := make([]byte, 4*len(w))
		err := formats.F32.Quantize(data, w, rows, cols)
		return []safetensors.Tensor{{Name: name, DType: "F32", Shape: t.Shape, Data: data}}, err
	}
	scale, err := t.Type.TensorScale(t.Data, rows, cols)
	if err != nil {
		return nil, err
	}
	if how.Linear == "bitlinear" {
		scale = 1 / scale
	}
	return []safetensors.Tensor{
		{Name: name, DType: "U8", Shape: []int{rows / 4, cols}, Data: Pack(w, rows, cols)},
		{Name: name + "_scale", DType: "F32", Shape: []int{1}, Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale))},
	}, nil
}

// Pack packs ternary weights as pack_weights of huggingface/transformers
// integrations/bitnet.py does: the byte in row r has rows r, r+n, r+2n and
// r+3n from the low bits up, n a quarter of the rows; -1 is 0, 0 is 1, +1 is 2.
func Pack(w []float32, rows, cols int) []byte {
	out := make([]byte, rows/4*cols)
	for r := range rows {
		for c := range cols {
			code := byte(1)
			if x := w[r*cols+c]; x < 0 {
				code = 0
			} else if x > 0 {
				code = 2
			}
			out[r%(rows/4)*cols+c] |= code << (2 * (r / (rows / 4)))
		}
	}
	return out
}

func (how HF) name(name string) string {
	switch name {
	case "token_embd.weight":
		return "model.embed_tokens.weight"
	case "output_norm.weight":
		return "model.norm.weight"
	case "output.weight":
		return "lm_head.weight"
	}
	part := strings.SplitN(name, ".", 3)
	inner := map[string]string{
		"attn_norm.weight": "input_layernorm", "ffn_norm.weight": "post_attention_layernorm",
		"attn_q.weight": "self_attn.q_proj", "attn_k.weight": "self_attn.k_proj", "attn_v.weight": "self_attn.v_proj",
		"attn_output.weight": "self_attn.o_proj", "attn_q_norm.weight": "self_attn.q_norm", "attn_k_norm.weight": "self_attn.k_norm",
		"ffn_gate.weight": "mlp.gate_proj", "ffn_up.weight": "mlp.up_proj", "ffn_down.weight": "mlp.down_proj",
		"attn_sub_norm.weight": "self_attn.attn_sub_norm", "ffn_sub_norm.weight": "mlp.ffn_sub_norm",
	}[part[2]]
	if how.InnerLN {
		switch inner {
		case "self_attn.attn_sub_norm":
			inner = "self_attn.inner_attn_ln"
		case "mlp.ffn_sub_norm":
			inner = "mlp.ffn_layernorm"
		}
	}
	return "model.layers." + part[1] + "." + inner + ".weight"
}

func (how HF) config(t *arch.Table, c arch.Config) map[string]any {
	class := t.Classes[slices.IndexFunc(t.Classes, func(c arch.Class) bool { return c.Activation == t.Activation })]
	// Through text, so that a float32 keeps its shortest digits.
	float := func(x float32) json.Number { return json.Number(strconv.FormatFloat(float64(x), 'g', -1, 32)) }
	out := map[string]any{
		"architectures": []string{class.Name}, "hidden_act": string(t.Activation),
		"num_hidden_layers": c.Layers, "hidden_size": c.Hidden, "intermediate_size": c.FFN, "vocab_size": c.Vocab,
		"num_attention_heads": c.Heads, "num_key_value_heads": c.KVHeads, "head_dim": c.HeadDim,
		"max_position_embeddings": c.Context, "rms_norm_eps": float(c.Eps), "rope_theta": float(c.RopeBase),
		"tie_word_embeddings": c.TiedHead,
	}
	if how.Linear != "" {
		out["quantization_config"] = map[string]any{"quant_method": "bitnet", "linear_class": how.Linear, "quantization_mode": "offline"}
	}
	return out
}

// llama3Pattern is the pre-tokenizer's in Llama 3's tokenizer.json; Qwen's
// takes digits one by one.
const llama3Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// writeTokenizer writes a tokenizer.json and a tokenizer_config.json.
func writeTokenizer(dir string, f *gguf.File) error {
	if model, err := f.String("tokenizer.ggml.model"); err != nil || model != "gpt2" {
		return nil
	}
	tokens, err := f.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return err
	}
	kinds, err := f.Ints("tokenizer.ggml.token_type")
	if err != nil {
		return err
	}
	merges, err := f.Strings("tokenizer.ggml.merges")
	if err != nil {
		return err
	}
	pattern := llama3Pattern
	if pre, _ := f.String("tokenizer.ggml.pre"); pre == "qwen2" {
		pattern = strings.Replace(pattern, "{1,3}", "", 1)
	}
	vocab, added := map[string]int{}, []map[string]any{}
	for id, text := range tokens {
		if kinds[id] == 1 { // normal
			vocab[text] = id
		} else {
			added = append(added, map[string]any{"id": id, "content": text, "special": kinds[id] == 3})
		}
	}
	err = writeJSON(dir, "tokenizer.json", map[string]any{
		"added_tokens": added,
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []map[string]any{
			{"type": "Split", "pattern": map[string]string{"Regex": pattern}, "behavior": "Isolated"},
			{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
		}},
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	})
	if err != nil {
		return err
	}
	config := map[string]any{}
	for name, key := range map[string]string{"bos_token": "bos_token_id", "eos_token": "eos_token_id", "pad_token": "padding_token_id"} {
		if id, err := f.Uint("tokenizer.ggml." + key); err == nil {
			config[name] = tokens[id]
		}
	}
	if add, err := f.Bool("tokenizer.ggml.add_bos_token"); err == nil {
		config["add_bos_token"] = add
	}
	if template, err := f.String("tokenizer.chat_template"); err == nil {
		config["chat_template"] = template
	}
	return writeJSON(dir, "tokenizer_config.json", config)
}

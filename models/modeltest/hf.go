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
	"onebit/models/arch"
	"onebit/models/source"
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
	// Class is the number of the architecture's class, from 0 on, among those with its
	// activation.
	Class int
}

// WriteHF writes f, a GGUF file, as a Hugging Face checkpoint of the same
// weights to the files of dir, with its tokenizer if that is byte-level BPE.
// Floats keep their type; matrices in other formats become float32.
func WriteHF(dir string, f *gguf.File, how HF) error {
	table, c, err := source.ConfigFromGGUF(f)
	if err != nil {
		return err
	}
	w := writer{HF: how, table: table, config: c}
	for _, class := range table.Classes {
		if class.Activation == table.Activation {
			w.classes = append(w.classes, class)
		}
	}
	var tensors []safetensors.Tensor
	for _, info := range f.Tensors() {
		t, err := f.Tensor(info.Name)
		if err != nil {
			return err
		}
		more, err := w.tensors(&t)
		if err != nil {
			return err
		}
		tensors = append(tensors, more...)
	}
	for _, other := range w.class().LeftAlone {
		tensors = append(tensors, safetensors.Tensor{Name: other.Prefix + "something.weight", DType: "BF16", Shape: []int{1, 2}, Data: make([]byte, 4)})
	}
	if err := how.writeTensors(dir, tensors); err != nil {
		return err
	}
	if err := writeJSON(dir, "config.json", w.configJSON()); err != nil {
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

// A writer writes one.
type writer struct {
	HF
	table   *arch.Table
	config  arch.Config
	classes []arch.Class
	long    []float32 // divisors of the rotary embedding's frequencies
	short   []float32
}

func (w *writer) class() arch.Class { return w.classes[w.Class] }

// tensors returns a tensor under its name, and its scale if it is packed.
func (w *writer) tensors(t *formats.Tensor) ([]safetensors.Tensor, error) {
	x, err := t.Floats()
	if err != nil {
		return nil, err
	}
	rows, cols := t.Dims()
	x = w.theirs(t.Name, x, rows, cols)
	name := w.name(t.Name)
	typ, shape := t.Type, t.Shape
	switch {
	case strings.HasPrefix(t.Name, "rope_factors_"): // which config.json has
		return nil, nil
	case strings.HasSuffix(t.Name, "conv1d.weight"):
		shape = []int{rows, 1, cols}
	case typ == formats.F32 || typ == formats.F16 || typ == formats.BF16:
	case w.Linear != "":
		return w.packed(t, name, x)
	default:
		typ = formats.F32
	}
	m, err := typ.NewMatrix(rows, cols)
	if err == nil {
		err = m.Quantize(x)
	}
	if len(shape) == 3 && strings.Contains(name, "*") { // experts are a tensor each
		var out []safetensors.Tensor
		for e := range shape[0] {
			n := len(m.Data) / shape[0]
			out = append(out, safetensors.Tensor{
				Name: strings.Replace(name, "*", strconv.Itoa(e), 1), DType: strings.ToUpper(typ.Name), Shape: shape[1:], Data: m.Data[e*n:][:n],
			})
		}
		return out, err
	}
	return []safetensors.Tensor{{Name: name, DType: strings.ToUpper(typ.Name), Shape: shape, Data: m.Data}}, err
}

func (w *writer) packed(t *formats.Tensor, name string, x []float32) ([]safetensors.Tensor, error) {
	rows, cols := t.Dims()
	scale, err := t.Matrix().TensorScale()
	if err != nil {
		return nil, err
	}
	if w.Linear == "bitlinear" {
		scale = 1 / scale
	}
	return []safetensors.Tensor{
		{Name: name, DType: "U8", Shape: []int{rows / 4, cols}, Data: Pack(x, rows, cols)},
		{Name: name + "_scale", DType: "F32", Shape: []int{1}, Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale))},
	}, nil
}

// theirs are a tensor's values as checkpoints have them. Of LLaMA's kind, the rows of
// queries and keys have pairs half a head apart. Of qwen35, value heads lie beside
// those that share their key head; gains are less by 1, but for the delta nets'; and
// rates are logarithms of what they are less the sign.
func (w *writer) theirs(name string, x []float32, rows, cols int) []float32 {
	switch part := name[strings.LastIndex(strings.TrimSuffix(name, ".weight"), ".")+1:]; part {
	case "rope_factors_long.weight":
		w.long = x
	case "rope_factors_short.weight":
		w.short = x
	case "attn_q.weight", "attn_k.weight":
		if w.table.AdjacentPairs {
			return apart(x, w.config.HeadDim, cols)
		}
	case "attn_qkv.weight", "ssm_conv1d.weight":
		return w.grouped(x, 2*w.config.Delta.Keys(), w.config.Delta.HeadDim, cols)
	case "attn_gate.weight":
		return w.grouped(x, 0, w.config.Delta.HeadDim, cols)
	case "ssm_alpha.weight", "ssm_beta.weight":
		return w.grouped(x, 0, 1, cols)
	case "bias":
		return w.grouped(x, 0, 1, 1)
	case "ssm_a":
		out := w.grouped(x, 0, 1, 1)
		for i, rate := range out {
			out[i] = float32(math.Log(-float64(rate)))
		}
		return out
	case "ssm_out.weight":
		var out []float32
		for row := range slices.Chunk(x, cols) {
			out = append(out, w.grouped(row, 0, w.config.Delta.HeadDim, 1)...)
		}
		return out
	case "output_norm.weight", "attn_norm.weight", "post_attention_norm.weight", "attn_q_norm.weight", "attn_k_norm.weight":
		if w.config.Delta.Interval > 0 {
			out := slices.Clone(x)
			for i := range out {
				out[i]--
			}
			return out
		}
	}
	return x
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

// grouped brings the rows of value heads, of which each has some from a row on, beside
// those that share their key head.
func (w *writer) grouped(x []float32, from, each, cols int) []float32 {
	out := slices.Clone(x)
	next := out[from*cols:]
	d := w.config.Delta
	for key := range d.KeyHeads {
		for head := key; head < d.ValueHeads; head += d.KeyHeads {
			next = next[copy(next, x[(from+head*each)*cols:][:each*cols]):]
		}
	}
	return out
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

func (w *writer) name(name string) string {
	prefix := "model." + w.class().Within
	switch name {
	case "token_embd.weight":
		if w.config.Experts.Count > 0 {
			return prefix + "word_embeddings.weight"
		}
		return prefix + "embed_tokens.weight"
	case "output_norm.weight":
		return prefix + "norm.weight"
	case "output.weight":
		return "lm_head.weight"
	}
	if strings.HasPrefix(name, "rope_factors_") {
		return ""
	}
	part := strings.SplitN(name, ".", 3)
	inner := map[string]string{
		"attn_norm.weight": "input_layernorm", "ffn_norm.weight": "post_attention_layernorm",
		"attn_q.weight": "self_attn.q_proj", "attn_k.weight": "self_attn.k_proj", "attn_v.weight": "self_attn.v_proj",
		"attn_output.weight": "self_attn.o_proj", "attn_q_norm.weight": "self_attn.q_norm", "attn_k_norm.weight": "self_attn.k_norm",
		"ffn_gate.weight": "mlp.gate_proj", "ffn_up.weight": "mlp.up_proj", "ffn_down.weight": "mlp.down_proj",
		"ffn_gate_inp.weight": "mlp.gate", "ffn_gate_exps.weight": "mlp.experts.*.gate_proj", "ffn_up_exps.weight": "mlp.experts.*.up_proj",
		"ffn_down_exps.weight": "mlp.experts.*.down_proj",
		"attn_sub_norm.weight": "self_attn.attn_sub_norm", "ffn_sub_norm.weight": "mlp.ffn_sub_norm",
		"post_attention_norm.weight": "post_attention_layernorm", "attn_qkv.weight": "linear_attn.in_proj_qkv", "attn_gate.weight": "linear_attn.in_proj_z",
		"ssm_alpha.weight": "linear_attn.in_proj_a", "ssm_beta.weight": "linear_attn.in_proj_b", "ssm_conv1d.weight": "linear_attn.conv1d",
		"ssm_norm.weight": "linear_attn.norm", "ssm_out.weight": "linear_attn.out_proj", "ssm_dt.bias": "linear_attn.dt_bias", "ssm_a": "linear_attn.A_log",
	}[part[2]]
	if !strings.HasSuffix(part[2], ".weight") {
		return prefix + "layers." + part[1] + "." + inner
	}
	if w.InnerLN {
		switch inner {
		case "self_attn.attn_sub_norm":
			inner = "self_attn.inner_attn_ln"
		case "mlp.ffn_sub_norm":
			inner = "mlp.ffn_layernorm"
		}
	}
	return prefix + "layers." + part[1] + "." + inner + ".weight"
}

func (w *writer) configJSON() map[string]any {
	c := w.config
	// Through text, so that a float32 keeps its shortest digits.
	float := func(x float32) json.Number { return json.Number(strconv.FormatFloat(float64(x), 'g', -1, 32)) }
	out := map[string]any{
		"architectures": []string{w.class().Name}, "hidden_act": string(w.table.Activation),
		"num_hidden_layers": c.Layers, "hidden_size": c.Hidden, "intermediate_size": c.FFN, "vocab_size": c.Vocab,
		"num_attention_heads": c.Heads, "num_key_value_heads": c.KVHeads, "head_dim": c.HeadDim,
		"max_position_embeddings": c.Context, "rms_norm_eps": float(c.Eps), "rope_theta": float(c.RopeBase),
		"tie_word_embeddings": c.TiedHead,
	}
	if w.Linear != "" {
		out["quantization_config"] = map[string]any{"quant_method": "bitnet", "linear_class": w.Linear, "quantization_mode": "offline"}
	}
	if c.LogitScale > 0 {
		out["scale_emb"] = c.EmbeddingScale
		out["scale_depth"] = float64(c.ResidualScale) * math.Sqrt(float64(c.Layers))
		out["dim_model_base"] = float64(c.Hidden) / float64(c.LogitScale)
	}
	if c.RopeScaling.Type == arch.LongRope {
		out["rope_scaling"] = map[string]any{"rope_type": "longrope", "short_factor": w.short, "long_factor": w.long, "original_max_position_embeddings": c.RopeScaling.OriginalContext}
	}
	if e := c.Experts; e.Count > 0 {
		out["num_experts"], out["num_experts_per_tok"], out["moe_intermediate_size"], out["intermediate_size"] = e.Count, e.Used, c.FFN, 16
		out["sliding_window"], out["nope_on_global_attention"], out["norm_topk_prob"] = c.Sliding.Window, true, true
		out["partial_rotary_factor"] = float64(c.RopeDim) / float64(c.HeadDim)
		var kinds []string
		for i := range c.Layers {
			kinds = append(kinds, map[bool]string{true: "full_attention", false: "sliding_attention"}[(i+1)%c.Sliding.Interval == 0])
		}
		out["layer_types"] = kinds
	}
	if c.Delta.Interval == 0 {
		return out
	}
	delete(out, "rope_theta")
	out["rope_parameters"] = map[string]any{"rope_type": "default", "rope_theta": float(c.RopeBase), "partial_rotary_factor": float64(c.RotaryDim()) / float64(c.HeadDim),
		"mrope_interleaved": true, "mrope_section": []int{11, 11, 10}}
	out["linear_num_key_heads"], out["linear_num_value_heads"] = c.Delta.KeyHeads, c.Delta.ValueHeads
	out["linear_key_head_dim"], out["linear_value_head_dim"] = c.Delta.HeadDim, c.Delta.HeadDim
	out["linear_conv_kernel_dim"], out["mtp_num_hidden_layers"], out["attn_output_gate"] = c.Delta.Taps, 1, true
	var kinds []string
	for i := range c.Layers {
		kinds = append(kinds, map[bool]string{true: "full_attention", false: "linear_attention"}[(i+1)%c.Delta.Interval == 0])
	}
	out["layer_types"] = kinds
	if w.class().Within == "" {
		return out
	}
	classes := out["architectures"]
	delete(out, "architectures")
	return map[string]any{"architectures": classes, "text_config": out, "vision_config": map[string]any{"hidden_size": 1}, "tie_word_embeddings": !c.TiedHead}
}

// llama3Pattern is the pre-tokenizer's in Llama 3's tokenizer.json; Qwen's
// takes digits one by one.
const llama3Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// markedPattern is Qwen3.5's, which has marks among the letters.
const markedPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

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
	switch pre, _ := f.String("tokenizer.ggml.pre"); pre {
	case "", "llama-bpe":
	case "qwen2":
		pattern = strings.Replace(pattern, "{1,3}", "", 1)
	default:
		pattern = markedPattern
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

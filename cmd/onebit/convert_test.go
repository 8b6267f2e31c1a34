package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/formats/safetensors"
	"onebit/internal/half"
	"onebit/internal/require"
	"onebit/models/arch"
	"onebit/models/convert"
	"onebit/models/modeltest"
	"onebit/models/synth"
)

// A packed checkpoint of LLaMA's kind, as HF1BitLLM's and tiiuae's are, becomes what
// the formulas make of its bytes. The byte of row r and column c has the weights of
// rows r, r+n, r+2n and r+3n from the low bits up, n a quarter of the rows, each 1
// more than its digit, and a weight is its digit divided by weight_scale. Rows 2i and
// 2i+1 of a head of queries or keys are its rows i and i+d/2.
func TestConvertPackedLlama(t *testing.T) {
	p, err := arch.LookupPreset("tiny-llama")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	var b bytes.Buffer
	check(synth.Write(&b, p, 3))
	f, err := gguf.Parse(b.Bytes(), "model.gguf", gguf.Options{})
	check(err)
	dir := t.TempDir()
	check(modeltest.WriteHF(dir, f, modeltest.HF{Linear: "bitlinear"}))
	files, err := safetensors.OpenDir(dir)
	check(err)
	defer files.Close()
	theirs := map[string]string{
		"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
		"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
	}
	rounded := func(s float32) float32 { return half.ToFloat32(half.FromFloat32(s)) }
	for format, scaleOf := range map[string]func(float32) float32{
		"i2_s": func(s float32) float32 { return s }, "tq2_0": rounded, "tq1_0": rounded,
	} {
		out := filepath.Join(t.TempDir(), format+".gguf")
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.NewReader(""), io.Discard, &stderr, []string{"convert", dir, out, "--type", format}); code != 0 || stderr.Len() > 0 {
			t.Fatalf("%s: exit %d: %s", format, code, stderr.String())
		}
		made, err := gguf.Open(out, gguf.Options{})
		check(err)
		for ours, name := range theirs {
			hf := "model.layers.1." + name + ".weight"
			packed, err := files.Raw(hf)
			check(err)
			scale, err := files.Tensor(hf + "_scale")
			check(err)
			divisor, err := scale.Floats()
			check(err)
			tensor, err := made.Tensor("blk.1." + ours + ".weight")
			check(err)
			if tensor.Type.Name != format {
				t.Errorf("%s is %s, want %s", tensor.Name, tensor.Type.Name, format)
			}
			got, err := tensor.Floats()
			check(err)
			rows, cols := tensor.Dims()
			for i, w := range got {
				row, col := i/cols, i%cols
				if dim := p.Config.HeadDim; ours == "attn_q" || ours == "attn_k" {
					pair, second := row%dim/2, row%2
					row += pair + second*dim/2 - row%dim
				}
				digit := int(packed[row%(rows/4)*cols+col]>>(2*(row/(rows/4)))&3) - 1
				if want := float32(digit) * scaleOf(1/divisor[0]); w != want {
					t.Errorf("%s: %s, weight %d is %v, want %v", format, ours, i, w, want)
					break
				}
			}
		}
		check(made.Close())
	}
}

// A checkpoint of floats that are ternary with several scales to a matrix, as TriLM's
// are, keeps every weight in a format that has as many, in GGUF's order of queries and
// keys; of one that has not the warning says which have.
func TestConvertManyScales(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	p, err := arch.LookupPreset("tiny-llama")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	var b bytes.Buffer
	check(synth.Write(&b, p, 4))
	f, err := gguf.Parse(b.Bytes(), "model.gguf", gguf.Options{})
	check(err)
	var tensors []container.TensorInfo
	data := map[string][]byte{}
	for _, info := range f.Tensors() {
		tensor, err := f.Tensor(info.Name)
		check(err)
		if data[info.Name] = tensor.Data; info.Type == formats.I2_S {
			w, err := tensor.Floats()
			check(err)
			rows, cols := tensor.Dims()
			for i := range w { // two halves of the rows
				if w[i] != 0 {
					w[i] = float32(math.Copysign(0.5+float64(i/cols*2/rows), float64(w[i])))
				}
			}
			info.Type, data[info.Name] = formats.F16, make([]byte, 2*len(w))
			check(formats.F16.Matrix(data[info.Name], rows, cols).Quantize(w))
		}
		tensors = append(tensors, info)
	}
	b.Reset()
	w, err := gguf.NewWriter(&b, f.Metadata(), tensors)
	check(err)
	for _, info := range tensors {
		check(w.WriteTensor(info.Name, data[info.Name]))
	}
	check(w.Close())
	f, err = gguf.Parse(b.Bytes(), "model.gguf", gguf.Options{})
	check(err)
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out.gguf")
	check(modeltest.WriteHF(dir, f, modeltest.HF{}))
	convertTo := func(format string) (int, string) {
		var stderr bytes.Buffer
		code := run(t.Context(), strings.NewReader(""), io.Discard, &stderr, []string{"convert", dir, out, "--type", format, "--force"})
		return code, stderr.String()
	}
	code, stderr := convertTo("i2_s")
	if want := `21 of them have weights of -s, 0 and +s already, with more scales s than i2_s has: --type `; code != 0 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "tq2_0") {
		t.Errorf("i2_s: exit %d, %s", code, stderr)
	}
	for _, format := range []string{"tq2_0", "tq1_0", "q2_0_g128"} {
		if code, stderr := convertTo(format); code != 0 || stderr != "" {
			t.Fatalf("%s: exit %d, %s", format, code, stderr)
		}
		made, err := gguf.Open(out, gguf.Options{})
		check(err)
		for _, info := range tensors {
			if info.Type != formats.F16 || !convert.Projection(info.Name) {
				continue
			}
			got, err := made.Tensor(info.Name)
			check(err)
			x, err := got.Floats()
			check(err)
			was := formats.Tensor{Name: info.Name, Type: info.Type, Shape: info.Shape, Data: data[info.Name]}
			y, err := was.Floats()
			check(err)
			if got.Type.Name != format || !slices.Equal(x, y) {
				t.Errorf("%s in %s differs from the checkpoint's", info.Name, got.Type.Name)
			}
		}
		check(made.Close())
	}
}

func TestConvertJSON(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.gguf")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr, []string{"convert", tinyModel(t, "tiny-bitnet"), out, "--type", "tq2_0", "--json"}); code != 0 {
		t.Fatal(stderr.String())
	}
	var d conversionDocument
	if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	if len(d.Files) != 1 || d.Files[0] != out || len(d.Converted) == 0 || d.Converted[0].To != "tq2_0" || d.Converted[0].How != "quantized" || d.Copied["f32"] == 0 {
		t.Errorf("%+v", d)
	}
}

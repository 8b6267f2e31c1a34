package gopher_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/models"
	_ "onebit/models/engine/cpu"
	"onebit/models/gopher"
	"onebit/models/source"
	"onebit/models/synth"
	"onebit/models/tokenizer"
	"onebit/models/train/lm"
)

// sentences are as Go's documentation has them, and of no package that is trained on.
const sentences = `
func (r *Reader) ReadByte() (byte, error)
    ReadByte reads and returns the next byte from the buffer.
    It returns an error if no byte is available.

func NewWriter(w io.Writer) *Writer
    NewWriter returns a new Writer that writes to w.
    The caller must call Close when done with it.
`

// Each model loads on the engine, holds its vocabulary, and predicts documentation far
// better than letters one by one would: its weights are trained.
func TestModels(t *testing.T) {
	for _, name := range gopher.Names() {
		t.Run(name, func(t *testing.T) {
			src, err := gopher.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			meta, err := src.Metadata()
			if err != nil {
				t.Fatal(err)
			}
			if synth.Made(meta) {
				t.Error("the weights are random")
			}
			tok, err := src.Tokenizer()
			if err != nil {
				t.Fatal(err)
			}
			m, err := models.Load(context.Background(), src, models.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if bits := bitsPerByte(t, m, tok, sentences); bits > 1.2 {
				t.Errorf("%.2f bits per byte of documentation", bits)
			}
			if size := len(gopher.File(name)); size > 2<<20 {
				t.Errorf("the file has %d bytes", size)
			}
		})
	}
}

func bitsPerByte(t *testing.T, m *models.Model, tok *tokenizer.Tokenizer, text string) float64 {
	t.Helper()
	s, err := m.NewSession(models.SessionOptions{Cache: formats.F32})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ids := append([]int{tok.EOS()}, tok.Encode(text, tokenizer.Options{})...)
	next, nats := 1, 0.0
	for logits, err := range s.Logits(ids[:len(ids)-1]) {
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, z := range logits {
			sum += math.Exp(float64(z - logits[ids[next]]))
		}
		nats += math.Log(sum)
		next++
	}
	return nats / math.Ln2 / float64(len(text))
}

// Weights are those that were trained, whatever is written beside them: a digest of all
// tensors' bytes in their order. Beside them stand whose text they are of and how to draw
// tokens, which onebit's own training writes too.
func TestWeightsAndCredit(t *testing.T) {
	for name, want := range map[string]string{
		gopher.Ternary: "e9b5774bbec421e70a1b1221f3c76aa71b23883a0ac9b701522421db16a2ff60",
		gopher.OneBit:  "56c7b8f7faa255e4407e4c22f29f335122212093492b15b85b885fd3b144c0e4",
	} {
		f, err := gguf.Parse(gopher.File(name), name, gguf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		for _, info := range f.Tensors() {
			data, err := f.Raw(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			sum.Write(data)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != want {
			t.Errorf("%s: the tensors have digest %s, want %s", name, got, want)
		}
		for _, kv := range lm.About("the documentation of go1.26.8") {
			if v, ok := f.Value(kv.Key); !ok || v.String() != kv.Value.String() {
				t.Errorf("%s: %s is %v, want %v", name, kv.Key, v, kv.Value)
			}
		}
		if credit, err := f.String("general.dataset.0.description"); err != nil || !strings.Contains(credit, "The Go Authors, BSD-3-Clause") {
			t.Errorf("%s: the text is credited as %q, %v", name, credit, err)
		}
		opt, ok, err := models.SuggestedSampling(source.FromGGUF(f))
		if err != nil || !ok || opt.RepetitionPenalty <= 1 {
			t.Errorf("%s suggests %+v, %t, %v", name, opt, ok, err)
		}
	}
}

func TestNames(t *testing.T) {
	if gopher.Names()[0] != gopher.Default || !gopher.Has(gopher.OneBit) || gopher.Has("gopher") || gopher.File("gopher") != nil {
		t.Errorf("names %q", gopher.Names())
	}
	if _, err := gopher.Open("gopher"); err == nil {
		t.Error("there is a model of another name")
	}
}

package gopher_test

import (
	"context"
	"math"
	"testing"

	"onebit/formats"
	"onebit/models"
	"onebit/models/gopher"
	"onebit/models/synth"
	"onebit/models/tokenizer"
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

func TestNames(t *testing.T) {
	if gopher.Names()[0] != gopher.Default || !gopher.Has(gopher.OneBit) || gopher.Has("gopher") || gopher.File("gopher") != nil {
		t.Errorf("names %q", gopher.Names())
	}
	if _, err := gopher.Open("gopher"); err == nil {
		t.Error("there is a model of another name")
	}
}

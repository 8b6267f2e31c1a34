package perplexity_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"onebit/models/perplexity"
)

// handmade is a file of one window of 4 tokens with a vocabulary of 3, written
// down from the layout: codes 0, 65535 and 32768 in steps of 2⁻¹³ above -12.
func handmade() []byte {
	b := []byte("_logits_")
	for _, n := range []uint32{4, 3, 1, 2, 0, 1, 2} { // context, vocabulary, windows, tokens
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	for _, x := range []float32{0.0001220703125, -12} { // 2⁻¹³
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	for _, code := range []uint16{0, 65535, 32768, 0xdead} { // the last is padding
		b = binary.LittleEndian.AppendUint16(b, code)
	}
	return b
}

func TestLogitReader(t *testing.T) {
	data := handmade()
	f, err := perplexity.NewLogitReader(bytes.NewReader(data), int64(len(data)), "base")
	if err != nil {
		t.Fatal(err)
	}
	if f.Context != 4 || f.Vocab != 3 || f.Windows() != 1 || fmt.Sprint(f.Tokens) != "[2 0 1 2]" || f.Bytes() != int64(len(data)) {
		t.Errorf("header %+v, %d bytes of %d", f.LogitHeader, f.Bytes(), len(data))
	}
	for logits, err := range f.Logits([]int{1}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := []float32{-12, -12 + 65535./8192, -8}; fmt.Sprint(logits) != fmt.Sprint(want) {
			t.Errorf("ln p %v, want %v", logits, want)
		}
	}
	for _, err := range f.Logits([]int{1}) {
		if err == nil {
			t.Error("logits behind the end")
		}
	}
}

// The logits 5, 1 and -20: norm is ln(1 + e⁻⁴ + e⁻²⁵) + 5, the least that codes
// reach is 5 - 16.
func TestLogitWriter(t *testing.T) {
	var b bytes.Buffer
	w, err := perplexity.NewLogitWriter(&b, perplexity.LogitHeader{Context: 4, Vocab: 3, Tokens: []int{2, 0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || err.Error() != "the logits of 1 scored tokens are missing" {
		t.Errorf("closing a file without its logits: %v", err)
	}
	s := w.Saving(&fake{logits: map[int][]float32{1: {5, 1, -20}}})
	for _, err := range s.Logits([]int{1}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := handmade()[:36]
	for _, x := range []float64{16. / 65535, -16 - math.Log1p(math.Exp(-4)+math.Exp(-25))} {
		want = binary.LittleEndian.AppendUint32(want, math.Float32bits(float32(x)))
	}
	for _, code := range []uint16{65535, 49151, 0, 0} { // 12/16 of 65535 is 49151.25
		want = binary.LittleEndian.AppendUint16(want, code)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("wrote\n%x, want\n%x", b.Bytes(), want)
	}
	for _, err := range s.Logits([]int{1}) {
		if err == nil {
			t.Error("logits of a token that no window scores were written")
		}
	}
}

// A model compared with its own saved logits is as good as the same, and one
// compared with another's saved logits differs as it does from the other.
func TestSavedAndLive(t *testing.T) {
	ids := make([]int, 40)
	for i := range ids {
		ids[i] = i * 37 % 512
	}
	p := perplexity.Protocol{Context: 16, BOS: 7}
	m := perplexity.LogitHeader{Context: 16, Vocab: 512, Tokens: ids[:32]}
	model, reference := session(t, engine), session(t, referenceEngine)
	var b bytes.Buffer
	w, err := perplexity.NewLogitWriter(&b, m)
	if err != nil {
		t.Fatal(err)
	}
	saved := last(t, p.Evaluate(t.Context(), w.Saving(reference), ids))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != m.Bytes() {
		t.Errorf("%d bytes, want %d", b.Len(), m.Bytes())
	}
	from := func() *perplexity.LogitReader {
		f, err := perplexity.NewLogitReader(bytes.NewReader(b.Bytes()), int64(b.Len()), "base")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	same := last(t, p.Compare(t.Context(), reference, from(), ids[:32]))
	if kld := same.KLD.Value(); math.Abs(kld) > 2e-5 {
		t.Errorf("divergence %v from its own saved logits", kld)
	}
	if math.Abs(same.NLLDiff.Value()) > 1e-4 || same.SameTop.Value() != 1 {
		t.Errorf("differs from its own saved logits: %+v", same)
	}
	near(t, "NLL", same.NLL.Value(), saved.NLL.Value())

	live := last(t, p.Compare(t.Context(), model, reference, ids))
	file := last(t, p.Compare(t.Context(), model, from(), ids[:32]))
	if d := math.Abs(live.KLD.Value() - file.KLD.Value()); !(d <= 2e-5) || live.KLD.Value() < 1e-4 {
		t.Errorf("divergence %v from the reference, %v from its saved logits", live.KLD.Value(), file.KLD.Value())
	}

	for _, c := range []struct {
		p    perplexity.Protocol
		ids  []int
		want string
	}{
		{perplexity.Protocol{Context: 8, BOS: 7}, ids[:32], "windows of 16 tokens"},
		{perplexity.Protocol{Context: 16, Stride: 4}, ids[:32], "do not overlap"},
		{p, ids[1:33], "another text"},
	} {
		for _, err := range c.p.Compare(t.Context(), model, from(), c.ids) {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		}
	}
}

func TestDamagedLogits(t *testing.T) {
	put := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[at:], v)
			return b
		}
	}
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
		want   string
	}{
		{"empty", func(b []byte) []byte { return nil }, `does not begin with "_logits_"`},
		{"magic", put(0, 0), `does not begin with "_logits_"`},
		{"cut header", func(b []byte) []byte { return b[:15] }, `does not begin with "_logits_"`},
		{"small context", put(8, 3), "a context of 3 tokens"},
		{"negative context", put(8, math.MaxUint32), "a context of -1 tokens"},
		{"no vocabulary", put(12, 0), "a vocabulary of 0 tokens"},
		{"large vocabulary", put(12, 1<<30), "a vocabulary of 1073741824 tokens"},
		{"no windows", put(16, 0), "is not the size of 0 windows"},
		{"many windows", put(16, math.MaxInt32), "is not the size of 2147483647 windows"},
		{"token", put(20, 3), "token 0 of the text is 3, not in the vocabulary of 3"},
		{"negative token", put(32, math.MaxUint32), "token 3 of the text is -1"},
		{"cut", func(b []byte) []byte { return b[:len(b)-1] }, "it was cut off or damaged"},
		{"too long", func(b []byte) []byte { return append(b, 0) }, "it was cut off or damaged"},
		{"NaN", put(36, math.Float32bits(float32(math.NaN()))), "no logarithms of probabilities"},
		{"infinite", put(40, math.Float32bits(float32(math.Inf(-1)))), "no logarithms of probabilities"},
		{"negative step", put(36, math.Float32bits(-1)), "no logarithms of probabilities"},
		{"probability above 1", put(40, 0), "no logarithms of probabilities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := c.damage(handmade())
			if err := readAll(data); err == nil || !strings.HasPrefix(err.Error(), "base: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want the file and %q", err, c.want)
			}
		})
	}
}

// A row of probabilities that do not sum to 1 is no reference: neither one as
// small as float32 can say, whose perplexity is infinite, nor one of codes in
// the place of others.
func TestNoDistribution(t *testing.T) {
	row := func(step, least float32, codes ...uint16) []byte {
		b := handmade()[:36]
		for _, x := range []float32{step, least} {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		for _, code := range append(codes, 0) {
			b = binary.LittleEndian.AppendUint16(b, code)
		}
		return b
	}
	third := -float32(math.Log(3))
	// ln(e⁻⁸ + e⁻¹² + 1) above them: the likeliest has code 65535, 12 nats above the least.
	steep := float32(12. / 65535)
	least := -12 - float32(math.Log1p(math.Exp(-8)+math.Exp(-12)))
	for _, c := range []struct {
		name string
		data []byte
		want string // "": it is a distribution
	}{
		{"uniform", row(0, third, 0, 0, 0), ""},
		{"steep", row(steep, least, 0, 65535, 21845), ""},
		{"next to nothing", row(0, -1e30, 0, 0, 0), "base: row 1: probabilities that sum to 0 are no distribution: the file is damaged (at byte 36)"},
		{"too little", row(0, third-0.01, 0, 0, 0), "sum to 0.99"},
		{"too much", row(0, third+0.01, 0, 0, 0), "sum to 1.01"},
		{"a code twice", row(steep, least, 0, 65535, 65535), "sum to 1.999"},
	} {
		f, err := perplexity.NewLogitReader(bytes.NewReader(c.data), int64(len(c.data)), "base")
		if err != nil {
			t.Fatal(err)
		}
		s := &fake{logits: map[int][]float32{1: {5, 1, -20}}}
		for _, err = range (perplexity.Protocol{Context: 4, BOS: -1}).Compare(t.Context(), s, f, f.Tokens) {
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// readAll reads a whole file.
func readAll(data []byte) error {
	f, err := perplexity.NewLogitReader(bytes.NewReader(data), int64(len(data)), "base")
	if err != nil {
		return err
	}
	scored := perplexity.Protocol{Context: f.Context}.Scored()
	for _, err := range f.Logits(make([]int, f.Windows()*scored)) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestLogitHeaderRefused(t *testing.T) {
	for _, c := range []struct {
		h    perplexity.LogitHeader
		want string
	}{
		{perplexity.LogitHeader{Context: 2, Vocab: 3, Tokens: []int{0, 0}}, "a context of 2 tokens"},
		{perplexity.LogitHeader{Context: 4, Vocab: 3}, "0 tokens are no whole windows of 4"},
		{perplexity.LogitHeader{Context: 4, Vocab: 3, Tokens: []int{0, 0, 0, 0, 0}}, "5 tokens are no whole windows of 4"},
		{perplexity.LogitHeader{Context: 4, Vocab: 3, Tokens: []int{0, 0, 0, 3}}, "token 3 of the text is 3"},
	} {
		if _, err := perplexity.NewLogitWriter(new(bytes.Buffer), c.h); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// Whatever the bytes, reading ends in an error or in as many finite values as
// the header says.
func FuzzLogitReader(f *testing.F) {
	f.Add(handmade())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := perplexity.NewLogitReader(bytes.NewReader(data), int64(len(data)), "base")
		if err != nil {
			return
		}
		if r.Bytes() != int64(len(data)) {
			t.Fatalf("accepted %d bytes, want %d", len(data), r.Bytes())
		}
		for logits, err := range r.Logits(make([]int, r.Windows())) {
			if err != nil {
				return
			}
			for _, x := range logits {
				if !(x <= 0.01) || math.IsInf(float64(x), 0) {
					t.Fatalf("ln p %v", x)
				}
			}
		}
	})
}

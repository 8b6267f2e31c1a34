package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/require"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/engine/plain"
	"onebit/models/gopher"
	"onebit/models/perplexity"
	"onebit/models/source"
	"onebit/models/synth"
	"onebit/models/tokenizer"
)

// TestMain also is the program on a pipe that TestProgram starts.
func TestMain(m *testing.M) {
	if model := os.Getenv("ONEBIT_TEST_ANSWER"); model != "" {
		if err := answerOnPipe(model); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// An opener opens a model again and again.
type opener func() (source.Source, error)

// synthetic is a preset with other numbers.
func synthetic(t testing.TB, preset string, change func(*arch.Config), types ...string) opener {
	t.Helper()
	p, err := arch.LookupPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	changed := *p
	change(&changed.Config)
	var b bytes.Buffer
	if err := synth.Write(&b, &changed, 1); err != nil {
		t.Fatal(err)
	}
	return parsed(b.Bytes(), types...)
}

func parsed(file []byte, types ...string) opener {
	return func() (source.Source, error) {
		f, err := gguf.Parse(file, "model.gguf", gguf.Options{Types: types})
		if err != nil {
			return nil, err
		}
		return source.FromGGUF(f), nil
	}
}

// A recast source has its projections in another format.
type recast struct {
	source.Source
	to *formats.Type
}

func (r recast) projection(name string) bool {
	return strings.HasPrefix(name, "blk.") && !strings.Contains(name, "norm")
}

func (r recast) Tensor(name string) (formats.Tensor, error) {
	t, err := r.Source.Tensor(name)
	if err != nil || !r.projection(name) {
		return t, err
	}
	values, err := t.Floats()
	if err != nil {
		return t, err
	}
	rows, cols := t.Dims()
	m, err := r.to.NewMatrix(rows, cols)
	if err != nil {
		return t, err
	}
	t.Type, t.Data = r.to, m.Data
	return t, m.Quantize(values)
}

func (r recast) Tensors() []container.TensorInfo {
	all := slices.Clone(r.Source.Tensors())
	for i, t := range all {
		if r.projection(t.Name) {
			all[i].Type = r.to
		}
	}
	return all
}

func (r recast) InPlace() bool { return false }

func same(*arch.Config) {}

// models that faults are planted in, by name.
func plantedModels(t testing.TB) map[string]opener {
	bitnet := synthetic(t, "tiny-bitnet", same)
	return map[string]opener{
		"bitnet":  bitnet,
		"ternary": func() (source.Source, error) { return gopher.Open(gopher.Ternary) },
		"untied":  synthetic(t, "tiny", func(c *arch.Config) { c.TiedHead = false }),
		"llama":   synthetic(t, "tiny-llama", same),
		"q2_0": func() (source.Source, error) {
			src, err := bitnet()
			return recast{src, formats.Q2_0}, err
		},
	}
}

// someText is tokens of a model, with its BOS if it wants one.
func someText(t testing.TB, open opener, n int) Text {
	t.Helper()
	src, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	_, config, err := src.Config()
	if err != nil {
		t.Fatal(err)
	}
	tok, err := src.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	if tok.AddBOS() {
		ids = append(ids, tok.BOS())
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for len(ids) < n {
		ids = append(ids, 256+rng.IntN(config.Vocab-256))
	}
	return Whole(ids)
}

// answers are those of an engine with a fault; nil: none. Its activations are rounded,
// and its sums those of kernels, as the reference's are not.
func answers(t testing.TB, open opener, on engine.Opener, fault *Variation, text Text) *Answers {
	t.Helper()
	if fault == nil {
		fault = new(Variation)
	}
	if _, shorter := fault.text(text); shorter > 0 {
		text.Asked = text.Asked[shorter:] // which an engine that skips the BOS does not answer
	}
	a := &Answers{From: "test", Texts: []Text{text}, Rows: [][]Row{make([]Row, len(text.Asked))}}
	r := &Reference{Open: open, Engine: on}
	m, err := r.model(&Answers{Texts: a.Texts, Rows: [][]Row{nil}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Rows[0] {
		a.Rows[0][i] = Row{LogProbs: make([]float32, m.Vocab)}
	}
	logits, _, err := r.rows(t.Context(), m, fault, a)
	if err != nil {
		t.Fatal(err)
	}
	for i, z := range logits {
		a.Rows[0][i] = logProbs(z)
	}
	return a
}

func judge(t testing.TB, open opener, a *Answers) *Verdict {
	t.Helper()
	v, err := (&Reference{Open: open, Engine: plain.Options{}}).Judge(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func named(t testing.TB, name string) *Variation {
	t.Helper()
	i := slices.IndexFunc(Variations, func(v Variation) bool { return v.Name == name })
	if i < 0 {
		t.Fatalf("no variation %s", name)
	}
	return &Variations[i]
}

// TestRight judges an engine with rounded activations and 16-bit caches, of each model.
func TestRight(t *testing.T) {
	for name, open := range plantedModels(t) {
		t.Run(name, func(t *testing.T) {
			text := someText(t, open, 12)
			v := judge(t, open, answers(t, open, cpu.Options{}, nil, text))
			t.Log(v.Sentence(nil))
			if !v.Right || v.Positions != 11 || math.Abs(v.PPL/v.ReferencePPL-1) > 0.1 {
				t.Errorf("%+v is not right", v)
			}
		})
	}
}

// TestPlantedFaults plants each fault that a model can have in an engine whose
// activations are rounded, and wants it named.
func TestPlantedFaults(t *testing.T) {
	models := plantedModels(t)
	planted := []struct{ model, fault string }{
		{"bitnet", "silu"}, {"bitnet", "i2_s-arm"}, {"bitnet", "qk-rows"}, {"bitnet", "rope-pairs"},
		{"bitnet", "no-attn-sub-norm"}, {"bitnet", "no-ffn-sub-norm"}, {"bitnet", "no-sub-norms"}, {"bitnet", "window-late"}, {"untied", "window-short"},
		{"untied", "tied-head"}, {"untied", "no-qk-norms"}, {"llama", "qk-rows"}, {"llama", "rope-pairs"}, {"llama", "no-bos"},
		{"q2_0", "q2_0-groups"},
	}
	for _, p := range require.Draw(t, 4, planted) { // each is some fifteen runs of a model
		t.Run(p.model+"/"+p.fault, func(t *testing.T) {
			open := models[p.model]
			text := someText(t, open, 12)
			v := judge(t, open, answers(t, open, cpu.Options{}, named(t, p.fault), text))
			t.Log(v.Sentence(nil))
			if v.Right || v.Cause.Variation == nil || v.Cause.Name != p.fault {
				t.Errorf("the cause is not found: %v", v.Faults)
			}
		})
	}
}

// TestFilesThatAreWrong plants faults in files, which know nothing of variations.
func TestFilesThatAreWrong(t *testing.T) {
	right := synthetic(t, "tiny-bitnet", same)
	text := someText(t, right, 12)
	for name, wrong := range map[string]opener{
		"i2_s-arm": synthetic(t, "tiny-bitnet", same, "i2_s_arm"),
		"silu": func() (source.Source, error) {
			src, err := right()
			return gatedBySiLU{src}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, right, answers(t, wrong, cpu.Options{}, nil, text))
			if v.Right || v.Cause.Variation == nil || v.Cause.Name != name {
				t.Errorf("%s; %v", v.Sentence(nil), v.Faults)
			}
		})
	}
}

// gatedBySiLU says that it is of the architecture of bitnet that has SiLU.
type gatedBySiLU struct{ source.Source }

func (s gatedBySiLU) Config() (*arch.Table, arch.Config, error) {
	_, c, err := s.Source.Config()
	if err != nil {
		return nil, c, err
	}
	table, err := arch.Lookup("bitnet")
	c.Arch = "bitnet"
	return table, c, err
}

// TestUnexplained is a fault that none of the variations is.
func TestUnexplained(t *testing.T) {
	open := synthetic(t, "tiny-bitnet", same)
	a := answers(t, open, cpu.Options{}, nil, someText(t, open, 12))
	for _, r := range a.Rows[0][6:] {
		slices.Reverse(r.LogProbs)
	}
	v := judge(t, open, a)
	if v.Right || v.Cause.Variation != nil || v.Parts.Position != 6 {
		t.Errorf("%s", v.Sentence(nil))
	}
	if s := v.Sentence(nil); !strings.Contains(s, "None of") || !strings.Contains(s, "position 6 of text 1") {
		t.Error(s)
	}
	for i := range a.Rows[0][2].LogProbs {
		a.Rows[0][2].LogProbs[i] = 0
	}
	if _, err := (&Reference{Open: open, Engine: plain.Options{}}).Judge(t.Context(), a); err == nil || !strings.Contains(err.Error(), "no distribution") {
		t.Errorf("probabilities of 1 for each token: %v", err)
	}
	a.Rows[0][2].LogProbs[0] = float32(math.Inf(1))
	a.Rows[0][3].LogProbs[5] = float32(math.NaN())
	if v := judge(t, open, a); v.Right || v.Parts.Position != 2 {
		t.Errorf("%s", v.Sentence(nil))
	}
}

// TestWrapAround is what 16 bits hold of a sum.
func TestWrapAround(t *testing.T) {
	x := []float32{1, -1, 0.5, 0.25}
	if scale := roundColumn(x, "", true); scale != 1./127 || !slices.Equal(x, []float32{127, -127, 64, 32}) {
		t.Errorf("codes %v by %v", x, scale)
	}
	open := synthetic(t, "tiny-bitnet", func(c *arch.Config) { c.Hidden = 512 })
	src, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	const name = "blk.0.attn_q.weight"
	e, err := altered{plain.Options{}, named(t, "int16"), &model{}}.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.Load(t.Context(), []engine.Request{{Tensor: name, Use: engine.Matrix}})
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := src.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := tensor.Floats()
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewStream(engine.StreamOptions{Rope: engine.Rope{}})
	if err != nil {
		t.Fatal(err)
	}
	cols := w[0].Info().Cols
	from, to := s.Buffer(cols), s.Buffer(w[0].Info().Rows)
	// An input with the signs of the first row: its sum is the largest there can be.
	input, unit, sum := make([]float32, cols), 0.0, 0
	for i := range input {
		switch unit = max(unit, math.Abs(float64(weights[i]))); {
		case weights[i] > 0:
			input[i], sum = 1, sum+127
		case weights[i] < 0:
			input[i], sum = -1, sum+127
		}
	}
	if sum <= math.MaxInt16 {
		t.Fatalf("a row of %d weights sums to %d: it does not overflow", cols, sum)
	}
	s.Begin(1)
	s.Write(from, input)
	s.Multiply("attn_q", from, []engine.Product{{Weight: w[0], Dst: to}})
	y, err := s.Read(to)
	if err != nil {
		t.Fatal(err)
	}
	if want := float64(int16(sum)) * unit / 127; math.Abs(float64(y[0])-want) > 1e-5*math.Abs(want) {
		t.Errorf("%v, want %v", y[0], want)
	}
}

// TestSavedLogits judges what LogitWriter saves, in windows that begin with BOS.
func TestSavedLogits(t *testing.T) {
	open := synthetic(t, "tiny-llama", same)
	text := someText(t, open, 65)
	body := text.Tokens[1:]
	for name, bos := range map[string]int{"with": text.Tokens[0], "without": -1} {
		t.Run(name, func(t *testing.T) {
			const window = 32
			var file bytes.Buffer
			w, err := perplexity.NewLogitWriter(&file, perplexity.LogitHeader{Context: window, Vocab: vocabOf(t, open), Tokens: body})
			if err != nil {
				t.Fatal(err)
			}
			for from := 0; from < len(body); from += window {
				tokens := slices.Clone(body[from:][:window])
				if bos >= 0 {
					tokens[0] = bos
				}
				a := answers(t, open, cpu.Options{}, nil, Whole(tokens))
				saved := w.Saving(fixed{a.Rows[0][window/2:]})
				for _, err := range saved.Logits(tokens[window/2 : window-1]) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := perplexity.NewLogitReader(bytes.NewReader(file.Bytes()), int64(file.Len()), "base")
			if err != nil {
				t.Fatal(err)
			}
			a, err := FromLogits(r, text.Tokens[0], 25)
			if err != nil {
				t.Fatal(err)
			}
			v := judge(t, open, a)
			if bos >= 0 && !v.Right || bos < 0 && (v.Right || v.Cause.Variation == nil || v.Cause.Name != "no-bos") || v.Positions != 25 {
				t.Errorf("%s; %v", v.Sentence(nil), v.Faults)
			}
		})
	}
}

func vocabOf(t testing.TB, open opener) int {
	src, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	_, c, err := src.Config()
	if err != nil {
		t.Fatal(err)
	}
	return c.Vocab
}

// fixed is a session that has its predictions already.
type fixed struct{ rows []Row }

func (fixed) Truncate(int) error                                { return nil }
func (fixed) Prefill(context.Context, []int) ([]float32, error) { return nil, nil }
func (f fixed) Logits(ids []int) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		for i := range ids {
			if !yield(f.rows[i].LogProbs, nil) {
				return
			}
		}
	}
}

// answerOnPipe is a program as the package comment wants one.
func answerOnPipe(how string) error {
	var count uint32
	if err := binary.Read(os.Stdin, binary.LittleEndian, &count); err != nil {
		return err
	}
	ids := make([]uint32, count)
	if err := binary.Read(os.Stdin, binary.LittleEndian, ids); err != nil {
		return err
	}
	var tokens []int
	for _, id := range ids {
		tokens = append(tokens, int(id))
	}
	t := &testing.T{}
	open := opener(func() (source.Source, error) { return gopher.Open(gopher.Ternary) })
	r := &Reference{Open: open, Engine: cpu.Options{}}
	text := Text{Tokens: tokens, Instead: -1}
	for i := range tokens {
		text.Asked = append(text.Asked, i)
	}
	m, err := r.model(&Answers{Texts: []Text{text}, Rows: [][]Row{nil}})
	if err != nil {
		return err
	}
	fault := new(Variation)
	if how == "silu" || how == "rope-pairs" {
		fault = named(t, how)
	}
	logits, _, err := r.rows(context.Background(), m, fault, &Answers{Texts: []Text{text}, Rows: [][]Row{make([]Row, len(tokens))}})
	if err != nil {
		return err
	}
	if how == "short" {
		logits = logits[:len(logits)-1]
	}
	for _, z := range logits {
		if err := binary.Write(os.Stdout, binary.LittleEndian, z); err != nil {
			return err
		}
	}
	if how == "long" {
		os.Stdout.Write([]byte("done"))
	}
	if how == "fails" {
		return errors.New("out of order")
	}
	return nil
}

// TestProgram asks this test's binary on a pipe.
func TestProgram(t *testing.T) {
	open := opener(func() (source.Source, error) { return gopher.Open(gopher.Ternary) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tok, text := question(t, open, 16)
	for how, want := range map[string]string{"right": "right", "rope-pairs": "rotary embedding paired", "short": "bytes of logits", "long": "wrote more", "fails": "exit status 1"} {
		t.Run(how, func(t *testing.T) {
			t.Setenv("ONEBIT_TEST_ANSWER", how)
			a, err := Program{Args: []string{self}, Vocab: tok.Vocab(), Stderr: io.Discard}.Answer(t.Context(), text)
			said := fmt.Sprint(err)
			if err == nil {
				said = judge(t, open, a).Sentence(tok)
			}
			if !strings.Contains(said, want) {
				t.Errorf("%s, want %s", said, want)
			}
		})
	}
}

// A fakeServer answers as servers do: ids says whether it takes tokens, list whether it
// answers as llama-server does.
func fakeServer(t *testing.T, open opener, fault *Variation, ids, list bool) *httptest.Server {
	src, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	tok, err := src.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Prompt   json.RawMessage
			LogProbs int
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v1/completions" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		var tokens []int
		var prompt string
		if json.Unmarshal(q.Prompt, &tokens) == nil {
			if !ids {
				http.Error(w, "a prompt is a text", http.StatusBadRequest)
				return
			}
		} else if err := json.Unmarshal(q.Prompt, &prompt); err == nil {
			tokens = tok.Encode(prompt, tokenizer.Options{AddSpecial: true})
		}
		a := answers(t, open, cpu.Options{}, fault, Text{Tokens: append(tokens, 0), Asked: []int{len(tokens) - 1}, Instead: -1})
		z := a.Rows[0][0].LogProbs
		order := make([]int, len(z))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(x, y int) int { return int(math.Copysign(1, float64(z[y]-z[x]))) })
		top, all := map[string]float32{}, []map[string]any{}
		for _, id := range order[:q.LogProbs] {
			top[tok.Decode([]int{id})] = z[id]
			all = append(all, map[string]any{"id": id, "token": tok.Decode([]int{id}), "logprob": z[id]})
		}
		said := map[string]any{"top_logprobs": []any{top}}
		if list {
			said = map[string]any{"content": []any{map[string]any{"top_logprobs": all}}}
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"text": "", "logprobs": said}}})
	}))
}

// question is a model's tokenizer, and so many tokens to ask about.
func question(t *testing.T, open opener, n int) (*tokenizer.Tokenizer, Text) {
	t.Helper()
	src, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	tok, err := src.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	return tok, Whole(tok.Encode(gopher.Text, tokenizer.Options{AddSpecial: true})[:n])
}

// TestServer asks servers of both kinds, right ones and one with a fault.
func TestServer(t *testing.T) {
	open := opener(func() (source.Source, error) { return gopher.Open(gopher.Ternary) })
	tok, text := question(t, open, 14)
	for _, c := range []struct {
		name, fault, want string
		ids, list         bool
	}{
		{"llama-server", "", "right", true, true},
		{"by text", "", "right", false, false},
		{"rope", "rope-pairs", "rotary embedding paired", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fault *Variation
			if c.fault != "" {
				fault = named(t, c.fault)
			}
			server := fakeServer(t, open, fault, c.ids, c.list)
			defer server.Close()
			a, err := Server{URL: server.URL, Tokenizer: tok}.Answer(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			if v := judge(t, open, a); !strings.Contains(v.Sentence(tok), c.want) {
				t.Errorf("%s; %v", v.Sentence(tok), v.Faults)
			}
		})
	}
	for address, want := range map[string]string{"http://192.0.2.1:80": "not on this machine", "localhost:80": "no address"} {
		if _, err := (Server{URL: address, Tokenizer: tok}).Answer(t.Context(), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for reply, want := range map[string]string{"{}": "without the probabilities", "[": "no JSON", `{"choices":[{"logprobs":{"top_logprobs":[{"\u0001 no token":-1}]}}]}`: "another tokenizer"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, reply) }))
		if _, err := (Server{URL: server.URL, Tokenizer: tok}).Answer(t.Context(), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", reply, err)
		}
		server.Close()
	}
}

// TestPartialDivergence: what a row lacks counts as one token, which makes the
// divergence no larger.
func TestPartialDivergence(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		p, q := make([]float32, 50), make([]float32, 50)
		for i := range p {
			p[i], q[i] = float32(3*rng.NormFloat64()), float32(3*rng.NormFloat64())
		}
		whole := logProbs(q)
		part := Row{IDs: []int{7, 3, 20}}
		for _, id := range part.IDs {
			part.LogProbs = append(part.LogProbs, whole.LogProbs[id])
		}
		if d, all := part.divergence(p), whole.divergence(p); d < -1e-6 || d > all+1e-6 {
			t.Fatalf("%g of some tokens, %g of all", d, all)
		}
	}
}

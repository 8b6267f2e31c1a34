package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"

	"onebit/internal/deviation"
	"onebit/models/perplexity"
)

// A Text is tokens that an engine took in.
type Text struct {
	Tokens []int
	Asked  []int // positions behind whose tokens it answered, in their order; a token follows each
	// Instead is the token in whose place the BOS at the beginning stands, -1 if it
	// stands before the text, or there is none.
	Instead int
}

// Answers are what an engine predicted.
type Answers struct {
	From  string // says for people where they come from
	Texts []Text
	Rows  [][]Row // by text, one for each position that was asked for
}

// A Row is a distribution of the next token, in logarithms of probabilities.
type Row struct {
	IDs      []int // of the values; nil: of each token of the vocabulary
	LogProbs []float32
}

// positions is how many distributions there are.
func (a *Answers) positions() (n int) {
	for _, rows := range a.Rows {
		n += len(rows)
	}
	return n
}

// finite reports whether a row holds numbers, and gives some token a chance.
func (r Row) finite() bool {
	some := false
	for _, v := range r.LogProbs {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 1) {
			return false
		}
		some = some || !math.IsInf(float64(v), -1)
	}
	return some
}

// sum is that of the probabilities, 0 of what are no numbers.
func (r Row) sum() (all float64) {
	if !r.finite() {
		return 0
	}
	for _, v := range r.LogProbs {
		all += math.Exp(float64(v))
	}
	return all
}

// of is the logarithm of a token's probability; false if the row does not have it.
func (r Row) of(token int) (float64, bool) {
	at := token
	if r.IDs != nil {
		at = slices.Index(r.IDs, token)
	}
	if at < 0 || at >= len(r.LogProbs) {
		return 0, false
	}
	return float64(r.LogProbs[at]), true
}

// restFloor is the least that a partial row leaves for the tokens that it lacks:
// servers round.
const restFloor = 1e-6

// divergence is Σ p ln(p/q), in nats, of a distribution given by its logits. Tokens
// that the row lacks count as one.
func (r Row) divergence(logits []float32) float64 {
	if !r.finite() {
		return math.Inf(1)
	}
	norm := deviation.Predict(logits).Norm
	var sum, p, q float64
	for i, v := range r.LogProbs {
		at := i
		if r.IDs != nil {
			at = r.IDs[i]
		}
		ln := float64(logits[at]) - norm
		if share := math.Exp(ln); share > 0 {
			sum += share * (ln - float64(v))
			p += share
		}
		q += math.Exp(float64(v))
	}
	if rest := 1 - p; r.IDs != nil && rest > restFloor {
		sum += rest * math.Log(rest/max(1-q, restFloor))
	}
	return sum
}

// logProbs are the logarithms of probabilities of logits.
func logProbs(z []float32) Row {
	norm := deviation.Predict(z).Norm
	out := make([]float32, len(z))
	for i, v := range z {
		out[i] = float32(float64(v) - norm)
	}
	return Row{LogProbs: out}
}

// FromLogits takes answers out of llama.cpp's saved logits, of at most so many
// positions. bos is what stands in the place of each window's first token; -1: nothing.
func FromLogits(r *perplexity.LogitReader, bos, most int) (*Answers, error) {
	a := &Answers{From: "saved logits"}
	for from := 0; from < len(r.Tokens) && a.positions() < most; from += r.Context {
		t := Text{Tokens: slices.Clone(r.Tokens[from:][:r.Context]), Instead: -1}
		if bos >= 0 {
			t.Instead, t.Tokens[0] = t.Tokens[0], bos
		}
		var rows []Row
		first := r.Context / 2
		for z, err := range r.Logits(t.Tokens[first : r.Context-1]) {
			if err != nil {
				return nil, err
			}
			if a.positions()+len(rows) < most {
				t.Asked, rows = append(t.Asked, first+len(rows)), append(rows, Row{LogProbs: slices.Clone(z)})
			}
		}
		a.Texts, a.Rows = append(a.Texts, t), append(a.Rows, rows)
	}
	return a, nil
}

// Whole is a text that is asked for after each of its tokens but the last.
func Whole(tokens []int) Text {
	t := Text{Tokens: tokens, Instead: -1}
	for i := range len(tokens) - 1 {
		t.Asked = append(t.Asked, i)
	}
	return t
}

// A Program is one that reads tokens and writes logits, as the package comment says.
type Program struct {
	Args   []string
	Vocab  int
	Stderr io.Writer // of the program; nil: nowhere
}

// Answer starts the program and asks for a text.
func (p Program) Answer(ctx context.Context, t Text) (*Answers, error) {
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	question := binary.LittleEndian.AppendUint32(nil, uint32(len(t.Tokens)))
	for _, id := range t.Tokens {
		question = binary.LittleEndian.AppendUint32(question, uint32(id))
	}
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(question)), p.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.Args[0], err)
	}
	rows, err := p.read(out, len(t.Tokens))
	if err != nil {
		_ = cmd.Process.Kill() // it may wait for its output to be read
	}
	if ended := cmd.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("%s: %w", p.Args[0], ended)
	}
	if err != nil {
		return nil, err
	}
	return &Answers{From: p.Args[0], Texts: []Text{t}, Rows: [][]Row{rows[:len(t.Asked)]}}, nil
}

// read takes the logits after each token.
func (p Program) read(out io.Reader, count int) ([]Row, error) {
	var rows []Row
	line, z := make([]byte, 4*p.Vocab), make([]float32, p.Vocab)
	for i := range count {
		if n, err := io.ReadFull(out, line); err != nil {
			return nil, fmt.Errorf("%s: wrote %d of the %d bytes of logits for %d tokens of a vocabulary of %d", p.Args[0], i*len(line)+n, count*len(line), count, p.Vocab)
		}
		for id := range z {
			z[id] = math.Float32frombits(binary.LittleEndian.Uint32(line[4*id:]))
		}
		rows = append(rows, logProbs(z))
	}
	if n, _ := out.Read(line[:1]); n > 0 {
		return nil, fmt.Errorf("%s: wrote more than the %d bytes of logits for %d tokens of a vocabulary of %d", p.Args[0], count*len(line), count, p.Vocab)
	}
	return rows, nil
}

var errNoAnswers = errors.New("there are no answers to judge")

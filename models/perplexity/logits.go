package perplexity

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"onebit/internal/deviation"
	"onebit/models"
)

// A LogitHeader is what a file of saved logits says of itself. The package
// comment draws the bytes.
type LogitHeader struct {
	Context int   // tokens in a window
	Vocab   int   // values for each scored token
	Tokens  []int // of the text: whole windows, without a BOS put in place
}

const (
	logitMagic     = "_logits_"
	logitFixed     = len(logitMagic) + 3*4 // bytes before the tokens
	logitCodes     = math.MaxUint16
	logitRange     = 16   // nats below the likeliest token that codes reach
	savedFloor     = -16  // ln p at and below which a saved value says nothing
	maxSavedLog    = 1e-3 // ln 1 and what rounding may add to it
	maxLogitVocab  = 1 << 24
	maxLogitTokens = math.MaxInt32
)

func (h LogitHeader) protocol() Protocol { return Protocol{Context: h.Context} }

// Windows returns how many windows the file has.
func (h LogitHeader) Windows() int { return len(h.Tokens) / h.Context }

// rowBytes is the size of what is saved for a token.
func (h LogitHeader) rowBytes() int { return 8 + (h.Vocab+1)/2*4 }

// windowBytes is the size of a window, its tokens included.
func (h LogitHeader) windowBytes() int64 {
	return 4*int64(h.Context) + int64(h.protocol().Scored())*int64(h.rowBytes())
}

// Bytes returns the size of the file.
func (h LogitHeader) Bytes() int64 {
	return int64(logitFixed) + int64(h.Windows())*h.windowBytes()
}

func (h LogitHeader) check() error {
	if err := h.protocol().Validate(); err != nil {
		return err
	}
	if h.Vocab < 1 || h.Vocab > maxLogitVocab {
		return fmt.Errorf("a vocabulary of %d tokens is not between 1 and %d", h.Vocab, maxLogitVocab)
	}
	return nil
}

func (h LogitHeader) checkTokens() error {
	if len(h.Tokens) == 0 || len(h.Tokens) > maxLogitTokens || len(h.Tokens)%h.Context != 0 {
		return fmt.Errorf("%d tokens are no whole windows of %d", len(h.Tokens), h.Context)
	}
	for i, id := range h.Tokens {
		if id < 0 || id >= h.Vocab {
			return fmt.Errorf("token %d of the text is %d, not in the vocabulary of %d", i, id, h.Vocab)
		}
	}
	return nil
}

// A LogitWriter saves the logits of a text's scored tokens in a stream.
type LogitWriter struct {
	w      *bufio.Writer
	row    []byte
	vocab  int
	wanted int // rows to come
}

// NewLogitWriter begins a file. h.Tokens are the windows that will be scored.
func NewLogitWriter(w io.Writer, h LogitHeader) (*LogitWriter, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	if err := h.checkTokens(); err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	fixed := []byte(logitMagic)
	for _, n := range []int{h.Context, h.Vocab, h.Windows()} {
		fixed = binary.LittleEndian.AppendUint32(fixed, uint32(n))
	}
	for _, id := range h.Tokens {
		fixed = binary.LittleEndian.AppendUint32(fixed, uint32(id))
	}
	if _, err := out.Write(fixed); err != nil {
		return nil, err
	}
	return &LogitWriter{
		w: out, row: make([]byte, h.rowBytes()), vocab: h.Vocab, wanted: h.Windows() * h.protocol().Scored(),
	}, nil
}

// Saving returns s as a session whose scored logits are written, too.
func (w *LogitWriter) Saving(s Session) Session { return saving{s, w} }

type saving struct {
	Session
	w *LogitWriter
}

func (s saving) Logits(ids []int) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		for logits, err := range s.Session.Logits(ids) {
			if err == nil {
				err = s.w.write(logits)
			}
			if !yield(logits, err) {
				return
			}
		}
	}
}

// write saves the logits of the next scored token.
func (w *LogitWriter) write(logits []float32) error {
	if len(logits) != w.vocab {
		return fmt.Errorf("%d logits for a vocabulary of %d", len(logits), w.vocab)
	}
	if w.wanted--; w.wanted < 0 {
		return errors.New("more tokens are scored than the file's windows have")
	}
	norm := deviation.Predict(logits).Norm
	most := float64(slices.Max(logits))
	least := max(float64(slices.Min(logits)), most-logitRange)
	if !finite(norm) || !finite(least) {
		return models.ErrNotFinite
	}
	scale := (most - least) / logitCodes
	binary.LittleEndian.PutUint32(w.row, math.Float32bits(float32(scale)))
	binary.LittleEndian.PutUint32(w.row[4:], math.Float32bits(float32(least-norm)))
	for i, x := range logits {
		code := 0.0
		if scale > 0 {
			code = math.RoundToEven(max(0, float64(x)-least) / scale)
		}
		binary.LittleEndian.PutUint16(w.row[8+2*i:], uint16(code))
	}
	_, err := w.w.Write(w.row)
	return err
}

// Close ends the file. It fails if logits are missing. It does not close what
// is written to.
func (w *LogitWriter) Close() error {
	if w.wanted != 0 {
		return fmt.Errorf("the logits of %d scored tokens are missing", w.wanted)
	}
	return w.w.Flush()
}

// A LogitReader reads saved logits in a stream. It stands for a session as the
// reference of one Compare, of its Tokens.
type LogitReader struct {
	LogitHeader
	name   string
	r      *bufio.Reader
	rows   int // read so far
	row    []byte
	logits []float32
}

// NewLogitReader reads the beginning of a file of so many bytes, to which it
// holds what the beginning says. The name is for errors.
func NewLogitReader(r io.Reader, size int64, name string) (*LogitReader, error) {
	f := &LogitReader{name: name, r: bufio.NewReaderSize(r, 1<<16)}
	if err := f.readHeader(size); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func (f *LogitReader) readHeader(size int64) error {
	fixed := make([]byte, logitFixed)
	if _, err := io.ReadFull(f.r, fixed); err != nil || string(fixed[:len(logitMagic)]) != logitMagic {
		return fmt.Errorf("no saved logits: the file does not begin with %q", logitMagic)
	}
	number := func(i int) int { return int(int32(binary.LittleEndian.Uint32(fixed[len(logitMagic)+4*i:]))) }
	f.Context, f.Vocab = number(0), number(1)
	if err := f.check(); err != nil {
		return err
	}
	windows := int64(number(2))
	if body := size - int64(logitFixed); windows < 1 || windows > body/f.windowBytes() || windows*f.windowBytes() != body {
		return fmt.Errorf("the file has %d bytes, which is not the size of %d windows of %d tokens with a vocabulary of %d: it was cut off or damaged",
			size, windows, f.Context, f.Vocab)
	}
	if windows*int64(f.Context) > maxLogitTokens {
		return fmt.Errorf("%d windows of %d tokens are too many", windows, f.Context)
	}
	if err := f.readTokens(int(windows) * f.Context); err != nil {
		return err
	}
	f.row, f.logits = make([]byte, f.rowBytes()), make([]float32, f.Vocab)
	return nil
}

func (f *LogitReader) readTokens(n int) error {
	f.Tokens = make([]int, n)
	var id [4]byte
	for i := range f.Tokens {
		if _, err := io.ReadFull(f.r, id[:]); err != nil {
			return fmt.Errorf("reading token %d of the text: %w", i, err)
		}
		f.Tokens[i] = int(int32(binary.LittleEndian.Uint32(id[:])))
	}
	return f.checkTokens()
}

// accepts reports a comparison that the file's logits do not fit.
func (f *LogitReader) accepts(p Protocol, ids []int) error {
	if p.Context != f.Context || p.Stride != 0 {
		return fmt.Errorf("%s: the saved logits are of windows of %d tokens that do not overlap", f.name, f.Context)
	}
	if !slices.Equal(ids, f.Tokens) {
		return fmt.Errorf("%s: the saved logits are of another text or tokenizer", f.name)
	}
	return nil
}

// Truncate does nothing: each window's logits follow those of the one before.
func (f *LogitReader) Truncate(int) error { return nil }

// Prefill does nothing: nothing is saved for tokens that are not scored.
func (f *LogitReader) Prefill(context.Context, []int) ([]float32, error) { return nil, nil }

// Logits yields what is saved for the next scored tokens, one for each of ids.
func (f *LogitReader) Logits(ids []int) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		for range ids {
			err := f.read()
			if !yield(f.logits, err) || err != nil {
				return
			}
		}
	}
}

// read decodes the logarithms of probabilities after the next scored token.
func (f *LogitReader) read() error {
	if _, err := io.ReadFull(f.r, f.row); err != nil {
		return fmt.Errorf("%s: reading saved logits: %w", f.name, err)
	}
	f.rows++
	scale := math.Float32frombits(binary.LittleEndian.Uint32(f.row))
	least := math.Float32frombits(binary.LittleEndian.Uint32(f.row[4:]))
	if most := float64(scale)*logitCodes + float64(least); !(scale >= 0) || !finite(most) || most > maxSavedLog {
		return f.damaged("logits from %v in steps of %v are no logarithms of probabilities", least, scale)
	}
	for i := range f.logits {
		f.logits[i] = least + float32(scale*float32(binary.LittleEndian.Uint16(f.row[8+2*i:])))
	}
	return nil
}

// checkSum refuses a row whose probabilities have a sum, given by its logarithm,
// that no distribution's have. Rounding to codes moves each probability by at most
// 1.3e-4 of itself, and tokens less likely than codes reach have e⁻¹⁶ at most
// where they should have less.
func (f *LogitReader) checkSum(ln float64) error {
	const rounding = 1e-3
	sum, most := math.Exp(ln), 1+rounding+float64(f.Vocab)*math.Exp(-logitRange)
	if sum >= 1-rounding && sum <= most {
		return nil
	}
	return f.damaged("probabilities that sum to %.4g are no distribution", sum)
}

// damaged says what is wrong with the row last read, and where it is.
func (f *LogitReader) damaged(format string, args ...any) error {
	at := int64(logitFixed) + 4*int64(len(f.Tokens)) + int64(f.rows-1)*int64(f.rowBytes())
	return fmt.Errorf("%s: row %d: %s: the file is damaged (at byte %d)", f.name, f.rows, fmt.Sprintf(format, args...), at)
}

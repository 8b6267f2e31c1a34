package convert

import (
	"io"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/deviation"
)

// A Tensor is one that was converted.
type Tensor struct {
	container.TensorInfo // as it was
	To                   *formats.Type
	Bytes                int64
	deviation.Sum             // of the new weights from the old
	Recoded              bool // the new format has the old one's very codes and scales
	Ternarized           bool
	Finer                []string // formats that would have kept the weights that were ternarized
}

// How says in a few words how it was converted.
func (t *Tensor) How() string {
	switch {
	case t.Recoded:
		return "recoded, lossless"
	case t.Ternarized:
		return "ternarized, lossy"
	}
	return "quantized"
}

// chunkWeights bounds what is held of a tensor as floats at a time, where the
// format lets rows be written one by one: about what a core's cache holds.
const chunkWeights = 1 << 18

// requantize writes t in another format. Formats that look at the whole tensor
// get it whole: those with one scale, and ternary ones, because absmean is
// taken over all weights.
func requantize(w io.Writer, to *formats.Type, t *formats.Tensor) (r Tensor, err error) {
	rows, cols := t.Dims()
	if r.Recoded, err = recode(w, to, t); r.Recoded || err != nil {
		return r, err
	}
	step := max(1, chunkWeights/cols)
	if to.TernaryGroup(rows, cols) > 0 {
		step = rows
	}
	step = min(step, rows)
	x, y := make([]float32, step*cols), make([]float32, step*cols)
	for from := 0; from < rows; from += step {
		n := min(step, rows-from)
		x, y := x[:n*cols], y[:n*cols]
		if err := t.Matrix().DequantizeRows(x, from, from+n); err != nil {
			return r, err
		}
		part, ternarized, err := encode(to, x, y, n, cols)
		if err != nil {
			return r, err
		}
		if ternarized {
			r.Ternarized, r.Finer = true, finer(to, x, n, cols)
		}
		if err := part.Dequantize(y); err != nil {
			return r, err
		}
		r.Add(deviation.Of(y, x))
		if _, err := w.Write(part.Data); err != nil {
			return r, err
		}
	}
	return r, nil
}

// recode writes t in a format that has its very codes and scales, if to is one.
func recode(w io.Writer, to *formats.Type, t *formats.Tensor) (bool, error) {
	recoded, err := to.NewMatrix(t.Dims())
	if err != nil {
		return false, err
	}
	if ok, err := formats.Recode(recoded, t.Matrix()); !ok || err != nil {
		return false, err
	}
	_, err = w.Write(recoded.Data)
	return true, err
}

// encode quantizes x, ternarizing it into scratch first if the format is
// ternary and x is not.
func encode(to *formats.Type, x, scratch []float32, rows, cols int) (m formats.Matrix, ternarized bool, err error) {
	if m, err = to.NewMatrix(rows, cols); err != nil {
		return m, false, err
	}
	if group := to.TernaryGroup(rows, cols); group > 0 && !isTernary(x, group) {
		if _, err := formats.Ternarize(scratch, x); err != nil {
			return m, false, err
		}
		x, ternarized = scratch, true
	}
	return m, ternarized, m.Quantize(x)
}

// finer returns the formats that hold x, which is ternary already, with more scales
// than the format that it was ternarized to has; none of a matrix that is not. TriLM's
// have one for each part that was trained on a GPU of its own (arXiv:2407.12327;
// ggml-org/llama.cpp pull request 8151).
func finer(to *formats.Type, x []float32, rows, cols int) (out []string) {
	for _, run := range []int{cols, 256, 128, 64} {
		if run >= to.TernaryGroup(rows, cols) || cols%run != 0 || !isTernary(x, run) {
			continue
		}
		for _, t := range formats.Types() {
			if n := t.TernaryGroup(rows, cols); n > 0 && n <= run && gguf.Packings(t) != nil {
				out = append(out, t.Name)
			}
		}
		return out
	}
	return nil
}

// isTernary reports whether each group of weights is made of -s, 0 and +s for
// some s, so that a ternary format holds it as it is.
func isTernary(w []float32, group int) bool {
	for g := range slices.Chunk(w, group) {
		var t formats.Ternarizer
		if t.Add(g); !t.Ternary() {
			return false
		}
	}
	return true
}

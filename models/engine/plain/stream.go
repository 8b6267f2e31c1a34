package plain

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"onebit/internal/clock"
	"onebit/models/arch"
	"onebit/models/engine"
)

// A stream keeps columns as slices: buffers[column][value].
type stream struct {
	opt         engine.StreamOptions
	states      []state // by block
	position, n int
	block       int
	observer    engine.Observer
}

// A state is what a block keeps.
type state interface {
	end(position int) // a batch has ended before position
	mark()
	truncate(n int) error
	bytes(tokens int) int
}

type buffer struct {
	width   int
	columns [][]float64
}

func (b *buffer) Width() int { return b.width }

// resize makes room for columns of zeros. As many as there are stay where they are,
// for they may be lent.
func (b *buffer) resize(n int) {
	if len(b.columns) == n {
		for _, column := range b.columns {
			clear(column)
		}
		return
	}
	b.columns = make([][]float64, n)
	for c := range b.columns {
		b.columns[c] = make([]float64, b.width)
	}
}

// Column implements engine.Lender.
func (s *stream) Column(b engine.Buffer, c int) engine.Buffer {
	from := b.(*buffer)
	if len(from.columns) != s.n {
		from.resize(s.n)
	}
	return &buffer{width: from.width, columns: from.columns[c : c+1 : c+1]}
}

func (s *stream) Buffer(width int) engine.Buffer { return &buffer{width: width} }
func (s *stream) Begin(n int)                    { s.n = n }
func (s *stream) Enter(block int)                { s.block = block }
func (s *stream) Position() int                  { return s.position }
func (s *stream) Observe(o engine.Observer)      { s.observer = o }
func (s *stream) Close() error                   { return nil }

func (s *stream) End() {
	s.position += s.n
	for _, state := range s.states {
		state.end(s.position)
	}
}

func (s *stream) Mark() error {
	for _, state := range s.states {
		state.mark()
	}
	return nil
}

func (s *stream) Truncate(n int) error {
	if n < 0 || n > s.position {
		return fmt.Errorf("cannot go back to %d tokens in a text of %d", n, s.position)
	}
	for _, state := range s.states {
		if err := state.truncate(n); err != nil {
			return err
		}
	}
	s.position = n
	return nil
}

func (s *stream) StateBytes(tokens int) (total int) {
	for _, state := range s.states {
		total += state.bytes(tokens)
	}
	return total
}

func (s *stream) Read(b engine.Buffer) ([]float32, error) { return b.(*buffer).floats(), nil }

func (s *stream) Top(b engine.Buffer, k int) ([]engine.Ranked, error) {
	return engine.Top(nil, b.(*buffer).floats(), k), nil
}

func (b *buffer) floats() []float32 {
	var out []float32
	for _, column := range b.columns {
		for _, x := range column {
			out = append(out, float32(x))
		}
	}
	return out
}

func (s *stream) Write(b engine.Buffer, values []float32) {
	to := b.(*buffer)
	to.resize(len(values) / to.width)
	for i, x := range values {
		to.columns[i/to.width][i%to.width] = float64(x)
	}
}

// do runs an operation and shows the observer what it left in the results.
func (s *stream) do(op string, run func(), names []string, results ...*buffer) {
	start := clock.Now()
	run()
	if s.observer == nil {
		return
	}
	s.report(op, start, names, results)
}

// report lets the observer change what it sees.
func (s *stream) report(op string, start time.Time, names []string, results []*buffer) {
	o := engine.Op{Name: op, Block: s.block, Tokens: len(results[0].columns), Start: start, Duration: clock.Since(start)}
	for i, b := range results {
		o.Results = append(o.Results, engine.Result{Name: names[i], Values: b.floats()})
	}
	seen := make([][]float32, len(results))
	for i, r := range o.Results {
		seen[i] = append(seen[i], r.Values...)
	}
	s.observer.Observe(o)
	for i, r := range o.Results {
		for j, x := range r.Values {
			if x != seen[i][j] {
				results[i].columns[j/results[i].width][j%results[i].width] = float64(x)
			}
		}
	}
}

func (s *stream) Embed(op string, dst engine.Buffer, table engine.Weight, ids []int) {
	to := dst.(*buffer)
	s.do(op, func() {
		to.resize(len(ids))
		for c, id := range ids {
			copy(to.columns[c], table.(*weight).rows[id])
		}
	}, []string{op}, to)
}

func (s *stream) Norm(op string, dst, x engine.Buffer, gain engine.Weight, eps float32) {
	to, from, g := dst.(*buffer), x.(*buffer), gain.(*weight).rows[0]
	s.do(op, func() {
		out := &buffer{width: to.width}
		out.resize(len(from.columns))
		for c, column := range from.columns {
			for at := 0; at < len(column); at += len(g) {
				run := column[at:][:len(g)]
				root := math.Sqrt(dot(run, run)/float64(len(g)) + float64(eps))
				for i, v := range run {
					out.columns[c][at+i] = v / root * g[i]
				}
			}
		}
		to.columns = out.columns
	}, []string{op}, to)
}

// resultsOf are the names of what is multiplied, and where the products go.
func resultsOf(products []engine.Product) (names []string, results []*buffer) {
	for _, p := range products {
		names, results = append(names, p.Weight.Info().Tensor), append(results, p.Dst.(*buffer))
	}
	return names, results
}

func (s *stream) Multiply(op string, x engine.Buffer, products []engine.Product) {
	from := x.(*buffer)
	names, results := resultsOf(products)
	s.do(op, func() {
		for i, p := range products {
			to := results[i]
			to.resize(len(from.columns))
			for c, column := range from.columns {
				for r, row := range p.Weight.(*weight).rows {
					to.columns[c][r] = dot(row, column)
				}
			}
		}
	}, names, results...)
}

func (s *stream) Rotate(op string, q, k engine.Buffer) {
	s.do(op, func() {
		s.rotate(q.(*buffer))
		s.rotate(k.(*buffer))
	}, []string{op}, q.(*buffer))
}

// rotate turns the pairs of every head, as complex numbers.
func (s *stream) rotate(b *buffer) {
	half := len(s.opt.Rope.Freq)
	for c, column := range b.columns {
		for ; len(column) > 0; column = column[s.opt.Rope.HeadDim():] {
			for i, f := range s.opt.Rope.Freq {
				angle := float64(s.position+c) * f
				a, b := &column[i], &column[i+half]
				if s.opt.Rope.Adjacent {
					a, b = &column[2*i], &column[2*i+1]
				}
				rotated := complex(*a, *b) * complex(math.Cos(angle), math.Sin(angle)) * complex(s.opt.Rope.Magnitude, 0)
				*a, *b = real(rotated), imag(rotated)
			}
		}
	}
}

func (s *stream) Attend(op string, dst, q, k, v engine.Buffer) {
	to := dst.(*buffer)
	s.do(op, func() {
		s.states[s.block].(*kv).attend(s.position, to, q.(*buffer), k.(*buffer), v.(*buffer))
	}, []string{op}, to)
}

func (s *stream) Convolve(op string, x engine.Buffer, taps engine.Weight) {
	b := x.(*buffer)
	s.do(op, func() { s.states[s.block].(*delta).convolve(b, taps.(*weight).rows) }, []string{op}, b)
}

func (s *stream) DeltaRule(op string, dst, q, k, v, decay, beta engine.Buffer) {
	to := dst.(*buffer)
	s.do(op, func() {
		s.states[s.block].(*delta).rule(to, q.(*buffer), k.(*buffer), v.(*buffer), decay.(*buffer), beta.(*buffer))
	}, []string{op}, to)
}

func (s *stream) DeltaGates(op string, decay, beta engine.Buffer, rate, bias engine.Weight) {
	a, b := decay.(*buffer), beta.(*buffer)
	s.do(op, func() {
		for c := range a.columns {
			for h, z := range a.columns[c] {
				softplus := math.Log1p(math.Exp(z + bias.(*weight).rows[0][h]))
				a.columns[c][h] = math.Exp(rate.(*weight).rows[0][h] * softplus)
				b.columns[c][h] = sigmoid(b.columns[c][h])
			}
		}
	}, []string{"decay", "beta"}, a, b)
}

func (s *stream) Hadamard(op string, dst, x engine.Buffer, r *engine.Rotation) {
	to, from := dst.(*buffer), x.(*buffer)
	s.do(op, func() {
		out := &buffer{width: to.width}
		out.resize(len(from.columns))
		for c, column := range from.columns {
			for i := range column {
				first := i / r.Block * r.Block
				for j := range r.Block {
					z := column[r.From(first+j)]
					if !r.Inverse {
						z *= float64(r.Signs[first+j])
					}
					sign := 1 - 2*float64(bits.OnesCount(uint((i-first)&j))%2)
					out.columns[c][i] += sign * z / math.Sqrt(float64(r.Block))
				}
				if r.Inverse {
					out.columns[c][i] *= float64(r.Signs[i])
				}
			}
		}
		to.columns = out.columns
	}, []string{op}, to)
}

func (s *stream) Select(op string, dst, x engine.Buffer, from, run, stride int) {
	to := dst.(*buffer)
	s.do(op, func() {
		to.resize(len(x.(*buffer).columns))
		for c, column := range x.(*buffer).columns {
			for i := range to.columns[c] {
				to.columns[c][i] = column[i/run*stride+from+i%run]
			}
		}
	}, []string{op}, to)
}

func (s *stream) Normalize(op string, x engine.Buffer, run int, eps, scale float32) {
	b := x.(*buffer)
	s.do(op, func() {
		for _, column := range b.columns {
			for ; len(column) > 0; column = column[run:] {
				length := math.Sqrt(dot(column[:run], column[:run]) + float64(eps))
				for i := range run {
					column[i] *= float64(scale) / length
				}
			}
		}
	}, []string{op}, b)
}

func (s *stream) Gate(op string, gate, up engine.Buffer, f arch.Activation) {
	g, u := gate.(*buffer), up.(*buffer)
	s.do(op, func() {
		for c, column := range g.columns {
			for i, z := range column {
				column[i] = activations[f](z) * u.columns[c][i]
			}
		}
	}, []string{op}, g)
}

var activations = map[arch.Activation]func(z float64) float64{
	arch.ReLU2:   func(z float64) float64 { return math.Pow(math.Max(z, 0), 2) },
	arch.SiLU:    silu,
	arch.Sigmoid: sigmoid,
}

func silu(z float64) float64    { return z * sigmoid(z) }
func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func (s *stream) Clamp(op string, x engine.Buffer, least, most float32) {
	b := x.(*buffer)
	s.do(op, func() {
		for _, column := range b.columns {
			for i, z := range column {
				column[i] = math.Min(math.Max(z, float64(least)), float64(most))
			}
		}
	}, []string{op}, b)
}

func (s *stream) Add(op string, x, y engine.Buffer) {
	b := x.(*buffer)
	s.do(op, func() {
		for c, column := range y.(*buffer).columns {
			for i, v := range column {
				b.columns[c][i] += v
			}
		}
	}, []string{op}, b)
}

func (s *stream) Scale(op string, x engine.Buffer, by float32) {
	b := x.(*buffer)
	s.do(op, func() {
		for _, column := range b.columns {
			for i := range column {
				column[i] *= float64(by)
			}
		}
	}, []string{op}, b)
}

func (s *stream) Take(dst, x engine.Buffer, from, end int) {
	to := dst.(*buffer)
	to.resize(end - from)
	for c := range to.columns {
		copy(to.columns[c], x.(*buffer).columns[from+c])
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

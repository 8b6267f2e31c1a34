package cpu

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"onebit/formats"
	"onebit/internal/math32"
	"onebit/kernels"
	"onebit/models/engine"
)

// experts is a weight of MultiplyExperts: a tensor's matrices, which lie one behind the
// other in the file and are multiplied there. Of twenty billion weights a token meets
// one in twenty, so that packing them all would take longer than many answers do, and
// twice the memory; only pages of experts that were chosen become resident.
type experts struct {
	tensor     formats.Tensor
	rows, cols int // of one
	variant    *kernels.Variant
	matrices   []*kernels.Matrix
	met        []atomic.Bool // by expert: some text has chosen it
	checked    atomic.Bool
}

func (x *experts) Info() engine.WeightInfo {
	return engine.WeightInfo{
		Tensor: x.tensor.Name, Rows: x.rows, Cols: x.cols, Experts: len(x.matrices), Type: x.tensor.Type,
		Bytes: len(x.tensor.Data), Kernel: x.variant.String(),
	}
}

// Variant returns what multiplies the experts.
func (x *experts) Variant() *kernels.Variant { return x.variant }

// expertsOf makes a tensor's matrices of its bytes.
func (e *Engine) expertsOf(t formats.Tensor) (*experts, error) {
	v, err := e.options.Kernels.variantFor(t.Type, true)
	if err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	if len(t.Shape) != 3 {
		return nil, e.source.Fault(t.Name, fmt.Errorf("has shape %v, want that of a matrix for each expert", t.Shape))
	}
	x := &experts{tensor: t, rows: t.Shape[1], cols: t.Shape[2], variant: v}
	size, err := t.Type.Bytes(x.rows, x.cols)
	if err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	if size*t.Shape[0] != len(t.Data) {
		return nil, e.source.Fault(t.Name, fmt.Errorf("is %s, whose scale is one of the whole tensor: experts want a format of blocks, such as tq2_0", t.Type.Name))
	}
	x.met = make([]atomic.Bool, t.Shape[0])
	for i := range t.Shape[0] {
		x.matrices = append(x.matrices, &kernels.Matrix{
			Rows: x.rows, Cols: x.cols, Format: t.Type, Layout: v.Layout, Data: t.Data[i*size:][:size:size], Scale: 1,
		})
	}
	if e.unchecked.Add(1); v.ShowsBadWeights() {
		return x, nil // checked when a product is not finite, or by Check
	}
	if err := t.Matrix().Validate(); err != nil {
		return nil, e.source.Fault(t.Name, err)
	}
	e.markExpertsChecked(x)
	return x, nil
}

// meet returns an expert's matrix, which is about to be multiplied.
func (x *experts) meet(e int) *kernels.Matrix {
	if !x.met[e].Load() { // so that threads do not take the line from each other
		x.met[e].Store(true)
	}
	return x.matrices[e]
}

// ExpertBytes implements engine.ExpertCounter.
func (e *Engine) ExpertBytes() (met, all int64) {
	for _, x := range e.experts {
		for i := range x.met {
			all += int64(len(x.matrices[i].Data))
			if x.met[i].Load() {
				met += int64(len(x.matrices[i].Data))
			}
		}
	}
	return met, all
}

// markExpertsChecked says that all of x's weights were looked at.
func (e *Engine) markExpertsChecked(x *experts) {
	if !x.checked.Swap(true) {
		e.unchecked.Add(-1)
	}
}

// Route computes weights in float32, and their sum in float64.
func (s *stream) Route(op string, dst, logits engine.Buffer, r engine.Routing) {
	start := s.begin()
	to, from := dst.(*buffer), logits.(*buffer)
	to.resize(from.n)
	s.each(from.n, routeCost*float64(len(from.data)), func(c int) { route(to.column(c), from.column(c), r) })
	s.end(start, op, work{moved: floatBytes(len(from.data), len(to.data))}, to)
}

func route(dst, logits []float32, r engine.Routing) {
	numbers, weights := dst[:r.Used], dst[r.Used:]
	if !allFinite(logits) {
		for k := range numbers {
			numbers[k], weights[k] = float32(k), float32(math.NaN())
		}
		return
	}
	largest(numbers, weights, logits)
	top, sum := weights[0], 1.0
	if r.Sigmoid {
		for k, z := range weights {
			weights[k] = 1 / (1 + math32.Exp(-z))
		}
	} else {
		for k, z := range weights {
			weights[k] = math32.Exp(z - top)
		}
		sum = 0
		if !r.Normalized {
			for _, z := range logits {
				sum += float64(math32.Exp(z - top))
			}
		}
	}
	if r.Normalized {
		sum = 0
		for _, w := range weights {
			sum += float64(w)
		}
	}
	scale := float64(r.Factor())
	for k, w := range weights {
		weights[k] = float32(float64(w) / sum * scale)
	}
}

// largest writes the largest logits, the first of equals first, and their numbers.
func largest(numbers, values, logits []float32) {
	found := 0
	for e, z := range logits {
		if found == len(values) && z <= values[found-1] {
			continue
		}
		at := min(found, len(values)-1)
		for ; at > 0 && values[at-1] < z; at-- {
			values[at], numbers[at] = values[at-1], numbers[at-1]
		}
		values[at], numbers[at] = z, float32(e)
		found = min(found+1, len(values))
	}
}

// A routedCall is MultiplyExperts' scratch of more than one column: a row is a column
// of an expert, and those of an expert lie together.
type routedCall struct {
	rows    []int // of column c's choice k: rows[c*used+k]
	first   []int // of an expert, and behind the last
	x       []float32
	results [][]float32 // by product
}

// MultiplyExperts makes one submission of all experts of all columns: each expert's
// weights are read once.
func (s *stream) MultiplyExperts(op string, x, chosen engine.Buffer, products []engine.Product) {
	start := s.begin()
	in, choice := x.(*buffer), chosen.(*buffer)
	used := choice.width / 2
	var w work
	s.products = s.products[:0]
	for _, p := range products {
		p.Dst.(*buffer).resize(in.n)
	}
	columns, n := in.data, 1
	if in.n == 1 {
		if in.width > products[0].Weight.(*experts).cols { // an input for each expert
			n = used
		}
		s.routeOne(choice.data[:used], products, n)
	} else {
		s.sortRows(choice, len(products[0].Weight.(*experts).matrices))
		columns, n = s.gatherRows(in, used, products[0].Weight.(*experts).cols), in.n*used
		s.routeMany(products, n)
	}
	s.submit(columns, n, &w)
	if in.n > 1 {
		s.scatterRows(products, used)
	}
	w.moved += floatBytes(len(in.data))
	s.endRouted(start, op, w, in.n, products)
}

// routeOne makes a product of each choice of the only column, whose experts get the
// same input or, n being used, one each.
func (s *stream) routeOne(numbers []float32, products []engine.Product, n int) {
	for _, p := range products {
		m, dst := p.Weight.(*experts), p.Dst.(*buffer)
		for k, e := range numbers {
			at := k % n
			s.products = append(s.products, kernels.Product{
				Variant: m.variant, Matrix: m.meet(int(e)), From: at, To: at + 1, Dst: dst.data[k*m.rows:][:m.rows],
			})
		}
	}
}

// sortRows sorts the columns' choices by expert, stably.
func (s *stream) sortRows(choice *buffer, experts int) {
	call, used := &s.routed, choice.width/2
	call.rows, call.first = grow(call.rows, choice.n*used), grow(call.first, experts+1)
	clear(call.first)
	for c := range choice.n {
		for _, e := range choice.column(c)[:used] {
			call.first[int(e)+1]++
		}
	}
	for e := range experts {
		call.first[e+1] += call.first[e]
	}
	next := slices.Clone(call.first)
	for c := range choice.n {
		for k, e := range choice.column(c)[:used] {
			call.rows[c*used+k] = next[int(e)]
			next[int(e)]++
		}
	}
}

// gatherRows returns the inputs of all experts, of so many columns each.
func (s *stream) gatherRows(in *buffer, used, cols int) []float32 {
	call := &s.routed
	call.x = grow(call.x, in.n*used*cols)
	s.each(in.n, moveCost*float64(len(call.x)), func(c int) {
		column := in.column(c)
		for k := range used {
			from := column
			if len(column) > cols {
				from = column[k*cols:][:cols]
			}
			copy(call.x[call.rows[c*used+k]*cols:][:cols], from)
		}
	})
	return call.x
}

// routeMany makes a product of each expert that some column has chosen, with all of
// its columns.
func (s *stream) routeMany(products []engine.Product, n int) {
	call := &s.routed
	for len(call.results) < len(products) {
		call.results = append(call.results, nil)
	}
	for i, p := range products {
		m := p.Weight.(*experts)
		call.results[i] = grow(call.results[i], n*m.rows)
		for e := range m.matrices {
			if from, to := call.first[e], call.first[e+1]; from < to {
				s.products = append(s.products, kernels.Product{
					Variant: m.variant, Matrix: m.meet(e), From: from, To: to, Dst: call.results[i][from*m.rows : to*m.rows],
				})
			}
		}
	}
}

// scatterRows brings results to their columns.
func (s *stream) scatterRows(products []engine.Product, used int) {
	call := &s.routed
	for i, p := range products {
		rows, dst := p.Weight.(*experts).rows, p.Dst.(*buffer)
		s.each(dst.n, moveCost*float64(len(dst.data)), func(c int) {
			for k := range used {
				copy(dst.column(c)[k*rows:][:rows], call.results[i][call.rows[c*used+k]*rows:])
			}
		})
	}
}

// endRouted reports.
func (s *stream) endRouted(start time.Time, op string, w work, n int, products []engine.Product) {
	if s.observer == nil {
		return
	}
	for _, p := range products {
		s.results = append(s.results, engine.Result{Name: p.Weight.(*experts).tensor.Name, Values: p.Dst.(*buffer).data})
	}
	s.report(start, op, w, n, s.results)
}

// Combine adds experts' results in the order of their choice. They are not finite where
// unchecked weights are bad: as long as there are some, it looks.
func (s *stream) Combine(op string, dst, x, chosen engine.Buffer) {
	start := s.begin()
	to, from, choice := dst.(*buffer), x.(*buffer), chosen.(*buffer)
	to.resize(from.n)
	used := choice.width / 2
	s.each(from.n, combineCost*float64(len(from.data)), func(c int) {
		out := to.column(c)
		clear(out)
		s.vec.weighted(out, choice.column(c)[used:], from.column(c), to.width, used, nil)
	})
	if s.looking && !allFinite(to.data) {
		s.doubtful = true
	}
	s.end(start, op, work{moved: floatBytes(len(from.data), len(to.data))}, to)
}

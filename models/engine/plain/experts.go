package plain

import (
	"math"
	"slices"

	"onebit/models/engine"
)

// Route is, for logits z, p = softmax(z) or σ(z), and of the largest p
//
//	w_e = p_e · scale    or    p_e / Σ_{chosen} p · scale
func (s *stream) Route(op string, dst, logits engine.Buffer, r engine.Routing) {
	to := dst.(*buffer)
	s.do(op, func() {
		to.resize(len(logits.(*buffer).columns))
		for c, z := range logits.(*buffer).columns {
			route(to.columns[c], z, r)
		}
	}, []string{op}, to)
}

func route(dst, z []float64, r engine.Routing) {
	p, all := make([]float64, len(z)), 0.0
	order := make([]int, len(z))
	for e, x := range z {
		p[e], order[e] = math.Exp(x-slices.Max(z)), e
		if all += p[e]; r.Sigmoid {
			p[e] = sigmoid(x)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case z[a] > z[b]:
			return -1
		case z[a] < z[b]:
			return 1
		}
		return 0
	})
	if r.Sigmoid {
		all = 1
	}
	if r.Normalized {
		all = 0
		for _, e := range order[:r.Used] {
			all += p[e]
		}
	}
	for i, e := range order[:r.Used] {
		dst[i], dst[r.Used+i] = float64(e), p[e]/all*float64(r.Factor())
	}
}

func (s *stream) MultiplyExperts(op string, x, chosen engine.Buffer, products []engine.Product) {
	from, choice := x.(*buffer), chosen.(*buffer)
	names, results := resultsOf(products)
	s.do(op, func() {
		for i, p := range products {
			w := p.Weight.(*weight)
			results[i].resize(len(from.columns))
			for c, column := range from.columns {
				for k, e := range choice.columns[c][:choice.width/2] {
					input := column
					if from.width > w.Cols {
						input = column[k*w.Cols:][:w.Cols]
					}
					for r, row := range w.rows[int(e)*w.Rows:][:w.Rows] {
						results[i].columns[c][k*w.Rows+r] = dot(row, input)
					}
				}
			}
		}
	}, names, results...)
}

func (s *stream) Combine(op string, dst, x, chosen engine.Buffer) {
	to, from := dst.(*buffer), x.(*buffer)
	s.do(op, func() {
		to.resize(len(from.columns))
		for c, column := range from.columns {
			choice := chosen.(*buffer).columns[c]
			for k, weight := range choice[len(choice)/2:] {
				for i := range to.columns[c] {
					to.columns[c][i] += weight * column[k*to.width+i]
				}
			}
		}
	}, []string{op}, to)
}

package models

import (
	"onebit/models/arch"
	"onebit/models/engine"
)

// A dryRun is a stream that computes nothing and counts what a session keeps in its buffers: it
// is one more engine's whose operations only say how many columns they write.
type dryRun struct {
	buffers   []*counted
	quantized int   // values of the largest input of a product
	sorted    int   // values of the largest input that is sorted by expert
	results   []int // of products, likewise
}

// counted is a buffer of a dryRun.
type counted struct{ width, columns, most int }

func (b *counted) Width() int { return b.width }

// plannedWeight is a weight that is not loaded.
type plannedWeight engine.WeightInfo

func (w plannedWeight) Info() engine.WeightInfo { return engine.WeightInfo(w) }

// bytes returns what buffers take, and what the largest input is quantized to: a byte and its
// share of scales, as batches and arranged.
func (d *dryRun) bytes() (n int64) {
	for _, b := range d.buffers {
		n += 4 * int64(b.width*b.most)
	}
	for _, values := range d.results {
		n += 4 * int64(values)
	}
	return n + 4*int64(d.sorted) + 2*int64(d.quantized)
}

// write has dst hold so many columns.
func write(dst engine.Buffer, columns int) {
	b := dst.(*counted)
	b.columns, b.most = columns, max(b.most, columns)
}

// writeAs has dst hold as many columns as x.
func writeAs(dst, x engine.Buffer) { write(dst, x.(*counted).columns) }

func (d *dryRun) Buffer(width int) engine.Buffer {
	b := &counted{width: width}
	d.buffers = append(d.buffers, b)
	return b
}

func (d *dryRun) Multiply(_ string, x engine.Buffer, products []engine.Product) {
	d.quantized = max(d.quantized, x.Width()*x.(*counted).columns)
	for _, p := range products {
		writeAs(p.Dst, x)
	}
}

// MultiplyExperts counts what engines sort by expert too: a batch's inputs, one for each of its
// choices, and their results.
func (d *dryRun) MultiplyExperts(_ string, x, chosen engine.Buffer, products []engine.Product) {
	n, used := x.(*counted).columns, chosen.Width()/2
	choices := n * used
	d.quantized = max(d.quantized, choices*products[0].Weight.Info().Cols)
	d.sorted = max(d.sorted, choices*products[0].Weight.Info().Cols)
	for i, p := range products {
		writeAs(p.Dst, x)
		if i == len(d.results) {
			d.results = append(d.results, 0)
		}
		d.results[i] = max(d.results[i], n*p.Dst.Width())
	}
}

// Operations that write a buffer.

func (d *dryRun) Embed(_ string, dst engine.Buffer, _ engine.Weight, ids []int) {
	write(dst, len(ids))
}
func (d *dryRun) Norm(_ string, dst, x engine.Buffer, _ engine.Weight, _ float32) { writeAs(dst, x) }
func (d *dryRun) Hadamard(_ string, dst, x engine.Buffer, _ *engine.Rotation)     { writeAs(dst, x) }
func (d *dryRun) Select(_ string, dst, x engine.Buffer, _, _, _ int)              { writeAs(dst, x) }
func (d *dryRun) Attend(_ string, dst, q, _, _ engine.Buffer)                     { writeAs(dst, q) }
func (d *dryRun) DeltaRule(_ string, dst, q, _, _, _, _ engine.Buffer)            { writeAs(dst, q) }
func (d *dryRun) Route(_ string, dst, x engine.Buffer, _ engine.Routing)          { writeAs(dst, x) }
func (d *dryRun) Combine(_ string, dst, x, _ engine.Buffer)                       { writeAs(dst, x) }
func (d *dryRun) Take(dst, _ engine.Buffer, from, end int)                        { write(dst, end-from) }

// Operations in place.

func (d *dryRun) Normalize(string, engine.Buffer, int, float32, float32)                        {}
func (d *dryRun) Rotate(string, engine.Buffer, engine.Buffer)                                   {}
func (d *dryRun) Convolve(string, engine.Buffer, engine.Weight)                                 {}
func (d *dryRun) DeltaGates(string, engine.Buffer, engine.Buffer, engine.Weight, engine.Weight) {}
func (d *dryRun) Gate(string, engine.Buffer, engine.Buffer, arch.Activation)                    {}
func (d *dryRun) Clamp(string, engine.Buffer, float32, float32)                                 {}
func (d *dryRun) Add(string, engine.Buffer, engine.Buffer)                                      {}
func (d *dryRun) Scale(string, engine.Buffer, float32)                                          {}

// What is no operation.

func (d *dryRun) Begin(int)                                       {}
func (d *dryRun) Enter(int)                                       {}
func (d *dryRun) End()                                            {}
func (d *dryRun) Read(engine.Buffer) ([]float32, error)           { return nil, nil }
func (d *dryRun) Top(engine.Buffer, int) ([]engine.Ranked, error) { return nil, nil }
func (d *dryRun) Write(engine.Buffer, []float32)                  {}
func (d *dryRun) Position() int                                   { return 0 }
func (d *dryRun) Mark() error                                     { return nil }
func (d *dryRun) Truncate(int) error                              { return nil }
func (d *dryRun) StateBytes(int) int                              { return 0 }
func (d *dryRun) Observe(engine.Observer)                         {}
func (d *dryRun) Close() error                                    { return nil }

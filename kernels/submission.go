package kernels

import (
	"slices"

	"onebit/internal/threads"
)

// A submission multiplies several matrices with the same activation columns: what
// Do is about, and the buffers for it, which the next one reuses.
type submission struct {
	team       *threads.Team
	alone      bool // on the caller's thread
	replicated bool // every thread prepares the columns for itself
	stealable  bool // workers claim their tasks, so that the caller may steal them
	number     int
	x          []float32
	n, cols    int
	workspaces []workspace // one per thread
	seen       map[shape]bool
	products   []Product
	parted     bool  // products are of some of the columns
	chunks     []int // chunks[p]: the first task of product p
	rows       []int // rows[p]: how many rows each of its tasks takes
	arranging  *orderedQ

	rowsTask, quantTask, arrangeTask func(thread, i int) // made once: a method value allocates
}

// A workspace is one thread's: activations and the submission that they were prepared
// for, and scratch for kernels. If there are many columns, the caller's are for all.
// Padded: other threads have theirs beside it.
type workspace struct {
	Activations
	shared     Activations // the caller's, with the scratch of this thread
	part       Activations // the columns [from, to) of a submission
	from, to   int
	order      *Order
	parted     int       // the submission that these are of
	results    []float32 // of a task that may be stolen
	matrix     Matrix    // of such a task: the caller may close its own
	submission int
	_          [128]byte
}

// share has the thread multiply with all, in its own scratch.
func (w *workspace) share(all *Activations) {
	scratch := w.scratch
	w.shared = *all
	w.shared.scratch = scratch
}

// shape is what buffers of activations depend on.
type shape struct {
	scheme  Scheme
	n, cols int
	order   *Order
}

// Up to fewColumns are quantized and arranged by every thread for itself, and
// so are Order.Columns by up to fewThreads: to write over what other cores
// have read, and there to read what was written here, takes several times as
// long. What a thread prepares does not become less with more of them. So are more
// columns that are too short for sharing them to be worth a dispatch.
const (
	fewColumns = 2
	fewThreads = 4

	// maxStealable is how many results a task may have that the caller may steal: 1 MiB.
	maxStealable = 1 << 18

	// prepareCost is the nanoseconds that a value takes.
	prepareCost = 0.15
)

// begin makes s ready for submissions to t.
func (s *submission) begin(t *threads.Team) {
	s.team, s.workspaces, s.seen = t, make([]workspace, t.Size()), map[shape]bool{}
	for i := range s.workspaces {
		w := &s.workspaces[i]
		w.scratch = scratches{}
		w.part.scratch = w.scratch
	}
	s.rowsTask, s.quantTask, s.arrangeTask = s.runChunk, s.quantizeColumn, s.arrangePanel
}

// run multiplies the products with x, as many columns at a time as all take.
func (s *submission) run(x []float32, n, cols int, products []Product) {
	step := n
	s.parted = slices.ContainsFunc(products, func(pr Product) bool { return pr.To > 0 })
	for i := range products {
		if s.parted {
			break
		}
		if c := products[i].Variant.kernel(n).Order.together(); c > 0 {
			step = min(step, c)
		}
	}
	for c := 0; c < n; c += step {
		s.multiply(x, c, min(c+step, n), cols, products)
	}
	clear(s.products) // keep neither matrices nor activations alive
	s.x, s.workspaces[0].X = nil, nil
	for t := range s.workspaces {
		s.workspaces[t].shared.X, s.workspaces[t].part.X = nil, nil
	}
}

// multiply multiplies with the columns [from, to) of x.
func (s *submission) multiply(x []float32, from, to, cols int, products []Product) {
	s.products = append(s.products[:0], products...)
	for i := range s.products {
		if s.parted {
			break
		}
		pr := &s.products[i]
		pr.Dst = pr.Dst[from*pr.Matrix.Rows : to*pr.Matrix.Rows]
	}
	s.prepare(x[from*cols:to*cols], to-from, cols)
	s.decideStealing()
	s.chunks, s.rows = s.chunks[:0], s.rows[:0]
	total := 0
	for i := range products {
		rows := s.taskRows(&products[i], products[i].columns(to-from))
		s.chunks, s.rows = append(s.chunks, total), append(s.rows, rows)
		total += (products[i].Matrix.Rows + rows - 1) / rows
	}
	s.team.Run(total, s.rowsTask, s.alone)
}

func checkProduct(pr *Product, scheme Scheme, lenX, n, cols int) {
	m, v := pr.Matrix, pr.Variant
	switch {
	case m.Cols != cols:
		panic("kernels: matrices of one submission differ in columns")
	case n < 1 || lenX != n*cols:
		panic("kernels: activations are not n × columns")
	case pr.To > 0 && (pr.From < 0 || pr.From >= pr.To || pr.To > n):
		panic("kernels: a product is of columns that there are not")
	case len(pr.Dst) != pr.columns(n)*m.Rows:
		panic("kernels: result is not n × rows")
	case v.Scheme != scheme:
		panic("kernels: variants of one submission differ in activation scheme")
	case v.Format != m.Format || v.Layout != m.Layout:
		panic("kernels: matrix was packed for another variant")
	case len(m.Data) == 0:
		panic(matrixIsClosed)
	}
}

const matrixIsClosed = "kernels: matrix is closed"

// replicates says whether every thread prepares n columns for itself.
func (s *submission) replicates(v *Variant, n, cols int) bool {
	size := s.team.Size()
	switch {
	case v.Scheme == F32:
		return false
	case s.alone, n <= fewColumns, n <= v.kernel(n).Order.together() && size <= fewThreads:
		return true
	}
	return v.ISA != Go && !threads.Worth(size, prepareCost*float64(n*cols))
}

// taskRows returns how many rows of pr a task multiplies with n columns.
func (s *submission) taskRows(pr *Product, n int) int {
	if k := pr.Variant.kernel(n); k.TaskRows != nil {
		return k.TaskRows(pr.Matrix, s.team.Size())
	}
	return chunkRows(pr.Matrix, s.team.Size())
}

// prepare makes x ready for the products: many columns at once, shared among
// threads; for a few only the room, for each thread to quantize them in.
func (s *submission) prepare(x []float32, n, cols int) {
	v := s.products[0].Variant
	s.number++
	s.x, s.n, s.cols, s.replicated = x, n, cols, s.replicates(v, n, cols)
	if !s.replicated {
		a := &s.workspaces[0].Activations
		a.reset(v.Scheme, x, n, cols)
		if v.Scheme != F32 {
			s.team.Run(n, s.quantTask, s.alone)
		}
		for i := range s.products {
			if !s.parted {
				s.arrangeTogether(a, s.products[i].Variant.kernel(n).Order)
			}
		}
		return
	}
	for i := range s.products {
		v := s.products[i].Variant
		of := shape{v.Scheme, n, cols, s.orderOf(v)}
		if s.seen[of] {
			continue
		}
		s.team.AwaitStragglers() // which still multiply with theirs
		for t := range s.workspaces {
			a := &s.workspaces[t].Activations
			a.reset(of.scheme, nil, n, cols)
			a.room(of.order)
		}
		s.seen[of] = true
	}
}

// decideStealing decides whether the caller may steal tasks from workers: what they read
// must stay theirs when the submission has ended without them, as their own activations
// do, and there must be room for results that may come too late.
func (s *submission) decideStealing() {
	size := 0
	for i := range s.products {
		size = max(size, len(s.products[i].Dst))
	}
	if s.stealable = s.replicated && !s.alone && size <= maxStealable; !s.stealable {
		return
	}
	for i := 1; i < len(s.workspaces) && len(s.workspaces[i].results) < size; i++ {
		s.workspaces[i].results = make([]float32, size)
	}
}

// activationsOf returns those for a thread to multiply with.
func (s *submission) activationsOf(thread int) *Activations {
	v, w := s.products[0].Variant, &s.workspaces[thread]
	if !s.replicated {
		if w.submission != s.number {
			w.share(&s.workspaces[0].Activations)
			w.submission = s.number
		}
		return &w.shared
	}
	if w.submission != s.number {
		s.team.Mark(thread, threads.Quantizing, 0)
		w.reset(v.Scheme, nil, s.n, s.cols)
		v.ISA.quantize(&w.Activations, s.x, 0, s.n)
		for i := range s.products {
			w.Arrange(s.orderOf(s.products[i].Variant))
		}
		w.submission = s.number
	}
	return &w.Activations
}

// orderOf is that of all columns together, which products of some do without.
func (s *submission) orderOf(v *Variant) *Order {
	if s.parted {
		return nil
	}
	return v.kernel(s.n).Order
}

// arrangeTogether is a.Arrange, with the panels shared among threads.
func (s *submission) arrangeTogether(a *Activations, o *Order) {
	if o == nil || o.Panel == 0 {
		a.Arrange(o)
		return
	}
	if s.arranging = a.room(o); !s.arranging.valid {
		s.team.Run((a.N+o.Panel-1)/o.Panel, s.arrangeTask, s.alone)
		s.arranging.valid = true
	}
}

func (s *submission) arrangePanel(thread, i int) {
	s.team.Mark(thread, threads.Quantizing, 0)
	a, o := &s.workspaces[0].Activations, s.arranging.order
	from, to := i*o.Panel, min((i+1)*o.Panel, a.N)
	dst := s.arranging.q[o.Size(from, a.Stride):o.Size(to, a.Stride)]
	o.Arrange(dst, a.Q[from*a.Stride:to*a.Stride], to-from, a.Stride)
}

func (s *submission) quantizeColumn(thread, i int) {
	s.team.Mark(thread, threads.Quantizing, 0)
	s.products[0].Variant.ISA.quantize(&s.workspaces[0].Activations, s.x, i, i+1)
}

// runChunk computes task i of the submission.
func (s *submission) runChunk(thread, i int) {
	k, found := slices.BinarySearch(s.chunks, i)
	if !found {
		k--
	}
	pr := s.products[k]
	r0 := (i - s.chunks[k]) * s.rows[k]
	r1 := min(r0+s.rows[k], pr.Matrix.Rows)
	a := s.activationsOf(thread)
	if pr.To > 0 {
		a = s.partOf(thread, &pr, a)
	}
	s.team.Mark(thread, threads.Multiplying, k)
	if thread == 0 || !s.stealable {
		pr.Variant.Rows(pr.Dst, pr.Matrix, a, r0, r1)
		return
	}
	s.runStealable(thread, i, pr, a, r0, r1)
}

// runStealable computes rows [r0, r1) of task i, which the caller may steal from the
// worker: then only the worker's own memory has its results.
func (s *submission) runStealable(thread, i int, pr Product, a *Activations, r0, r1 int) {
	w, rows := &s.workspaces[thread], pr.Matrix.Rows
	results := w.results[:len(pr.Dst)]
	w.matrix = *pr.Matrix
	s.team.Claim(thread, i)
	pr.Variant.Rows(results, &w.matrix, a, r0, r1)
	w.matrix = Matrix{}
	if !s.team.Complete(thread) {
		return
	}
	for c := 0; c < len(results); c += rows {
		copy(pr.Dst[c+r0:c+r1], results[c+r0:c+r1])
	}
}

// partOf returns the columns of a that a product is of, in its variant's order.
func (s *submission) partOf(thread int, pr *Product, a *Activations) *Activations {
	w := &s.workspaces[thread]
	order := pr.Variant.kernel(pr.columns(s.n)).Order
	if w.parted != s.number || w.from != pr.From || w.to != pr.To || w.order != order {
		s.team.Mark(thread, threads.Quantizing, 0)
		w.part.View(a, pr.From, pr.To)
		w.part.Arrange(order)
		w.parted, w.from, w.to, w.order = s.number, pr.From, pr.To, order
	}
	return &w.part
}

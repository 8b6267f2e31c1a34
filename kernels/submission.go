package kernels

// A submission multiplies several matrices with the same activation columns: what
// Do is about, and the buffers for it, which the next one reuses.
type submission struct {
	dispatcher *dispatcher
	alone      bool // on the caller's thread
	apart      bool // every thread prepares the columns for itself
	held       bool // workers hold tasks, so that the caller may take them over
	number     int
	x          []float32
	n, cols    int
	threads    []thread
	seen       map[shape]bool
	products   []Product
	chunks     []int // chunks[p]: the first task of product p
	rows       []int // rows[p]: how many rows each of its tasks takes
	arranging  *orderedQ

	rowsTask, quantTask, arrangeTask func(thread, i int) // made once: a method value allocates
}

// A thread is what one of the pool's threads has of its own: activations of the
// submission that they were prepared for, of which the first thread's are for all
// if there are many columns, and scratch for kernels.
// Padded: other threads have theirs beside it.
type thread struct {
	Activations
	shared     Activations // the first thread's, with the scratch of this one
	own        []float32   // results of a task that the thread may lose
	matrix     Matrix      // of such a task: the caller may close its own
	submission int
	_          [128]byte
}

// share makes those that all threads multiply with a thread's.
func (t *thread) share(all *Activations) {
	scratch := t.scratch
	t.shared = *all
	t.shared.scratch = scratch
}

// shape is what buffers of activations depend on.
type shape struct {
	scheme  Scheme
	n, cols int
	order   *Order
}

// fewColumns and less are quantized and arranged by every thread for itself, and
// so are Variant.Columns by up to apartThreads: to write over what other cores
// have read, and there to read what was written here, takes several times as
// long. What a thread prepares does not become less with more of them. So are more
// columns that are too short for sharing them to be worth a dispatch.
const (
	fewColumns   = 2
	apartThreads = 4

	// ownResults is how many results a worker keeps to itself at most, 1 MiB of them.
	ownResults = 1 << 18

	// prepareCost is the nanoseconds that a value takes.
	prepareCost = 0.15
)

// begin makes s ready for submissions to d.
func (s *submission) begin(d *dispatcher) {
	s.dispatcher, s.threads, s.seen = d, make([]thread, d.threads), map[shape]bool{}
	for t := range s.threads {
		s.threads[t].scratch = scratches{}
	}
	s.rowsTask, s.quantTask, s.arrangeTask = s.runChunk, s.quantizeColumn, s.arrangePanel
}

// run multiplies the products with x, as many columns at a time as all take.
func (s *submission) run(x []float32, n, cols int, products []Product) {
	step := n
	for i := range products {
		if c := products[i].Variant.Columns; c > 0 {
			step = min(step, c)
		}
	}
	for c := 0; c < n; c += step {
		s.multiply(x, c, min(c+step, n), cols, products)
	}
	clear(s.products) // keep neither matrices nor activations alive
	s.x, s.threads[0].X = nil, nil
	for t := range s.threads {
		s.threads[t].shared.X = nil
	}
}

// multiply multiplies with the columns [from, to) of x.
func (s *submission) multiply(x []float32, from, to, cols int, products []Product) {
	s.products = append(s.products[:0], products...)
	for i := range s.products {
		pr := &s.products[i]
		pr.Dst = pr.Dst[from*pr.Matrix.Rows : to*pr.Matrix.Rows]
	}
	s.prepare(x[from*cols:to*cols], to-from, cols)
	s.holdTasks()
	s.chunks, s.rows = s.chunks[:0], s.rows[:0]
	total := 0
	for i := range products {
		rows := s.taskRows(&products[i], to-from)
		s.chunks, s.rows = append(s.chunks, total), append(s.rows, rows)
		total += (products[i].Matrix.Rows + rows - 1) / rows
	}
	s.dispatcher.dispatch(total, s.rowsTask, s.alone)
}

func checkProduct(pr *Product, scheme Scheme, lenX, n, cols int) {
	m, v := pr.Matrix, pr.Variant
	switch {
	case m.Cols != cols:
		panic("kernels: matrices of one submission differ in columns")
	case n < 1 || lenX != n*cols:
		panic("kernels: activations are not n × columns")
	case len(pr.Dst) != n*m.Rows:
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

// isApart says whether every thread prepares n columns for itself.
func (s *submission) isApart(v *Variant, n, cols int) bool {
	threads := s.dispatcher.threads
	switch {
	case v.Scheme == F32:
		return false
	case s.alone, n <= fewColumns, n <= v.Columns && threads <= apartThreads:
		return true
	}
	return v.ISA != Go && !worth(threads, prepareCost*float64(n*cols))
}

// taskRows returns how many rows of pr a task multiplies with n columns.
func (s *submission) taskRows(pr *Product, n int) int {
	if v := pr.Variant; v.BatchRows != nil && v.batches(n) {
		return v.BatchRows(pr.Matrix, s.dispatcher.threads)
	}
	return chunkRows(pr.Matrix, s.dispatcher.threads)
}

// prepare makes x ready for the products: many columns at once, shared among
// threads; for a few only the room, for each thread to quantize them in.
func (s *submission) prepare(x []float32, n, cols int) {
	v := s.products[0].Variant
	s.number++
	s.x, s.n, s.cols, s.apart = x, n, cols, s.isApart(v, n, cols)
	if !s.apart {
		a := &s.threads[0].Activations
		a.reset(v.Scheme, x, n, cols)
		if v.Scheme != F32 {
			s.dispatcher.dispatch(n, s.quantTask, s.alone)
		}
		for i := range s.products {
			s.arrangeTogether(a, s.products[i].Variant.orderFor(n))
		}
		return
	}
	for i := range s.products {
		v := s.products[i].Variant
		of := shape{v.Scheme, n, cols, v.orderFor(n)}
		if s.seen[of] {
			continue
		}
		s.dispatcher.settle() // who is late still multiplies with its own
		for t := range s.threads {
			a := &s.threads[t].Activations
			a.reset(of.scheme, nil, n, cols)
			a.room(of.order)
		}
		s.seen[of] = true
	}
}

// holdTasks settles whether workers can lose tasks: what they read must stay theirs when
// the submission has ended without them, as their own activations do, and there must be
// room for results that may come too late.
func (s *submission) holdTasks() {
	size := 0
	for i := range s.products {
		size = max(size, len(s.products[i].Dst))
	}
	if s.held = s.apart && !s.alone && size <= ownResults; !s.held {
		return
	}
	for t := 1; t < len(s.threads) && len(s.threads[t].own) < size; t++ {
		s.threads[t].own = make([]float32, size)
	}
}

// activationsOf returns those for a thread to multiply with.
func (s *submission) activationsOf(thread int) *Activations {
	v, t := s.products[0].Variant, &s.threads[thread]
	if !s.apart {
		if t.submission != s.number {
			t.share(&s.threads[0].Activations)
			t.submission = s.number
		}
		return &t.shared
	}
	if t.submission != s.number {
		s.dispatcher.recorder.mark(thread, Quantizing, 0)
		t.reset(v.Scheme, nil, s.n, s.cols)
		v.ISA.quantize(&t.Activations, s.x, 0, s.n)
		for i := range s.products {
			t.Arrange(s.products[i].Variant.orderFor(s.n))
		}
		t.submission = s.number
	}
	return &t.Activations
}

// arrangeTogether is a.Arrange, with the panels shared among threads.
func (s *submission) arrangeTogether(a *Activations, o *Order) {
	if o == nil || o.Panel == 0 {
		a.Arrange(o)
		return
	}
	if s.arranging = a.room(o); !s.arranging.valid {
		s.dispatcher.dispatch((a.N+o.Panel-1)/o.Panel, s.arrangeTask, s.alone)
		s.arranging.valid = true
	}
}

func (s *submission) arrangePanel(thread, i int) {
	s.dispatcher.recorder.mark(thread, Quantizing, 0)
	a, o := &s.threads[0].Activations, s.arranging.order
	from, to := i*o.Panel, min((i+1)*o.Panel, a.N)
	dst := s.arranging.q[o.Size(from, a.Stride):o.Size(to, a.Stride)]
	o.Arrange(dst, a.Q[from*a.Stride:to*a.Stride], to-from, a.Stride)
}

func (s *submission) quantizeColumn(thread, i int) {
	s.dispatcher.recorder.mark(thread, Quantizing, 0)
	s.products[0].Variant.ISA.quantize(&s.threads[0].Activations, s.x, i, i+1)
}

// runChunk computes task i of the submission.
func (s *submission) runChunk(thread, i int) {
	k := len(s.chunks) - 1
	for s.chunks[k] > i {
		k--
	}
	pr := s.products[k]
	r0 := (i - s.chunks[k]) * s.rows[k]
	r1 := min(r0+s.rows[k], pr.Matrix.Rows)
	a := s.activationsOf(thread)
	s.dispatcher.recorder.mark(thread, Multiplying, k)
	if thread == 0 || !s.held {
		pr.Variant.Rows(pr.Dst, pr.Matrix, a, r0, r1)
		return
	}
	s.runHeld(thread, i, pr, a, r0, r1)
}

// runHeld computes rows [r0, r1) of task i, which the caller takes over if the worker
// is late: then only the worker's own memory has its results.
func (s *submission) runHeld(thread, i int, pr Product, a *Activations, r0, r1 int) {
	t, rows := &s.threads[thread], pr.Matrix.Rows
	own := t.own[:len(pr.Dst)]
	t.matrix = *pr.Matrix
	s.dispatcher.hold(thread, i)
	pr.Variant.Rows(own, &t.matrix, a, r0, r1)
	t.matrix = Matrix{}
	if !s.dispatcher.release(thread) {
		return
	}
	for c := 0; c < len(own); c += rows {
		copy(pr.Dst[c+r0:c+r1], own[c+r0:c+r1])
	}
}

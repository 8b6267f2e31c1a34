package kernels

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"onebit/formats"
)

// A Pool is a fixed set of threads that products run on: the caller and
// threads−1 persistent workers. Rows are handed out in chunks, each row is
// summed by one thread, so results do not depend on how many there are. Its
// methods may be called from several goroutines, one runs at a time. A panic in a
// task, also that of a fault ([debug.SetPanicOnFault]), becomes the caller's.
//
// A product lasts tens of microseconds, as long as it takes to wake a parked
// goroutine. Workers therefore spin for a while after each submission before
// they park.
type Pool struct {
	mu      sync.Mutex
	threads int
	queues  []queue // one per thread: its share of the tasks

	recorder *Recorder // nil: none
	task     func(thread, i int)
	workers  []worker
	closed   atomic.Bool

	// Padded: while threads write these, others read what is beside them.
	_     [128]byte
	epoch atomic.Uint32 // increased by each dispatch
	_     [124]byte
	gate  atomic.Int32 // workers at work; shut is added between dispatches
	_     [124]byte

	// The submission in progress.
	submission  int
	x           []float32
	n, cols     int
	activations []activations // one per thread, the first for all if there are many columns
	seen        map[shape]bool
	products    []Product
	chunks      []int // chunks[p]: the first task of product p
	rows        []int // rows[p]: how many rows each of its tasks takes
	arranging   *orderedQ
	each        func(i int) // of ForEach
	panicked    atomic.Pointer[any]

	rowsTask, quantTask, arrangeTask, eachTask func(thread, i int) // made once: a method value allocates
}

// activations are a thread's, of the submission they were prepared for.
// Padded: other threads have theirs beside them.
type activations struct {
	Activations
	shared     Activations // the first thread's, with the scratch of this one
	submission int
	_          [128]byte
}

// share makes those that all threads multiply with a thread's.
func (a *activations) share(all *Activations) {
	scratch := a.scratch
	a.shared = *all
	a.shared.scratch = scratch
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
// long. What a thread prepares does not become less with more of them.
const (
	fewColumns   = 2
	apartThreads = 4
)

// apart says whether every thread prepares n columns for itself.
func (p *Pool) apart(v *Variant, n int) bool {
	return v.Scheme != F32 && (n <= fewColumns || n <= v.Columns && p.threads <= apartThreads)
}

// A Product is one matrix of a submission and where its result goes:
// n × Matrix.Rows floats, a column's after the other's.
type Product struct {
	Variant *Variant
	Matrix  *Matrix
	Dst     []float32
}

// queue is a share [next, end) of the tasks; other threads take from it too
// once their own is empty. Padded to two cache lines, which hardware prefetches
// together.
type queue struct {
	next atomic.Int64
	end  int64
	_    [112]byte
}

type worker struct {
	wake   chan struct{}
	parked atomic.Bool
	_      [112]byte
}

// spinRounds × pauseLoops PAUSE instructions are about 50 µs on current x86:
// longer than the gaps between the products of a transformer block.
const (
	spinRounds = 256
	pauseLoops = 4
)

// shut keeps the gate below zero however many workers try it.
const shut = -1 << 30

// ChunkBytes is how much weight memory a task covers: long enough for the
// hardware prefetcher, short enough to even out threads.
const ChunkBytes = 32 << 10

// NewPool starts threads−1 workers; threads < 1 means GOMAXPROCS. Close stops
// them.
func NewPool(threads int) *Pool {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Pool{
		threads: threads, queues: make([]queue, threads), workers: make([]worker, threads-1),
		activations: make([]activations, threads), seen: map[shape]bool{},
	}
	for t := range p.activations {
		p.activations[t].scratch = scratches{}
	}
	p.gate.Store(shut)
	p.rowsTask, p.quantTask, p.arrangeTask, p.eachTask = p.runChunk, p.quantizeColumn, p.arrangePanel, p.runEach
	for i := range p.workers {
		p.workers[i].wake = make(chan struct{}, 1)
		go p.serve(i)
	}
	return p
}

// Threads returns the number of threads that share a product: 1 for a nil
// pool.
func (p *Pool) Threads() int {
	if p == nil {
		return 1
	}
	return p.threads
}

// Close stops the workers. The pool must not be used again.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Swap(true) {
		return
	}
	p.epoch.Add(1)
	p.wakeParked()
}

// MatVec computes dst = m·x: dst has m.Rows floats, x has m.Cols.
func (p *Pool) MatVec(dst []float32, v *Variant, m *Matrix, x []float32) {
	p.Do(x, 1, Product{v, m, dst})
}

// MatMul computes n products at once: x is n × m.Cols, dst n × m.Rows.
func (p *Pool) MatMul(dst []float32, v *Variant, m *Matrix, x []float32, n int) {
	p.Do(x, n, Product{v, m, dst})
}

// Do multiplies several matrices with the same n activation columns in one
// submission: the activations are quantized for all of them, the threads
// dispatched once. All variants must have the same activation scheme. It allocates
// nothing once the pool has seen the shapes.
func (p *Pool) Do(x []float32, n int, products ...Product) {
	if len(products) == 0 {
		return
	}
	cols := products[0].Matrix.Cols
	for i := range products {
		checkProduct(&products[i], products[0].Variant.Scheme, len(x), n, cols)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	step := n
	for i := range products {
		if c := products[i].Variant.Columns; c > 0 {
			step = min(step, c)
		}
	}
	for c := 0; c < n; c += step {
		p.submit(x, c, min(c+step, n), cols, products)
	}
	clear(p.products) // keep neither matrices nor activations alive
	p.x, p.activations[0].X = nil, nil
	for t := range p.activations {
		p.activations[t].shared = Activations{}
	}
}

// submit multiplies with the columns [from, to) of x.
func (p *Pool) submit(x []float32, from, to, cols int, products []Product) {
	p.products = append(p.products[:0], products...)
	for i := range p.products {
		pr := &p.products[i]
		pr.Dst = pr.Dst[from*pr.Matrix.Rows : to*pr.Matrix.Rows]
	}
	p.prepare(x[from*cols:to*cols], to-from, cols)
	p.chunks, p.rows = p.chunks[:0], p.rows[:0]
	total := 0
	for i := range products {
		rows := p.taskRows(&products[i], to-from)
		p.chunks, p.rows = append(p.chunks, total), append(p.rows, rows)
		total += (products[i].Matrix.Rows + rows - 1) / rows
	}
	p.dispatch(total, p.rowsTask)
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

// taskRows returns how many rows of pr a task multiplies with n columns.
func (p *Pool) taskRows(pr *Product, n int) int {
	if v := pr.Variant; v.BatchRows != nil && v.batches(n) {
		return v.BatchRows(pr.Matrix, p.threads)
	}
	return p.chunkRows(pr.Matrix)
}

// chunkRows returns how many rows a task takes: about ChunkBytes, fewer if
// threads would go without, in multiples of 64, which is a whole number of most
// kernels' tiles, or of 16 where that is too coarse; but of whole tiles.
func (p *Pool) chunkRows(m *Matrix) int {
	rowBytes := max(1, len(m.Data)/m.Rows)
	rows := min(ChunkBytes/rowBytes, m.Rows/(4*p.Threads()))
	unit := max(64, m.Layout.RowTile)
	if rows < unit {
		unit = max(16, m.Layout.RowTile)
	}
	return max(unit, rows/unit*unit)
}

// prepare makes x ready for the products: many columns at once, shared among
// threads; for a few only the room, for each thread to quantize them in.
func (p *Pool) prepare(x []float32, n, cols int) {
	v := p.products[0].Variant
	p.submission++
	p.x, p.n, p.cols = x, n, cols
	if !p.apart(v, n) {
		a := &p.activations[0].Activations
		a.reset(v.Scheme, x, n, cols)
		if v.Scheme != F32 {
			p.dispatch(n, p.quantTask)
		}
		for i := range p.products {
			p.arrangeTogether(a, p.products[i].Variant.orderFor(n))
		}
		return
	}
	for i := range p.products {
		s := shape{v.Scheme, n, cols, p.products[i].Variant.orderFor(n)}
		if p.seen[s] {
			continue
		}
		for t := range p.activations {
			a := &p.activations[t].Activations
			a.reset(s.scheme, nil, n, cols)
			a.room(s.order)
		}
		p.seen[s] = true
	}
}

// activationsOf returns those for a thread to multiply with.
func (p *Pool) activationsOf(thread int) *Activations {
	v, a := p.products[0].Variant, &p.activations[thread]
	if !p.apart(v, p.n) {
		if a.submission != p.submission {
			a.share(&p.activations[0].Activations)
			a.submission = p.submission
		}
		return &a.shared
	}
	if a.submission != p.submission {
		p.recorder.mark(thread, Quantizing, 0)
		a.reset(v.Scheme, nil, p.n, p.cols)
		v.ISA.quantize(&a.Activations, p.x, 0, p.n)
		for i := range p.products {
			a.Arrange(p.products[i].Variant.orderFor(p.n))
		}
		a.submission = p.submission
	}
	return &a.Activations
}

// arrangeTogether is a.Arrange, with the panels shared among threads.
func (p *Pool) arrangeTogether(a *Activations, o *Order) {
	if o == nil || o.Panel == 0 {
		a.Arrange(o)
		return
	}
	if p.arranging = a.room(o); !p.arranging.valid {
		p.dispatch((a.N+o.Panel-1)/o.Panel, p.arrangeTask)
		p.arranging.valid = true
	}
}

func (p *Pool) arrangePanel(thread, i int) {
	p.recorder.mark(thread, Quantizing, 0)
	a, o := &p.activations[0].Activations, p.arranging.order
	from, to := i*o.Panel, min((i+1)*o.Panel, a.N)
	dst := p.arranging.q[o.Size(from, a.Stride):o.Size(to, a.Stride)]
	o.Arrange(dst, a.Q[from*a.Stride:to*a.Stride], to-from, a.Stride)
}

func (p *Pool) quantizeColumn(thread, i int) {
	p.recorder.mark(thread, Quantizing, 0)
	p.products[0].Variant.ISA.quantize(&p.activations[0].Activations, p.x, i, i+1)
}

// runChunk computes task i of the submission.
func (p *Pool) runChunk(thread, i int) {
	k := len(p.chunks) - 1
	for p.chunks[k] > i {
		k--
	}
	pr := &p.products[k]
	r0 := (i - p.chunks[k]) * p.rows[k]
	a := p.activationsOf(thread)
	p.recorder.mark(thread, Multiplying, k)
	pr.Variant.Rows(pr.Dst, pr.Matrix, a, r0, min(r0+p.rows[k], pr.Matrix.Rows))
}

// Rows computes rows [r0, r1) of all columns of a, which was prepared for v,
// on the calling goroutine: dst[c·m.Rows+r]. r0 is a multiple of the layout's
// RowTile; so is r1, unless it is the last row.
func (v *Variant) Rows(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
	if len(m.Data) == 0 {
		panic(matrixIsClosed)
	}
	if v.batches(a.N) {
		v.MatMul(dst, m, a, r0, r1)
		return
	}
	if v.MatFew != nil {
		v.MatFew(dst, m, a, r0, r1)
		return
	}
	for c := range a.N {
		v.MatVec(dst[c*m.Rows:(c+1)*m.Rows], m, a, c, r0, r1)
	}
}

// ForEach calls task(0) to task(n−1) on the pool's threads. A nil pool calls
// them on the caller's.
func (p *Pool) ForEach(n int, task func(i int)) {
	if p == nil {
		for i := range n {
			task(i)
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each = task
	p.dispatch(n, p.eachTask)
	p.each = nil
}

func (p *Pool) runEach(thread, i int) {
	p.recorder.mark(thread, Running, 0)
	p.each(i)
}

// packRows runs m's layout over t, a chunk of rows a task.
func (p *Pool) packRows(m *Matrix, t *formats.Tensor) error {
	rows := p.chunkRows(m)
	n := (m.Rows + rows - 1) / rows
	errs := make([]error, n)
	p.ForEach(n, func(i int) {
		errs[i] = m.Layout.Pack(m, t, i*rows, min((i+1)*rows, m.Rows))
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// dispatch runs n tasks and returns when all are done.
func (p *Pool) dispatch(n int, task func(thread, i int)) {
	if p.closed.Load() {
		panic("kernels: pool is closed")
	}
	p.recorder.begin()
	if p.threads == 1 || n == 1 {
		for i := range n {
			task(0, i)
		}
		p.recorder.mark(0, Idle, 0)
		return
	}
	p.task = task
	for w := range p.queues {
		p.queues[w].end = int64((w + 1) * n / p.threads)
		p.queues[w].next.Store(int64(w * n / p.threads))
	}
	p.gate.Add(-shut)
	p.epoch.Add(1)
	p.wakeParked()
	p.drain(0)
	p.gate.Add(shut)
	for p.gate.Load() != shut {
		if !spin(func() bool { return p.gate.Load() == shut }) {
			runtime.Gosched()
		}
	}
	p.recorder.mark(0, Idle, 0)
	p.task = nil
	if v := p.panicked.Swap(nil); v != nil {
		panic(*v)
	}
}

func (p *Pool) wakeParked() {
	for i := range p.workers {
		if w := &p.workers[i]; w.parked.Load() && w.parked.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
}

// drain runs the tasks of thread's own queue, then what others have left. It
// leaves a panic to dispatch, which waits for the other threads first: they still
// use what the submission is about.
func (p *Pool) drain(thread int) {
	defer func() {
		if v := recover(); v != nil {
			first := v // v itself would be allocated whether there is a panic or not
			p.panicked.CompareAndSwap(nil, &first)
		}
	}()
	for i := range p.queues {
		q := &p.queues[(thread+i)%len(p.queues)]
		for q.next.Load() < q.end { // a read leaves the line with its owner
			if k := q.next.Add(1) - 1; k < q.end {
				p.task(thread, int(k))
			}
		}
	}
	p.recorder.mark(thread, Waiting, 0)
}

// serve is worker i's life. A worker that wakes after the tasks have run out
// finds the gate shut and does not hold the submission up: on a busy machine
// the caller finishes alone.
func (p *Pool) serve(i int) {
	// The caller decides what a fault is, if it can be told of it.
	debug.SetPanicOnFault(true)
	w := &p.workers[i]
	for seen := uint32(0); ; {
		p.await(w, seen)
		seen = p.epoch.Load()
		if p.closed.Load() {
			return
		}
		if p.gate.Add(1) > 0 {
			p.drain(i + 1)
		}
		p.gate.Add(-1)
	}
}

// await returns once the epoch has left seen: it spins, then parks.
func (p *Pool) await(w *worker, seen uint32) {
	if spin(func() bool { return p.epoch.Load() != seen }) {
		return
	}
	w.parked.Store(true)
	if p.epoch.Load() != seen && w.parked.CompareAndSwap(true, false) {
		return // dispatched between the spin and the flag
	}
	<-w.wake
}

// spin polls done for about 50 µs and reports whether it came true.
func spin(done func() bool) bool {
	for range spinRounds {
		if done() {
			return true
		}
		pause(pauseLoops)
	}
	return false
}

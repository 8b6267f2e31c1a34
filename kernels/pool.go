package kernels

import (
	"runtime"
	"sync"

	"onebit/formats"
	"onebit/internal/sysinfo"
	"onebit/internal/threads"
)

// A Pool is a fixed set of threads that products run on: the caller and
// threads−1 persistent workers. Rows are handed out in chunks, each row is
// summed by one thread, so results do not depend on how many there are. Its
// methods may be called from several goroutines, one runs at a time. A panic in a
// task, also that of a fault ([runtime/debug.SetPanicOnFault]), becomes the caller's.
type Pool struct {
	mu         sync.Mutex
	team       threads.Team
	submission submission

	each     func(i int) // of ForEach
	eachTask func(thread, i int)
}

// A Product is one matrix of a submission and where its result goes:
// n × Matrix.Rows floats, a column's after the other's.
type Product struct {
	Variant *Variant
	Matrix  *Matrix
	Dst     []float32
	// From and To are which of the submission's columns it is of, [From, To), as
	// many as Dst is for; To 0: all.
	From, To int
}

// columns returns how many of a submission's n the product is of.
func (pr *Product) columns(n int) int {
	if pr.To == 0 {
		return n
	}
	return pr.To - pr.From
}

// NewPool starts n−1 workers; n < 1 means a thread a core, as
// [sysinfo.Host.Threads] counts them. There are no more than GOMAXPROCS: threads that
// cannot run at once wait for each other. Close stops them.
func NewPool(n int) *Pool {
	if n < 1 {
		n = sysinfo.Threads()
	}
	p := &Pool{}
	p.team.Start(min(n, runtime.GOMAXPROCS(0)))
	p.submission.begin(&p.team)
	p.eachTask = p.runEach
	return p
}

// Threads returns the number of threads that share a product: 1 for a nil
// pool.
func (p *Pool) Threads() int {
	if p == nil {
		return 1
	}
	return p.team.Size()
}

// Worth reports whether tasks that take a thread so many nanoseconds end sooner on
// all of the pool's, as far as can be told before.
func (p *Pool) Worth(nanoseconds float64) bool { return threads.Worth(p.Threads(), nanoseconds) }

// Record makes r keep what p's threads do from now on; nil ends it. It panics if
// r was made for another number of threads.
func (p *Pool) Record(r *threads.Recorder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.team.Record(r)
}

// NewRecorder returns a recorder for p's threads, whose times count from now.
func (p *Pool) NewRecorder() *threads.Recorder { return threads.NewRecorder(p.Threads()) }

// Close stops the workers. The pool must not be used again.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.team.Stop()
}

// MatVec computes dst = m·x: dst has m.Rows floats, x has m.Cols.
func (p *Pool) MatVec(dst []float32, v *Variant, m *Matrix, x []float32) {
	p.Do(x, 1, Product{Variant: v, Matrix: m, Dst: dst})
}

// MatMul computes n products at once: x is n × m.Cols, dst n × m.Rows.
func (p *Pool) MatMul(dst []float32, v *Variant, m *Matrix, x []float32, n int) {
	p.Do(x, n, Product{Variant: v, Matrix: m, Dst: dst})
}

// Do multiplies several matrices with the same n activation columns in one
// submission: the activations are quantized for all of them, the threads
// dispatched once. All variants must have the same activation scheme. It allocates
// nothing once the pool has seen the shapes.
func (p *Pool) Do(x []float32, n int, products ...Product) { p.do(false, x, n, products) }

// DoAlone is Do on the caller's thread, for products that take less than it costs to
// dispatch them: see [Pool.Worth]. The results are the same.
func (p *Pool) DoAlone(x []float32, n int, products ...Product) { p.do(true, x, n, products) }

func (p *Pool) do(alone bool, x []float32, n int, products []Product) {
	if len(products) == 0 {
		return
	}
	cols := products[0].Matrix.Cols
	for i := range products {
		checkProduct(&products[i], products[0].Variant.Scheme, len(x), n, cols)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.submission.alone = alone
	p.submission.run(x, n, cols, products)
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
	p.team.Run(n, p.eachTask, false)
	p.each = nil
}

func (p *Pool) runEach(thread, i int) {
	p.team.Mark(thread, threads.Running, 0)
	p.each(i)
}

// packRows runs m's layout over t, a chunk of rows a task.
func (p *Pool) packRows(m *Matrix, t *formats.Tensor) error {
	rows := chunkRows(m, p.Threads())
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

// ChunkBytes is how much weight memory a task covers: long enough for the
// hardware prefetcher, short enough to even out threads.
const ChunkBytes = 32 << 10

// chunkRows returns how many rows a task takes: about ChunkBytes, fewer if
// threads would go without, in multiples of 64, which is a whole number of most
// kernels' tiles, or of 16 where that is too coarse; but of whole tiles.
func chunkRows(m *Matrix, threads int) int {
	rowBytes := max(1, len(m.Data)/m.Rows)
	rows := min(ChunkBytes/rowBytes, m.Rows/(4*threads))
	unit := max(64, m.Layout.RowTile)
	if rows < unit {
		unit = max(16, m.Layout.RowTile)
	}
	return max(unit, rows/unit*unit)
}

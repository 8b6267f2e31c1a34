package train

import (
	"sync"

	"onebit/kernels"
	"onebit/kernels/vectors"
)

// host has this machine's loops over numbers.
var host = sync.OnceValue(vectors.Best)

// span is how many elements a task takes. It doesn't depend on the number of
// threads, so neither does the order in which partial sums are added.
const span = 16 << 10

// eachSpan calls task for pieces of [0, n) on the pool's threads.
func eachSpan(pool *kernels.Pool, n int, task func(from, to int)) { eachPiece(pool, n, span, task) }

// eachRows calls task for runs of rows, of width elements each.
func eachRows(pool *kernels.Pool, rows, width int, task func(from, to int)) {
	eachPiece(pool, rows, max(1, span/(4*width)), task)
}

// eachColumns calls task for runs of columns: for sums over rows, each of which
// one thread makes, from the first row to the last.
func eachColumns(pool *kernels.Pool, columns int, task func(from, to int)) {
	eachPiece(pool, columns, 64, task)
}

func eachPiece(pool *kernels.Pool, n, size int, task func(from, to int)) {
	pieces := (n + size - 1) / size
	if pieces == 1 { // not worth waking anyone
		task(0, n)
		return
	}
	pool.ForEach(pieces, func(i int) { task(i*size, min((i+1)*size, n)) })
}

// sumOver returns the sum of what f gives for parts of x.
func sumOver(pool *kernels.Pool, x []float32, f func(part []float32) float64) float64 {
	partial := make([]float64, (len(x)+span-1)/span)
	eachSpan(pool, len(x), func(from, to int) {
		partial[from/span] = f(x[from:to])
	})
	var sum float64
	for _, v := range partial {
		sum += v
	}
	return sum
}

// magnitudes returns Σ |x|, and squares Σ x².
func magnitudes(x []float32) float64 { return host().SumAbs(x, 0) }
func squares(x []float32) float64    { return host().Dot(x, x) }

// rowsOf returns how many rows of some width x has.
func rowsOf(x []float32, width int) int {
	if len(x)%width != 0 {
		panic("train: the length is not a whole number of rows")
	}
	return len(x) / width
}

// sameLength panics unless a gradient has the shape of what it is the gradient of.
func sameLength(grad, of []float32) {
	if len(grad) != len(of) {
		panic("train: Backward wants a gradient for each result of the last Forward")
	}
}

package train

import (
	"math"

	"onebit/kernels"
)

// CrossEntropy returns the mean of -ln softmax(logits)[target] in nats, over
// rows of as many logits as there are classes, and writes its gradient for the
// logits to grad. Rows whose target is negative don't count; if none does, the
// loss is 0.
func CrossEntropy(pool *kernels.Pool, grad, logits []float32, targets []int32, classes int) float64 {
	rows := rowsOf(logits, classes)
	if rows != len(targets) {
		panic("train: CrossEntropy wants a target for each row of logits")
	}
	sameLength(grad, logits)
	counted := 0
	for _, t := range targets {
		if t >= 0 {
			counted++
		}
	}
	losses := make([]float64, rows)
	eachRows(pool, rows, classes, func(from, to int) {
		for r := from; r < to; r++ {
			row, g := logits[r*classes:(r+1)*classes], grad[r*classes:(r+1)*classes]
			if targets[r] < 0 {
				clear(g)
				continue
			}
			losses[r] = crossEntropyRow(g, row, int(targets[r]), counted)
		}
	})
	return mean(losses, counted)
}

// crossEntropyRow writes (softmax(logits) - onehot(target))/counted.
func crossEntropyRow(grad, logits []float32, target, counted int) float64 {
	v := host()
	most := v.Max(logits)
	sum := v.ExpSum(grad, logits, most, 1)
	v.Scale(grad, float32(1/(sum*float64(counted))), grad)
	grad[target] -= 1 / float32(counted)
	return math.Log(sum) - float64(logits[target]-most)
}

// BinaryCrossEntropy returns the mean of -t·ln σ(z) - (1-t)·ln(1-σ(z)) in nats over
// logits z and targets t of [0, 1], and writes its gradient for the logits to
// grad.
func BinaryCrossEntropy(pool *kernels.Pool, grad, logits, targets []float32) float64 {
	sameLength(grad, logits)
	sameLength(targets, logits)
	losses := make([]float64, (len(logits)+span-1)/span)
	n := float64(len(logits))
	eachSpan(pool, len(logits), func(from, to int) {
		for i := from; i < to; i++ {
			z, t := float64(logits[i]), float64(targets[i])
			e := math.Exp(-math.Abs(z)) // never overflows
			losses[from/span] += max(z, 0) - z*t + math.Log1p(e)
			p := 1 / (1 + e)
			if z < 0 {
				p = e / (1 + e)
			}
			grad[i] = float32((p - t) / n)
		}
	})
	return mean(losses, len(logits))
}

// mean is the sum, from the first to the last, by n; 0 if n is.
func mean(losses []float64, n int) float64 {
	var sum float64
	for _, l := range losses {
		sum += l
	}
	return sum / float64(max(n, 1))
}

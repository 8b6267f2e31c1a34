package roofline

import (
	"fmt"
	"math"
	"slices"

	"onebit/bench/results"
	"onebit/internal/cpu"
)

// Limits are what a thread of this machine does at most. A sample far beyond
// them was not measured: the clock stood still, or the work was not done.
type Limits struct {
	Emulated bool // an emulator's rates hold nothing together

	// Measure finds the rates: bytes read and int8 multiply-adds, per second.
	// MeasureLimits does.
	Measure func() (read, dot float64)

	read, dot float64
}

const (
	// beyond is how much faster than the fastest that was measured a sample may
	// be: the clock frequency changes, and other threads may have disturbed the
	// measurement.
	beyond = 1.5

	// lookupFactor is how many times the int8 multiply-adds per second look-ups
	// of 1-bit weights may reach. An instruction looks up the sums of four to
	// six weights in each lane; one multiplies as many, and where there is no
	// dot product of int8 it takes three of them and an addition. It is set
	// too high rather than too low.
	lookupFactor = 16
)

// inCache are the bytes that MeasureLimits reads. The least fit any CPU's first cache;
// of more of them each call costs less beside the reading, which counts where
// calls are dear (go test -race).
var inCache = []int{16 << 10, 256 << 10}

// MeasureLimits finds the limits in some tens of milliseconds; none if there is
// no memory for it. Memory that is not aligned to cache lines, such as the
// stack, is read at half the rate.
func MeasureLimits() (read, dot float64) {
	buf, err := NewBuffer(slices.Max(inCache), Huge)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	defer buf.Free()
	for _, size := range inCache {
		_, rate := best(running(archReadKernels, cpu.Detected()), func(k readKernel, n int) int {
			for range n {
				sum(k, buf.Bytes()[:size])
			}
			return n * size
		})
		read = max(read, rate)
	}
	_, dot = FastestDot()
	return read, dot
}

// Check returns the bench.Case.Check of a case on so many threads. Before it
// calls a sample impossible, it measures the limits again: whatever disturbed
// them makes no error.
func (l *Limits) Check(threads int) func([]results.Metric) error {
	return func(speeds []results.Metric) error {
		if l.Emulated {
			return nil
		}
		if l.read == 0 {
			l.update()
		}
		err := l.exceeded(speeds, threads)
		for range retries {
			if err == nil {
				break
			}
			l.update()
			err = l.exceeded(speeds, threads)
		}
		return err
	}
}

// retries are so many that a busy machine leaves one of them alone.
const retries = 10

func (l *Limits) update() {
	read, dot := l.Measure()
	l.read, l.dot = max(l.read, read), max(l.dot, dot)
}

func (l *Limits) exceeded(speeds []results.Metric, threads int) error {
	for _, limit := range []struct {
		what string
		most float64
		unit []string
	}{
		{"reads from its caches", l.read, []string{results.WeightRate, results.ReadRate}},
		{"computes, even with look-ups", l.dot * lookupFactor, []string{results.OpRate}},
	} {
		most := limit.most * beyond * float64(threads)
		for _, s := range speeds {
			for _, unit := range limit.unit {
				if s.Unit == unit && s.Value > most {
					u := results.UnitOf(unit)
					return fmt.Errorf("impossible: %s of %s; the machine %s at most %s: the clock or the case is wrong",
						u.Format(s.Value), u.About, limit.what, u.Format(most))
				}
			}
		}
	}
	return nil
}

package sysinfo

import (
	"errors"
	"fmt"
	"math"
)

// Value is something known about the machine, or the reason why it is not.
type Value[T any] struct {
	V   T
	Err error // nil if V is known
}

// String returns the value, or "unavailable: reason".
func (v Value[T]) String() string {
	if v.Err != nil {
		return "unavailable: " + v.Err.Error()
	}
	return fmt.Sprint(v.V)
}

// OK reports whether the value is known.
func (v Value[T]) OK() bool { return v.Err == nil }

func known[T any](v T) Value[T] { return Value[T]{V: v} }

func unknown[T any](reason string) Value[T] { return Value[T]{Err: errors.New(reason)} }

// value turns a result into a Value.
func value[T any](v T, err error) Value[T] {
	if err != nil {
		return Value[T]{Err: err}
	}
	return known(v)
}

// Bytes is an amount of memory.
type Bytes int64

// String gives the amount in the largest binary unit that leaves it at least 1:
// "480 MiB", "23.5 GiB".
func (b Bytes) String() string {
	if b < 1<<10 {
		return fmt.Sprintf("%d B", int64(b))
	}
	v, unit := float64(b)/(1<<10), 0
	for v >= 1<<10 && unit < 3 {
		v /= 1 << 10
		unit++
	}
	return fmt.Sprintf("%.4g %s", v, [...]string{"KiB", "MiB", "GiB", "TiB"}[unit])
}

// ByteLimit is a limit on memory; NoLimit means that there is none.
type ByteLimit Bytes

// NoLimit is larger than every limit.
const NoLimit ByteLimit = math.MaxInt64

// String returns the limit, or "none".
func (l ByteLimit) String() string {
	if l == NoLimit {
		return "none"
	}
	return Bytes(l).String()
}

// CPULimit is the number of CPUs' worth of time that a process may use; +Inf
// means that there is no limit.
type CPULimit float64

// String returns the limit, or "none".
func (l CPULimit) String() string {
	if math.IsInf(float64(l), 1) {
		return "none"
	}
	return fmt.Sprintf("%.4g CPUs", float64(l))
}

package engine

import (
	"time"

	"onebit/formats"
)

// What some engines can beside what all can. Callers ask for an ability by a type
// assertion, and do without where an engine lacks it.

// A Planner is an Opener that tells what its engine would take of memory.
type Planner interface {
	Opener
	// WeightBytes returns what a weight will take that is requested of a tensor, whose
	// data is not looked at: of the file's bytes, where they are multiplied in place, and
	// of memory that is allocated for it. inPlace says that tensors are the file's bytes.
	WeightBytes(r Request, t formats.Tensor, inPlace bool) (mapped, allocated int64, err error)
	// HoldsOneBlock reports whether the weights of one block at a time are in memory.
	HoldsOneBlock() bool
	// StreamBytes returns what a stream takes whose blocks have so many query heads to a
	// key head. The error is about a format that cannot hold keys and values.
	StreamBytes(opt StreamOptions, group int) (StreamBytes, error)
	// CacheFormats lists what keys and values can be kept in.
	CacheFormats() []*formats.Type
}

// A StreamBytes is what a stream takes of memory at most, beside its buffers.
type StreamBytes struct {
	Cache int64 // keys and values of all positions
	// Positions is how many that is room for, the context or some more.
	Positions int
	State     int64 // what blocks keep that has no positions, and a copy where it is marked
	Scratch   int64 // what attention works in, on all threads
}

// A MemoryCounter is an Engine that counts what it takes of the host's memory.
type MemoryCounter interface {
	// Taken returns the memory of its own that the engine holds for weights, and what
	// its streams hold for keys and values. Promised is what the latter come to once
	// all texts are as long as they may get.
	Taken() (weights, streams, promised int64)
}

// An ExpertCounter is an Engine that knows which experts have been multiplied.
type ExpertCounter interface {
	// ExpertBytes returns the bytes of experts that some text has met so far, each
	// counted once, and of all.
	ExpertBytes() (met, all int64)
}

// A HostMemory is an Engine or a Stream that shows its memory outside the Go heap: for
// looking at from outside, and gone when the holder is closed.
type HostMemory interface {
	HostMemory() [][]byte
}

// A BufferCounter is a Stream whose activations are on the Go heap.
type BufferCounter interface {
	BufferBytes() int
}

// A HeadTrier is an Engine that tries an output head in other formats.
type HeadTrier interface {
	// CheckHead returns an error unless heads can be converted to a format.
	CheckHead(to *formats.Type) error
	// Try makes a trial of rows of w, given by their numbers, in a format.
	Try(w Weight, rows []int, to *formats.Type) (Trial, error)
	// MultiplyOne is the product of a head with one column.
	MultiplyOne(dst []float32, w Weight, x []float32)
}

// A Trial is some rows of a weight in a format, multiplied as all of it would be
// if the engine had loaded it in that format. It must be closed.
type Trial interface {
	// Bytes is the size of the whole weight in that format.
	Bytes() int
	// Multiply writes the rows' products with n columns: x is n × columns, dst n × rows.
	Multiply(dst, x []float32, n int)
	Close() error
}

// A DeviceTimer is a Stream whose device has a clock of its own.
type DeviceTimer interface {
	// DeviceTime returns how long the device has worked for the stream, on all that
	// was waited for.
	DeviceTime() time.Duration
}

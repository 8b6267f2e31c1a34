package engine

import (
	"context"
	"errors"

	"onebit/formats"
)

// An Engine holds the weights of one model, on one device, and computes with
// them. Its methods may be called from several goroutines. Close comes after
// that of its streams.
type Engine interface {
	// Name is what the engine is called in reports: "cpu".
	Name() string

	// Load makes weights ready, which it returns in the order of the requests:
	// that of a forward pass. It is called once. An error names the file and
	// the tensor, or is ctx's.
	Load(ctx context.Context, requests []Request) ([]Weight, error)

	// Check looks at all weights that an engine has taken without looking, and
	// returns what is wrong with them.
	Check() error

	// Wait waits for what the engine does to weights behind the caller's
	// back, such as packing, and returns its error.
	Wait() error

	// NewStream starts a text.
	NewStream(StreamOptions) (Stream, error)

	Close() error
}

// An Opener makes an engine for the weights of src, which stays the caller's
// and open for as long as the engine is. An engine's options are one.
type Opener interface {
	Open(src Source) (Engine, error)
}

// A Source is where an engine finds weights. Its methods may be used at the
// same time.
type Source interface {
	// Name returns the path, for errors.
	Name() string
	// Tensor returns a tensor, valid until it is released. The error names it.
	Tensor(name string) (formats.Tensor, error)
	// Populate maps a tensor's pages, all of which are about to be read.
	Populate(name string)
	// Release frees a tensor's memory.
	Release(name string) error
	// InPlace reports whether tensors are the file's own bytes, which stay
	// where they are after Release, and not made on demand. The embedding and
	// the head always are.
	InPlace() bool
	// Part returns which of several files has a tensor: memory of two is never of
	// one mapping, even if it touches.
	Part(name string) int
	// Fault returns what is wrong with a tensor as an error that names the
	// file, and the tensor as it is called there.
	Fault(tensor string, err error) error
}

// A Request is a weight that a model needs, and for what.
type Request struct {
	Tensor string
	Use    Use
	// Type is the format to convert the weight to; nil: as it is.
	Type *formats.Type
}

// A Use says what is done with a weight.
type Use int

const (
	Gain    Use = iota // Norm multiplies with it: a vector
	Table              // Embed looks rows up in it
	Matrix             // Multiply multiplies with it
	Experts            // MultiplyExperts does: a matrix for each expert, one behind the other
)

// A Weight is a tensor that an engine has loaded. Only the engine that made it
// takes it.
type Weight interface {
	Info() WeightInfo
}

// A WeightInfo says what a weight is at the moment.
type WeightInfo struct {
	Tensor     string
	Rows, Cols int           // out and in features; a vector has one row; of one expert
	Experts    int           // how many matrices there are, of Use Experts; else 0
	Type       *formats.Type // that is computed with
	Bytes      int           // as it lies in memory
	Kernel     string        // what multiplies it, "format/variant/scheme"; "" of a gain or a table
	// Error is the NMSE of a converted weight against that of the file.
	Error float64
}

// ErrNoRollback is wrapped by the error of Truncate where a stream keeps a
// state that has no positions to go back to.
var ErrNoRollback = errors.New("the state of this text cannot be rolled back")

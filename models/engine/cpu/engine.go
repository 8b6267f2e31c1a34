package cpu

import (
	"errors"
	"sync/atomic"

	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/engine"
)

// Options are the choices in an engine. The zero value is right for a program
// that just wants to run a model.
type Options struct {
	// Kernels chooses what computes.
	Kernels Kernels
	// Packing says when weights are brought into a variant's layout.
	Packing Packing
	// Pool is what the engine runs on and stays the caller's. Nil: the engine
	// makes one of Threads threads (0: see kernels.NewPool).
	Pool    *kernels.Pool
	Threads int
}

// Packing is when weights are packed.
type Packing int

const (
	// PackFirst packs every matrix before the model is ready.
	PackFirst Packing = iota
	// PackNever uses the file's bytes in place, with variants that can; of a
	// checkpoint that is ternarized, what that gives.
	PackNever
	// PackBehind starts like PackNever and packs in the background, one
	// transformer block after the other. Results do not depend on how far
	// it is. A checkpoint that is ternarized on the way into memory is packed
	// first.
	PackBehind
	// Stream uses the file's bytes in place and releases a block's pages
	// once it has run: for models larger than memory. What stays is what lies
	// outside the blocks, and the block that is running. Every batch of
	// tokens reads the whole model from the page cache or the disk, and of a
	// checkpoint that is ternarized makes each block again, which takes
	// longer than reading it.
	Stream
)

// An Engine is an engine.Engine on the CPU. What it reads of a file that is cut
// short meanwhile is a fault, which mmap.Guard turns into an error: of methods
// that return one; operations panic with it.
type Engine struct {
	source  engine.Source
	options Options
	vectors *Vectors

	pool     *kernels.Pool
	ownsPool bool

	// layers are the matrices, in the order of the forward pass.
	layers  []*matrix
	experts []*experts
	// unchecked counts those that nothing has looked at; refused: Check has told
	// what is wrong.
	unchecked atomic.Int64
	refused   atomic.Bool

	packer    *packer
	packed    mmap.Arena   // the packed weights
	converted []*mmap.Anon // weights in another format than the file's
	streams   ledger
}

func init() {
	engine.Register(engine.Kind{Name: "cpu", Summary: "the variants of kernels and of vectors on the CPU's threads", Open: Options{}, Default: true})
}

// Open implements engine.Opener.
func (opt Options) Open(src engine.Source) (engine.Engine, error) {
	e := &Engine{source: src, options: opt, pool: opt.Pool, ownsPool: opt.Pool == nil, vectors: opt.Kernels.vectors()}
	if err := e.vectors.Available(); err != nil {
		return nil, err
	}
	// There is nothing to start on before weights are made.
	if !src.InPlace() && opt.Packing == PackBehind {
		e.options.Packing = PackFirst
	}
	if e.ownsPool {
		e.pool = kernels.NewPool(opt.Threads)
	}
	return e, nil
}

// Name returns "cpu".
func (e *Engine) Name() string { return "cpu" }

// PoolOf returns the threads of an engine that is this package's; nil of another.
func PoolOf(e engine.Engine) *kernels.Pool {
	if e, ok := e.(*Engine); ok {
		return e.pool
	}
	return nil
}

// Vectors returns what computes outside the products.
func (e *Engine) Vectors() *Vectors { return e.vectors }

// Close frees the weights.
func (e *Engine) Close() error {
	var errs []error
	if e.packer != nil {
		if err := e.packer.stop(); !e.refused.Load() {
			errs = append(errs, err)
		}
	}
	errs = append(errs, e.packed.Free())
	for _, mem := range e.converted {
		errs = append(errs, mem.Free())
	}
	e.layers, e.experts, e.converted = nil, nil, nil
	if e.ownsPool {
		e.pool.Close()
	}
	return errors.Join(errs...)
}

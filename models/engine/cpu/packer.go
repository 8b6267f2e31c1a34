package cpu

import (
	"sync"

	"onebit/internal/mmap"
	"onebit/kernels"
)

// A packer packs a model that already runs on the file's bytes, layer after
// layer in the order of the forward pass, on a goroutine of its own.
type packer struct {
	quit chan struct{}
	once sync.Once
	done chan struct{}
	err  error
}

func startPacker(e *Engine) *packer {
	p := &packer{quit: make(chan struct{}), done: make(chan struct{})}
	layers := e.layers
	go func() {
		defer close(p.done)
		for _, m := range layers {
			select {
			case <-p.quit:
				return
			default:
			}
			if p.err = mmap.Guard(func() error { return e.repack(m) }); p.err != nil {
				return
			}
		}
	}()
	return p
}

// stop ends the packer and waits for it.
func (p *packer) stop() error {
	p.once.Do(func() { close(p.quit) })
	<-p.done
	return p.err
}

// repack brings a matrix into the layout of the variant chosen for it. Products in
// progress may read the old weights: the file keeps them mapped, and released
// pages are read again.
func (e *Engine) repack(m *matrix) error {
	if m.converted() {
		return nil
	}
	v, err := e.options.Kernels.variantFor(m.format, false)
	if err != nil || v.Layout == kernels.Native {
		return err
	}
	w, err := e.pack(m, v, nil)
	if err != nil {
		return err
	}
	m.weights.Store(w)
	// A product in progress would fault the pages in again: wait for it.
	e.pool.ForEach(1, func(int) {})
	e.release(m.name)
	return nil
}

// Wait waits until background packing has finished, and returns its error.
// Without PackBehind it returns at once.
func (e *Engine) Wait() error {
	if e.packer == nil {
		return nil
	}
	<-e.packer.done
	return e.packer.err
}

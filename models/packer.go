package models

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

func startPacker(m *Model) *packer {
	p := &packer{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for l := range m.linears() {
			select {
			case <-p.quit:
				return
			default:
			}
			if p.err = mmap.Guard(func() error { return m.repack(l) }); p.err != nil {
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

// repack brings a layer into the layout of the variant chosen for it. Who
// still reads the old weights may: the file keeps them mapped, and released
// pages are read again.
func (m *Model) repack(l *Linear) error {
	if l.converted() {
		return nil
	}
	v, err := m.options.variantFor(l.Type, false)
	if err != nil || v.Layout == kernels.Native {
		return err
	}
	w, err := m.pack(v, l.tensor, nil)
	if err != nil {
		return err
	}
	l.weights.Store(w)
	// A product in progress would fault the pages in again: wait for it.
	m.pool.ForEach(1, func(int) {})
	m.release(l.Name)
	return nil
}

// Packed waits until background packing has finished, and returns its error.
// Without PackBehind it returns at once.
func (m *Model) Packed() error {
	if m.packer == nil {
		return nil
	}
	<-m.packer.done
	return m.packer.err
}

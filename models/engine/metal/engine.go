package metal

import (
	"errors"
	"fmt"
	"sync"

	_ "onebit/kernels/all" // which tells the schemes of formats
	"onebit/metal"
	"onebit/models/engine"
)

// Options are the choices in an engine. The zero value is right for a program
// that just wants to run a model.
type Options struct {
	// Device is what the engine runs on, and stays the caller's. Nil: the
	// default one, which is opened with the engine.
	Device *metal.Device
	// Layout is that of packed weights in memory.
	Layout Layout
	// Naive has weights multiplied with floats, by a thread a row, the kernel of
	// cellm: to compare others with. Layout is Native then.
	Naive bool
	// Work is how many multiply-adds a command buffer has at most; 0: 2³⁴,
	// some 0.3 s on a GPU that does a twentieth of what an M1 can.
	Work int
}

const defaultWork = 1 << 34

// Layout is how weights of 1, 2 and 8 bits lie in memory.
type Layout int

const (
	// Best is Packed if the GPU reduces over simdgroups (Apple7, the M1), else
	// Native.
	Best Layout = iota
	// Native is the file's bytes, in place if they are mapped.
	Native
	// Packed has codes in rows of 16-byte words, apart from their scales: a copy,
	// unless that is what the file has.
	Packed
)

// An Engine is an engine.Engine on a GPU.
type Engine struct {
	source     engine.Source
	options    Options
	device     *metal.Device
	ownsDevice bool
	operations operations
	hybrid     hybrid

	mu        sync.Mutex
	libraries map[string]*metal.Library // by source
	buffers   []*metal.Buffer           // of weights
}

func init() {
	engine.Register(engine.Kind{Name: "metal", Summary: "the shaders of Metal on an Apple GPU", Available: available, Open: Open(Options{})})
}

// available tries, for what the system says depends on who asks: a Mac may have
// no GPU for a program without a screen.
func available() error {
	d, err := metal.Open()
	if err != nil {
		return err
	}
	return d.Close()
}

// Open returns the opener of engines with these options.
func Open(opt Options) engine.Opener {
	return func(src engine.Source) (engine.Engine, error) {
		e, err := newEngine(src, opt)
		if err != nil {
			return nil, fmt.Errorf("engine metal: %w", err)
		}
		return e, nil
	}
}

func newEngine(src engine.Source, opt Options) (*Engine, error) {
	if opt.Work == 0 {
		opt.Work = defaultWork
	}
	e := &Engine{source: src, options: opt, device: opt.Device, ownsDevice: opt.Device == nil, libraries: map[string]*metal.Library{}}
	var err error
	if e.ownsDevice {
		if e.device, err = metal.Open(); err != nil {
			return nil, err
		}
	}
	if err = e.chooseLayout(); err == nil {
		e.operations, err = e.newOperations()
	}
	if err == nil {
		e.hybrid, err = e.newHybrid()
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) chooseLayout() error {
	reduces := e.device.Supports(metal.Apple7)
	switch {
	case e.options.Naive:
		e.options.Layout = Native
	case e.options.Layout == Packed && !reduces:
		return checkReduces(e.device)
	case e.options.Layout == Best && reduces:
		e.options.Layout = Packed
	case e.options.Layout == Best:
		e.options.Layout = Native
	}
	return nil
}

// checkReduces returns nil if packed weights can be multiplied.
func checkReduces(d *metal.Device) error {
	if d.Supports(metal.Apple7) {
		return nil
	}
	return fmt.Errorf("%s cannot reduce over simdgroups, which packed weights need; use the native layout", d.Name())
}

// Name returns "metal".
func (e *Engine) Name() string { return "metal" }

// Device returns what the engine runs on.
func (e *Engine) Device() *metal.Device { return e.device }

// Check returns nil: Load has looked at every weight.
func (e *Engine) Check() error { return nil }

// Settle returns nil: Load packs.
func (e *Engine) Settle() error { return nil }

// Close frees the weights.
func (e *Engine) Close() error {
	for _, b := range e.buffers {
		b.Close()
	}
	for _, l := range e.libraries {
		l.Close()
	}
	e.buffers, e.libraries = nil, nil
	if e.ownsDevice {
		return e.device.Close()
	}
	return nil
}

// pipeline returns a kernel of a source, which is compiled at its first use.
func (e *Engine) pipeline(source, kernel string, constants metal.Constants) (*metal.Pipeline, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.libraries[source]
	if l == nil {
		var err error
		if l, err = e.device.Compile(source); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", kernel, err)
		}
		e.libraries[source] = l
	}
	return l.Pipeline(kernel, constants)
}

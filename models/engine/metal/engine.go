package metal

import (
	"errors"
	"fmt"
	"sync"

	_ "onebit/kernels/all" // which tells the schemes of formats
	"onebit/metal"
	"onebit/metal/shaders"
	"onebit/models/engine"
)

// Options are the choices in an engine. The zero value is right for a program
// that just wants to run a model.
type Options struct {
	// Device is what the engine runs on, and stays the caller's. Nil: the
	// default one, which is opened with the engine.
	Device *metal.Device
	// Native has weights multiplied as they lie in the file, in place if that is
	// mapped. Else they are packed where that is faster.
	Native bool
	// Variant is the name of one of shaders.Variants, which multiplies where it
	// can; elsewhere, and if it is empty, the fastest does.
	Variant string
	// Work is how many multiply-adds a command buffer has at most; 0: 2³⁴,
	// some 0.3 s on a GPU that does a twentieth of what an M1 can.
	Work int
}

const defaultWork = 1 << 34

// An Engine is an engine.Engine on a GPU.
type Engine struct {
	source     engine.Source
	options    Options
	device     *metal.Device
	ownsDevice bool
	operations operations
	hybrid     hybrid
	variants   []shaders.Variant // that the GPU can run, the fastest last

	mu        sync.Mutex
	libraries map[string]*metal.Library // by source
	plans     map[planKey]*planned
	buffers   []*metal.Buffer // of weights
}

func init() {
	engine.Register(engine.Kind{Name: "metal", Summary: "the shaders of Metal on an Apple GPU", Available: available, Open: Options{}})
}

// available opens the device: a Mac may have no GPU for a program without a screen.
func available() error {
	d, err := metal.Open()
	if err != nil {
		return err
	}
	return d.Close()
}

// Open implements engine.Opener.
func (opt Options) Open(src engine.Source) (engine.Engine, error) {
	e, err := newEngine(src, opt)
	if err != nil {
		return nil, fmt.Errorf("engine metal: %w", err)
	}
	return e, nil
}

func newEngine(src engine.Source, opt Options) (*Engine, error) {
	if opt.Work == 0 {
		opt.Work = defaultWork
	}
	e := &Engine{
		source: src, options: opt, device: opt.Device, ownsDevice: opt.Device == nil,
		libraries: map[string]*metal.Library{}, plans: map[planKey]*planned{},
	}
	err := checkName(opt.Variant)
	if err != nil {
		return nil, err
	}
	if e.ownsDevice {
		if e.device, err = metal.Open(); err != nil {
			return nil, err
		}
	}
	reduces := e.device.Supports(metal.Apple7)
	for _, v := range shaders.Variants() {
		if reduces || !v.Simdgroups {
			e.variants = append(e.variants, v)
		}
	}
	if e.operations, err = e.newOperations(); err == nil {
		e.hybrid, err = e.newHybrid()
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Name returns "metal".
func (e *Engine) Name() string { return "metal" }

// Device returns what the engine runs on.
func (e *Engine) Device() *metal.Device { return e.device }

// Check returns nil: Load has looked at every weight.
func (e *Engine) Check() error { return nil }

// Wait returns nil: Load packs.
func (e *Engine) Wait() error { return nil }

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

// errUnfit is of a kernel that this GPU cannot run as the engine would.
var errUnfit = errors.New("not on this GPU")

// pipeline returns a kernel of a source for threadgroups of so many threads.
func (e *Engine) pipeline(source, kernel string, constants metal.Constants, threads int) (*metal.Pipeline, error) {
	p, err := e.compiled(source, kernel, constants)
	if err == nil && p.MaxThreads() < threads {
		err = fmt.Errorf("kernel %s: %w: its registers leave room for %d threads in a threadgroup, want %d", kernel, errUnfit, p.MaxThreads(), threads)
	}
	return p, err
}

// lanes returns an error if a kernel's simdgroups have not a multiple of so many threads.
func lanes(p *metal.Pipeline, kernel string, n int) error {
	if n > 0 && p.SIMDWidth()%n != 0 {
		return fmt.Errorf("kernel %s: %w: its simdgroups have %d threads, want %d", kernel, errUnfit, p.SIMDWidth(), n)
	}
	return nil
}

// compiled returns a kernel of a source, which is compiled at its first use.
func (e *Engine) compiled(source, kernel string, constants metal.Constants) (*metal.Pipeline, error) {
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

package metal

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// A Library is compiled shaders. Its methods may be called from several
// goroutines, but not with Close.
type Library struct {
	device  *Device
	library id

	mu        sync.Mutex
	pipelines map[string]*Pipeline // by function, types and values of constants
}

// A Pipeline is a kernel function, ready to be dispatched. It lives as long as
// its library.
type Pipeline struct {
	name    string
	state   id
	threads uint
	width   uint
}

// Constants are the values of function constants by index: each a bool, int32,
// uint32 or float32, as the shader declares it.
type Constants map[int]any

// Compile compiles the source of shaders, without fast mathematics. What the
// compiler finds wrong is a [*CompileError].
func (d *Device) Compile(source string) (*Library, error) {
	o := d.objc
	var lib, problem id
	var message string
	o.pool(func() {
		options := o.send(o.getClass("MTLCompileOptions"), "new")
		defer o.release(&options)
		o.send(options, "setFastMathEnabled:", 0)
		lib = o.send(d.device, "newLibraryWithSource:options:error:", o.string(source), options, uintptr(unsafe.Pointer(&problem)))
		if lib == 0 {
			message = o.message(problem)
		}
	})
	if lib == 0 {
		return nil, newCompileError(message, source)
	}
	return &Library{device: d, library: lib, pipelines: map[string]*Pipeline{}}, nil
}

// message returns what an NSError says.
func (o *objc) message(problem id) string {
	if problem == 0 {
		return "no reason is given"
	}
	return o.text(o.send(problem, "localizedDescription"))
}

// Pipeline returns the kernel of that name for these constants, which may be nil.
// It is made once.
func (l *Library) Pipeline(function string, constants Constants) (*Pipeline, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := function
	if len(constants) > 0 {
		name += strings.TrimPrefix(fmt.Sprint(constants), "map")
	}
	key := fmt.Sprintf("%s%#v", function, constants)
	if p := l.pipelines[key]; p != nil {
		return p, nil
	}
	var p *Pipeline
	var err error
	l.device.objc.pool(func() { p, err = l.newPipeline(name, function, constants) })
	if err != nil {
		return nil, fmt.Errorf("metal: kernel %s: %w", name, err)
	}
	l.pipelines[key] = p
	return p, nil
}

// newPipeline is called within a pool.
func (l *Library) newPipeline(name, function string, constants Constants) (*Pipeline, error) {
	o := l.device.objc
	values := o.send(o.getClass("MTLFunctionConstantValues"), "new")
	defer o.release(&values)
	for index, value := range constants {
		if err := o.setConstant(values, index, value); err != nil {
			return nil, err
		}
	}
	var problem id
	fn := o.send(l.library, "newFunctionWithName:constantValues:error:", o.string(function), values, uintptr(unsafe.Pointer(&problem)))
	if fn == 0 {
		return nil, fmt.Errorf("the library has no such function: %s", o.message(problem))
	}
	defer o.release(&fn)
	state := o.send(l.device.device, "newComputePipelineStateWithFunction:error:", fn, uintptr(unsafe.Pointer(&problem)))
	if state == 0 {
		return nil, fmt.Errorf("this GPU cannot run it: %s", o.message(problem))
	}
	return &Pipeline{
		name:    name,
		state:   state,
		threads: uint(o.send(state, "maxTotalThreadsPerThreadgroup")),
		width:   uint(o.send(state, "threadExecutionWidth")),
	}, nil
}

// Types of constants: MTLDataType.
const (
	typeFloat = 3
	typeInt   = 29
	typeUInt  = 33
	typeBool  = 53
)

func (o *objc) setConstant(values id, index int, value any) error {
	set := func(v unsafe.Pointer, dataType uintptr) {
		o.send(values, "setConstantValue:type:atIndex:", uintptr(v), dataType, uintptr(index))
	}
	switch v := value.(type) {
	case bool:
		set(unsafe.Pointer(&v), typeBool)
	case int32:
		set(unsafe.Pointer(&v), typeInt)
	case uint32:
		set(unsafe.Pointer(&v), typeUInt)
	case float32:
		set(unsafe.Pointer(&v), typeFloat)
	default:
		return fmt.Errorf("constant %d is a %T; want bool, int32, uint32 or float32", index, value)
	}
	return nil
}

// MaxThreads returns how many threads a threadgroup of this kernel has at most.
func (p *Pipeline) MaxThreads() int { return int(p.threads) }

// SIMDWidth returns how many threads of a threadgroup run as one: 32 on all GPUs
// of Apple.
func (p *Pipeline) SIMDWidth() int { return int(p.width) }

// Close lets go of the library and its pipelines. Commands may still be using
// them.
func (l *Library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pipelines {
		l.device.objc.release(&p.state)
	}
	clear(l.pipelines)
	l.device.objc.release(&l.library)
	return nil
}

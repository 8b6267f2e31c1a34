package softmetal

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"unsafe"

	"onebit/metal/dl"
)

// A Library is a compiled source, with values for its function constants.
type Library struct {
	handle    unsafe.Pointer // softmetal_library
	constants []constant
}

// The functions of softmetal.h.
var (
	softmetalCompile      func(source string, fastMath int32, failed **byte) unsafe.Pointer
	softmetalFunctionNew  func(library unsafe.Pointer, kernel string, constants *cConstant, count int32, failed **byte) unsafe.Pointer
	softmetalFunctionFree func(function unsafe.Pointer)
	softmetalDispatch     func(function unsafe.Pointer, grid, threadgroup *[3]uint32, args *cArg, count int32, budget *uint64, failed **byte) int32
	softmetalAlloc        func(length uint64) unsafe.Pointer
	softmetalRelease      func(memory unsafe.Pointer, length uint64)
	softmetalFree         func(message *byte)
)

type cConstant struct {
	_     *byte // the name: nil, for constants are told apart by index
	index int32
	typ   *byte
	value *byte
}

type cArg struct {
	kind, index int32
	data        unsafe.Pointer
	length      uint64
}

// load compiles and opens the runtime.
var load = sync.OnceValue(func() error {
	folder, err := Runtime()
	if err != nil {
		return err
	}
	library, err := dl.Open(filepath.Join(folder, "libsoftmetal.so"))
	if err != nil {
		return fmt.Errorf("softmetal: %w", err)
	}
	return library.BindAll(map[string]any{
		"softmetal_compile":       &softmetalCompile,
		"softmetal_function_new":  &softmetalFunctionNew,
		"softmetal_function_free": &softmetalFunctionFree,
		"softmetal_dispatch":      &softmetalDispatch,
		"softmetal_alloc":         &softmetalAlloc,
		"softmetal_release":       &softmetalRelease,
		"softmetal_free":          &softmetalFree,
	})
})

// Compile compiles a source for dispatches with these values of its function
// constants: bool, uint32, int32 or float32 by index. Sources are compiled once;
// a Library lives as long as the process.
func Compile(source string, constants map[int]any) (*Library, error) {
	values, err := constantsOf(constants)
	if err != nil {
		return nil, err
	}
	if err := load(); err != nil {
		return nil, err
	}
	handle, err := compiled(source)
	if err != nil {
		return nil, err
	}
	return &Library{handle: handle, constants: values}, nil
}

// libraries are those of the sources compiled so far.
var libraries struct {
	sync.Mutex
	of map[string]unsafe.Pointer
}

func compiled(source string) (unsafe.Pointer, error) {
	libraries.Lock()
	defer libraries.Unlock()
	if handle, ok := libraries.of[source]; ok {
		return handle, nil
	}
	var failed *byte
	handle := softmetalCompile(source, 0, &failed)
	if handle == nil {
		return nil, messageOf(failed)
	}
	if libraries.of == nil {
		libraries.of = map[string]unsafe.Pointer{}
	}
	libraries.of[source] = handle
	return handle, nil
}

// messageOf takes an error from the runtime.
func messageOf(message *byte) error {
	defer softmetalFree(message)
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(message), n)) != 0 {
		n++
	}
	return errors.New(string(unsafe.Slice(message, n)))
}

// Dispatch runs a kernel over a grid of threads and returns when all are done,
// or at the first fault. Buffers are where no access outside one of them is
// inside another. Dispatches of the same source wait for each other.
func (l *Library) Dispatch(kernel string, grid, threadgroup [3]int, args ...Arg) error {
	function, err := l.function(kernel)
	if err != nil {
		return err
	}
	defer softmetalFunctionFree(function)
	var memory guarded
	defer memory.release()
	bound := make([]cArg, len(args))
	for i, a := range args {
		bound[i] = cArg{kind: int32(a.kind), index: int32(a.index), length: uint64(a.length)}
		if a.kind != bufferArg {
			continue
		}
		if bound[i].data = memory.of(a.data); bound[i].data == nil {
			return fmt.Errorf("softmetal: kernel %s: no memory for buffer %d of %d bytes", kernel, a.index, a.length)
		}
	}
	g, t := size(grid), size(threadgroup)
	var failed *byte
	if softmetalDispatch(function, &g, &t, unsafe.SliceData(bound), int32(len(bound)), nil, &failed) == 0 {
		return messageOf(failed)
	}
	return nil
}

func size(s [3]int) [3]uint32 {
	var out [3]uint32
	for i, v := range s {
		out[i] = uint32(min(max(v, 0), 1<<32-1))
	}
	return out
}

// function finds a kernel, with the library's constants.
func (l *Library) function(kernel string) (unsafe.Pointer, error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	pinned := func(b []byte) *byte {
		pins.Pin(&b[0])
		return &b[0]
	}
	values := make([]cConstant, len(l.constants))
	for i, c := range l.constants {
		values[i] = cConstant{index: int32(c.index), typ: pinned([]byte(c.typ + "\x00")), value: pinned(c.value)}
	}
	var failed *byte
	function := softmetalFunctionNew(l.handle, kernel, unsafe.SliceData(values), int32(len(values)), &failed)
	if function == nil {
		return nil, messageOf(failed)
	}
	return function, nil
}

// guarded is copies of buffers, none near another.
type guarded struct {
	originals [][]byte
	copies    []unsafe.Pointer
}

// of returns the copy of a buffer, or nil if there is no memory for it. Two
// arguments that are the same memory are one copy.
func (g *guarded) of(data []byte) unsafe.Pointer {
	for i, o := range g.originals {
		if len(o) == len(data) && unsafe.SliceData(o) == unsafe.SliceData(data) {
			return g.copies[i]
		}
	}
	at := softmetalAlloc(uint64(len(data)))
	if at == nil {
		return nil
	}
	copy(unsafe.Slice((*byte)(at), len(data)), data)
	g.originals, g.copies = append(g.originals, data), append(g.copies, at)
	return at
}

// release copies everything back, and frees the copies.
func (g *guarded) release() {
	for i, o := range g.originals {
		copy(o, unsafe.Slice((*byte)(g.copies[i]), len(o)))
		softmetalRelease(g.copies[i], uint64(len(o)))
	}
}

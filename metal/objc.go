package metal

import (
	"runtime"
	"sync"
	"unsafe"
)

// An id is a pointer to an object of Objective-C. The garbage collector does
// not know it: who has retained it releases it.
type id = uintptr

// A Size counts threads or threadgroups in three dimensions: MTLSize.
type Size struct{ Width, Height, Depth uint }

// An objc is the runtime of Objective-C and the one C function of Metal.
type objc struct {
	call         func(address uintptr, args ...uintptr) uintptr
	msgSend      uintptr
	push, pop    uintptr
	getClass     func(name string) id
	registerName func(name string) uintptr
	createDevice func() id
	page         uintptr // bytes
	// msgSend once more, for results and arguments that are no integers.
	sendFloat    func(obj id, sel uintptr) float64
	sendPointer  func(obj id, sel uintptr) unsafe.Pointer
	sendSize     func(obj id, sel uintptr) Size
	sendDispatch func(obj id, sel uintptr, groups, threads Size)

	selectors sync.Map // string → uintptr
}

// newObjC binds the functions of the libraries.
func newObjC(f Frameworks) (*objc, error) {
	var err error
	address := func(name string) (a uintptr) {
		if err == nil {
			a, err = f.Symbol(name)
		}
		return a
	}
	o := &objc{
		call:    f.Call,
		msgSend: address("objc_msgSend"),
		push:    address("objc_autoreleasePoolPush"),
		pop:     address("objc_autoreleasePoolPop"),
	}
	large := o.msgSend // for a result of more than two words
	if runtime.GOARCH == "amd64" {
		large = address("objc_msgSend_stret")
	}
	getClass, registerName := address("objc_getClass"), address("sel_registerName")
	createDevice, pageSize := address("MTLCreateSystemDefaultDevice"), address("getpagesize")
	if err != nil {
		return nil, err
	}
	o.page = uintptr(uint32(f.Call(pageSize)))
	f.Bind(&o.getClass, getClass)
	f.Bind(&o.registerName, registerName)
	f.Bind(&o.createDevice, createDevice)
	f.Bind(&o.sendFloat, o.msgSend)
	f.Bind(&o.sendPointer, o.msgSend)
	f.Bind(&o.sendSize, large)
	f.Bind(&o.sendDispatch, o.msgSend)
	return o, nil
}

func (o *objc) sel(name string) uintptr {
	if s, ok := o.selectors.Load(name); ok {
		return s.(uintptr)
	}
	s := o.registerName(name)
	o.selectors.Store(name, s)
	return s
}

// send sends a message with integers and pointers. Memory of Go that the words
// point to stays where it is until send returns.
//
//go:uintptrescapes
func (o *objc) send(obj id, message string, words ...uintptr) uintptr {
	args := append(make([]uintptr, 0, 8), obj, o.sel(message))
	return o.call(o.msgSend, append(args, words...)...)
}

// sendBool is send where a BOOL is returned, which is the lowest byte.
func (o *objc) sendBool(obj id, message string, words ...uintptr) bool {
	return o.send(obj, message, words...)&0xff != 0
}

func (o *objc) retain(obj id) id { return o.send(obj, "retain") }

// release lets go of an object, if there is one, and forgets it.
func (o *objc) release(obj *id) {
	if *obj != 0 {
		o.send(*obj, "release")
		*obj = 0
	}
}

// pool calls f on one thread with an autorelease pool around it. What f wants to
// keep of what it was handed autoreleased, it retains.
func (o *objc) pool(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pool := o.call(o.push)
	defer o.call(o.pop, pool)
	f()
}

// string makes an autoreleased NSString. Its text has no zero byte.
func (o *objc) string(text string) id {
	bytes := append([]byte(text), 0)
	return o.send(o.getClass("NSString"), "stringWithUTF8String:", uintptr(unsafe.Pointer(&bytes[0])))
}

// text returns what an NSString says, "" for none.
func (o *objc) text(str id) string {
	if str == 0 {
		return ""
	}
	n := o.send(str, "lengthOfBytesUsingEncoding:", encodingUTF8)
	p := o.sendPointer(str, o.sel("UTF8String"))
	if p == nil {
		return ""
	}
	return string(unsafe.Slice((*byte)(p), n))
}

const encodingUTF8 = 4 // NSUTF8StringEncoding
